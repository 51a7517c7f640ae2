local turbo = include "templates/kernels/turbo.lua"

-- Two tables over one body: what the cache's owner does with the result, and without it, differs.
local function weighted_sum(summary, fallback)
  return {
    summary = summary,
    dims = {
      { "rows", max = 2147483647 }, { "kv_rows", max = 2147483647 }, { "Tq", max = 65535 },
      { "Tk", max = 2147483647 }, { "D", max = 65536 },
    },
    -- weights: after the softmax; packed and rescale as kg_turbo4_encode makes them
    inputs = {
      { "weights", "f32", { "rows", "Tq", "Tk" } },
      { "rescale", "f16", { "kv_rows", "Tk" } },
      { "packed", "u8", { "kv_rows", "Tk", dim.D // 2 } },
      { "codebook", "f32", { 16 } },
    },
    -- weights at or below it count for nothing; 0 keeps every positive one
    scalars = { { "threshold", "f32" } },
    outputs = { { "out", "f32", { "rows", "Tq", "D" } } },
    -- SLOTS: of the Tq query slots, that a group takes together: 1 where Tq is 1
    consts = { { "SLOTS", { 1, 4 } }, { "THREADS", 256 } },
    launch = {
      groups = { dim.rows, ceil_div(dim.Tq, const.SLOTS), 1 }, threads = { const.THREADS, 1, 1 },
    },
    require = turbo.both(turbo.grouped, turbo.eights),
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },
    fallback = fallback,
    body = "turbo4_weighted_sum.kc",
    reference = "turbo4_weighted_sum.ref.c",
    graph = "templates/kernels/turbo.graph.py",
    cases = {
      { rows = 8, kv_rows = 2, Tq = 1, Tk = 300, D = 128, threshold = 0 },
      { rows = 4, kv_rows = 2, Tq = 5, Tk = 67, D = 64, threshold = 1e-6, SLOTS = 4 },
      { rows = 4, kv_rows = 1, Tq = 1, Tk = 500, D = 256, threshold = 1e-2, fill = "sparse" },
      { rows = 3, kv_rows = 3, Tq = 3, Tk = 130, D = 128, threshold = 1e-2, SLOTS = 4,
        fill = "sparse" },
      { rows = 2, kv_rows = 1, Tq = 2, Tk = 40, D = 64, threshold = 0.125, SLOTS = 1,
        fill = "edge" },
      { rows = 2, kv_rows = 1, Tq = 6, Tk = 40, D = 64, threshold = 0.125, SLOTS = 4,
        fill = "edge" },
      { rows = 2, kv_rows = 2, Tq = 4, Tk = 33, D = 128, threshold = 1e-6, SLOTS = 4,
        fill = "dead" },
      { rows = 2, kv_rows = 1, Tq = 1, Tk = 1, D = 8, threshold = 0 },
      { rows = 2, kv_rows = 1, Tq = 2, Tk = 9, D = 96, threshold = 0, SLOTS = 4 },
      { rows = 1, kv_rows = 1, Tq = 1, Tk = 5, D = 2048, threshold = 0 },
      { rows = 1, kv_rows = 1, Tq = 1, Tk = 7, D = 1024, threshold = 0, fill = "empty" },
      { rows = 2, kv_rows = 1, Tq = 1, Tk = 0, D = 64, threshold = 0 },
    },
  }
end

kernel "turbo4_delegated_cold" (weighted_sum(
  "The cold part of attention in 4-bit values: weighted sum over tokens, in rotated space.",
  "kg_turbo4_decode the cold tokens, then the graph's weights @ values"))

kernel "sparse_v" (weighted_sum(
  "Weighted sum over tokens of 4-bit values that passes over small weights, in rotated space.",
  "turbo4_bulk_dequant_rotated, then the graph's weights @ values"))

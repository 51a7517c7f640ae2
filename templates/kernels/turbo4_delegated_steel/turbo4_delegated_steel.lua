local turbo = include "templates/kernels/turbo.lua"

kernel "turbo4_delegated_steel" {
  summary = "Attention from raw scores over a cold part in 4 bits and a hot part in f16.",
  dims = {
    { "rows", max = 2147483647 }, { "kv_rows", max = 2147483647 }, { "Tq", max = 64 },
    { "Ttot", max = 2147483647 }, { "Tcold", max = 2147483647 }, { "Thot", max = 2147483647 },
    { "D", max = 65536 },
  },
  -- scores: q k scaled and masked, before the softmax.  A part without tokens has none, or one zero
  -- token as placeholder.
  inputs = {
    { "scores", "f32", { "rows", "Tq", "Ttot" } },
    { "cold_packed", "u8", { "kv_rows", "Tcold", dim.D // 2 } },
    { "cold_rescale", "f16", { "kv_rows", "Tcold" } },
    { "hot_v", "f16", { "kv_rows", "Thot", "D" } },
    { "codebook", "f32", { 16 } },
  },
  -- threshold: on the weight after the softmax.  The offsets: where each part's columns begin.
  scalars = { { "threshold", "f32" }, { "cold_offset", "u32" }, { "hot_offset", "u32" } },
  outputs = {
    { "out_cold_pre", "f32", { "rows", "Tq", "D" } },
    { "out_hot", "f32", { "rows", "Tq", "D" } },
  },
  consts = {
    { "SLOTS", { 1, 4 } }, { "THREADS", 256 }, { "TEAM", 32 }, { "MOST_SLOTS", 64 },
  },
  launch = {
    groups = { dim.rows, ceil_div(dim.Tq, const.SLOTS), 1 }, threads = { const.THREADS, 1, 1 },
  },
  require = turbo.both(turbo.grouped, turbo.eights),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = { rms = 2e-6, max = 2e-5 } } },
  fallback = "softmax, turbo4_delegated_cold for the cold part, the graph's matmul for the hot one",
  body = "turbo4_delegated_steel.kc",
  reference = "turbo4_delegated_steel.ref.c",
  graph = "templates/kernels/turbo.graph.py",
  cases = {
    { rows = 8, kv_rows = 2, Tq = 1, Ttot = 300, Tcold = 220, Thot = 80, D = 128, threshold = 0,
      cold_offset = 0, hot_offset = 220 },
    { rows = 4, kv_rows = 1, Tq = 5, Ttot = 700, Tcold = 300, Thot = 400, D = 64, threshold = 1e-6,
      cold_offset = 0, hot_offset = 300, SLOTS = 4 },
    { rows = 2, kv_rows = 2, Tq = 3, Ttot = 333, Tcold = 300, Thot = 33, D = 128, threshold = 2e-2,
      cold_offset = 0, hot_offset = 300, SLOTS = 4, fill = "sparse" },
    { rows = 2, kv_rows = 1, Tq = 3, Ttot = 90, Tcold = 80, Thot = 10, D = 256, threshold = 2e-2,
      cold_offset = 10, hot_offset = 0, SLOTS = 1, fill = "sparse" },
    { rows = 4, kv_rows = 2, Tq = 2, Ttot = 50, Tcold = 40, Thot = 10, D = 64, threshold = 1e-3,
      cold_offset = 0, hot_offset = 40, SLOTS = 4, fill = "masked" },
    { rows = 3, kv_rows = 1, Tq = 1, Ttot = 50, Tcold = 40, Thot = 10, D = 64, threshold = 0,
      cold_offset = 0, hot_offset = 40, fill = "masked" },
    -- placeholders: beside all the columns, or past the last of them
    { rows = 2, kv_rows = 1, Tq = 1, Ttot = 30, Tcold = 1, Thot = 30, D = 128, threshold = 1e-6,
      cold_offset = 0, hot_offset = 0, fill = "no_cold" },
    { rows = 2, kv_rows = 1, Tq = 1, Ttot = 30, Tcold = 30, Thot = 1, D = 128, threshold = 1e-6,
      cold_offset = 0, hot_offset = 30, fill = "no_hot" },
    { rows = 2, kv_rows = 1, Tq = 2, Ttot = 20, Tcold = 0, Thot = 20, D = 64, threshold = 1e-6,
      cold_offset = 0, hot_offset = 0 },
    { rows = 2, kv_rows = 1, Tq = 2, Ttot = 20, Tcold = 20, Thot = 0, D = 64, threshold = 1e-6,
      cold_offset = 0, hot_offset = 20, SLOTS = 4 },
    { rows = 1, kv_rows = 1, Tq = 1, Ttot = 9, Tcold = 5, Thot = 4, D = 8, threshold = 0,
      cold_offset = 0, hot_offset = 5, fill = "peaked" },
    { rows = 1, kv_rows = 1, Tq = 2, Ttot = 9, Tcold = 5, Thot = 4, D = 2048, threshold = 0.5,
      cold_offset = 4, hot_offset = 0, fill = "peaked" },
    { rows = 1, kv_rows = 1, Tq = 2, Ttot = 11, Tcold = 6, Thot = 5, D = 96, threshold = 1e-3,
      cold_offset = 0, hot_offset = 6, SLOTS = 4, fill = "special" },
    { rows = 1, kv_rows = 1, Tq = 64, Ttot = 12, Tcold = 7, Thot = 5, D = 64, threshold = 0.1,
      cold_offset = 0, hot_offset = 7, SLOTS = 4, fill = "sparse" },
  },
}

-- The sampler with filters, and TurboQuant's 4-bit values of a KV cache.
-- runtime/companions_turbo.h encodes and decodes the latter, and says what kernels leave to the
-- host: outputs that are still rotated.
--
-- Everything here adds in an order that does not depend on WAVE, so results have the same bits at
-- every width.

kernel "rejection_sample" {
  summary = "Draw one token a row under top-k, top-p and min-p, by rejection and with no sort.",
  -- P: of the probabilities that the filters look at; Q: of those drawn from
  types = { { "P", { f32, f16, bf16 } }, { "Q", { f32, f16, bf16 } } },
  dims = { { "B", max = 2147483647 }, { "V", max = 16777216 } }, -- a count up to V is exact in f32
  -- probs: softmax(logits).  probs_draw: softmax(logits / temperature), the same array where that
  -- is 1.  params: top_k, top_p, min_p of each row, kg_rejection_params; one out of its range is
  -- off.
  inputs = {
    { "probs", "P", { "B", "V" } },
    { "probs_draw", "Q", { "B", "V" } },
    { "params", "f32", { "B", 3 } },
    { "rng_key", "u32", { 2 } },
  },
  -- 32 are enough for any row: each halves a range of 31-bit patterns
  scalars = { { "max_rounds", "u32" } },
  -- ok: 0 where max_rounds did not do; ids is then the row's largest entry, which every filter
  -- keeps.  A row with nothing above zero gives 0, ok, after no round.
  outputs = {
    { "ids", "u32", { "B" } },
    { "ok", "u32", { "B" } },
    { "rounds", "u32", { "B" } },
  },
  consts = { { "THREADS", 256 }, { "TEAM", 32 } },
  launch = { groups = { dim.B, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.V:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 0 } },
  fallback = "sort, mask by top-k, top-p and min-p, then the graph's categorical",
  body = "rejection_sample.kc",
  reference = "rejection_sample.c",
  cases = {
    { B = 4, V = 2000, max_rounds = 32 },
    { B = 4, V = 1025, max_rounds = 32, fill = "top_k" },
    { B = 4, V = 3001, max_rounds = 32, fill = "top_p" },
    { B = 4, V = 515, max_rounds = 32, fill = "min_p" },
    { B = 6, V = 777, max_rounds = 32, fill = "all" },
    { B = 5, V = 256, max_rounds = 32, fill = "off" },
    { B = 4, V = 600, max_rounds = 32, fill = "flat" },
    { B = 4, V = 700, max_rounds = 32, fill = "ties" },
    { B = 8, V = 500, max_rounds = 32, fill = "binary" },
    { B = 8, V = 60, max_rounds = 32, fill = "binary" },
    { B = 6, V = 300, max_rounds = 32, fill = "special" },
    { B = 5, V = 1000, max_rounds = 32, fill = "steep" },
    -- many small rows, for what only some draws show
    { B = 20, V = 333, max_rounds = 32, fill = "hot" },
    { B = 30, V = 100, max_rounds = 32, fill = "hot" },
    { B = 50, V = 333, max_rounds = 32, fill = "apart" },
    { B = 60, V = 100, max_rounds = 32, fill = "apart" },
    { B = 30, V = 30, max_rounds = 32, fill = "top_k" },
    { B = 6, V = 900, max_rounds = 1, fill = "top_p" },
    { B = 12, V = 100, max_rounds = 2, fill = "all" },
    { B = 3, V = 40, max_rounds = 0, fill = "top_k" },
    -- with no round, the first of the largest entries
    { B = 3, V = 600, max_rounds = 0, fill = "ties" },
    { B = 2, V = 700, max_rounds = 0, fill = "flat" },
    { B = 8, V = 400, max_rounds = 32, fill = "zeros" },
    { B = 8, V = 90, max_rounds = 32, fill = "zeros" },
    { B = 6, V = 61, max_rounds = 32, fill = "special" },
    { B = 3, V = 1, max_rounds = 32, fill = "all" },
    { B = 3, V = 5, max_rounds = 32, fill = "all" },
  },
}

-- A kernel's q rows are batch by query heads, its kv rows batch by KV heads: q row r reads kv row
-- r / (rows / kv_rows).
local grouped = { dim.kv_rows:ge(1), (dim.rows % dim.kv_rows):eq(0), dim.rows:ge(1) }
local eights = { (dim.D % 8):eq(0), dim.D:ge(8), dim.D:le(const.THREADS * 8) }

local function both(a, b)
  local all = {}
  for _, x in ipairs(a) do all[#all + 1] = x end
  for _, x in ipairs(b) do all[#all + 1] = x end
  return all
end

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
    require = both(grouped, eights),
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },
    fallback = fallback,
    body = "turbo4_weighted_sum.kc",
    reference = "turbo4_weighted_sum.c",
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

kernel "turbo4_bulk_dequant_rotated" {
  summary = "4-bit values back to f16, still rotated: attention over them is un-rotated once.",
  dims = {
    { "B", max = 65535 }, { "H", max = 65535 }, { "T", max = 2147483647 }, { "D", max = 65536 },
  },
  inputs = {
    { "packed", "u8", { "B", "H", "T", dim.D // 2 } },
    { "rescale", "f16", { "B", "H", "T", 1 } },
    { "codebook", "f32", { 16 } },
  },
  outputs = { { "out", "f16", { "B", "H", "T", "D" }, tolerance = 0 } },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { ceil_div(dim.T, const.THREADS // (dim.D // 8)), dim.H, dim.B },
    threads = { const.THREADS, 1, 1 },
  },
  require = eights,
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f16 = 0 } },
  fallback = "kg_turbo4_decode on the host",
  body = "turbo4_bulk_dequant_rotated.kc",
  reference = "turbo4_bulk_dequant_rotated.c",
  cases = {
    { B = 2, H = 2, T = 37, D = 128 },
    { B = 1, H = 3, T = 5, D = 64 },
    { B = 2, H = 1, T = 3, D = 256, fill = "special" },
    { B = 1, H = 1, T = 1, D = 8 },
    { B = 1, H = 2, T = 7, D = 96, fill = "special" },
    { B = 1, H = 1, T = 3, D = 2048 },
    { B = 2, H = 3, T = 0, D = 128 },
  },
}

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
  require = both(grouped, eights),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = { rms = 2e-6, max = 2e-5 } } },
  fallback = "softmax, turbo4_delegated_cold for the cold part, the graph's matmul for the hot one",
  body = "turbo4_delegated_steel.kc",
  reference = "turbo4_delegated_steel.c",
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

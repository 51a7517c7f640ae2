-- Sums are taken in an order that does not depend on WAVE, so a draw is the same at every width.
kernel "rejection_sample" {
  summary = "Draw one token a row under top-k, top-p and min-p, by rejection and with no sort.",
  -- P: of the probabilities that the filters look at; Q: of those drawn from
  types = { { "P", { f32, f16, bf16 } }, { "Q", { f32, f16, bf16 } } },
  dims = { { "B", max = 2147483647 }, { "V", max = 16777216 } }, -- a count up to V is exact in f32
  -- probs: softmax(logits).  probs_draw: softmax(logits / temperature), the same array where that
  -- is 1.  params: top_k, top_p, min_p of each row, kg_rejection_params; one out of its range is
  -- off, and a top_k is cut to a whole number.
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
  reference = "rejection_sample.ref.c",
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

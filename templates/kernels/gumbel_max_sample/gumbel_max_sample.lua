kernel "gumbel_max_sample" {
  summary = "Draw one token a row from softmax(logits / temp) by the Gumbel maximum.",
  types = { { "T", { f32, f16, bf16 } } },
  -- S groups share a row; S = kg_gumbel_splits(V, B), and kg_gumbel_pick takes the winner of the S
  -- (host.h).  B of 0 is a launch that does nothing, and succeeds; V of 0 is refused.
  dims = { "B", { "V", max = 2147483648 }, { "S", max = 1024 } },
  inputs = {
    { "logits", "T", { "B", "V" } },
    { "rng_key", "u32", { 2 } },
  },
  scalars = { { "temp", "f32" } }, -- above zero; any other one makes every value NaN
  outputs = {
    { "vals", "f32", { "B", "S" } },
    { "idxs", "u32", { "B", "S" } },
  },
  consts = { { "THREADS", 256 } },
  launch = { groups = { dim.B, dim.S, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.V:ge(1), dim.S:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },
  fallback = "the graph's categorical over logits / temp",
  body = "gumbel_max_sample.kc",
  reference = "gumbel_max_sample.ref.c",
  graph = "gumbel_max_sample.graph.py",
  cases = {
    { B = 1, V = 4096, S = 4, temp = 1 },
    { B = 5, V = 1025, S = 1, temp = 0.5 },
    { B = 2, V = 4097, S = 2, temp = 1.5 },
    { B = 1, V = 5, S = 1, temp = 1 },
    { B = 1, V = 1, S = 2, temp = 1 },
    { B = 3, V = 2050, S = 4, temp = 1, fill = "nan" },
    { B = 3, V = 2048, S = 2, temp = 1, fill = "masked" },
    { B = 3, V = 3000, S = 2, temp = 1, fill = "ties" },
    { B = 7, V = 515, S = 1, temp = 1, fill = "nan" },
    { B = 2, V = 1027, S = 1, temp = 1, fill = "ties" },
    { B = 5, V = 1003, S = 1, temp = 1, fill = "peaked" },
    { B = 2, V = 260, S = 1, temp = 1, fill = "frozen" },
  },
}

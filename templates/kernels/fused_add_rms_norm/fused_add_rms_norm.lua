kernel "fused_add_rms_norm" {
  summary = "Residual add and RMSNorm in one pass over the row.",
  types = { { "T", { f32, f16, bf16 } }, { "TW", { f32, f16, bf16 } } },
  dims = { "rows", { "D", max = 1073741824 } },
  inputs = {
    { "x", "T", { "rows", "D" } },
    { "residual", "T", { "rows", "D" } },
    { "weight", "TW", { "D" } },
  },
  -- weight_bias: 0, or 1 for Gemma's (1 + w)
  scalars = { { "eps", "f32" }, { "weight_bias", "f32" } },
  outputs = {
    { "normed", "T", { "rows", "D" } },
    { "new_residual", "T", { "rows", "D" }, tolerance = 0 },
  },
  -- The graph's own rms_norm on ROCm parts a row among 256 threads in runs of four, and adds the
  -- parts up by a fold of teams of 32 lanes and then of the teams (templates/lib/steady.kc).  So
  -- does this one at every width: a sum of squares has the graph's bits.
  -- KEEP: runs that a thread holds in registers, which makes rows up to KEEP * 1024 elements one
  -- pass over memory.
  consts = { { "THREADS", 256 }, { "TEAM", 32 }, { "KEEP", 4 } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.D:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  -- 16 bits: the reference rounds at the same places, so an element in a hundred may be one
  -- rounding away, and not more: rms is a tenth of what it is when all are
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1e-4, max = 2e-3 },
      bf16 = { rms = 8e-4, max = 1.2e-2 },
    },
  },
  fallback = "add in T, then the graph's rms_norm with weight + weight_bias",
  body = "fused_add_rms_norm.kc",
  reference = "fused_add_rms_norm.ref.c",
  graph = "fused_add_rms_norm.graph.py",
  cases = {
    { rows = 8, D = 4096, eps = 1e-6, weight_bias = 0 },
    { rows = 5, D = 1025, eps = 1e-6, weight_bias = 1 },
    { rows = 1, D = 4097, eps = 1e-6, weight_bias = 0 },
    { rows = 2, D = 5120, eps = 1e-5, weight_bias = 1 },
    { rows = 5, D = 1, eps = 1e-6, weight_bias = 0 },
    { rows = 5, D = 5, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 7, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 6, eps = 1e-6, weight_bias = 1 },
    { rows = 2, D = 1027, eps = 1e-6, weight_bias = 0 },
    { rows = 2, D = 1030, eps = 1e-6, weight_bias = 1 },
    { rows = 1, D = 128, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 1024, eps = 1e-6, weight_bias = 0, fill = "cancel" },
    { rows = 6, D = 260, eps = 1e-6, weight_bias = 0, fill = "special" },
    { rows = 6, D = 1028, eps = 1e-6, weight_bias = 1, fill = "special" },
    { rows = 3, D = 260, eps = 1e-6, weight_bias = 0, fill = "zeros" },
    { rows = 2, D = 1030, eps = 1e-6, weight_bias = 0, fill = "zeros" },
    { rows = 2, D = 519, eps = 1e-6, weight_bias = 1, fill = "zeros" },
  },
}

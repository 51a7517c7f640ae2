kernel "fused_add3_layer_norm" {
  summary = "Two residual adds and LayerNorm in one pass over the row.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { "rows", { "D", max = 1073741824 } },
  inputs = {
    { "a", "T", { "rows", "D" } },
    { "b", "T", { "rows", "D" } },
    { "x", "T", { "rows", "D" } },
    { "weight", "T", { "D" } },
    { "bias", "T", { when(const.B_STRIDE:eq(1), dim.D, 1) } },
  },
  scalars = { { "eps", "f32" } },
  outputs = {
    { "x_out", "T", { "rows", "D" }, tolerance = 0 },
    { "h", "T", { "rows", "D" } },
  },
  -- B_STRIDE: 1, or 0 for one bias that all elements share (a model without one passes a zero).
  -- KEEP: runs of four that a thread holds in registers; rows up to KEEP * 1024 are read once.
  -- IN_STORAGE: gain and bias are applied in T's arithmetic, rounded after each operation.
  consts = {
    { "B_STRIDE", { 0, 1 } }, { "THREADS", 256 }, { "TEAM", 32 }, { "KEEP", 7 },
    { "IN_STORAGE", 1 },
  },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.D:ge(1) },
  wave = any,
  ports = {
    metal = {}, cuda = {},
    hip = {
      define = { IN_STORAGE = 0 },
      why = "each port has its own graph's bits: ROCm's layer_norm applies gain and bias in f32",
    },
  },
  -- The reference leaves h unrounded, since the ports round it differently.  The three roundings
  -- of Metal and CUDA are relative to two terms, which may cancel: the bounds of one rounding call
  -- one row of three elements in ten wrong, these one in 450.  tests/kernels/test_state.c compares each
  -- port's own rounding in every bit.
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1.5e-3, max = 3e-3 },
      bf16 = { rms = 1.2e-2, max = 2.4e-2 },
    },
  },
  fallback = "two adds in T, then the graph's layer_norm",
  body = "fused_add3_layer_norm.kc",
  reference = "fused_add3_layer_norm.ref.c",
  graph = "fused_add3_layer_norm.graph.py",
  cases = {
    { rows = 3, D = 5, eps = 1e-5, B_STRIDE = 0 },
    { rows = 2, D = 5, eps = 1e-5, B_STRIDE = 1 },
    { rows = 1, D = 4, eps = 1e-5, B_STRIDE = 1 }, -- over the bounds of one rounding in f16
    { rows = 2, D = 1025, eps = 1e-5, B_STRIDE = 0 },
    { rows = 2, D = 1025, eps = 1e-5, B_STRIDE = 1 },
    { rows = 3, D = 4096, eps = 1e-5, B_STRIDE = 1 },
    { rows = 2, D = 6656, eps = 1e-5, B_STRIDE = 0 },
    { rows = 1, D = 6656, eps = 1e-5, B_STRIDE = 1 },
    { rows = 2, D = 7171, eps = 1e-5, B_STRIDE = 1 }, -- past what registers hold
    { rows = 1, D = 8192, eps = 1e-5, B_STRIDE = 0 },
    { rows = 3, D = 1, eps = 1e-5, B_STRIDE = 1 },
    { rows = 3, D = 1030, eps = 0.5, B_STRIDE = 1 },
    { rows = 2, D = 1024, eps = 1e-5, B_STRIDE = 1, fill = "offset" },
    { rows = 4, D = 260, eps = 1e-5, B_STRIDE = 0, fill = "special" },
  },
}

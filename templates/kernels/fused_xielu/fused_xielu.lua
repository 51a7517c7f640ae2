kernel "fused_xielu" {
  summary = "xIELU activation, rounded as the graph's eleven elementwise operations round it.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { { "n", max = 2147483648 } },
  inputs = { { "x", "T", { "n" } } },
  -- alpha_p and alpha_n as the host prepares them from the model's parameters (softplus taken,
  -- offset added)
  scalars = { { "alpha_p", "f32" }, { "alpha_n", "f32" }, { "beta", "f32" }, { "eps", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { ceil_div(dim.n, const.THREADS * 4), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  -- every operation is rounded where the graph rounds it: only an expm1 that lies at a rounding's
  -- middle may differ, and the reference judges each element for that
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-7, max = 1e-6 },
      f16 = { rms = 5e-5, max = 1e-3 },
      bf16 = { rms = 4e-4, max = 1e-2 },
    },
  },
  fallback = "the graph's elementwise operations",
  body = "fused_xielu.kc",
  reference = "fused_xielu.ref.c",
  graph = "fused_xielu.graph.py",
  cases = {
    { n = 4096, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 1025, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6, fill = "sweep" },
    { n = 4097, alpha_p = 1.3, alpha_n = 0.55, beta = 0.25, eps = -0.5 },
    { n = 1, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 7, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 5, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    -- products with beta that are not exact
    { n = 2052, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -1e-6 },
    { n = 516, alpha_p = 0.7, alpha_n = 0.6, beta = 0.45, eps = -0.01, fill = "sweep" },
    { n = 1031, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -0.01 },
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6, fill = "near" },
    { n = 300, alpha_p = 0.7, alpha_n = 1.2, beta = 0.3, eps = -1e-6, fill = "near" },
    -- an eps whose rounding to 16 bits shows, and elements above it
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.39, fill = "near" },
    { n = 516, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.18, fill = "near" },
    { n = 516, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.18, fill = "nan" },
    { n = 7, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -0.18, fill = "nan" },
  },
}

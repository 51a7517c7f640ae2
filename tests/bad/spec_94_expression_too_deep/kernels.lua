local big = dim.n
for i = 1, 32 do big = dim.n - big end
kernel "scale" {
  summary = "x times a factor.",
  types = { T = { f32, bf16 } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  scalars = { { "factor", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { THREADS = 256 },
  launch = { groups = { ceil_div(big, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, bf16 = 8e-3 } },
  fallback = "multiply in the graph",
  body = "scale.kc",
}

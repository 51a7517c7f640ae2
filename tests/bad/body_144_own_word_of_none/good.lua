-- The specification of every tests/bad/body_* that brings none of its own.
kernel "trial" {
  summary = "x times a factor.",
  types = { T = { f32, f16, bf16 } },
  dims = { "rows", { "D", max = 65536 } },
  inputs = { { "x", "T", { "rows", "D" } } },
  scalars = { { "scale", "f32" } },
  outputs = { { "y", "T", { "rows", "D" } } },
  consts = { THREADS = 256 },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  wave = any,
  ports = { metal = absent "MLX writes expm1 out there", cuda = { bits = "mlx", why = "the graph has this function" }, hip = { bits = "mlx", why = "the graph has this function" } },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },
  fallback = "multiply in the graph",
  body = "body.kc",
}

local kept = include("more.lua", "more.lua")
kernel("scale", "other") {
  summary = "x times a factor.",
  types = { T = { f32 } },
  dims = { "n" },
  inputs = { { "x", "T", { "n" } } },
  scalars = { { "factor", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { THREADS = 256 },
  launch = { groups = { ceil_div(dim.n, const.THREADS, 2), 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.n:ge(1, 2), dim.n:lt(), (dim.n % 2):eq(0, 1, 2) },
  wave = any,
  ports = { metal = {}, cuda = absent("slow", "really"), hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
  fallback = "multiply in the graph",
  body = "scale.kc",
}

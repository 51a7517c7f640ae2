local function both(a, b) return a and b end
local function either(a, b)
  if a then return a else return b end
end
local half = dim.n // 2
kernel "scale" {
  summary = "x times a factor.",
  types = { T = { f32 } },
  dims = { "n", "m" },
  inputs = { { "x", "T", { "n", "m" } } },
  scalars = { { "factor", "f32" } },
  outputs = { { "y", "T", { "n", "m" } } },
  consts = { THREADS = 256 },
  launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = {
    both(dim.n:ge(1), dim.m:ge(1)),
    either(
      all(dim.n:ge(1)),
      any_of(dim.n:lt(9), dim.m:lt(9))
    ),
    all(both((dim.n % 2):eq(0), dim.m:lt(80))),
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
  fallback = "multiply in the graph",
  body = "scale.kc",
}

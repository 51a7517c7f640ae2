local N = 4
local fits = dim.n:ge(1)
local function threads(o) return o.threads or const.THREADS end -- a choice between plain values
local wide = N > 2 and const.THREADS or 64
kernel "scale" {
  summary = "x times a factor.",
  types = { T = { f32 } },
  dims = { "n", "m" },
  inputs = { { "x", "T", { "n", "m" } } },
  scalars = { { "factor", "f32" } },
  outputs = { { "y", "T", { "n", "m" } } },
  consts = { THREADS = 256 },
  launch = {
    groups = { dim.n and ceil_div(dim.m, wide), 1, 1 },
    threads = { threads { threads = const.THREADS }, 1, 1 },
  },
  require = {
    dim.n:ge(1) and dim.m:ge(1),
    (dim.n % 4):eq(0) or dim.m:lt(9),
    fits or dim.m:lt(8),
    2 * dim.n:ge(1) and fits,
    not dim.n:gt(100),
    not (dim.n:gt(200)),
    N == 4 and dim.n:ge(4) or dim.n:ge(5),
    dim.n:ge(1, 2),
  },
  wave = any,
  wave = 32,
  ports = { metal = {}, cuda = {}, ["metal"] = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 2e-3, f32 = 1e-5 } },
  fallback = "multiply in the graph",
  body = "scale.kc",
  reference = "scale.c",
  cases = { { n = 8, m = 4, n = 9, factor = 1 }, { n = 4, m = 4, [1] = 5, [1] = 6 } },
}

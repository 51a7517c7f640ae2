local function make(name, groups, require)
  kernel(name) {
    summary = "x times a factor.",
    types = { T = { f32 } },
    dims = { "n" },
    inputs = { { "x", "T", { "n" } } },
    scalars = { { "factor", "f32" } },
    outputs = { { "y", "T", { "n" } } },
    consts = { { "TILES", { 1, 70000 } }, { "SPLIT", { 4, 0 } }, { "THREADS", 256 }, { "ZERO", 0 } },
    launch = { groups = groups, threads = { const.THREADS, 1, 1 } },
    require = require,
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
    fallback = "multiply in the graph",
    body = "scale.kc",
  }
end
make("literal", { 1, 70000, 65536 }, {})
make("chosen", { 1, const.TILES, 1 }, {})
make("zero", { dim.n // 0, dim.n % 0, ceil_div(dim.n, 0) }, { (dim.n % 0):eq(0) })
make("zero_by_constant", { dim.n // const.ZERO, 1, ceil_div(dim.n, const.SPLIT - 4) }, {})
make("negative", { 1 - const.TILES, 1, 1 }, {})
make("right", { 70000, 65535, when(const.SPLIT:eq(0), 1, dim.n) }, {})

local function make(name)
  kernel(name) {
    summary = "x times a factor.",
    types = { T = { f32 } },
    dims = { "n" },
    inputs = { { "x", "T", { "n" } } },
    scalars = { { "factor", "f32" } },
    outputs = { { "y", "T", { "n" } } },
    consts = { THREADS = 256 },
    launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
    fallback = "multiply in the graph",
    body = "scale.kc",
  }
end
make "softmax"
make "con"
make "Aux"
make "nul"
make "LPT1"
make "com10"
make "kg"
make "kg_scale"
make "_scale"
make "SOFTMAX"
make "SoftMax"
make "softmax_2"
path { name = "kg", kernels = { "softmax", "softmax_2" } }

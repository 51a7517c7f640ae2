local spare = { groups = { ceil_div(dim.n, 4), 1, 1 } } -- for kernels to come
local function elementwise(name, entry)
  entry.types = { T = { f32 } }
  entry.launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } }
  entry.consts = { THREADS = 256 }
  entry.wave = any
  entry.ports = { metal = {}, cuda = {}, hip = {} }
  entry.numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } }
  entry.fallback = "multiply in the graph"
  entry.body = "scale.kc"
  kernel(name)(entry)
end
elementwise("scale", {
  summary = "x times a factor.",
  dims = { "n" },
  inputs = {
    { "x", "T", { "n" } },
    { "gain", "U", { "n" } },
  },
  outputs = { { "y", "T", { "n" } } },
  cases = {
    { n = 4 },
    { n = 4, m = 5 },
  },
})
elementwise("shift", {
  summary = "x and a term.",
  dims = { "n", "lost" },
  inputs = { { "x", "T", { "n" } } },
  outputs = { { "y", "T", { "n" } } },
  cases = { { n = 4, lost = 1 } },
})

-- Where each thread stands in groups of three and of two dimensions: no kernel of the library has
-- all the words.
local function places(depth, threads)
  return {
    summary = "Every thread says its place at its number.",
    dims = { "A", "B" },
    inputs = { { "base", "u32", { 1 } } },
    outputs = { { "place", "u32", { "B", "A", const.X * const.Y * const.Z } } },
    consts = { { "X", 32 }, { "Y", 4 }, { "Z", depth } },
    launch = { groups = { dim.A, dim.B, 1 }, threads = threads },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    numerics = { accumulate = f32, tolerance = { f32 = 0 } },
    fallback = "none: it is a test",
    body = "places.kc",
    reference = "places.c",
    cases = { { A = 3, B = 2 }, { A = 1, B = 5 }, { A = 4, B = 1 } },
  }
end

kernel "places" (places(2, { const.X, const.Y, const.Z }))
kernel "flat_places" (places(1, { const.X, const.Y, 1 }))

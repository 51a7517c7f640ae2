local function scale(name, ports, body)
  return { summary = "x times a factor.", types = { T = { f32 } }, dims = { "n" },
    inputs = { { "x", "T", { "n" } } }, scalars = { { "factor", "f32" } }, outputs = { { "y", "T", { "n" } } },
    consts = { THREADS = 256 },
    launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, 1 } },
    wave = any, ports = ports, numerics = { accumulate = f32, tolerance = { f32 = 1e-6 } },
    fallback = "multiply in the graph", body = body }
end
kernel "not_there" (scale("a", { metal = native "scale.metal", cuda = {}, hip = {} }, "scale.kc"))
kernel "above" (scale("b", { metal = native "../scale.metal", cuda = native{ "/scale.cu" }, hip = {} }, "scale.kc"))
kernel "no_backend" (scale("c", { metal = {}, cuda = {}, hip = native "scale.kc" }, "scale.kc"))
kernel "orders" (scale("d", { metal = native{ "scale.kc", args = { "x", "y", "factr", "n" } },
  cuda = native{ "scale.kc", args = { "x", "y", "x", "n" } }, hip = {} }, "scale.kc"))
kernel "too_few" (scale("e", { metal = native{ "scale.kc", args = { "x", "y", "n" } }, cuda = {}, hip = {} }, "scale.kc"))
kernel "words" (scale("f", { metal = native{ "scale.kc", entri = "scale" }, cuda = native{ header = "scale.kc" },
  hip = {} }, "scale.kc"))
kernel "nothing" (scale("g", { metal = native(), cuda = native, hip = {} }, "scale.kc"))
kernel "no_body" (scale("h", { metal = native "scale.kc", cuda = {}, hip = absent "none" }))

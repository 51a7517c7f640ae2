local state = include "templates/kernels/state.lua"

-- A and the state have the type S, which is what every operation is rounded to.
local function scan(types, x_type, more)
  local k = {
    types = types,
    dims = { "b", "L", { "Dm", max = 16777216 }, "N" },
    inputs = {
      { "X", x_type, { "b", "L", "Dm" } },
      { "DT", x_type, { "b", "L", "Dm" } },
      { "Bm", x_type, { "b", "L", "N" } },
      { "Cm", x_type, { "b", "L", "N" } },
      { "A", "S", { "Dm", "N" } },
      { "Dp", x_type, { "Dm" } },
      { "state_in", "S", { "b", "Dm", "N" } },
    },
    outputs = {
      { "Y", x_type, { "b", "L", "Dm" } },
      { "state_out", "S", { "b", "Dm", "N" } },
    },
    -- LANES: 16 for N up to 16, as the models have it; else 32
    consts = { { "LANES", { 16, 32 } }, { "THREADS", 256 } },
    launch = {
      groups = { ceil_div(dim.Dm, state.teams), dim.b, 1 }, threads = { const.THREADS, 1, 1 },
    },
    require = { dim.N:ge(1), dim.N:le(const.LANES), dim.L:ge(1) },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    body = "mamba1_scan.kc",
    reference = "mamba1_scan.ref.c",
    graph = "mamba1_scan.graph.py",
    cases = {
      { b = 1, L = 1, Dm = 24, N = 16, LANES = 16 },
      { b = 2, L = 7, Dm = 24, N = 8, LANES = 16 },
      { b = 1, L = 33, Dm = 24, N = 16, LANES = 16 },
      { b = 2, L = 7, Dm = 24, N = 32, LANES = 32 },
      { b = 1, L = 33, Dm = 24, N = 32, LANES = 32 },
      { b = 1, L = 1, Dm = 37, N = 32, LANES = 32, fill = "fresh" },
      { b = 2, L = 33, Dm = 24, N = 16, LANES = 16, fill = "fresh" },
      { b = 1, L = 7, Dm = 13, N = 1, LANES = 16 },
      { b = 1, L = 7, Dm = 3, N = 23, LANES = 32 },
      { b = 1, L = 1, Dm = 5, N = 16, LANES = 32 },
      { b = 1, L = 7, Dm = 24, N = 16, LANES = 16, fill = "extreme" },
    },
  }
  for name, value in pairs(more) do k[name] = value end
  return k
end

kernel "mamba1_selective_scan" (scan({ { "T", { f32, f16, bf16 } }, { "S", { f32 } } }, "T", {
  summary = "Mamba1's selective scan over any number of tokens, its state in f32.",
  numerics = state.rounded_alike,
  fallback = "the graph's scan, token by token",
}))

kernel "mamba1_graph_exact" (scan({ { "S", { f32, f16, bf16 } } }, "S", {
  summary = "Mamba1's selective scan, rounded as the graph's elementwise operations round it.",
  -- 16 bits: every operation rounds as the reference does, so only an exponential or a sum at the
  -- middle between two values may go the other way: a rare element, one rounding off
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1.2e-4, max = 2e-3 },
      bf16 = { rms = 1e-3, max = 1.6e-2 },
    },
  },
  fallback = "the graph's scan, token by token",
}))

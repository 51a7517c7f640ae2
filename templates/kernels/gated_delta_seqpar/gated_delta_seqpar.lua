local state = include "templates/kernels/state.lua"

kernel "gated_delta_seqpar" (state.delta {
  summary = "Gated delta rule, its state rounded after every token: K at once equal K steps.",
  inputs = state.delta_inputs(1),
  consts = { { "THREADS", 256 }, { "LANES", 32 }, { "RUNS", 4 } },
  numerics = state.rounded_alike,
  body = "gated_delta_seqpar.kc",
  reference = "templates/kernels/gated_delta/gated_delta.ref.c",
  graph = "templates/kernels/state.graph.py",
  cases = {
    { B = 1, L = 1, Hk = 2, Dk = 128, Hv = 4, Dv = 128 },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 24 },
    { B = 1, L = 33, Hk = 2, Dk = 64, Hv = 2, Dv = 13 },
    { B = 1, L = 7, Hk = 1, Dk = 256, Hv = 3, Dv = 8, fill = "fresh" },
    { B = 1, L = 5, Hk = 1, Dk = 32, Hv = 1, Dv = 9 },
    { B = 1, L = 5, Hk = 1, Dk = 96, Hv = 2, Dv = 5 },
    { B = 1, L = 4, Hk = 1, Dk = 512, Hv = 2, Dv = 5 },
    { B = 1, L = 3, Hk = 1, Dk = 288, Hv = 1, Dv = 9 },
  },
})

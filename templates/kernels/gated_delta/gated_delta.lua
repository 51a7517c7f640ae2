local state = include "templates/kernels/state.lua"

local masked = state.delta_inputs(when(const.VEC:eq(1), dim.Dk, 1))
masked[7] = {
  "mask", "u8", { when(const.MASK:eq(1), dim.B, 1), when(const.MASK:eq(1), dim.L, 1) },
}

kernel "gated_delta" (state.delta {
  summary = "Gated delta rule over any number of tokens; decay by head or column; a mask or none.",
  inputs = masked,
  consts = {
    { "VEC", bool }, { "MASK", bool }, { "THREADS", 256 }, { "LANES", 32 }, { "RUNS", 4 },
  },
  numerics = state.rounded_alike,
  body = "gated_delta.kc",
  reference = "gated_delta.ref.c",
  graph = "templates/kernels/state.graph.py",
  cases = {
    { B = 1, L = 1, Hk = 2, Dk = 128, Hv = 4, Dv = 128 }, -- Qwen3-Next: 16 and 32 heads
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 24 },
    { B = 1, L = 33, Hk = 2, Dk = 64, Hv = 2, Dv = 13 },
    { B = 1, L = 7, Hk = 1, Dk = 256, Hv = 3, Dv = 8, fill = "fresh" },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 16, MASK = true },
    { B = 1, L = 5, Hk = 1, Dk = 32, Hv = 1, Dv = 9, MASK = true, fill = "masked" },
    { B = 1, L = 7, Hk = 2, Dk = 128, Hv = 4, Dv = 16, VEC = true },
    { B = 2, L = 3, Hk = 1, Dk = 96, Hv = 2, Dv = 5, VEC = true },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 16, VEC = true, MASK = true },
    { B = 1, L = 5, Hk = 1, Dk = 256, Hv = 1, Dv = 3, VEC = true, MASK = true, fill = "masked" },
    { B = 1, L = 4, Hk = 1, Dk = 512, Hv = 2, Dv = 5 },
    { B = 2, L = 3, Hk = 1, Dk = 416, Hv = 1, Dv = 9, VEC = true, MASK = true },
  },
})

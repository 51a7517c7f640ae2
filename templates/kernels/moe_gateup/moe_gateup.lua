local moe = include "templates/kernels/moe.lua"
local words, scales = moe.affine("Dff", "Din")

kernel "moe_gateup" {
  summary = "The gate and up matrices of a token's K experts with the gated activation between.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { moe.slots, "E", { "Dff", max = moe.most }, { "Din", max = moe.most } },
  inputs = {
    { "x", "T", { "Din" }, finite = true },
    { "indices", "u32", { "K" } },
    { "gate_w", "u32", words }, { "gate_s", "T", scales }, { "gate_b", "T", scales },
    { "up_w", "u32", words }, { "up_s", "T", scales }, { "up_b", "T", scales },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "act", "f32", { "K", "Dff" } } },
  -- ACT: SwiGLU (0), or GeGLU in the tanh form (1)
  consts = { { "BITS", { 4, 8 } }, { "ACT", { 0, 1 } },
             { "THREADS", 64 }, { "ROWS", 4 }, { "EACH", 2 } },
  launch = { groups = { ceil_div(dim.Dff, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = moe.packed("Din"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = moe.tolerance },
  fallback = "two gather_qmm, then the gated activation in T",
  body = "moe_gateup.kc",
  reference = "moe_gateup.ref.c",
  graph = "templates/kernels/moe.graph.py",
  cases = {
    -- Gemma 4, Qwen3-30B-A3B, and the smallest of the real ones
    { K = 8, E = 3, Dff = 704, Din = 2816, group_size = 64, BITS = 4, ACT = 1 },
    { K = 8, E = 3, Dff = 768, Din = 2048, group_size = 64, BITS = 4, ACT = 0 },
    { K = 8, E = 5, Dff = 192, Din = 320, group_size = 32, BITS = 8, ACT = 0 },
    { K = 3, E = 2, Dff = 33, Din = 1024, group_size = 128, BITS = 8, ACT = 1 },
    { K = 1, E = 1, Dff = 1, Din = 8, group_size = 8, BITS = 4, ACT = 0 },
    { K = 5, E = 2, Dff = 7, Din = 264, group_size = 24, BITS = 4, ACT = 1 },
    { K = 2, E = 4, Dff = 5, Din = 12, group_size = 4, BITS = 8, ACT = 0 },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "beyond" },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 8, ACT = 1, fill = "beyond" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 4, ACT = 0, fill = "steep" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 4, ACT = 1, fill = "steep" },
    { K = 3, E = 0, Dff = 5, Din = 32, group_size = 32, BITS = 4, ACT = 0 },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "special" },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 8, ACT = 1, fill = "special" },
    { K = 1, E = 2, Dff = 1, Din = 128, group_size = 64, BITS = 4, ACT = 1, fill = "cancel" },
    { K = 1, E = 1, Dff = 1, Din = 8, group_size = 8, BITS = 8, ACT = 0, fill = "cancel" },
    { K = 1, E = 2, Dff = 9, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "huge" },
    -- a scale for more packs than a wave has lanes
    { K = 1, E = 1, Dff = 3, Din = 1024, group_size = 512, BITS = 8, ACT = 0 },
    { K = 2, E = 2, Dff = 3, Din = 2048, group_size = 1024, BITS = 4, ACT = 1 },
  },
}

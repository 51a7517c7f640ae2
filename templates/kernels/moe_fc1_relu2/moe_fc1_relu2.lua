local moe = include "templates/kernels/moe.lua"
local words, scales = moe.affine("Dff", "Din")

kernel "moe_fc1_relu2" {
  summary = "The first matrix of a token's K ungated experts, then its positive part squared.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { moe.slots, "E", { "Dff", max = moe.most }, { "Din", max = moe.most } },
  inputs = {
    { "x", "T", { "Din" }, finite = true },
    { "indices", "u32", { "K" } },
    { "fc1_w", "u32", words }, { "fc1_s", "T", scales }, { "fc1_b", "T", scales },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "act", "f32", { "K", "Dff" } } },
  consts = { { "BITS", { 4, 8 } }, { "THREADS", 64 }, { "ROWS", 8 }, { "EACH", 4 } },
  launch = { groups = { ceil_div(dim.Dff, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = moe.packed("Din"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = moe.tolerance },
  fallback = "gather_qmm, then relu squared in T",
  body = "moe_fc1_relu2.kc",
  reference = "moe_fc1_relu2.ref.c",
  graph = "templates/kernels/moe.graph.py",
  cases = {
    { K = 6, E = 3, Dff = 1856, Din = 2688, group_size = 64, BITS = 4 }, -- Nemotron-H
    { K = 8, E = 5, Dff = 192, Din = 320, group_size = 32, BITS = 8 },
    { K = 2, E = 2, Dff = 33, Din = 2048, group_size = 128, BITS = 8 },
    { K = 1, E = 1, Dff = 3, Din = 8, group_size = 8, BITS = 4 },
    { K = 5, E = 2, Dff = 7, Din = 264, group_size = 24, BITS = 4 },
    { K = 2, E = 4, Dff = 5, Din = 12, group_size = 4, BITS = 8 },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 4, fill = "beyond" },
    { K = 6, E = 3, Dff = 31, Din = 48, group_size = 8, BITS = 8, fill = "beyond" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 8, fill = "steep" },
    { K = 3, E = 0, Dff = 5, Din = 32, group_size = 32, BITS = 4 },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 4, fill = "special" },
    { K = 1, E = 1, Dff = 9, Din = 48, group_size = 8, BITS = 8, fill = "special" },
    { K = 1, E = 2, Dff = 1, Din = 768, group_size = 64, BITS = 8, fill = "cancel" },
    { K = 1, E = 2, Dff = 9, Din = 64, group_size = 32, BITS = 4, fill = "huge" },
    -- the longest row, in groups of three packs and in one
    { K = 1, E = 1, Dff = 3, Din = 262140, group_size = 12, BITS = 8, fill = "steps" },
    { K = 1, E = 1, Dff = 3, Din = 262140, group_size = 262140, BITS = 8, fill = "steps" },
    -- a scale for more packs than a wave has lanes
    { K = 1, E = 1, Dff = 3, Din = 1024, group_size = 512, BITS = 8 },
    { K = 2, E = 2, Dff = 3, Din = 2048, group_size = 1024, BITS = 4 },
  },
}

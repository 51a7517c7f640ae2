local moe = include "templates/kernels/moe.lua"
local words, scales = moe.affine("Din", "Dff")

kernel "moe_down" {
  summary = "The down matrix of a token's K experts times their scores; kg_moe_sum adds the K.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { moe.slots, "E", { "Din", max = moe.most }, { "Dff", max = moe.most } },
  inputs = {
    { "indices", "u32", { "K" } },
    { "down_w", "u32", words }, { "down_s", "T", scales }, { "down_b", "T", scales },
    { "act", "f32", { "K", "Dff" } },
    { "scores", "f32", { "K" } },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "partial", "f32", { "K", "Din" } } },
  consts = { { "BITS", { 4, 6, 8 } }, { "THREADS", 64 }, { "ROWS", 8 }, { "EACH", 4 } },
  launch = { groups = { ceil_div(dim.Din, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = moe.packed("Dff"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = moe.tolerance },
  fallback = "gather_qmm, times the scores, then the sum over experts in f32",
  body = "moe_down.kc",
  reference = "moe_down.ref.c",
  graph = "templates/kernels/moe.graph.py",
  cases = {
    { K = 8, E = 3, Din = 2816, Dff = 704, group_size = 64, BITS = 4 },
    { K = 8, E = 3, Din = 2048, Dff = 768, group_size = 64, BITS = 4 },
    { K = 8, E = 5, Din = 320, Dff = 192, group_size = 32, BITS = 6 },
    { K = 2, E = 2, Din = 2816, Dff = 704, group_size = 64, BITS = 6 },
    { K = 6, E = 4, Din = 330, Dff = 1856, group_size = 64, BITS = 8 }, -- Nemotron-H's width
    { K = 3, E = 2, Din = 33, Dff = 1024, group_size = 128, BITS = 8 },
    { K = 4, E = 1, Din = 1, Dff = 16, group_size = 16, BITS = 6 },
    { K = 1, E = 1, Din = 3, Dff = 8, group_size = 8, BITS = 4 },
    { K = 2, E = 4, Din = 5, Dff = 12, group_size = 4, BITS = 8 },
    { K = 5, E = 2, Din = 11, Dff = 528, group_size = 48, BITS = 6 },
    { K = 3, E = 2, Din = 6, Dff = 80, group_size = 16, BITS = 6 }, -- a group is one pack
    { K = 6, E = 3, Din = 9, Dff = 64, group_size = 32, BITS = 4, fill = "beyond" },
    { K = 6, E = 3, Din = 9, Dff = 64, group_size = 32, BITS = 6, fill = "beyond" },
    { K = 3, E = 0, Din = 5, Dff = 64, group_size = 32, BITS = 6 },
    { K = 3, E = 2, Din = 9, Dff = 64, group_size = 32, BITS = 6, fill = "special" },
    { K = 1, E = 1, Din = 1, Dff = 2816, group_size = 64, BITS = 4, fill = "cancel" },
    { K = 2, E = 2, Din = 9, Dff = 64, group_size = 32, BITS = 8, fill = "huge" },
    -- a scale for more packs than a wave has lanes
    { K = 1, E = 1, Din = 3, Dff = 1024, group_size = 512, BITS = 8 },
    { K = 2, E = 2, Din = 3, Dff = 2048, group_size = 1024, BITS = 4 },
    { K = 1, E = 2, Din = 5, Dff = 4608, group_size = 2304, BITS = 6 },
  },
}

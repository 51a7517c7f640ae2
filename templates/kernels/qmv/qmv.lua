local qmm = include "templates/kernels/qmm.lua"

kernel "qmv" {
  summary = "Up to 8 rows of x times a matrix of affine 4-, 6- or 8-bit weights, for decoding.",
  types = qmm.any_type,
  dims = qmm.qmv_dims,
  inputs = {
    { "x", "T", { "M", "K" }, finite = true },
    { "w", "u32", { "N", dim.K * const.BITS // 32 } },
    { "scales", "T", { "N", dim.K // scalar.group_size } },
    { "biases", "T", { "N", dim.K // scalar.group_size } },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "y", "T", { "M", "N" } } },
  consts = {
    { "BITS", { 4, 6, 8 } }, { "ROWS", { 1, 8 } },
    { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 },
  },
  launch = qmm.qmv_launch,
  require = qmm.with(qmm.affine_blocks, { dim.M:le(const.ROWS) }),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = qmm.tolerance },
  fallback = "the graph's quantized_matmul",
  body = "qmv.kc",
  reference = "qmv.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    { M = 1, N = 192, K = 576, group_size = 32, BITS = 4, ROWS = 1 }, -- SmolLM2-135M
    { M = 1, N = 1024, K = 1024, group_size = 64, BITS = 4, ROWS = 1 }, -- Qwen3-0.6B
    { M = 1, N = 40, K = 4096, group_size = 64, BITS = 4, ROWS = 1 }, -- Llama-3.1-8B
    { M = 1, N = 24, K = 14336, group_size = 64, BITS = 8, ROWS = 1 },
    { M = 8, N = 40, K = 4096, group_size = 64, BITS = 4, ROWS = 8 },
    { M = 5, N = 33, K = 2048, group_size = 128, BITS = 8, ROWS = 8 },
    { M = 3, N = 17, K = 1536, group_size = 32, BITS = 4, ROWS = 8 },
    { M = 1, N = 15, K = 384, group_size = 96, BITS = 4, ROWS = 8 },
    { M = 1, N = 1, K = 32, group_size = 32, BITS = 8, ROWS = 1 },
    { M = 2, N = 1, K = 96, group_size = 96, BITS = 4, ROWS = 8 },
    { M = 1, N = 40, K = 4096, group_size = 64, BITS = 6, ROWS = 1 },
    { M = 5, N = 33, K = 1536, group_size = 128, BITS = 6, ROWS = 8 },
    { M = 3, N = 7, K = 96, group_size = 32, BITS = 6, ROWS = 8 }, -- rows of three blocks
    { M = 1, N = 3, K = 32, group_size = 32, BITS = 6, ROWS = 1 },
  },
}

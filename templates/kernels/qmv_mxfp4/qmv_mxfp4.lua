local qmm = include "templates/kernels/qmm.lua"

kernel "qmv_mxfp4" {
  summary = "Up to 8 rows of x times a matrix of MXFP4 weights, as decoding needs it.",
  types = qmm.any_type,
  dims = qmm.qmv_dims,
  inputs = {
    { "x", "T", { "M", "K" }, finite = true },
    { "w", "u32", { "N", dim.K // 8 } },
    { "scales", "u8", { "N", dim.K // 32 } },
  },
  outputs = { { "y", "T", { "M", "N" } } },
  consts = {
    { "ROWS", { 1, 8 } }, { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 },
  },
  launch = qmm.qmv_launch,
  require = qmm.with(qmm.blocks, { dim.M:le(const.ROWS) }),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = qmm.tolerance },
  fallback = "the graph's quantized_matmul",
  body = "qmv_mxfp4.kc",
  reference = "templates/kernels/qmv/qmv.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    { M = 1, N = 96, K = 2880, ROWS = 1 }, -- gpt-oss-20b
    { M = 8, N = 40, K = 4096, ROWS = 8 },
    { M = 5, N = 33, K = 2880, ROWS = 8 },
    { M = 1, N = 1, K = 32, ROWS = 1 },
    { M = 3, N = 7, K = 96, ROWS = 8 },
    { M = 1, N = 17, K = 96, ROWS = 1, fill = "tiny" },
    { M = 2, N = 17, K = 96, ROWS = 8, fill = "nan" },
    { M = 2, N = 17, K = 96, ROWS = 8, fill = "huge" },
  },
}

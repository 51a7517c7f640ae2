local qmm = include "templates/kernels/qmm.lua"
local gathered, shared, spread = qmm.gathered, qmm.shared, qmm.spread
local broadcast_rows, broadcast_indices = qmm.broadcast_rows, qmm.broadcast_indices

kernel "gather_qmm_mxfp4" {
  summary = "Rows of x times MXFP4 matrices, both chosen by index, in any order.",
  types = qmm.any_type,
  dims = qmm.dims,
  inputs = qmm.mxfp4_inputs(qmm.rows_of_x),
  scalars = qmm.strides,
  outputs = { { "y", "T", { "B0", "B1", "M", "N" } } },
  consts = { { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 } },
  launch = qmm.gather_launch,
  require = qmm.with(qmm.blocks, qmm.inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = qmm.tolerance },
  fallback = "the graph's gather_qmm",
  body = "gather_qmm_mxfp4.kc",
  reference = "templates/kernels/gather_qmm/gather_qmm.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    gathered { B0 = 2, B1 = 4, M = 1, N = 96, K = 2880, E = 5, X = 3 }, -- gpt-oss-20b
    shared { B0 = 4, B1 = 2, M = 1, N = 48, K = 2880, E = 4, X = 4 },
    broadcast_rows { B0 = 5, B1 = 3, M = 2, N = 33, K = 512, E = 9, X = 1 },
    broadcast_indices { B0 = 5, B1 = 3, M = 1, N = 32, K = 96, E = 5, X = 15 },
    gathered { B0 = 1, B1 = 1, M = 1, N = 1, K = 32, E = 1, X = 1 },
    gathered { B0 = 12, B1 = 2, M = 1, N = 20, K = 64, E = 4, X = 5, fill = "beyond" },
    spread { B0 = 4, B1 = 5, M = 2, N = 17, K = 96, E = 3, X = 7, fill = "beyond" },
    gathered { B0 = 6, B1 = 2, M = 1, N = 17, K = 96, E = 4, X = 5, fill = "tiny" },
    gathered { B0 = 6, B1 = 2, M = 2, N = 17, K = 96, E = 4, X = 5, fill = "nan" },
    gathered { B0 = 6, B1 = 2, M = 1, N = 17, K = 96, E = 4, X = 5, fill = "huge" },
    shared { B0 = 2, B1 = 1024, M = 1, N = 5, K = 32, E = 7, X = 2 },
    shared { B0 = 4, B1 = 0, M = 1, N = 5, K = 32, E = 2, X = 4 },
    qmm.column { B0 = 7, B1 = 1, M = 1, N = 9, K = 64, E = 5, X = 7 },
    qmm.spread_column { B0 = 6, B1 = 1, M = 2, N = 9, K = 64, E = 4, X = 9 },
  },
}

local qmm = include "templates/kernels/qmm.lua"
local gathered, shared, spread = qmm.gathered, qmm.shared, qmm.spread
local broadcast_rows, broadcast_indices = qmm.broadcast_rows, qmm.broadcast_indices

kernel "gather_qmm_expert_batched_mxfp4" {
  summary = "Single rows of x times MXFP4 matrices, an expert's rows together.",
  types = qmm.half_types,
  dims = qmm.batched_dims,
  inputs = qmm.mxfp4_inputs(qmm.single_rows),
  scalars = qmm.strides,
  outputs = { { "y", "T", { "B0", "B1", "N" } } },
  consts = {
    { "THREADS", 128 }, { "RUN", 32 }, { "COLUMNS", 64 }, { "BLOCK", 32 },
  },
  launch = qmm.batched_launch,
  require = qmm.with(qmm.blocks, qmm.inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f16 = qmm.tolerance.f16,
      bf16 = qmm.tolerance.bf16 } },
  fallback = "gather_qmm_mxfp4",
  body = "gather_qmm_expert_batched_mxfp4.kc",
  reference = "templates/kernels/gather_qmm/gather_qmm.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    gathered { B0 = 64, B1 = 1, N = 128, K = 2880, E = 8, X = 64 }, -- gpt-oss-20b
    shared { B0 = 40, B1 = 2, N = 65, K = 512, E = 6, X = 40 },
    broadcast_rows { B0 = 40, B1 = 3, N = 66, K = 128, E = 9, X = 1 },
    broadcast_indices { B0 = 33, B1 = 3, N = 32, K = 256, E = 5, X = 99 },
    gathered { B0 = 1, B1 = 1, N = 1, K = 32, E = 1, X = 1 },
    gathered { B0 = 64, B1 = 2, N = 20, K = 64, E = 32, X = 64, fill = "beyond" },
    spread { B0 = 6, B1 = 15, N = 17, K = 96, E = 3, X = 30, fill = "beyond" },
    gathered { B0 = 40, B1 = 2, N = 65, K = 96, E = 4, X = 40, fill = "tiny" },
    gathered { B0 = 40, B1 = 2, N = 65, K = 96, E = 4, X = 40, fill = "nan" },
    shared { B0 = 35, B1 = 2, N = 33, K = 96, E = 4, X = 35, fill = "nan" },
    gathered { B0 = 40, B1 = 2, N = 65, K = 96, E = 4, X = 40, fill = "huge" },
    shared { B0 = 35, B1 = 2, N = 33, K = 96, E = 4, X = 35, fill = "huge" },
    shared { B0 = 2, B1 = 1024, N = 5, K = 32, E = 7, X = 2 },
    shared { B0 = 4, B1 = 0, N = 5, K = 32, E = 2, X = 4 },
    qmm.column { B0 = 40, B1 = 1, N = 9, K = 64, E = 5, X = 40 },
    qmm.spread_column { B0 = 37, B1 = 1, N = 9, K = 64, E = 4, X = 37 },
  },
}

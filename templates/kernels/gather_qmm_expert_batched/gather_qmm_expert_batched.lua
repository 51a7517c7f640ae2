local qmm = include "templates/kernels/qmm.lua"
local gathered, shared, spread = qmm.gathered, qmm.shared, qmm.spread
local broadcast_rows, broadcast_indices = qmm.broadcast_rows, qmm.broadcast_indices

kernel "gather_qmm_expert_batched" {
  summary = "Single rows of x times affine 4- or 8-bit matrices, an expert's rows together.",
  types = qmm.half_types,
  dims = qmm.batched_dims,
  inputs = qmm.affine_inputs(qmm.single_rows),
  scalars = qmm.affine_scalars,
  outputs = { { "y", "T", { "B0", "B1", "N" } } },
  consts = {
    { "BITS", { 4, 8 } }, { "THREADS", 128 }, { "RUN", 32 }, { "COLUMNS", 64 }, { "BLOCK", 32 },
  },
  launch = qmm.batched_launch,
  require = qmm.with(qmm.affine_blocks, qmm.inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = qmm.half_tolerance },
  fallback = "gather_qmm",
  body = "gather_qmm_expert_batched.kc",
  reference = "templates/kernels/gather_qmm/gather_qmm.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    -- granite, Mixtral, Qwen3-30B-A3B; scaled in rows
    gathered { B0 = 80, B1 = 1, N = 128, K = 1536, E = 8, X = 80, group_size = 64, BITS = 4 },
    gathered { B0 = 48, B1 = 2, N = 72, K = 4096, E = 2, X = 50, group_size = 64, BITS = 8 },
    shared { B0 = 70, B1 = 2, N = 65, K = 512, E = 6, X = 70, group_size = 64, BITS = 4 },
    broadcast_rows { B0 = 40, B1 = 3, N = 66, K = 128, E = 9, X = 1, group_size = 64, BITS = 8 },
    broadcast_indices { B0 = 33, B1 = 3, N = 32, K = 256, E = 5, X = 99, group_size = 64,
      BITS = 4 },
    spread { B0 = 1, B1 = 70, N = 16, K = 96, E = 3, X = 70, group_size = 96, BITS = 8 },
    gathered { B0 = 1, B1 = 1, N = 1, K = 32, E = 1, X = 1, group_size = 32, BITS = 4 },
    gathered { B0 = 64, B1 = 2, N = 20, K = 64, E = 40, X = 64, group_size = 64, BITS = 4,
      fill = "beyond" },
    spread { B0 = 6, B1 = 15, N = 17, K = 96, E = 3, X = 30, group_size = 32, BITS = 8,
      fill = "beyond" },
    gathered { B0 = 97, B1 = 1, N = 64, K = 64, E = 7, X = 97, group_size = 64, BITS = 8,
      fill = "one" },
    shared { B0 = 2, B1 = 1024, N = 5, K = 32, E = 7, X = 2, group_size = 32, BITS = 4 },
    gathered { B0 = 0, B1 = 4, N = 5, K = 32, E = 2, X = 0, group_size = 32, BITS = 8 },
    qmm.column { B0 = 40, B1 = 1, N = 9, K = 64, E = 5, X = 40, group_size = 32, BITS = 4 },
    qmm.spread_column { B0 = 37, B1 = 1, N = 9, K = 64, E = 4, X = 37, group_size = 32, BITS = 8 },
  },
}

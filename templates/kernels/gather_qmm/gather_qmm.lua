local qmm = include "templates/kernels/qmm.lua"
local gathered, shared, spread, one_list = qmm.gathered, qmm.shared, qmm.spread, qmm.one_list
local broadcast_rows, broadcast_indices = qmm.broadcast_rows, qmm.broadcast_indices

kernel "gather_qmm" {
  summary = "Rows of x times affine 4-, 6- or 8-bit matrices, both chosen by index, in any order.",
  types = qmm.any_type,
  dims = qmm.dims,
  inputs = qmm.affine_inputs(qmm.rows_of_x),
  scalars = qmm.affine_scalars,
  outputs = { { "y", "T", { "B0", "B1", "M", "N" } } },
  consts = { { "BITS", { 4, 6, 8 } }, { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 } },
  launch = qmm.gather_launch,
  require = qmm.with(qmm.affine_blocks, qmm.inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = qmm.tolerance },
  fallback = "the graph's gather_qmm",
  body = "gather_qmm.kc",
  reference = "gather_qmm.ref.c",
  graph = "templates/kernels/qmm.graph.py",
  cases = {
    -- Qwen3-30B-A3B, Mixtral, granite; scaled in rows
    gathered { B0 = 3, B1 = 4, M = 1, N = 96, K = 2048, E = 6, X = 5, group_size = 64, BITS = 4 },
    shared { B0 = 4, B1 = 2, M = 1, N = 48, K = 4096, E = 4, X = 4, group_size = 128, BITS = 8 },
    broadcast_rows { B0 = 5, B1 = 3, M = 1, N = 33, K = 512, E = 9, X = 1, group_size = 32,
      BITS = 4 },
    broadcast_indices { B0 = 5, B1 = 3, M = 1, N = 32, K = 512, E = 5, X = 15, group_size = 64,
      BITS = 8 },
    one_list { B0 = 5, B1 = 3, M = 2, N = 17, K = 1536, E = 5, X = 9, group_size = 64, BITS = 4 },
    spread { B0 = 4, B1 = 3, M = 3, N = 16, K = 96, E = 3, X = 7, group_size = 96, BITS = 8 },
    gathered { B0 = 1, B1 = 1, M = 1, N = 1, K = 32, E = 1, X = 1, group_size = 32, BITS = 4 },
    gathered { B0 = 12, B1 = 2, M = 1, N = 20, K = 64, E = 4, X = 5, group_size = 32, BITS = 4,
      fill = "beyond" },
    spread { B0 = 4, B1 = 5, M = 2, N = 17, K = 96, E = 3, X = 7, group_size = 32, BITS = 6,
      fill = "beyond" },
    gathered { B0 = 32, B1 = 2, M = 1, N = 80, K = 256, E = 5, X = 64, group_size = 64, BITS = 4,
      fill = "sorted" },
    one_list { B0 = 5, B1 = 3, M = 2, N = 33, K = 1536, E = 5, X = 9, group_size = 128, BITS = 6 },
    gathered { B0 = 3, B1 = 2, M = 1, N = 48, K = 2048, E = 4, X = 5, group_size = 64, BITS = 6 },
    -- a long second axis; no rows
    shared { B0 = 2, B1 = 1024, M = 1, N = 5, K = 32, E = 7, X = 2, group_size = 32, BITS = 4 },
    gathered { B0 = 0, B1 = 4, M = 1, N = 5, K = 32, E = 2, X = 0, group_size = 32, BITS = 6 },
    qmm.column { B0 = 7, B1 = 1, M = 1, N = 9, K = 64, E = 5, X = 7, group_size = 32, BITS = 4 },
    qmm.spread_column { B0 = 6, B1 = 1, M = 2, N = 9, K = 64, E = 4, X = 9, group_size = 32, BITS = 8 },
  },
}

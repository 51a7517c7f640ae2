-- Products with packed weights, as decoding and mixtures of experts need them: rows of x times rows
-- of W.  W is affine, code * scale + bias with 4, 6 or 8 bits to a code and a scale for each
-- group_size of them, or MXFP4 (templates/lib/qmm.kc, quant.kc, mxfp4.kc; the host packs them with
-- runtime/companions_quant.h and companions_mxfp4.h).
-- T is the dtype of x, of an affine weight's scales and biases, and of the result; sums are f32 and
-- rounded to T once.

-- 16 bits: the reference rounds at the same place, so an element in a hundred may be one rounding
-- away, and not more: rms is a tenth of what it is when all are
local tolerance = {
  f32 = { rms = 2e-6, max = 1e-5 },
  f16 = { rms = 1e-4, max = 2e-3 },
  bf16 = { rms = 8e-4, max = 1.2e-2 },
}

local any_type = { { "T", { f32, f16, bf16 } } }
local half_types = { { "T", { f16, bf16 } } }
local columns = { "K", max = 1048576 }
local blocks = { dim.K:ge(32), (dim.K % 32):eq(0) }

-- a copy of list with more at its end
local function with(list, more)
  local all = {}
  for i = 1, #list do all[i] = list[i] end
  for i = 1, #more do all[#all + 1] = more[i] end
  return all
end

local affine_blocks = with(blocks, {
  scalar.group_size:ge(32), (scalar.group_size % 32):eq(0), (dim.K % scalar.group_size):eq(0),
})

-- -- one matrix -----------------------------------------------------------------------------------
-- A group has THREADS / TEAM teams of lanes, each with EACH rows of W.  ROWS: of x, that an
-- instance has registers for (kg_qmv_rows).

local qmv_launch = {
  groups = { ceil_div(dim.N, const.THREADS // const.TEAM * const.EACH), 1, 1 },
  threads = { const.THREADS, 1, 1 },
}
-- HIP counts the threads of an axis in 32 bits: 2^26 - 1 groups of 64, with four rows of W each
local qmv_dims = { { "M", max = 8 }, { "N", max = 268435452 }, columns }

kernel "qmv" {
  summary = "Up to 8 rows of x times a matrix of affine 4-, 6- or 8-bit weights, for decoding.",
  types = any_type,
  dims = qmv_dims,
  inputs = {
    { "x", "T", { "M", "K" } },
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
  launch = qmv_launch,
  require = with(affine_blocks, { dim.M:le(const.ROWS) }),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "the graph's quantized_matmul",
  body = "qmv.kc",
  reference = "qmv.c",
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

kernel "qmv_mxfp4" {
  summary = "Up to 8 rows of x times a matrix of MXFP4 weights, as decoding needs it.",
  types = any_type,
  dims = qmv_dims,
  inputs = {
    { "x", "T", { "M", "K" } },
    { "w", "u32", { "N", dim.K // 8 } },
    { "scales", "u8", { "N", dim.K // 32 } },
  },
  outputs = { { "y", "T", { "M", "N" } } },
  -- E2M1: the format's number in qmm.kc
  consts = {
    { "ROWS", { 1, 8 } }, { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 }, { "E2M1", 21 },
  },
  launch = qmv_launch,
  require = with(blocks, { dim.M:le(const.ROWS) }),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "the graph's quantized_matmul",
  body = "qmv_mxfp4.kc",
  reference = "qmv.c",
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

-- -- a matrix for each row of x, chosen by index --------------------------------------------------
-- Row b of a batch of B0 by B1 is x[lhs[b]] times W[rhs[b]].  Index arrays may be views: (i, j) is
-- at i * stride_0 + j * stride_1, a broadcast one has stride 0 (kg_gather_view makes two strides of
-- a view of any rank).  In every route a row whose expert or whose row of x does not exist is 0:
-- indices are device data, so no launcher sees them.
-- gather_qmm takes indices in any order; gather_qmm_expert_batched those of experts that do not
-- fall, one row of x each (kg_gather_qmm_route says when it is the better one).

-- 65535 groups at most along y and z: of four rows of W, of a row of x, of an expert
local dims = {
  "B0", "B1", { "M", max = 65535 }, { "N", max = 262140 }, columns, "E", "X", "L", "R",
}
local batched_dims = {
  "B0", "B1", { "N", max = 1048560 }, columns, { "E", max = 65534 }, "X", "L", "R",
}
-- Of a batch (KG_GATHER_ROWS of companions_qmm.h): a row has groups of 64 threads in gather_qmm,
-- and HIP counts the threads of an axis in 32 bits.  Expert-batched rows are in no grid, but the
-- two take the same batches.
local most_rows = 67108863
local strides = {
  { "lhs_stride_0", "u32" }, { "lhs_stride_1", "u32" },
  { "rhs_stride_0", "u32" }, { "rhs_stride_1", "u32" },
}
local affine_scalars = with({ { "group_size", "u32" } }, strides)

-- How many elements the view of an index array spans.  A batch without rows reads none.
local function span(stride_0, stride_1)
  return when((dim.B0 * dim.B1):eq(0), 0, (dim.B0 - 1) * stride_0 + (dim.B1 - 1) * stride_1 + 1)
end

local inside = {
  (dim.B0 * dim.B1):le(most_rows),
  dim.L:ge(span(scalar.lhs_stride_0, scalar.lhs_stride_1)),
  dim.R:ge(span(scalar.rhs_stride_0, scalar.rhs_stride_1)),
}

local indices = { { "lhs", "u32", { "L" } }, { "rhs", "u32", { "R" } } }

local function affine_inputs(x)
  return with({
    x,
    { "w", "u32", { "E", "N", dim.K * const.BITS // 32 } },
    { "scales", "T", { "E", "N", dim.K // scalar.group_size } },
    { "biases", "T", { "E", "N", dim.K // scalar.group_size } },
  }, indices)
end

local function mxfp4_inputs(x)
  return with({
    x,
    { "w", "u32", { "E", "N", dim.K // 8 } },
    { "scales", "u8", { "E", "N", dim.K // 32 } },
  }, indices)
end

local rows_of_x = { "x", "T", { "X", "M", "K" } }
local single_rows = { "x", "T", { "X", "K" } }
local gather_launch = {
  groups = { dim.B0 * dim.B1, ceil_div(dim.N, const.THREADS // const.TEAM * const.EACH), dim.M },
  threads = { const.THREADS, 1, 1 },
}
-- a tile is RUN rows of x by COLUMNS of W, BLOCK elements of each: qmm_tile.kc
local batched_launch = {
  groups = { ceil_div(dim.N, const.COLUMNS), dim.E + 1, 1 },
  threads = { const.THREADS, 1, 1 },
}

-- Cases of all layouts: l0, l1, r0, r1 are the strides.
local function layout(case, l0, l1, r0, r1)
  local all = { lhs_stride_0 = l0, lhs_stride_1 = l1, rhs_stride_0 = r0, rhs_stride_1 = r1 }
  for _, name in ipairs { "B0", "B1", "M", "N", "K", "E", "X", "group_size", "BITS", "fill" } do
    all[name] = case[name]
  end
  local empty = case.B0 * case.B1 == 0
  all.L = empty and 0 or (case.B0 - 1) * l0 + (case.B1 - 1) * l1 + 1
  all.R = empty and 0 or (case.B0 - 1) * r0 + (case.B1 - 1) * r1 + 1
  return all
end
local function gathered(case) return layout(case, case.B1, 1, case.B1, 1) end
local function shared(case) return layout(case, 1, 0, case.B1, 1) end
local function broadcast_rows(case) return layout(case, 0, 0, case.B1, 1) end
local function broadcast_indices(case) return layout(case, case.B1, 1, 1, 0) end
local function one_list(case) return layout(case, case.B1, 1, 0, 1) end
local function spread(case) return layout(case, 3, 3 * case.B0 + 1, 2 * case.B1, 2) end

kernel "gather_qmm" {
  summary = "Rows of x times affine 4-, 6- or 8-bit matrices, both chosen by index, in any order.",
  types = any_type,
  dims = dims,
  inputs = affine_inputs(rows_of_x),
  scalars = affine_scalars,
  outputs = { { "y", "T", { "B0", "B1", "M", "N" } } },
  consts = { { "BITS", { 4, 6, 8 } }, { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 } },
  launch = gather_launch,
  require = with(affine_blocks, inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "the graph's gather_qmm",
  body = "gather_qmm.kc",
  reference = "gather_qmm.c",
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
  },
}

kernel "gather_qmm_mxfp4" {
  summary = "Rows of x times MXFP4 matrices, both chosen by index, in any order.",
  types = any_type,
  dims = dims,
  inputs = mxfp4_inputs(rows_of_x),
  scalars = strides,
  outputs = { { "y", "T", { "B0", "B1", "M", "N" } } },
  consts = { { "THREADS", 64 }, { "TEAM", 32 }, { "EACH", 2 }, { "E2M1", 21 } },
  launch = gather_launch,
  require = with(blocks, inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "the graph's gather_qmm",
  body = "gather_qmm_mxfp4.kc",
  reference = "gather_qmm.c",
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
  },
}

kernel "gather_qmm_expert_batched" {
  summary = "Single rows of x times affine 4- or 8-bit matrices, an expert's rows together.",
  types = half_types,
  dims = batched_dims,
  inputs = affine_inputs(single_rows),
  scalars = affine_scalars,
  outputs = { { "y", "T", { "B0", "B1", "N" } } },
  consts = {
    { "BITS", { 4, 8 } }, { "THREADS", 128 }, { "RUN", 32 }, { "COLUMNS", 64 }, { "BLOCK", 32 },
  },
  launch = batched_launch,
  require = with(affine_blocks, inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f16 = tolerance.f16, bf16 = tolerance.bf16 } },
  fallback = "gather_qmm",
  body = "gather_qmm_expert_batched.kc",
  reference = "gather_qmm.c",
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
  },
}

kernel "gather_qmm_expert_batched_mxfp4" {
  summary = "Single rows of x times MXFP4 matrices, an expert's rows together.",
  types = half_types,
  dims = batched_dims,
  inputs = mxfp4_inputs(single_rows),
  scalars = strides,
  outputs = { { "y", "T", { "B0", "B1", "N" } } },
  consts = {
    { "THREADS", 128 }, { "RUN", 32 }, { "COLUMNS", 64 }, { "BLOCK", 32 }, { "E2M1", 21 },
  },
  launch = batched_launch,
  require = with(blocks, inside),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f16 = tolerance.f16, bf16 = tolerance.bf16 } },
  fallback = "gather_qmm_mxfp4",
  body = "gather_qmm_expert_batched_mxfp4.kc",
  reference = "gather_qmm.c",
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
  },
}

-- Products with packed weights, as decoding and mixtures of experts need them: rows of x times rows
-- of W.  W is affine, code * scale + bias with 4, 6 or 8 bits to a code and a scale for each
-- group_size of them, or MXFP4 (templates/lib/qmm.kc, quant.kc, mxfp4.kc; the host packs them with
-- templates/lib/host/quant.h and mxfp4.h).
-- T is the dtype of x, of an affine weight's scales and biases, and of the result; sums are f32 and
-- rounded to T once.

-- 16 bits: the reference rounds at the same place, so an element in a hundred may be one rounding
-- away, and not more: rms is a tenth of what it is when all are
local tolerance = {
  f32 = { rms = 2e-6, max = 1e-5 },
  f16 = { rms = 1e-4, max = 2e-3 },
  bf16 = { rms = 8e-4, max = 1.2e-2 },
}
local half_tolerance = { f16 = tolerance.f16, bf16 = tolerance.bf16 }

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
-- Of a batch (KG_GATHER_ROWS of gather_qmm/host.h): a row has groups of 64 threads in gather_qmm,
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

-- An infinite x is not computed with: code * scale and bias are summed apart, and inf - inf is NaN.
local rows_of_x = { "x", "T", { "X", "M", "K" }, finite = true }
local single_rows = { "x", "T", { "X", "K" }, finite = true }
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
-- one index a row of the batch, its second axis of one element with a stride of 0
local function column(case) return layout(case, 1, 0, 1, 0) end
local function spread_column(case) return layout(case, 3, 0, 2, 0) end
local function spread(case) return layout(case, 3, 3 * case.B0 + 1, 2 * case.B1, 2) end

return {
  tolerance = tolerance, half_tolerance = half_tolerance,
  any_type = any_type, half_types = half_types,
  blocks = blocks, affine_blocks = affine_blocks, with = with,

  qmv_launch = qmv_launch, qmv_dims = qmv_dims,

  dims = dims, batched_dims = batched_dims, strides = strides, affine_scalars = affine_scalars,
  inside = inside, affine_inputs = affine_inputs, mxfp4_inputs = mxfp4_inputs,
  rows_of_x = rows_of_x, single_rows = single_rows,
  gather_launch = gather_launch, batched_launch = batched_launch,

  gathered = gathered, shared = shared, broadcast_rows = broadcast_rows,
  broadcast_indices = broadcast_indices, one_list = one_list, spread = spread,
  column = column, spread_column = spread_column,
}

-- Recurrent layers' states and Cohere's parallel block: one entry each.

-- Where a team of lanes has a row (templates/lib/fold.kc), a group of THREADS has THREADS / LANES
-- rows at either width.
local teams = const.THREADS // const.LANES

-- 16 bits: the reference rounds at the same places, so an element in a hundred may be one rounding
-- away, and not more: rms is a tenth of what it is when all are.  Wider, it would not see a value
-- that is rounded twice.  f32: a sum over ds or Dk whose terms cancel keeps fewer digits than it has.
local rounded_alike = {
  accumulate = f32,
  tolerance = {
    f32 = { rms = 4e-6, max = 2e-5 },
    f16 = { rms = 1e-4, max = 2e-3 },
    bf16 = { rms = 8e-4, max = 1.2e-2 },
  },
}

kernel "ssm_update" {
  summary = "One step of Mamba2's state, and its output: a decode step.",
  -- U: of the state, f32 in the models at hand.  TB: of B and C both, which are cut from one
  -- projection and so never differ; a type for each would make 162 instances of these 54, more than
  -- all other kernels together have, for pairs that nobody passes.
  types = {
    { "T", { f32, f16, bf16 } }, { "U", { f32, f16, bf16 } }, { "TA", { f32, bf16 } },
    { "TB", { f32, f16, bf16 } },
  },
  dims = { "n", "h", { "dh", max = 65536 }, "g", "ds" },
  inputs = {
    { "x", "T", { "n", 1, "h", "dh" } },
    { "A_log", "TA", { "h" } },
    { "B", "TB", { "n", 1, "g", "ds" } },
    { "C", "TB", { "n", 1, "g", "ds" } },
    { "D", "T", { "h" } },
    { "dt", "f32", { "n", 1, "h" } }, -- after softplus and clipping
    { "state_in", "U", { "n", "h", "dh", "ds" } },
  },
  outputs = {
    { "out", "T", { "n", 1, "h", "dh" } },
    { "state_out", "U", { "n", "h", "dh", "ds" } },
  },
  consts = { { "THREADS", 256 }, { "LANES", 32 } },
  launch = {
    groups = { dim.n * dim.h, ceil_div(dim.dh, teams), 1 }, threads = { const.THREADS, 1, 1 },
  },
  require = { dim.ds:ge(32), (dim.ds % 32):eq(0), dim.g:ge(1), (dim.h % dim.g):eq(0) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = rounded_alike,
  fallback = "the graph's single step of the state-space model, some fifty operations",
  body = "ssm_update.kc",
  reference = "ssm_update.c",
  cases = {
    { n = 1, h = 6, dh = 64, g = 1, ds = 128 },  -- granite hybrid: 48 heads, 1 group
    { n = 2, h = 8, dh = 64, g = 4, ds = 128 },  -- Nemotron-H: 64 heads, 8 groups
    { n = 3, h = 4, dh = 5, g = 2, ds = 32 },    -- a run for a quarter of the lanes only
    { n = 1, h = 3, dh = 9, g = 3, ds = 96 },
    { n = 1, h = 2, dh = 8, g = 1, ds = 256 },
    { n = 2, h = 2, dh = 1, g = 1, ds = 160 },
    { n = 1, h = 2, dh = 16, g = 2, ds = 64, fill = "fresh" },
    { n = 1, h = 4, dh = 16, g = 1, ds = 128, fill = "extreme" },
  },
}

-- A and the state have the type S, which is what every operation is rounded to.
local function scan(types, x_type, more)
  local k = {
    types = types,
    dims = { "b", "L", { "Dm", max = 16777216 }, "N" },
    inputs = {
      { "X", x_type, { "b", "L", "Dm" } },
      { "DT", x_type, { "b", "L", "Dm" } },
      { "Bm", x_type, { "b", "L", "N" } },
      { "Cm", x_type, { "b", "L", "N" } },
      { "A", "S", { "Dm", "N" } },
      { "Dp", x_type, { "Dm" } },
      { "state_in", "S", { "b", "Dm", "N" } },
    },
    outputs = {
      { "Y", x_type, { "b", "L", "Dm" } },
      { "state_out", "S", { "b", "Dm", "N" } },
    },
    -- LANES: 16 for N up to 16, as the models have it; else 32
    consts = { { "LANES", { 16, 32 } }, { "THREADS", 256 } },
    launch = {
      groups = { ceil_div(dim.Dm, teams), dim.b, 1 }, threads = { const.THREADS, 1, 1 },
    },
    require = { dim.N:ge(1), dim.N:le(const.LANES), dim.L:ge(1) },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    body = "mamba1_scan.kc",
    reference = "mamba1_scan.c",
    cases = {
      { b = 1, L = 1, Dm = 24, N = 16, LANES = 16 },
      { b = 2, L = 7, Dm = 24, N = 8, LANES = 16 },
      { b = 1, L = 33, Dm = 24, N = 16, LANES = 16 },
      { b = 2, L = 7, Dm = 24, N = 32, LANES = 32 },
      { b = 1, L = 33, Dm = 24, N = 32, LANES = 32 },
      { b = 1, L = 1, Dm = 37, N = 32, LANES = 32, fill = "fresh" },
      { b = 2, L = 33, Dm = 24, N = 16, LANES = 16, fill = "fresh" },
      { b = 1, L = 7, Dm = 13, N = 1, LANES = 16 },
      { b = 1, L = 7, Dm = 3, N = 23, LANES = 32 },
      { b = 1, L = 1, Dm = 5, N = 16, LANES = 32 },
      { b = 1, L = 7, Dm = 24, N = 16, LANES = 16, fill = "extreme" },
    },
  }
  for name, value in pairs(more) do k[name] = value end
  return k
end

kernel "mamba1_selective_scan" (scan({ { "T", { f32, f16, bf16 } }, { "S", { f32 } } }, "T", {
  summary = "Mamba1's selective scan over any number of tokens, its state in f32.",
  numerics = rounded_alike,
  fallback = "the graph's scan, token by token",
}))

kernel "mamba1_graph_exact" (scan({ { "S", { f32, f16, bf16 } } }, "S", {
  summary = "Mamba1's selective scan, rounded as the graph's elementwise operations round it.",
  -- 16 bits: every operation rounds as the reference does, so only an exponential or a sum at the
  -- middle between two values may go the other way: a rare element, one rounding off
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1.2e-4, max = 2e-3 },
      bf16 = { rms = 1e-3, max = 1.6e-2 },
    },
  },
  fallback = "the graph's scan, token by token",
}))

kernel "fused_add3_layer_norm" {
  summary = "Two residual adds and LayerNorm in one pass over the row.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { "rows", { "D", max = 1073741824 } },
  inputs = {
    { "a", "T", { "rows", "D" } },
    { "b", "T", { "rows", "D" } },
    { "x", "T", { "rows", "D" } },
    { "weight", "T", { "D" } },
    { "bias", "T", { when(const.B_STRIDE:eq(1), dim.D, 1) } },
  },
  scalars = { { "eps", "f32" } },
  outputs = {
    { "x_out", "T", { "rows", "D" }, tolerance = 0 },
    { "h", "T", { "rows", "D" } },
  },
  -- B_STRIDE: 1, or 0 for one bias that all elements share (a model without one passes a zero).
  -- KEEP: runs of four that a thread holds in registers; rows up to KEEP * 1024 are read once.
  -- IN_STORAGE: gain and bias are applied in T's arithmetic, rounded after each operation.
  consts = {
    { "B_STRIDE", { 0, 1 } }, { "THREADS", 256 }, { "TEAM", 32 }, { "KEEP", 7 },
    { "IN_STORAGE", 1 },
  },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.D:ge(1) },
  wave = any,
  ports = {
    metal = {}, cuda = {},
    hip = {
      define = { IN_STORAGE = 0 },
      why = "each port has its own graph's bits: ROCm's layer_norm applies gain and bias in f32",
    },
  },
  -- The reference leaves h unrounded, since the ports round it differently.  The three roundings
  -- of Metal and CUDA are relative to two terms, which may cancel: the bounds of one rounding call
  -- one row of three elements in ten wrong, these one in 450.  tests/test_state.c compares each
  -- port's own rounding in every bit.
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1.5e-3, max = 3e-3 },
      bf16 = { rms = 1.2e-2, max = 2.4e-2 },
    },
  },
  fallback = "two adds in T, then the graph's layer_norm",
  body = "fused_add3_layer_norm.kc",
  reference = "fused_add3_layer_norm.c",
  cases = {
    { rows = 3, D = 5, eps = 1e-5, B_STRIDE = 0 },
    { rows = 2, D = 5, eps = 1e-5, B_STRIDE = 1 },
    { rows = 1, D = 4, eps = 1e-5, B_STRIDE = 1 }, -- over the bounds of one rounding in f16
    { rows = 2, D = 1025, eps = 1e-5, B_STRIDE = 0 },
    { rows = 2, D = 1025, eps = 1e-5, B_STRIDE = 1 },
    { rows = 3, D = 4096, eps = 1e-5, B_STRIDE = 1 },
    { rows = 2, D = 6656, eps = 1e-5, B_STRIDE = 0 },
    { rows = 1, D = 6656, eps = 1e-5, B_STRIDE = 1 },
    { rows = 2, D = 7171, eps = 1e-5, B_STRIDE = 1 }, -- past what registers hold
    { rows = 1, D = 8192, eps = 1e-5, B_STRIDE = 0 },
    { rows = 3, D = 1, eps = 1e-5, B_STRIDE = 1 },
    { rows = 3, D = 1030, eps = 0.5, B_STRIDE = 1 },
    { rows = 2, D = 1024, eps = 1e-5, B_STRIDE = 1, fill = "offset" },
    { rows = 4, D = 260, eps = 1e-5, B_STRIDE = 0, fill = "special" },
  },
}

-- VEC: g is one number a column, [B, L, Hv, Dk]; else one a head, [B, L, Hv, 1], which is the memory
-- of the graph's [B, L, Hv]: a caller passes that with a 1 more in its shape, and moves nothing.
-- MASK: there is a mask; else it is one element that nobody reads.
local function delta(more)
  local k = {
    types = { { "T", { f32, f16, bf16 } } },
    dims = { "B", "L", "Hk", "Dk", "Hv", { "Dv", max = 65536 } },
    outputs = {
      { "y", "T", { "B", "L", "Hv", "Dv" } },
      { "state_out", "T", { "B", "Hv", "Dv", "Dk" } },
    },
    launch = {
      groups = { dim.B * dim.Hv, ceil_div(dim.Dv, teams), 1 }, threads = { const.THREADS, 1, 1 },
    },
    -- RUNS runs of four columns for each of LANES lanes: rows of up to 512 columns
    require = {
      dim.L:ge(1), dim.Hk:ge(1), (dim.Hv % dim.Hk):eq(0),
      dim.Dk:ge(32), (dim.Dk % 32):eq(0), dim.Dk:le(const.LANES * const.RUNS * 4),
    },
    wave = any,
    ports = { metal = {}, cuda = {}, hip = {} },
    fallback = "the graph's recurrence, token by token",
    reference = "gated_delta.c",
  }
  for name, value in pairs(more) do k[name] = value end
  return k
end

local function delta_inputs(g_columns)
  return {
    { "q", "T", { "B", "L", "Hk", "Dk" } },
    { "k", "T", { "B", "L", "Hk", "Dk" } },
    { "v", "T", { "B", "L", "Hv", "Dv" } },
    { "g", "T", { "B", "L", "Hv", g_columns } }, -- the decay factor itself
    { "beta", "T", { "B", "L", "Hv" } },
    { "state_in", "T", { "B", "Hv", "Dv", "Dk" } },
  }
end

local masked = delta_inputs(when(const.VEC:eq(1), dim.Dk, 1))
masked[7] = {
  "mask", "u8", { when(const.MASK:eq(1), dim.B, 1), when(const.MASK:eq(1), dim.L, 1) },
}

kernel "gated_delta" (delta {
  summary = "Gated delta rule over any number of tokens; decay by head or column; a mask or none.",
  inputs = masked,
  consts = {
    { "VEC", bool }, { "MASK", bool }, { "THREADS", 256 }, { "LANES", 32 }, { "RUNS", 4 },
  },
  numerics = rounded_alike,
  body = "gated_delta.kc",
  cases = {
    { B = 1, L = 1, Hk = 2, Dk = 128, Hv = 4, Dv = 128 }, -- Qwen3-Next: 16 and 32 heads
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 24 },
    { B = 1, L = 33, Hk = 2, Dk = 64, Hv = 2, Dv = 13 },
    { B = 1, L = 7, Hk = 1, Dk = 256, Hv = 3, Dv = 8, fill = "fresh" },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 16, MASK = true },
    { B = 1, L = 5, Hk = 1, Dk = 32, Hv = 1, Dv = 9, MASK = true, fill = "masked" },
    { B = 1, L = 7, Hk = 2, Dk = 128, Hv = 4, Dv = 16, VEC = true },
    { B = 2, L = 3, Hk = 1, Dk = 96, Hv = 2, Dv = 5, VEC = true },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 16, VEC = true, MASK = true },
    { B = 1, L = 5, Hk = 1, Dk = 256, Hv = 1, Dv = 3, VEC = true, MASK = true, fill = "masked" },
    { B = 1, L = 4, Hk = 1, Dk = 512, Hv = 2, Dv = 5 },
    { B = 2, L = 3, Hk = 1, Dk = 416, Hv = 1, Dv = 9, VEC = true, MASK = true },
  },
})

kernel "gated_delta_seqpar" (delta {
  summary = "Gated delta rule, its state rounded after every token: K at once equal K steps.",
  inputs = delta_inputs(1),
  consts = { { "THREADS", 256 }, { "LANES", 32 }, { "RUNS", 4 } },
  numerics = rounded_alike,
  body = "gated_delta_seqpar.kc",
  cases = {
    { B = 1, L = 1, Hk = 2, Dk = 128, Hv = 4, Dv = 128 },
    { B = 2, L = 7, Hk = 1, Dk = 128, Hv = 2, Dv = 24 },
    { B = 1, L = 33, Hk = 2, Dk = 64, Hv = 2, Dv = 13 },
    { B = 1, L = 7, Hk = 1, Dk = 256, Hv = 3, Dv = 8, fill = "fresh" },
    { B = 1, L = 5, Hk = 1, Dk = 32, Hv = 1, Dv = 9 },
    { B = 1, L = 5, Hk = 1, Dk = 96, Hv = 2, Dv = 5 },
    { B = 1, L = 4, Hk = 1, Dk = 512, Hv = 2, Dv = 5 },
    { B = 1, L = 3, Hk = 1, Dk = 288, Hv = 1, Dv = 9 },
  },
})

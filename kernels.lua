-- The library's kernels: one entry each.  A file of your own may look the same; README tells how.

backends { "metal", "cuda", "hip" } -- every kernel says of each of them what it has there

kernel "fused_add_rms_norm" {
  summary = "Residual add and RMSNorm in one pass over the row.",
  types = { { "T", { f32, f16, bf16 } }, { "TW", { f32, f16, bf16 } } },
  dims = { "rows", { "D", max = 1073741824 } },
  inputs = {
    { "x", "T", { "rows", "D" } },
    { "residual", "T", { "rows", "D" } },
    { "weight", "TW", { "D" } },
  },
  -- weight_bias: 0, or 1 for Gemma's (1 + w)
  scalars = { { "eps", "f32" }, { "weight_bias", "f32" } },
  outputs = {
    { "normed", "T", { "rows", "D" } },
    { "new_residual", "T", { "rows", "D" }, tolerance = 0 },
  },
  -- The graph's own rms_norm on ROCm parts a row among 256 threads in runs of four, and adds the
  -- parts up by a fold of teams of 32 lanes and then of the teams (templates/lib/steady.kc).  So
  -- does this one at every width: a sum of squares has the graph's bits.
  -- KEEP: runs that a thread holds in registers, which makes rows up to KEEP * 1024 elements one
  -- pass over memory.
  consts = { { "THREADS", 256 }, { "TEAM", 32 }, { "KEEP", 4 } },
  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.D:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  -- 16 bits: the reference rounds at the same places, so an element in a hundred may be one
  -- rounding away, and not more: rms is a tenth of what it is when all are
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1e-4, max = 2e-3 },
      bf16 = { rms = 8e-4, max = 1.2e-2 },
    },
  },
  fallback = "add in T, then the graph's rms_norm with weight + weight_bias",
  body = "fused_add_rms_norm.kc",
  reference = "fused_add_rms_norm.c",
  cases = {
    { rows = 8, D = 4096, eps = 1e-6, weight_bias = 0 },
    { rows = 5, D = 1025, eps = 1e-6, weight_bias = 1 },
    { rows = 1, D = 4097, eps = 1e-6, weight_bias = 0 },
    { rows = 2, D = 5120, eps = 1e-5, weight_bias = 1 },
    { rows = 5, D = 1, eps = 1e-6, weight_bias = 0 },
    { rows = 5, D = 5, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 7, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 6, eps = 1e-6, weight_bias = 1 },
    { rows = 2, D = 1027, eps = 1e-6, weight_bias = 0 },
    { rows = 2, D = 1030, eps = 1e-6, weight_bias = 1 },
    { rows = 1, D = 128, eps = 1e-6, weight_bias = 0 },
    { rows = 3, D = 1024, eps = 1e-6, weight_bias = 0, fill = "cancel" },
    { rows = 6, D = 260, eps = 1e-6, weight_bias = 0, fill = "special" },
    { rows = 6, D = 1028, eps = 1e-6, weight_bias = 1, fill = "special" },
  },
}

local paged = const.LAYOUT:eq(1)
local base_500000 = 18.931568569324174 -- log2 of it: Llama 3's
local base_10000 = 13.287712379549449

kernel "fused_rope_qk_append" {
  summary = "Split a fused QKV projection into heads, rotate q and k, write in the cache's layout.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = {
    "B", { "L", max = 2147483647 }, { "Hq", max = 65536 }, { "Hkv", max = 65536 },
    { "D", max = 65536 },
  },
  inputs = {
    { "qkv", "T", { "B", "L", (dim.Hq + 2 * dim.Hkv) * dim.D } },
  },
  -- log2_base: of the frequency base; scale: of the position; position: of the first token, and the
  -- last one's must be an i32 too.  B or L of 0 is a launch that does nothing, and succeeds.
  scalars = {
    { "rope_dims", "u32" }, { "log2_base", "f32" }, { "scale", "f32" }, { "position", "i32" },
  },
  outputs = {
    { "q", "T", { "B", "Hq", "L", "D" } },
    { "k", "T", { "B", when(paged, dim.L, dim.Hkv), when(paged, dim.Hkv, dim.L), "D" } },
    { "v", "T", { "B", when(paged, dim.L, dim.Hkv), when(paged, dim.Hkv, dim.L), "D" },
      tolerance = 0 },
  },
  -- TRADITIONAL: pairs of neighbours, else an element and the one rope_dims / 2 on.  LAYOUT: k and
  -- v as [B, heads, L, D] (0) or paged, [B, L, heads, D] (1).  A group is PAIRS pairs by SIDE
  -- heads, each thread goes through EACH heads.
  consts = {
    { "TRADITIONAL", bool }, { "LAYOUT", { 0, 1 } }, { "PAIRS", 32 }, { "SIDE", 8 }, { "EACH", 4 },
  },
  launch = {
    groups = {
      dim.B * dim.L, ceil_div(dim.D // 2, const.PAIRS),
      ceil_div(dim.Hq + 2 * dim.Hkv, const.SIDE * const.EACH),
    },
    threads = { const.PAIRS, const.SIDE, 1 },
  },
  require = {
    (dim.D % 2):eq(0), dim.D:ge(2),
    (scalar.rope_dims % 2):eq(0), scalar.rope_dims:ge(2), scalar.rope_dims:le(dim.D),
    (scalar.position + dim.L):le(2147483648),
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  -- 16 bits: the reference rounds at the same places, so an element in a hundred may be one
  -- rounding away, and not more: rms is a tenth of what it is when all are
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1e-4, max = 2e-3 },
      bf16 = { rms = 8e-4, max = 1.2e-2 },
    },
  },
  fallback = "slice, reshape, transpose, then the graph's rope on q and on k",
  body = "fused_rope_qk_append.kc",
  reference = "fused_rope_qk_append.c",
  cases = {
    -- one token, as decoding has it, at both ends of the range of positions
    { B = 1, L = 1, Hq = 32, Hkv = 8, D = 128, rope_dims = 128, log2_base = base_500000, scale = 1,
      position = 0 },
    { B = 1, L = 1, Hq = 32, Hkv = 8, D = 128, rope_dims = 128, log2_base = base_500000, scale = 1,
      position = 131071, TRADITIONAL = true },
    { B = 1, L = 5, Hq = 4, Hkv = 2, D = 128, rope_dims = 128, log2_base = base_500000, scale = 1,
      position = 131067 },
    { B = 2, L = 3, Hq = 5, Hkv = 1, D = 128, rope_dims = 96, log2_base = base_500000, scale = 1,
      position = 1000, LAYOUT = 1 },
    { B = 2, L = 5, Hq = 3, Hkv = 3, D = 128, rope_dims = 64, log2_base = base_10000, scale = 0.25,
      position = 65535, LAYOUT = 1, TRADITIONAL = true },
    { B = 1, L = 2, Hq = 7, Hkv = 1, D = 128, rope_dims = 32, log2_base = base_10000, scale = 1,
      position = 4097,
      TRADITIONAL = true },
    { B = 3, L = 1, Hq = 2, Hkv = 1, D = 80, rope_dims = 80, log2_base = base_10000, scale = 1,
      position = 511 },
    { B = 1, L = 3, Hq = 1, Hkv = 1, D = 2, rope_dims = 2, log2_base = base_10000, scale = 1,
      position = 17 },
    -- a scale whose products are not exact; several of each head, in both layouts
    { B = 2, L = 2, Hq = 4, Hkv = 2, D = 64, rope_dims = 48, log2_base = base_10000, scale = 0.3,
      position = 60001 },
    { B = 1, L = 3, Hq = 3, Hkv = 2, D = 32, rope_dims = 32, log2_base = base_500000, scale = 1.7,
      position = 9999, LAYOUT = 1, TRADITIONAL = true },
    -- up to the last position that there is
    { B = 1, L = 2, Hq = 1, Hkv = 1, D = 64, rope_dims = 64, log2_base = base_500000, scale = 1,
      position = 2147483646 },
    { B = 1, L = 2, Hq = 2, Hkv = 1, D = 74, rope_dims = 6, log2_base = base_10000, scale = 1,
      position = 7,
      fill = "special" },
  },
}

kernel "gumbel_max_sample" {
  summary = "Draw one token a row from softmax(logits / temp) by the Gumbel maximum.",
  types = { { "T", { f32, f16, bf16 } } },
  -- S groups share a row; S = kg_gumbel_splits(V, B), and kg_gumbel_pick takes the winner of the S
  -- (runtime/companions.h).  B of 0 is a launch that does nothing, and succeeds; V of 0 is refused.
  dims = { "B", { "V", max = 2147483648 }, { "S", max = 1024 } },
  inputs = {
    { "logits", "T", { "B", "V" } },
    { "rng_key", "u32", { 2 } },
  },
  scalars = { { "temp", "f32" } }, -- above zero; any other one makes every value NaN
  outputs = {
    { "vals", "f32", { "B", "S" } },
    { "idxs", "u32", { "B", "S" } },
  },
  consts = { { "THREADS", 256 } },
  launch = { groups = { dim.B, dim.S, 1 }, threads = { const.THREADS, 1, 1 } },
  require = { dim.V:ge(1), dim.S:ge(1) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },
  fallback = "the graph's categorical over logits / temp",
  body = "gumbel_max_sample.kc",
  reference = "gumbel_max_sample.c",
  cases = {
    { B = 1, V = 4096, S = 4, temp = 1 },
    { B = 5, V = 1025, S = 1, temp = 0.5 },
    { B = 2, V = 4097, S = 2, temp = 1.5 },
    { B = 1, V = 5, S = 1, temp = 1 },
    { B = 1, V = 1, S = 2, temp = 1 },
    { B = 3, V = 2050, S = 4, temp = 1, fill = "nan" },
    { B = 3, V = 2048, S = 2, temp = 1, fill = "masked" },
    { B = 3, V = 3000, S = 2, temp = 1, fill = "ties" },
    { B = 7, V = 515, S = 1, temp = 1, fill = "nan" },
    { B = 2, V = 1027, S = 1, temp = 1, fill = "ties" },
    { B = 5, V = 1003, S = 1, temp = 1, fill = "peaked" },
    { B = 2, V = 260, S = 1, temp = 0, fill = "frozen" },
  },
}

kernel "fused_xielu" {
  summary = "xIELU activation, rounded as the graph's eleven elementwise operations round it.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { { "n", max = 2147483648 } },
  inputs = { { "x", "T", { "n" } } },
  -- alpha_p and alpha_n as the host prepares them from the model's parameters (softplus taken,
  -- offset added)
  scalars = { { "alpha_p", "f32" }, { "alpha_n", "f32" }, { "beta", "f32" }, { "eps", "f32" } },
  outputs = { { "y", "T", { "n" } } },
  consts = { { "THREADS", 256 } },
  launch = {
    groups = { ceil_div(dim.n, const.THREADS * 4), 1, 1 }, threads = { const.THREADS, 1, 1 },
  },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  -- every operation is rounded where the graph rounds it: only an expm1 that lies at a rounding's
  -- middle may differ, and the reference judges each element for that
  numerics = {
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-7, max = 1e-6 },
      f16 = { rms = 5e-5, max = 1e-3 },
      bf16 = { rms = 4e-4, max = 1e-2 },
    },
  },
  fallback = "the graph's elementwise operations",
  body = "fused_xielu.kc",
  reference = "fused_xielu.c",
  cases = {
    { n = 4096, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 1025, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6, fill = "sweep" },
    { n = 4097, alpha_p = 1.3, alpha_n = 0.55, beta = 0.25, eps = -0.5 },
    { n = 1, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 7, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    { n = 5, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6 },
    -- products with beta that are not exact
    { n = 2052, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -1e-6 },
    { n = 516, alpha_p = 0.7, alpha_n = 0.6, beta = 0.45, eps = -0.01, fill = "sweep" },
    { n = 1031, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -0.01 },
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -1e-6, fill = "near" },
    { n = 300, alpha_p = 0.7, alpha_n = 1.2, beta = 0.3, eps = -1e-6, fill = "near" },
    -- an eps whose rounding to 16 bits shows, and elements above it
    { n = 1030, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.39, fill = "near" },
    { n = 516, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.18, fill = "near" },
    { n = 516, alpha_p = 0.8, alpha_n = 0.9, beta = 0.5, eps = -0.18, fill = "nan" },
    { n = 7, alpha_p = 0.7, alpha_n = 0.6, beta = 0.3, eps = -0.18, fill = "nan" },
  },
}

include "templates/kernels/paged.lua"
include "templates/kernels/state.lua"
include "templates/kernels/turbo.lua"
include "templates/kernels/moe.lua"
include "templates/kernels/qmm.lua"

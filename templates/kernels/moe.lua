-- The experts of a mixture, one token at a time, and BitNet's ternary matrix.  Weights stay packed:
-- templates/lib/quant.kc and ternary.kc read them, runtime/companions_quant.h packs them.
--
-- In the three moe_ kernels an expert number is device data, which no launcher sees: one that is
-- not below E reads no weight and gives zeros, as the graph's other routes do; where E is 0 all do.
-- T is the dtype of x, scales and biases; sums and results are f32, since to round an expert's
-- output before the sum over experts costs several per cent.
--
-- A pack is scale * sum(code x) + bias * sum(x), and the two are mostly of opposite sign.  So an x
-- that is infinite, or so large that one of them passes f32, gives NaN or an infinity of either
-- sign (a relu makes 0 of one) where the sum of each x times its weight may be an infinity or none.
--
-- A wave takes EACH rows at once, which share what it loads of x; a group has ROWS of them, at 32
-- lanes in two waves, at 64 in one after the other.  So the grid does not depend on WAVE, and the
-- bits of a result on nothing else.

-- The shapes of words, and of scales and biases.
local function affine(rows, columns)
  return { "E", rows, dim[columns] * const.BITS // 32 },
         { "E", rows, dim[columns] // scalar.group_size }
end

-- A group is a number of packs (quant.kc), a row a number of groups.  A pack, which has one scale,
-- is 16 codes of 6 bits: fewer do not fill whole words.
local function packed(columns)
  local codes = when(const.BITS:eq(6), 16, 32 // const.BITS)
  return {
    dim[columns]:ge(1), scalar.group_size:ge(1),
    (scalar.group_size % codes):eq(0), (dim[columns] % scalar.group_size):eq(0),
  }
end

-- What results of ordinary rows keep to.  The references judge each element by its own parts, as
-- these may cancel to next to nothing.
local tolerance = { f32 = { rms = 2e-6, max = 1e-5 } }
local slots, most = { "K", max = 65535 }, 262140 -- most columns: 65535 packs of four

local words, scales = affine("Dff", "Din")

kernel "moe_gateup" {
  summary = "The gate and up matrices of a token's K experts with the gated activation between.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { slots, "E", { "Dff", max = most }, { "Din", max = most } },
  inputs = {
    { "x", "T", { "Din" } },
    { "indices", "u32", { "K" } },
    { "gate_w", "u32", words }, { "gate_s", "T", scales }, { "gate_b", "T", scales },
    { "up_w", "u32", words }, { "up_s", "T", scales }, { "up_b", "T", scales },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "act", "f32", { "K", "Dff" } } },
  -- ACT: SwiGLU (0), or GeGLU in the tanh form (1)
  consts = { { "BITS", { 4, 8 } }, { "ACT", { 0, 1 } },
             { "THREADS", 64 }, { "ROWS", 4 }, { "EACH", 2 } },
  launch = { groups = { ceil_div(dim.Dff, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = packed("Din"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "two gather_qmm, then the gated activation in T",
  body = "moe_gateup.kc",
  reference = "moe_gateup.c",
  cases = {
    -- Gemma 4, Qwen3-30B-A3B, and the smallest of the real ones
    { K = 8, E = 3, Dff = 704, Din = 2816, group_size = 64, BITS = 4, ACT = 1 },
    { K = 8, E = 3, Dff = 768, Din = 2048, group_size = 64, BITS = 4, ACT = 0 },
    { K = 8, E = 5, Dff = 192, Din = 320, group_size = 32, BITS = 8, ACT = 0 },
    { K = 3, E = 2, Dff = 33, Din = 1024, group_size = 128, BITS = 8, ACT = 1 },
    { K = 1, E = 1, Dff = 1, Din = 8, group_size = 8, BITS = 4, ACT = 0 },
    { K = 5, E = 2, Dff = 7, Din = 264, group_size = 24, BITS = 4, ACT = 1 },
    { K = 2, E = 4, Dff = 5, Din = 12, group_size = 4, BITS = 8, ACT = 0 },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "beyond" },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 8, ACT = 1, fill = "beyond" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 4, ACT = 0, fill = "steep" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 4, ACT = 1, fill = "steep" },
    { K = 3, E = 0, Dff = 5, Din = 32, group_size = 32, BITS = 4, ACT = 0 },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "special" },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 8, ACT = 1, fill = "special" },
    { K = 1, E = 2, Dff = 1, Din = 128, group_size = 64, BITS = 4, ACT = 1, fill = "cancel" },
    { K = 1, E = 1, Dff = 1, Din = 8, group_size = 8, BITS = 8, ACT = 0, fill = "cancel" },
    { K = 1, E = 2, Dff = 9, Din = 64, group_size = 32, BITS = 4, ACT = 0, fill = "huge" },
  },
}

words, scales = affine("Din", "Dff")

kernel "moe_down" {
  summary = "The down matrix of a token's K experts times their scores; kg_moe_sum adds the K.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { slots, "E", { "Din", max = most }, { "Dff", max = most } },
  inputs = {
    { "indices", "u32", { "K" } },
    { "down_w", "u32", words }, { "down_s", "T", scales }, { "down_b", "T", scales },
    { "act", "f32", { "K", "Dff" } },
    { "scores", "f32", { "K" } },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "partial", "f32", { "K", "Din" } } },
  consts = { { "BITS", { 4, 6, 8 } }, { "THREADS", 64 }, { "ROWS", 8 }, { "EACH", 4 } },
  launch = { groups = { ceil_div(dim.Din, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = packed("Dff"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "gather_qmm, times the scores, then the sum over experts in f32",
  body = "moe_down.kc",
  reference = "moe_down.c",
  cases = {
    { K = 8, E = 3, Din = 2816, Dff = 704, group_size = 64, BITS = 4 },
    { K = 8, E = 3, Din = 2048, Dff = 768, group_size = 64, BITS = 4 },
    { K = 8, E = 5, Din = 320, Dff = 192, group_size = 32, BITS = 6 },
    { K = 2, E = 2, Din = 2816, Dff = 704, group_size = 64, BITS = 6 },
    { K = 6, E = 4, Din = 330, Dff = 1856, group_size = 64, BITS = 8 }, -- Nemotron-H's width
    { K = 3, E = 2, Din = 33, Dff = 1024, group_size = 128, BITS = 8 },
    { K = 4, E = 1, Din = 1, Dff = 16, group_size = 16, BITS = 6 },
    { K = 1, E = 1, Din = 3, Dff = 8, group_size = 8, BITS = 4 },
    { K = 2, E = 4, Din = 5, Dff = 12, group_size = 4, BITS = 8 },
    { K = 5, E = 2, Din = 11, Dff = 528, group_size = 48, BITS = 6 },
    { K = 3, E = 2, Din = 6, Dff = 80, group_size = 16, BITS = 6 }, -- a group is one pack
    { K = 6, E = 3, Din = 9, Dff = 64, group_size = 32, BITS = 4, fill = "beyond" },
    { K = 6, E = 3, Din = 9, Dff = 64, group_size = 32, BITS = 6, fill = "beyond" },
    { K = 3, E = 0, Din = 5, Dff = 64, group_size = 32, BITS = 6 },
    { K = 3, E = 2, Din = 9, Dff = 64, group_size = 32, BITS = 6, fill = "special" },
    { K = 1, E = 1, Din = 1, Dff = 2816, group_size = 64, BITS = 4, fill = "cancel" },
    { K = 2, E = 2, Din = 9, Dff = 64, group_size = 32, BITS = 8, fill = "huge" },
  },
}

words, scales = affine("Dff", "Din")

kernel "moe_fc1_relu2" {
  summary = "The first matrix of a token's K ungated experts, then its positive part squared.",
  types = { { "T", { f32, f16, bf16 } } },
  dims = { slots, "E", { "Dff", max = most }, { "Din", max = most } },
  inputs = {
    { "x", "T", { "Din" } },
    { "indices", "u32", { "K" } },
    { "fc1_w", "u32", words }, { "fc1_s", "T", scales }, { "fc1_b", "T", scales },
  },
  scalars = { { "group_size", "u32" } },
  outputs = { { "act", "f32", { "K", "Dff" } } },
  consts = { { "BITS", { 4, 8 } }, { "THREADS", 64 }, { "ROWS", 8 }, { "EACH", 4 } },
  launch = { groups = { ceil_div(dim.Dff, const.ROWS), dim.K, 1 },
             threads = { const.THREADS, 1, 1 } },
  require = packed("Din"),
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { accumulate = f32, tolerance = tolerance },
  fallback = "gather_qmm, then relu squared in T",
  body = "moe_fc1_relu2.kc",
  reference = "moe_fc1_relu2.c",
  cases = {
    { K = 6, E = 3, Dff = 1856, Din = 2688, group_size = 64, BITS = 4 }, -- Nemotron-H
    { K = 8, E = 5, Dff = 192, Din = 320, group_size = 32, BITS = 8 },
    { K = 2, E = 2, Dff = 33, Din = 2048, group_size = 128, BITS = 8 },
    { K = 1, E = 1, Dff = 3, Din = 8, group_size = 8, BITS = 4 },
    { K = 5, E = 2, Dff = 7, Din = 264, group_size = 24, BITS = 4 },
    { K = 2, E = 4, Dff = 5, Din = 12, group_size = 4, BITS = 8 },
    { K = 6, E = 3, Dff = 9, Din = 64, group_size = 32, BITS = 4, fill = "beyond" },
    { K = 6, E = 3, Dff = 31, Din = 48, group_size = 8, BITS = 8, fill = "beyond" },
    { K = 2, E = 2, Dff = 65, Din = 128, group_size = 64, BITS = 8, fill = "steep" },
    { K = 3, E = 0, Dff = 5, Din = 32, group_size = 32, BITS = 4 },
    { K = 3, E = 2, Dff = 5, Din = 64, group_size = 32, BITS = 4, fill = "special" },
    { K = 1, E = 1, Dff = 9, Din = 48, group_size = 8, BITS = 8, fill = "special" },
    { K = 1, E = 2, Dff = 1, Din = 768, group_size = 64, BITS = 8, fill = "cancel" },
    { K = 1, E = 2, Dff = 9, Din = 64, group_size = 32, BITS = 4, fill = "huge" },
    -- the longest row, in groups of three packs and in one
    { K = 1, E = 1, Dff = 3, Din = 262140, group_size = 12, BITS = 8, fill = "steps" },
    { K = 1, E = 1, Dff = 3, Din = 262140, group_size = 262140, BITS = 8, fill = "steps" },
  },
}

kernel "bitlinear_matmul" {
  summary = "x times a packed ternary matrix, scaled, rounded once (BitNet b1.58).",
  types = { { "T", { f32, f16, bf16 } } },
  -- batch: of all tokens, so a long prefill passes 65535.  quarter, of W's rows: HIP counts the
  -- threads of a grid's axis in 32 bits.
  dims = { { "batch", max = 2147483647 }, { "columns", max = 1073741824 },
           { "quarter", max = 134217726 } },
  inputs = {
    { "x", "T", { "batch", "columns" } },
    { "packed", "u8", { "quarter", "columns" } },
    { "weight_scale", "T", { 1 } },
  },
  scalars = { { "invert", "u32" } }, -- 0: times the scale; else divided by it
  outputs = { { "y", "T", { "batch", 4 * dim.quarter } } },
  -- TOKENS: groups on the batch's axis at most; each takes every TOKENS-th token
  consts = { { "THREADS", 64 }, { "ROWS", 2 }, { "TOKENS", 4096 } },
  launch = { groups = { ceil_div(dim.quarter, const.ROWS), min(dim.batch, const.TOKENS), 1 },
             threads = { const.THREADS, 1, 1 } },
  require = { dim.columns:ge(1), (dim.columns % 4):eq(0) },
  wave = any,
  ports = { metal = {}, cuda = {}, hip = {} },
  numerics = { -- 16 bits: an element in a hundred may be one rounding away
    accumulate = f32,
    tolerance = {
      f32 = { rms = 1e-6, max = 1e-5 },
      f16 = { rms = 1e-4, max = 2e-3 },
      bf16 = { rms = 8e-4, max = 1.2e-2 },
    },
  },
  fallback = "none in the graph: unpack the weights to T (kg_bitnet_unpack) and multiply",
  body = "bitlinear_matmul.kc",
  reference = "bitlinear_matmul.c",
  cases = {
    { batch = 1, columns = 2560, quarter = 640, invert = 0 }, -- BitNet 2B: attention, feed-forward
    { batch = 2, columns = 6912, quarter = 33, invert = 1 },
    { batch = 1, columns = 4, quarter = 1, invert = 0, fill = "example" },
    { batch = 3, columns = 132, quarter = 5, invert = 1 },
    { batch = 5, columns = 12, quarter = 3, invert = 0 },
    { batch = 4099, columns = 12, quarter = 3, invert = 0 }, -- more tokens than groups
    { batch = 8200, columns = 4, quarter = 1, invert = 1 },
    { batch = 2, columns = 260, quarter = 2, invert = 0, fill = "large" },
  },
}

-- Experts are called in two launches: a caller asks for both at once.
path { name = "fused_moe", kernels = { "moe_gateup", "moe_down" } }
path { name = "fused_moe_relu2", kernels = { "moe_fc1_relu2", "moe_down" } }

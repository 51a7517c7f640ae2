-- BitNet's ternary matrix.  Weights stay packed: templates/lib/ternary.kc reads them, host.h packs
-- them.  How rows fall to the waves of a group is as in templates/kernels/moe.lua.

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
  reference = "bitlinear_matmul.ref.c",
  graph = "bitlinear_matmul.graph.py",
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

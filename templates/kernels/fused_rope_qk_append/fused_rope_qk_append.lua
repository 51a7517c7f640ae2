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
  reference = "fused_rope_qk_append.ref.c",
  graph = "fused_rope_qk_append.graph.py",
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
    { B = 1, L = 1, Hq = 2, Hkv = 1, D = 32, rope_dims = 32, log2_base = base_10000, scale = 1,
      position = 11, fill = "midway" },
    { B = 2, L = 2, Hq = 1, Hkv = 1, D = 16, rope_dims = 16, log2_base = base_10000, scale = 1,
      position = 5, LAYOUT = 1, TRADITIONAL = true, fill = "midway" },
  },
}

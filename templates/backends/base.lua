-- What backends share.  A backend is data: gen/ knows no other description of it.  A table NAME.lua is a backend; base*.lua is
-- no backend, and gives what it says to the tables that name it in `base`:
--
--   base      "base": the file without .lua; it may have a base itself
--   name title slot extension order waves limits options     who the backend is; these come from no base (hip.lua explains them)
--   reserved  identifiers that a body must not declare: keywords, types and builtins; added to the base's
--   spell     a word of the kernel language (portable.h) becomes this, token by token; "" removes it
--   index     how the entry learns who is asking.  `thread` in a group of one dimension is thread_x, where nothing else is said
--   names     what the pieces of a base call things: their holes
--   pieces    { name, text }: written, in this order, when the name is used by the body, a library function or another piece.
--             A word's overloads may be given one by one: { "load4(bf16)", text } is written when that one is called.  Then all
--             that portable.h has are given, by its name for the word; operators always so
--   tail      { name, text }: parameters of the entry that are there when `index` uses their name
--   text      the rest of a text's frame; native_... is what ports need whose text their owner wrote
--
-- A table states its differences: what it says of a key goes before what its base says, and false takes away what the base has.
-- Among `pieces`, { name, false } does that; a new piece stands right before the next one of the list that the base has too, at
-- the end where there is none, and { name } alone says where that is.  What a word is on a backend that has it by the same name
-- is said as well (fma = "fma"): a word of which nothing is said is an error.
--
-- Holes of `text`: ${kernel} the kernel's name, ${threads} the group's size as text, ${name} ${type} ${value} ${extent} ${dtype} of
-- the thing at hand, ${index} a parameter's number.  Holes of pieces: what `names` has, ${function}, and any word as it is spelt.
-- In `pieces` and `index`, words of the kernel language may be used.
return {
  reserved = {
    "half", "half2", "float2", "float3", "float4", "int2", "int3", "int4", "uint", "uint2", "uint3", "uint4", "ushort", "uchar",
    "ulong", "double",
  },

  spell = { min = "kg_min", max = "kg_max", rsqrt = "kg_rsqrt", abs = "kg_abs", isnan = "kg_isnan", ballot = "kg_ballot" },

  text = {
    default_wave = [[
#  define KG_WAVE 32
]],
    type = "typedef ${dtype} ${name};",
    entry_close = ") {",
    index = "  const u32 ${name} = ${value};",
    -- Under MLX the body stands in an entry that MLX writes: kg_NAME_in and kg_NAME_out are what that calls the arguments, and
    -- shapes are read from their ends, as an input may come with more axes in front.
    mlx_dim = "  const u32 ${name} = u32(kg_${input}_in_shape[kg_${input}_in_ndim - ${from_end}]);",
    mlx_type = "  typedef ${dtype} ${name};",
    mlx_const = "  constexpr ${type} ${name} = ${value};",
  },

  -- i8 to u64: the integer types.  member: before a function of a struct.  as_u32, as_f32: open the call that takes a pattern
  -- or a value for the other.  fabs: of a f32.  fmin, fmax: the other one when one is NaN.  bits_of_64: how many are set in a u64.
  -- first_lane: the number of the lowest bit of m.set, which is not 0.  lanes_where: a u64 of the lanes where p holds.
  -- global: before a pointer to GLOBAL memory.  f32_4, f16_4, u32_4: what is read four at once, with parts x, y, z, w; f32_of_f16:
  -- opens the call that widens one of them.
  names = {
    i8 = "signed char", u8 = "unsigned char", u16 = "unsigned short", u32 = "unsigned int", i64 = "long long",
    u64 = "unsigned long long", member = "", global = "", f32_4 = "float4", f16_4 = "half4", u32_4 = "uint4",
    f32_of_f16 = "f32(",
  },

  pieces = {
    { "f32", "typedef float f32;" },
    { "i8", "typedef ${i8} i8;" },
    { "u8", "typedef ${u8} u8;" },
    { "i16", "typedef short i16;" },
    { "u16", "typedef ${u16} u16;" },
    { "i32", "typedef int i32;" },
    { "u32", "typedef ${u32} u32;" },
    { "i64", "typedef ${i64} i64;" },
    { "u64", "typedef ${u64} u64;" },
    { "f32x4", "struct f32x4 { f32 x, y, z, w; };" },
    { "u32x4", "struct u32x4 { u32 x, y, z, w; };" },
    { "sine_cosine", "struct sine_cosine { f32 sine, cosine; };" },
    { "bf16", [[
struct bf16 { // storage only; rounds to nearest even, NaN stays NaN
  u16 pattern;
  bf16() = default;
  ${member}explicit bf16(f32 x) {
    const u32 u = ${as_u32}x);
    const u32 even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    pattern = u16((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
  }
  ${member}explicit operator f32() const { return ${as_f32}u32(pattern) << 16); }
};]] },
    { "", "" }, -- here stand the instance's types and the constants
    { "lanes", "struct lanes { u64 set; };" },
    { "kg_isnan", "${function}bool kg_isnan(f32 x) { return x != x; }" },
    { "kg_rsqrt", "${function}f32 kg_rsqrt(f32 x) { return 1.0f / ${sqrt}(x); }" },
    { "rounded_product", "${function}f32 rounded_product(f32 a, f32 b) { return a * b; }" },
    { "abs(f32)", "${function}f32 kg_abs(f32 x) { return ${fabs}(x); }" },
    { "abs(i32)", "${function}i32 kg_abs(i32 x) { return i32(x < 0 ? 0u - u32(x) : u32(x)); }" },
    { "abs(i64)", "${function}i64 kg_abs(i64 x) { return i64(x < 0 ? u64(0) - u64(x) : u64(x)); }" },
    { "min(f32,f32)", "${function}f32 kg_min(f32 a, f32 b) { return ${fmin}(a, b); }" },
    { "min(i32,i32)", "${function}i32 kg_min(i32 a, i32 b) { return b < a ? b : a; }" },
    { "min(i64,i64)", "${function}i64 kg_min(i64 a, i64 b) { return b < a ? b : a; }" },
    { "min(u32,u32)", "${function}u32 kg_min(u32 a, u32 b) { return b < a ? b : a; }" },
    { "min(u64,u64)", "${function}u64 kg_min(u64 a, u64 b) { return b < a ? b : a; }" },
    { "max(f32,f32)", "${function}f32 kg_max(f32 a, f32 b) { return ${fmax}(a, b); }" },
    { "max(i32,i32)", "${function}i32 kg_max(i32 a, i32 b) { return a < b ? b : a; }" },
    { "max(i64,i64)", "${function}i64 kg_max(i64 a, i64 b) { return a < b ? b : a; }" },
    { "max(u32,u32)", "${function}u32 kg_max(u32 a, u32 b) { return a < b ? b : a; }" },
    { "max(u64,u64)", "${function}u64 kg_max(u64 a, u64 b) { return a < b ? b : a; }" },
    { "operator+(f32x4,f32x4)", [[
${function}f32x4 operator+(f32x4 a, f32x4 b) { return f32x4{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }]] },
    { "operator-(f32x4,f32x4)", [[
${function}f32x4 operator-(f32x4 a, f32x4 b) { return f32x4{a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }]] },
    { "operator*(f32x4,f32x4)", [[
${function}f32x4 operator*(f32x4 a, f32x4 b) { return f32x4{a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }]] },
    { "operator*(f32x4,f32)", [[
${function}f32x4 operator*(f32x4 a, f32 b) { return f32x4{a.x * b, a.y * b, a.z * b, a.w * b}; }]] },
    { "load4(f32)", [[
${function}f32x4 load4(${global}const f32 *p) {
  const ${f32_4} v = *(${global}const ${f32_4} *)p;
  return f32x4{v.x, v.y, v.z, v.w};
}]] },
    { "load4(f16)", [[
${function}f32x4 load4(${global}const f16 *p) {
  const ${f16_4} v = *(${global}const ${f16_4} *)p;
  return f32x4{${f32_of_f16}v.x), ${f32_of_f16}v.y), ${f32_of_f16}v.z), ${f32_of_f16}v.w)};
}]] },
    { "load4u", [[
${function}u32x4 load4u(${global}const u32 *p) {
  const ${u32_4} v = *(${global}const ${u32_4} *)p;
  return u32x4{v.x, v.y, v.z, v.w};
}]] },
    { "kg_ballot", "${function}lanes kg_ballot(bool p) { return lanes{${lanes_where}}; }" },
    { "lanes_count", "${function}u32 lanes_count(lanes m) { return u32(${bits_of_64}(m.set)); }" },
    { "lanes_first", "${function}u32 lanes_first(lanes m) { return m.set == 0 ? WAVE : ${first_lane}; }" },
    { "lanes_before", [[
${function}u32 lanes_before(lanes m, u32 at) { return u32(${bits_of_64}(m.set & ((u64(1) << at) - 1))); }]] },
    { "lanes_has", "${function}bool lanes_has(lanes m, u32 at) { return (m.set >> at & 1) != 0; }" },
  },
}

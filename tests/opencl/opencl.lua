-- OpenCL (C++ for OpenCL), a fourth backend: this file and no line of C.  tests/test_backend.c puts it beside the others and has
-- clang read what comes out.  See templates/hip.lua for what each field and hole means.
return {
  order = 4,
  name = "opencl",
  title = "OpenCL",
  extension = "cl",
  waves = { 32 },
  limits = { shared = 65536, threads = 1024, groups = { 2147483647, 65535, 65535 } },
  options = { "-cl-std=CLC++2021" },

  reserved = { "kernel", "global", "local", "constant", "private", "half", "event_t", "image2d_t", "sampler_t", "pipe" },

  -- A word of the kernel language becomes this, token by token; "" removes it.
  spell = {
    GLOBAL = "global", LOCAL = "local", PRIVATE = "__private",
    barrier = "kg_barrier", wave_any = "sub_group_any", wave_all = "sub_group_all",
    min = "kg_min", max = "kg_max", rsqrt = "kg_rsqrt", isnan = "kg_isnan", ballot = "kg_ballot", abs = "fabs",
    fast_exp = "native_exp", fast_exp2 = "native_exp2", fast_log = "native_log", fast_log2 = "native_log2",
    bits = "as_uint", f32_of_bits = "as_float",
    INF = "INFINITY", NOT_A_NUMBER = "NAN",
  },

  -- How the entry learns who is asking.  `thread` in a group of one dimension is thread_x.
  index = {
    thread_x = "u32(get_local_id(0))", thread_y = "u32(get_local_id(1))", thread_z = "u32(get_local_id(2))",
    group_x = "u32(get_group_id(0))", group_y = "u32(get_group_id(1))", group_z = "u32(get_group_id(2))",
    lane = "get_sub_group_local_id()", wave_index = "get_sub_group_id()",
  },

  text = {
    head = [[
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
]],
    guard = [[
#if KG_WAVE != 32
#  error "kgen: ${kernel}: this instance is for another wavefront width than the target's"
#endif
]],
    default_wave = [[
#  define KG_WAVE 32
]],
    const = "constant constexpr ${type} ${name} = ${value};",
    type = "typedef ${dtype} ${name};",
    ["function"] = "static inline ",
    shared = "  local ${type} ${name}${extent};",
    entry_open = "kernel void // groups of ${threads}\nKG_ENTRY(",
    entry_in = "global const ${type} *${name}",
    entry_out = "global ${type} *${name}",
    entry_value = "${type} ${name}",
    entry_close = ") {",
    index = "  const u32 ${name} = ${value};",
  },

  -- Written, in this order, when the name on the left is used by the body, a library function or another piece.
  pieces = {
    { "f32", "typedef float f32;" },
    { "i8", "typedef char i8;" },
    { "u8", "typedef uchar u8;" },
    { "i16", "typedef short i16;" },
    { "u16", "typedef ushort u16;" },
    { "i32", "typedef int i32;" },
    { "u32", "typedef uint u32;" },
    { "i64", "typedef long i64;" },
    { "u64", "typedef ulong u64;" },
    { "f32x4", "struct f32x4 { f32 x, y, z, w; };" },
    { "u32x4", "struct u32x4 { u32 x, y, z, w; };" },
    { "f16", "typedef half f16; // storage only" },
    { "bf16", [[
struct bf16 { // storage only; rounds to nearest even, NaN stays NaN
  u16 pattern;
  bf16() = default;
  explicit bf16(f32 x) {
    const u32 u = as_uint(x);
    const u32 even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    pattern = u16((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
  }
  explicit operator f32() const { return as_float(u32(pattern) << 16); }
};]] },
    { "", "" }, -- here stand the instance's types and the constants
    { "lanes", "struct lanes { u64 set; };" },
    { "bits16", [[
static inline u16 bits16(f16 x) { return as_ushort(x); }
static inline u16 bits16(bf16 x) { return x.pattern; }]] },
    { "f16_of_bits", "static inline f16 f16_of_bits(u16 b) { return as_half(b); }" },
    { "bf16_of_bits", [[
static inline bf16 bf16_of_bits(u16 b) {
  bf16 x;
  x.pattern = b;
  return x;
}]] },
    { "kg_barrier", "static inline void kg_barrier() { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }" },
    { "kg_isnan", "static inline bool kg_isnan(f32 x) { return x != x; }" },
    { "kg_rsqrt", "static inline f32 kg_rsqrt(f32 x) { return 1.0f / sqrt(x); }" },
    { "kg_min", [[
template <class V> static inline V kg_min(V a, V b) { return b < a ? b : a; }
static inline f32 kg_min(f32 a, f32 b) { return fmin(a, b); }]] },
    { "kg_max", [[
template <class V> static inline V kg_max(V a, V b) { return a < b ? b : a; }
static inline f32 kg_max(f32 a, f32 b) { return fmax(a, b); }]] },
    { "load4", [[
static inline f32x4 load4(global const f32 *p) {
  const float4 v = vload4(0, p);
  return f32x4{v.x, v.y, v.z, v.w};
}
static inline f32x4 load4(global const f16 *p) {
  const float4 v = vload_half4(0, p);
  return f32x4{v.x, v.y, v.z, v.w};
}
static inline f32x4 load4(global const bf16 *p) { return f32x4{f32(p[0]), f32(p[1]), f32(p[2]), f32(p[3])}; }]] },
    { "store4", [[
static inline void store4(global f32 *p, f32x4 v) { vstore4((float4)(v.x, v.y, v.z, v.w), 0, p); }
static inline void store4(global f16 *p, f32x4 v) { vstore_half4_rte((float4)(v.x, v.y, v.z, v.w), 0, p); }
static inline void store4(global bf16 *p, f32x4 v) {
  p[0] = bf16(v.x);
  p[1] = bf16(v.y);
  p[2] = bf16(v.z);
  p[3] = bf16(v.w);
}]] },
    { "load4u", [[
static inline u32x4 load4u(global const u32 *p) {
  const uint4 v = vload4(0, p);
  return u32x4{v.x, v.y, v.z, v.w};
}]] },
    { "store4u", "static inline void store4u(global u32 *p, u32x4 v) { vstore4((uint4)(v.x, v.y, v.z, v.w), 0, p); }" },
    { "shuffle_xor", "template <class V> static inline V shuffle_xor(V x, u32 mask) { return sub_group_shuffle_xor(x, mask); }" },
    { "shuffle_down", "template <class V> static inline V shuffle_down(V x, u32 by) { return sub_group_shuffle_down(x, by); }" },
    { "shuffle_up", "template <class V> static inline V shuffle_up(V x, u32 by) { return sub_group_shuffle_up(x, by); }" },
    { "shuffle_idx", "template <class V> static inline V shuffle_idx(V x, u32 from) { return sub_group_shuffle(x, from); }" },
    { "kg_ballot", "static inline lanes kg_ballot(bool p) { return lanes{sub_group_ballot(p ? 1 : 0).x}; }" },
    { "lanes_count", "static inline u32 lanes_count(lanes m) { return u32(popcount(m.set)); }" },
    { "lanes_first", [[
static inline u32 lanes_first(lanes m) { return m.set == 0 ? WAVE : u32(popcount((m.set & -m.set) - 1)); }]] },
    { "lanes_before", [[
static inline u32 lanes_before(lanes m, u32 at) { return u32(popcount(m.set & ((u64(1) << at) - 1))); }]] },
    { "lanes_has", "static inline bool lanes_has(lanes m, u32 at) { return (m.set >> at & 1) != 0; }" },
  },
}

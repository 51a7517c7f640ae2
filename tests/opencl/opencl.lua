-- OpenCL (C++ for OpenCL), a fourth backend: this file and no line of C.  tests/spec/test_backend.c puts it beside the others and has
-- clang read what comes out.  See templates/backends/base.lua for what each field and hole means.
return {
  base = "base",
  order = 4,
  name = "opencl",
  title = "OpenCL",
  extension = "cl",
  waves = { 32 },
  limits = { shared = 65536, threads = 1024, groups = { 2147483647, 65535, 65535 } },
  options = { "-cl-std=CLC++2021" },

  reserved = { "kernel", "global", "local", "constant", "private", "event_t", "image2d_t", "sampler_t", "pipe" },

  spell = {
    GLOBAL = "global", LOCAL = "local", PRIVATE = "__private",
    barrier = "kg_barrier", wave_any = "sub_group_any", wave_all = "sub_group_all",
    fma = "fma", sqrt = "sqrt", exp = "exp", exp2 = "exp2", log = "log", log2 = "log2", sin = "sin", cos = "cos",
    tanh = "tanh", floor = "floor", ceil = "ceil", mul_hi = "mul_hi", popcount = "popcount",
    fast_exp = "native_exp", fast_exp2 = "native_exp2", fast_log = "native_log", fast_log2 = "native_log2",
    bits = "as_uint", f32_of_bits = "as_float",
    INF = "INFINITY", NOT_A_NUMBER = "NAN",
  },

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
    const = "constant constexpr ${type} ${name} = ${value};",
    ["function"] = "static inline ",
    shared = "  local ${type} ${name}${extent};",
    entry_open = "kernel void // groups of ${threads}\nKG_ENTRY(",
    entry_in = "global const ${type} *${name}",
    entry_out = "global ${type} *${name}",
    entry_value = "${type} ${name}",
  },

  names = {
    i8 = "char", u8 = "uchar", u16 = "ushort", u32 = "uint", i64 = "long", u64 = "ulong",
    as_u32 = "as_uint(", as_f32 = "as_float(", fabs = "fabs", fmin = "fmin", fmax = "fmax", bits_of_64 = "popcount",
    first_lane = "u32(popcount((m.set & -m.set) - 1))", lanes_where = "sub_group_ballot(p ? 1 : 0).x",
  },

  pieces = {
    { "f16", "typedef half f16; // storage only" },
    { "bf16" },
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
    { "kg_isnan" },
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
    { "kg_ballot" },
  },
}

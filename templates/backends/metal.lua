-- Metal Shading Language 3.1 and newer (bfloat).  See base.lua for what each field and hole means.
return {
  base = "base",
  order = 1,
  name = "metal",
  title = "Metal",
  slot = "metal",
  extension = "metal",
  waves = { 32 },
  -- buffers: what can be bound; the argument block takes one.
  limits = { shared = 32768, threads = 1024, buffers = 31, groups = { 4294967295, 4294967295, 4294967295 } },
  options = { "fastMathEnabled=NO", "languageVersion=3.1" },

  reserved = {
    "kernel", "vertex", "fragment", "mesh", "object", "device", "constant", "threadgroup", "threadgroup_imageblock",
    "thread", "ray_data", "object_data", "half3", "half4", "bfloat", "bfloat2", "bfloat3", "bfloat4", "size_t", "metal",
    "simd", "sampler", "texture2d", "array", "atomic_int", "atomic_uint", "as_type", "access", "visible", "stitchable",
    "coherent", "precise", "fast", "mem_flags", "metal_stdlib",
    "ctz", "fabs", "mulhi", -- functions that texts use: a template of ours by that name would yield to Metal's
    -- attributes, of which MLX makes a parameter of the entry where it sees the word in a body
    "dispatch_quadgroups_per_threadgroup", "dispatch_simdgroups_per_threadgroup", "dispatch_threads_per_threadgroup",
    "grid_origin", "grid_size", "quadgroup_index_in_threadgroup", "quadgroups_per_threadgroup",
    "simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup", "thread_execution_width", "thread_index_in_quadgroup",
    "thread_index_in_simdgroup", "thread_index_in_threadgroup", "thread_position_in_grid",
    "thread_position_in_threadgroup", "threadgroup_position_in_grid", "threadgroups_per_grid", "threads_per_grid",
    "threads_per_simdgroup", "threads_per_threadgroup",
  },

  spell = {
    GLOBAL = "device", LOCAL = "threadgroup", PRIVATE = "thread",
    thread = "kg_thread", -- a keyword there
    barrier = "kg_barrier", wave_any = "simd_any", wave_all = "simd_all",
    fma = "fma", floor = "floor", ceil = "ceil", popcount = "popcount",
    sqrt = "precise::sqrt", exp = "precise::exp", exp2 = "precise::exp2", log = "precise::log", log2 = "precise::log2",
    sin = "precise::sin", cos = "precise::cos", tanh = "precise::tanh",
    fast_exp = "fast::exp", fast_exp2 = "fast::exp2", fast_log = "fast::log", fast_log2 = "fast::log2",
    own_exp2 = "precise::exp2", own_rsqrt = "precise::rsqrt", own_fma = "fma", fast_sin = "fast::sin", fast_cos = "fast::cos",
    mul_hi = "mulhi",
    bits = "as_type<u32>", f32_of_bits = "as_type<f32>", bits16 = "as_type<u16>", f16_of_bits = "as_type<f16>",
    bf16_of_bits = "as_type<bf16>",
    INF = "INFINITY", NOT_A_NUMBER = "NAN",
  },

  index = {
    thread_x = "kg_thread_in_group.x", thread_y = "kg_thread_in_group.y", thread_z = "kg_thread_in_group.z",
    group_x = "kg_group.x", group_y = "kg_group.y", group_z = "kg_group.z",
    -- Which lane a thread has is not promised (MSL 4.4.1): this way lane = thread % 32 by construction.
    thread = "kg_simd_in_group * 32 + kg_index_in_simd", lane = "kg_index_in_simd", wave_index = "kg_simd_in_group",
  },

  tail = {
    { "kg_thread_in_group", "uint3 kg_thread_in_group [[thread_position_in_threadgroup]]" },
    { "kg_group", "uint3 kg_group [[threadgroup_position_in_grid]]" },
    { "kg_index_in_simd", "uint kg_index_in_simd [[thread_index_in_simdgroup]]" },
    { "kg_simd_in_group", "uint kg_simd_in_group [[simdgroup_index_in_threadgroup]]" },
  },

  text = {
    head = [[
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#pragma clang fp contract(off) // for compilers that know the one above by no name; a fused multiply-add is written fma
]],
    guard = [[
// -- a SIMD-group has 32 lanes: an instance made for another width must not compile; the host compares threadExecutionWidth --
#if KG_WAVE != 32
#  error "kgen: ${kernel}: this instance is for another wavefront width than the target's"
#endif
#if defined(__METAL_VERSION__) && __METAL_VERSION__ < 310
#  error "kgen: ${kernel}: this text is for Metal 3.1 and newer; compile it with languageVersion 3.1"
#endif
]],
    const = "constant constexpr ${type} ${name} = ${value};",
    ["function"] = "static inline ",
    shared = "  threadgroup ${type} ${name}${extent};",
    -- dims and scalars travel in one block
    args_open = "struct kg_args_block {",
    args_field = "  ${type} ${name};",
    args_close = "};",
    entry_open = "[[max_total_threads_per_threadgroup(${threads})]] kernel void\nKG_ENTRY(",
    entry_in = "device const ${type} *${name} [[buffer(${index})]]",
    entry_out = "device ${type} *${name} [[buffer(${index})]]",
    entry_args = "constant kg_args_block &kg_args [[buffer(${index})]]",
    entry_local = "  const ${type} ${name} = kg_args.${name};",
    native_kernel = "kernel",
    native_f16 = "typedef half f16;",
    native_bf16 = "typedef bfloat bf16;",
    mlx_in = "  device const ${type} *${name} = kg_mlx_in<${type}>(kg_${name}_in);",
    mlx_out = "  device ${type} *${name} = kg_${name}_out;",
    mlx_value = "  const ${type} ${name} = kg_mlx_value<${type}>(kg_${name}_in);",
    -- What MLX gives: device memory; constant memory, where there are fewer than 8 elements; a reference, where there is no axis.
    -- A small array that has elements is not read there by kgen's callers, who give eight copies of it: that device and constant
    -- addresses are of one kind holds on Apple's GPUs, and no specification promises it.
    mlx_head = [[
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#pragma clang fp contract(off) // for compilers that know the one above by no name; a fused multiply-add is written fma
namespace kgen {
template <class V> static inline device const V *kg_mlx_in(device const V *p) { return p; }
template <class V> static inline V kg_mlx_value(device const V *p) { return *p; }
template <class V> static inline V kg_mlx_value(constant const V &v) { return v; }
#ifdef KG_SIMT // one address space
template <class V> static inline device const V *kg_mlx_in(constant const V &v) { return &v; }
#else
template <class V> static inline device const V *kg_mlx_in(constant const V *p) { return (device const V *)(ulong)p; }
template <class V> static inline device const V *kg_mlx_in(constant const V &v) { return (device const V *)(ulong)&v; }
template <class V> static inline V kg_mlx_value(constant const V *p) { return *p; }
#endif
}
]],
  },

  names = {
    global = "device ",
    i8 = "char", u8 = "uchar", u16 = "ushort", u32 = "uint", i64 = "long", u64 = "ulong",
    fabs = "fabs", fmin = "precise::fmin", fmax = "precise::fmax", bits_of_64 = "popcount", first_lane = "u32(ctz(m.set))",
    lanes_where = "u64((simd_vote::vote_t)simd_ballot(p))",
  },

  pieces = {
    { "f16", "typedef half f16; // storage only" },
    { "bf16", "typedef bfloat bf16; // storage only" },
    { "kg_barrier", [[
static inline void kg_barrier() { threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device); }]] },
    { "own_sincos", "static inline sine_cosine own_sincos(f32 x) { return sine_cosine{fast::sin(x), fast::cos(x)}; }" },
    { "kg_isnan" },
    { "load4(bf16)", [[
static inline f32x4 load4(device const bf16 *p) {
  const bfloat4 v = *(device const bfloat4 *)p;
  return f32x4{f32(v.x), f32(v.y), f32(v.z), f32(v.w)};
}]] },
    { "store4(f32,f32x4)", [[
static inline void store4(device f32 *p, f32x4 v) { *(device float4 *)p = float4(v.x, v.y, v.z, v.w); }]] },
    { "store4(f16,f32x4)", [[
static inline void store4(device f16 *p, f32x4 v) { *(device half4 *)p = half4(f16(v.x), f16(v.y), f16(v.z), f16(v.w)); }]] },
    { "store4(bf16,f32x4)", [[
static inline void store4(device bf16 *p, f32x4 v) {
  *(device bfloat4 *)p = bfloat4(bf16(v.x), bf16(v.y), bf16(v.z), bf16(v.w));
}]] },
    { "load4u" },
    { "store4u", [[
static inline void store4u(device u32 *p, u32x4 v) { *(device uint4 *)p = uint4(v.x, v.y, v.z, v.w); }]] },
    { "shuffle_xor", [[
template <class V> static inline V shuffle_xor(V x, u32 mask) { return simd_shuffle_xor(x, ushort(mask)); }]] },
    { "shuffle_down", [[
template <class V> static inline V shuffle_down(V x, u32 delta) { return simd_shuffle_down(x, ushort(delta)); }]] },
    { "shuffle_up", [[
template <class V> static inline V shuffle_up(V x, u32 delta) { return simd_shuffle_up(x, ushort(delta)); }]] },
    { "shuffle_idx", [[
template <class V> static inline V shuffle_idx(V x, u32 from) { return simd_shuffle(x, ushort(from)); }]] },
    { "kg_ballot" },
  },
}

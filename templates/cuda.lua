-- CUDA C++, as NVRTC and clang's device front end accept it with no include.  See hip.lua for what each field and hole means.
return {
  order = 2,
  name = "cuda",
  title = "CUDA",
  slot = "cuda",
  extension = "cu",
  waves = { 32 },
  limits = { shared = 49152, threads = 1024, groups = { 2147483647, 65535, 65535 } },
  options = { "--fmad=false" },

  -- Identifiers that a body must not declare: keywords, types and builtins of CUDA C++.
  reserved = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "half", "half2", "float2", "float3", "float4", "double2",
    "int2", "int3", "int4", "uint", "uint2", "uint3", "uint4", "ushort", "uchar", "ulong", "dim3", "nv_bfloat16",
    "__half", "__nv_bfloat16", "double", "longlong2", "cudaStream_t", "printf", "assert", "abort", "clock", "clock64",
  },

  -- A word of the kernel language becomes this, token by token; "" removes it.
  spell = {
    GLOBAL = "", LOCAL = "", PRIVATE = "",
    barrier = "__syncthreads",
    min = "kg_min", max = "kg_max", rsqrt = "kg_rsqrt", isnan = "kg_isnan", ballot = "kg_ballot",
    fma = "fmaf", sqrt = "sqrtf", exp = "expf", exp2 = "exp2f", log = "logf", log2 = "log2f",
    sin = "sinf", cos = "cosf", tanh = "tanhf", abs = "fabsf", floor = "floorf", ceil = "ceilf",
    fast_exp = "__expf", fast_exp2 = "exp2f", fast_log = "__logf", fast_log2 = "__log2f",
    mul_hi = "__umulhi", popcount = "__popc",
    bits = "__float_as_uint", f32_of_bits = "__uint_as_float",
    INF = "__int_as_float(0x7f800000)", NOT_A_NUMBER = "__int_as_float(0x7fc00000)",
  },

  -- How the entry learns who is asking.  `thread` in a group of one dimension is thread_x.
  index = {
    thread_x = "threadIdx.x", thread_y = "threadIdx.y", thread_z = "threadIdx.z",
    group_x = "blockIdx.x", group_y = "blockIdx.y", group_z = "blockIdx.z",
    lane = "thread % WAVE", wave_index = "thread / WAVE",
  },

  text = {
    member = "__device__", -- before a member function of a storage type that has no piece below
    head = [[
// Compile with --fmad=false and without --use_fast_math, neither of which shows in a macro: a fused multiply-add is written fma, nothing else is one.
]],
    guard = [[
// -- a warp has 32 lanes: an instance made for another width must not compile --
#if KG_WAVE != 32
#  error "kgen: ${kernel}: this instance is for another wavefront width than the target's"
#endif
]],
    default_wave = [[
#  define KG_WAVE 32
]],
    const = "static constexpr ${type} ${name} = ${value};",
    type = "typedef ${dtype} ${name};",
    ["function"] = "static inline __device__ ",
    shared = "  __shared__ ${type} ${name}${extent};",
    entry_open = 'extern "C" __global__ void __launch_bounds__(${threads})\nKG_ENTRY(',
    entry_in = "const ${type} *__restrict__ ${name}",
    entry_out = "${type} *__restrict__ ${name}",
    entry_value = "${type} ${name}",
    entry_close = ") {",
    index = "  const u32 ${name} = ${value};",
  },

  -- Written, in this order, when the name on the left is used by the body, a library function or another piece.
  pieces = {
    { "f32", "typedef float f32;" },
    { "i8", "typedef signed char i8;" },
    { "u8", "typedef unsigned char u8;" },
    { "i16", "typedef short i16;" },
    { "u16", "typedef unsigned short u16;" },
    { "i32", "typedef int i32;" },
    { "u32", "typedef unsigned int u32;" },
    { "i64", "typedef long long i64;" },
    { "u64", "typedef unsigned long long u64;" },
    { "f32x4", "struct f32x4 { f32 x, y, z, w; };" },
    { "u32x4", "struct u32x4 { u32 x, y, z, w; };" },
    { "kg_f16_bits", [[
static inline __device__ u16 kg_f16_bits(f32 x) {
#ifdef KG_SIMT // run on a CPU, lane by lane
  return __builtin_bit_cast(u16, _Float16(x));
#else
  u16 b;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(x));
  return b;
#endif
}]] },
    { "kg_f16_value", [[
static inline __device__ f32 kg_f16_value(u16 b) {
#ifdef KG_SIMT
  return f32(__builtin_bit_cast(_Float16, b));
#else
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(b));
  return x;
#endif
}]] },
    { "f16", [[
struct f16 { // storage only; rounds to nearest even
  u16 pattern;
  f16() = default;
  __device__ explicit f16(f32 x) : pattern(kg_f16_bits(x)) {}
  __device__ explicit operator f32() const { return kg_f16_value(pattern); }
};]] },
    { "bf16", [[
struct bf16 { // storage only; rounds to nearest even, NaN stays NaN
  u16 pattern;
  bf16() = default;
  __device__ explicit bf16(f32 x) {
    const u32 u = __float_as_uint(x);
    const u32 even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    pattern = u16((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
  }
  __device__ explicit operator f32() const { return __uint_as_float(u32(pattern) << 16); }
};]] },
    { "", "" }, -- here stand the instance's types and the constants
    { "lanes", "struct lanes { u64 set; };" },
    { "bits16", [[
static inline __device__ u16 bits16(f16 x) { return x.pattern; }
static inline __device__ u16 bits16(bf16 x) { return x.pattern; }]] },
    { "f16_of_bits", [[
static inline __device__ f16 f16_of_bits(u16 b) {
  f16 x;
  x.pattern = b;
  return x;
}]] },
    { "bf16_of_bits", [[
static inline __device__ bf16 bf16_of_bits(u16 b) {
  bf16 x;
  x.pattern = b;
  return x;
}]] },
    { "kg_isnan", "static inline __device__ bool kg_isnan(f32 x) { return x != x; }" },
    { "kg_rsqrt", "static inline __device__ f32 kg_rsqrt(f32 x) { return 1.0f / sqrtf(x); }" },
    { "kg_min", [[
template <class V> static inline __device__ V kg_min(V a, V b) { return b < a ? b : a; }
static inline __device__ f32 kg_min(f32 a, f32 b) { return fminf(a, b); }]] },
    { "kg_max", [[
template <class V> static inline __device__ V kg_max(V a, V b) { return a < b ? b : a; }
static inline __device__ f32 kg_max(f32 a, f32 b) { return fmaxf(a, b); }]] },
    { "load4", [[
static inline __device__ f32x4 load4(const f32 *p) {
  const float4 v = *(const float4 *)p;
  return f32x4{v.x, v.y, v.z, v.w};
}
static inline __device__ f32x4 load4(const f16 *p) {
  const ushort4 v = *(const ushort4 *)p;
  return f32x4{kg_f16_value(v.x), kg_f16_value(v.y), kg_f16_value(v.z), kg_f16_value(v.w)};
}
static inline __device__ f32x4 load4(const bf16 *p) {
  const ushort4 v = *(const ushort4 *)p;
  return f32x4{__uint_as_float(u32(v.x) << 16), __uint_as_float(u32(v.y) << 16),
               __uint_as_float(u32(v.z) << 16), __uint_as_float(u32(v.w) << 16)};
}]] },
    { "store4", [[
static inline __device__ void store4(f32 *p, f32x4 v) { *(float4 *)p = float4{v.x, v.y, v.z, v.w}; }
static inline __device__ void store4(f16 *p, f32x4 v) {
  *(ushort4 *)p = ushort4{f16(v.x).pattern, f16(v.y).pattern, f16(v.z).pattern, f16(v.w).pattern};
}
static inline __device__ void store4(bf16 *p, f32x4 v) {
  *(ushort4 *)p = ushort4{bf16(v.x).pattern, bf16(v.y).pattern, bf16(v.z).pattern, bf16(v.w).pattern};
}]] },
    { "load4u", [[
static inline __device__ u32x4 load4u(const u32 *p) {
  const uint4 v = *(const uint4 *)p;
  return u32x4{v.x, v.y, v.z, v.w};
}]] },
    { "store4u", [[
static inline __device__ void store4u(u32 *p, u32x4 v) { *(uint4 *)p = uint4{v.x, v.y, v.z, v.w}; }]] },
    { "shuffle_xor", [[
template <class V> static inline __device__ V shuffle_xor(V x, u32 mask) {
  return __shfl_xor_sync(0xffffffffu, x, int(mask), int(WAVE));
}]] },
    { "shuffle_down", [[
template <class V> static inline __device__ V shuffle_down(V x, u32 delta) {
  return __shfl_down_sync(0xffffffffu, x, delta, int(WAVE));
}]] },
    { "shuffle_up", [[
template <class V> static inline __device__ V shuffle_up(V x, u32 delta) {
  return __shfl_up_sync(0xffffffffu, x, delta, int(WAVE));
}]] },
    { "shuffle_idx", [[
template <class V> static inline __device__ V shuffle_idx(V x, u32 from) {
  return __shfl_sync(0xffffffffu, x, int(from), int(WAVE));
}]] },
    { "wave_any", "static inline __device__ bool wave_any(bool p) { return __any_sync(0xffffffffu, p) != 0; }" },
    { "wave_all", "static inline __device__ bool wave_all(bool p) { return __all_sync(0xffffffffu, p) != 0; }" },
    { "kg_ballot", "static inline __device__ lanes kg_ballot(bool p) { return lanes{__ballot_sync(0xffffffffu, p)}; }" },
    { "lanes_count", "static inline __device__ u32 lanes_count(lanes m) { return u32(__popcll(m.set)); }" },
    { "lanes_first", [[
static inline __device__ u32 lanes_first(lanes m) { return m.set == 0 ? WAVE : u32(__ffsll((long long)m.set)) - 1; }]] },
    { "lanes_before", [[
static inline __device__ u32 lanes_before(lanes m, u32 at) { return u32(__popcll(m.set & ((u64(1) << at) - 1))); }]] },
    { "lanes_has", "static inline __device__ bool lanes_has(lanes m, u32 at) { return (m.set >> at & 1) != 0; }" },
  },
}

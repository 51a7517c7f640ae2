-- HIP, as hipRTC 5.2 to 7.2 accept it with no include.  A backend is data: gen/emit/emit.c knows no other description of it.
--
-- Holes: ${kernel} the kernel's name, ${threads} the group's size as text, ${name} ${type} ${value} ${extent} ${dtype} of the thing
-- at hand, ${index} a parameter's number.  In `pieces` and `index`, words of the kernel language may be used.
return {
  order = 3,
  name = "hip",        -- the folder under generated/, the name in a specification's ports
  title = "HIP",
  slot = "rocm",       -- the field of KernelPorts
  extension = "hip",
  waves = { 32, 64 },
  limits = { shared = 65536, threads = 1024, groups = { 2147483647, 65535, 65535 } },
  options = { "-O3", "-ffp-contract=off" },

  -- Identifiers that a body must not declare: keywords, types and builtins of HIP's C++.
  reserved = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "half", "half2", "float2", "float3", "float4", "double2",
    "int2", "int3", "int4", "uint", "uint2", "uint3", "uint4", "ushort", "uchar", "ulong", "dim3", "hip_bfloat16",
    "__half", "__bf16", "_Float16", "double", "hipLaunchKernel", "printf", "assert", "abort", "clock", "clock64",
  },

  -- A word of the kernel language becomes this, token by token; "" removes it.
  spell = {
    GLOBAL = "", LOCAL = "", PRIVATE = "",
    barrier = "__syncthreads", wave_any = "__any", wave_all = "__all",
    min = "kg_min", max = "kg_max", rsqrt = "kg_rsqrt", isnan = "kg_isnan", ballot = "kg_ballot",
    fma = "fmaf", sqrt = "sqrtf", exp = "expf", exp2 = "exp2f", log = "logf", log2 = "log2f",
    sin = "sinf", cos = "cosf", tanh = "tanhf", abs = "fabsf", floor = "floorf", ceil = "ceilf",
    fast_exp = "__expf", fast_exp2 = "exp2f", fast_log = "__logf", fast_log2 = "__log2f",
    mul_hi = "__umulhi", popcount = "__popc",
    INF = "__builtin_inff()", NOT_A_NUMBER = '__builtin_nanf("")',
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
#pragma clang fp contract(off) // a fused multiply-add is written fma, nothing else is one
]],
    guard = [[
#if defined(__FAST_MATH__) // -ffp-contract=fast undoes the pragma above too, and shows in no macro
#  error "kgen: ${kernel}: this text is for exact arithmetic; compile it without -ffast-math"
#endif
// -- wavefront width: an instance made for one width must not compile for the other, nor for an unknown one --
#if defined(__AMDGCN_WAVEFRONT_SIZE__) // ROCm 5.5 to 7.1
#  define KG_DEVICE_WAVE __AMDGCN_WAVEFRONT_SIZE__
#elif defined(__AMDGCN_WAVEFRONT_SIZE) // before 5.5
#  define KG_DEVICE_WAVE __AMDGCN_WAVEFRONT_SIZE
#elif defined(__GFX8__) || defined(__GFX9__) // from 7.2 on neither is there: the family tells
#  define KG_DEVICE_WAVE 64
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#  define KG_DEVICE_WAVE 32
#  define KG_WAVE_OF_FAMILY // -mwavefrontsize64 makes it another, in no macro: the entry asks the compiler
#else
#  error "kgen: ${kernel}: the wavefront width of this target is unknown"
#endif
#if KG_DEVICE_WAVE != KG_WAVE
#  error "kgen: ${kernel}: this instance is for another wavefront width than the target's"
#endif
]],
    default_wave = [[
#  if defined(__GFX8__) || defined(__GFX9__)
#    define KG_WAVE 64
#  else
#    define KG_WAVE 32
#  endif
]],
    const = "static constexpr ${type} ${name} = ${value};",
    type = "typedef ${dtype} ${name};",
    ["function"] = "static inline __device__ ",
    shared = "  __shared__ ${type} ${name}${extent};",
    entry_open = 'extern "C" __global__ void __launch_bounds__(${threads})\nKG_ENTRY(',
    entry_in = "const ${type} *__restrict__ ${name}",
    entry_out = "${type} *__restrict__ ${name}",
    entry_value = "${type} ${name}",
    entry_close = [[
) {
#ifdef KG_WAVE_OF_FAMILY
  (void)__builtin_amdgcn_ballot_w32(true); // kgen: ${kernel}: this instance is for 32 lanes, not for -mwavefrontsize64
#endif]],
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
    { "f16", "typedef _Float16 f16; // storage only" },
    { "bf16", [[
struct bf16 { // storage only; rounds to nearest even, NaN stays NaN
  u16 pattern;
  bf16() = default;
  __device__ explicit bf16(f32 x) {
    const u32 u = __builtin_bit_cast(u32, x);
    const u32 even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    pattern = u16((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
  }
  __device__ explicit operator f32() const { return __builtin_bit_cast(f32, u32(pattern) << 16); }
};]] },
    { "", "" }, -- here stand the instance's types and the constants
    { "lanes", "struct lanes { u64 set; };" },
    { "bits", "static inline __device__ u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }" },
    { "f32_of_bits", "static inline __device__ f32 f32_of_bits(u32 b) { return __builtin_bit_cast(f32, b); }" },
    { "bits16", [[
static inline __device__ u16 bits16(f16 x) { return __builtin_bit_cast(u16, x); }
static inline __device__ u16 bits16(bf16 x) { return x.pattern; }]] },
    { "f16_of_bits", "static inline __device__ f16 f16_of_bits(u16 b) { return __builtin_bit_cast(f16, b); }" },
    { "bf16_of_bits", "static inline __device__ bf16 bf16_of_bits(u16 b) { return __builtin_bit_cast(bf16, b); }" },
    { "kg_isnan", "static inline __device__ bool kg_isnan(f32 x) { return x != x; }" },
    { "kg_rsqrt", "static inline __device__ f32 kg_rsqrt(f32 x) { return 1.0f / sqrtf(x); }" },
    { "kg_min", [[
template <class V> static inline __device__ V kg_min(V a, V b) { return b < a ? b : a; }
static inline __device__ f32 kg_min(f32 a, f32 b) { return fminf(a, b); }]] },
    { "kg_max", [[
template <class V> static inline __device__ V kg_max(V a, V b) { return a < b ? b : a; }
static inline __device__ f32 kg_max(f32 a, f32 b) { return fmaxf(a, b); }]] },
    { "load4", [[
typedef f32 kg_f32x4 __attribute__((ext_vector_type(4)));
typedef f16 kg_f16x4 __attribute__((ext_vector_type(4)));
typedef u16 kg_u16x4 __attribute__((ext_vector_type(4)));
static inline __device__ f32x4 load4(const f32 *p) {
  const kg_f32x4 v = *(const kg_f32x4 *)p;
  return f32x4{v.x, v.y, v.z, v.w};
}
static inline __device__ f32x4 load4(const f16 *p) {
  const kg_f16x4 v = *(const kg_f16x4 *)p;
  return f32x4{f32(v.x), f32(v.y), f32(v.z), f32(v.w)};
}
static inline __device__ f32x4 load4(const bf16 *p) {
  const kg_u16x4 v = *(const kg_u16x4 *)p;
  return f32x4{__builtin_bit_cast(f32, u32(v.x) << 16), __builtin_bit_cast(f32, u32(v.y) << 16),
               __builtin_bit_cast(f32, u32(v.z) << 16), __builtin_bit_cast(f32, u32(v.w) << 16)};
}]] },
    { "store4", [[
typedef f32 kg_f32x4_out __attribute__((ext_vector_type(4)));
typedef f16 kg_f16x4_out __attribute__((ext_vector_type(4)));
typedef u16 kg_u16x4_out __attribute__((ext_vector_type(4)));
static inline __device__ void store4(f32 *p, f32x4 v) { *(kg_f32x4_out *)p = kg_f32x4_out{v.x, v.y, v.z, v.w}; }
static inline __device__ void store4(f16 *p, f32x4 v) {
  *(kg_f16x4_out *)p = kg_f16x4_out{f16(v.x), f16(v.y), f16(v.z), f16(v.w)};
}
static inline __device__ void store4(bf16 *p, f32x4 v) {
  *(kg_u16x4_out *)p = kg_u16x4_out{bf16(v.x).pattern, bf16(v.y).pattern, bf16(v.z).pattern, bf16(v.w).pattern};
}]] },
    { "load4u", [[
typedef u32 kg_u32x4 __attribute__((ext_vector_type(4)));
static inline __device__ u32x4 load4u(const u32 *p) {
  const kg_u32x4 v = *(const kg_u32x4 *)p;
  return u32x4{v.x, v.y, v.z, v.w};
}]] },
    { "store4u", [[
typedef u32 kg_u32x4_out __attribute__((ext_vector_type(4)));
static inline __device__ void store4u(u32 *p, u32x4 v) { *(kg_u32x4_out *)p = kg_u32x4_out{v.x, v.y, v.z, v.w}; }]] },
    { "shuffle_xor", [[
template <class V> static inline __device__ V shuffle_xor(V x, u32 mask) { return __shfl_xor(x, int(mask), int(WAVE)); }]] },
    { "shuffle_down", [[
template <class V> static inline __device__ V shuffle_down(V x, u32 delta) { return __shfl_down(x, delta, int(WAVE)); }]] },
    { "shuffle_up", [[
template <class V> static inline __device__ V shuffle_up(V x, u32 delta) { return __shfl_up(x, delta, int(WAVE)); }]] },
    { "shuffle_idx", [[
template <class V> static inline __device__ V shuffle_idx(V x, u32 from) { return __shfl(x, int(from), int(WAVE)); }]] },
    { "kg_ballot", "static inline __device__ lanes kg_ballot(bool p) { return lanes{__ballot(p)}; }" },
    { "lanes_count", "static inline __device__ u32 lanes_count(lanes m) { return u32(__popcll(m.set)); }" },
    { "lanes_first", [[
static inline __device__ u32 lanes_first(lanes m) { return m.set == 0 ? WAVE : u32(__builtin_ctzll(m.set)); }]] },
    { "lanes_before", [[
static inline __device__ u32 lanes_before(lanes m, u32 at) { return u32(__popcll(m.set & ((u64(1) << at) - 1))); }]] },
    { "lanes_has", "static inline __device__ bool lanes_has(lanes m, u32 at) { return (m.set >> at & 1) != 0; }" },
  },
}

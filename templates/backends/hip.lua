-- HIP, as hipRTC 5.2 to 7.2 accept it with no include.  See base.lua for what each field and hole means.
return {
  base = "base_cuda",
  order = 3,           -- its place in tables
  name = "hip",        -- the folder under generated/, the name in a specification's ports
  title = "HIP",
  slot = "rocm",       -- the field of KernelPorts; a backend without one goes among the others
  extension = "hip",
  waves = { 32, 64 },  -- widths that it has
  limits = { shared = 65536, threads = 1024, groups = { 2147483647, 65535, 65535 } }, -- of a group, and of the grid's axes; `axes`: of a group's
  options = { "-O3", "-ffp-contract=off" }, -- for the run-time compiler

  reserved = { "hip_bfloat16", "__bf16", "_Float16", "hipLaunchKernel" },

  spell = {
    wave_any = "__any", wave_all = "__all", INF = "__builtin_inff()", NOT_A_NUMBER = '__builtin_nanf("")',
    sqrt = "kg_sqrt", own_rsqrt = "kg_rsqrt",
  },

  text = {
    native_f16 = "#ifndef __HIPCC_RTC__\n#include <hip/hip_fp16.h>\n#endif\ntypedef __half f16;",
    native_whole_f16 = "typedef __half f16;", -- its owner includes what it names
    native_whole_bf16 = "typedef __hip_bfloat16 bf16;",
    head = [[
#pragma clang fp contract(off) // a fused multiply-add is written fma, nothing else is one
]],
    mlx_head = [[
#pragma clang fp contract(off) // a fused multiply-add is written fma, nothing else is one
#undef inf // MLX's
namespace kgen {
template <class V> struct kg_mlx { typedef V type; };
}
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
    entry_close = [[
) {
#ifdef KG_WAVE_OF_FAMILY
  (void)__builtin_amdgcn_ballot_w32(true); // kgen: ${kernel}: this instance is for 32 lanes, not for -mwavefrontsize64
#endif]],
  },

  names = {
    as_u32 = "__builtin_bit_cast(u32, ", as_f32 = "__builtin_bit_cast(f32, ",
    f32_4 = "kg_f32x4", f16_4 = "kg_f16x4", u16_4 = "kg_u16x4", u32_4 = "kg_u32x4",
    first_lane = "u32(__builtin_ctzll(m.set))", lanes_where = "__ballot(p)",
  },

  pieces = {
    { "f16", [[
struct f16 { // storage only; rounds to nearest even
  _Float16 value;
  f16() = default;
  __device__ explicit f16(f32 x) {
#ifndef KG_SIMT // on an AMD GPU, where f16(a * b) becomes fma(a, b, +0) and -0 is lost: this keeps a product a product
    asm("" : "+v"(x));
#endif
    value = _Float16(x);
  }
  __device__ explicit operator f32() const { return f32(value); }
};]] },
    { "bf16" },
    { "bits", "static inline __device__ u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }" },
    { "f32_of_bits", "static inline __device__ f32 f32_of_bits(u32 b) { return __builtin_bit_cast(f32, b); }" },
    { "bits16(f16)", "static inline __device__ u16 bits16(f16 x) { return __builtin_bit_cast(u16, x); }" },
    { "bits16(bf16)" },
    { "f16_of_bits", "static inline __device__ f16 f16_of_bits(u16 b) { return __builtin_bit_cast(f16, b); }" },
    { "bf16_of_bits", "static inline __device__ bf16 bf16_of_bits(u16 b) { return __builtin_bit_cast(bf16, b); }" },
    { "kg_isnan" },
    { "own_sincos", [[
static inline __device__ sine_cosine own_sincos(f32 x) {
  sine_cosine of;
  sincosf(x, &of.sine, &of.cosine);
  return of;
}]] },
    { "kg_sqrt", [[
static inline __device__ f32 kg_sqrt(f32 x) { // correctly rounded
#if __clang_major__ > 16
  return sqrtf(x);
#else // hipRTC 5.2, whose sqrtf is the instruction: it may be a neighbour of the root
  const f32 large = x < 0x1p-96f ? x * 0x1p32f : x;
  const f32 root = sqrtf(large), below = f32_of_bits(bits(root) - 1), above = f32_of_bits(bits(root) + 1);
  const f32 low = __builtin_fmaf(-below, root, large) <= 0.0f ? below : root;
  const f32 right = __builtin_fmaf(-above, root, large) > 0.0f ? above : low;
  return large == 0.0f || large == ${INF} ? large : x < 0x1p-96f ? right * 0x1p-16f : right;
#endif
}]] },
    { "kg_rsqrt" },
    { "kg_f32x4", "typedef f32 kg_f32x4 __attribute__((ext_vector_type(4)));" },
    { "kg_f16x4", "typedef _Float16 kg_f16x4 __attribute__((ext_vector_type(4)));" },
    { "kg_u16x4", "typedef u16 kg_u16x4 __attribute__((ext_vector_type(4)));" },
    { "kg_u32x4", "typedef u32 kg_u32x4 __attribute__((ext_vector_type(4)));" },
    { "load4(f32)" },
    { "store4(f16,f32x4)", [[
static inline __device__ void store4(f16 *p, f32x4 v) {
  *(kg_f16x4 *)p = kg_f16x4{f16(v.x).value, f16(v.y).value, f16(v.z).value, f16(v.w).value};
}]] },
    { "store4(bf16,f32x4)" },
    { "shuffle_xor", [[
template <class V> static inline __device__ V shuffle_xor(V x, u32 mask) { return __shfl_xor(x, int(mask), int(WAVE)); }]] },
    { "shuffle_down", [[
template <class V> static inline __device__ V shuffle_down(V x, u32 delta) { return __shfl_down(x, delta, int(WAVE)); }]] },
    { "shuffle_up", [[
template <class V> static inline __device__ V shuffle_up(V x, u32 delta) { return __shfl_up(x, delta, int(WAVE)); }]] },
    { "shuffle_idx", [[
template <class V> static inline __device__ V shuffle_idx(V x, u32 from) { return __shfl(x, int(from), int(WAVE)); }]] },
    { "kg_ballot" },
  },
}

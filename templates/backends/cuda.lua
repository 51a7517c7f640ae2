-- CUDA C++, as NVRTC and clang's device front end accept it with no include.  See base.lua for what each field and hole means.
return {
  base = "base_cuda",
  order = 2,
  name = "cuda",
  title = "CUDA",
  slot = "cuda",
  extension = "cu",
  waves = { 32 },
  limits = { shared = 49152, threads = 1024, groups = { 2147483647, 65535, 65535 }, axes = { 1024, 1024, 64 } },
  options = { "--fmad=false" },

  reserved = { "nv_bfloat16", "__nv_bfloat16", "longlong2", "cudaStream_t" },

  spell = {
    own_rsqrt = "rsqrtf", rounded_product = "__fmul_rn",
    bits = "__float_as_uint", f32_of_bits = "__uint_as_float",
    INF = "__int_as_float(0x7f800000)", NOT_A_NUMBER = "__int_as_float(0x7fc00000)",
  },

  text = {
    native_f16 = "#include <cuda_fp16.h>\ntypedef __half f16;",
    native_bf16 = "#include <cuda_bf16.h>\ntypedef __nv_bfloat16 bf16;",
    native_whole_f16 = "typedef __half f16;", -- its owner includes what it names
    native_whole_bf16 = "typedef __nv_bfloat16 bf16;",
    head = [[
// Compile with --fmad=false and without --use_fast_math, neither of which shows in a macro: a fused multiply-add is written fma, nothing else is one.
]],
    mlx_head = [[
// MLX compiles this with options of its own, and a product that is added to may become a fused multiply-add: results then differ
// by that from the committed text's, which is compiled with --fmad=false.
#undef inf // MLX's
namespace kgen {
template <class V> struct kg_mlx { typedef V type; };
}
]],
    guard = [[
// -- a warp has 32 lanes: an instance made for another width must not compile --
#if KG_WAVE != 32
#  error "kgen: ${kernel}: this instance is for another wavefront width than the target's"
#endif
]],
  },

  names = {
    as_u32 = "__float_as_uint(", as_f32 = "__uint_as_float(", f16_4 = "ushort4", f32_of_f16 = "kg_f16_value(",
    first_lane = "u32(__ffsll((long long)m.set)) - 1", lanes_where = "__ballot_sync(0xffffffffu, p)",
  },

  pieces = {
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
    { "bf16" },
    { "bits16(f16)", "static inline __device__ u16 bits16(f16 x) { return x.pattern; }" },
    { "bits16(bf16)" },
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
    { "own_sincos", "static inline __device__ sine_cosine own_sincos(f32 x) { return sine_cosine{sinf(x), cosf(x)}; }" },
    { "kg_isnan" },
    { "rounded_product", false }, -- the word is spelt by its intrinsic
    { "store4(f16,f32x4)", [[
static inline __device__ void store4(f16 *p, f32x4 v) {
  *(ushort4 *)p = ushort4{f16(v.x).pattern, f16(v.y).pattern, f16(v.z).pattern, f16(v.w).pattern};
}]] },
    { "store4(bf16,f32x4)" },
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
    { "kg_ballot" },
  },
}

-- What CUDA C++ and HIP's share: HIP is CUDA's language by other names for the rest.
return {
  base = "base",

  reserved = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "double2", "dim3", "__half", "printf", "assert", "abort",
    "clock", "clock64",
  },

  spell = {
    GLOBAL = "", LOCAL = "", PRIVATE = "",
    barrier = "__syncthreads",
    fma = "fmaf", sqrt = "sqrtf", exp = "expf", exp2 = "exp2f", log = "logf", log2 = "log2f",
    sin = "sinf", cos = "cosf", tanh = "tanhf", floor = "floorf", ceil = "ceilf",
    fast_exp = "__expf", fast_exp2 = "kg_fast_exp2", fast_log = "__logf", fast_log2 = "__log2f",
    own_exp2 = "exp2f", own_expm1 = "expm1f", own_fma = "fmaf", fast_sin = "__sinf", fast_cos = "__cosf",
    mul_hi = "__umulhi", popcount = "__popc",
  },

  index = {
    thread_x = "threadIdx.x", thread_y = "threadIdx.y", thread_z = "threadIdx.z",
    group_x = "blockIdx.x", group_y = "blockIdx.y", group_z = "blockIdx.z",
    lane = "thread % WAVE", wave_index = "thread / WAVE",
  },

  text = {
    member = "__device__", -- before a member function of a storage type that has no piece
    const = "static constexpr ${type} ${name} = ${value};",
    ["function"] = "static inline __device__ ",
    shared = "  __shared__ ${type} ${name}${extent};",
    entry_open = 'extern "C" __global__ void __launch_bounds__(${threads})\nKG_ENTRY(',
    entry_in = "const ${type} *__restrict__ ${name}",
    entry_out = "${type} *__restrict__ ${name}",
    entry_value = "${type} ${name}",
    -- A kernel that its owner wrote is called by the entry, and so it is a function of the device's here.
    native_kernel = "__global__",
    native_before = [[
#pragma push_macro("__global__")
#pragma push_macro("__launch_bounds__")
#undef __global__
#undef __launch_bounds__
#define __global__ __device__
#define __launch_bounds__(...)
]],
    native_after = [[
#pragma pop_macro("__launch_bounds__")
#pragma pop_macro("__global__")
]],
    -- MLX's entry has no bound of its threads, and one that takes more registers than they have does not start, of which
    -- nothing is said.  What it is declared by gets one: for the largest of the instances, as no name of an instance's is
    -- known there.
    mlx_bound = [[
// MLX declares its entry after this: with the threads of a group that registers must do for
#undef __global__
#define __global__ __attribute__((global)) __launch_bounds__(${threads})
]],
    mlx_in = "  const ${type} *__restrict__ ${name} = (const ${type} *)kg_${name}_in;",
    mlx_out = "  ${type} *__restrict__ ${name} = (${type} *)kg_${name}_out;",
    mlx_value = "  const ${type} ${name} = ${type}(*kg_${name}_in);",
    mlx_type = "  typedef kgen::kg_mlx<${dtype}>::type ${name};", -- MLX's type for the kernel language's
  },

  names = { member = "__device__ ", fabs = "fabsf", fmin = "fminf", fmax = "fmaxf", bits_of_64 = "__popcll", u16_4 = "ushort4" },

  pieces = {
    { "bits16(bf16)", "static inline __device__ u16 bits16(bf16 x) { return x.pattern; }" },
    { "kg_fast_exp2", [[
static inline __device__ f32 kg_fast_exp2(f32 x) {
#ifdef KG_SIMT // run on a CPU, where exp2 and fast_exp2 are two things
  return __exp2f(x);
#else
  return exp2f(x);
#endif
}]] },
    { "kg_isnan" },
    { "load4(bf16)", [[
static inline __device__ f32x4 load4(const bf16 *p) {
  const ${u16_4} v = *(const ${u16_4} *)p;
  return f32x4{${as_f32}u32(v.x) << 16), ${as_f32}u32(v.y) << 16),
               ${as_f32}u32(v.z) << 16), ${as_f32}u32(v.w) << 16)};
}]] },
    { "store4(f32,f32x4)", [[
static inline __device__ void store4(f32 *p, f32x4 v) { *(${f32_4} *)p = ${f32_4}{v.x, v.y, v.z, v.w}; }]] },
    { "store4(bf16,f32x4)", [[
static inline __device__ void store4(bf16 *p, f32x4 v) {
  *(${u16_4} *)p = ${u16_4}{bf16(v.x).pattern, bf16(v.y).pattern, bf16(v.z).pattern, bf16(v.w).pattern};
}]] },
    { "load4u" },
    { "store4u", [[
static inline __device__ void store4u(u32 *p, u32x4 v) { *(${u32_4} *)p = ${u32_4}{v.x, v.y, v.z, v.w}; }]] },
    { "kg_ballot" },
  },
}

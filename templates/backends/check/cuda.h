// cuda.h: the words of CUDA that generated text may use, for clang's device front end without a CUDA installation.
//
// Generated CUDA text includes nothing: NVRTC knows these words by itself.  This file is put before it (-include) where clang
// stands in for NVRTC; a word that is not here does not compile, so only add what NVRTC has with no include.  Operations of the
// hardware are clang's builtins; accurate functions of the mathematical library are declared, and stay calls.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))

#define KG_CUDA static __inline__ __attribute__((always_inline)) __attribute__((device))

// -- vectors: aligned to their size ----------------------------------------------------------------------------------------
struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) int2 { int x, y; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct __attribute__((aligned(8))) uint2 { unsigned x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
struct __attribute__((aligned(4))) ushort2 { unsigned short x, y; };
struct __attribute__((aligned(8))) ushort4 { unsigned short x, y, z, w; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
struct uint3 { unsigned x, y, z; };

// -- who is asking -----------------------------------------------------------------------------------------------------------
#define KG_CUDA_INDEX(name, register) \
  struct kg_cuda_##name { \
    __declspec(property(get = get_x)) unsigned x; \
    __declspec(property(get = get_y)) unsigned y; \
    __declspec(property(get = get_z)) unsigned z; \
    KG_CUDA unsigned get_x() { return __nvvm_read_ptx_sreg_##register##_x(); } \
    KG_CUDA unsigned get_y() { return __nvvm_read_ptx_sreg_##register##_y(); } \
    KG_CUDA unsigned get_z() { return __nvvm_read_ptx_sreg_##register##_z(); } \
  }; \
  extern const __attribute__((device)) __attribute__((weak)) kg_cuda_##name name;
KG_CUDA_INDEX(threadIdx, tid)
KG_CUDA_INDEX(blockIdx, ctaid)
KG_CUDA_INDEX(blockDim, ntid)
KG_CUDA_INDEX(gridDim, nctaid)

// -- bits ----------------------------------------------------------------------------------------------------------------------
KG_CUDA unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KG_CUDA int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KG_CUDA float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KG_CUDA float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KG_CUDA unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
KG_CUDA int __popc(unsigned x) { return __builtin_popcount(x); }
KG_CUDA int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KG_CUDA int __ffs(int x) { return __builtin_ffs(x); }
KG_CUDA int __ffsll(long long x) { return __builtin_ffsll(x); }
KG_CUDA int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }

// -- across lanes and groups -------------------------------------------------------------------------------------------------------
// __syncthreads is clang's own.
KG_CUDA void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
KG_CUDA void __threadfence() { __nvvm_membar_gl(); }
KG_CUDA int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
KG_CUDA int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
KG_CUDA unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }

#define KG_CUDA_SHUFFLE(T, word, builtin, At, low) \
  KG_CUDA T word(unsigned mask, T x, At at, int width = 32) { \
    return __builtin_bit_cast(T, builtin(mask, __builtin_bit_cast(int, x), int(at), (32 - width) << 8 | low)); \
  }
#define KG_CUDA_SHUFFLES(T) \
  KG_CUDA_SHUFFLE(T, __shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31) \
  KG_CUDA_SHUFFLE(T, __shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31) \
  KG_CUDA_SHUFFLE(T, __shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31) \
  KG_CUDA_SHUFFLE(T, __shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
KG_CUDA_SHUFFLES(int)
KG_CUDA_SHUFFLES(unsigned)
KG_CUDA_SHUFFLES(float)

// -- arithmetic ------------------------------------------------------------------------------------------------------------------------
KG_CUDA float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
KG_CUDA float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
KG_CUDA float fabsf(float x) { return __builtin_fabsf(x); }
KG_CUDA float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
KG_CUDA float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
KG_CUDA float __sinf(float x) { return __nvvm_sin_approx_f(x); }
KG_CUDA float __cosf(float x) { return __nvvm_cos_approx_f(x); }
KG_CUDA float floorf(float x) { return __nvvm_floor_f(x); }
KG_CUDA float ceilf(float x) { return __nvvm_ceil_f(x); }
KG_CUDA float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
KG_CUDA float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
KG_CUDA float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
KG_CUDA float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
KG_CUDA float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }

extern "C" {
__device__ float expf(float);
__device__ float exp2f(float);
__device__ float expm1f(float);
__device__ float logf(float);
__device__ float log2f(float);
__device__ float sinf(float);
__device__ float cosf(float);
__device__ float tanhf(float);
__device__ float rintf(float);
__device__ float roundf(float);
__device__ float truncf(float);
}

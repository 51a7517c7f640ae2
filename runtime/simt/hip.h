/* hip.h: the words of HIP that a text may use, for the SIMT device.  What hipRTC's own header
** knows, and no more than generated texts need; a word that is missing here is a compile error
** that names it. */

#define __AMDGCN_WAVEFRONT_SIZE__ KG_SIMT_WAVE
#define __AMDGCN_WAVEFRONT_SIZE KG_SIMT_WAVE
#define __HIP__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIPCC_RTC__ 1

#define __global__
#define __device__ __attribute__((always_inline))
#define __host__
#define __constant__ static const
#define __shared__ KG_SIMT_SHARED
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__
#define __launch_bounds__(...)

#define threadIdx kg_simt_xyz_of(kg_simt_now()->place)
#define blockIdx kg_simt_xyz_of(kg_simt_now_group()->place)
#define blockDim kg_simt_xyz_of(kg_simt_now_group()->threads)
#define gridDim kg_simt_xyz_of(kg_simt_now_group()->groups)
#define warpSize KG_SIMT_WAVE

#define __syncthreads() kg_simt_barrier("__syncthreads")
#define __threadfence()
#define __threadfence_block()
#define __lane_id() kg_simt_lane_index()

template <class V> KG_SIMT_IN V __shfl_xor(V value, int mask, int width = KG_SIMT_WAVE) {
  return kg_simt_shuffle_xor(value, (unsigned)mask, (unsigned)width, "__shfl_xor");
}
template <class V> KG_SIMT_IN V __shfl_down(V value, unsigned delta, int width = KG_SIMT_WAVE) {
  return kg_simt_shuffle_down(value, delta, (unsigned)width, "__shfl_down");
}
template <class V> KG_SIMT_IN V __shfl_up(V value, unsigned delta, int width = KG_SIMT_WAVE) {
  return kg_simt_shuffle_up(value, delta, (unsigned)width, "__shfl_up");
}
template <class V> KG_SIMT_IN V __shfl(V value, int from, int width = KG_SIMT_WAVE) {
  return kg_simt_shuffle_idx(value, (unsigned)from, (unsigned)width, "__shfl");
}
KG_SIMT_IN int __any(int holds) { return kg_simt_ballot(holds != 0, "__any") != 0; }
KG_SIMT_IN int __all(int holds) { return kg_simt_every(holds != 0, "__all"); }
KG_SIMT_IN unsigned long long __ballot(int holds) { return kg_simt_ballot(holds != 0, "__ballot"); }

/* In a text it only asks the compiler whether a wavefront has 32 lanes; here the text does. */
#define __builtin_amdgcn_ballot_w32(p) 0u
#define __builtin_amdgcn_exp2f(x) exp2f(x)
#define __builtin_amdgcn_logf(x) log2f(x)
#define __builtin_amdgcn_sqrtf(x) kg_simt_sqrt(x)

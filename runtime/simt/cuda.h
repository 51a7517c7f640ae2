/* cuda.h: the words of CUDA C++ that a text may use, for the SIMT device.  Inline PTX has no
** meaning here: a text puts what it does by hand under #ifdef KG_SIMT. */

#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 800

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

/* A mask names the lanes that take part: here, all that have not returned. */
static KG_SIMT_UNCHECKED __attribute__((noinline, nomerge)) void
kg_simt_bad_mask(const char *what) {
  kg_simt.host->misuse(kg_simt.group, what, __builtin_return_address(0),
                       "the mask does not name every lane that is there; "
                       "lane operations are for whole warps");
}
KG_SIMT_IN void kg_simt_mask(unsigned mask, const char *what) {
  const kg_simt_wave *wave = kg_simt_ours(kg_simt_now()->wave);
  const unsigned long long left_out = kg_simt_ours(wave->lanes) & ~(unsigned long long)mask;
  if (__builtin_expect(left_out != 0, 0)) kg_simt_bad_mask(what);
}
KG_SIMT_IN void __syncwarp(unsigned mask = 0xffffffffu) {
  kg_simt_mask(mask, "__syncwarp");
  (void)kg_simt_ballot(true, "__syncwarp");
}

template <class V> KG_SIMT_IN V __shfl_xor_sync(unsigned mask, V value, int with, int width = 32) {
  kg_simt_mask(mask, "__shfl_xor_sync");
  return kg_simt_shuffle_xor(value, (unsigned)with, (unsigned)width, "__shfl_xor_sync");
}
template <class V>
KG_SIMT_IN V __shfl_down_sync(unsigned mask, V value, unsigned delta, int width = 32) {
  kg_simt_mask(mask, "__shfl_down_sync");
  return kg_simt_shuffle_down(value, delta, (unsigned)width, "__shfl_down_sync");
}
template <class V>
KG_SIMT_IN V __shfl_up_sync(unsigned mask, V value, unsigned delta, int width = 32) {
  kg_simt_mask(mask, "__shfl_up_sync");
  return kg_simt_shuffle_up(value, delta, (unsigned)width, "__shfl_up_sync");
}
template <class V> KG_SIMT_IN V __shfl_sync(unsigned mask, V value, int from, int width = 32) {
  kg_simt_mask(mask, "__shfl_sync");
  return kg_simt_shuffle_idx(value, (unsigned)from, (unsigned)width, "__shfl_sync");
}
KG_SIMT_IN int __any_sync(unsigned mask, int holds) {
  kg_simt_mask(mask, "__any_sync");
  return kg_simt_ballot(holds != 0, "__any_sync") != 0;
}
KG_SIMT_IN int __all_sync(unsigned mask, int holds) {
  kg_simt_mask(mask, "__all_sync");
  return kg_simt_every(holds != 0, "__all_sync");
}
KG_SIMT_IN unsigned __ballot_sync(unsigned mask, int holds) {
  kg_simt_mask(mask, "__ballot_sync");
  return (unsigned)kg_simt_ballot(holds != 0, "__ballot_sync");
}

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(4) ushort2 {
  unsigned short x, y;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};

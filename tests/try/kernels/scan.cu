// An inclusive prefix sum of a row: warps by shuffles, then the warps' sums.
// args: -g 2 -t 128 in=@x out=none --size out=512 n=256
// fault ORDER race
#include <cuda_runtime.h>
__device__ float warp_scan(float v) {
  const int lane = threadIdx.x & (warpSize - 1);
  for (int d = 1; d < 32; d *= 2) {
    const float up = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += up;
  }
  return v;
}
__global__ void scan(const float *in, float *out, int n) {
  __shared__ float sums[32], carry;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) carry = 0.f;
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + threadIdx.x;
    float v = i < n ? in[blockIdx.x * n + i] : 0.f;
    v = warp_scan(v);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
      const float s = warp_scan(lane < blockDim.x / 32 ? sums[lane] : 0.f);
      if (lane < blockDim.x / 32) sums[lane] = s;
    }
    __syncthreads();
    const float before = carry + (warp > 0 ? sums[warp - 1] : 0.f); // ORDER
    if (i < n) out[blockIdx.x * n + i] = v + before;
#ifndef ORDER
    __syncthreads();
#endif
    if (threadIdx.x == blockDim.x - 1) carry = v + before; // ORDER
    __syncthreads();
  }
}

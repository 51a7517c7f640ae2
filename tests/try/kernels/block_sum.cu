// A sum of everything: warps by __syncwarp and shared memory, the blocks by an atomic.
// args: -g 4 -t 128 x=@x total=zeros --size total=1 n=900
// fault NO_SYNC race
// fault PLAIN race
#include <cuda_runtime.h>
__global__ void block_sum(const float *x, float *total, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x, lane = t % 32;
  float v = 0.f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
  s[t] = v;
  __syncwarp();
  for (int k = 16; k > 0; k /= 2) {
    float other = 0.f;
    if (lane < k) other = s[t + k]; // NO_SYNC
#ifndef NO_SYNC
    __syncwarp();
#endif
    if (lane < k) s[t] += other; // NO_SYNC
#ifndef NO_SYNC
    __syncwarp();
#endif
  }
#ifdef PLAIN
  if (lane == 0) *total += s[t]; // PLAIN
#else
  if (lane == 0) atomicAdd(total, s[t]);
#endif
}

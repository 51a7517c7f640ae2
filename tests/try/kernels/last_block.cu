// A sum of everything in one launch: each block leaves its part, a fence and a ticket, and the last adds.
// args: -g 4 -t 64 x=@x parts=none total=none tickets=zeros --size parts=4 --size total=1 --size tickets=1 n=900
// fault NO_FENCE race
// fault NO_TICKET race
#include <cuda_runtime.h>
__global__ void last_block(const float *x, float *parts, unsigned *tickets, float *total, int n) {
  __shared__ float s[64];
  __shared__ bool last;
  float v = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 32; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0]; // NO_FENCE
#ifndef NO_FENCE
    __threadfence();
#endif
#ifdef NO_TICKET
    last = tickets[0]++ == gridDim.x - 1; // NO_TICKET
#else
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
#endif
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0.f;
    for (int i = 0; i < gridDim.x; i++) sum += parts[i]; // NO_FENCE
    total[0] = sum;
  }
}

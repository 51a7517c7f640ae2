// Greedy sampling: the largest logit's index, the lowest one of equals; 32 and 64 lanes.
// args: -g 3 -t 256 logits=@x token=none --size token=3 vocab=300
// also: --wave 64
// fault EARLY barrier
// fault NEVER never
#include <hip/hip_runtime.h>
struct Best {
  float value;
  int index;
};
static __device__ inline Best better(Best a, Best b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
__global__ void argmax(const float *logits, int *token, int vocab) {
  __shared__ float values[32];
  __shared__ int indices[32];
  Best best = {-INFINITY, 2147483647};
  for (int i = threadIdx.x; i < vocab; i += blockDim.x)
    best = better(best, Best{logits[blockIdx.x * vocab + i], i});
  for (int d = warpSize >> 1; d; d >>= 1)
    best = better(best, Best{__shfl_down(best.value, d), __shfl_down(best.index, d)});
#ifdef EARLY
  if (threadIdx.x % warpSize != 0) return; // all but one lane
#endif
  if (threadIdx.x % warpSize == 0) {
    values[threadIdx.x / warpSize] = best.value;
    indices[threadIdx.x / warpSize] = best.index;
  }
  __syncthreads(); // EARLY
#ifdef NEVER
  if (threadIdx.x == 0 && blockIdx.x != 1) {
#else
  if (threadIdx.x == 0) {
#endif
    best = Best{values[0], indices[0]};
    for (unsigned i = 1; i < blockDim.x / warpSize; i++) best = better(best, Best{values[i], indices[i]});
    token[blockIdx.x] = best.index;
  }
}

// Sampling: the first token whose running probability passes a number, by ballots of a warp.
// args: -g 3 -t 32 probs=@p u=@u token=none --size token=3 n=300
// fault PARTED lanes
// fault ENDLESS endless --seconds 1
#include <cuda_runtime.h>
__global__ void sample(const float *probs, const float *u, int *token, int n) {
  const int lane = threadIdx.x;
  const float want = u[blockIdx.x];
  float before = 0.f;
  int found = n - 1;
  for (int base = 0; base < n; base += 32) {
    float v = base + lane < n ? probs[blockIdx.x * n + base + lane] : 0.f;
    for (int d = 1; d < 32; d <<= 1) {
      const float up = __shfl_up_sync(0xffffffffu, v, d);
      if (lane >= d) v += up;
    }
#ifdef PARTED
    if (before + v <= want) continue; // each lane by itself
#endif
    const unsigned over = __ballot_sync(0xffffffffu, before + v > want); // PARTED
    if (over != 0) {
      found = min(base + __ffs(over) - 1, n - 1);
      break;
    }
    before += __shfl_sync(0xffffffffu, v, 31);
#ifdef ENDLESS
    base -= 32, before = 0.f; // ENDLESS
#endif
  }
  if (lane == 0) token[blockIdx.x] = found;
}

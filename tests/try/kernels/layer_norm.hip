// LayerNorm by Welford's recurrence, merged across a wave and then through shared memory; at 32 and at
// 64 lanes.
// args: -g 4 -t 128 x=@x gamma=@w beta=@b y=none --size y=1200 d=300 eps=1e-5
// also: --wave 64
// fault WIDTH_32 lanes -w 64
// fault SLOT race
#include <hip/hip_runtime.h>

struct Welford {
  float mean, m2, count;
};

__device__ __forceinline__ Welford merge(Welford a, Welford b) {
  const float n = a.count + b.count, delta = b.mean - a.mean;
  if (n == 0.f) return a;
  return {a.mean + delta * b.count / n, a.m2 + b.m2 + delta * delta * a.count * b.count / n, n};
}

extern "C" __global__ __launch_bounds__(128) void layer_norm(const float *x, const float *gamma,
                                                             const float *beta, float *y, int d,
                                                             float eps) {
  __shared__ Welford parts[1024 / 32];
  Welford mine = {0.f, 0.f, 0.f};
  const float *row = x + static_cast<size_t>(blockIdx.x) * d;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    const float v = row[i];
    mine.count += 1.f;
    const float delta = v - mine.mean;
    mine.mean += delta / mine.count;
    mine.m2 += delta * (v - mine.mean);
  }
  for (int step = warpSize / 2; step > 0; step >>= 1) {
    Welford other;
    other.mean = __shfl_xor(mine.mean, step);
    other.m2 = __shfl_xor(mine.m2, step);
    other.count = __shfl_xor(mine.count, step);
    mine = merge(mine, other);
  }
  const int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
#ifdef WIDTH_32
  unsigned long long active = __ballot(lane < 32);
  if (lane < 32) mine.mean = __shfl(mine.mean, 63); // WIDTH_32
#endif
#ifdef SLOT
  if (lane == 0) parts[wave / 2] = mine; // SLOT
#else
  if (lane == 0) parts[wave] = mine;
#endif
  __syncthreads();
  Welford all = parts[0];
  for (int i = 1; i < (blockDim.x + warpSize - 1) / warpSize; i++)
#ifdef SLOT
    all = merge(all, parts[i / 2]);
#else
    all = merge(all, parts[i]);
#endif
  const float scale = rsqrtf(all.m2 / d + eps);
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    y[static_cast<size_t>(blockIdx.x) * d + i] = (row[i] - all.mean) * scale * gamma[i] + beta[i];
}

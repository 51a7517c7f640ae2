// One query against a cache of keys and values: scores and an online softmax, a warp a stripe of keys.
// args: -e 'attend<64, 4>' -g 2 -t 32,4 q=@q k=@k v=@v out=none --size out=128 n=37 scale=0.125
// fault HEAD outside
// fault MERGE race
#include <cuda_runtime.h>
#include <float.h>
template <int D, int WARPS>
__global__ void attend(const float *q, const float *k, const float *v, float *out, int n,
                       float scale) {
  constexpr int PER = D / 32;
  __shared__ float tops[WARPS], totals[WARPS], accs[WARPS][D];
  const int lane = threadIdx.x, warp = threadIdx.y, head = blockIdx.x;
  float mine[PER], acc[PER] = {};
  for (int i = 0; i < PER; i++) mine[i] = q[head * D + lane * PER + i] * scale;
  float top = -FLT_MAX, total = 0.f;
  k += head * n * D, v += head * n * D;
#ifdef HEAD
  n += 1;
#endif
  for (int j = warp; j < n; j += WARPS) {
    float dot = 0.f;
    for (int i = 0; i < PER; i++) dot += mine[i] * k[j * D + lane * PER + i]; // HEAD
    for (int o = 16; o > 0; o /= 2) dot += __shfl_xor_sync(~0u, dot, o);
    const float next = fmaxf(top, dot), fade = __expf(top - next), weight = expf(dot - next);
    total = total * fade + weight;
    for (int i = 0; i < PER; i++) acc[i] = acc[i] * fade + weight * v[j * D + lane * PER + i];
    top = next;
  }
  if (lane == 0) tops[warp] = top, totals[warp] = total;
  for (int i = 0; i < PER; i++) accs[warp][lane * PER + i] = acc[i]; // MERGE
#ifndef MERGE
  __syncthreads();
#else
  __syncwarp();
#endif
  if (warp != 0) return;
  float all = -FLT_MAX, sum = 0.f, result[PER] = {};
  for (int w = 0; w < WARPS; w++) all = fmaxf(all, tops[w]); // MERGE
  for (int w = 0; w < WARPS; w++) {
    const float fade = expf(tops[w] - all);
    sum += totals[w] * fade;
    for (int i = 0; i < PER; i++) result[i] += accs[w][lane * PER + i] * fade;
  }
  for (int i = 0; i < PER; i++) out[head * D + lane * PER + i] = result[i] / sum;
}

#include <hip/hip_runtime.h>

extern "C" __global__ void rms(float *y, const float *x, const float *w, unsigned rows, unsigned D,
                               float eps) {
  __shared__ float sums[4];
  const unsigned row = blockIdx.x;
  if (row >= rows) return;
  float acc = 0.0f;
  for (unsigned i = threadIdx.x; i < D; i += blockDim.x) acc += x[row * D + i] * x[row * D + i];
  for (int d = 16; d > 0; d >>= 1) acc += __shfl_xor(acc, d, 32);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = acc;
  __syncthreads();
  const float all = sums[0] + sums[1] + sums[2] + sums[3];
  const float inv = rsqrtf(all / (float)D + eps);
  for (unsigned i = threadIdx.x; i < D; i += blockDim.x) y[row * D + i] = w[i] * (x[row * D + i] * inv);
}

#define WARPS (THREADS / 32)

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
rms(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ w, int rows, int D,
    float eps) {
  __shared__ float sums[WARPS];
  const int row = blockIdx.x;
  if (row >= rows) return;
  x += (size_t)row * D;
  y += (size_t)row * D;
  float acc = 0.0f;
  for (int i = threadIdx.x; i < D; i += THREADS) acc += x[i] * x[i];
  for (int d = 16; d > 0; d >>= 1) acc += __shfl_xor_sync(0xffffffffu, acc, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = acc;
  __syncthreads();
  float all = 0.0f;
  for (int i = 0; i < WARPS; i++) all += sums[i];
  const float inv = rsqrtf(all / D + eps);
  for (int i = threadIdx.x; i < D; i += THREADS) y[i] = w[i] * (x[i] * inv);
}

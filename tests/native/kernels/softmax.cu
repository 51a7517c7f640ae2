#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define LOWEST (-3.4028235e38f)

namespace kernels {

__device__ __forceinline__ float max_of(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ float sum_of(float a, float b) { return a + b; }

template <int N>
__device__ float over_block(float v, float (*combine)(float, float), float first, float *shared) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v = combine(v, __shfl_xor_sync(0xffffffff, v, d));
  __syncthreads();
  if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = v;
  __syncthreads();
  v = first;
  for (int i = 0; i < N / 32; i++) v = combine(v, shared[i]);
  return v;
}

template <typename T, int N>
__launch_bounds__(N) __global__ void softmax(const T *__restrict__ x, T *__restrict__ y, int rows, int cols) {
  __shared__ float shared[N / 32];
  const int row = blockIdx.x;
  if (row >= rows) return;
  float m = LOWEST;
  for (int i = threadIdx.x; i < cols; i += N) m = fmaxf(m, static_cast<float>(x[(long)row * cols + i]));
  m = over_block<N>(m, max_of, LOWEST, shared);
  float sum = 0.f;
  for (int i = threadIdx.x; i < cols; i += N) sum += expf(static_cast<float>(x[(long)row * cols + i]) - m);
  sum = over_block<N>(sum, sum_of, 0.f, shared);
  for (int i = threadIdx.x; i < cols; i += N) {
    const long at = (long)row * cols + i;
    y[at] = static_cast<T>(expf(static_cast<float>(x[at]) - m) / sum);
  }
}

} // namespace kernels

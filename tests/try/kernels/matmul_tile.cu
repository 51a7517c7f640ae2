// C = A B in tiles of shared memory.
// args: -g 2,2 -t 16,16 a=@x b=@b c=none --size c=1024 m=32 n=32 k=32
// fault REUSE race
#include <cuda_runtime.h>
constexpr int TILE = 16;
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.f;
  for (int t = 0; t < k; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a[row * k + t + threadIdx.x]; // REUSE
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x]; // REUSE
#ifndef REUSE
    __syncthreads();
#endif
  }
  c[row * n + column] = sum;
}

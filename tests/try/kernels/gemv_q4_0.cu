// A matrix in blocks of 32 4-bit weights times a vector, a warp a row, as llama.cpp's mul_mat_vec_q.
// args: -g 2 -t 32,4 w=@wq x=@x y=none --size y=8 ncols=256 nrows=8
// fault BLOCKS outside
// fault PART lanes
#include <cuda_fp16.h>
#include <stdint.h>
#define QK4_0 32
typedef struct {
  half d;
  uint8_t qs[QK4_0 / 2];
} block_q4_0;
static_assert(sizeof(block_q4_0) == sizeof(half) + QK4_0 / 2, "wrong q4_0 block size/padding");

template <int width = 32> static __device__ __forceinline__ float warp_reduce_sum(float x) {
#pragma unroll
  for (int offset = width / 2; offset > 0; offset >>= 1)
    x += __shfl_xor_sync(0xffffffff, x, offset, width);
  return x;
}

__global__ void gemv_q4_0(const void *__restrict__ w, const float *__restrict__ x,
                          float *__restrict__ y, const int ncols, const int nrows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= nrows) return;
  const block_q4_0 *blocks = (const block_q4_0 *)w + row * (ncols / QK4_0);
  float sum = 0.0f;
#ifdef BLOCKS
  const int count = ncols / 16;
#else
  const int count = ncols / QK4_0;
#endif
  for (int ib = threadIdx.x / 16; ib < count; ib += 2) {
    const int j = threadIdx.x % 16;
    const float d = __half2float(blocks[ib].d);
    const int q = blocks[ib].qs[j];
    sum += d * ((q & 0x0F) - 8) * x[ib * QK4_0 + j]; // BLOCKS
    sum += d * ((q >> 4) - 8) * x[ib * QK4_0 + j + QK4_0 / 2];
  }
#ifdef PART
  if (threadIdx.x < 16)
    sum += __shfl_down_sync(0xffffffff, sum, 8); // PART
#endif
  sum = warp_reduce_sum(sum);
  if (threadIdx.x == 0) y[row] = sum;
}

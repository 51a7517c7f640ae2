// A transpose through a tile of shared memory, with a column to spare.
// args: -g 2,2 -t 16,16 in=@x out=none --size out=1024 width=32 height=32
// also: --wave 64
// fault NO_BARRIER race
// fault WIDTH outside
#include <hip/hip_runtime.h>
#define TILE 16
__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = hipBlockIdx_x * TILE + hipThreadIdx_x, y = hipBlockIdx_y * TILE + hipThreadIdx_y;
  if (x < width && y < height) tile[hipThreadIdx_y][hipThreadIdx_x] = in[y * width + x]; // NO_BARRIER
#ifndef NO_BARRIER
  __syncthreads();
#endif
  x = hipBlockIdx_y * TILE + hipThreadIdx_x, y = hipBlockIdx_x * TILE + hipThreadIdx_y;
#ifdef WIDTH
  width += 2;
#endif
  if (x < height && y < width) {
    const float v = tile[hipThreadIdx_x][hipThreadIdx_y]; // NO_BARRIER
#ifdef WIDTH
    out[y * height + x + 8] = v; // WIDTH
#else
    out[y * height + x] = v;
#endif
  }
}

// Rows shorter than a warp: a mask names the lanes that have something, and they alone take part.
// args: -g 1 -t 32,3 x=@x y=none --size y=3 n=300
// fault WHOLE lanes
// fault BEYOND lanes
#include <cuda_runtime.h>
__global__ void ragged(const float *x, float *y, int n) {
  const int row = threadIdx.y, lane = threadIdx.x, count = 8 + 8 * row;
  const unsigned mask = __ballot_sync(0xffffffffu, lane < count);
  if (lane < count) {
    float v = x[row * n + lane];
#ifdef WHOLE
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o); // WHOLE
#elif defined(BEYOND)
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(mask, v, o); // BEYOND
#else
    for (int o = 16; o > 0; o >>= 1) {
      const float other = __shfl_down_sync(mask, v, o);
      if (lane + o < count) v += other;
    }
#endif
    if (lane == 0) y[row] = v;
  }
}

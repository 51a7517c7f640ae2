// Rotary embedding of neighbouring pairs (GPT-J's order), a thread a pair, as llama.cpp's.
// args: -g 4,2 -t 32 x=@x pos=@pos dst=none --size dst=512 dims=64 base=10000
// fault PAST outside
#include <cuda_runtime.h>
static __global__ void rope_norm(const float *x, float *dst, const int *pos, const int dims,
                                 const float base) {
  const int row = blockIdx.x * gridDim.y + blockIdx.y, i0 = 2 * threadIdx.x;
  if (i0 >= dims) return;
  const float theta = pos[blockIdx.x] * powf(base, -(float)i0 / dims);
  float s, c;
  sincosf(theta, &s, &c);
#ifdef PAST
  const float2 v = *reinterpret_cast<const float2 *>(x + row * dims + i0 + dims); // PAST
#else
  const float2 v = *reinterpret_cast<const float2 *>(x + row * dims + i0);
#endif
  dst[row * dims + i0] = v.x * c - v.y * s;
  dst[row * dims + i0 + 1] = v.x * s + v.y * c;
}

// silu(gate) * up on pairs of halves.
// args: -g 3 -t 64 gate=@gate up=@up y=none --size y=150 pairs=150
// fault GUARD outside
#include <cuda_fp16.h>
__global__ void swiglu(const __half2 *gate, const __half2 *up, __half2 *y, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef GUARD
  if (i > pairs) return;
#else
  if (i >= pairs) return;
#endif
  const float2 g = __half22float2(gate[i]); // GUARD
  const float2 s = make_float2(g.x / (1.f + __expf(-g.x)), g.y / (1.f + __expf(-g.y)));
  y[i] = __hmul2(__float22half2_rn(s), up[i]);
}

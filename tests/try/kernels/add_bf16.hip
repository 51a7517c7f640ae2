// A residual sum in bfloat16, in place: rounded once an element.
// args: -g 2 -t 256 x=@xb y=@yb n=300
// also: --wave 64
// fault STRIDE race
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>
__global__ void add_residual(const __hip_bfloat16 *x, __hip_bfloat16 *y, int n) {
#ifdef STRIDE
  for (int i = threadIdx.x; i < n; i += blockDim.x) // each group all of it
#else
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#endif
    y[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i])); // STRIDE
}

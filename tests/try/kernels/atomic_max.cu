// The largest of all, by the usual loop around a compare and exchange.
// args: -g 4 -t 64 x=@x top=-1e30 --size top=1 n=900
// fault GLANCE race
__device__ float atomicMaxFloat(float *address, float value) {
  int *as_int = reinterpret_cast<int *>(address);
  int old = *as_int, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(as_int, assumed, __float_as_int(value));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void atomic_max(const float *x, float *top, int n) {
  float mine = -1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine = fmaxf(mine, x[i]);
#ifdef GLANCE
  if (mine > *top) *top = mine; // GLANCE
#else
  for (int o = 16; o > 0; o >>= 1) mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, o));
  if (threadIdx.x % 32 == 0) {
    __shared__ float tops[2];
    tops[threadIdx.x / 32] = mine;
  }
  if (threadIdx.x % 32 == 0) atomicMaxFloat(top, mine);
#endif
}

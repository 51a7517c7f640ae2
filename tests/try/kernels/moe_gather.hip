// Rows of a table by index, scaled by a gate and added up where a token has several experts.
// args: -g 4 -t 64 table=@x index=@pos gate=@w out=none --size out=256 d=64 experts=2 tokens=4
// also: --wave 64
// fault INDEX outside
#include <hip/hip_runtime.h>
template <typename T> __device__ T load(const T *p, size_t i) { return p[i]; }
template <typename T>
__global__ void gather(const T *table, const int *index, const T *gate, T *out, int d, int experts,
                       int tokens) {
  const int token = blockIdx.x;
  if (token >= tokens) return;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    T sum = T(0);
    for (int e = 0; e < experts; e++) {
      int row = load(index, (token + e) % tokens) % 8;
#ifdef INDEX
      row += 12;
#endif
      sum += load(gate, token * experts + e) * table[row * d + i]; // INDEX
    }
    out[token * d + i] = sum;
  }
}
template __global__ void gather<float>(const float *, const int *, const float *, float *, int, int, int);

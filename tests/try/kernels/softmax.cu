// Softmax of a row a block; the row's parts meet in memory whose size the launch says.
// args: -g 3 -t 64 --shared 256 x=@x y=none --size y=900 n=300
// fault REUSE race
// fault SHARED outside
extern "C" __global__ void softmax(const float *x, float *y, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x;
  const float *row = x + blockIdx.x * n;
  float top = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) top = fmaxf(top, row[i]);
#ifdef SHARED
  s[t + 1] = top; // SHARED
#endif
  s[t] = top;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] = fmaxf(s[t], s[t + k]);
    __syncthreads();
  }
  top = s[0]; // REUSE
#ifndef REUSE
  __syncthreads();
#endif
  float z = 0.f;
  for (int i = t; i < n; i += blockDim.x) z += expf(row[i] - top);
  s[t] = z; // REUSE
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  for (int i = t; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i] - top) / s[0];
}

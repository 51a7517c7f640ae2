// A row of RMSNorm a block, as many engines have it: a template over types, a sum by shuffles.
// args: -e 'rms_norm<float, 128>' -g 3 -t 128 x=@x w=@w y=none --size y=900 d=300 eps=1e-5
// fault SHORT_ROW outside
// fault NO_BARRIER race
// fault HALF_A_WARP lanes
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename T> __device__ __forceinline__ float widen(T x) { return static_cast<float>(x); }

__device__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
    rms_norm(const T *__restrict__ x, const T *__restrict__ w, T *__restrict__ y, int d, float eps) {
  __shared__ float parts[BLOCK / 32];
  const T *row = x + blockIdx.x * d;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0.f;
#ifdef SHORT_ROW
  d += 1;
#endif
  for (int i = threadIdx.x; i < d; i += BLOCK) {
    const float v = widen(row[i]); // SHORT_ROW
    sum += v * v;
  }
#ifdef HALF_A_WARP
  if (lane < 16) sum += __shfl_xor_sync(0xffffffff, sum, 8); // HALF_A_WARP
#endif
  sum = warp_sum(sum);
  if (lane == 0) parts[warp] = sum; // NO_BARRIER
#ifndef NO_BARRIER
  __syncthreads();
#endif
  sum = 0.f;
  for (int i = 0; i < BLOCK / 32; i++) sum += parts[i]; // NO_BARRIER
  const float scale = rsqrtf(sum / d + eps);
  for (int i = threadIdx.x; i < d; i += BLOCK)
    y[blockIdx.x * d + i] = static_cast<T>(widen(row[i]) * scale * widen(w[i]));
}

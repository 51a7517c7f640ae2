#include <metal_stdlib>
using namespace metal;

kernel void rms_norm(device const float *x [[buffer(0)]], device const float *w [[buffer(1)]],
                     device float *out [[buffer(2)]], constant float &eps [[buffer(3)]],
                     constant uint &axis_size [[buffer(4)]], constant uint &rows [[buffer(5)]],
                     uint row [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]],
                     uint tg [[threads_per_threadgroup]]) {
  threadgroup float sums[32];
  if (row >= rows) return;
  x += row * axis_size;
  out += row * axis_size;
  float acc = 0;
  for (uint i = lid; i < axis_size; i += tg) acc += x[i] * x[i];
  acc = simd_sum(acc);
  if (lane == 0) sums[simd] = acc;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  acc = lane < tg / 32 ? sums[lane] : 0.0f;
  acc = simd_sum(acc);
  const float inv = metal::precise::rsqrt(acc / float(axis_size) + eps);
  for (uint i = lid; i < axis_size; i += tg) out[i] = w[i] * (x[i] * inv);
}

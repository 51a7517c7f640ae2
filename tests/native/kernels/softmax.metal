#include <metal_stdlib>

using namespace metal;

// One group a row.
template <typename T>
[[kernel]] void softmax_row(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],
                            constant int &axis_size [[buffer(2)]], constant uint &rows [[buffer(3)]],
                            uint gid [[threadgroup_position_in_grid]],
                            uint lid [[thread_position_in_threadgroup]],
                            uint tgs [[threads_per_threadgroup]],
                            uint simd_lane_id [[thread_index_in_simdgroup]],
                            uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  threadgroup float local_max[32];
  threadgroup float local_sum[32];
  if (gid >= rows) return;
  in += gid * size_t(axis_size);
  out += gid * size_t(axis_size);
  float m = -INFINITY;
  for (int i = lid; i < axis_size; i += tgs) m = max(m, float(in[i]));
  m = simd_max(m);
  if (simd_lane_id == 0) local_max[simd_group_id] = m;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  m = simd_max(simd_lane_id < tgs / 32 ? local_max[simd_lane_id] : -INFINITY);
  float sum = 0.0;
  for (int i = lid; i < axis_size; i += tgs) sum += precise::exp(float(in[i]) - m);
  sum = simd_sum(sum);
  if (simd_lane_id == 0) local_sum[simd_group_id] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = simd_sum(simd_lane_id < tgs / 32 ? local_sum[simd_lane_id] : 0.0f);
  for (int i = lid; i < axis_size; i += tgs) out[i] = T(precise::exp(float(in[i]) - m) / sum);
}

// Decoding attention as MLX's sdpa_vector: a simdgroup a stripe of keys, a function constant for the mask.
// args: -e attention_64 -g 2 -t 128 queries=@q keys=@k values=@v out=none --size out=128 mask=zeros --size mask=37 N=37 scale=0.125 has_mask=true
// fault ACROSS race
#include <metal_stdlib>
using namespace metal;
constant bool has_mask [[function_constant(20)]];
template <typename T, int D>
[[kernel]] void attention(const device T *queries [[buffer(0)]], const device T *keys [[buffer(1)]],
                          const device T *values [[buffer(2)]], device T *out [[buffer(3)]],
                          const constant int &N [[buffer(4)]],
                          const constant float &scale [[buffer(5)]],
                          const device T *mask [[buffer(6), function_constant(has_mask)]],
                          uint3 tid [[threadgroup_position_in_grid]],
                          uint simd_gid [[simdgroup_index_in_threadgroup]],
                          uint simd_lid [[thread_index_in_simdgroup]]) {
  constexpr int BN = 4, BD = 32, per = D / BD;
  typedef float U;
  thread U q[per], o[per];
  threadgroup U outputs[BN * D];
  threadgroup U maxes[BN], sums[BN];
  queries += tid.x * D + simd_lid * per;
  keys += tid.x * N * D + simd_gid * D + simd_lid * per;
  values += tid.x * N * D + simd_gid * D + simd_lid * per;
  for (int i = 0; i < per; i++) q[i] = static_cast<U>(scale) * queries[i], o[i] = 0;
  U top = -INFINITY, total = 0;
  for (int i = simd_gid; i < N; i += BN) {
    U score = 0;
    for (int j = 0; j < per; j++) score += q[j] * keys[j];
    score = simd_sum(score);
    if (has_mask) score += mask[i];
    const U next = max(top, score), factor = fast::exp(top - next), weight = fast::exp(score - next);
    top = next, total = total * factor + weight;
    for (int j = 0; j < per; j++) o[j] = o[j] * factor + weight * values[j];
    keys += BN * D, values += BN * D;
  }
  if (simd_lid == 0) maxes[simd_gid] = top, sums[simd_gid] = total;
  for (int j = 0; j < per; j++) outputs[simd_gid * D + simd_lid * per + j] = o[j]; // ACROSS
#ifdef ACROSS
  simdgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (simd_gid == 0) {
    U all = -INFINITY, sum = 0;
    for (int g = 0; g < BN; g++) all = max(all, maxes[g]); // ACROSS
    for (int g = 0; g < BN; g++) sum += sums[g] * exp(maxes[g] - all);
    for (int j = 0; j < per; j++) {
      U r = 0;
      for (int g = 0; g < BN; g++) r += outputs[g * D + simd_lid * per + j] * exp(maxes[g] - all);
      out[tid.x * D + simd_lid * per + j] = static_cast<T>(r / sum);
    }
  }
}
template [[host_name("attention_64")]] [[kernel]] decltype(attention<float, 64>) attention<float, 64>;

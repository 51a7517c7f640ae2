// RMSNorm in MLX's style: instances by host_name, two rounds of simd_sum.
// args: -e rms_f32 -g 3 -t 96 x=@x w=@w out=none --size out=900 eps=1e-5 axis_size=300
// fault NO_BARRIER race
// fault NOT_ZEROED unwritten
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

template <typename T, int N_READS = 4>
[[kernel]] void rms(const device T *x [[buffer(0)]], const device T *w [[buffer(1)]],
                    device T *out [[buffer(2)]], constant float &eps [[buffer(3)]],
                    constant uint &axis_size [[buffer(4)]],
                    uint gid [[threadgroup_position_in_grid]],
                    uint lid [[thread_position_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint group [[simdgroup_index_in_threadgroup]]) {
  threadgroup float inv_mean[1], sums[32];
  float acc = 0;
  x += gid * size_t(axis_size) + lid * N_READS;
  w += lid * N_READS;
  for (int i = 0; i < N_READS; i++)
    if (lid * N_READS + i < axis_size) acc += float(x[i]) * float(x[i]);
  acc = simd_sum(acc);
#ifndef NOT_ZEROED
  if (group == 0) sums[lane] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (lane == 0) sums[group] = acc;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (group == 0) {
    acc = simd_sum(sums[lane]); // NOT_ZEROED
    if (lane == 0) inv_mean[0] = metal::precise::rsqrt(acc / axis_size + eps); // NO_BARRIER
  }
#ifndef NO_BARRIER
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  out += gid * size_t(axis_size) + lid * N_READS;
  for (int i = 0; i < N_READS; i++)
    if (lid * N_READS + i < axis_size) out[i] = w[i] * static_cast<T>(x[i] * inv_mean[0]); // NO_BARRIER
}

#define instantiate_rms(name, type)                                                                \
  template [[host_name("rms_" #name)]] [[kernel]] decltype(rms<type>) rms<type>;
instantiate_rms(f32, float) instantiate_rms(f16, half) instantiate_rms(bf16, bfloat)

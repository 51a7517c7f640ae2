// The same by Metal's own prefix sums.
// args: -g 2 -t 128 in=@x out=none --size out=512 n=256
// fault SUMS unwritten
#include <metal_stdlib>
using namespace metal;
[[kernel]] void scan(const device float *in, device float *out, constant uint &n,
                     uint3 gid [[threadgroup_position_in_grid]],
                     uint3 lid [[thread_position_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint part [[simdgroup_index_in_threadgroup]]) {
  constexpr uint threads = 128;
  threadgroup float sums[threads / 32];
  in += gid.x * n, out += gid.x * n;
  float carry = 0;
  for (uint base = 0; base < n; base += threads) {
    const float v = base + lid.x < n ? in[base + lid.x] : 0.0f;
    const float mine = simd_prefix_inclusive_sum(v);
#ifdef SUMS
    if (lane == 31 && part > 0) sums[part] = mine;
#else
    if (lane == 31) sums[part] = mine;
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float before = simd_prefix_exclusive_sum(lane < threads / 32 ? sums[lane] : 0.0f); // SUMS
    if (base + lid.x < n) out[base + lid.x] = carry + simd_shuffle(before, ushort(part)) + mine;
    carry += simd_broadcast(before, 4);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

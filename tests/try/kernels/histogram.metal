// Counts of bytes: in the threadgroup's memory first, then in the device's.
// args: -g 4 -t 64 data=@bytes bins=zeros --size bins=16 n=256
// fault PLAIN race
// fault NOT_ZEROED unwritten
#include <metal_atomic>
#include <metal_stdlib>
using namespace metal;
kernel void histogram(device const uchar *data [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
                      constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint mine[16];
#ifndef NOT_ZEROED
  if (t < 16) atomic_store_explicit(&mine[t], 0u, memory_order_relaxed);
#endif
#ifdef PLAIN
  threadgroup uint seen;
  seen = i; // PLAIN
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) atomic_fetch_add_explicit(&mine[data[i]], 1u, memory_order_relaxed); // NOT_ZEROED
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16)
    atomic_fetch_add_explicit(&bins[t], atomic_load_explicit(&mine[t], memory_order_relaxed),
                              memory_order_relaxed);
}

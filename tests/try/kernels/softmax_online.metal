// Softmax in one pass over the row: a maximum and a sum that is corrected as it grows.
// args: -g 3 -t 128 x=@x y=none --size y=900 n=300
// fault LAST_GROUP barrier
// fault UNSET unset
#include <metal_stdlib>
using namespace metal;

static inline float2 join(float2 a, float2 b) {
  const float m = max(a.x, b.x);
  return float2(m, a.y * exp(a.x - m) + b.y * exp(b.x - m));
}

kernel void softmax_online(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                           constant int &n [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                           uint t [[thread_position_in_threadgroup]],
                           uint threads [[threads_per_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint part [[simdgroup_index_in_threadgroup]],
                           uint parts [[simdgroups_per_threadgroup]]) {
  threadgroup float2 shared_parts[32];
  x += row * n, y += row * n;
#ifdef UNSET
  float2 mine; // it begins as nothing
#else
  float2 mine = float2(-INFINITY, 0.0f);
#endif
  bool any = false;
  for (int i = int(t); i < n; i += int(threads)) mine = any ? join(mine, float2(x[i], 1.0f)) : float2(x[i], 1.0f), any = true;
#ifdef UNSET
  mine = join(mine, float2(mine.x, 0.0f));
  if (t == 127) mine = float2(mine.x, mine.y);
  float spare;
  if (n > 100000) spare = 0;
  mine.y += spare;
#endif
  for (ushort step = 16; step > 0; step /= 2) mine = join(mine, simd_shuffle_xor(mine, step));
  if (lane == 0) shared_parts[part] = mine;
#ifdef LAST_GROUP
  if (part + 1 < parts) threadgroup_barrier(mem_flags::mem_threadgroup); // LAST_GROUP
#else
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  mine = shared_parts[0];
  for (uint i = 1; i < parts; i++) mine = join(mine, shared_parts[i]);
  for (int i = int(t); i < n; i += int(threads)) y[i] = exp(x[i] - mine.x) / mine.y;
}

// Rows to int8 with a scale each: absmax by simd_max, then quarters of a row as char4.
// args: -g 3 -t 64 x=@x q=none scales=none --size q=225 --size scales=3 n=300
// fault RANGE arithmetic
#include <metal_stdlib>
using namespace metal;
kernel void quantize_rows(device const float4 *x [[buffer(0)]], device char4 *q [[buffer(1)]],
                          device float *scales [[buffer(2)]], constant uint &n [[buffer(3)]],
                          uint row [[threadgroup_position_in_grid]],
                          uint t [[thread_position_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint part [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[2];
  const uint pieces = n / 4;
  float top = 0;
  for (uint i = t; i < pieces; i += 64) {
    const float4 v = abs(x[row * pieces + i]);
    top = max(top, max(max(v.x, v.y), max(v.z, v.w)));
  }
  top = simd_max(top);
  if (lane == 0) parts[part] = top;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  top = max(parts[0], parts[1]);
#ifdef RANGE
  const float scale = top / 300.0f;
#else
  const float scale = top / 127.0f;
#endif
  const float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  if (t == 0) scales[row] = scale;
  for (uint i = t; i < pieces; i += 64)
    q[row * pieces + i] = char4(rint(x[row * pieces + i] * inverse)); // RANGE
}

// gelu by its tanh form on vectors of four halves; the arithmetic is half's.
// args: -g 2 -t 64 x=@gate y=none --size y=75 n=75
// fault GUARD outside
#include <metal_stdlib>
using namespace metal;
kernel void gelu(device const half4 *x [[buffer(0)]], device half4 *y [[buffer(1)]],
                 constant uint &n [[buffer(2)]], uint tpig [[thread_position_in_grid]]) {
#ifndef GUARD
  if (tpig >= n) return;
#endif
  const half4 v = x[tpig]; // GUARD
  const float4 f = float4(v);
  const float4 inner = 0.79788456080286535587989211986876f * f * (1.0f + 0.044715f * f * f);
  y[tpig] = half4(0.5f * f * (1.0f + precise::tanh(inner)));
}

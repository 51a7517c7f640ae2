// The same in Metal: packed vectors of nibbles, dot, and a threadgroup buffer from the launch.
// args: -g 8 -t 64 w=@wq x=@x y=none --size y=8 --size parts=2 args.ncols=256
// fault PARTS outside
// fault ODD misaligned
#include <metal_stdlib>
using namespace metal;
#define QK4_0 32
typedef struct {
  half d;
  uint8_t qs[QK4_0 / 2];
} block_q4_0;
struct Args {
  int ncols;
};
kernel void gemv_q4_0(device const block_q4_0 *w [[buffer(0)]], device const float *x [[buffer(1)]],
                      device float *y [[buffer(2)]], constant Args &args [[buffer(3)]],
                      threadgroup float *parts [[threadgroup(0)]],
                      uint3 tgpig [[threadgroup_position_in_grid]],
                      ushort tiisg [[thread_index_in_simdgroup]],
                      ushort sgitg [[simdgroup_index_in_threadgroup]],
                      ushort tiitg [[thread_index_in_threadgroup]]) {
  const int blocks = args.ncols / QK4_0;
  device const block_q4_0 *row = w + tgpig.x * blocks;
  float4 acc = 0.0f;
  for (int k = tiitg; k < blocks * 4; k += 64) {
    const int b = k / 4, j = k % 4 * 4;
    const uchar4 q = *(device const packed_uchar4 *)(row[b].qs + j);
    device const float *xs = x + b * QK4_0 + j;
    const float4 low = float4(q & uchar4(0x0F)) - 8.0f, high = float4(q >> 4) - 8.0f;
#ifdef ODD
    xs += 1;
#endif
    const float4 first = *(device const float4 *)xs; // ODD
    acc += float(row[b].d) * (low * first + high * *(device const float4 *)(xs + 16));
  }
  const float sum = simd_sum(acc.x + acc.y + acc.z + acc.w);
#ifdef PARTS
  if (tiisg == 0) parts[sgitg + 1] = sum; // PARTS
#else
  if (tiisg == 0) parts[sgitg] = sum;
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tiitg == 0) y[tgpig.x] = parts[0] + parts[1];
}

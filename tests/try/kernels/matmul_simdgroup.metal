// C = A B by 8 x 8 matrices of a simdgroup.
// args: -g 4,4 -t 32 a=@x b=@b c=none --size c=1024 args.m=32 args.n=32 args.k=32
// fault EDGE outside
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;
struct Args {
  uint m, n, k;
};
kernel void matmul_simdgroup(device const float *a, device const float *b, device float *c,
                             constant Args &args, uint2 tile [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 left, right, sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  device const float *from = a + tile.y * 8 * args.k;
#ifdef EDGE
  for (uint k = 0; k <= args.k; k += 8) {
#else
  for (uint k = 0; k < args.k; k += 8) {
#endif
    simdgroup_load(left, from + k, args.k);
    simdgroup_load(right, b + k * args.n + tile.x * 8, args.n); // EDGE
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  simdgroup_store(sum, c + tile.y * 8 * args.n + tile.x * 8, args.n);
}

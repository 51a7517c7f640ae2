// Rotary embedding of halves (NeoX's order); the arguments are a struct, as llama.cpp's are.
// args: -g 4,2 -t 32 x=@x pos=@pos dst=none --size dst=512 args.n_dims=64 args.freq_base=10000 args.freq_scale=1
// fault SAME race
#include <metal_stdlib>
using namespace metal;

typedef struct {
  int32_t n_dims;
  float freq_base;
  float freq_scale;
} rope_args;

static float rope_yarn(float theta, float scale) { return theta * scale; }

kernel void rope_neox(constant rope_args &args, device const float *x, device const int32_t *pos,
                      device float *dst, ushort tiitg [[thread_index_in_threadgroup]],
                      ushort3 tptg [[threads_per_threadgroup]],
                      uint3 tgpig [[threadgroup_position_in_grid]],
                      uint3 groups [[threadgroups_per_grid]]) {
  const int row = tgpig[0] * groups.y + tgpig[1], half_dims = args.n_dims / 2;
  const float theta_base = (float)pos[tgpig.x];
  for (int i = tiitg; i < half_dims; i += tptg.x) {
    const float theta = rope_yarn(theta_base * pow(args.freq_base, -2.0f * i / args.n_dims), args.freq_scale);
    const float2 cs = float2(cos(theta), sin(theta));
    device const float *src = x + row * args.n_dims + i;
    const float2 v = {src[0], src[half_dims]};
#ifdef SAME
    device float *to = dst + row * args.n_dims + i / 2; // two threads each
#else
    device float *to = dst + row * args.n_dims + i;
#endif
    to[0] = dot(v, float2(cs.x, -cs.y)); // SAME
    to[half_dims] = dot(v, cs.yx);
  }
}

/* fused_rope_qk_append_mlx: as fused_rope_qk_append, but that the power, cosine and sine are a
** library's: each may be a few f32 beside the nearest.  At position 131071 that turns a head by some
** hundredths of a radian; so judge() takes, for each pair of a token, one frequency near the nearest
** with which all of its heads agree. */
#include "fused_rope_qk_append.ref.c"

enum { FREQUENCY_ULPS = 3 };

/* What sine, cosine and the sums may be off by, as a share of what is summed. */
static const double function_share = 0x1p-21;

static angle angle_beside(const ref_call *c, int64_t pair, int64_t token, int ulps) {
  const int64_t pairs = ref_int(c, "rope_dims") / 2;
  const double share = f32((double)pair / (double)pairs);
  float inv_freq = (float)exp2(f32(-share * ref_real(c, "log2_base")));
  for (int i = 0; i < ulps; i++) inv_freq = nextafterf(inv_freq, INFINITY);
  for (int i = 0; i > ulps; i--) inv_freq = nextafterf(inv_freq, -INFINITY);
  const double place = f32((double)(ref_int(c, "position") + token));
  const double theta = f32(f32(ref_real(c, "scale") * place) * (double)inv_freq);
  return (angle){cos(theta), sin(theta)};
}

static bool near(ref_dtype T, double got, double a, double b) {
  const double want = a + b;
  if (!isfinite(want)) return isnan(want) ? isnan(got) : got == want;
  const double half = T == REF_F16 ? 0x1p-11 : T == REF_BF16 ? 0x1p-8 : 0x1p-24;
  const double bound = function_share * (fabs(a) + fabs(b)) + half * fabs(want) + 0x1p-25;
  if (isinf(got)) return fabs(want) + bound >= (T == REF_F16 ? 65504 : 3.3e38);
  return fabs(got - want) <= bound;
}

/* One head turns as the angle says. */
static bool turned(const ref_call *c, ref_dtype T, const double *from, const double *to, int64_t p,
                   angle a) {
  const bool traditional = ref_int(c, "TRADITIONAL") != 0;
  const int64_t i1 = traditional ? 2 * p : p,
                i2 = traditional ? 2 * p + 1 : p + ref_int(c, "rope_dims") / 2;
  return near(T, to[i1], from[i1] * a.cosine, -from[i2] * a.sine) &&
         near(T, to[i2], from[i1] * a.sine, from[i2] * a.cosine);
}

/* Where a head of a token is in q (head < Hq), k or v. */
static const double *head_of(const ref_call *c, int64_t b, int64_t t, int64_t head) {
  const int64_t L = ref_int(c, "L"), Hq = ref_int(c, "Hq"), Hkv = ref_int(c, "Hkv"),
                D = ref_int(c, "D");
  const char *name = head < Hq ? "q" : head < Hq + Hkv ? "k" : "v";
  const int64_t own = head < Hq ? head : (head - Hq) % Hkv, heads = head < Hq ? Hq : Hkv;
  const bool paged = ref_int(c, "LAYOUT") == 1 && head >= Hq;
  return ref_find(c, name)->real +
         (paged ? (b * L + t) * heads + own : (b * heads + own) * L + t) * D;
}

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* Pair p of a token: one frequency turns all of its heads; a copy is one. */
static bool pair_right(const ref_call *want, const ref_call *got, int64_t b, int64_t t, int64_t p) {
  const ref_tensor *qkv = ref_find(want, "qkv");
  const int64_t Hq = ref_int(want, "Hq"), Hkv = ref_int(want, "Hkv"), D = ref_int(want, "D"),
                heads = Hq + 2 * Hkv;
  const double *from = qkv->real + (b * ref_int(want, "L") + t) * heads * D;
  const bool turns = p < ref_int(want, "rope_dims") / 2;
  for (int64_t h = turns ? Hq + Hkv : 0; h < heads; h++)
    for (int i = 0; i < 2; i++)
      if (!same(head_of(got, b, t, h)[2 * p + i], from[h * D + 2 * p + i])) return false;
  bool right = !turns;
  for (int ulps = -FREQUENCY_ULPS; ulps <= FREQUENCY_ULPS && !right; ulps++) {
    const angle a = angle_beside(want, p, t, ulps);
    right = true;
    for (int64_t h = 0; h < Hq + Hkv && right; h++)
      right = turned(want, qkv->dtype, from + h * D, head_of(got, b, t, h), p, a);
  }
  return right;
}

const char *judge(const ref_call *want, const ref_call *got) {
  static _Thread_local char said[128];
  for (int64_t b = 0; b < ref_int(want, "B"); b++)
    for (int64_t t = 0; t < ref_int(want, "L"); t++)
      for (int64_t p = 0; p < ref_int(want, "D") / 2; p++) {
        if (pair_right(want, got, b, t, p)) continue;
        snprintf(said, sizeof said,
                 "pair %lld of token %lld of batch %lld is turned by no angle near its",
                 (long long)p, (long long)t, (long long)b);
        return said;
      }
  return NULL;
}

/* fused_rope_qk_append: the heads of a fused QKV projection, q and k rotated by position, v as it
** is, in the cache's layout.
**
** Pair p of rope_dims / 2 turns by theta = scale * (position + t) * 2^(-p / (rope_dims / 2) *
** log2_base).  At position 131071 an ulp of f32 in theta is 0.008 rad, so what theta is must be
** said to the bit: the quotient, its product with log2_base, the power, scale times position and
** theta itself are each the f32 nearest to the exact result of their f32 operands; so are cosine
** and sine.  The sum of the two products is rounded to T once. */
#include "reference.h"

typedef struct angle {
  double cosine, sine;
} angle;
static angle angle_of(const ref_call *c, int64_t pair, int64_t token);

/* Pairs whose first output lies so near the middle between two f16 that its f32 is the middle, and
** rounds to the other one of them: one of sixteen thousand that come by chance. */
static void fill_midway(const ref_call *c, const ref_tensor *qkv) {
  enum { TRIES = 1 << 18 };
  const int64_t L = ref_int(c, "L"), D = ref_int(c, "D"), R = ref_int(c, "rope_dims"),
                heads = ref_int(c, "Hq") + 2 * ref_int(c, "Hkv");
  const bool traditional = ref_int(c, "TRADITIONAL") != 0;
  uint32_t random = 1;
  for (int64_t token = 0; token < qkv->count / (heads * D); token++)
    for (int64_t p = 0; p < R / 2; p++) {
      const angle a = angle_of(c, p, token % L);
      double x1 = 0, x2 = 0;
      for (int tries = 0; tries < TRIES; tries++) {
        random = random * 1664525u + 1013904223u;
        x1 = (double)(1024 + (random >> 8 & 1023)) * 0x1p-10; /* f16 from 1 to 2 */
        x2 = (double)(1024 + (random >> 18 & 1023)) * 0x1p-10;
        const double exact = x1 * a.cosine - x2 * a.sine;
        const float near = (float)exact;
        uint32_t bits;
        memcpy(&bits, &near, sizeof bits);
        if ((bits & 0x1fff) != 0x1000) continue; /* no middle between two f16 */
        if (ref_round(REF_F16, (double)near) != ref_round(REF_F16, exact)) break;
      }
      for (int64_t h = 0; h < heads - ref_int(c, "Hkv"); h++) {
        double *head = qkv->real + (token * heads + h) * D;
        head[traditional ? 2 * p : p] = x1;
        head[traditional ? 2 * p + 1 : p + R / 2] = x2;
      }
    }
}

/* "special": v with NaN, infinities, negative zero; an infinity in q and in k.  "midway": what the
** rounding of a f16 by way of f32 gets wrong. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *qkv = ref_find(c, "qkv");
  if (strcmp(how, "midway") == 0) fill_midway(c, qkv);
  if (strcmp(how, "special") != 0) return;
  const int64_t Hq = ref_int(c, "Hq"), Hkv = ref_int(c, "Hkv"), D = ref_int(c, "D");
  const int64_t width = (Hq + 2 * Hkv) * D;
  const double specials[] = {NAN, INFINITY, -INFINITY, -0.0};
  for (int64_t token = 0; token < qkv->count / width; token++) {
    double *row = qkv->real + token * width;
    for (int64_t i = 0; i < D; i += 3) row[(Hq + Hkv) * D + i] = specials[i % 4];
    row[0] = INFINITY;
    row[Hq * D + D - 1] = -INFINITY;
  }
}

static double f32(double x) { return ref_round(REF_F32, x); }

static angle angle_of(const ref_call *c, int64_t pair, int64_t token) {
  const int64_t pairs = ref_int(c, "rope_dims") / 2;
  const double share = f32((double)pair / (double)pairs);
  const double inv_freq = f32(exp2(f32(-share * ref_real(c, "log2_base"))));
  const double place = f32((double)(ref_int(c, "position") + token));
  const double theta = f32(f32(ref_real(c, "scale") * place) * inv_freq);
  return (angle){f32(cos(theta)), f32(sin(theta))};
}

/* One head of one token. */
static void rotate(const ref_call *c, ref_dtype T, const double *from, double *to, int64_t token) {
  const int64_t D = ref_int(c, "D"), R = ref_int(c, "rope_dims");
  const bool traditional = ref_int(c, "TRADITIONAL") != 0;
  for (int64_t i = R; i < D; i++) to[i] = from[i];
  for (int64_t p = 0; p < R / 2; p++) {
    const int64_t i1 = traditional ? 2 * p : p, i2 = traditional ? 2 * p + 1 : p + R / 2;
    const angle a = angle_of(c, p, token);
    to[i1] = ref_round(T, from[i1] * a.cosine - from[i2] * a.sine);
    to[i2] = ref_round(T, from[i1] * a.sine + from[i2] * a.cosine);
  }
}

void reference(ref_call *c) {
  const ref_tensor *qkv = ref_find(c, "qkv"), *q = ref_find(c, "q"), *k = ref_find(c, "k"),
                   *v = ref_find(c, "v");
  const int64_t B = ref_int(c, "B"), L = ref_int(c, "L"), Hq = ref_int(c, "Hq"),
                Hkv = ref_int(c, "Hkv"), D = ref_int(c, "D");
  const bool paged = ref_int(c, "LAYOUT") == 1;
  for (int64_t b = 0; b < B; b++)
    for (int64_t t = 0; t < L; t++) {
      const double *from = qkv->real + (b * L + t) * (Hq + 2 * Hkv) * D;
      for (int64_t h = 0; h < Hq; h++)
        rotate(c, qkv->dtype, from + h * D, q->real + ((b * Hq + h) * L + t) * D, t);
      for (int64_t h = 0; h < Hkv; h++) {
        const int64_t at = (paged ? (b * L + t) * Hkv + h : (b * Hkv + h) * L + t) * D;
        rotate(c, qkv->dtype, from + (Hq + h) * D, k->real + at, t);
        for (int64_t i = 0; i < D; i++) v->real[at + i] = from[(Hq + Hkv + h) * D + i];
      }
    }
}

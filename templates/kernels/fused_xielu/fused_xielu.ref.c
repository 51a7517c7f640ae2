/* fused_xielu: x > 0 ? alpha_p x^2 + beta x : (expm1(min(x, eps)) - x) alpha_n + beta x.
**
** The four parameters are rounded to T first, and so is the result of every operation; expm1 is
** rounded to f32 before.  min is NaN where x or eps is.
**
** So every bit follows but for one step: expm1 may be the f32 next to the nearest.  judge() takes
** an element that is right with one of the three, each on its own: the results of a sweep differ by
** many orders of magnitude, and a common scale would hide all but the largest. */
#include "reference.h"

/* "sweep": magnitudes from denormal to huge, of both signs, and the special values; "near": a
** thousandth of a normal; "nan": eps is NaN; "" is four times a normal. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *x = ref_find(c, "x");
  const double specials[] = {0.0,    -0.0,  NAN,  INFINITY, -INFINITY, 1e-45,
                             -1e-45, -17.5, -100, -1e30,    3e4,       -1e-6};
  const int64_t n = (int64_t)(sizeof specials / sizeof specials[0]);
  if (strcmp(how, "nan") == 0) ref_value_find(c, "eps")->real = NAN;
  for (int64_t i = 0; i < x->count; i++) {
    if (strcmp(how, "sweep") != 0)
      x->real[i] *= strcmp(how, "near") == 0 ? 1e-3 : 4;
    else if (i < n)
      x->real[i] = specials[i];
    else
      x->real[i] =
          (i % 2 ? -1 : 1) * pow(10, -10 + 14.0 * (double)(i - n) / (double)(x->count - n));
  }
}

typedef struct Parameters {
  ref_dtype T;
  double alpha_p, alpha_n, beta, eps;
} Parameters;

static Parameters parameters(const ref_call *c) {
  const ref_dtype T = ref_find(c, "x")->dtype;
  return (Parameters){T, ref_round(T, ref_real(c, "alpha_p")), ref_round(T, ref_real(c, "alpha_n")),
                      ref_round(T, ref_real(c, "beta")), ref_round(T, ref_real(c, "eps"))};
}

/* expm1 as an f32: the nearest one, or where it is not exact the one beside it. */
static double expm1_beside(double x, int side) {
  const float nearest = (float)expm1(x);
  return side == 0 || x == 0 ? nearest : nextafterf(nearest, side < 0 ? -INFINITY : INFINITY);
}

static double xielu(const Parameters *p, double x, int side) {
  const ref_dtype T = p->T;
  double y;
  if (x > 0) {
    y = ref_round(T, p->alpha_p * ref_round(T, x * x));
  } else {
    const double least = isnan(p->eps) || isnan(x) ? NAN : fmin(x, p->eps);
    const double e = ref_round(T, expm1_beside(least, side));
    y = ref_round(T, ref_round(T, e - x) * p->alpha_n);
  }
  return ref_round(T, y + ref_round(T, p->beta * x));
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const Parameters p = parameters(c);
  for (int64_t i = 0; i < x->count; i++) y->real[i] = xielu(&p, x->real[i], 0);
}

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

const char *judge(const ref_call *want, const ref_call *got) {
  static _Thread_local char said[256];
  const ref_tensor *x = ref_find(want, "x"), *expected = ref_find(want, "y");
  const double *y = ref_find(got, "y")->real;
  const Parameters p = parameters(want);
  for (int64_t i = 0; i < x->count; i++) {
    bool right = false;
    for (int side = -1; side <= 1; side++) right = right || same(y[i], xielu(&p, x->real[i], side));
    if (right) continue;
    snprintf(said, sizeof said, "y[%lld] is %.9g, expected %.9g (x = %.9g)", (long long)i, y[i],
             expected->real[i], x->real[i]);
    return said;
  }
  return NULL;
}

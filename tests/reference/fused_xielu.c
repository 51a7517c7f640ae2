/* fused_xielu: x > 0 ? alpha_p x^2 + beta x : (expm1(min(x, eps)) - x) alpha_n + beta x.
**
** The four parameters are rounded to T first, and so is the result of every operation; expm1 is
** rounded to f32 before. */
#include "reference.h"

/* "sweep": magnitudes from denormal to huge, of both signs, and the special values; "" is four
** times a normal. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *x = ref_find(c, "x");
  const double specials[] = {0.0,    -0.0,  NAN,  INFINITY, -INFINITY, 1e-45,
                             -1e-45, -17.5, -100, -1e30,    3e4,       -1e-6};
  const int64_t n = (int64_t)(sizeof specials / sizeof specials[0]);
  for (int64_t i = 0; i < x->count; i++) {
    if (strcmp(how, "sweep") != 0) x->real[i] *= strcmp(how, "near") == 0 ? 1e-3 : 4;
    else if (i < n) x->real[i] = specials[i];
    else
      x->real[i] =
          (i % 2 ? -1 : 1) * pow(10, -10 + 14.0 * (double)(i - n) / (double)(x->count - n));
  }
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_dtype T = x->dtype;
  const double alpha_p = ref_round(T, ref_real(c, "alpha_p")),
               alpha_n = ref_round(T, ref_real(c, "alpha_n"));
  const double beta = ref_round(T, ref_real(c, "beta")), eps = ref_round(T, ref_real(c, "eps"));
  for (int64_t i = 0; i < x->count; i++) {
    const double v = x->real[i];
    double act;
    if (v > 0) {
      act = ref_round(T, alpha_p * ref_round(T, v * v));
    } else {
      const double e = ref_round(T, ref_round(REF_F32, expm1(eps < v ? eps : v)));
      act = ref_round(T, ref_round(T, e - v) * alpha_n);
    }
    y->real[i] = ref_round(T, act + ref_round(T, beta * v));
  }
}

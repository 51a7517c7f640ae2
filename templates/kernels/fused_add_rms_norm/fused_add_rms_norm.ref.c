/* fused_add_rms_norm: r = x + residual, y = gain * (r / sqrt(mean(r^2) + eps)), each row on its
** own.
**
** Rounded to T: the sum (in f32 first), the normalised value, the product; to TW: weight_bias +
** weight, when there is a bias. */
#include "reference.h"

/* "cancel": every sum is zero.  "special": NaN, infinity, a sum that overflows f16, negative zeros,
** denormals.  "zeros": of four gains two are a zero, one of either sign, and a sum is a zero now
** and then: the sign of each product is its factors'. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *x = ref_find(c, "x"), *residual = ref_find(c, "residual");
  const int64_t D = ref_int(c, "D");
  if (strcmp(how, "cancel") == 0) {
    for (int64_t i = 0; i < x->count; i++) residual->real[i] = -ref_round(x->dtype, x->real[i]);
  } else if (strcmp(how, "special") == 0) {
    const double specials[][2] = {{NAN, 1},     {INFINITY, 1},  {60000, 60000},
                                  {-0.0, -0.0}, {3e-41, 4e-41}, {6e-8, 6e-8}};
    const int64_t n = (int64_t)(sizeof specials / sizeof specials[0]);
    for (int64_t row = 0; row < n && row * D < x->count; row++) {
      x->real[row * D + D / 2] = specials[row][0];
      residual->real[row * D + D / 2] = specials[row][1];
    }
  } else if (strcmp(how, "zeros") == 0) {
    const ref_tensor *weight = ref_find(c, "weight");
    const double none = -ref_real(c, "weight_bias"); /* the weight whose gain is a zero */
    for (int64_t d = 0; d < D; d++)
      if (d % 4 < 2) weight->real[d] = none != 0 ? none : d % 4 ? -0.0 : 0.0;
    for (int64_t i = 0; i < x->count; i += 7) x->real[i] = residual->real[i] = i % 2 ? -0.0 : 0.0;
  }
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *residual = ref_find(c, "residual"),
                   *weight = ref_find(c, "weight");
  const ref_tensor *normed = ref_find(c, "normed"), *sum = ref_find(c, "new_residual");
  const ref_dtype T = x->dtype, TW = weight->dtype;
  const double eps = ref_real(c, "eps"), bias = ref_real(c, "weight_bias");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t row = 0; row < rows; row++) {
    double squares = 0;
    for (int64_t i = row * D; i < (row + 1) * D; i++) {
      const double r = ref_round(T, ref_round(REF_F32, x->real[i] + residual->real[i]));
      sum->real[i] = r;
      squares += r * r;
    }
    const double inverse = 1 / sqrt(squares / (double)D + eps);
    for (int64_t d = 0; d < D; d++) {
      const double gain = bias == 0 ? weight->real[d] : ref_round(TW, bias + weight->real[d]);
      const double n = ref_round(T, sum->real[row * D + d] * inverse);
      normed->real[row * D + d] = ref_round(T, gain * n);
    }
  }
}

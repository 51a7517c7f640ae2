/* fused_add3_layer_norm: s = (a + b) + x, h = weight (s - mean) / sqrt(variance + eps) + bias, each
** row on its own, the variance being the mean of (s - mean)^2.
**
** Rounded to T: a + b (in f32 first), and its sum with x, which is x_out and what mean and variance
** are of.  h is left as it is: the ports round on the way to it as their own graphs do. */
#include "reference.h"

/* "offset": whole numbers, exact in T, on both sides of a mean so large that its square fills an
** f32; the mean is exact too, up to D = 4096, since an f32 of that size has no digits for the rest.
** "special": NaN, infinities, sums that overflow in f16, constant rows, negative zeros. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *a = ref_find(c, "a"), *b = ref_find(c, "b"), *x = ref_find(c, "x");
  const int64_t D = ref_int(c, "D");
  if (strcmp(how, "offset") == 0) {
    const double offset = x->dtype == REF_F32 ? 4096 : x->dtype == REF_F16 ? 1024 : 128;
    for (int64_t i = 0; i < x->count; i++) {
      const int64_t d = i % D, pair = d / 2;
      const double sign = d % 2 ? -1 : pair * 2 + 1 < D ? 1 : 0;
      a->real[i] = offset;
      b->real[i] = sign * (double)(pair % 3);
      x->real[i] = sign * (double)(pair % 5 + 1);
    }
  } else if (strcmp(how, "special") == 0) {
    const double specials[][3] = {
        {NAN, 1, 1}, {INFINITY, 1, 1}, {60000, 60000, -60000}, {-0.0, -0.0, -0.0}};
    const int64_t n = (int64_t)(sizeof specials / sizeof specials[0]);
    for (int64_t row = 0; row < n && row * D < x->count; row++)
      for (int64_t i = row * D; i < (row + 1) * D; i++)
        if (row == n - 1 || i % D == D / 2) {
          a->real[i] = specials[row][0];
          b->real[i] = specials[row][1];
          x->real[i] = specials[row][2];
        }
  }
}

void reference(ref_call *c) {
  const ref_tensor *a = ref_find(c, "a"), *b = ref_find(c, "b"), *x = ref_find(c, "x"),
                   *weight = ref_find(c, "weight"), *bias = ref_find(c, "bias");
  const ref_tensor *x_out = ref_find(c, "x_out"), *h = ref_find(c, "h");
  const ref_dtype T = x->dtype;
  const double eps = ref_real(c, "eps");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t row = 0; row < rows; row++) {
    double *s = x_out->real + row * D;
    double mean = 0, variance = 0;
    for (int64_t d = 0; d < D; d++) {
      const int64_t i = row * D + d;
      const double ab = ref_round(T, ref_round(REF_F32, a->real[i] + b->real[i]));
      s[d] = ref_round(T, ref_round(REF_F32, ab + x->real[i]));
      mean += s[d] / (double)D;
    }
    for (int64_t d = 0; d < D; d++) variance += (s[d] - mean) * (s[d] - mean) / (double)D;
    for (int64_t d = 0; d < D; d++) {
      const double n = (s[d] - mean) / sqrt(variance + eps);
      h->real[row * D + d] = weight->real[d] * n + bias->real[bias->count == 1 ? 0 : d];
    }
  }
}

/* qmv, qmv_mxfp4: y[m, n] = sum over k of x[m, k] W[n, k], rounded to T once.  W is code * scale +
** bias, or e2m1(code) * 2^(scale - 127). */
#include "lib/ref/qmm.h"

/* "tiny", "nan", "huge": see qmm_fill. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  uint64_t state = seed;
  qmm_fill(c, how, &state);
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t M = ref_int(c, "M"), N = ref_int(c, "N"), K = ref_int(c, "K");
  for (int64_t n = 0; n < N; n++) {
    double *weights = qmm_row(c, n);
    for (int64_t m = 0; m < M; m++)
      y->real[m * N + n] = ref_round(y->dtype, qmm_dot(x->real + m * K, weights, K));
    free(weights);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_tensor *gamma = ref_find(c, "gamma"), *beta = ref_find(c, "beta");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < D; i++) mean += own[i];
    mean /= (double)D;
    for (int64_t i = 0; i < D; i++) squares += (own[i] - mean) * (own[i] - mean);
    const double inv = 1 / sqrt(squares / (double)D + (double)1e-5f);
    for (int64_t i = 0; i < D; i++)
      put(y, r * D + i, single((own[i] - mean) * inv * gamma->real[i]) + beta->real[i]);
  }
}

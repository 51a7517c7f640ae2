#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *residual = ref_find(c, "residual");
  const ref_tensor *w = ref_find(c, "weight"), *carried = ref_find(c, "carried");
  const ref_tensor *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = carried->real + r * D;
    double sum = 0;
    for (int64_t i = 0; i < D; i++) {
      put(carried, r * D + i, single(x->real[r * D + i] + residual->real[r * D + i]));
      sum += single(own[i] * own[i]);
    }
    const double inv = 1 / sqrt(single(sum) / (double)D + (double)1e-6f);
    for (int64_t i = 0; i < D; i++) put(y, r * D + i, single(own[i] * inv) * w->real[i]);
  }
}

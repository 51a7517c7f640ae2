#include "reference.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *w = ref_find(c, "w");
  ref_tensor *y = ref_find(c, "y");
  const int64_t D = w->count;
  const double eps = ref_value_find(c, "eps")->real;
  for (int64_t r = 0; r < x->shape[0]; r++) {
    double sum = 0;
    for (int64_t i = 0; i < D; i++) sum += x->real[r * D + i] * x->real[r * D + i];
    const double inv = 1 / sqrt(sum / D + eps);
    for (int64_t i = 0; i < D; i++) y->real[r * D + i] = x->real[r * D + i] * inv * w->real[i];
  }
}

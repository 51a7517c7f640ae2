#include "reference.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x");
  ref_tensor *y = ref_find(c, "y");
  const int64_t D = x->shape[1];
  for (int64_t r = 0; r < x->shape[0]; r++) {
    const double *in = x->real + r * D;
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < D; i++) most = fmax(most, in[i]);
    for (int64_t i = 0; i < D; i++) sum += exp(in[i] - most);
    for (int64_t i = 0; i < D; i++) y->real[r * D + i] = exp(in[i] - most) / sum;
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < D; i++) mean += own[i];
    mean /= (double)D;
    for (int64_t i = 0; i < D; i++) squares += (own[i] - mean) * (own[i] - mean);
    put(y, r, squares / (double)D);
  }
}

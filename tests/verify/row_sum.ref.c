/* row_sum.c: in doubles, in the row's order. */
#include "reference.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t D = x->shape[1];
  for (int64_t row = 0; row < y->count; row++) {
    double sum = 0;
    for (int64_t i = 0; i < D; i++) sum += x->real[row * D + i];
    y->real[row] = ref_round(y->dtype, sum);
  }
}

#include "plain.h"

/* A row of nothing but -inf is zeros. */
void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D, top = largest(own, D);
    double sum = 0;
    for (int64_t i = 0; i < D; i++) sum += own[i] == -INFINITY ? 0 : exp(own[i] - top);
    for (int64_t i = 0; i < D; i++) {
      const double weight = own[i] == -INFINITY ? 0 : exp(own[i] - top);
      put(y, r * D + i, sum == 0 ? 0 : weight / sum);
    }
  }
}

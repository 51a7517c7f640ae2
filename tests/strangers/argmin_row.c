#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *index = ref_find(c, "index");
  const ref_tensor *value = ref_find(c, "value");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D;
    int64_t at = -1;
    for (int64_t i = 0; i < D; i++)
      if (!isnan(own[i]) && (at < 0 || own[i] < own[at])) at = i;
    index->whole[r] = at;
    put(value, r, at < 0 ? INFINITY : own[at]);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *values = ref_find(c, "values");
  const ref_tensor *places = ref_find(c, "places");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D"), K = ref_int(c, "K");
  char *taken = malloc((size_t)D + 1);
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D;
    memset(taken, 0, (size_t)D + 1);
    for (int64_t k = 0; k < K; k++) {
      int64_t at = -1;
      for (int64_t i = 0; i < D; i++)
        if (!taken[i] && !isnan(own[i]) && (at < 0 || own[i] > own[at])) at = i;
      put(values, r * K + k, at < 0 ? -INFINITY : own[at]);
      places->whole[r * K + k] = at;
      if (at >= 0) taken[at] = 1;
    }
  }
  free(taken);
}

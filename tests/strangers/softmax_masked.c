#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *mask = ref_find(c, "mask"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    double top = -INFINITY, sum = 0;
    for (int64_t i = r * D; i < (r + 1) * D; i++)
      if (mask->whole[i] != 0 && x->real[i] > top) top = x->real[i];
    for (int64_t i = r * D; i < (r + 1) * D; i++)
      if (mask->whole[i] != 0) sum += exp(x->real[i] - top);
    for (int64_t i = r * D; i < (r + 1) * D; i++)
      put(y, i, mask->whole[i] != 0 ? exp(x->real[i] - top) / sum : 0);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *keep = ref_find(c, "keep"), *y = ref_find(c, "y");
  const ref_tensor *counts = ref_find(c, "counts");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    int64_t n = 0;
    for (int64_t i = 0; i < D; i++)
      if (keep->whole[r * D + i] != 0) y->whole[r * D + n++] = x->whole[r * D + i];
    counts->whole[r] = n;
    for (; n < D; n++) y->whole[r * D + n] = 0;
  }
}

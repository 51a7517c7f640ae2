#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *flags = ref_find(c, "flags");
  const ref_tensor *counts = ref_find(c, "counts");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    counts->whole[r] = 0;
    for (int64_t i = 0; i < D; i++) {
      const bool starts = i == 0 || x->whole[r * D + i] != x->whole[r * D + i - 1];
      flags->whole[r * D + i] = starts;
      counts->whole[r] += starts;
    }
  }
}

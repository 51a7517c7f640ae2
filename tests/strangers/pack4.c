#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D"), half = (D + 1) / 2;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < half; j++) {
      const int64_t high = 2 * j + 1 < D ? x->whole[r * D + 2 * j + 1] & 15 : 0;
      y->whole[r * half + j] = (x->whole[r * D + 2 * j] & 15) + 16 * high;
    }
}

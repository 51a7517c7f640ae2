#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *scale = ref_find(c, "scale"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D"), half = (D + 1) / 2;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < D; i++) {
      const int64_t byte = x->whole[r * half + i / 2], code = i % 2 ? byte / 16 : byte % 16;
      put(y, r * D + i, single((double)(code < 8 ? code : code - 16) * scale->real[r]));
    }
}

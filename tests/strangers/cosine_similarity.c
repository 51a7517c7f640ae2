#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *a = ref_find(c, "a"), *b = ref_find(c, "b"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  for (int64_t r = 0; r < rows; r++) {
    double ab = 0, aa = 0, bb = 0;
    for (int64_t i = r * D; i < (r + 1) * D; i++) {
      ab += a->real[i] * b->real[i];
      aa += a->real[i] * a->real[i];
      bb += b->real[i] * b->real[i];
    }
    const double length = sqrt(aa) * sqrt(bb);
    put(y, r, length == 0 ? 0 : ab / length);
  }
}

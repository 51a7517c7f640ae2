#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *a = ref_find(c, "a"), *b = ref_find(c, "b"), *y = ref_find(c, "y");
  const int64_t B = ref_int(c, "B"), D = ref_int(c, "D");
  for (int64_t r = 0; r < B; r++) {
    double sum = 0;
    for (int64_t i = r * D; i < (r + 1) * D; i++) sum += a->real[i] * b->real[i];
    put(y, r, sum);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t D = ref_int(c, "D");
  uint32_t sum = 0;
  for (int64_t i = 0; i < x->count; i++) {
    if (i % D == 0) sum = 0;
    y->whole[i] = sum;
    sum += (uint32_t)x->whole[i];
  }
}

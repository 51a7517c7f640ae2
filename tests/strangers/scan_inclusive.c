#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t D = ref_int(c, "D");
  uint32_t sum = 0;
  for (int64_t i = 0; i < x->count; i++) {
    sum = (i % D == 0 ? 0 : sum) + (uint32_t)x->whole[i];
    y->whole[i] = (int32_t)sum;
  }
}

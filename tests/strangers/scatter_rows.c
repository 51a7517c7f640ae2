#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *base = ref_find(c, "base"), *x = ref_find(c, "x");
  const ref_tensor *index = ref_find(c, "index"), *y = ref_find(c, "y");
  const int64_t M = ref_int(c, "M"), D = ref_int(c, "D");
  for (int64_t i = 0; i < y->count; i++) y->real[i] = base->real[i];
  for (int64_t j = 0; j < index->count; j++)
    for (int64_t i = 0; i < D; i++)
      if (index->whole[j] >= 0 && index->whole[j] < M)
        y->real[index->whole[j] * D + i] = x->real[j * D + i];
}

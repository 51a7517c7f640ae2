#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *ids = ref_find(c, "ids"), *counts = ref_find(c, "counts");
  for (int64_t b = 0; b < counts->count; b++) counts->whole[b] = 0;
  for (int64_t i = 0; i < ids->count; i++)
    if (ids->whole[i] >= 0 && ids->whole[i] < counts->count) counts->whole[ids->whole[i]]++;
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  for (int64_t i = 0; i < x->count; i++) put(y, i, (double)(float)x->whole[i]);
}

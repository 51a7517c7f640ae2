#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t D = ref_int(c, "D");
  double top = -INFINITY;
  for (int64_t i = 0; i < x->count; i++) {
    if (i % D == 0) top = -INFINITY;
    if (x->real[i] > top) top = x->real[i];
    y->real[i] = top;
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *mask = ref_find(c, "mask"), *y = ref_find(c, "y");
  const double low = ref_real(c, "low"), high = ref_real(c, "high");
  for (int64_t i = 0; i < x->count; i++) {
    double v = x->real[i];
    if (mask->whole[i] != 0 && v < low) v = low;
    if (mask->whole[i] != 0 && v > high) v = high;
    put(y, i, v);
  }
}

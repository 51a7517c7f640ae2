#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *w = ref_find(c, "w"), *bias = ref_find(c, "bias");
  const ref_tensor *y = ref_find(c, "y");
  const int64_t C = ref_int(c, "C"), L = ref_int(c, "L"), taps = ref_int(c, "TAPS");
  for (int64_t i = 0; i < y->count; i++) {
    const int64_t channel = i / L % C;
    double sum = bias->real[channel];
    for (int64_t k = 0; k < taps; k++)
      if (i % L + k - (taps - 1) >= 0)
        sum += x->real[i + k - (taps - 1)] * w->real[channel * taps + k];
    put(y, i, sum);
  }
}

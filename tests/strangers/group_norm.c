#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_tensor *gamma = ref_find(c, "gamma"), *beta = ref_find(c, "beta");
  const int64_t N = ref_int(c, "N"), C = ref_int(c, "C"), S = ref_int(c, "S");
  const int64_t groups = ref_int(c, "GROUPS"), count = C / groups * S;
  for (int64_t g = 0; g < N * groups; g++) {
    const double *own = x->real + g * count;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) mean += own[i];
    mean /= (double)count;
    for (int64_t i = 0; i < count; i++) squares += (own[i] - mean) * (own[i] - mean);
    const double inv = 1 / sqrt(squares / (double)count + (double)1e-5f);
    for (int64_t i = 0; i < count; i++) {
      const int64_t channel = (g * count + i) / S % C;
      put(y, g * count + i,
          single((own[i] - mean) * inv * gamma->real[channel]) + beta->real[channel]);
    }
  }
}

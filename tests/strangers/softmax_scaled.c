#include "plain.h"

/* The differences from the peak are f32, and so is what the scale makes of them. */
void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D");
  const double scale = ref_real(c, "scale");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = x->real + r * D;
    double peak = scale < 0 ? INFINITY : -INFINITY, sum = 0;
    for (int64_t i = 0; i < D; i++)
      if (scale < 0 ? own[i] < peak : own[i] > peak) peak = own[i];
    for (int64_t i = 0; i < D; i++) sum += exp(single(single(own[i] - peak) * scale));
    for (int64_t i = 0; i < D; i++)
      put(y, r * D + i, exp(single(single(own[i] - peak) * scale)) / sum);
  }
}

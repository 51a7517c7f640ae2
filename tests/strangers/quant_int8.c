#include "plain.h"

/* A block with NaN or infinity has a scale of NaN and codes of 0. */
void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *q = ref_find(c, "q"), *scales = ref_find(c, "scales");
  const int64_t rows = ref_int(c, "rows"), D = ref_int(c, "D"), size = ref_int(c, "BLOCK");
  const int64_t blocks = (D + size - 1) / size;
  for (int64_t b = 0; b < rows * blocks; b++) {
    const int64_t from = b % blocks * size, end = from + size < D ? from + size : D;
    const int64_t row = b / blocks;
    double top = 0;
    bool bad = false;
    for (int64_t i = row * D + from; i < row * D + end; i++) {
      bad = bad || !isfinite(x->real[i]);
      top = fmax(top, fabs(x->real[i]));
    }
    const double scale = bad ? NAN : single(top / 127);
    scales->real[b] = scale;
    for (int64_t i = row * D + from; i < row * D + end; i++) {
      const double r = scale > 0 ? nearest(single(x->real[i] / scale)) : 0;
      q->whole[i] = (int64_t)fmax(-127, fmin(127, r));
    }
  }
}

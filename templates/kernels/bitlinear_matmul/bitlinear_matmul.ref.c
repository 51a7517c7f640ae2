/* bitlinear_matmul: y = scale * sum_j x_j t_j, rounded to T once, with t in {-1, 0, 1} and scale =
** weight_scale, or 1 / weight_scale when it is to be inverted.
**
** Byte (r, j) of packed has four codes t + 1 of two bits: the lowest of row r, the next of row
** r + quarter, then of r + 2 quarter and r + 3 quarter. */
#include "reference.h"

/* "example": x = (1, 2, 3, 4), scale 2, bytes 134 137 100 97, which gives (-4, -4, 8, 6).  "large":
** sums that overflow f16. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *x = ref_find(c, "x"), *packed = ref_find(c, "packed");
  const ref_tensor *scale = ref_find(c, "weight_scale");
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < packed->count; i++) {
    packed->whole[i] = 0;
    for (int q = 0; q < 4; q++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      packed->whole[i] |= (int64_t)((state >> 33) % 3) << (2 * q);
    }
  }
  scale->real[0] = 1.7;
  if (strcmp(how, "example") == 0) {
    const int64_t bytes[] = {134, 137, 100, 97};
    for (int i = 0; i < 4; i++) {
      packed->whole[i] = bytes[i];
      x->real[i] = i + 1;
    }
    scale->real[0] = 2;
  }
  for (int64_t i = 0; strcmp(how, "large") == 0 && i < x->count; i++) x->real[i] *= 1e4;
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *packed = ref_find(c, "packed"), *y = ref_find(c, "y");
  const int64_t batch = ref_int(c, "batch"), columns = ref_int(c, "columns");
  const int64_t quarter = ref_int(c, "quarter");
  const double given = ref_find(c, "weight_scale")->real[0];
  const double scale = ref_int(c, "invert") ? 1 / given : given;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t row = 0; row < 4 * quarter; row++) {
      double sum = 0;
      for (int64_t j = 0; j < columns; j++) {
        const int64_t byte = packed->whole[row % quarter * columns + j];
        sum += x->real[b * columns + j] * (double)((byte >> (2 * (row / quarter)) & 3) - 1);
      }
      y->real[b * 4 * quarter + row] = ref_round(y->dtype, scale * sum);
    }
}

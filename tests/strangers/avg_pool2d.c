#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t H = ref_int(c, "H"), W = ref_int(c, "W");
  for (int64_t i = 0; i < y->count; i++) {
    const int64_t plane = i / (H * W), row = i / W % H, column = i % W;
    double sum = 0, count = 0;
    for (int64_t r = row - 1; r <= row + 1; r++)
      for (int64_t k = column - 1; k <= column + 1; k++)
        if (r >= 0 && r < H && k >= 0 && k < W) {
          sum += x->real[(plane * H + r) * W + k];
          count++;
        }
    put(y, i, sum / count);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *w = ref_find(c, "w"), *y = ref_find(c, "y");
  const int64_t H = ref_int(c, "H"), W = ref_int(c, "W");
  for (int64_t i = 0; i < y->count; i++) {
    const int64_t plane = i / (H * W), row = i / W % H, column = i % W;
    double sum = 0;
    for (int64_t k = 0; k < 9; k++) {
      const int64_t r = row + k / 3 - 1, at = column + k % 3 - 1;
      if (r >= 0 && r < H && at >= 0 && at < W)
        sum += x->real[(plane * H + r) * W + at] * w->real[plane * 9 + k];
    }
    put(y, i, sum);
  }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t B = ref_int(c, "B"), L = ref_int(c, "L"), H = ref_int(c, "H");
  const int64_t D = ref_int(c, "D");
  for (int64_t b = 0; b < B; b++)
    for (int64_t l = 0; l < L; l++)
      for (int64_t h = 0; h < H; h++)
        for (int64_t d = 0; d < D; d++)
          y->real[((b * H + h) * L + l) * D + d] = x->real[((b * L + l) * H + h) * D + d];
}

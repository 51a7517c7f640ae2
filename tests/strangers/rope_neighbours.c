#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_tensor *cosines = ref_find(c, "cosines"), *sines = ref_find(c, "sines");
  const ref_tensor *positions = ref_find(c, "positions");
  const int64_t L = ref_int(c, "L"), D = ref_int(c, "D"), P = ref_int(c, "P"), half = D / 2;
  for (int64_t l = 0; l < L; l++)
    for (int64_t i = 0; i < half; i++) {
      const int64_t at = l * D + 2 * i, position = positions->whole[l];
      const double a = x->real[at], b = x->real[at + 1];
      y->real[at] = a;
      y->real[at + 1] = b;
      if (position < 0 || position >= P) continue;
      const double co = cosines->real[position * half + i], si = sines->real[position * half + i];
      put(y, at, single(single(a * co) - single(b * si)));
      put(y, at + 1, single(single(a * si) + single(b * co)));
    }
}

#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_tensor *cosines = ref_find(c, "cosines"), *sines = ref_find(c, "sines");
  const int64_t L = ref_int(c, "L"), H = ref_int(c, "H"), D = ref_int(c, "D"), half = D / 2;
  for (int64_t l = 0; l < L; l++)
    for (int64_t i = 0; i < H * half; i++) {
      const int64_t at = (l * H + i / half) * D + i % half, other = at + half;
      const double co = cosines->real[l * half + i % half], si = sines->real[l * half + i % half];
      put(y, at, single(single(x->real[at] * co) - single(x->real[other] * si)));
      put(y, other, single(single(x->real[other] * co) + single(x->real[at] * si)));
    }
}

/* turbo4_bulk_dequant_rotated: out = codebook[code] * rescale, a product in f32, then rounded to
** f16. */
#include "lib/ref/turbo4.h"

/* "special": factors of 0, infinity, NaN, the largest and the smallest. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *rescale = ref_find(c, "rescale");
  static const double special[] = {0, INFINITY, NAN, 65504, 0x1p-24, 0x1p-14};
  turbo4_fill(ref_find(c, "packed"), rescale, ref_find(c, "codebook"), seed);
  if (strcmp(how, "special") == 0)
    for (int64_t i = 0; i < rescale->count; i++) rescale->real[i] = special[i % 6];
}

void reference(ref_call *c) {
  const ref_tensor *packed = ref_find(c, "packed"), *rescale = ref_find(c, "rescale");
  const ref_tensor *codebook = ref_find(c, "codebook"), *out = ref_find(c, "out");
  const int64_t D = ref_int(c, "D");
  for (int64_t i = 0; i < out->count; i++)
    out->real[i] = ref_round(
        REF_F16, ref_round(REF_F32, turbo4_value(packed, rescale, codebook, i / D, i % D, D)));
}

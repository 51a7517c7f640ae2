#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const uint32_t seed = (uint32_t)ref_int(c, "seed"), threshold = (uint32_t)ref_int(c, "threshold");
  for (int64_t i = 0; i < x->count; i++) {
    uint32_t h = (uint32_t)i * 2654435769u ^ seed;
    h ^= h >> 16;
    h *= 2246822507u;
    h ^= h >> 13;
    h *= 3266489909u;
    h ^= h >> 16;
    put(y, i, h < threshold ? 0 : single(x->real[i] * ref_real(c, "scale")));
  }
}

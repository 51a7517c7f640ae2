#include "reference.h"

/* Of both signs, odd, and mostly of more than 24 bits; the least one is among them. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)how, (void)seed;
  const ref_tensor *x = ref_find(c, "x");
  for (int64_t i = 0; i < x->count; i++)
    x->whole[i] =
        i == 5 ? INT32_MIN : (i % 2 ? -1 : 1) * (16777217 * (i % 128) + 2 * i + 1) % INT32_MAX;
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y"), *z = ref_find(c, "z");
  for (int64_t i = 0; i < x->count; i++) {
    const int64_t v = x->whole[i], wide = v * 16777259 - 1, size = wide < 0 ? -wide : wide;
    const int64_t held = wide < -77 ? -77 : wide;
    y->whole[i] = v == INT32_MIN ? v : v < 0 ? -v : v;
    z->whole[2 * i] = size < held ? size : held;
    z->whole[2 * i + 1] = size;
  }
}

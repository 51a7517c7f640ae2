#include "plain.h"

/* e^-|gate| and the opened gate are f32: they may underflow. */
void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t D = ref_int(c, "D");
  for (int64_t i = 0; i < y->count; i++) {
    const double gate = x->real[i / D * 2 * D + i % D], up = x->real[i / D * 2 * D + D + i % D];
    const double e = single(exp(-fabs(gate)));
    const double opened = single(gate * (gate >= 0 ? 1 / (1 + e) : e / (1 + e)));
    put(y, i, single((gate == -INFINITY ? -0.0 : opened) * up));
  }
}

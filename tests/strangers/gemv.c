#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *a = ref_find(c, "a"), *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const int64_t M = ref_int(c, "M"), K = ref_int(c, "K");
  for (int64_t i = 0; i < M; i++) {
    double sum = 0;
    for (int64_t k = 0; k < K; k++) sum += a->real[i * K + k] * x->real[k];
    put(y, i, sum * ref_real(c, "alpha"));
  }
}

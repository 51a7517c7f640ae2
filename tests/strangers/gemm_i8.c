#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *a = ref_find(c, "a"), *b = ref_find(c, "b"), *out = ref_find(c, "c");
  const int64_t M = ref_int(c, "M"), N = ref_int(c, "N"), K = ref_int(c, "K");
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) {
      int64_t sum = 0;
      for (int64_t k = 0; k < K; k++) sum += a->whole[i * K + k] * b->whole[k * N + j];
      out->whole[i * N + j] = sum;
    }
}

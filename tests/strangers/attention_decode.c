#include "plain.h"

/* A weight is f32, relative to the largest score: one that underflows is 0. */
void reference(ref_call *c) {
  const ref_tensor *q = ref_find(c, "q"), *k = ref_find(c, "k"), *v = ref_find(c, "v");
  const ref_tensor *y = ref_find(c, "y");
  const int64_t H = ref_int(c, "H"), L = ref_int(c, "L"), D = ref_int(c, "D");
  double *score = malloc((size_t)(L + 1) * sizeof *score);
  for (int64_t h = 0; h < H; h++) {
    double total = 0;
    for (int64_t t = 0; t < L; t++) {
      score[t] = 0;
      for (int64_t d = 0; d < D; d++) score[t] += q->real[h * D + d] * k->real[(h * L + t) * D + d];
      score[t] *= ref_real(c, "scale");
      if (isinf(single(score[t]))) score[t] = single(score[t]);
    }
    const double top = largest(score, L);
    for (int64_t t = 0; t < L; t++) {
      score[t] = score[t] == -INFINITY ? 0 : single(exp(score[t] - top));
      total += score[t];
    }
    for (int64_t d = 0; d < D; d++) {
      double sum = 0;
      for (int64_t t = 0; t < L; t++) sum += score[t] * v->real[(h * L + t) * D + d];
      put(y, h * D + d, total == 0 ? 0 : sum / total);
    }
  }
  free(score);
}

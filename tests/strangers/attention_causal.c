#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *q = ref_find(c, "q"), *k = ref_find(c, "k"), *p = ref_find(c, "p");
  const int64_t H = ref_int(c, "H"), Lq = ref_int(c, "Lq"), Lk = ref_int(c, "Lk");
  const int64_t D = ref_int(c, "D");
  double *score = malloc((size_t)(Lk + 1) * sizeof *score);
  for (int64_t row = 0; row < H * Lq; row++) {
    const int64_t h = row / Lq, seen = Lk - Lq + row % Lq + 1;
    double total = 0;
    for (int64_t t = 0; t < seen; t++) {
      score[t] = 0;
      for (int64_t d = 0; d < D; d++)
        score[t] += q->real[row * D + d] * k->real[(h * Lk + t) * D + d];
      score[t] *= ref_real(c, "scale");
      if (isinf(single(score[t]))) score[t] = single(score[t]);
    }
    const double top = largest(score, seen);
    for (int64_t t = 0; t < seen; t++) {
      score[t] = score[t] == -INFINITY ? 0 : exp(score[t] - top);
      total += score[t];
    }
    for (int64_t t = 0; t < Lk; t++)
      put(p, row * Lk + t, t < seen && total != 0 ? score[t] / total : 0);
  }
  free(score);
}

/* moe_down: partial[k] = scores[k] * (W act[k]) with W the matrix of expert indices[k]; zeros where
** there is no such expert.  Nothing is rounded. */
#include "moe_quant.h"

/* "beyond": experts that do not exist. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  quant_fill(quant_find(c, "down", ref_int(c, "Dff")), &seed);
  quant_experts(c, how, &seed);
}

void reference(ref_call *c) {
  const ref_tensor *indices = ref_find(c, "indices"), *partial = ref_find(c, "partial");
  const double *act = ref_find(c, "act")->real, *scores = ref_find(c, "scores")->real;
  const int64_t K = ref_int(c, "K"), E = ref_int(c, "E");
  const int64_t Din = ref_int(c, "Din"), Dff = ref_int(c, "Dff");
  const quant_matrix w = quant_find(c, "down", Dff);
  for (int64_t k = 0; k < K; k++)
    for (int64_t d = 0; d < Din; d++) {
      const int64_t row = indices->whole[k] * Din + d;
      partial->real[k * Din + d] =
          indices->whole[k] < E ? scores[k] * quant_row(w, row, act + k * Dff) : 0;
    }
}

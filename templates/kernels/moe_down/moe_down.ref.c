/* moe_down: partial[k] = scores[k] * (W act[k]) with W the matrix of expert indices[k]; zeros where
** there is no such expert.  Nothing is rounded. */
#include "lib/ref/moe_quant.h"

/* "beyond": experts that do not exist.  "special" has also a score of NaN and one of infinity;
** "cancel", "huge": see quant_edge. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *act = ref_find(c, "act"), *scores = ref_find(c, "scores");
  const quant_matrix w = quant_find(c, "down", ref_int(c, "Dff"));
  quant_fill(w, &seed);
  quant_experts(c, how, &seed);
  if (act->count > 0) quant_edge(how, w, ref_int(c, "Din"), act->real);
  for (int64_t k = 1; strcmp(how, "special") == 0 && k < scores->count; k++)
    scores->real[k] = k == 1 ? NAN : INFINITY;
}

static quant_value down(const ref_call *c, int64_t at) {
  const int64_t Din = ref_int(c, "Din"), Dff = ref_int(c, "Dff"), k = at / Din;
  const int64_t expert = ref_find(c, "indices")->whole[k];
  const double score = ref_find(c, "scores")->real[k], *act = ref_find(c, "act")->real + k * Dff;
  if (expert >= ref_int(c, "E")) return (quant_value){0, 0, false};
  const quant_sum s = quant_row(quant_find(c, "down", Dff), expert * Din + at % Din, act);
  return (quant_value){score * s.sum, fabs(score) * (quant_slack(s) + 0x1p-23 * fabs(s.sum)),
                       quant_passes(s)};
}

void reference(ref_call *c) { quant_reference(c, "partial", down); }

const char *judge(const ref_call *want, const ref_call *got) {
  return quant_judge(want, got, "partial", down);
}

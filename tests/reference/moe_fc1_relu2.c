/* moe_fc1_relu2: act[k] = max(0, W x)^2 with W the matrix of expert indices[k]; zeros where there
** is no such expert.  Nothing is rounded. */
#include "moe_quant.h"

/* Weights that are their group's bias, x that is its pack's: small whole numbers without a pattern
** in common, so that every sum is exact and one pack with the bias of another group is seen even
** among 65535 packs. */
static void fill_steps(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x");
  const quant_matrix m = quant_find(c, "fc1", ref_int(c, "Din"));
  const int64_t groups = m.columns / m.group_size, pack = 32 / m.bits;
  for (int64_t i = 0; i < m.words->count; i++) m.words->whole[i] = 0;
  for (int64_t i = 0; i < x->count; i++) x->real[i] = (double)(1 + i / pack % 3);
  for (int64_t row = 0; row * groups < m.biases->count; row++) {
    double *bias = m.biases->real + row * groups, sum = 0;
    for (int64_t g = 0; g < groups; g++) bias[g] = (double)((g * g + (row + 2) * g + row) % 5 - 2);
    for (int64_t i = 0; i < m.columns; i++) sum += x->real[i] * bias[i / m.group_size];
    for (int64_t g = 0; g < groups; g++) bias[g] *= sum < 0 ? -1 : 1; /* not lost in the relu */
  }
}

/* "beyond": experts that do not exist.  "steep": large x.  "steps": see above. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  quant_fill(quant_find(c, "fc1", ref_int(c, "Din")), &seed);
  quant_experts(c, how, &seed);
  const ref_tensor *x = ref_find(c, "x");
  for (int64_t i = 0; strcmp(how, "steep") == 0 && i < x->count; i++) x->real[i] *= 100;
  if (strcmp(how, "steps") == 0) fill_steps(c);
}

void reference(ref_call *c) {
  const ref_tensor *indices = ref_find(c, "indices"), *act = ref_find(c, "act");
  const int64_t K = ref_int(c, "K"), E = ref_int(c, "E"), Dff = ref_int(c, "Dff");
  const quant_matrix w = quant_find(c, "fc1", ref_int(c, "Din"));
  for (int64_t k = 0; k < K; k++)
    for (int64_t f = 0; f < Dff; f++) {
      double sum = 0;
      if (indices->whole[k] < E)
        sum = quant_row(w, indices->whole[k] * Dff + f, ref_find(c, "x")->real);
      act->real[k * Dff + f] = sum > 0 ? sum * sum : 0;
    }
}

/* moe_fc1_relu2: act[k] = max(0, W x)^2 with W the matrix of expert indices[k], NaN where W x is;
** zeros where there is no such expert.  Nothing is rounded. */
#include "lib/ref/moe_quant.h"

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

/* "beyond": experts that do not exist.  "steep": large x.  "steps": see above.  "special",
** "cancel", "huge": see quant_edge. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *x = ref_find(c, "x");
  const quant_matrix w = quant_find(c, "fc1", ref_int(c, "Din"));
  quant_fill(w, &seed);
  quant_experts(c, how, &seed);
  for (int64_t i = 0; strcmp(how, "steep") == 0 && i < x->count; i++) x->real[i] *= 100;
  if (strcmp(how, "steps") == 0) fill_steps(c);
  quant_edge(how, w, ref_int(c, "Dff"), x->real);
}

static quant_value relu_squared(const ref_call *c, int64_t at) {
  const int64_t Dff = ref_int(c, "Dff"), expert = ref_find(c, "indices")->whole[at / Dff];
  if (expert >= ref_int(c, "E")) return (quant_value){0, 0, false};
  const quant_matrix w = quant_find(c, "fc1", ref_int(c, "Din"));
  const quant_sum s = quant_row(w, expert * Dff + at % Dff, ref_find(c, "x")->real);
  const double positive = s.sum <= 0 ? 0 : s.sum, slack = quant_slack(s); /* NaN stays NaN */
  return (quant_value){positive * positive,
                       slack * (2 * positive + slack) + 0x1p-23 * positive * positive,
                       quant_passes(s)};
}

void reference(ref_call *c) { quant_reference(c, "act", relu_squared); }

const char *judge(const ref_call *want, const ref_call *got) {
  return quant_judge(want, got, "act", relu_squared);
}

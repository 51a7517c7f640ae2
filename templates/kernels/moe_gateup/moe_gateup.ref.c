/* moe_gateup: act[k] = a(G x) * (U x) with G and U the matrices of expert indices[k]; zeros where
** there is no such expert.
**
** a is g / (1 + e^-g) for ACT 0, g / 2 (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))) for ACT 1.
** Nothing is rounded. */
#include "lib/ref/moe_quant.h"

/* "beyond": experts that do not exist.  "steep": x so large that gates are far out both ways.
** "special", "cancel" (of the gate), "huge": see quant_edge. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *x = ref_find(c, "x");
  const quant_matrix gate = quant_find(c, "gate", ref_int(c, "Din"));
  quant_fill(gate, &seed);
  quant_fill(quant_find(c, "up", ref_int(c, "Din")), &seed);
  quant_experts(c, how, &seed);
  for (int64_t i = 0; strcmp(how, "steep") == 0 && i < x->count; i++) x->real[i] *= 100;
  quant_edge(how, gate, ref_int(c, "Dff"), x->real);
}

static double activation(int64_t which, double g) {
  if (which == 0) return g / (1 + exp(-g));
  return g / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g)));
}

/* Of the activation: neither one rises or falls by more than 1.13 times what g does, and its own
** rounding errors are relative to g, as 1 + tanh may be next to nothing. */
static quant_value gated(const ref_call *c, int64_t at) {
  const int64_t Dff = ref_int(c, "Dff"), expert = ref_find(c, "indices")->whole[at / Dff];
  if (expert >= ref_int(c, "E")) return (quant_value){0, 0, false};
  const double *x = ref_find(c, "x")->real;
  const int64_t Din = ref_int(c, "Din"), row = expert * Dff + at % Dff;
  const quant_sum g = quant_row(quant_find(c, "gate", Din), row, x);
  const quant_sum u = quant_row(quant_find(c, "up", Din), row, x);
  const double a = activation(ref_int(c, "ACT"), g.sum);
  const double a_slack = 1.13 * quant_slack(g) + 0x1p-22 * fabs(g.sum), u_slack = quant_slack(u);
  return (quant_value){
      a * u.sum, fabs(a) * u_slack + a_slack * (fabs(u.sum) + u_slack) + 0x1p-23 * fabs(a * u.sum),
      quant_passes(g) || quant_passes(u)};
}

void reference(ref_call *c) { quant_reference(c, "act", gated); }

const char *judge(const ref_call *want, const ref_call *got) {
  return quant_judge(want, got, "act", gated);
}

/* moe_gateup: act[k] = a(G x) * (U x) with G and U the matrices of expert indices[k]; zeros where
** there is no such expert.
**
** a is g / (1 + e^-g) for ACT 0, g / 2 (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))) for ACT 1.
** Nothing is rounded. */
#include "moe_quant.h"

/* "beyond": experts that do not exist.  "steep": x so large that gates are far out both ways. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  quant_fill(quant_find(c, "gate", ref_int(c, "Din")), &seed);
  quant_fill(quant_find(c, "up", ref_int(c, "Din")), &seed);
  quant_experts(c, how, &seed);
  const ref_tensor *x = ref_find(c, "x");
  for (int64_t i = 0; strcmp(how, "steep") == 0 && i < x->count; i++) x->real[i] *= 100;
}

static double activation(int64_t which, double g) {
  if (which == 0) return g / (1 + exp(-g));
  return g / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g)));
}

void reference(ref_call *c) {
  const ref_tensor *indices = ref_find(c, "indices"), *act = ref_find(c, "act");
  const double *x = ref_find(c, "x")->real;
  const int64_t K = ref_int(c, "K"), E = ref_int(c, "E"), Dff = ref_int(c, "Dff");
  const quant_matrix gate = quant_find(c, "gate", ref_int(c, "Din"));
  const quant_matrix up = quant_find(c, "up", ref_int(c, "Din"));
  for (int64_t k = 0; k < K; k++)
    for (int64_t f = 0; f < Dff; f++) {
      const int64_t row = indices->whole[k] * Dff + f;
      double result = 0;
      if (indices->whole[k] < E)
        result = activation(ref_int(c, "ACT"), quant_row(gate, row, x)) * quant_row(up, row, x);
      act->real[k * Dff + f] = result;
    }
}

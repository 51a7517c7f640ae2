/* gated_delta, gated_delta_seqpar: for each row S of the state, token by token,
** S = g S; S = S + k (v - <S, k>) beta; y = <S, q>.  The heads of v share those of q and k by turns
** of Hv / Hk.  A masked token leaves S as it is, and its y is 0.
**
** y is of the S before any rounding.  S is rounded to its type at the end, in gated_delta_seqpar
** after every token. */
#include "reference.h"

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* As a model has them: q and k of about unit length, g and beta between 0 and 1; about every third
** token masked, and the others' marks not all 1: any that is not 0 counts.  "fresh": the state is zero.  "masked": all tokens are but the last, and NaN and
** infinity stand in what a masked token must not read. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *q = ref_find(c, "q"), *k = ref_find(c, "k"), *v = ref_find(c, "v"),
                   *g = ref_find(c, "g"), *beta = ref_find(c, "beta"),
                   *state = ref_find(c, "state_in");
  const double unit = 1 / sqrt((double)ref_int(c, "Dk"));
  for (int64_t i = 0; i < q->count; i++) q->real[i] *= unit;
  for (int64_t i = 0; i < k->count; i++) k->real[i] *= unit;
  for (int64_t i = 0; i < g->count; i++) g->real[i] = sigmoid(g->real[i] + 3);
  for (int64_t i = 0; i < beta->count; i++) beta->real[i] = sigmoid(beta->real[i]);
  if (strcmp(how, "fresh") == 0)
    for (int64_t i = 0; i < state->count; i++) state->real[i] = 0;
  if (strcmp(c->kernel, "gated_delta") != 0) return;
  const ref_tensor *mask = ref_find(c, "mask");
  static const int64_t marks[] = {1, 2, 255, 128}; /* each with another bit alone, and all */
  const bool all = strcmp(how, "masked") == 0;
  const int64_t L = ref_int(c, "L"), tokens = ref_int(c, "B") * L;
  for (int64_t t = 0, shown = 0; t < mask->count; t++)
    if (all ? t % L == L - 1 : ((uint64_t)t * 2654435761u + seed) % 3 != 0)
      mask->whole[t] = marks[shown++ % 4];
  for (int64_t t = 0; all && t < mask->count; t++) {
    if (mask->whole[t]) continue;
    for (int64_t i = 0; i < k->count / tokens; i++)
      k->real[t * (k->count / tokens) + i] = i % 2 ? NAN : INFINITY;
    for (int64_t i = 0; i < v->count / tokens; i++) v->real[t * (v->count / tokens) + i] = NAN;
  }
}

void reference(ref_call *c) {
  const ref_tensor *q = ref_find(c, "q"), *k = ref_find(c, "k"), *v = ref_find(c, "v"),
                   *g = ref_find(c, "g"), *beta = ref_find(c, "beta"),
                   *state_in = ref_find(c, "state_in");
  const ref_tensor *y = ref_find(c, "y"), *state_out = ref_find(c, "state_out");
  const bool each = strcmp(c->kernel, "gated_delta_seqpar") == 0;
  const bool vec = !each && ref_int(c, "VEC") != 0, masked = !each && ref_int(c, "MASK") != 0;
  const ref_dtype T = state_in->dtype;
  const int64_t B = ref_int(c, "B"), L = ref_int(c, "L"), Hk = ref_int(c, "Hk"),
                Hv = ref_int(c, "Hv"), Dk = ref_int(c, "Dk"), Dv = ref_int(c, "Dv");
  for (int64_t row = 0; row < B * Hv * Dv; row++) {
    const int64_t b = row / (Hv * Dv), h = row / Dv % Hv, d = row % Dv;
    double *S = state_out->real + row * Dk;
    memcpy(S, state_in->real + row * Dk, (size_t)Dk * sizeof *S);
    for (int64_t t = b * L; t < (b + 1) * L; t++) {
      double *out = &y->real[(t * Hv + h) * Dv + d];
      *out = 0;
      if (masked && ref_find(c, "mask")->whole[t] == 0) continue;
      const double *kt = k->real + (t * Hk + h / (Hv / Hk)) * Dk;
      const double *qt = q->real + (t * Hk + h / (Hv / Hk)) * Dk;
      double kv = 0;
      for (int64_t i = 0; i < Dk; i++) {
        S[i] *= vec ? g->real[(t * Hv + h) * Dk + i] : g->real[t * Hv + h];
        kv += S[i] * kt[i];
      }
      const double delta = (v->real[(t * Hv + h) * Dv + d] - kv) * beta->real[t * Hv + h];
      for (int64_t i = 0; i < Dk; i++) {
        S[i] += kt[i] * delta;
        *out += S[i] * qt[i];
        if (each) S[i] = ref_round(T, S[i]);
      }
      *out = ref_round(T, *out);
    }
    for (int64_t i = 0; i < Dk; i++) S[i] = ref_round(T, S[i]);
  }
}

/* mamba1_selective_scan, mamba1_graph_exact: for each channel, token by token,
** s_n = exp(dt A_n) s_n + dt x B_n and Y = sum_n s_n C_n + x D.
**
** Each operation (a product, a sum of two, the exponential, the sum over n) is rounded to the
** state's type: f32 for the former kernel, the type of all inputs for the latter.  An exponential
** is rounded to f32 before.  Y is then rounded to its own type. */
#include "reference.h"

static double softplus(double x) { return log1p(exp(x)); }

/* A is -1, -2 ... -N as a model starts with, each channel's a little apart; dt is a softplus of
** small numbers.  "fresh": the state is zero.  "extreme": channels whose dt wipes the state out,
** leaves it as it is, or is not a number. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *DT = ref_find(c, "DT"), *A = ref_find(c, "A"), *state = ref_find(c, "state_in");
  const int64_t N = ref_int(c, "N"), Dm = ref_int(c, "Dm");
  for (int64_t i = 0; i < DT->count; i++) DT->real[i] = softplus(DT->real[i] - 2);
  for (int64_t i = 0; i < A->count; i++)
    A->real[i] = -(double)(i % N + 1) * (1 + 0.01 * (double)(i / N % 7));
  if (strcmp(how, "fresh") == 0)
    for (int64_t i = 0; i < state->count; i++) state->real[i] = 0;
  if (strcmp(how, "extreme") != 0) return;
  for (int64_t i = 0; i < DT->count; i++) {
    if (i % Dm == 1) DT->real[i] = 1000;
    if (i % Dm == 2) DT->real[i] = 0;
    if (i % Dm == 3 && i / Dm == 4) DT->real[i] = NAN;
  }
}

void reference(ref_call *c) {
  const ref_tensor *X = ref_find(c, "X"), *DT = ref_find(c, "DT"), *Bm = ref_find(c, "Bm"),
                   *Cm = ref_find(c, "Cm"), *A = ref_find(c, "A"), *Dp = ref_find(c, "Dp"),
                   *state_in = ref_find(c, "state_in");
  const ref_tensor *Y = ref_find(c, "Y"), *state_out = ref_find(c, "state_out");
  const ref_dtype S = A->dtype;
  const int64_t b = ref_int(c, "b"), L = ref_int(c, "L"), Dm = ref_int(c, "Dm"),
                N = ref_int(c, "N");
  double *s = state_out->real;
  memcpy(s, state_in->real, (size_t)state_in->count * sizeof *s);
  for (int64_t i = 0; i < b; i++)
    for (int64_t t = i * L; t < (i + 1) * L; t++)
      for (int64_t d = 0; d < Dm; d++) {
        const double x = X->real[t * Dm + d], dt = DT->real[t * Dm + d];
        const double dx = ref_round(S, dt * x);
        double y = 0;
        for (int64_t n = 0; n < N; n++) {
          double *sn = &s[(i * Dm + d) * N + n];
          const double exponent = ref_round(S, dt * A->real[d * N + n]);
          const double decay = ref_round(S, ref_round(REF_F32, exp(exponent)));
          const double in = ref_round(S, dx * Bm->real[t * N + n]);
          *sn = ref_round(S, ref_round(S, *sn * decay) + in);
          y += ref_round(S, *sn * Cm->real[t * N + n]);
        }
        const double skip = ref_round(S, x * Dp->real[d]);
        Y->real[t * Dm + d] = ref_round(Y->dtype, ref_round(S, y) + skip);
      }
}

/* ssm_update: for every row of the state, s' = exp(-exp(A_log) dt) s + x dt B and
** out = <s', C> + x D, B and C those of the head's group.
**
** out is of the s' before that is rounded to the state's type. */
#include "reference.h"

static double softplus(double x) { return log1p(exp(x)); }

/* dt as softplus and clipping to 0.001 and 100 leave it, A_log the logarithm of 1 to 16.  "fresh":
** the state is zero.  "extreme": per head, a dt that wipes the state out, one that leaves it as it
** is, a decay that underflows, zeros that must stay zeros against a state that is huge. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *dt = ref_find(c, "dt"), *A_log = ref_find(c, "A_log"),
                   *state = ref_find(c, "state_in"), *x = ref_find(c, "x");
  const int64_t h = ref_int(c, "h"), dh = ref_int(c, "dh"), ds = ref_int(c, "ds");
  for (int64_t i = 0; i < dt->count; i++) {
    const double step = softplus(dt->real[i] - 3);
    dt->real[i] = step < 0.001 ? 0.001 : step > 100 ? 100 : step;
  }
  for (int64_t i = 0; i < h; i++) A_log->real[i] = log(1 + (double)(i * 5 % 16));
  if (strcmp(how, "fresh") == 0)
    for (int64_t i = 0; i < state->count; i++) state->real[i] = 0;
  if (strcmp(how, "extreme") != 0) return;
  const double steps[] = {100, 0, 1, 0.01}, logs[] = {2.5, 2.5, 6, -80};
  const double huge = state->dtype == REF_F16 ? 1e4 : 1e6; /* f16 ends at 65504 */
  for (int64_t i = 0; i < dt->count; i++) {
    dt->real[i] = steps[i % 4];
    A_log->real[i % h] = logs[i % h % 4];
  }
  for (int64_t row = 0; row < state->count / ds; row++) {
    const int64_t head = row / dh % h;
    if (head % 4 == 3)
      for (int64_t i = 0; i < ds; i++) state->real[row * ds + i] *= huge;
    if (head % 4 == 1) x->real[row] = 0;
  }
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *A_log = ref_find(c, "A_log"), *B = ref_find(c, "B"),
                   *C = ref_find(c, "C"), *D = ref_find(c, "D"), *dt = ref_find(c, "dt"),
                   *state_in = ref_find(c, "state_in");
  const ref_tensor *out = ref_find(c, "out"), *state_out = ref_find(c, "state_out");
  const int64_t n = ref_int(c, "n"), h = ref_int(c, "h"), dh = ref_int(c, "dh"),
                g = ref_int(c, "g"), ds = ref_int(c, "ds");
  for (int64_t i = 0; i < n; i++)
    for (int64_t head = 0; head < h; head++) {
      const int64_t group = i * g + head / (h / g);
      const double step = dt->real[i * h + head];
      const double decay = exp(-exp(A_log->real[head]) * step);
      for (int64_t d = 0; d < dh; d++) {
        const int64_t row = (i * h + head) * dh + d;
        double y = x->real[row] * D->real[head];
        for (int64_t j = 0; j < ds; j++) {
          const double s =
              decay * state_in->real[row * ds + j] + x->real[row] * step * B->real[group * ds + j];
          state_out->real[row * ds + j] = ref_round(state_out->dtype, s);
          y += s * C->real[group * ds + j];
        }
        out->real[row] = ref_round(out->dtype, y);
      }
    }
}

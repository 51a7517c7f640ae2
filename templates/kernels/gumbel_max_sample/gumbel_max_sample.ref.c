/* gumbel_max_sample: for each row and each of S splits, the largest candidate logit / temp + noise
** and its index.
**
** Noise is -log(-log u) with u = (the upper 23 bits of word i % 4 of Philox4x32-10 at counter {i /
** 4, 0, row, 0} + 1/2) / 2^23. The quotient, the noise and their sum are each rounded to f32.  A
** NaN candidate never wins, equal ones go to the lower index, a split without any gives -inf and
** index 0; a temperature that is not above zero gives NaN and index 0. Entry i belongs to split (i
** / (4 * THREADS)) % S.
**
** A winner is a choice between numbers whose noise a device may have an ulp off, so judge() takes
** another index where its candidate is within 1e-4 of the best one; but not where the values are so
** large that no noise is left in them, as equal ones are then equal on every device. */
#include "lib/ref/philox.h"
#include "reference.h"

static double noise(const ref_call *c, int64_t row, int64_t i) {
  const int64_t *key = ref_find(c, "rng_key")->whole;
  uint32_t counter[4] = {(uint32_t)(i / 4), 0, (uint32_t)row, 0};
  philox4x32_10(counter, (uint32_t)key[0], (uint32_t)key[1]);
  return -log(-log(philox_uniform(counter[i % 4])));
}

static double candidate(const ref_call *c, int64_t row, int64_t i) {
  const double logit = ref_find(c, "logits")->real[row * ref_int(c, "V") + i];
  return ref_round(REF_F32, ref_round(REF_F32, logit / ref_real(c, "temp")) +
                                ref_round(REF_F32, noise(c, row, i)));
}

static int64_t split_of(const ref_call *c, int64_t i) {
  return i / (4 * ref_int(c, "THREADS")) % ref_int(c, "S");
}

/* "nan": every third entry, and the last row whole.  "masked": all but one in sixteen -inf, the
** last row whole.  "ties": equal largest entries, far enough up that the noise is lost in them,
** infinite ones in row 0.  "peaked": one entry 100 above the others.  "frozen": temperature 0. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *logits = ref_find(c, "logits"), *key = ref_find(c, "rng_key");
  const int64_t V = ref_int(c, "V"), rows = ref_int(c, "B");
  key->whole[0] = (int64_t)(uint32_t)(seed * 0x9E3779B97F4A7C15u >> 32);
  key->whole[1] = (int64_t)(uint32_t)(seed * 0xBF58476D1CE4E5B9u >> 29);
  if (strcmp(how, "ties") == 0) ref_value_find(c, "temp")->real = 1e-6;
  if (strcmp(how, "frozen") == 0) ref_value_find(c, "temp")->real = 0;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0; i < V; i++) {
      double *l = &logits->real[row * V + i];
      const bool last = row > 0 && row == rows - 1;
      if (strcmp(how, "nan") == 0 && (last || i % 3 == 0)) *l = NAN;
      if (strcmp(how, "masked") == 0 && (last || (i + row) % 16 != 5)) *l = -INFINITY;
      if (strcmp(how, "ties") == 0)
        *l = i % 7 == (3 * row) % 7 || i == V - 1 ? (row == 0 ? INFINITY : 60000) : -1;
      if (strcmp(how, "peaked") == 0) *l = i == (row * 977 + V / 2) % V ? 100 : 0;
    }
}

void reference(ref_call *c) {
  const ref_tensor *vals = ref_find(c, "vals"), *idxs = ref_find(c, "idxs");
  const int64_t rows = ref_int(c, "B"), V = ref_int(c, "V"), S = ref_int(c, "S");
  const bool drawn = ref_real(c, "temp") > 0;
  for (int64_t i = 0; i < rows * S; i++) {
    vals->real[i] = drawn ? -INFINITY : NAN;
    idxs->whole[i] = 0;
  }
  for (int64_t row = 0; drawn && row < rows; row++)
    for (int64_t i = 0; i < V; i++) {
      const int64_t at = row * S + split_of(c, i);
      const double x = candidate(c, row, i);
      if (!(x > vals->real[at])) continue;
      vals->real[at] = x;
      idxs->whole[at] = i;
    }
}

static bool same_value(double a, double b) {
  if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) return a == b || (isnan(a) && isnan(b));
  return fabs(a - b) <= 2e-5 + 1e-6 * fabs(b);
}

const char *judge(const ref_call *want, const ref_call *got) {
  static _Thread_local char said[256];
  const ref_tensor *wv = ref_find(want, "vals"), *wi = ref_find(want, "idxs");
  const ref_tensor *gv = ref_find(got, "vals"), *gi = ref_find(got, "idxs");
  const int64_t S = ref_int(want, "S"), V = ref_int(want, "V");
  for (int64_t at = 0; at < wv->count; at++) {
    const int64_t row = at / S, split = at % S, i = gi->whole[at];
    double expected = wv->real[at];
    if (i != wi->whole[at]) {
      /* only an entry of this split that comes within the margin may stand there */
      const bool own = i >= 0 && i < V && isfinite(expected) && split_of(want, i) == split;
      const double x = own ? candidate(want, row, i) : NAN;
      const bool noiseless = fabs(expected) > 1e9;
      if (noiseless || !(expected - x < 1e-4)) {
        snprintf(said, sizeof said, "row %lld, split %lld: index %lld won, expected %lld (%.9g)",
                 (long long)row, (long long)split, (long long)i, (long long)wi->whole[at],
                 expected);
        return said;
      }
      expected = x;
    }
    if (!same_value(gv->real[at], expected)) {
      snprintf(said, sizeof said, "row %lld, split %lld: the winner's value is %.9g, expected %.9g",
               (long long)row, (long long)split, gv->real[at], expected);
      return said;
    }
  }
  return NULL;
}

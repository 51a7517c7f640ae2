/* turbo4_delegated_cold, sparse_v: out[row, q, d] = the sum over t of w[row, q, t] * value[kv, t,
** d] for w > threshold, kv = row / (rows / kv_rows); value = codebook[code] * rescale. */
#include "lib/ref/turbo4.h"

/* Weights as a softmax leaves them.  "sparse": one in nine large.  "edge": half of them exactly at
** the threshold, some NaN.  "dead": all below it, and beyond reading: rescale is NaN.  "empty": of
** zeros. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *weights = ref_find(c, "weights"), *rescale = ref_find(c, "rescale");
  const int64_t Tk = ref_int(c, "Tk");
  const double threshold = ref_real(c, "threshold");
  turbo4_fill(ref_find(c, "packed"), rescale, ref_find(c, "codebook"), seed);
  for (int64_t i = 0; i < weights->count; i++) {
    double *w = &weights->real[i];
    const bool large = i % 9 == 4;
    if (strcmp(how, "edge") == 0)
      *w = i % 2 ? threshold : i % 6 == 4 ? NAN : threshold * (i % 4 ? 1.25 : 0.75);
    else if (strcmp(how, "dead") == 0)
      *w = threshold * (double)(i % 4) / 4;
    else if (strcmp(how, "empty") == 0)
      *w = 0;
    else if (strcmp(how, "sparse") == 0)
      *w = exp(*w) / (double)Tk * (large ? 8 : 0.02);
    else
      *w = exp(*w) / (1.65 * (double)Tk);
  }
  if (strcmp(how, "dead") == 0)
    for (int64_t i = 0; i < rescale->count; i++) rescale->real[i] = NAN;
}

void reference(ref_call *c) {
  const ref_tensor *weights = ref_find(c, "weights"), *packed = ref_find(c, "packed");
  const ref_tensor *rescale = ref_find(c, "rescale"), *codebook = ref_find(c, "codebook");
  const ref_tensor *out = ref_find(c, "out");
  const int64_t rows = ref_int(c, "rows"), Tq = ref_int(c, "Tq"), Tk = ref_int(c, "Tk");
  const int64_t D = ref_int(c, "D"), share = rows / ref_int(c, "kv_rows");
  for (int64_t slot = 0; slot < rows * Tq; slot++)
    for (int64_t d = 0; d < D; d++) {
      double sum = 0;
      for (int64_t t = 0; t < Tk; t++) {
        const double w = weights->real[slot * Tk + t];
        if (w > ref_real(c, "threshold"))
          sum += w * turbo4_value(packed, rescale, codebook, slot / Tq / share * Tk + t, d, D);
      }
      out->real[slot * D + d] = sum;
    }
}

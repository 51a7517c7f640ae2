/* paged_merge: for each output row and head, sum 2^lse_i v_i / sum 2^lse_i over the row's parts,
** and log2 of the sum of 2^lse_i.  Parts whose lse is -inf or NaN are left out; a row without any
** other gives zeros and -inf.  Nothing is rounded. */
#include "reference.h"

/* The parts are dealt out to the rows in order.  "holes": every third part has no token, with NaN
** for values, and every fifth a NaN for its lse.  "empty": that is so for all parts of all rows but
** the last, and with N = 0 of all.  "far": the parts' lse lie hundreds apart. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *v = ref_find(c, "v_in"), *lse = ref_find(c, "lse_in");
  const ref_tensor *indptr = ref_find(c, "o_indptr");
  const int64_t N = ref_int(c, "N"), M = ref_int(c, "M"), H = ref_int(c, "H"), D = ref_int(c, "D");
  for (int64_t o = 0; o <= M; o++) indptr->whole[o] = M > 0 ? o * o * N / (M * M) : N;
  for (int64_t i = 0; i < N * H; i++) {
    const int64_t part = i / H;
    lse->real[i] = 3 * lse->real[i] + (double)(part % 4);
    if (strcmp(how, "far") == 0) lse->real[i] = (part % 2 ? -150 : 170) + lse->real[i];
    const bool hole = strcmp(how, "holes") == 0 && part % 3 == 1;
    const bool empty = strcmp(how, "empty") == 0 && M > 0 && part < indptr->whole[M - 1];
    if (hole || empty) lse->real[i] = -INFINITY;
    if (strcmp(how, "holes") == 0 && i % 5 == 2) lse->real[i] = NAN;
    for (int64_t d = 0; d < D; d++)
      if (!(lse->real[i] > -INFINITY)) v->real[i * D + d] = NAN;
  }
}

void reference(ref_call *c) {
  const ref_tensor *v = ref_find(c, "v_in"), *lse = ref_find(c, "lse_in");
  const ref_tensor *v_out = ref_find(c, "v_out"), *lse_out = ref_find(c, "lse_out");
  const int64_t *indptr = ref_find(c, "o_indptr")->whole;
  const int64_t M = ref_int(c, "M"), H = ref_int(c, "H"), D = ref_int(c, "D");
  for (int64_t o = 0; o < M; o++)
    for (int64_t h = 0; h < H; h++) {
      double top = -INFINITY, sum = 0;
      double *out = v_out->real + (o * H + h) * D;
      for (int64_t i = indptr[o]; i < indptr[o + 1]; i++)
        if (lse->real[i * H + h] > top) top = lse->real[i * H + h];
      for (int64_t d = 0; d < D; d++) out[d] = 0;
      for (int64_t i = indptr[o]; i < indptr[o + 1]; i++) {
        if (!(lse->real[i * H + h] > -INFINITY)) continue;
        const double weight = exp2(lse->real[i * H + h] - top);
        sum += weight;
        for (int64_t d = 0; d < D; d++) out[d] += weight * v->real[(i * H + h) * D + d];
      }
      for (int64_t d = 0; sum != 0 && d < D; d++) out[d] /= sum;
      lse_out->real[o * H + h] = top + log2(sum);
    }
}

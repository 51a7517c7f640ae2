/* gather_qmm and its kin: y[b, m] = x[lhs[b], m] W[rhs[b]]^T, rounded to T once; zeros where x has
** no such rows or W no such expert.  Row b of B0 by B1 has its indices at (b / B1) * stride_0 +
** (b % B1) * stride_1. */
#include "lib/ref/qmm.h"

static bool expert_batched(const ref_call *c) {
  return strstr(c->kernel, "expert_batched") != NULL;
}

static int64_t rows_of_x(const ref_call *c) { return expert_batched(c) ? 1 : ref_int(c, "M"); }

static int64_t place(const ref_call *c, const char *side, int64_t b) {
  char name[2][32];
  for (int i = 0; i < 2; i++) snprintf(name[i], sizeof name[i], "%s_stride_%d", side, i);
  const int64_t B1 = ref_int(c, "B1");
  return b / B1 * ref_int(c, name[0]) + b % B1 * ref_int(c, name[1]);
}

/* Row b's expert is below the one before it: rows whose places overlap come to that. */
static bool falls(const ref_call *c, const ref_tensor *rhs, int64_t rows) {
  for (int64_t b = 1; b < rows; b++)
    if (rhs->whole[place(c, "rhs", b)] < rhs->whole[place(c, "rhs", b - 1)]) return true;
  return false;
}

/* Experts in any order, or in order for expert_batched and "sorted": fewer rows for the later ones,
** so that some have none and one has many; "one": all of the last expert.  "beyond": a third of the
** rows, the last ones where there is an order, have an expert that does not exist, and one in
** seven others a row of x that does not; in "nan" these too, whose 0 no NaN weight may touch.  What
** a view leaves out of its array is an expert too.  Rows that share places and so have no order get
** the last expert, all of them.  For the rest see qmm_fill. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  uint64_t state = seed;
  qmm_fill(c, how, &state);
  const ref_tensor *lhs = ref_find(c, "lhs"), *rhs = ref_find(c, "rhs");
  const int64_t rows = ref_int(c, "B0") * ref_int(c, "B1");
  const int64_t E = ref_int(c, "E"), X = ref_int(c, "X");
  const bool beyond = strcmp(how, "beyond") == 0, no_rows = beyond || strcmp(how, "nan") == 0;
  const bool ordered = expert_batched(c) || strcmp(how, "sorted") == 0;
  for (int64_t i = 0; i < lhs->count; i++) {
    lhs->whole[i] = (int64_t)(quant_random(&state) % (uint64_t)(X > 0 ? X : 1));
    if (no_rows && i % 7 == 3) lhs->whole[i] = i % 2 ? X : (int64_t)UINT32_MAX;
  }
  for (int64_t i = 0; i < rhs->count; i++)
    rhs->whole[i] = (int64_t)(quant_random(&state) % (uint64_t)(E > 0 ? E : 1));
  if (ordered)
    for (int64_t b = 0; b < rows; b++) {
      const double share = (double)b / (double)rows;
      rhs->whole[place(c, "rhs", b)] = (int64_t)((double)E * share * share);
      if (strcmp(how, "one") == 0) rhs->whole[place(c, "rhs", b)] = E - 1;
    }
  if (beyond)
    for (int64_t b = 0; b < rows; b++)
      if (ordered ? b >= rows * 2 / 3 : b % 3 == 1)
        rhs->whole[place(c, "rhs", b)] = b < rows * 3 / 4 ? E : (int64_t)UINT32_MAX;
  if (ordered && falls(c, rhs, rows))
    for (int64_t i = 0; i < rhs->count; i++) rhs->whole[i] = E - 1;
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  const ref_tensor *lhs = ref_find(c, "lhs"), *rhs = ref_find(c, "rhs");
  const int64_t M = rows_of_x(c), N = ref_int(c, "N"), K = ref_int(c, "K");
  const int64_t E = ref_int(c, "E"), X = ref_int(c, "X");
  for (int64_t b = 0; b < ref_int(c, "B0") * ref_int(c, "B1"); b++) {
    const int64_t from = lhs->whole[place(c, "lhs", b)];
    const int64_t expert = rhs->whole[place(c, "rhs", b)];
    for (int64_t n = 0; n < N; n++) {
      double *weights = from < X && expert < E ? qmm_row(c, expert * N + n) : NULL;
      for (int64_t m = 0; m < M; m++) {
        const double sum = weights ? qmm_dot(x->real + (from * M + m) * K, weights, K) : 0;
        y->real[(b * M + m) * N + n] = ref_round(y->dtype, sum);
      }
      free(weights);
    }
  }
}

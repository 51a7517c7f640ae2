/* host.c: see host.h. */
#include "host.h"

/* ---- the route ------------------------------------------------------------------------------- */

enum { BATCH_LEAST = 64, EXPERTS_MOST = 64, ROWS_TO_AN_EXPERT = 4 };

static const char *dtype_name(kg_dtype dtype) {
  return dtype == KG_F32 ? "f32" : dtype == KG_F16 ? "f16" : dtype == KG_BF16 ? "bf16" : "integer";
}

/* NULL: a kernel takes it; else why none does. */
static const char *unsupported(const kg_gather_qmm *c) {
  if (c->dtype != KG_F32 && c->dtype != KG_F16 && c->dtype != KG_BF16)
    return "x must be f32, f16 or bf16";
  if (c->K == 0 || c->K % 32) return "K must be a multiple of 32";
  if (c->mxfp4) return c->group_size == 32 ? NULL : "an MXFP4 scale covers 32 columns";
  if (c->bits != 4 && c->bits != 6 && c->bits != 8) return "affine codes must have 4, 6 or 8 bits";
  if (c->group_size == 0 || c->group_size % 32 || c->K % c->group_size)
    return "group_size must be a multiple of 32 and divide K";
  return NULL;
}

static kg_gather_route said(kg_gather_route route, const char *sentence, kg_error *why) {
  kg_fail(why, KG_OK, "gather_qmm: %s", sentence);
  return route;
}

kg_gather_route kg_gather_qmm_route(const kg_gather_qmm *c, kg_error *why) {
  const unsigned long long batch = c->batch, experts = c->experts, M = c->M;
  const char *const no = unsupported(c);
  if (no) return said(KG_GATHER_NONE, no, why);
  if (c->batch > KG_GATHER_ROWS) {
    kg_fail(why, KG_OK, "gather_qmm: %llu rows, more than %d; split the call", batch,
            (int)KG_GATHER_ROWS);
    return KG_GATHER_NONE;
  }
  if (!c->sorted) return said(KG_GATHER_GENERIC, "generic: the experts are not sorted", why);
  if (c->M != 1) {
    kg_fail(why, KG_OK, "gather_qmm: generic: %llu rows of x to an index, not 1", M);
    return KG_GATHER_GENERIC;
  }
  if (c->dtype == KG_F32) {
    kg_fail(why, KG_OK, "gather_qmm: generic: x is %s, not f16 or bf16", dtype_name(c->dtype));
    return KG_GATHER_GENERIC;
  }
  if (!c->mxfp4 && c->bits == 6)
    return said(KG_GATHER_GENERIC, "generic: codes of 6 bits, not 4 or 8", why);
  if (c->batch < BATCH_LEAST) {
    kg_fail(why, KG_OK, "gather_qmm: generic: %llu rows, fewer than %d", batch, BATCH_LEAST);
    return KG_GATHER_GENERIC;
  }
  if (c->experts > EXPERTS_MOST) {
    kg_fail(why, KG_OK, "gather_qmm: generic: %llu experts, more than %d", experts, EXPERTS_MOST);
    return KG_GATHER_GENERIC;
  }
  if (c->experts == 0 || c->batch / c->experts < ROWS_TO_AN_EXPERT) {
    kg_fail(why, KG_OK, "gather_qmm: generic: %llu rows for %llu experts, fewer than %d each",
            batch, experts, ROWS_TO_AN_EXPERT);
    return KG_GATHER_GENERIC;
  }
  kg_fail(why, KG_OK, "gather_qmm: expert-batched: %llu sorted rows for %llu experts", batch,
          experts);
  return KG_GATHER_EXPERT_BATCHED;
}

/* ---- views ----------------------------------------------------------------------------------- */

typedef struct Axis {
  int64_t size, lhs, rhs;
} Axis;

/* One step of `outer` is a whole walk along `inner`, in both arrays. */
static bool steps_evenly(Axis outer, Axis inner) {
  return outer.lhs == inner.lhs * inner.size && outer.rhs == inner.rhs * inner.size;
}

/* How many elements the view spans; 0 where 32 bits do not hold it. */
static uint32_t span(const Axis *axis, bool rhs) {
  uint64_t last = 0; /* sizes are below 2^26, strides below 2^32 */
  for (int i = 0; i < 2; i++)
    last += (uint64_t)(axis[i].size - 1) * (uint64_t)(rhs ? axis[i].rhs : axis[i].lhs);
  return last < UINT32_MAX ? (uint32_t)last + 1 : 0;
}

static kg_status count_rows(int rank, const int64_t *shape, int64_t *rows, kg_error *error) {
  *rows = 1;
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 0)
      return kg_fail(error, KG_BAD_ARGUMENT, "kg_gather_view_of: dimension %d has a negative size",
                     d);
    if (shape[d] == 0) *rows = 0;
  }
  for (int d = 0; d < rank && *rows > 0; d++) {
    if (shape[d] > KG_GATHER_ROWS / *rows)
      return kg_fail(error, KG_TOO_LARGE, "kg_gather_view_of: the batch has more than %d rows",
                     (int)KG_GATHER_ROWS);
    *rows *= shape[d];
  }
  return KG_OK;
}

kg_status kg_gather_view_of(int rank, const int64_t *shape, const int64_t *lhs_strides,
                            const int64_t *rhs_strides, kg_gather_view *view, kg_error *error) {
  if (!view || (rank > 0 && (!shape || !lhs_strides || !rhs_strides)))
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_gather_view_of: shape, strides and view must not be null");
  int64_t rows;
  const kg_status s = count_rows(rank, shape, &rows, error);
  if (s != KG_OK) return s;
  Axis axis[2] = {{1, 0, 0}, {1, 0, 0}}; /* outer, inner */
  int used = 0;
  for (int d = rank - 1; d >= 0; d--) { /* from the fastest */
    const Axis a = {shape[d], lhs_strides[d], rhs_strides[d]};
    if (a.lhs < 0 || a.rhs < 0)
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_gather_view_of: dimension %d has a negative stride", d);
    if (a.size == 1 || rows == 0) continue;
    if (a.lhs > UINT32_MAX || a.rhs > UINT32_MAX)
      return kg_fail(error, KG_TOO_LARGE,
                     "kg_gather_view_of: the strides of dimension %d must fit 32 bits", d);
    Axis *last = used ? &axis[2 - used] : NULL;
    if (last && steps_evenly(a, *last)) {
      last->size *= a.size;
      continue;
    }
    if (used == 2)
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_gather_view_of: the index arrays step in more than two ways; make one "
                     "contiguous");
    axis[1 - used++] = a;
  }
  if (rows == 0) {
    *view = (kg_gather_view){.B0 = 0, .B1 = 1};
    return KG_OK;
  }
  const uint32_t lhs_count = span(axis, false), rhs_count = span(axis, true);
  if (!lhs_count || !rhs_count)
    return kg_fail(error, KG_TOO_LARGE, "kg_gather_view_of: places of indices must fit 32 bits");
  if (used == 1) { /* a batch of one dimension goes along B0 */
    axis[0] = axis[1];
    axis[1] = (Axis){1, 0, 0};
  }
  *view = (kg_gather_view){(uint32_t)axis[0].size,
                           (uint32_t)axis[1].size,
                           (uint32_t)axis[0].lhs,
                           (uint32_t)axis[1].lhs,
                           (uint32_t)axis[0].rhs,
                           (uint32_t)axis[1].rhs,
                           lhs_count,
                           rhs_count};
  return KG_OK;
}

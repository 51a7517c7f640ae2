/* host.c: see host.h. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "lib/host/philox.h"

/* ---- parameters ------------------------------------------------------------------------------ */

kg_status kg_rejection_params(uint32_t top_k, float top_p, float min_p, float params[3],
                              kg_error *error) {
  if (!params)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_rejection_params: params must not be null");
  if (!(top_p > 0 && top_p <= 1))
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_rejection_params: top_p is %g, but must be above 0 and at most 1 (off)",
                   (double)top_p);
  if (!(min_p >= 0 && min_p < 1))
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_rejection_params: min_p is %g, but must be at least 0 (off) and below 1",
                   (double)min_p);
  params[0] = (float)top_k;
  params[1] = top_p;
  params[2] = min_p;
  return KG_OK;
}

static bool uses_k(const float params[3], uint64_t entries) {
  return params[0] >= 1 && (double)params[0] < (double)entries;
}
static bool uses_p(const float params[3]) { return params[1] > 0 && params[1] < 1; }
static bool uses_min_p(const float params[3]) { return params[2] > 0 && params[2] < 1; }

bool kg_rejection_pays(const float params[3], uint64_t entries, const char *backend) {
  if (!params || !uses_p(params)) return false;
  const bool hip = backend && strcmp(backend, "hip") == 0;
  return !uses_k(params, entries) || entries <= (hip ? 152064u : 32768u);
}

/* ---- a row on the host ----------------------------------------------------------------------- */

static int falling(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x < y) - (x > y);
}

/* The entries above zero, in falling order; how many. */
static size_t sorted(const float *probs, size_t entries, float *to) {
  size_t n = 0;
  for (size_t i = 0; i < entries; i++)
    if (probs[i] > 0) to[n++] = probs[i];
  qsort(to, n, sizeof *to, falling);
  return n;
}

/* The smallest value that the filters keep, of n >= 1 in falling order. */
static float least_kept(const float *p, size_t n, const float params[3], size_t entries) {
  double mass = 0, over = 0;
  for (size_t i = 0; i < n; i++) mass += (double)p[i];
  float least = p[0];
  size_t above = 0; /* entries strictly above p[i], with mass `over` */
  for (size_t i = 0; i < n; i++) {
    for (; p[above] > p[i]; above++) over += (double)p[above];
    if (uses_k(params, entries) && above >= (size_t)params[0]) break;
    if (uses_p(params) && over > (double)params[1] * mass) break;
    if (uses_min_p(params) && p[i] < params[2] * p[0]) break;
    least = p[i];
  }
  return least;
}

static uint32_t largest(const float *probs, size_t entries) {
  size_t best = 0;
  float value = 0;
  for (size_t i = 0; i < entries; i++)
    if (probs[i] > value) {
      value = probs[i];
      best = i;
    }
  return (uint32_t)best;
}

static double weight(const float *probs, const float *draw, size_t i, float least) {
  return probs[i] >= least && draw[i] > 0 ? (double)draw[i] : 0;
}

kg_status kg_rejection_draw(const kg_rejection_call *call, size_t row, double u, uint32_t *id,
                            kg_error *error) {
  if (!call || !id || !call->probs || !call->draw || !call->params)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_rejection_draw: a pointer is null");
  if (row >= call->rows || call->entries == 0 || call->entries > UINT32_MAX)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_rejection_draw: row %zu of %zu with %zu entries",
                   row, call->rows, call->entries);
  if (!(u > 0 && u < 1))
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_rejection_draw: u is %g, not between 0 and 1", u);
  const float *probs = call->probs + row * call->entries, *draw = call->draw + row * call->entries;
  float *order = malloc(call->entries * sizeof *order);
  if (!order) return kg_fail(error, KG_OUT_OF_MEMORY, "kg_rejection_draw: out of memory");
  const size_t n = sorted(probs, call->entries, order);
  const float least = n ? least_kept(order, n, call->params + 3 * row, call->entries) : 1;
  free(order);
  *id = largest(probs, call->entries);
  double all = 0, sum = 0;
  for (size_t i = 0; n && i < call->entries; i++) all += weight(probs, draw, i, least);
  for (size_t i = 0; n && i < call->entries; i++) {
    sum += weight(probs, draw, i, least);
    if (sum <= u * all) continue;
    *id = (uint32_t)i;
    break;
  }
  return KG_OK;
}

kg_status kg_rejection_finish(const kg_rejection_call *call, const uint32_t *ok, uint32_t *ids,
                              size_t *redrawn, kg_error *error) {
  if (redrawn) *redrawn = 0;
  if (!call || ((!ok || !ids) && call->rows))
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_rejection_finish: a pointer is null");
  for (size_t row = 0; row < call->rows; row++) {
    if (ok[row]) continue;
    const uint32_t counter[4] = {call->max_rounds, 0, (uint32_t)row, 0};
    uint32_t words[4];
    kg_philox4x32_10(counter, call->key, words);
    const double u = (double)kg_philox_uniform(words[0]);
    const kg_status s = kg_rejection_draw(call, row, u, &ids[row], error);
    if (s != KG_OK) return s;
    if (redrawn) ++*redrawn;
  }
  return KG_OK;
}

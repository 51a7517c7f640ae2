/* host.c: see host.h. */
#include "host.h"

#include <stdlib.h>

enum { LEAST_LATENT_ROWS = 128 };

kg_status kg_mla_plan_make(size_t batch, uint32_t heads, uint64_t rows, uint32_t target,
                           kg_mla_plan *plan, kg_error *error) {
  if (!plan) return kg_fail(error, KG_BAD_ARGUMENT, "kg_mla_plan_make: plan must not be null");
  *plan = (kg_mla_plan){0};
  if (heads == 0) return kg_fail(error, KG_BAD_ARGUMENT, "kg_mla_plan_make: heads must be above 0");
  if (batch == 0 || rows == 0)
    return kg_fail(error, KG_REQUIRE_FAILED,
                   "kg_mla_plan_make: %zu requests of %llu rows: there is nothing to attend to",
                   batch, (unsigned long long)rows);
  if (batch > INT32_MAX)
    return kg_fail(error, KG_TOO_LARGE, "kg_mla_plan_make: %zu requests; an i32 counts %d", batch,
                   INT32_MAX);
  const uint64_t groups = (uint64_t)batch * heads; /* with one chunk each */
  const uint64_t wanted = target / groups + (target % groups != 0);
  uint64_t chunks = rows / LEAST_LATENT_ROWS;
  if (chunks > wanted) chunks = wanted;
  if (chunks == 0) chunks = 1;
  const uint64_t chunk_rows = (rows - 1) / chunks + 1;
  chunks = (rows - 1) / chunk_rows + 1; /* the last may have become empty */
  if (chunks > INT32_MAX / batch)
    return kg_fail(error, KG_TOO_LARGE,
                   "kg_mla_plan_make: %zu requests of %llu chunks; an i32 counts %d parts", batch,
                   (unsigned long long)chunks, INT32_MAX);
  int32_t *o_indptr = malloc((batch + 1) * sizeof *o_indptr);
  if (!o_indptr)
    return kg_fail(error, KG_OUT_OF_MEMORY, "kg_mla_plan_make: no memory for %zu requests", batch);
  for (size_t b = 0; b <= batch; b++) o_indptr[b] = (int32_t)(b * chunks);
  *plan = (kg_mla_plan){batch, (uint32_t)chunks, chunk_rows, chunks > 1, o_indptr};
  return KG_OK;
}

void kg_mla_plan_free(kg_mla_plan *plan) {
  if (!plan) return;
  free(plan->o_indptr);
  *plan = (kg_mla_plan){0};
}

/* host.h: the chunks of a latent cache (absorbed MLA), whose partial results paged_merge joins.
** Plain C; no device is touched.  What is made here is freed here. */
#ifndef KG_PAGED_MERGE_HOST_H
#define KG_PAGED_MERGE_HOST_H

#include "kg.h"

/* One token's attention over a latent cache [batch, rows, rank], cut along its rows: chunk c of
** every request has the rows from c * chunk_rows on, the last chunk those that are left.  The graph
** makes each chunk's softmax and log2-sum; paged_merge's inputs are then
**
**   v_in [batch * chunks, heads, rank], lse_in [batch * chunks, heads], o_indptr [batch + 1]
**
** with chunk c of request b as part b * chunks + c: o_indptr is 0, chunks, 2 * chunks, ... */
typedef struct kg_mla_plan {
  size_t batch;
  uint32_t chunks; /* of each request */
  uint64_t chunk_rows;
  bool merge;        /* chunks is above 1 */
  int32_t *o_indptr; /* [batch + 1] */
} kg_mla_plan;

/* As many chunks as make batch * heads * chunks reach `target` (kg_paged_target_groups of
** paged_v2_partial/host.h), but none of less than 128 rows save the last.  KG_REQUIRE_FAILED: batch
** or rows is 0, so there is nothing to attend to.  KG_BAD_ARGUMENT: heads is 0, a null pointer.
** KG_TOO_LARGE: more parts than an i32 counts.  KG_OUT_OF_MEMORY.  On failure *plan is empty. */
kg_status kg_mla_plan_make(size_t batch, uint32_t heads, uint64_t rows, uint32_t target,
                           kg_mla_plan *plan, kg_error *error);
void kg_mla_plan_free(kg_mla_plan *plan);

#endif

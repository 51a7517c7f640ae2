/* host.h: how a launch of paged_v2_partial is cut, and which chunk has which pages of a page table
** (lib/host/pages.h).  Plain C over host memory; no device is touched.  What is made here is freed
** here; an error says which request it is about.
**
**   kg_paged_v2_geometry      heads of a group and teams, from the model's shape
**   kg_paged_pages_per_chunk  how long chunks are, to fill a device
**   kg_paged_plan_make        the chunks, and which of them paged_merge joins
**
** When the plan has one chunk a request (merge is false) out_v is the answer already. */
#ifndef KG_PAGED_V2_PARTIAL_HOST_H
#define KG_PAGED_V2_PARTIAL_HOST_H

#include "lib/host/pages.h"

/* ---- cutting a launch ------------------------------------------------------------------------ */

/* The constant RUNS of the instance, its scalars `heads` and `teams`, and the groups that share a KV
** head. */
typedef struct kg_paged_geometry {
  uint32_t runs, heads, head_groups, teams;
} kg_paged_geometry;

/* heads is the largest divisor of q_heads / kv_heads that leaves each of 32 lanes no more than 32
** elements of query, and is 8 at most; teams is the largest power of two up to 8 whose rows of all
** heads fit into 28 KiB.  KG_BAD_ARGUMENT: a size is 0, head_dim is over 1024, or q_heads is
** no multiple of kv_heads. */
kg_status kg_paged_v2_geometry(uint32_t head_dim, uint32_t q_heads, uint32_t kv_heads,
                               kg_paged_geometry *geometry, kg_error *error);

/* Whether chunks are worth their second launch: with one request from 4096 visible tokens on, with
** more from 512 a request. */
bool kg_paged_v2_pays(uint64_t tokens, size_t requests);

/* ---- chunks ---------------------------------------------------------------------------------- */

/* How many groups a launch should have: 8 for each core of an Apple GPU but no fewer than 64; 512
** elsewhere (cores = 0). */
uint32_t kg_paged_target_groups(uint32_t apple_cores);

/* Chunks of a table: of each request its pages / pages_per_chunk rounded up, and 1 at least. */
uint64_t kg_paged_chunks(const kg_page_table *table, uint32_t pages_per_chunk);

/* The largest number of pages a chunk with which the launch still has `target` groups,
** groups_a_chunk for each chunk (Hq / heads); `least` (1 when 0) when none reaches it, and never
** more than the longest request has. */
uint32_t kg_paged_pages_per_chunk(const kg_page_table *table, uint32_t groups_a_chunk,
                                  uint32_t target, uint32_t least);

/* Chunk c is number kv_tile_indices[c] of request request_indices[c]; request r's are those from
** o_indptr[r] to o_indptr[r + 1], which is paged_merge's input of that name.  A chunk's number is
** on the grid's first axis, so there may be more than 65535. */
typedef struct kg_paged_plan {
  size_t requests, chunks;
  uint32_t pages_per_chunk;
  bool merge;                                 /* some request has more than one chunk */
  int32_t *request_indices, *kv_tile_indices; /* [chunks] */
  int32_t *o_indptr;                          /* [requests + 1] */
} kg_paged_plan;

/* KG_REQUIRE_FAILED: no request sees a token, so there is nothing to attend to and the caller
** writes zeros.  KG_BAD_ARGUMENT: pages_per_chunk is 0.  KG_TOO_LARGE: more chunks than an i32
** counts.  KG_OUT_OF_MEMORY.  On failure *plan is empty. */
kg_status kg_paged_plan_make(const kg_page_table *table, uint32_t pages_per_chunk,
                             kg_paged_plan *plan, kg_error *error);
void kg_paged_plan_free(kg_paged_plan *plan);

#endif

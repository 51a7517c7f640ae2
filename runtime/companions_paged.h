/* companions_paged.h: the host's half of paged_attention, paged_v2_partial and paged_merge: how a
** launch is cut, which pages it reads, and which chunk has which of them.  Plain C over host
** memory; no device is touched.  What is made here is freed here; an error says which request it is
** about.
**
**   kg_page_table_make        the pages that the requests see, from their block tables
**   kg_paged_v2_geometry      heads of a group and teams, from the model's shape
**   kg_paged_pages_per_chunk  how long chunks are, to fill a device
**   kg_paged_plan_make        the chunks, and which of them paged_merge joins
**   kg_sparse_table_make      a table of single rows: the blocks that were selected
**   kg_mla_plan_make          the chunks of a latent cache, whose partial results paged_merge joins
**
** When the plan has one chunk a request (merge is false) out_v is the answer already. */
#ifndef KG_COMPANIONS_PAGED_H
#define KG_COMPANIONS_PAGED_H

#include "kg.h"

/* ---- cutting a launch ------------------------------------------------------------------------ */

/* paged_attention's `splits`: how many teams share a head's tokens, as many as 28 KiB hold f32 rows
** of head_dim elements, from 1 to 32.  `wanted`, when it is not 0, is taken up to that number. */
uint32_t kg_paged_splits(uint32_t head_dim, uint32_t wanted);

/* paged_attention's constant THREADS: 1024 for heads of up to 512 elements, 512 for those of up to
** 1024.  0 where head_dim is 0 or over 1024: no instance takes it. */
uint32_t kg_paged_threads(uint32_t head_dim);

/* paged_v2_partial: the constant RUNS of the instance, its scalars `heads` and `teams`, and the
** groups that share a KV head. */
typedef struct kg_paged_geometry { uint32_t runs, heads, head_groups, teams; } kg_paged_geometry;

/* heads is the largest divisor of q_heads / kv_heads that leaves each of 32 lanes no more than 32
** elements of query, and is 8 at most; teams is the largest power of two up to 8 whose rows of all
** heads fit into 28 KiB.  KG_BAD_ARGUMENT: a size is 0, head_dim is over 1024, or q_heads is
** no multiple of kv_heads. */
kg_status kg_paged_v2_geometry(uint32_t head_dim, uint32_t q_heads, uint32_t kv_heads,
                               kg_paged_geometry *geometry, kg_error *error);

/* Whether chunks are worth their second launch: with one request from 4096 visible tokens on, with
** more from 512 a request. */
bool kg_paged_v2_pays(uint64_t tokens, size_t requests);

/* ---- page tables ----------------------------------------------------------------------------- */

/* A request's block table: rows[i] is the physical page of its tokens from i * page_size on,
** negative where there is none.  It sees `visible` tokens from token `start` on, none when that is
** not above 0. */
typedef struct kg_paged_request {
  const int32_t *rows;
  size_t row_count;
  int32_t start, visible;
} kg_paged_request;

/* The pages that each request sees, one request after the other.  Request r has indices[indptr[r]]
** up to indptr[r + 1]; its tokens begin at first_page_offset[r] in the first of them and end after
** last_page_len[r] slots of the last: they are
**
**   seq_lens[r] = (pages - 1) * page_size + last_page_len[r] - first_page_offset[r]
**
** A request that sees nothing has no page and zeros.  A page may be listed any number of times.
** paged_attention takes the same arrays: rows = indices, row_offsets = indptr, logical_starts =
** first_page_offset, visible_lens = seq_lens. */
typedef struct kg_page_table {
  size_t requests, index_count;
  uint32_t page_size;
  int32_t *indices;                                   /* [index_count] */
  int32_t *indptr;                                    /* [requests + 1] */
  int32_t *last_page_len, *first_page_offset, *seq_lens; /* [requests] */
} kg_page_table;

/* Lists the pages that are seen, and no other.  KG_BAD_ARGUMENT: page_size is 0 or over 65536, a
** window begins before token 0, ends past the block table, or has a page without a physical row.
** KG_TOO_LARGE: more pages than an i32 counts.  KG_OUT_OF_MEMORY.  On failure *table is empty. */
kg_status kg_page_table_make(const kg_paged_request *requests, size_t count, uint32_t page_size,
                             kg_page_table *table, kg_error *error);
void kg_page_table_free(kg_page_table *table);

/* All that the kernels rely on, for a table from elsewhere: indptr starts at 0, never falls and
** ends at index_count; offsets and lengths are within a page; the equation above holds; requests
** without pages have zeros; every index is below pool_pages and not negative.  KG_BAD_ARGUMENT with
** the request. */
kg_status kg_page_table_check(const kg_page_table *table, int64_t pool_pages, kg_error *error);

/* Visible tokens of all requests. */
uint64_t kg_page_table_tokens(const kg_page_table *table);

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
  bool merge; /* some request has more than one chunk */
  int32_t *request_indices, *kv_tile_indices; /* [chunks] */
  int32_t *o_indptr;                          /* [requests + 1] */
} kg_paged_plan;

/* KG_REQUIRE_FAILED: no request sees a token, so there is nothing to attend to and the caller
** writes zeros.  KG_BAD_ARGUMENT: pages_per_chunk is 0.  KG_TOO_LARGE: more chunks than an i32
** counts.  KG_OUT_OF_MEMORY.  On failure *plan is empty. */
kg_status kg_paged_plan_make(const kg_page_table *table, uint32_t pages_per_chunk,
                             kg_paged_plan *plan, kg_error *error);
void kg_paged_plan_free(kg_paged_plan *plan);

/* ---- sparse decode --------------------------------------------------------------------------- */

/* Attention to some blocks of a contiguous cache only, chosen anew for each token and KV head.
**
** paged_v2_partial runs on the cache as it stands: a page is one row of it, and a KV head of a
** sequence is a request.  With S = sequences, H = kv_heads and R = capacity,
**
**   cache [S, H, R, D]   is k_pool, v_pool [S * H * R, 1, 1, D]
**   q [S, Hq, 1, D]      is [S * H, Hq / H, 1, D]
**   out_v, or v_out      [S * H, Hq / H, D] is [S, Hq, D]
**
** without moving an element: kg_paged_v2_geometry gets q_heads = Hq / H and kv_heads = 1. */
typedef struct kg_sparse_cache {
  size_t sequences, kv_heads;
  int64_t capacity;            /* rows of a head, filled or not */
  const int32_t *starts, *ends; /* [sequences]: live rows are those from starts[s] up to ends[s] */
} kg_sparse_cache;

/* Block i is the rows from i * block_rows on, as far as they are live.  Head h of sequence s has
** the `top` entries from (s * kv_heads + h) * top on, in any order; a negative one is none. */
typedef struct kg_sparse_selection {
  const int32_t *blocks; /* [sequences, kv_heads, top] */
  size_t top;
  uint32_t block_rows;
} kg_sparse_selection;

/* The rows that are selected, in the order of the blocks, as a table of sequences * kv_heads
** requests with pages of one token; a head that selects none has no page.  kg_page_table_free frees
** it.  KG_BAD_ARGUMENT: a null pointer, block_rows is 0, live rows that are not within the cache, a
** block without a live row, or one that is listed twice (its rows would weigh twice).
** KG_TOO_LARGE: more rows in the cache than an i32 counts.  KG_OUT_OF_MEMORY.  On
** failure *table is empty. */
kg_status kg_sparse_table_make(const kg_sparse_cache *cache, const kg_sparse_selection *selection,
                               kg_page_table *table, kg_error *error);

/* Rows live in all heads of a cache that kg_sparse_table_make takes: what kg_page_table_tokens of
** its table is weighed against. */
uint64_t kg_sparse_live_rows(const kg_sparse_cache *cache);

/* Whether scattered rows beat attention to the whole live window: from 8 times as many live rows as
** selected ones on (measured by the first user: 0.77 of the speed at 4 times, 1.22 at 8).  With
** nothing selected there is nothing to launch: false. */
bool kg_sparse_pays(uint64_t live_rows, uint64_t selected_rows);

/* ---- absorbed MLA ---------------------------------------------------------------------------- */

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

/* As many chunks as make batch * heads * chunks reach `target` (kg_paged_target_groups), but none
** of less than 128 rows save the last.  KG_REQUIRE_FAILED: batch or rows is 0, so there is nothing
** to attend to.  KG_BAD_ARGUMENT: heads is 0, a null pointer.  KG_TOO_LARGE: more parts than an i32
** counts.  KG_OUT_OF_MEMORY.  On failure *plan is empty. */
kg_status kg_mla_plan_make(size_t batch, uint32_t heads, uint64_t rows, uint32_t target,
                           kg_mla_plan *plan, kg_error *error);
void kg_mla_plan_free(kg_mla_plan *plan);

#endif

/* pages.h: page tables, for paged_attention and paged_v2_partial: which pages a launch reads.  Plain
** C over host memory; no device is touched.  What is made here is freed here; an error says which
** request it is about.
**
**   kg_page_table_make     the pages that the requests see, from their block tables
**   kg_sparse_table_make   a table of single rows: the blocks that were selected */
#ifndef KG_HOST_PAGES_H
#define KG_HOST_PAGES_H

#include "kg.h"

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
  int32_t *indices;                                      /* [index_count] */
  int32_t *indptr;                                       /* [requests + 1] */
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
  int64_t capacity;             /* rows of a head, filled or not */
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

#endif

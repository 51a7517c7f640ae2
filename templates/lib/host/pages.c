/* pages.c: see pages.h. */
#include "pages.h"

#include <stdlib.h>

enum { LARGEST_PAGE = 65536, SPARSITY = 8 /* live rows to a selected one */ };

/* ---- page tables ----------------------------------------------------------------------------- */

static bool sees(const kg_paged_request *r) { return r->visible > 0; }

static int64_t first_page(const kg_paged_request *r, uint32_t page_size) {
  return r->start / (int64_t)page_size;
}

/* After the last one that is seen. */
static int64_t end_page(const kg_paged_request *r, uint32_t page_size) {
  return ((int64_t)r->start + r->visible - 1) / page_size + 1;
}

static kg_status request_check(const kg_paged_request *r, size_t number, uint32_t page_size,
                               kg_error *error) {
  const int64_t end = (int64_t)r->start + r->visible;
  if (r->start < 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_page_table_make: request %zu begins at token %d, before its first", number,
                   r->start);
  if ((uint64_t)end_page(r, page_size) > r->row_count)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_page_table_make: request %zu sees tokens %d to %lld, but its block table "
                   "ends at page %zu of %u tokens",
                   number, r->start, (long long)end - 1, r->row_count, page_size);
  if (!r->rows)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_page_table_make: request %zu has no block table",
                   number);
  for (int64_t p = first_page(r, page_size); p < end_page(r, page_size); p++)
    if (r->rows[p] < 0)
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_page_table_make: request %zu sees page %lld, which has no physical row: "
                     "was it written?",
                     number, (long long)p);
  return KG_OK;
}

/* One block for all five arrays. */
static bool table_alloc(kg_page_table *t) {
  const size_t most = SIZE_MAX / sizeof(int32_t) / 8;
  if (t->requests > most || t->index_count > most) return false;
  int32_t *at = malloc((t->index_count + 4 * t->requests + 1) * sizeof *at);
  if (!at) return false;
  t->indptr = at; /* the block's own address, for free() */
  t->last_page_len = at += t->requests + 1;
  t->first_page_offset = at += t->requests;
  t->seq_lens = at += t->requests;
  t->indices = at + t->requests;
  return true;
}

kg_status kg_page_table_make(const kg_paged_request *requests, size_t count, uint32_t page_size,
                             kg_page_table *table, kg_error *error) {
  if (!table) return kg_fail(error, KG_BAD_ARGUMENT, "kg_page_table_make: table must not be null");
  *table = (kg_page_table){0};
  if (count > 0 && !requests)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_page_table_make: requests must not be null");
  if (page_size == 0 || page_size > LARGEST_PAGE)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_page_table_make: pages of %u tokens; 1 to %d is expected", page_size,
                   LARGEST_PAGE);
  uint64_t pages = 0;
  for (size_t i = 0; i < count; i++) {
    const kg_paged_request *r = &requests[i];
    if (!sees(r)) continue;
    const kg_status s = request_check(r, i, page_size, error);
    if (s != KG_OK) return s;
    pages += (uint64_t)(end_page(r, page_size) - first_page(r, page_size));
    if (pages > INT32_MAX)
      return kg_fail(error, KG_TOO_LARGE,
                     "kg_page_table_make: up to request %zu the requests see %llu pages; an i32 "
                     "counts %d",
                     i, (unsigned long long)pages, INT32_MAX);
  }
  kg_page_table t = {.requests = count, .index_count = (size_t)pages, .page_size = page_size};
  if (!table_alloc(&t))
    return kg_fail(error, KG_OUT_OF_MEMORY, "kg_page_table_make: no memory for %llu pages",
                   (unsigned long long)pages);
  int32_t at = 0;
  for (size_t i = 0; i < count; i++) {
    const kg_paged_request *r = &requests[i];
    t.indptr[i] = at;
    t.last_page_len[i] = t.first_page_offset[i] = t.seq_lens[i] = 0;
    if (!sees(r)) continue;
    for (int64_t p = first_page(r, page_size); p < end_page(r, page_size); p++)
      t.indices[at++] = r->rows[p];
    t.first_page_offset[i] = (int32_t)(r->start % (int64_t)page_size);
    t.last_page_len[i] = (int32_t)(((int64_t)r->start + r->visible - 1) % page_size) + 1;
    t.seq_lens[i] = r->visible;
  }
  t.indptr[count] = at;
  *table = t;
  return KG_OK;
}

void kg_page_table_free(kg_page_table *table) {
  if (!table) return;
  free(table->indptr);
  *table = (kg_page_table){0};
}

static kg_status entry_check(const kg_page_table *t, size_t r, kg_error *error) {
  const int64_t pages = (int64_t)t->indptr[r + 1] - t->indptr[r], page = t->page_size;
  const int64_t last = t->last_page_len[r], first = t->first_page_offset[r], seen = t->seq_lens[r];
  if (pages < 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: request %zu has %lld pages: indptr falls from %d to %d", r,
                   (long long)pages, t->indptr[r], t->indptr[r + 1]);
  if (pages == 0) {
    if (last == 0 && first == 0 && seen == 0) return KG_OK;
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: request %zu has no page, but last_page_len %lld, "
                   "first_page_offset %lld and seq_len %lld; zeros are expected",
                   r, (long long)last, (long long)first, (long long)seen);
  }
  if (first < 0 || first >= page)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: request %zu begins at slot %lld of its first page; 0 to %lld is "
                   "expected",
                   r, (long long)first, (long long)page - 1);
  if (last < 1 || last > page)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: request %zu has %lld tokens in its last page; 1 to %lld is "
                   "expected",
                   r, (long long)last, (long long)page);
  const int64_t counted = (pages - 1) * page + last - first;
  if (counted < 1 || seen != counted)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: request %zu sees %lld tokens, but its %lld pages of %lld from slot "
                   "%lld to %lld of the last have %lld",
                   r, (long long)seen, (long long)pages, (long long)page, (long long)first,
                   (long long)last, (long long)counted);
  return KG_OK;
}

kg_status kg_page_table_check(const kg_page_table *table, int64_t pool_pages, kg_error *error) {
  const kg_page_table *t = table;
  if (!t || !t->indptr || (t->index_count && !t->indices) ||
      (t->requests && (!t->last_page_len || !t->first_page_offset || !t->seq_lens)))
    return kg_fail(error, KG_BAD_ARGUMENT, "page table: it and its arrays must not be null");
  if (t->page_size == 0 || t->page_size > LARGEST_PAGE)
    return kg_fail(error, KG_BAD_ARGUMENT, "page table: pages of %u tokens; 1 to %d is expected",
                   t->page_size, LARGEST_PAGE);
  if (t->indptr[0] != 0)
    return kg_fail(error, KG_BAD_ARGUMENT, "page table: indptr starts at %d; 0 is expected",
                   t->indptr[0]);
  for (size_t r = 0; r < t->requests; r++) {
    const kg_status s = entry_check(t, r, error);
    if (s != KG_OK) return s;
  }
  if ((uint64_t)t->indptr[t->requests] != t->index_count)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "page table: indptr ends at %d, but there are %zu indices",
                   t->indptr[t->requests], t->index_count);
  for (size_t r = 0; r < t->requests; r++)
    for (int32_t i = t->indptr[r]; i < t->indptr[r + 1]; i++)
      if (t->indices[i] < 0 || t->indices[i] >= pool_pages)
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "page table: page %d of request %zu is physical page %d; the pool has %lld",
                       i - t->indptr[r], r, t->indices[i], (long long)pool_pages);
  return KG_OK;
}

uint64_t kg_page_table_tokens(const kg_page_table *table) {
  uint64_t tokens = 0;
  for (size_t r = 0; r < table->requests; r++) tokens += (uint64_t)table->seq_lens[r];
  return tokens;
}

/* ---- sparse decode --------------------------------------------------------------------------- */

typedef struct Rows {
  int64_t first, end;
} Rows;

/* The live rows of a block; none when it lies outside. */
static Rows block_rows(const kg_sparse_cache *c, const kg_sparse_selection *s, size_t sequence,
                       int32_t block) {
  const int64_t first = (int64_t)block * s->block_rows, end = first + s->block_rows;
  const int64_t live = c->starts[sequence], live_end = c->ends[sequence];
  return (Rows){first > live ? first : live, end < live_end ? end : live_end};
}

static kg_status sparse_check(const kg_sparse_cache *c, const kg_sparse_selection *s,
                              kg_error *error) {
  if (!c || !s)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_sparse_table_make: cache, selection and table must not be null");
  const bool some = c->sequences > 0 && c->kv_heads > 0;
  if (some && (!c->starts || !c->ends || (s->top > 0 && !s->blocks)))
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_sparse_table_make: starts, ends and blocks must not be null");
  if (s->block_rows == 0)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_sparse_table_make: a block needs at least one row");
  if (some && (c->capacity < 0 || c->capacity > INT32_MAX || c->sequences > INT32_MAX ||
               c->kv_heads > INT32_MAX / c->sequences ||
               c->capacity > (int64_t)(INT32_MAX / (c->sequences * c->kv_heads))))
    return kg_fail(error, c->capacity < 0 ? KG_BAD_ARGUMENT : KG_TOO_LARGE,
                   "kg_sparse_table_make: a cache of %zu sequences, %zu heads and %lld rows; an "
                   "i32 counts %d rows",
                   c->sequences, c->kv_heads, (long long)c->capacity, INT32_MAX);
  for (size_t i = 0; some && i < c->sequences; i++)
    if (c->starts[i] < 0 || c->starts[i] > c->ends[i] || c->ends[i] > c->capacity)
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_sparse_table_make: sequence %zu has its live rows from %d up to %d, in a "
                     "cache of %lld",
                     i, c->starts[i], c->ends[i], (long long)c->capacity);
  return KG_OK;
}

/* How many rows request r selects, in *rows. */
static kg_status sparse_rows(const kg_sparse_cache *c, const kg_sparse_selection *s, size_t r,
                             uint64_t *rows, kg_error *error) {
  const size_t sequence = r / c->kv_heads, head = r % c->kv_heads;
  const int32_t *own = s->top > 0 ? s->blocks + r * s->top : NULL;
  *rows = 0;
  for (size_t i = 0; i < s->top; i++) {
    if (own[i] < 0) continue;
    const Rows live = block_rows(c, s, sequence, own[i]);
    if (live.first >= live.end)
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_sparse_table_make: head %zu of sequence %zu selects block %d of %u rows, "
                     "of which none is live",
                     head, sequence, own[i], s->block_rows);
    for (size_t j = 0; j < i; j++)
      if (own[j] == own[i])
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_sparse_table_make: head %zu of sequence %zu selects block %d twice",
                       head, sequence, own[i]);
    *rows += (uint64_t)(live.end - live.first);
  }
  return KG_OK;
}

kg_status kg_sparse_table_make(const kg_sparse_cache *cache, const kg_sparse_selection *selection,
                               kg_page_table *table, kg_error *error) {
  if (table) *table = (kg_page_table){0};
  kg_status status = sparse_check(table ? cache : NULL, selection, error);
  if (status != KG_OK) return status;
  const size_t requests = cache->sequences * cache->kv_heads;
  uint64_t rows = 0;
  for (size_t r = 0; r < requests; r++) {
    uint64_t own;
    status = sparse_rows(cache, selection, r, &own, error);
    if (status != KG_OK) return status;
    rows += own; /* of blocks that differ: no more than the cache has */
  }
  kg_page_table t = {.requests = requests, .index_count = (size_t)rows, .page_size = 1};
  if (!table_alloc(&t))
    return kg_fail(error, KG_OUT_OF_MEMORY, "kg_sparse_table_make: no memory for %llu rows",
                   (unsigned long long)rows);
  int32_t at = 0;
  for (size_t r = 0; r < requests; r++) {
    t.indptr[r] = at;
    for (size_t i = 0; i < selection->top; i++) {
      const int32_t block = selection->blocks[r * selection->top + i];
      if (block < 0) continue;
      const Rows live = block_rows(cache, selection, r / cache->kv_heads, block);
      for (int64_t row = live.first; row < live.end; row++)
        t.indices[at++] = (int32_t)((int64_t)r * cache->capacity + row);
    }
    t.seq_lens[r] = at - t.indptr[r];
    t.last_page_len[r] = t.seq_lens[r] > 0;
    t.first_page_offset[r] = 0;
  }
  t.indptr[requests] = at;
  *table = t;
  return KG_OK;
}

uint64_t kg_sparse_live_rows(const kg_sparse_cache *cache) {
  uint64_t rows = 0;
  for (size_t i = 0; i < cache->sequences; i++)
    rows += (uint64_t)((int64_t)cache->ends[i] - cache->starts[i]) * cache->kv_heads;
  return rows;
}

bool kg_sparse_pays(uint64_t live_rows, uint64_t selected_rows) {
  return selected_rows > 0 && live_rows / SPARSITY >= selected_rows;
}

/* paged_v2_partial: for each chunk and query head, softmax(scale q k) v over the chunk's tokens,
** and log2 of the sum of e^score.
**
** Chunk c has the pages from tile * pages_per_chunk on of those that its request lists, and of
** their tokens the ones that the request sees: from first_page_offset in its first page to
** last_page_len in its last.  Head h reads KV head h / (Hq / Hkv).  Nothing is rounded.  A chunk without a token
** gives zeros and -inf. */
#include "lib/ref/paged_pool.h"

/* Fillings as in paged_pool.h.  Requests get their chunks in order, an empty one too; if N asks for
** more, these are past the last request's pages. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  (void)seed;
  const ref_tensor *indices = ref_find(c, "indices"), *indptr = ref_find(c, "indptr");
  const ref_tensor *last = ref_find(c, "last_page_len"), *first = ref_find(c, "first_page_offset");
  const ref_tensor *request = ref_find(c, "request_indices");
  const ref_tensor *tile = ref_find(c, "kv_tile_indices");
  const int64_t requests = ref_int(c, "B"), page_size = ref_int(c, "page_size");
  const int64_t per_chunk = ref_int(c, "pages_per_chunk");
  paged_window *windows = calloc((size_t)requests + 1, sizeof *windows);
  int64_t chunk = 0;
  paged_lists(c, how, indices, indptr);
  for (int64_t r = 0; r < requests; r++) {
    const int64_t pages = indptr->whole[r + 1] - indptr->whole[r];
    windows[r] = paged_window_of(how, r, pages, page_size);
    first->whole[r] = windows[r].first;
    last->whole[r] = pages ? windows[r].first + windows[r].count - (pages - 1) * page_size : 0;
    const bool is_last = r == requests - 1;
    for (int64_t i = 0; chunk < request->count && (i == 0 || i * per_chunk < pages || is_last);
         i++, chunk++) {
      request->whole[chunk] = r;
      tile->whole[chunk] = i;
    }
  }
  paged_special(c, how, indices, indptr, windows);
  paged_poison(c, indices, indptr, windows);
  free(windows);
}

void reference(ref_call *c) {
  const paged_pool pool = paged_pool_of(c);
  const ref_tensor *q = ref_find(c, "q"), *v = ref_find(c, "out_v"), *lse = ref_find(c, "out_lse");
  const int64_t *indices = ref_find(c, "indices")->whole, *indptr = ref_find(c, "indptr")->whole;
  const int64_t *last = ref_find(c, "last_page_len")->whole;
  const int64_t *first = ref_find(c, "first_page_offset")->whole;
  const int64_t *requests = ref_find(c, "request_indices")->whole;
  const int64_t *tiles = ref_find(c, "kv_tile_indices")->whole;
  const int64_t Hq = ref_int(c, "Hq"), per_chunk = ref_int(c, "pages_per_chunk");
  for (int64_t chunk = 0; chunk < ref_int(c, "N"); chunk++) {
    const int64_t r = requests[chunk], pages = indptr[r + 1] - indptr[r];
    const int64_t seen = pages ? (pages - 1) * pool.page_size + last[r] - first[r] : 0;
    int64_t from = tiles[chunk] * per_chunk * pool.page_size - first[r];
    int64_t to = (tiles[chunk] + 1) * per_chunk * pool.page_size - first[r];
    if (from < 0) from = 0;
    if (to > seen) to = seen;
    for (int64_t h = 0; h < Hq; h++) {
      const int64_t at = chunk * Hq + h;
      lse->real[at] = paged_attend(&pool, q->real + (r * Hq + h) * pool.D, ref_real(c, "scale"),
                                   indices + indptr[r], h / (Hq / pool.heads), first[r] + from,
                                   first[r] + to, v->real + at * pool.D) /
                      log(2);
    }
  }
}

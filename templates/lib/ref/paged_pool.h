/* paged_pool.h: made-up page lists for the references of attention over pages, and attention of one
** query over some of a request's tokens, in doubles. */
#ifndef PAGED_POOL_H
#define PAGED_POOL_H

#include "reference.h"

/* The tokens that a request sees: from `first` on, counted from the first page it lists. */
typedef struct paged_window {
  int64_t first, count;
} paged_window;

typedef struct paged_pool { /* both pools are [pages, page_size, heads, D] */
  const ref_tensor *k, *v;
  int64_t pages, page_size, heads, D;
} paged_pool;

static inline paged_pool paged_pool_of(const ref_call *c) {
  const ref_tensor *k = ref_find(c, "k_pool");
  return (paged_pool){k, ref_find(c, "v_pool"), k->shape[0], k->shape[1], k->shape[2], k->shape[3]};
}

static inline int64_t paged_offset(const paged_pool *p, const int64_t *pages, int64_t token,
                                   int64_t head) {
  const int64_t page = pages[token / p->page_size], slot = token % p->page_size;
  return ((page * p->page_size + slot) * p->heads + head) * p->D;
}

/* Lists `listed->count` pages in all, each once and in no order; indptr gets where each request's
** begin.  "empty": the second of each two requests has none.  "shared": all requests' first two
** pages are the same ones. */
static inline void paged_lists(const ref_call *c, const char *how, const ref_tensor *listed,
                               const ref_tensor *indptr) {
  const int64_t requests = indptr->count - 1, pages = paged_pool_of(c).pages;
  const bool empty = strcmp(how, "empty") == 0, shared = strcmp(how, "shared") == 0;
  const int64_t filled = empty ? (requests + 1) / 2 : requests;
  for (int64_t r = 0; r <= requests; r++) {
    const int64_t before = empty ? (r + 1) / 2 : r; /* requests with pages, below r */
    indptr->whole[r] = filled > 0 ? listed->count * before / filled : listed->count;
  }
  const int64_t stride = pages % 7 ? 7 : 1; /* prime to pages */
  for (int64_t r = 0; r < requests; r++)
    for (int64_t i = indptr->whole[r]; i < indptr->whole[r + 1]; i++) {
      const int64_t own = i - indptr->whole[r];
      listed->whole[i] = shared && own < 2 ? own : (i * stride + 3) % (pages > 0 ? pages : 1);
    }
}

/* "window": from the middle of a page on.  "single": one token, near its page's end.  Otherwise all
** but a few of the last page's. */
static inline paged_window paged_window_of(const char *how, int64_t request, int64_t pages,
                                           int64_t page_size) {
  if (pages == 0) return (paged_window){0, 0};
  if (strcmp(how, "single") == 0) return (paged_window){page_size - 1 - request % page_size, 1};
  const int64_t end = pages * page_size - request % page_size;
  const int64_t first = strcmp(how, "window") == 0 ? (page_size / 2 + request) % page_size : 0;
  return first < end ? (paged_window){first, end - first} : (paged_window){0, end};
}

/* NaN wherever no request looks: what is read there shows. */
static inline void paged_poison(const ref_call *c, const ref_tensor *listed,
                                const ref_tensor *indptr, const paged_window *windows) {
  const paged_pool p = paged_pool_of(c);
  char *seen = calloc((size_t)(p.pages * p.page_size) + 1, 1);
  for (int64_t r = 0; r < indptr->count - 1; r++)
    for (int64_t i = 0; i < windows[r].count; i++)
      seen[paged_offset(&p, listed->whole + indptr->whole[r], windows[r].first + i, 0) /
           (p.heads * p.D)] = 1;
  for (int64_t i = 0; i < p.k->count; i++)
    if (!seen[i / (p.heads * p.D)]) p.k->real[i] = p.v->real[i] = NAN;
  free(seen);
}

/* "peaked": scores some ten times as far apart.  "special", three requests: a NaN among the keys of
** the first; in the second one key in three scores -inf; in the third all do. */
static inline void paged_special(const ref_call *c, const char *how, const ref_tensor *listed,
                                 const ref_tensor *indptr, const paged_window *windows) {
  const paged_pool p = paged_pool_of(c);
  const ref_tensor *q = ref_find(c, "q");
  for (int64_t i = 0; strcmp(how, "peaked") == 0 && i < q->count; i++) q->real[i] *= 10;
  if (strcmp(how, "special") != 0) return;
  for (int64_t i = 0; i < q->count; i += p.D) q->real[i] = 1;
  for (int64_t r = 0; r < indptr->count - 1; r++)
    for (int64_t t = 0; t < windows[r].count; t++)
      for (int64_t head = 0; head < p.heads; head++) {
        double *k = p.k->real +
                    paged_offset(&p, listed->whole + indptr->whole[r], windows[r].first + t, head);
        if (r == 0 && t == 1) *k = NAN;
        if (r == 2 || (r == 1 && t % 3 == 0)) *k = -INFINITY;
      }
}

/* out[D] = softmax(scale q k) v over tokens from `from` to `to`, and the natural log of the sum of
** e^score; zeros and -inf where no token has any weight. */
static inline double paged_attend(const paged_pool *p, const double *q, double scale,
                                  const int64_t *pages, int64_t head, int64_t from, int64_t to,
                                  double *out) {
  double *score = malloc(((size_t)(to > from ? to - from : 0) + 1) * sizeof *score);
  double top = -INFINITY, sum = 0;
  for (int64_t d = 0; d < p->D; d++) out[d] = 0;
  for (int64_t t = from; t < to; t++) {
    const double *k = p->k->real + paged_offset(p, pages, t, head);
    double dot = 0;
    for (int64_t d = 0; d < p->D; d++) dot += q[d] * k[d];
    score[t - from] = scale * dot;
    if (score[t - from] > top) top = score[t - from];
  }
  for (int64_t t = from; t < to; t++) {
    const double weight = score[t - from] == -INFINITY ? 0 : exp(score[t - from] - top);
    const double *v = p->v->real + paged_offset(p, pages, t, head);
    sum += weight;
    for (int64_t d = 0; d < p->D; d++) out[d] += weight * v[d];
  }
  for (int64_t d = 0; sum != 0 && d < p->D; d++) out[d] /= sum;
  free(score);
  return top + log(sum);
}

#endif

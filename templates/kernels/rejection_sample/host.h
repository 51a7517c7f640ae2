/* host.h: the host's half of rejection_sample.  Plain C over host memory of the caller's; no device
** is touched.
**
** Functions that can fail return KG_OK, or KG_BAD_ARGUMENT with a sentence in error (which may be
** NULL), or KG_OUT_OF_MEMORY. */
#ifndef KG_REJECTION_SAMPLE_HOST_H
#define KG_REJECTION_SAMPLE_HOST_H

#include "kg.h"

/* How many rounds any row can need, the kernel's max_rounds: each halves a range of 31-bit
** patterns. */
#define KG_REJECTION_ROUNDS 32

/* A row of the kernel's params.  top_k 0, top_p 1 and min_p 0 are off; refused are a top_p that is
** not in (0, 1] and a min_p that is not in [0, 1). */
kg_status kg_rejection_params(uint32_t top_k, float top_p, float min_p, float params[3],
                              kg_error *error);

/* Whether the kernel is the faster way for rows of `entries` with these params, by the first user's
** measurements: with top-p on, and with top-k beside it up to 32768 entries, on "hip" 152064.
** Anything else is better served by a sort or by gumbel_max_sample. */
bool kg_rejection_pays(const float params[3], uint64_t entries, const char *backend);

/* A call of the kernel as the host sees it, in f32: probs, draw [rows, entries], params
** [rows, 3]. */
typedef struct kg_rejection_call {
  const float *probs, *draw, *params;
  size_t rows, entries;
  uint32_t key[2], max_rounds;
} kg_rejection_call;

/* One row drawn on the host, in f64 and with a sort: the first entry, in the order of the indices,
** at which the weights of the kept ones exceed u times all of them.  u is in (0, 1).  What is kept
** is as the kernel keeps it: of equal entries all or none, top_p of the whole row's mass.  Entry 0
** for a row with nothing above zero; the largest entry where the kept ones have no weight. */
kg_status kg_rejection_draw(const kg_rejection_call *call, size_t row, double u, uint32_t *id,
                            kg_error *error);

/* For each row whose ok is 0 replaces the largest entry, which the kernel left in ids, by a draw
** from what the filters keep, made on the host with the word that the next round would have had.
** *redrawn, if not NULL, counts them. */
kg_status kg_rejection_finish(const kg_rejection_call *call, const uint32_t *ok, uint32_t *ids,
                              size_t *redrawn, kg_error *error);

#endif

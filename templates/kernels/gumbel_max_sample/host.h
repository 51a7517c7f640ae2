/* host.h: the host's half of gumbel_max_sample.  Plain C over host memory; no device is touched. */
#ifndef KG_GUMBEL_MAX_SAMPLE_HOST_H
#define KG_GUMBEL_MAX_SAMPLE_HOST_H

#include "kg.h"

/* How many groups should share a row of `entries` logits when there are `rows`
** rows: a power of two from 1 to 64, enough of them to give 64 groups in all, but none that would
** be left without entries.  A draw does not depend on it.  1 when either is 0. */
uint32_t kg_gumbel_splits(uint64_t entries, uint64_t rows);

/* tokens[row] is the index of the largest of the row's `splits` values; equal
** values give the lowest index, wherever it stands.  vals and idxs are [rows, splits] as the kernel
** wrote them, tokens has `rows` elements; all are host memory of the caller's. KG_BAD_ARGUMENT,
** with the row in the message: a NaN among the values (the kernel's answer to a temperature that is
** not above zero), no splits, a null pointer.  tokens of the rows before it are written. */
kg_status kg_gumbel_pick(const float *vals, const uint32_t *idxs, size_t rows, size_t splits,
                         uint32_t *tokens, kg_error *error);

#endif

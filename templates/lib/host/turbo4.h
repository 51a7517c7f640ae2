/* turbo4.h: the host's half of the kernels over TurboQuant's 4-bit values
** (turbo4_delegated_cold, sparse_v, turbo4_bulk_dequant_rotated, turbo4_delegated_steel): encoding,
** decoding, and the rotation that the kernels leave to be undone.  Plain C over host memory of the
** caller's; no device is touched.
**
** A vector v of `dim` elements, a power of two, is kept as
**
**   norm     ||v||, f16
**   codes    of y = D2 H D1 v / norm (or / 1 for norm 0): for each element the number of boundaries
**            below it; two codes a byte, the even element in the low half
**   rescale  norm / ||yhat||, f16, yhat the codebook's values of the codes: what is decoded has v's
**            norm
**
** with H the Walsh-Hadamard transform scaled by 1 / sqrt(dim), D1 and D2 diagonals of random signs.
** So v ~ D1 H D2 (rescale codebook[codes]).  Rotated, the elements of any v are about normal with
** variance 1 / dim, for which the codebook is made (Zandieh and others: "TurboQuant", 2025).
**
** Functions that can fail return KG_OK, or KG_BAD_ARGUMENT with a sentence in error (which may be
** NULL). */
#ifndef KG_HOST_TURBO4_H
#define KG_HOST_TURBO4_H

#include "kg.h"

#define KG_TURBO4_LEVELS 16
#define KG_TURBO4_MOST_DIM 2048 /* as the kernels take them */
#define KG_TURBO4_BLOCK 32      /* tokens that the first user's cache allots together */

/* What all vectors of a stream share. */
typedef struct kg_turbo4 {
  size_t dim;
  float codebook[KG_TURBO4_LEVELS];        /* ascending; the kernels' input */
  double boundaries[KG_TURBO4_LEVELS - 1]; /* the middles between neighbours */
  int8_t signs1[KG_TURBO4_MOST_DIM];       /* D1, D2: 1 or -1 */
  int8_t signs2[KG_TURBO4_MOST_DIM];
} kg_turbo4;

/* dim: a power of two from 8 to KG_TURBO4_MOST_DIM.  D1's seed is `seed`, D2's 0x9E3779B9 more; the
** keys of a cache have both 0x4B5F5345 further on, so that keys and values differ. */
kg_status kg_turbo4_init(kg_turbo4 *format, size_t dim, uint32_t seed, bool keys, kg_error *error);

/* Signs of a seed: x <- 1664525 x + 1013904223 mod 2^32 from x = seed (0xDEADBEEF for 0), -1 where
** the top bit of x is set. */
void kg_turbo4_signs(uint32_t seed, size_t dim, int8_t *signs);

/* The best 16 values for a normal distribution of variance 1 / dim: 100 rounds of Lloyd's, in f64,
** from the middle quantiles of 16 equally likely intervals.  Symmetric about 0. */
void kg_turbo4_centroids(size_t dim, double centroids[KG_TURBO4_LEVELS]);

/* vectors [count, dim] to packed [count, dim / 2] and rescale [count]; norms [count] may be NULL.
** Refused: an element that is not finite, a norm or rescale beyond f16's 65504. */
kg_status kg_turbo4_encode(const kg_turbo4 *format, const float *vectors, size_t count,
                           uint8_t *packed, uint16_t *rescale, uint16_t *norms, kg_error *error);

/* The way back, un-rotated: vectors [count, dim]. */
kg_status kg_turbo4_decode(const kg_turbo4 *format, const uint8_t *packed, const uint16_t *rescale,
                           size_t count, float *vectors, kg_error *error);

/* rows [count, dim] <- D2 H D1 rows, and D1 H D2 rows, each the other's inverse.  The second is for
** what the kernels give: a weighted sum of rotated values is the rotated sum. */
kg_status kg_turbo4_rotate(const kg_turbo4 *format, float *rows, size_t count, kg_error *error);
kg_status kg_turbo4_unrotate(const kg_turbo4 *format, float *rows, size_t count, kg_error *error);

/* turbo4_delegated_cold, sparse_v, turbo4_delegated_steel: the constant SLOTS of the instance for
** Tq query slots: 1, which holds no sums for slots that are not there, or 4, which reads a token
** once for four slots. */
uint32_t kg_turbo4_slots(uint64_t Tq);

#endif

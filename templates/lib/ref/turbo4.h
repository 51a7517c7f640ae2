/* turbo4.h: made-up TurboQuant rows, and one value of them. */
#ifndef TURBO4_H
#define TURBO4_H

#include "reference.h"

static inline uint64_t turbo4_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Codes of all kinds, factors near 1, a codebook about as it is for D = 128: not symmetric, so that
** a code counted from the other end shows. */
static inline void turbo4_fill(const ref_tensor *packed, const ref_tensor *rescale,
                               const ref_tensor *codebook, uint64_t seed) {
  uint64_t state = seed;
  for (int64_t i = 0; i < packed->count; i++)
    packed->whole[i] = (int64_t)(turbo4_random(&state) % 256);
  for (int64_t i = 0; i < rescale->count; i++)
    rescale->real[i] = 0.5 + (double)(turbo4_random(&state) % 1000) / 1000;
  for (int64_t i = 0; i < 16; i++)
    codebook->real[i] = ref_round(REF_F32, 0.032 * ((double)i - 7.5) + 0.003 * (double)(i % 3));
}

/* Value d of a token; tokens are counted through. */
static inline double turbo4_value(const ref_tensor *packed, const ref_tensor *rescale,
                                  const ref_tensor *codebook, int64_t token, int64_t d, int64_t D) {
  const int64_t byte = packed->whole[token * (D / 2) + d / 2];
  return codebook->real[d % 2 ? byte >> 4 : byte & 15] * rescale->real[token];
}

#endif

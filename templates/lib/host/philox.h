/* philox.h: the random words of both samplers, gumbel_max_sample and rejection_sample.  Plain C; no
** device is touched. */
#ifndef KG_HOST_PHILOX_H
#define KG_HOST_PHILOX_H

#include "kg.h"

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
** 2011).  Entry i of gumbel_max_sample's row has word i % 4 at counter {i / 4, 0, row, 0}; round r
** of rejection_sample's has word 0 at {r, 0, row, 0}.  The two words of a sampler's rng_key must be
** drawn anew for every call. */
void kg_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

/* The uniform number that the samplers make of a word: (its upper 23 bits + 1/2) / 2^23, strictly
** between 0 and 1 in f32 too. */
float kg_philox_uniform(uint32_t word);

#endif

/* host.h: how a launch of paged_attention is cut; lib/host/pages.h makes the pages that it reads.
** Plain C; no device is touched. */
#ifndef KG_PAGED_ATTENTION_HOST_H
#define KG_PAGED_ATTENTION_HOST_H

#include "kg.h"

/* The scalar `splits`: how many teams share a head's tokens, as many as 28 KiB hold f32 rows of
** head_dim elements, from 1 to 32.  `wanted`, when it is not 0, is taken up to that number. */
uint32_t kg_paged_splits(uint32_t head_dim, uint32_t wanted);

/* The constant THREADS: 1024 for heads of up to 512 elements, 512 for those of up to 1024.  0 where
** head_dim is 0 or over 1024: no instance takes it. */
uint32_t kg_paged_threads(uint32_t head_dim);

#endif

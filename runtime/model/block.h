/* block.h: where each argument stands in the block that an entry takes, as C lays out the entry's
** parameters: pointers, then dims, then scalars, each at a multiple of its own size. */
#ifndef KG_MODEL_BLOCK_H
#define KG_MODEL_BLOCK_H

#include "model/kernel.h"

typedef struct kg_block_field {
  kg_symbol symbol; /* an input, output, dim or scalar */
  uint32_t offset, bytes;
} kg_block_field;

enum {
  KG_MAX_FIELDS = KG_MAX_ARGS + KG_MAX_DIMS + KG_MAX_SCALARS,
  KG_MAX_BLOCK = 8 * KG_MAX_FIELDS /* no field is larger than a pointer */
};

/* Fills fields, in order; returns how many there are, and the block's size in *bytes. */
int kg_block_layout(const kg_kernel *kernel, kg_block_field fields[KG_MAX_FIELDS], uint32_t *bytes);

#endif

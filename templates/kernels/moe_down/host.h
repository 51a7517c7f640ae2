/* host.h: the tail of a mixture: the sum over experts of what moe_down wrote.  Plain C over host
** memory of the caller's; no device is touched. */
#ifndef KG_MOE_DOWN_HOST_H
#define KG_MOE_DOWN_HOST_H

#include "kg.h"

/* out[d] = the sum of partial[k, d] over the K experts, added in f32 in the order of k, rounded to
** out's dtype (f32, f16 or bf16) once.  To round each expert before the sum costs several per cent.
** partial is [experts, width] as moe_down wrote it; no experts give zeros.
** KG_BAD_ARGUMENT, with a sentence in error (which may be NULL): another dtype, a null pointer. */
kg_status kg_moe_sum(const float *partial, size_t experts, size_t width, kg_dtype dtype, void *out,
                     kg_error *error);

#endif

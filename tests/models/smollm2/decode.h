/* decode.h: decodes on a device, through the generated kernels alone:
**
**   fused_add_rms_norm    the residual's sum and each norm
**   qmv                   q, k and v in one, attention's output, down, and the logits (8 bits)
**   fused_rope_qk_append  the rotation, and k and v to their place in the pages
**   paged_attention       over pages of 16 tokens, the last page first
**   moe_gateup            gate, up and SwiGLU: a mixture of one expert
**
** Activations and the cache are f32.  The weights are the file's, packed for the kernels: a Q4_1
** block is affine as it stands, a Q8_0 code gets 128 added and a bias of -128 scales. */
#ifndef SMOLLM2_DECODE_H
#define SMOLLM2_DECODE_H

#include "model.h"

typedef struct decode decode;

/* A decode of at most `tokens` tokens on an open device; it and *m must outlive the decode.  Any of
** kg.h's statuses. */
kg_status decode_open(const model *m, kg_device *device, uint32_t tokens, decode **d,
                      kg_error *error);

/* The next token goes in; logits [vocabulary] of the one after it come out in host memory, unless
** NULL.  A token that does not exist KG_BAD_ARGUMENT; past the last token KG_TOO_LARGE; else what a
** launch reports. */
kg_status decode_step(decode *d, uint32_t token, float *logits, kg_error *error);

void decode_close(decode *d);

#endif

/* plain.h: decodes in double precision with plain loops and no kernel: what decode.h is held
** against.  It reads the file's blocks itself and shares no code with the kernels' packing. */
#ifndef SMOLLM2_PLAIN_H
#define SMOLLM2_PLAIN_H

#include "model.h"

typedef struct plain plain;

/* A decode of at most `tokens` tokens.  *m must outlive it.  KG_OUT_OF_MEMORY. */
kg_status plain_open(const model *m, uint32_t tokens, plain **p, kg_error *error);

/* The next token goes in; logits [vocabulary] of the one after it come out, unless NULL.  Past the
** last token KG_TOO_LARGE; a token that does not exist KG_BAD_ARGUMENT. */
kg_status plain_step(plain *p, uint32_t token, double *logits, kg_error *error);

void plain_close(plain *p);

#endif

/* model.h: a Llama model in a GGUF file as decoding needs it: its sizes, and its matrices and gains
** with their shapes checked.  Attention's rotation is of neighbouring pairs, which is how GGUF
** keeps the rows of a Llama's q and k.  The output matrix is the token embedding. */
#ifndef SMOLLM2_MODEL_H
#define SMOLLM2_MODEL_H

#include "gguf.h"

/* Weights in groups of 32 columns share a scale; both quantised formats here have that. */
enum { MODEL_GROUP = 32 };

typedef struct model_layer {
  const gguf_tensor *attn_norm, *ffn_norm; /* F32 [width] */
  const gguf_tensor *q, *k, *v, *out;      /* Q4_1, [columns, rows] */
  const gguf_tensor *gate, *up, *down;
} model_layer;

typedef struct model {
  gguf_file file;
  uint32_t layers, width, heads, kv_heads, head, feed_forward, vocabulary, context;
  float rope_base, eps;
  const gguf_tensor *embedding;   /* Q8_0 [width, vocabulary] */
  const gguf_tensor *output_norm; /* F32 [width] */
  model_layer *layer;             /* [layers] */
} model;

/* KG_BAD_ARGUMENT with the file and what is wrong; *m is empty then.  path must outlive *m. */
kg_status model_open(const char *path, model *m, kg_error *error);
void model_close(model *m);

#endif

/* plain.c: see plain.h.  The formulas of a Llama layer, one after the other:
**
**   h = x / sqrt(mean(x^2) + eps) * gain
**   q, k, v = Wq h, Wk h, Wv h;  pairs (2i, 2i + 1) of a head of q and k turn by
**                                position * base^(-2i / head)
**   a = sum over tokens of softmax(q . k / sqrt(head)) v;  x = x + Wo a
**   h as above;  x = x + Wdown(silu(Wgate h) * Wup h),  silu(g) = g / (1 + e^-g) */
#include <math.h>
#include <stdlib.h>

#include "device.h"
#include "plain.h"

struct plain {
  const model *m;
  uint32_t position, tokens;
  double *keys, *values; /* [layers, tokens, kv_heads * head] */
  double *x, *h, *q, *a, *gate, *up, *scores;
};

/* ---- weights -------------------------------------------------------------------------------- */

static double half(const uint8_t *from) { return kg_f64_from_f16(gguf_load_u16(from)); }

/* The 32 weights of a block: Q8_0 is a scale, then signed bytes. */
static void q8_0(const uint8_t *block, double w[MODEL_GROUP]) {
  const double scale = half(block);
  for (int i = 0; i < MODEL_GROUP; i++) w[i] = scale * (int8_t)block[2 + i];
}

/* Q4_1 is a scale and a minimum, then 16 bytes: their low halves come first. */
static void q4_1(const uint8_t *block, double w[MODEL_GROUP]) {
  const double scale = half(block), least = half(block + 2);
  for (int i = 0; i < MODEL_GROUP / 2; i++) {
    w[i] = scale * (block[4 + i] & 15) + least;
    w[i + MODEL_GROUP / 2] = scale * (block[4 + i] >> 4) + least;
  }
}

static void block_weights(const gguf_tensor *t, size_t block, double w[MODEL_GROUP]) {
  if (t->dtype == GGUF_TENSOR_Q8_0)
    q8_0(t->data + block * 34, w);
  else
    q4_1(t->data + block * 20, w);
}

/* y = W x; W is [columns, rows] of blocks. */
static void multiply(const gguf_tensor *W, const double *x, double *y) {
  const size_t blocks = (size_t)W->shape[0] / MODEL_GROUP;
  for (size_t row = 0; row < (size_t)W->shape[1]; row++) {
    double sum[4] = {0}; /* side by side: one would wait for itself */
    for (size_t b = 0; b < blocks; b++) {
      double w[MODEL_GROUP];
      block_weights(W, row * blocks + b, w);
      const double *part = x + b * MODEL_GROUP;
      for (size_t i = 0; i < MODEL_GROUP; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += w[i + j] * part[i + j];
    }
    y[row] = sum[0] + sum[1] + (sum[2] + sum[3]);
  }
}

/* ---- the parts of a layer ------------------------------------------------------------------- */

static void norm(const plain *p, const gguf_tensor *gain, const double *x, double *h) {
  const uint32_t n = p->m->width;
  double squares = 0;
  for (uint32_t i = 0; i < n; i++) squares += x[i] * x[i];
  const double inverse = 1 / sqrt(squares / n + (double)p->m->eps);
  for (uint32_t i = 0; i < n; i++)
    h[i] = x[i] * inverse * (double)gguf_load_f32(gain->data + (size_t)i * 4);
}

static void rotate(const plain *p, double *heads, uint32_t count) {
  const uint32_t n = p->m->head;
  for (uint32_t i = 0; i < n; i += 2) {
    const double angle = p->position * pow((double)p->m->rope_base, -(double)i / n);
    const double c = cos(angle), s = sin(angle);
    for (uint32_t h = 0; h < count; h++) {
      double *pair = heads + (size_t)h * n + i;
      const double first = pair[0], second = pair[1];
      pair[0] = first * c - second * s;
      pair[1] = first * s + second * c;
    }
  }
}

static void softmax(double *scores, uint32_t count) {
  double most = scores[0], sum = 0;
  for (uint32_t i = 1; i < count; i++) most = fmax(most, scores[i]);
  for (uint32_t i = 0; i < count; i++) sum += scores[i] = exp(scores[i] - most);
  for (uint32_t i = 0; i < count; i++) scores[i] /= sum;
}

/* keys, values: this layer's, up to the present token. */
static void attend(plain *p, const double *keys, const double *values) {
  const uint32_t n = p->m->head, shared = p->m->heads / p->m->kv_heads;
  const size_t stride = (size_t)p->m->kv_heads * n;
  for (uint32_t h = 0; h < p->m->heads; h++) {
    const double *q = p->q + (size_t)h * n;
    double *a = p->a + (size_t)h * n;
    const size_t at = (size_t)(h / shared) * n;
    for (uint32_t t = 0; t <= p->position; t++) {
      double dot = 0;
      for (uint32_t i = 0; i < n; i++) dot += q[i] * keys[t * stride + at + i];
      p->scores[t] = dot / sqrt(n);
    }
    softmax(p->scores, p->position + 1);
    for (uint32_t i = 0; i < n; i++) {
      a[i] = 0;
      for (uint32_t t = 0; t <= p->position; t++)
        a[i] += p->scores[t] * values[t * stride + at + i];
    }
  }
}

static void layer(plain *p, uint32_t number) {
  const model *m = p->m;
  const model_layer *l = &m->layer[number];
  const size_t stride = (size_t)m->kv_heads * m->head;
  double *keys = p->keys + number * p->tokens * stride;
  double *values = p->values + number * p->tokens * stride;
  double *k = keys + p->position * stride;

  norm(p, l->attn_norm, p->x, p->h);
  multiply(l->q, p->h, p->q);
  multiply(l->k, p->h, k);
  multiply(l->v, p->h, values + p->position * stride);
  rotate(p, p->q, m->heads);
  rotate(p, k, m->kv_heads);
  attend(p, keys, values);
  multiply(l->out, p->a, p->h);
  for (uint32_t i = 0; i < m->width; i++) p->x[i] += p->h[i];

  norm(p, l->ffn_norm, p->x, p->h);
  multiply(l->gate, p->h, p->gate);
  multiply(l->up, p->h, p->up);
  for (uint32_t i = 0; i < m->feed_forward; i++)
    p->gate[i] = p->gate[i] / (1 + exp(-p->gate[i])) * p->up[i];
  multiply(l->down, p->gate, p->h);
  for (uint32_t i = 0; i < m->width; i++) p->x[i] += p->h[i];
}

/* ---- the decode ----------------------------------------------------------------------------- */

kg_status plain_step(plain *p, uint32_t token, double *logits, kg_error *error) {
  const model *m = p->m;
  if (token >= m->vocabulary)
    return kg_fail(error, KG_BAD_ARGUMENT, "plain_step: token %u does not exist", (unsigned)token);
  if (p->position >= p->tokens)
    return kg_fail(error, KG_TOO_LARGE, "plain_step: there is room for %u tokens",
                   (unsigned)p->tokens);
  const size_t blocks = m->width / MODEL_GROUP;
  for (size_t b = 0; b < blocks; b++)
    block_weights(m->embedding, token * blocks + b, p->x + b * MODEL_GROUP);
  for (uint32_t i = 0; i < m->layers; i++) layer(p, i);
  if (logits) {
    norm(p, m->output_norm, p->x, p->h);
    multiply(m->embedding, p->h, logits);
  }
  p->position++;
  return KG_OK;
}

kg_status plain_open(const model *m, uint32_t tokens, plain **out, kg_error *error) {
  plain *p = calloc(1, sizeof *p);
  *out = p;
  if (p) {
    const size_t cache = (size_t)m->layers * tokens * m->kv_heads * m->head;
    *p = (plain){.m = m, .tokens = tokens};
    p->keys = calloc(cache, sizeof(double));
    p->values = calloc(cache, sizeof(double));
    p->x = calloc(m->width, sizeof(double));
    p->h = calloc(m->width, sizeof(double));
    p->q = calloc(m->width, sizeof(double));
    p->a = calloc(m->width, sizeof(double));
    p->gate = calloc(m->feed_forward, sizeof(double));
    p->up = calloc(m->feed_forward, sizeof(double));
    p->scores = calloc(tokens, sizeof(double));
    if (p->keys && p->values && p->x && p->h && p->q && p->a && p->gate && p->up && p->scores)
      return KG_OK;
  }
  plain_close(p);
  *out = NULL;
  return kg_fail(error, KG_OUT_OF_MEMORY, "plain_open: out of memory");
}

void plain_close(plain *p) {
  if (!p) return;
  double *const parts[] = {p->keys, p->values, p->x, p->h, p->q, p->a, p->gate, p->up, p->scores};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]);
  free(p);
}

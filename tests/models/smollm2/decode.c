/* decode.c: see decode.h.  All device memory of a decode is in one list; decode_close frees it. */
#include <math.h>
#include <stdlib.h>

#include "kernels/paged_attention/host.h"
#include "lib/host/pages.h"
#include "lib/host/quant.h"
#include "decode.h"
#include "device.h"
#include "kernels.h"

enum { PAGE = 16 };

/* Packed weights [rows, columns], with a 1 before it where a kernel counts experts. */
typedef struct packed {
  kg_tensor words, scales, biases;
  int bits;
} packed;

typedef struct decode_layer {
  kg_tensor attn_norm, ffn_norm;
  packed qkv, out, gate, up, down;
  kg_tensor keys, values; /* [pages, PAGE, kv_heads, head] */
} decode_layer;

struct decode {
  const model *m;
  kg_device *device;
  uint32_t position, tokens, pages;
  int32_t *page_of; /* [pages]: where the tokens from i * PAGE on are */
  float *row;       /* [width]: of the embedding, on the host */
  void **memory;    /* on the device */
  size_t memory_count, memory_room;
  decode_layer *layer;
  packed embedding;
  kg_tensor output_norm;
  kg_tensor zeros, delta, normed; /* [1, width] */
  kg_tensor residual, next;       /* [1, width]: read and written, then exchanged */
  kg_tensor qkv, q, attended, activation;
  kg_tensor expert;                             /* u32 [1]: number 0 */
  kg_tensor rows, row_offsets, starts, visible; /* the page table */
  kg_tensor logits;                             /* [1, vocabulary] */
};

/* ---- device memory -------------------------------------------------------------------------- */

static kg_status report(const decode *d, const char *what, kg_status s, kg_error *error) {
  if (s == KG_OK) return s;
  return kg_fail(error, s, "%s: %s", what, kg_device_message(d->device));
}

static kg_status out_of_memory(kg_error *error) {
  return kg_fail(error, KG_OUT_OF_MEMORY, "decode: out of memory on the host");
}

static kg_status make(decode *d, kg_dtype dtype, int rank, const int64_t *shape, kg_tensor *t,
                      kg_error *error) {
  if (d->memory_count == d->memory_room) {
    const size_t room = d->memory_room ? 2 * d->memory_room : 64;
    void **memory = realloc(d->memory, room * sizeof *memory);
    if (!memory) return out_of_memory(error);
    d->memory = memory;
    d->memory_room = room;
  }
  size_t bytes = kg_dtype_bytes(dtype);
  for (int i = 0; i < rank; i++) bytes *= (size_t)shape[i];
  void *data = NULL;
  const kg_status s = kg_device_alloc(d->device, bytes, &data);
  if (s != KG_OK) return report(d, "decode: memory for a tensor", s, error);
  d->memory[d->memory_count++] = data;
  *t = kg_tensor_of(d->device, data, dtype, rank, shape);
  return KG_OK;
}

static kg_status put(decode *d, const kg_tensor *t, const void *data, kg_error *error) {
  size_t bytes = kg_dtype_bytes(t->dtype);
  for (int i = 0; i < t->rank; i++) bytes *= (size_t)t->shape[i];
  return report(d, "decode: upload", kg_device_upload(d->device, t->data, data, bytes), error);
}

static kg_status make_with(decode *d, kg_dtype dtype, int rank, const int64_t *shape,
                           const void *data, kg_tensor *t, kg_error *error) {
  const kg_status s = make(d, dtype, rank, shape, t, error);
  return s == KG_OK ? put(d, t, data, error) : s;
}

/* The same data with another shape. */
static kg_tensor view(const kg_tensor *t, int rank, const int64_t *shape) {
  return kg_tensor_of(t->device, t->data, t->dtype, rank, shape);
}

/* ---- weights -------------------------------------------------------------------------------- */

/* A block's codes, and its scale and bias: weight = code * scale + bias. */
static void unpack(const gguf_tensor *t, size_t block, uint8_t codes[MODEL_GROUP], float *scale,
                   float *bias) {
  if (t->dtype == GGUF_TENSOR_Q8_0) { /* scale, 32 signed bytes */
    const uint8_t *b = t->data + block * 34;
    *scale = (float)kg_f64_from_f16(gguf_load_u16(b));
    *bias = -128 * *scale;
    for (int i = 0; i < MODEL_GROUP; i++) codes[i] = (uint8_t)(b[2 + i] ^ 0x80);
    return;
  }
  const uint8_t *b = t->data + block * 20; /* scale, minimum, low halves of 16 bytes, high halves */
  *scale = (float)kg_f64_from_f16(gguf_load_u16(b));
  *bias = (float)kg_f64_from_f16(gguf_load_u16(b + 2));
  for (int i = 0; i < MODEL_GROUP / 2; i++) {
    codes[i] = b[4 + i] & 15;
    codes[i + MODEL_GROUP / 2] = b[4 + i] >> 4;
  }
}

typedef struct host_packed {
  uint8_t *codes;
  uint32_t *words;
  float *scales, *biases;
} host_packed;

static void host_free(host_packed *h) {
  free(h->codes);
  free(h->words);
  free(h->scales);
  free(h->biases);
}

static kg_status host_pack(const gguf_tensor *t, int bits, host_packed *h, kg_error *error) {
  const size_t columns = (size_t)t->shape[0], rows = (size_t)t->shape[1];
  const size_t blocks = rows * columns / MODEL_GROUP;
  *h = (host_packed){
      .codes = malloc(rows * columns),
      .words = malloc(rows * kg_quant_words(columns, bits) * sizeof *h->words),
      .scales = malloc(blocks * sizeof *h->scales),
      .biases = malloc(blocks * sizeof *h->biases),
  };
  if (!h->codes || !h->words || !h->scales || !h->biases) return out_of_memory(error);
  for (size_t b = 0; b < blocks; b++)
    unpack(t, b, h->codes + b * MODEL_GROUP, &h->scales[b], &h->biases[b]);
  return kg_quant_pack(h->codes, rows, columns, bits, h->words, error);
}

static kg_tensor part_rows(const kg_tensor *t, int64_t first, int64_t rows) {
  const int64_t columns = t->shape[t->rank - 1], shape[] = {rows, columns};
  char *data = (char *)t->data + (size_t)(first * columns) * kg_dtype_bytes(t->dtype);
  return kg_tensor_of(t->device, data, t->dtype, 2, shape);
}

static kg_status put_rows(decode *d, const gguf_tensor *t, int64_t first, const packed *p,
                          kg_error *error) {
  const int64_t rows = (int64_t)t->shape[1];
  const kg_tensor words = part_rows(&p->words, first, rows);
  const kg_tensor scales = part_rows(&p->scales, first, rows);
  const kg_tensor biases = part_rows(&p->biases, first, rows);
  host_packed h = {0};
  kg_status s = host_pack(t, p->bits, &h, error);
  if (s == KG_OK) s = put(d, &words, h.words, error);
  if (s == KG_OK) s = put(d, &scales, h.scales, error);
  if (s == KG_OK) s = put(d, &biases, h.biases, error);
  host_free(&h);
  return s;
}

/* `count` matrices of equal columns, one below the other; rank 3 is one expert's. */
static kg_status pack(decode *d, const gguf_tensor *const *parts, size_t count, int rank, packed *p,
                      kg_error *error) {
  const size_t columns = (size_t)parts[0]->shape[0];
  int64_t rows = 0;
  for (size_t i = 0; i < count; i++) rows += (int64_t)parts[i]->shape[1];
  p->bits = parts[0]->dtype == GGUF_TENSOR_Q8_0 ? 8 : 4;
  const int64_t words[] = {1, rows, (int64_t)kg_quant_words(columns, p->bits)};
  const int64_t groups[] = {1, rows, (int64_t)(columns / MODEL_GROUP)};
  const int from = 3 - rank;
  kg_status s = make(d, KG_U32, rank, words + from, &p->words, error);
  if (s == KG_OK) s = make(d, KG_F32, rank, groups + from, &p->scales, error);
  if (s == KG_OK) s = make(d, KG_F32, rank, groups + from, &p->biases, error);
  for (int64_t first = 0, i = 0; i < (int64_t)count && s == KG_OK; i++) {
    s = put_rows(d, parts[i], first, p, error);
    first += (int64_t)parts[i]->shape[1];
  }
  return s;
}

static kg_status make_gain(decode *d, const gguf_tensor *t, kg_tensor *gain, kg_error *error) {
  const int64_t shape[] = {(int64_t)t->shape[0]};
  for (uint32_t i = 0; i < d->m->width; i++) d->row[i] = gguf_load_f32(t->data + (size_t)i * 4);
  return make_with(d, KG_F32, 1, shape, d->row, gain, error);
}

static kg_status make_layer(decode *d, const model_layer *from, decode_layer *l, kg_error *error) {
  const gguf_tensor *const qkv[] = {from->q, from->k, from->v};
  const int64_t pool[] = {d->pages, PAGE, d->m->kv_heads, d->m->head};
  kg_status s = make_gain(d, from->attn_norm, &l->attn_norm, error);
  if (s == KG_OK) s = make_gain(d, from->ffn_norm, &l->ffn_norm, error);
  if (s == KG_OK) s = pack(d, qkv, 3, 2, &l->qkv, error);
  if (s == KG_OK) s = pack(d, &from->out, 1, 2, &l->out, error);
  if (s == KG_OK) s = pack(d, &from->gate, 1, 3, &l->gate, error);
  if (s == KG_OK) s = pack(d, &from->up, 1, 3, &l->up, error);
  if (s == KG_OK) s = pack(d, &from->down, 1, 2, &l->down, error);
  if (s == KG_OK) s = make(d, KG_F32, 4, pool, &l->keys, error);
  if (s == KG_OK) s = make(d, KG_F32, 4, pool, &l->values, error);
  return s;
}

/* ---- opening -------------------------------------------------------------------------------- */

static kg_status make_activations(decode *d, kg_error *error) {
  const model *m = d->m;
  const int64_t wide[] = {1, m->width}, fused[] = {1, m->width + 2 * m->kv_heads * m->head};
  const int64_t heads[] = {1, m->heads, 1, m->head}, inner[] = {1, m->feed_forward};
  const int64_t words[] = {1, m->vocabulary}, one[] = {1}, two[] = {2}, pages[] = {d->pages};
  const struct {
    kg_tensor *t;
    kg_dtype dtype;
    int rank;
    const int64_t *shape;
  } parts[] = {
      {&d->delta, KG_F32, 2, wide},      {&d->normed, KG_F32, 2, wide},
      {&d->residual, KG_F32, 2, wide},   {&d->next, KG_F32, 2, wide},
      {&d->qkv, KG_F32, 2, fused},       {&d->q, KG_F32, 4, heads},
      {&d->attended, KG_F32, 4, heads},  {&d->activation, KG_F32, 2, inner},
      {&d->logits, KG_F32, 2, words},    {&d->rows, KG_I32, 1, pages},
      {&d->row_offsets, KG_I32, 1, two}, {&d->starts, KG_I32, 1, one},
      {&d->visible, KG_I32, 1, one},
  };
  const uint32_t first_expert = 0;
  kg_status s = make_with(d, KG_U32, 1, one, &first_expert, &d->expert, error);
  for (uint32_t i = 0; i < m->width; i++) d->row[i] = 0;
  if (s == KG_OK) s = make_with(d, KG_F32, 2, wide, d->row, &d->zeros, error);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && s == KG_OK; i++)
    s = make(d, parts[i].dtype, parts[i].rank, parts[i].shape, parts[i].t, error);
  return s;
}

static kg_status fill(decode *d, kg_error *error) {
  const model *m = d->m;
  d->page_of = calloc(d->pages, sizeof *d->page_of);
  d->row = calloc(m->width, sizeof *d->row);
  d->layer = calloc(m->layers, sizeof *d->layer);
  if (!d->page_of || !d->row || !d->layer) return out_of_memory(error);
  for (uint32_t i = 0; i < d->pages; i++) d->page_of[i] = (int32_t)(d->pages - 1 - i);
  kg_status s = make_activations(d, error);
  if (s == KG_OK) s = make_gain(d, m->output_norm, &d->output_norm, error);
  if (s == KG_OK) s = pack(d, &m->embedding, 1, 2, &d->embedding, error);
  for (uint32_t i = 0; i < m->layers && s == KG_OK; i++)
    s = make_layer(d, &m->layer[i], &d->layer[i], error);
  return s;
}

kg_status decode_open(const model *m, kg_device *device, uint32_t tokens, decode **out,
                      kg_error *error) {
  decode *d = calloc(1, sizeof *d);
  *out = d;
  if (!d) return out_of_memory(error);
  *d = (decode){.m = m, .device = device, .tokens = tokens, .pages = (tokens + PAGE - 1) / PAGE};
  const kg_status s = fill(d, error);
  if (s == KG_OK) return s;
  decode_close(d);
  *out = NULL;
  return s;
}

void decode_close(decode *d) {
  if (!d) return;
  for (size_t i = 0; i < d->memory_count; i++) kg_device_free(d->device, d->memory[i]);
  free(d->memory);
  free(d->page_of);
  free(d->row);
  free(d->layer);
  free(d);
}

/* ---- a step --------------------------------------------------------------------------------- */

/* The token's row of the embedding is the first residual; nothing is added to it. */
static kg_status put_embedding(decode *d, uint32_t token, kg_error *error) {
  const size_t blocks = d->m->width / MODEL_GROUP;
  for (size_t b = 0; b < blocks; b++) {
    uint8_t codes[MODEL_GROUP];
    float scale, bias;
    unpack(d->m->embedding, token * blocks + b, codes, &scale, &bias);
    for (size_t i = 0; i < MODEL_GROUP; i++)
      d->row[b * MODEL_GROUP + i] = (float)(codes[i] - 128) * scale;
  }
  return put(d, &d->residual, d->row, error);
}

/* The page table of all tokens up to the present one. */
static kg_status put_pages(decode *d, kg_error *error) {
  const int32_t tokens = (int32_t)d->position + 1;
  const kg_paged_request request = {d->page_of, d->pages, 0, tokens};
  kg_page_table table = {0};
  kg_status s = kg_page_table_make(&request, 1, PAGE, &table, error);
  if (s != KG_OK) return s;
  const int64_t shape[] = {(int64_t)table.index_count};
  d->rows = view(&d->rows, 1, shape);
  s = put(d, &d->rows, table.indices, error);
  if (s == KG_OK) s = put(d, &d->row_offsets, table.indptr, error);
  if (s == KG_OK) s = put(d, &d->starts, table.first_page_offset, error);
  if (s == KG_OK) s = put(d, &d->visible, table.seq_lens, error);
  kg_page_table_free(&table);
  return s;
}

/* The present token's place in a pool, as the rotation writes it: [1, 1, kv_heads, head]. */
static kg_tensor slot(const decode *d, const kg_tensor *pool) {
  const int64_t shape[] = {1, 1, d->m->kv_heads, d->m->head};
  const size_t at = (size_t)d->page_of[d->position / PAGE] * PAGE + d->position % PAGE;
  float *data = (float *)pool->data + at * d->m->kv_heads * d->m->head;
  return kg_tensor_of(d->device, data, KG_F32, 4, shape);
}

static kg_status multiply(decode *d, const packed *W, const kg_tensor *x, kg_tensor *y,
                          kg_error *error) {
  return report(
      d, "qmv",
      qmv_launch(d->device, x, &W->words, &W->scales, &W->biases, MODEL_GROUP, W->bits, 1, y),
      error);
}

/* residual += x; normed = the norm of it. */
static kg_status add_and_norm(decode *d, const kg_tensor *x, const kg_tensor *gain,
                              kg_error *error) {
  const kg_status s = fused_add_rms_norm_launch(d->device, x, &d->residual, gain, d->m->eps, 0,
                                                &d->normed, &d->next);
  const kg_tensor old = d->residual;
  d->residual = d->next;
  d->next = old;
  return report(d, "fused_add_rms_norm", s, error);
}

static kg_status attention(decode *d, decode_layer *l, kg_error *error) {
  const model *m = d->m;
  const int64_t fused[] = {1, 1, d->qkv.shape[1]}, wide[] = {1, m->width};
  const kg_tensor qkv = view(&d->qkv, 3, fused), attended = view(&d->attended, 2, wide);
  kg_tensor k = slot(d, &l->keys), v = slot(d, &l->values);
  kg_status s = multiply(d, &l->qkv, &d->normed, &d->qkv, error);
  if (s == KG_OK)
    s = report(d, "fused_rope_qk_append",
               fused_rope_qk_append_launch(d->device, &qkv, m->head, log2f(m->rope_base), 1,
                                           (int32_t)d->position, true, 1, &d->q, &k, &v),
               error);
  if (s == KG_OK)
    s = report(d, "paged_attention",
               paged_attention_launch(d->device, &d->q, &l->keys, &l->values, &d->rows,
                                      &d->row_offsets, &d->starts, &d->visible,
                                      1 / sqrtf((float)m->head), kg_paged_splits(m->head, 0),
                                      kg_paged_threads(m->head), &d->attended),
               error);
  return s == KG_OK ? multiply(d, &l->out, &attended, &d->delta, error) : s;
}

static kg_status feed_forward(decode *d, const decode_layer *l, kg_error *error) {
  const int64_t flat[] = {d->m->width};
  const kg_tensor x = view(&d->normed, 1, flat);
  const kg_status s = moe_gateup_launch(d->device, &x, &d->expert, &l->gate.words, &l->gate.scales,
                                        &l->gate.biases, &l->up.words, &l->up.scales, &l->up.biases,
                                        MODEL_GROUP, l->gate.bits, 0, &d->activation);
  if (s != KG_OK) return report(d, "moe_gateup", s, error);
  return multiply(d, &l->down, &d->activation, &d->delta, error);
}

static kg_status layers(decode *d, kg_error *error) {
  kg_status s = KG_OK;
  for (uint32_t i = 0; i < d->m->layers && s == KG_OK; i++) {
    decode_layer *l = &d->layer[i];
    s = add_and_norm(d, i == 0 ? &d->zeros : &d->delta, &l->attn_norm, error);
    if (s == KG_OK) s = attention(d, l, error);
    if (s == KG_OK) s = add_and_norm(d, &d->delta, &l->ffn_norm, error);
    if (s == KG_OK) s = feed_forward(d, l, error);
  }
  return s;
}

static kg_status put_logits(decode *d, float *logits, kg_error *error) {
  kg_status s = add_and_norm(d, &d->delta, &d->output_norm, error);
  if (s == KG_OK) s = multiply(d, &d->embedding, &d->normed, &d->logits, error);
  if (s != KG_OK) return s;
  return report(
      d, "decode: logits",
      kg_device_download(d->device, logits, d->logits.data, d->m->vocabulary * sizeof *logits),
      error);
}

kg_status decode_step(decode *d, uint32_t token, float *logits, kg_error *error) {
  if (token >= d->m->vocabulary)
    return kg_fail(error, KG_BAD_ARGUMENT, "decode_step: token %u does not exist", (unsigned)token);
  if (d->position >= d->tokens)
    return kg_fail(error, KG_TOO_LARGE, "decode_step: there is room for %u tokens",
                   (unsigned)d->tokens);
  kg_status s = put_embedding(d, token, error);
  if (s == KG_OK) s = put_pages(d, error);
  if (s == KG_OK) s = layers(d, error);
  if (s == KG_OK && logits) s = put_logits(d, logits, error);
  /* what the next step uploads must not meet kernels of this one */
  if (s == KG_OK) s = report(d, "decode", kg_device_synchronize(d->device), error);
  if (s == KG_OK) d->position++;
  return s;
}

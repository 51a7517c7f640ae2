/* model.c: see model.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "model.h"

/* ---- sizes ---------------------------------------------------------------------------------- */

static kg_status size(const gguf_file *file, const char *key, uint32_t most, uint32_t *value,
                      kg_error *error) {
  uint64_t n = 0;
  const kg_status s = gguf_integer(file, key, &n, error);
  if (s != KG_OK) return s;
  if (n < 1 || n > most)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: key '%s' is %" PRIu64 ", not from 1 to %u",
                   file->name, key, n, (unsigned)most);
  *value = (uint32_t)n;
  return KG_OK;
}

static kg_status number(const gguf_file *file, const char *key, float *value, kg_error *error) {
  double v = 0;
  const kg_status s = gguf_real(file, key, &v, error);
  if (s != KG_OK) return s;
  if (!(v > 0 && v < 1e9))
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: key '%s' is %g", file->name, key, v);
  *value = (float)v;
  return KG_OK;
}

static kg_status read_sizes(model *m, kg_error *error) {
  gguf_text architecture = {NULL, 0};
  uint32_t rotated = 0;
  kg_status s = gguf_string(&m->file, "general.architecture", &architecture, error);
  if (s == KG_OK && !gguf_text_is(architecture, "llama"))
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: its architecture is %.*s, not llama", m->file.name,
                   (int)(architecture.bytes < 40 ? architecture.bytes : 40), architecture.data);
  const struct {
    const char *key;
    uint32_t most;
    uint32_t *value;
  } sizes[] = {
      {"llama.block_count", 1024, &m->layers},
      {"llama.embedding_length", 65536, &m->width},
      {"llama.attention.head_count", 1024, &m->heads},
      {"llama.attention.head_count_kv", 1024, &m->kv_heads},
      {"llama.feed_forward_length", 262140, &m->feed_forward},
      {"llama.vocab_size", 1u << 24, &m->vocabulary},
      {"llama.context_length", 1u << 24, &m->context},
      {"llama.rope.dimension_count", 512, &rotated},
  };
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && s == KG_OK; i++)
    s = size(&m->file, sizes[i].key, sizes[i].most, sizes[i].value, error);
  if (s == KG_OK) s = number(&m->file, "llama.rope.freq_base", &m->rope_base, error);
  if (s == KG_OK) s = number(&m->file, "llama.attention.layer_norm_rms_epsilon", &m->eps, error);
  if (s != KG_OK) return s;
  m->head = m->width / m->heads;
  if (m->width % m->heads != 0 || m->heads % m->kv_heads != 0 || rotated != m->head ||
      m->head % 2 != 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "%s: width %u, %u heads, %u KV heads, %u rotated: these do not fit together",
                   m->file.name, (unsigned)m->width, (unsigned)m->heads, (unsigned)m->kv_heads,
                   (unsigned)rotated);
  return KG_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* rows = 0: a vector. */
static kg_status tensor(const model *m, const char *name, gguf_dtype dtype, uint32_t columns,
                        uint32_t rows, const gguf_tensor **found, kg_error *error) {
  const gguf_tensor *t = gguf_find_tensor(&m->file, name);
  if (!t) return kg_fail(error, KG_BAD_ARGUMENT, "%s: it has no tensor '%s'", m->file.name, name);
  if (t->dtype != dtype)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: tensor '%s' is %s, not %s", m->file.name, name,
                   gguf_dtype_name(t->dtype), gguf_dtype_name(dtype));
  if (t->rank != (rows ? 2 : 1) || t->shape[0] != columns || (rows && t->shape[1] != rows))
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "%s: tensor '%s' is [%" PRIu64 ", %" PRIu64 "], not [%u, %u]", m->file.name,
                   name, t->shape[0], t->shape[1], (unsigned)columns, (unsigned)(rows ? rows : 1));
  *found = t;
  return KG_OK;
}

static kg_status read_layer(model *m, uint32_t number_of, kg_error *error) {
  model_layer *l = &m->layer[number_of];
  const uint32_t kv = m->kv_heads * m->head;
  const struct {
    const char *name;
    gguf_dtype dtype;
    uint32_t columns, rows;
    const gguf_tensor **to;
  } parts[] = {
      {"attn_norm", GGUF_TENSOR_F32, m->width, 0, &l->attn_norm},
      {"attn_q", GGUF_TENSOR_Q4_1, m->width, m->width, &l->q},
      {"attn_k", GGUF_TENSOR_Q4_1, m->width, kv, &l->k},
      {"attn_v", GGUF_TENSOR_Q4_1, m->width, kv, &l->v},
      {"attn_output", GGUF_TENSOR_Q4_1, m->width, m->width, &l->out},
      {"ffn_norm", GGUF_TENSOR_F32, m->width, 0, &l->ffn_norm},
      {"ffn_gate", GGUF_TENSOR_Q4_1, m->width, m->feed_forward, &l->gate},
      {"ffn_up", GGUF_TENSOR_Q4_1, m->width, m->feed_forward, &l->up},
      {"ffn_down", GGUF_TENSOR_Q4_1, m->feed_forward, m->width, &l->down},
  };
  kg_status s = KG_OK;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && s == KG_OK; i++) {
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s.weight", (unsigned)number_of, parts[i].name);
    s = tensor(m, name, parts[i].dtype, parts[i].columns, parts[i].rows, parts[i].to, error);
  }
  return s;
}

kg_status model_open(const char *path, model *m, kg_error *error) {
  *m = (model){0};
  kg_status s = gguf_open(path, &m->file, error);
  if (s == KG_OK) s = read_sizes(m, error);
  if (s == KG_OK) {
    m->layer = calloc(m->layers, sizeof *m->layer);
    if (!m->layer) s = kg_fail(error, KG_OUT_OF_MEMORY, "%s: out of memory", path);
  }
  if (s == KG_OK)
    s = tensor(m, "token_embd.weight", GGUF_TENSOR_Q8_0, m->width, m->vocabulary, &m->embedding,
               error);
  if (s == KG_OK)
    s = tensor(m, "output_norm.weight", GGUF_TENSOR_F32, m->width, 0, &m->output_norm, error);
  for (uint32_t i = 0; i < m->layers && s == KG_OK; i++) s = read_layer(m, i, error);
  if (s == KG_OK && gguf_find_tensor(&m->file, "output.weight"))
    s = kg_fail(error, KG_BAD_ARGUMENT,
                "%s: it has an output matrix apart from the embedding, which is not read here",
                path);
  if (s != KG_OK) model_close(m);
  return s;
}

void model_close(model *m) {
  free(m->layer);
  gguf_close(&m->file);
  *m = (model){0};
}

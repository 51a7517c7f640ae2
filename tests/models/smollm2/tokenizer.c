/* tokenizer.c: see tokenizer.h; words.c cuts a text. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "tokenizer.h"
#include "words.h"

/* Open addressing over texts; value is the place in a list. */
typedef struct entry {
  gguf_text text;
  uint32_t value;
} entry;
typedef struct table {
  entry *entries;
  size_t size;
} table; /* a power of two, half empty */

struct tokenizer {
  const gguf_text *tokens;
  size_t token_count;
  bool *control;
  table numbers;                      /* of tokens */
  table ranks;                        /* of merges */
  gguf_text *own_tokens, *own_merges; /* NULL: the caller's */
  uint32_t bytes[256];                /* byte to the character that writes it */
  int16_t byte_of[0x180];             /* the way back; -1: none */
};

enum { CHARACTER = 2 }; /* the longest character of a byte in UTF-8 */

/* ---- tables of texts ------------------------------------------------------------------------ */

static uint64_t hash(gguf_text text) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < text.bytes; i++) h = (h ^ (uint8_t)text.data[i]) * 1099511628211u;
  return h ^ h >> 32;
}

static bool table_make(table *t, size_t count) {
  t->size = 16;
  while (t->size < 2 * count) t->size *= 2;
  t->entries = calloc(t->size, sizeof *t->entries);
  return t->entries != NULL;
}

/* The entry of this text, or the free one where it belongs. */
static entry *table_at(const table *t, gguf_text text) {
  size_t i = (size_t)hash(text) & (t->size - 1);
  for (;; i = (i + 1) & (t->size - 1)) {
    entry *e = &t->entries[i];
    if (!e->text.data) return e;
    if (e->text.bytes == text.bytes && memcmp(e->text.data, text.data, text.bytes) == 0) return e;
  }
}

static bool table_find(const table *t, gguf_text text, uint32_t *value) {
  const entry *e = table_at(t, text);
  if (!e->text.data) return false;
  *value = e->value;
  return true;
}

/* False: it is there already. */
static bool table_add(table *t, gguf_text text, uint32_t value) {
  entry *e = table_at(t, text);
  if (e->text.data) return false;
  *e = (entry){text, value};
  return true;
}

/* ---- bytes as printable characters ---------------------------------------------------------- */

/* A byte that prints in Latin-1 is itself; the others are U+0100 and on, in order. */
static void number_bytes(tokenizer *t) {
  uint32_t next = 0x100;
  for (size_t i = 0; i < sizeof t->byte_of / sizeof t->byte_of[0]; i++) t->byte_of[i] = -1;
  for (uint32_t b = 0; b < 256; b++) {
    const bool prints = (b > 0x20 && b < 0x7f) || (b > 0xa0 && b != 0xad);
    t->bytes[b] = prints ? b : next++;
    t->byte_of[t->bytes[b]] = (int16_t)b;
  }
}

static size_t write_character(const tokenizer *t, uint8_t byte, char *to) {
  const uint32_t c = t->bytes[byte];
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  to[0] = (char)(0xc0 | c >> 6);
  to[1] = (char)(0x80 | (c & 0x3f));
  return 2;
}

/* ---- making --------------------------------------------------------------------------------- */

static const char *merge_fault(const tokenizer *t, gguf_text merge, char *joined) {
  const char *space = merge.bytes ? memchr(merge.data, ' ', merge.bytes) : NULL;
  const size_t left = space ? (size_t)(space - merge.data) : 0;
  if (left == 0 || left + 1 == merge.bytes) return "is no pair";
  memcpy(joined, merge.data, left);
  memcpy(joined + left, space + 1, merge.bytes - left - 1);
  uint32_t number;
  return table_find(&t->numbers, (gguf_text){joined, merge.bytes - 1}, &number)
             ? NULL
             : "makes what is no token";
}

static kg_status add_merges(tokenizer *t, const gguf_text *merges, size_t count, kg_error *error) {
  size_t longest = 0;
  for (size_t i = 0; i < count; i++)
    if (merges[i].bytes > longest) longest = merges[i].bytes;
  char *joined = malloc(longest + 1);
  if (!joined || !table_make(&t->ranks, count)) {
    free(joined);
    return kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
  }
  kg_status s = KG_OK;
  for (size_t i = 0; i < count && s == KG_OK; i++) {
    const char *fault = merge_fault(t, merges[i], joined);
    if (fault)
      s = kg_fail(error, KG_BAD_ARGUMENT, "tokenizer: merge %zu, '%.*s', %s", i,
                  (int)(merges[i].bytes < 80 ? merges[i].bytes : 80), merges[i].data, fault);
    else
      table_add(&t->ranks, merges[i], (uint32_t)i); /* the first of equals counts */
  }
  free(joined);
  return s;
}

static kg_status fill(tokenizer *t, const bool *control, const gguf_text *merges,
                      size_t merge_count, kg_error *error) {
  t->control = malloc(t->token_count + 1);
  if (!t->control || !table_make(&t->numbers, t->token_count))
    return kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
  number_bytes(t);
  for (size_t i = 0; i < t->token_count; i++) {
    const gguf_text text = t->tokens[i];
    t->control[i] = control[i];
    if (!text.data || !table_add(&t->numbers, text, (uint32_t)i))
      return kg_fail(error, KG_BAD_ARGUMENT, "tokenizer: token %zu, '%.*s', is there twice", i,
                     (int)(text.bytes < 80 ? text.bytes : 80), text.data ? text.data : "");
  }
  return add_merges(t, merges, merge_count, error);
}

kg_status tokenizer_make(const gguf_text *tokens, const bool *control, size_t token_count,
                         const gguf_text *merges, size_t merge_count, tokenizer **out,
                         kg_error *error) {
  *out = NULL;
  if (token_count > UINT32_MAX || merge_count > UINT32_MAX)
    return kg_fail(error, KG_TOO_LARGE, "tokenizer: more tokens or merges than 32 bits count");
  tokenizer *t = calloc(1, sizeof *t);
  if (!t) return kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
  t->tokens = tokens;
  t->token_count = token_count;
  const kg_status s = fill(t, control, merges, merge_count, error);
  if (s == KG_OK)
    *out = t;
  else
    tokenizer_free(t);
  return s;
}

/* GGUF's number of a token's sort. */
enum { TYPE_CONTROL = 3 };

static kg_status read_types(const gguf_file *file, size_t token_count, bool **control,
                            kg_error *error) {
  int64_t *types = NULL;
  size_t count = 0;
  kg_status s = gguf_integers(file, "tokenizer.ggml.token_type", &types, &count, error);
  if (s != KG_OK) return s;
  *control = calloc(token_count + 1, sizeof **control);
  if (!*control)
    s = kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
  else if (count != token_count)
    s = kg_fail(error, KG_BAD_ARGUMENT, "%s: %zu tokens, but types of %zu", file->name, token_count,
                count);
  else
    for (size_t i = 0; i < count; i++) (*control)[i] = types[i] == TYPE_CONTROL;
  free(types);
  return s;
}

kg_status tokenizer_read(const gguf_file *file, tokenizer **out, kg_error *error) {
  gguf_text sort = {NULL, 0}, words = {NULL, 0}, *tokens = NULL, *merges = NULL;
  size_t token_count = 0, merge_count = 0;
  bool *control = NULL;
  *out = NULL;
  kg_status s = gguf_string(file, "tokenizer.ggml.model", &sort, error);
  if (s == KG_OK) s = gguf_string(file, "tokenizer.ggml.pre", &words, error);
  if (s == KG_OK && (!gguf_text_is(sort, "gpt2") || !gguf_text_is(words, "smollm")))
    s = kg_fail(error, KG_BAD_ARGUMENT, "%s: its tokenizer is not gpt2 with smollm's words",
                file->name);
  if (s == KG_OK) s = gguf_strings(file, "tokenizer.ggml.tokens", &tokens, &token_count, error);
  if (s == KG_OK) s = gguf_strings(file, "tokenizer.ggml.merges", &merges, &merge_count, error);
  if (s == KG_OK) s = read_types(file, token_count, &control, error);
  if (s == KG_OK) s = tokenizer_make(tokens, control, token_count, merges, merge_count, out, error);
  free(control);
  if (s == KG_OK) {
    (*out)->own_tokens = tokens;
    (*out)->own_merges = merges;
  } else {
    free(tokens);
    free(merges);
  }
  return s;
}

void tokenizer_free(tokenizer *t) {
  if (!t) return;
  free(t->control);
  free(t->numbers.entries);
  free(t->ranks.entries);
  free(t->own_tokens);
  free(t->own_merges);
  free(t);
}

kg_status token_list_add(token_list *list, uint32_t token, kg_error *error) {
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 64;
    uint32_t *ids = realloc(list->ids, room * sizeof *ids);
    if (!ids) return kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
    list->ids = ids;
    list->room = room;
  }
  list->ids[list->count++] = token;
  return KG_OK;
}

/* ---- words to tokens ------------------------------------------------------------------------ */

/* A word being joined: symbol i is letters[start[i]] up to letters[start[i + 1]]. */
typedef struct joining {
  char *letters, *pair;
  size_t *start;
  size_t count;
} joining;

static gguf_text symbol(const joining *j, size_t i) {
  return (gguf_text){j->letters + j->start[i], j->start[i + 1] - j->start[i]};
}

static bool rank_of(const tokenizer *t, const joining *j, size_t i, uint32_t *rank) {
  const gguf_text left = symbol(j, i), right = symbol(j, i + 1);
  memcpy(j->pair, left.data, left.bytes);
  j->pair[left.bytes] = ' ';
  memcpy(j->pair + left.bytes + 1, right.data, right.bytes);
  return table_find(&t->ranks, (gguf_text){j->pair, left.bytes + 1 + right.bytes}, rank);
}

static bool join_first(const tokenizer *t, joining *j) {
  uint32_t best = 0;
  size_t at = j->count;
  for (size_t i = 0; i + 1 < j->count; i++) {
    uint32_t rank;
    if (rank_of(t, j, i, &rank) && (at == j->count || rank < best)) {
      best = rank;
      at = i;
    }
  }
  if (at == j->count) return false;
  memmove(j->start + at + 1, j->start + at + 2, (j->count - at - 1) * sizeof *j->start);
  j->count--;
  return true;
}

static kg_status encode_word(const tokenizer *t, joining *j, gguf_text word, token_list *list,
                             kg_error *error) {
  size_t end = 0;
  for (size_t i = 0; i < word.bytes; i++) {
    j->start[i] = end;
    end += write_character(t, (uint8_t)word.data[i], j->letters + end);
  }
  j->start[word.bytes] = end;
  j->count = word.bytes;
  while (join_first(t, j)) {}
  kg_status s = KG_OK;
  for (size_t i = 0; i < j->count && s == KG_OK; i++) {
    const gguf_text text = symbol(j, i);
    uint32_t number = 0;
    if (!table_find(&t->numbers, text, &number))
      return kg_fail(error, KG_BAD_ARGUMENT, "tokenizer: '%.*s' has no token", (int)text.bytes,
                     text.data);
    s = token_list_add(list, number, error);
  }
  return s;
}

kg_status tokenizer_encode(const tokenizer *t, const char *text, size_t bytes, token_list *list,
                           kg_error *error) {
  joining j = {.letters = malloc(CHARACTER * bytes + 1),
               .pair = malloc(CHARACTER * bytes + 2),
               .start = calloc(bytes + 1, sizeof *j.start)};
  kg_status s = KG_OK;
  if (!j.letters || !j.pair || !j.start)
    s = kg_fail(error, KG_OUT_OF_MEMORY, "tokenizer: out of memory");
  for (size_t at = 0; at < bytes && s == KG_OK;) {
    const size_t length = word_length(text + at, bytes - at);
    s = encode_word(t, &j, (gguf_text){text + at, length}, list, error);
    at += length;
  }
  free(j.letters);
  free(j.pair);
  free(j.start);
  return s;
}

/* ---- chat ----------------------------------------------------------------------------------- */

kg_status tokenizer_control(const tokenizer *t, const char *spelling, uint32_t *token,
                            kg_error *error) {
  const gguf_text text = {spelling, strlen(spelling)};
  if (table_find(&t->numbers, text, token) && t->control[*token]) return KG_OK;
  return kg_fail(error, KG_BAD_ARGUMENT, "tokenizer: there is no control token '%s'", spelling);
}

kg_status tokenizer_chat(const tokenizer *t, const char *message, token_list *list,
                         kg_error *error) {
  const char *const start = "<|im_start|>", *const end = "<|im_end|>";
  const struct {
    const char *text;
    bool control;
  } parts[] = {
      {start, true},
      {"system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face", false},
      {end, true},
      {"\n", false},
      {start, true},
      {"user\n", false},
      {message, false},
      {end, true},
      {"\n", false},
      {start, true},
      {"assistant\n", false},
  };
  kg_status s = KG_OK;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && s == KG_OK; i++) {
    uint32_t token = 0;
    if (!parts[i].control) {
      s = tokenizer_encode(t, parts[i].text, strlen(parts[i].text), list, error);
      continue;
    }
    s = tokenizer_control(t, parts[i].text, &token, error);
    if (s == KG_OK) s = token_list_add(list, token, error);
  }
  return s;
}

/* ---- tokens to text ------------------------------------------------------------------------- */

size_t tokenizer_bytes(const tokenizer *t, uint32_t token, char *bytes, size_t room) {
  if (token >= t->token_count || t->control[token]) return 0;
  const gguf_text text = t->tokens[token];
  size_t count = 0;
  for (size_t i = 0; i < text.bytes; count++) {
    uint32_t c = (uint8_t)text.data[i++];
    if (c >= 0x80 && i < text.bytes) c = (c & 0x1f) << 6 | ((uint8_t)text.data[i++] & 0x3f);
    const int byte = c < sizeof t->byte_of / sizeof t->byte_of[0] ? t->byte_of[c] : -1;
    if (count < room) bytes[count] = byte < 0 ? '?' : (char)byte;
  }
  return count;
}

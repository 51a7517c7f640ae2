/* test_models.c: the GGUF reader and the tokenizer of tests/models/smollm2, on files and
** vocabularies made here.  Nothing is downloaded; `ninja model` has the real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/smollm2/gguf.h"
#include "models/smollm2/tokenizer.h"
#include "models/smollm2/words.h"

/* ---- files in memory ------------------------------------------------------------------------ */

typedef struct bytes {
  uint8_t data[4096];
  size_t count;
} bytes;

static void number(bytes *b, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) b->data[b->count++] = (uint8_t)(value >> 8 * i);
}

static void text(bytes *b, const char *word) {
  number(b, strlen(word), 8);
  memcpy(b->data + b->count, word, strlen(word));
  b->count += strlen(word);
}

static void key(bytes *b, const char *name, gguf_kind kind) {
  text(b, name);
  number(b, kind, 4);
}

static void tensor(bytes *b, const char *name, uint64_t columns, uint64_t rows, uint32_t dtype,
                   uint64_t offset) {
  text(b, name);
  number(b, 2, 4);
  number(b, columns, 8);
  number(b, rows, 8);
  number(b, dtype, 4);
  number(b, offset, 8);
}

static void header(bytes *b, uint64_t tensors, uint64_t values) {
  b->count = 0;
  memcpy(b->data, "GGUF", 4);
  b->count = 4;
  number(b, 3, 4);
  number(b, tensors, 8);
  number(b, values, 8);
}

/* Where parts of small_file are, for those who damage it. */
typedef struct places {
  size_t first_key, kind, words, first_tensor, rank, columns, dtype, offset, data;
} places;

/* Six values; a matrix "w" of 2 rows of 32 in Q4_1, and "g" of 4 numbers in F32. */
static places small_file(bytes *b) {
  places p;
  header(b, 2, 6);
  p.first_key = b->count;
  text(b, "a.count");
  p.kind = b->count;
  number(b, GGUF_U32, 4);
  number(b, 7, 4);
  key(b, "a.negative", GGUF_I16);
  number(b, 0xfffe, 2);
  key(b, "a.base", GGUF_F32);
  number(b, 0x3fc00000, 4); /* 1.5 */
  key(b, "a.name", GGUF_TEXT);
  text(b, "llama");
  key(b, "a.words", GGUF_ARRAY);
  number(b, GGUF_TEXT, 4);
  p.words = b->count;
  number(b, 3, 8);
  text(b, "one");
  text(b, "");
  text(b, "three");
  key(b, "a.types", GGUF_ARRAY);
  number(b, GGUF_I8, 4);
  number(b, 2, 8);
  number(b, 0xff05, 2);
  p.first_tensor = b->count;
  text(b, "w");
  p.rank = b->count;
  number(b, 2, 4);
  p.columns = b->count;
  number(b, 32, 8);
  number(b, 2, 8);
  p.dtype = b->count;
  number(b, GGUF_TENSOR_Q4_1, 4);
  p.offset = b->count;
  number(b, 0, 8);
  tensor(b, "g", 4, 1, GGUF_TENSOR_F32, 64);
  while (b->count % 32 != 0) number(b, 0, 1);
  p.data = b->count;
  for (uint64_t i = 0; i < 64; i++) number(b, i, 1);
  for (uint64_t i = 0; i < 4; i++) number(b, 0x40000000 + (i << 23), 4); /* 2, 4, 8, 16 */
  return p;
}

static void poke(bytes *b, size_t at, uint64_t value, size_t size) {
  const size_t count = b->count;
  b->count = at;
  number(b, value, size);
  b->count = count;
}

static void refused(const bytes *b, size_t count, const char *why) {
  gguf_file file;
  kg_error error = {0};
  uint8_t *copy = malloc(count + 1); /* of its own size, so that a tool sees a step past its end */
  assert_non_null(copy);
  memcpy(copy, b->data, count);
  assert_int_not_equal(gguf_read("made", copy, count, &file, &error), KG_OK);
  if (!strstr(error.message, why)) fail_msg("'%s' is not in: %s", why, error.message);
  assert_non_null(strstr(error.message, "made: "));
  assert_null(file.values); /* nothing is left of it */
  free(copy);
}

/* ---- the reader ----------------------------------------------------------------------------- */

static void values_are_found_by_key_in_their_own_types(void **state) {
  (void)state;
  bytes b;
  gguf_file file;
  kg_error error;
  small_file(&b);
  assert_int_equal(gguf_read("made", b.data, b.count, &file, &error), KG_OK);
  uint64_t whole = 0;
  double real = 0;
  gguf_text word, *words = NULL;
  int64_t *types = NULL;
  size_t count = 0;
  assert_int_equal(gguf_integer(&file, "a.count", &whole, &error), KG_OK);
  assert_int_equal(whole, 7);
  assert_int_equal(gguf_real(&file, "a.base", &real, &error), KG_OK);
  assert_true(real == 1.5);
  assert_int_equal(gguf_string(&file, "a.name", &word, &error), KG_OK);
  assert_true(gguf_text_is(word, "llama"));
  assert_false(gguf_text_is(word, "llam"));
  assert_int_equal(gguf_strings(&file, "a.words", &words, &count, &error), KG_OK);
  assert_int_equal(count, 3);
  assert_true(gguf_text_is(words[0], "one") && gguf_text_is(words[1], "") &&
              gguf_text_is(words[2], "three"));
  assert_int_equal(gguf_integers(&file, "a.types", &types, &count, &error), KG_OK);
  assert_int_equal(count, 2);
  assert_int_equal(types[0], 5);
  assert_int_equal(types[1], -1);
  free(words);
  free(types);
  gguf_close(&file);
}

static void a_key_that_is_missing_or_of_another_type_is_named(void **state) {
  (void)state;
  bytes b;
  gguf_file file;
  kg_error error;
  uint64_t whole;
  double real;
  gguf_text word;
  small_file(&b);
  assert_int_equal(gguf_read("made", b.data, b.count, &file, &error), KG_OK);
  assert_int_equal(gguf_integer(&file, "a.other", &whole, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "made: it has no key 'a.other'");
  assert_int_equal(gguf_integer(&file, "a.negative", &whole, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "made: key 'a.negative' is out of range: -2");
  assert_int_equal(gguf_integer(&file, "a.name", &whole, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "made: key 'a.name' is of type text, not an integer");
  assert_int_equal(gguf_real(&file, "a.count", &real, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "made: key 'a.count' is of type u32, not a real number");
  assert_int_equal(gguf_string(&file, "a.words", &word, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "made: key 'a.words' is an array of text, not a text");
  gguf_close(&file);
}

static void tensors_have_their_shape_type_and_bytes(void **state) {
  (void)state;
  bytes b;
  gguf_file file;
  kg_error error;
  const places p = small_file(&b);
  assert_int_equal(gguf_read("made", b.data, b.count, &file, &error), KG_OK);
  const gguf_tensor *w = gguf_find_tensor(&file, "w"), *g = gguf_find_tensor(&file, "g");
  assert_true(w && g && !gguf_find_tensor(&file, "W"));
  assert_int_equal(w->dtype, GGUF_TENSOR_Q4_1);
  assert_int_equal(w->shape[0], 32);
  assert_int_equal(w->shape[1], 2);
  assert_int_equal(w->bytes, 40);
  assert_ptr_equal(w->data, b.data + p.data);
  assert_int_equal(g->bytes, 16);
  assert_true(gguf_load_f32(g->data + 8) == 8);
  assert_int_equal(gguf_load_u16(w->data + 1), 0x0201);
  gguf_close(&file);
}

static void a_file_is_mapped_and_one_that_is_none_is_refused(void **state) {
  (void)state;
  bytes b;
  gguf_file file;
  kg_error error;
  char path[] = "/tmp/test_models.XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(gguf_open(path, &file, &error), KG_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "the file is empty"));
  small_file(&b);
  assert_int_equal(write(fd, b.data, b.count), (ssize_t)b.count);
  close(fd);
  assert_int_equal(gguf_open(path, &file, &error), KG_OK);
  assert_int_equal(file.tensor_count, 2);
  gguf_close(&file);
  unlink(path);
  assert_int_equal(gguf_open(path, &file, &error), KG_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "No such file"));
  assert_int_equal(gguf_open("/tmp", &file, &error), KG_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "not a regular file"));
}

static void a_file_cut_short_anywhere_is_refused(void **state) {
  (void)state;
  bytes b;
  small_file(&b);
  for (size_t count = 0; count < b.count; count++) refused(&b, count, "");
  refused(&b, 3, "the header (byte 0): the file ends within it");
  refused(&b, b.count - 1, "tensor 'g'");
  refused(&b, b.count - 1, "cut short?");
}

static void damage_is_told_by_what_is_wrong_with_it(void **state) {
  (void)state;
  bytes b;
  places p = small_file(&b);
  const struct {
    size_t at;
    uint64_t value;
    size_t size;
    const char *why;
  } faults[] = {
      {0, 'g', 1, "this is no GGUF file"},
      {4, 1, 4, "version is not 2 or 3"},
      {4, 0x03000000, 4, "big-endian"},
      {8, UINT64_MAX, 8, "counts more elements"},
      {16, UINT64_MAX / 13, 8, "counts more elements"},
      {p.first_key, UINT64_MAX, 8, "a text in it is longer than the file"},
      {p.kind, GGUF_KINDS, 4, "key 'a.count'"},
      {p.kind, GGUF_KINDS, 4, "its type is none of the format's"},
      {p.words, UINT64_MAX / 4, 8, "key 'a.words'"},
      {p.words, 6, 8, ""},
      {p.words - 4, GGUF_ARRAY, 4, "arrays of arrays"},
      {p.rank, 0, 4, "its rank is not 1, 2, 3 or 4"},
      {p.rank, 5, 4, "tensor 'w' (byte"},
      {p.rank, 5, 4, "its rank is not 1, 2, 3 or 4"},
      {p.columns, 33, 8, "no whole number of blocks"},
      {p.columns, 1ull << 63, 8, "more bytes than the file has"},
      {p.columns + 8, UINT64_MAX, 8, "more bytes than the file has"},
      {p.columns + 8, 9, 8, "end past the file"},
      {p.dtype, 12, 4, "its type is not F32, F16, Q4_0, Q4_1 or Q8_0"},
      {p.offset, 33, 8, "not at a multiple of the alignment"},
      {p.offset, UINT64_MAX - 31, 8, "end past the file"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    p = small_file(&b);
    poke(&b, faults[i].at, faults[i].value, faults[i].size);
    refused(&b, b.count, faults[i].why);
  }
  small_file(&b);
  poke(&b, p.columns, 64, 8);
  poke(&b, p.columns + 8, 1ull << 63, 8); /* 2 blocks times 2^63 rows is 0 in 64 bits */
  refused(&b, b.count, "more bytes than the file has");
}

static void any_one_byte_changed_is_read_or_refused_but_never_passed_the_end(void **state) {
  (void)state;
  bytes b;
  small_file(&b);
  for (size_t at = 0; at < b.count; at++)
    for (unsigned value = 0; value < 256; value += 15) {
      bytes other = b;
      gguf_file file;
      kg_error error;
      other.data[at] = (uint8_t)value;
      if (gguf_read("made", other.data, b.count, &file, &error) != KG_OK) continue;
      for (size_t i = 0; i < file.tensor_count; i++) {
        assert_true(file.tensors[i].data >= other.data);
        assert_true(file.tensors[i].bytes <= (size_t)(other.data + b.count - file.tensors[i].data));
      }
      gguf_close(&file);
    }
}

static void an_alignment_of_the_file_is_kept_and_a_wrong_one_refused(void **state) {
  (void)state;
  for (uint64_t alignment = 0; alignment <= 64; alignment += 8) {
    bytes b;
    gguf_file file;
    kg_error error;
    header(&b, 1, 1);
    key(&b, "general.alignment", GGUF_U32);
    number(&b, alignment, 4);
    tensor(&b, "g", 1, 1, GGUF_TENSOR_F32, 0);
    while (alignment && b.count % alignment != 0) number(&b, 0, 1);
    const size_t at = b.count;
    number(&b, 0x3f800000, 4);
    if (alignment == 8 || alignment == 16 || alignment == 32 || alignment == 64) {
      assert_int_equal(gguf_read("made", b.data, b.count, &file, &error), KG_OK);
      assert_ptr_equal(file.tensors[0].data, b.data + at);
      gguf_close(&file);
    } else {
      refused(&b, b.count, "not a power of two");
    }
  }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The words of a text with a bar between each two. */
static void cut_as(const char *whole, const char *wanted) {
  char got[256] = "";
  for (size_t at = 0, bytes_left = strlen(whole); at < strlen(whole);) {
    const size_t length = word_length(whole + at, bytes_left);
    assert_true(length >= 1 && length <= bytes_left);
    if (at) strcat(got, "|");
    strncat(got, whole + at, length);
    at += length;
    bytes_left -= length;
  }
  assert_string_equal(got, wanted);
}

static void words_are_cut_as_the_model_learnt_them(void **state) {
  (void)state;
  cut_as("Hello world", "Hello| world");
  cut_as("I'm sure they'll say it's", "I|'m| sure| they|'ll| say| it|'s");
  cut_as("a 1 23 b", "a| |1| |2|3| b"); /* each digit for itself, and no space with it */
  cut_as("x = y+1;", "x| =| y|+|1|;");
  cut_as("a  b   c", "a| | b|  | c"); /* the last space is the next word's */
  cut_as("a  1", "a|  |1");           /* a digit takes none */
  cut_as("end  ", "end|  ");
  cut_as("\n\tx", "\n|\t|x");
  cut_as("caf\xc3\xa9 \xe2\x80\x94 ok", "caf\xc3\xa9| \xe2\x80\x94| ok");
  cut_as("a\xc2\xa0z", "a|\xc2\xa0|z");
  cut_as("\xff\xfe!", "\xff\xfe!"); /* no UTF-8: signs */
  cut_as("\xe2\x80", "\xe2\x80");
  cut_as("a\xc3(b", "a|\xc3(|b");
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* The 256 bytes, then what merges make, then a control token. */
enum { BYTES = 256, LO = BYTES, LOW, ER, LOWER, SPACE_LOW, OO, STOP, TOKENS, MERGES = 6 };
static const char *const made[] = {"lo", "low", "er", "lower", "\xc4\xa0low", "oo", "<|im_end|>"};
static const char *const merges[] = {"l o", "lo w", "e r", "low er", "\xc4\xa0 low", "o o"};

typedef struct vocabulary {
  char letters[BYTES][3];
  gguf_text tokens[TOKENS], merges[MERGES];
  bool control[TOKENS];
} vocabulary;

static gguf_text text_of(const char *word) { return (gguf_text){word, strlen(word)}; }

static void make_vocabulary(vocabulary *v) {
  *v = (vocabulary){0};
  unsigned next = 0x100;
  for (unsigned i = 0; i < BYTES; i++) {
    const bool prints = (i >= '!' && i <= '~') || (i >= 0xa1 && i != 0xad);
    const unsigned c = prints ? i : next++;
    snprintf(v->letters[i], sizeof v->letters[i], c < 0x80 ? "%c" : "%c%c",
             (int)(c < 0x80 ? c : 0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    v->tokens[i] = text_of(v->letters[i]);
  }
  for (unsigned i = LO; i < TOKENS; i++) v->tokens[i] = text_of(made[i - LO]);
  for (unsigned i = 0; i < MERGES; i++) v->merges[i] = text_of(merges[i]);
  v->control[STOP] = true;
}

static tokenizer *make_tokenizer(const vocabulary *v) {
  tokenizer *t = NULL;
  kg_error error = {0};
  if (tokenizer_make(v->tokens, v->control, TOKENS, v->merges, MERGES, &t, &error) != KG_OK)
    fail_msg("%s", error.message);
  return t;
}

static void encodes(const tokenizer *t, const char *whole, const uint32_t *wanted, size_t count) {
  token_list list = {0};
  kg_error error = {0};
  assert_int_equal(tokenizer_encode(t, whole, strlen(whole), &list, &error), KG_OK);
  assert_int_equal(list.count, count);
  assert_memory_equal(list.ids, wanted, count * sizeof *wanted);
  free(list.ids);
}

static void pairs_are_joined_in_the_order_of_the_merges(void **state) {
  (void)state;
  vocabulary v;
  make_vocabulary(&v);
  tokenizer *t = make_tokenizer(&v);
  encodes(t, "lower", (const uint32_t[]){LOWER}, 1);
  encodes(t, "low", (const uint32_t[]){LOW}, 1);
  encodes(t, " low", (const uint32_t[]){SPACE_LOW}, 1);
  /* "low er" comes before the space's merge, and then there is no pair left for it */
  encodes(t, " lower", (const uint32_t[]){' ', LOWER}, 2);
  encodes(t, "lol", (const uint32_t[]){LO, 'l'}, 2);
  encodes(t, "erlower", (const uint32_t[]){ER, LOWER}, 2);
  encodes(t, "ooo", (const uint32_t[]){OO, 'o'}, 2);       /* of equal pairs the first */
  encodes(t, "lo1w", (const uint32_t[]){LO, '1', 'w'}, 3); /* never across words */
  tokenizer_free(t);
}

static void every_byte_goes_in_and_comes_out(void **state) {
  (void)state;
  vocabulary v;
  make_vocabulary(&v);
  tokenizer *t = make_tokenizer(&v);
  for (unsigned b = 0; b < BYTES; b++) {
    const char in = (char)b;
    char out[4] = {0};
    token_list list = {0};
    kg_error error = {0};
    assert_int_equal(tokenizer_encode(t, &in, 1, &list, &error), KG_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.ids[0], b);
    assert_int_equal(tokenizer_bytes(t, b, out, sizeof out), 1);
    assert_int_equal((uint8_t)out[0], b);
    free(list.ids);
  }
  char out[8] = {0};
  assert_int_equal(tokenizer_bytes(t, SPACE_LOW, out, sizeof out), 4);
  assert_string_equal(out, " low");
  assert_int_equal(tokenizer_bytes(t, LOWER, out, 2), 5); /* the room is kept to */
  assert_string_equal(out, "loow");
  assert_int_equal(tokenizer_bytes(t, TOKENS, out, sizeof out), 0);
  tokenizer_free(t);
}

static void a_control_token_is_found_by_name_but_not_in_a_text(void **state) {
  (void)state;
  vocabulary v;
  make_vocabulary(&v);
  tokenizer *t = make_tokenizer(&v);
  uint32_t token = 0;
  kg_error error = {0};
  token_list list = {0};
  char out[16];
  assert_int_equal(tokenizer_control(t, "<|im_end|>", &token, &error), KG_OK);
  assert_int_equal(token, STOP);
  assert_int_equal(tokenizer_control(t, "low", &token, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "tokenizer: there is no control token 'low'");
  assert_int_equal(tokenizer_encode(t, "<|im_end|>", 10, &list, &error), KG_OK);
  assert_int_equal(list.count, 10);
  assert_int_equal(tokenizer_bytes(t, STOP, out, sizeof out), 0);
  free(list.ids);
  tokenizer_free(t);
}

static void a_vocabulary_that_contradicts_itself_is_refused(void **state) {
  (void)state;
  vocabulary v;
  tokenizer *t = NULL;
  kg_error error = {0};
  make_vocabulary(&v);
  v.tokens[ER] = v.tokens[LO];
  assert_int_equal(tokenizer_make(v.tokens, v.control, TOKENS, v.merges, MERGES, &t, &error),
                   KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "tokenizer: token 258, 'lo', is there twice");
  make_vocabulary(&v);
  v.merges[2] = text_of("er");
  assert_int_equal(tokenizer_make(v.tokens, v.control, TOKENS, v.merges, MERGES, &t, &error),
                   KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "tokenizer: merge 2, 'er', is no pair");
  v.merges[2] = text_of("r e");
  assert_int_equal(tokenizer_make(v.tokens, v.control, TOKENS, v.merges, MERGES, &t, &error),
                   KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "tokenizer: merge 2, 'r e', makes what is no token");
  assert_null(t);
  make_vocabulary(&v);
  v.tokens['z'] = text_of("zz"); /* a byte without a token */
  t = make_tokenizer(&v);
  token_list list = {0};
  assert_int_equal(tokenizer_encode(t, "az", 2, &list, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "tokenizer: 'z' has no token");
  free(list.ids);
  tokenizer_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_found_by_key_in_their_own_types),
      cmocka_unit_test(a_key_that_is_missing_or_of_another_type_is_named),
      cmocka_unit_test(tensors_have_their_shape_type_and_bytes),
      cmocka_unit_test(a_file_is_mapped_and_one_that_is_none_is_refused),
      cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
      cmocka_unit_test(damage_is_told_by_what_is_wrong_with_it),
      cmocka_unit_test(any_one_byte_changed_is_read_or_refused_but_never_passed_the_end),
      cmocka_unit_test(an_alignment_of_the_file_is_kept_and_a_wrong_one_refused),
      cmocka_unit_test(words_are_cut_as_the_model_learnt_them),
      cmocka_unit_test(pairs_are_joined_in_the_order_of_the_merges),
      cmocka_unit_test(every_byte_goes_in_and_comes_out),
      cmocka_unit_test(a_control_token_is_found_by_name_but_not_in_a_text),
      cmocka_unit_test(a_vocabulary_that_contradicts_itself_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* gguf.c: see gguf.h.  A cursor that cannot pass the end walks the file once; what it met first is
** what the message says. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "gguf.h"

static const struct {
  const char *name;
  uint8_t bytes;
} kinds[GGUF_KINDS] = {
    [GGUF_U8] = {"u8", 1},       [GGUF_I8] = {"i8", 1},     [GGUF_U16] = {"u16", 2},
    [GGUF_I16] = {"i16", 2},     [GGUF_U32] = {"u32", 4},   [GGUF_I32] = {"i32", 4},
    [GGUF_F32] = {"f32", 4},     [GGUF_BOOL] = {"bool", 1}, [GGUF_TEXT] = {"text", 0},
    [GGUF_ARRAY] = {"array", 0}, [GGUF_U64] = {"u64", 8},   [GGUF_I64] = {"i64", 8},
    [GGUF_F64] = {"f64", 8},
};

/* Elements stand in blocks of `elements` in `bytes` bytes. */
static const struct {
  gguf_dtype dtype;
  const char *name;
  uint8_t elements, bytes;
} dtypes[] = {
    {GGUF_TENSOR_F32, "F32", 1, 4},     {GGUF_TENSOR_F16, "F16", 1, 2},
    {GGUF_TENSOR_Q4_0, "Q4_0", 32, 18}, {GGUF_TENSOR_Q4_1, "Q4_1", 32, 20},
    {GGUF_TENSOR_Q8_0, "Q8_0", 32, 34},
};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

const char *gguf_dtype_name(gguf_dtype dtype) {
  for (size_t i = 0; i < DTYPES; i++)
    if (dtypes[i].dtype == dtype) return dtypes[i].name;
  return "unknown";
}

bool gguf_text_is(gguf_text text, const char *word) {
  return text.bytes == strlen(word) && memcmp(text.data, word, text.bytes) == 0;
}

/* ---- little-endian numbers at any address --------------------------------------------------- */

static uint64_t load(const uint8_t *from, size_t bytes) {
  uint64_t v = 0;
  for (size_t i = bytes; i-- > 0;) v = v << 8 | from[i];
  return v;
}

uint16_t gguf_load_u16(const uint8_t *from) { return (uint16_t)load(from, 2); }

float gguf_load_f32(const uint8_t *from) {
  const uint32_t bits = (uint32_t)load(from, 4);
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static double load_f64(const uint8_t *from) {
  const uint64_t bits = load(from, 8);
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static int64_t load_integer(const uint8_t *from, gguf_kind kind) {
  const uint64_t v = load(from, kinds[kind].bytes);
  switch (kind) {
  case GGUF_I8: return (int8_t)v;
  case GGUF_I16: return (int16_t)v;
  case GGUF_I32: return (int32_t)v;
  default: return (int64_t)v;
  }
}

/* ---- the cursor ----------------------------------------------------------------------------- */

typedef struct cursor {
  const gguf_file *file;
  size_t at;
  const char *what; /* is being read: "the header", "key", "tensor" */
  gguf_text name;   /* of the key or tensor, once it is known */
  kg_error *error;
} cursor;

/* A name out of a damaged file may be anything: no more than a line of it is shown. */
static kg_status damaged(const cursor *c, kg_status status, const char *why) {
  const int shown = c->name.bytes < 80 ? (int)c->name.bytes : 80;
  return kg_fail(c->error, status, "%s: %s%s%.*s%s (byte %zu): %s", c->file->name, c->what,
                 c->name.bytes ? " '" : "", shown, c->name.bytes ? c->name.data : "",
                 c->name.bytes ? "'" : "", c->at, why);
}

static size_t left(const cursor *c) { return c->file->bytes - c->at; }

static kg_status take(cursor *c, size_t bytes, const uint8_t **data) {
  if (bytes > left(c)) return damaged(c, KG_BAD_ARGUMENT, "the file ends within it");
  *data = c->file->data + c->at;
  c->at += bytes;
  return KG_OK;
}

static kg_status take_number(cursor *c, size_t bytes, uint64_t *value) {
  const uint8_t *data = NULL;
  const kg_status s = take(c, bytes, &data);
  if (s == KG_OK) *value = load(data, bytes);
  return s;
}

static kg_status take_text(cursor *c, gguf_text *text) {
  uint64_t bytes = 0;
  kg_status s = take_number(c, 8, &bytes);
  if (s != KG_OK) return s;
  if (bytes > left(c)) return damaged(c, KG_BAD_ARGUMENT, "a text in it is longer than the file");
  *text = (gguf_text){(const char *)c->file->data + c->at, (size_t)bytes};
  c->at += (size_t)bytes;
  return KG_OK;
}

/* A count of things that take at least least_bytes each: one that passes cannot ask for an
** allocation that is out of proportion to the file. */
static kg_status take_count(cursor *c, size_t least_bytes, size_t *count) {
  uint64_t n = 0;
  const kg_status s = take_number(c, 8, &n);
  if (s != KG_OK) return s;
  if (n > left(c) / least_bytes)
    return damaged(c, KG_BAD_ARGUMENT, "it counts more elements than the file has room for");
  *count = (size_t)n;
  return KG_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

static kg_status take_kind(cursor *c, gguf_kind *kind) {
  uint64_t number = 0;
  const kg_status s = take_number(c, 4, &number);
  if (s != KG_OK) return s;
  if (number >= GGUF_KINDS) return damaged(c, KG_BAD_ARGUMENT, "its type is none of the format's");
  *kind = (gguf_kind)number;
  return KG_OK;
}

static kg_status take_value(cursor *c, gguf_value *v) {
  c->name = (gguf_text){NULL, 0};
  kg_status s = take_text(c, &v->key);
  c->name = v->key;
  if (s == KG_OK) s = take_kind(c, &v->kind);
  if (s != KG_OK) return s;
  v->array = v->kind == GGUF_ARRAY;
  v->count = 1;
  if (v->array) {
    s = take_kind(c, &v->kind);
    if (s == KG_OK && v->kind == GGUF_ARRAY)
      s = damaged(c, KG_BAD_ARGUMENT, "arrays of arrays are not read");
    if (s == KG_OK) s = take_count(c, v->kind == GGUF_TEXT ? 8 : kinds[v->kind].bytes, &v->count);
    if (s != KG_OK) return s;
  }
  v->data = c->file->data + c->at;
  if (v->kind != GGUF_TEXT) {
    const uint8_t *data = NULL;
    return take(c, v->count * kinds[v->kind].bytes, &data);
  }
  gguf_text text;
  for (size_t i = 0; i < v->count && s == KG_OK; i++) s = take_text(c, &text);
  return s;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Elements of a block and their bytes; false for a type that is not known. */
static bool block_of(uint64_t number, gguf_dtype *dtype, size_t *elements, size_t *bytes) {
  for (size_t i = 0; i < DTYPES; i++)
    if (dtypes[i].dtype == number) {
      *dtype = dtypes[i].dtype;
      *elements = dtypes[i].elements;
      *bytes = dtypes[i].bytes;
      return true;
    }
  return false;
}

/* t->bytes from shape and type. */
static kg_status size_of(cursor *c, uint64_t type, gguf_tensor *t) {
  size_t elements = 1, bytes = 1;
  if (!block_of(type, &t->dtype, &elements, &bytes))
    return damaged(c, KG_BAD_ARGUMENT, "its type is not F32, F16, Q4_0, Q4_1 or Q8_0");
  if (t->shape[0] % elements != 0)
    return damaged(c, KG_BAD_ARGUMENT, "its rows are no whole number of blocks");
  uint64_t size = t->shape[0] / elements;
  for (int i = 1; i < GGUF_MAX_RANK; i++) {
    if (t->shape[i] != 0 && size > c->file->bytes / t->shape[i])
      return damaged(c, KG_TOO_LARGE, "its shape needs more bytes than the file has");
    size *= t->shape[i];
  }
  t->bytes = (size_t)size * bytes; /* cannot wrap round: no more blocks than the file has bytes */
  return KG_OK;
}

/* All but t->data: where the data start, from which the offset counts, is known after the last. */
static kg_status take_tensor(cursor *c, gguf_tensor *t, uint64_t *offset) {
  uint64_t rank = 0, type = 0;
  c->name = (gguf_text){NULL, 0};
  kg_status s = take_text(c, &t->name);
  c->name = t->name;
  if (s == KG_OK) s = take_number(c, 4, &rank);
  if (s != KG_OK) return s;
  if (rank < 1 || rank > GGUF_MAX_RANK)
    return damaged(c, KG_BAD_ARGUMENT, "its rank is not 1, 2, 3 or 4");
  t->rank = (int)rank;
  for (int i = 0; i < GGUF_MAX_RANK; i++) t->shape[i] = 1;
  for (int i = 0; i < t->rank && s == KG_OK; i++) s = take_number(c, 8, &t->shape[i]);
  if (s == KG_OK) s = take_number(c, 4, &type);
  if (s == KG_OK) s = take_number(c, 8, offset);
  return s == KG_OK ? size_of(c, type, t) : s;
}

static kg_status alignment_of(cursor *c, uint64_t *alignment) {
  *alignment = 32;
  const gguf_value *v = gguf_find_value(c->file, "general.alignment");
  if (!v) return KG_OK;
  if (gguf_integer(c->file, "general.alignment", alignment, c->error) != KG_OK)
    return KG_BAD_ARGUMENT;
  c->name = v->key;
  if (*alignment < 8 || *alignment > 65536 || (*alignment & (*alignment - 1)) != 0)
    return damaged(c, KG_BAD_ARGUMENT, "it is not a power of two from 8 to 65536");
  return KG_OK;
}

static kg_status place(cursor *c, size_t start, uint64_t alignment, uint64_t offset,
                       gguf_tensor *t) {
  c->name = t->name;
  if (offset % alignment != 0)
    return damaged(c, KG_BAD_ARGUMENT, "its data are not at a multiple of the alignment");
  if (start > c->file->bytes || offset > c->file->bytes - start ||
      t->bytes > c->file->bytes - start - offset)
    return damaged(c, KG_BAD_ARGUMENT, "its data end past the file (cut short?)");
  t->data = c->file->data + start + offset;
  return KG_OK;
}

static kg_status take_tensors(cursor *c, gguf_file *file, uint64_t *offsets) {
  kg_status s = KG_OK;
  c->what = "tensor";
  for (size_t i = 0; i < file->tensor_count && s == KG_OK; i++)
    s = take_tensor(c, &file->tensors[i], &offsets[i]);
  uint64_t alignment = 0;
  if (s == KG_OK) s = alignment_of(c, &alignment);
  if (s != KG_OK) return s;
  const size_t start = (c->at + (size_t)alignment - 1) / (size_t)alignment * (size_t)alignment;
  for (size_t i = 0; i < file->tensor_count && s == KG_OK; i++)
    s = place(c, start, alignment, offsets[i], &file->tensors[i]);
  return s;
}

/* ---- the file ------------------------------------------------------------------------------- */

static kg_status take_header(cursor *c, gguf_file *file) {
  const uint8_t *magic = NULL;
  uint64_t version = 0;
  kg_status s = take(c, 4, &magic);
  if (s == KG_OK && memcmp(magic, "GGUF", 4) != 0)
    return damaged(c, KG_BAD_ARGUMENT, "this is no GGUF file");
  if (s == KG_OK) s = take_number(c, 4, &version);
  if (s == KG_OK && version != 2 && version != 3)
    return damaged(c, KG_BAD_ARGUMENT, "its version is not 2 or 3, or its bytes are big-endian");
  /* the least a tensor takes: name, rank, one extent, type, offset; a value: key, type, one byte */
  if (s == KG_OK) s = take_count(c, 32, &file->tensor_count);
  if (s == KG_OK) s = take_count(c, 13, &file->value_count);
  return s;
}

static kg_status check(gguf_file *file, kg_error *error) {
  cursor c = {file, 0, "the header", {NULL, 0}, error};
  size_t tensors = 0, values = 0;
  kg_status s = take_header(&c, file);
  tensors = file->tensor_count;
  values = file->value_count;
  file->tensor_count = file->value_count = 0; /* until they are there */
  if (s != KG_OK) return s;
  file->values = calloc(values + 1, sizeof *file->values);
  file->tensors = calloc(tensors + 1, sizeof *file->tensors);
  uint64_t *offsets = calloc(tensors + 1, sizeof *offsets);
  if (!file->values || !file->tensors || !offsets) {
    free(offsets);
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: out of memory", file->name);
  }
  c.what = "key";
  for (size_t i = 0; i < values && s == KG_OK; i++) s = take_value(&c, &file->values[i]);
  file->value_count = values;
  file->tensor_count = tensors;
  if (s == KG_OK) s = take_tensors(&c, file, offsets);
  free(offsets);
  return s;
}

static kg_status check_or_close(gguf_file *file, kg_error *error) {
  const kg_status s = check(file, error);
  if (s != KG_OK) gguf_close(file);
  return s;
}

kg_status gguf_read(const char *name, const void *bytes, size_t count, gguf_file *file,
                    kg_error *error) {
  *file = (gguf_file){.name = name, .data = bytes, .bytes = count};
  return check_or_close(file, error);
}

kg_status gguf_open(const char *path, gguf_file *file, kg_error *error) {
  *file = (gguf_file){.name = path};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    const int why = errno;
    if (fd >= 0) close(fd);
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: %s", path, strerror(why));
  }
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    close(fd);
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: %s", path,
                   S_ISREG(info.st_mode) ? "the file is empty" : "it is not a regular file");
  }
  file->bytes = (size_t)info.st_size;
  void *data = mmap(NULL, file->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  const int why = errno;
  close(fd);
  if (data == MAP_FAILED) {
    *file = (gguf_file){0};
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: cannot be mapped: %s", path, strerror(why));
  }
  file->data = data;
  file->mapped = true;
  return check_or_close(file, error);
}

void gguf_close(gguf_file *file) {
  free(file->values);
  free(file->tensors);
  /* mmap's address is not const; nobody writes through it */
  if (file->mapped) munmap((void *)(uintptr_t)file->data, file->bytes);
  *file = (gguf_file){0};
}

/* ---- by name -------------------------------------------------------------------------------- */

const gguf_value *gguf_find_value(const gguf_file *file, const char *key) {
  for (size_t i = 0; i < file->value_count; i++)
    if (gguf_text_is(file->values[i].key, key)) return &file->values[i];
  return NULL;
}

const gguf_tensor *gguf_find_tensor(const gguf_file *file, const char *name) {
  for (size_t i = 0; i < file->tensor_count; i++)
    if (gguf_text_is(file->tensors[i].name, name)) return &file->tensors[i];
  return NULL;
}

static bool is_integer(gguf_kind kind) {
  return kind != GGUF_F32 && kind != GGUF_F64 && kind != GGUF_TEXT && kind != GGUF_BOOL;
}
static bool is_real(gguf_kind kind) { return kind == GGUF_F32 || kind == GGUF_F64; }
static bool is_text(gguf_kind kind) { return kind == GGUF_TEXT; }

static kg_status find(const gguf_file *file, const char *key, bool array, bool (*sort)(gguf_kind),
                      const char *wanted, const gguf_value **value, kg_error *error) {
  const gguf_value *v = gguf_find_value(file, key);
  *value = v;
  if (!v) return kg_fail(error, KG_BAD_ARGUMENT, "%s: it has no key '%s'", file->name, key);
  if (v->array == array && sort(v->kind)) return KG_OK;
  return kg_fail(error, KG_BAD_ARGUMENT, "%s: key '%s' is %s%s, not %s", file->name, key,
                 v->array ? "an array of " : "of type ", kinds[v->kind].name, wanted);
}

kg_status gguf_integer(const gguf_file *file, const char *key, uint64_t *value, kg_error *error) {
  const gguf_value *v = NULL;
  const kg_status s = find(file, key, false, is_integer, "an integer", &v, error);
  if (s != KG_OK) return s;
  const int64_t n = load_integer(v->data, v->kind);
  if (n < 0)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: key '%s' is out of range: %" PRId64, file->name,
                   key, n);
  *value = (uint64_t)n;
  return KG_OK;
}

kg_status gguf_real(const gguf_file *file, const char *key, double *value, kg_error *error) {
  const gguf_value *v = NULL;
  const kg_status s = find(file, key, false, is_real, "a real number", &v, error);
  if (s == KG_OK) *value = v->kind == GGUF_F32 ? (double)gguf_load_f32(v->data) : load_f64(v->data);
  return s;
}

/* The text at *data, which is stepped past it; its length was checked when the file was opened. */
static gguf_text next_text(const uint8_t **data) {
  const gguf_text text = {(const char *)*data + 8, (size_t)load(*data, 8)};
  *data += 8 + text.bytes;
  return text;
}

kg_status gguf_string(const gguf_file *file, const char *key, gguf_text *value, kg_error *error) {
  const gguf_value *v = NULL;
  const kg_status s = find(file, key, false, is_text, "a text", &v, error);
  if (s != KG_OK) return s;
  const uint8_t *data = v->data;
  *value = next_text(&data);
  return KG_OK;
}

kg_status gguf_strings(const gguf_file *file, const char *key, gguf_text **list, size_t *count,
                       kg_error *error) {
  const gguf_value *v = NULL;
  kg_status s = find(file, key, true, is_text, "an array of texts", &v, error);
  if (s != KG_OK) return s;
  *list = calloc(v->count + 1, sizeof **list);
  if (!*list) return kg_fail(error, KG_OUT_OF_MEMORY, "%s: out of memory", file->name);
  const uint8_t *data = v->data;
  for (size_t i = 0; i < v->count; i++) (*list)[i] = next_text(&data);
  *count = v->count;
  return KG_OK;
}

kg_status gguf_integers(const gguf_file *file, const char *key, int64_t **list, size_t *count,
                        kg_error *error) {
  const gguf_value *v = NULL;
  kg_status s = find(file, key, true, is_integer, "an array of integers", &v, error);
  if (s != KG_OK) return s;
  *list = calloc(v->count + 1, sizeof **list);
  if (!*list) return kg_fail(error, KG_OUT_OF_MEMORY, "%s: out of memory", file->name);
  for (size_t i = 0; i < v->count; i++)
    (*list)[i] = load_integer(v->data + i * kinds[v->kind].bytes, v->kind);
  *count = v->count;
  return KG_OK;
}

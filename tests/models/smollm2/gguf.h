/* gguf.h: reads a GGUF file (version 2 or 3, little-endian): values by key, tensors by name.
**
** A file is checked as a whole when it is opened: every length, count, offset and type in it is
** inside the file and known, so what is handed out can be read without a further check.  Names,
** texts and tensor data point into the file's bytes and live until gguf_close.
**
** What fails gives KG_BAD_ARGUMENT, KG_TOO_LARGE or KG_OUT_OF_MEMORY with a sentence that names the
** file, and the key or tensor at fault.
**
** Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
#ifndef SMOLLM2_GGUF_H
#define SMOLLM2_GGUF_H

#include "kg.h"

/* Not NUL-terminated. */
typedef struct gguf_text {
  const char *data;
  size_t bytes;
} gguf_text;

bool gguf_text_is(gguf_text text, const char *word);

typedef enum gguf_kind {
  GGUF_U8,
  GGUF_I8,
  GGUF_U16,
  GGUF_I16,
  GGUF_U32,
  GGUF_I32,
  GGUF_F32,
  GGUF_BOOL,
  GGUF_TEXT,
  GGUF_ARRAY,
  GGUF_U64,
  GGUF_I64,
  GGUF_F64,
  GGUF_KINDS
} gguf_kind;

/* A key with its value: `count` elements of `kind` from `data` on; one unless it is an array. */
typedef struct gguf_value {
  gguf_text key;
  gguf_kind kind;
  bool array;
  size_t count;
  const uint8_t *data;
} gguf_value;

/* The element types of tensors that are known here, with the format's numbers. */
typedef enum gguf_dtype {
  GGUF_TENSOR_F32 = 0,
  GGUF_TENSOR_F16 = 1,
  GGUF_TENSOR_Q4_0 = 2,
  GGUF_TENSOR_Q4_1 = 3,
  GGUF_TENSOR_Q8_0 = 8
} gguf_dtype;

const char *gguf_dtype_name(gguf_dtype dtype);

enum { GGUF_MAX_RANK = 4 };

/* shape is innermost first, as the file has it: a matrix of rows is [columns, rows]. */
typedef struct gguf_tensor {
  gguf_text name;
  gguf_dtype dtype;
  int rank;
  uint64_t shape[GGUF_MAX_RANK]; /* ones past the rank */
  const uint8_t *data;
  size_t bytes;
} gguf_tensor;

typedef struct gguf_file {
  const char *name; /* the caller's, for messages */
  const uint8_t *data;
  size_t bytes;
  bool mapped;
  size_t value_count, tensor_count;
  gguf_value *values;
  gguf_tensor *tensors;
} gguf_file;

/* Maps the file at path and checks it; the text `path` must outlive *file.  On failure *file is
** empty. */
kg_status gguf_open(const char *path, gguf_file *file, kg_error *error);

/* The same for bytes in memory, which stay the caller's and must outlive *file. */
kg_status gguf_read(const char *name, const void *bytes, size_t count, gguf_file *file,
                    kg_error *error);

void gguf_close(gguf_file *file);

/* NULL where there is none of this name. */
const gguf_value *gguf_find_value(const gguf_file *file, const char *key);
const gguf_tensor *gguf_find_tensor(const gguf_file *file, const char *name);

/* One value of a key that must be there and be of that sort; an integer of any width is taken when
** it is not negative, a real number of either. */
kg_status gguf_integer(const gguf_file *file, const char *key, uint64_t *value, kg_error *error);
kg_status gguf_real(const gguf_file *file, const char *key, double *value, kg_error *error);
kg_status gguf_string(const gguf_file *file, const char *key, gguf_text *value, kg_error *error);

/* An array; the caller frees *list. */
kg_status gguf_strings(const gguf_file *file, const char *key, gguf_text **list, size_t *count,
                       kg_error *error);
kg_status gguf_integers(const gguf_file *file, const char *key, int64_t **list, size_t *count,
                        kg_error *error);

/* Little-endian, at any address. */
uint16_t gguf_load_u16(const uint8_t *from);
float gguf_load_f32(const uint8_t *from);

#endif

/* npy.c: NumPy's files, format 1.0 to 3.0, in C order.  See native.h and NumPy's "NEP 1". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ROOM = 16 };

/* The value behind `'key':`. */
static const char *find_key(const char *head, const char *key) {
  const char *at = strstr(head, key);
  if (!at) return NULL;
  at += strlen(key) + 1;
  while (*at == ' ' || *at == ':') at++;
  return at;
}

/* "<f4", "|u1", "<V2" */
static bool read_type(const char *at, NumberType *type) {
  if (!at || (*at != '\'' && *at != '"') || at[1] == '>' || !strchr("<|=", at[1])) return false;
  const char kind = at[2];
  type->bytes = (unsigned)atoi(at + 3);
  type->bfloat = kind == 'V' && type->bytes == 2; /* as ml_dtypes writes bfloat16 */
  type->kind = kind == 'f' || type->bfloat ? NUMBER_FLOAT
               : kind == 'i'               ? NUMBER_SIGNED
               : kind == 'u'               ? NUMBER_UNSIGNED
               : kind == 'b'               ? NUMBER_BOOL
                                           : NUMBER_OTHER;
  return type->bytes > 0 && type->bytes <= 8 && type->kind != NUMBER_OTHER;
}

static bool read_shape(const char *at, Npy *npy) {
  if (!at || *at != '(') return false;
  npy->rank = 0, npy->count = 1;
  for (at++; *at && *at != ')';) {
    char *end;
    if (*at == ',' || *at == ' ') {
      at++;
      continue;
    }
    const long long n = strtoll(at, &end, 10);
    if (end == at || n < 0 || npy->rank == 8 || (n > 0 && npy->count > INT64_MAX / 16 / n))
      return false;
    npy->shape[npy->rank++] = n, npy->count *= n;
    at = end;
  }
  return *at == ')';
}

bool npy_read(Arena *a, const char *path, Npy *npy, const char **why) {
  FILE *in = fopen(path, "rbe");
  unsigned char first[12];
  *why = "it is no file of NumPy's (.npy)";
  if (!in) return *why = strerror(errno), false;
  bool good = fread(first, 1, 10, in) == 10 && memcmp(first, magic, MAGIC) == 0;
  const bool wide = good && first[6] > 1;
  if (wide) good = fread(first + 10, 1, 2, in) == 2;
  size_t length = good ? (size_t)first[8] | (size_t)first[9] << 8 : 0;
  if (wide) length |= (size_t)first[10] << 16 | (size_t)first[11] << 24;
  good = good && length < 1 << 16;
  char *head = good ? arena_alloc(a, length + 1) : NULL;
  good = good && fread(head, 1, length, in) == length;
  if (good && !read_type(find_key(head, "'descr'"), &npy->type))
    good = false, *why = "its elements are not little-endian numbers";
  const char *order = good ? find_key(head, "'fortran_order'") : NULL;
  if (good && (!order || strncmp(order, "False", 5) != 0))
    good = false, *why = "its elements are not in C order";
  good = good && read_shape(find_key(head, "'shape'"), npy);
  if (good) {
    const size_t bytes = (size_t)npy->count * npy->type.bytes;
    void *data = arena_alloc(a, bytes + ROOM);
    npy->data = data;
    if (fread(data, 1, bytes, in) != bytes) good = false, *why = "it is cut off";
  }
  fclose(in);
  return good;
}

bool npy_write(const char *path, const Npy *npy, const char **why) {
  static const char kinds[] = {'u', 'f', 'i', 'u', 'b'};
  char head[256], shape[128] = "";
  for (int i = 0; i < npy->rank; i++)
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld,%s",
             (long long)npy->shape[i], i + 1 < npy->rank ? " " : "");
  const char kind = npy->type.bfloat ? 'V' : kinds[npy->type.kind];
  int length =
      snprintf(head, sizeof head, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (%s), }",
               npy->type.bytes == 1 ? '|' : '<', kind, npy->type.bytes, shape);
  while ((10 + length + 1) % 64) head[length++] = ' ';
  head[length++] = '\n';
  FILE *out = fopen(path, "wbe");
  if (!out) return *why = strerror(errno), false;
  const unsigned char start[4] = {1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
  const size_t bytes = (size_t)npy->count * npy->type.bytes;
  bool good = fwrite(magic, 1, MAGIC, out) == MAGIC && fwrite(start, 1, 4, out) == 4 &&
              fwrite(head, 1, (size_t)length, out) == (size_t)length &&
              fwrite(npy->data, 1, bytes, out) == bytes;
  const int code = errno;
  if (fclose(out)) good = false;
  if (!good) *why = strerror(code);
  return good;
}

/* fill.c: numbers of any kind in memory, and what a buffer holds at first.  See native.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

typedef struct NumberRow {
  const char *name;
  NumberType type;
} NumberRow;

static const NumberRow rows[] = {
    {"f32", {NUMBER_FLOAT, 4, false}},    {"f64", {NUMBER_FLOAT, 8, false}},
    {"f16", {NUMBER_FLOAT, 2, false}},    {"bf16", {NUMBER_FLOAT, 2, true}},
    {"i8", {NUMBER_SIGNED, 1, false}},    {"i16", {NUMBER_SIGNED, 2, false}},
    {"i32", {NUMBER_SIGNED, 4, false}},   {"i64", {NUMBER_SIGNED, 8, false}},
    {"u8", {NUMBER_UNSIGNED, 1, false}},  {"u16", {NUMBER_UNSIGNED, 2, false}},
    {"u32", {NUMBER_UNSIGNED, 4, false}}, {"u64", {NUMBER_UNSIGNED, 8, false}},
    {"bool", {NUMBER_BOOL, 1, false}},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *number_name(NumberType t) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].type.kind == t.kind && rows[i].type.bytes == t.bytes &&
        rows[i].type.bfloat == t.bfloat)
      return rows[i].name;
  return "bytes";
}

bool number_named(const char *name, NumberType *type) {
  for (int i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, name) == 0) return *type = rows[i].type, true;
  return false;
}

kg_dtype number_dtype(NumberType t) {
  const kg_dtype dtype = kg_dtype_find(number_name(t));
  if (dtype != KG_DTYPES) return dtype;
  return t.bytes == 8 ? KG_U64 : KG_U8;
}

static void *element(NumberType t, void *data, int64_t i) { return (char *)data + i * t.bytes; }

double number_get(NumberType t, const void *data, int64_t i) {
  const char *at = (const char *)data + i * t.bytes;
  uint16_t narrow;
  float f;
  double d;
  if (t.kind != NUMBER_FLOAT) {
    const int64_t x = number_get_whole(t, data, i);
    return t.kind == NUMBER_SIGNED ? (double)x : (double)(uint64_t)x;
  }
  switch (t.bytes) {
  case 2:
    memcpy(&narrow, at, 2);
    return t.bfloat ? kg_f64_from_bf16(narrow) : kg_f64_from_f16(narrow);
  case 4: memcpy(&f, at, 4); return (double)f;
  default: memcpy(&d, at, 8); return d;
  }
}

int64_t number_get_whole(NumberType t, const void *data, int64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + i * t.bytes, t.bytes <= 8 ? t.bytes : 8);
  const unsigned unused = t.bytes < 8 ? 64 - 8 * t.bytes : 0;
  return t.kind == NUMBER_SIGNED ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

void number_put_whole(NumberType t, void *data, int64_t i, int64_t x) {
  memcpy(element(t, data, i), &x, t.bytes <= 8 ? t.bytes : 8);
}

void number_put(NumberType t, void *data, int64_t i, double x) {
  if (t.kind == NUMBER_FLOAT && t.bytes == 8) {
    memcpy(element(t, data, i), &x, 8);
  } else if (t.kind == NUMBER_FLOAT && t.bytes == 4) {
    const float f = (float)x;
    memcpy(element(t, data, i), &f, 4);
  } else if (t.kind == NUMBER_FLOAT) {
    const uint16_t bits = t.bfloat ? kg_bf16_from_f64(x) : kg_f16_from_f64(x);
    memcpy(element(t, data, i), &bits, 2);
  } else if (t.kind == NUMBER_BOOL)
    number_put_whole(t, data, i, x != 0);
  else
    number_put_whole(t, data, i, fabs(x) < 0x1p63 ? (int64_t)x : 0);
}

/* ---- words ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) { /* SplitMix64's, from Steele, Lea and Flood */
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static double uniform(uint64_t key, int64_t i) {
  return ((double)(mix(key ^ mix((uint64_t)i)) >> 12) + 0.5) * 0x1p-52;
}

static double normal(uint64_t key, int64_t i) {
  const double u = uniform(key, 2 * i), v = uniform(key, 2 * i + 1);
  return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

typedef double NumberMaker(NumberType t, uint64_t key, int64_t i);
static double zeros(NumberType t, uint64_t key, int64_t i) {
  return (void)t, (void)key, (void)i, 0;
}
static double ones(NumberType t, uint64_t key, int64_t i) { return (void)t, (void)key, (void)i, 1; }
static double counted(NumberType t, uint64_t key, int64_t i) {
  return (void)t, (void)key, (double)i;
}
static double between(NumberType t, uint64_t key, int64_t i) {
  const double u = uniform(key, i);
  return t.kind == NUMBER_FLOAT ? u : floor(u * (t.kind == NUMBER_BOOL ? 2 : 16));
}
static double standard(NumberType t, uint64_t key, int64_t i) {
  return t.kind == NUMBER_FLOAT ? normal(key, i) : between(t, key, i);
}
static double nans(NumberType t, uint64_t key, int64_t i) {
  return (void)key, (void)i, t.kind == NUMBER_FLOAT ? (double)NAN : 0;
}

static const struct {
  const char *name;
  NumberMaker *make;
} makers[] = {{"normal", standard}, {"uniform", between}, {"zeros", zeros},
              {"ones", ones},       {"arange", counted},  {"nan", nans}};
enum { MAKERS = sizeof makers / sizeof *makers };

static bool read_number(const char *how, double *x) {
  char *end;
  if (strcmp(how, "true") == 0 || strcmp(how, "false") == 0) return *x = how[0] == 't', true;
  *x = strtod(how, &end);
  return *how && (*end == 0 || ((*end == 'f' || *end == 'u') && end[1] == 0));
}

bool number_word(const char *how) {
  double x;
  for (int i = 0; i < MAKERS; i++)
    if (strcmp(makers[i].name, how) == 0) return true;
  return read_number(how, &x);
}

bool number_fill(NumberType t, void *data, int64_t count, const char *how, uint64_t seed) {
  double x;
  if (t.kind == NUMBER_OTHER) { /* bytes, of which no float of any width is large */
    for (int64_t i = 0; i < count * t.bytes; i++)
      ((unsigned char *)data)[i] =
          strcmp(how, "zeros") == 0 ? 0 : (unsigned char)(mix(seed ^ mix((uint64_t)i)) & 0x3b);
    return strcmp(how, "zeros") == 0 || strcmp(how, "normal") == 0;
  }
  for (int m = 0; m < MAKERS; m++) {
    if (strcmp(makers[m].name, how) != 0) continue;
    for (int64_t i = 0; i < count; i++) number_put(t, data, i, makers[m].make(t, seed, i));
    return true;
  }
  if (!read_number(how, &x)) return false;
  errno = 0;
  char *end;
  const long long whole = strtoll(how, &end, 0);
  const bool exact = t.kind != NUMBER_FLOAT && *end == 0 && errno == 0;
  for (int64_t i = 0; i < count; i++)
    if (exact)
      number_put_whole(t, data, i, whole);
    else
      number_put(t, data, i, x);
  return true;
}

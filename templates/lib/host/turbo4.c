/* turbo4.c: see turbo4.h. */
#include "turbo4.h"

#include <math.h>

enum { LLOYD_ROUNDS = 100, UPPER = KG_TURBO4_LEVELS / 2 };

static const uint32_t second_diagonal = 0x9E3779B9u, key_stream = 0x4B5F5345u;

/* ---- the codebook ---------------------------------------------------------------------------- */

static double density(double x) { return exp(-x * x / 2) / sqrt(2 * acos(-1)); }
static double above(double x) { return erfc(x / sqrt(2)) / 2; } /* the probability of more than x */

/* The x >= 0 that is exceeded with probability p <= 1/2. */
static double quantile_above(double p) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    if (above(middle) > p)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

/* The values above 0 are enough, as the others mirror them; the boundary between is 0. */
void kg_turbo4_centroids(size_t dim, double centroids[KG_TURBO4_LEVELS]) {
  double c[UPPER];
  for (int i = 0; i < UPPER; i++) c[i] = quantile_above((UPPER - i - 0.5) / KG_TURBO4_LEVELS);
  for (int round = 0; round < LLOYD_ROUNDS; round++) {
    double from = 0;
    for (int i = 0; i < UPPER; i++) { /* each becomes the mean of what is nearest to it */
      const bool last = i == UPPER - 1;
      const double to = last ? INFINITY : (c[i] + c[i + 1]) / 2;
      c[i] = (density(from) - (last ? 0 : density(to))) / (above(from) - (last ? 0 : above(to)));
      from = to;
    }
  }
  for (int i = 0; i < UPPER; i++) {
    centroids[UPPER + i] = c[i] / sqrt((double)dim);
    centroids[UPPER - 1 - i] = -centroids[UPPER + i];
  }
}

/* ---- the format ------------------------------------------------------------------------------ */

void kg_turbo4_signs(uint32_t seed, size_t dim, int8_t *signs) {
  uint32_t x = seed ? seed : 0xDEADBEEFu;
  for (size_t i = 0; i < dim; i++) {
    x = 1664525u * x + 1013904223u;
    signs[i] = x >> 31 ? -1 : 1;
  }
}

kg_status kg_turbo4_init(kg_turbo4 *format, size_t dim, uint32_t seed, bool keys, kg_error *error) {
  if (!format) return kg_fail(error, KG_BAD_ARGUMENT, "kg_turbo4_init: format must not be null");
  if (dim < 8 || dim > KG_TURBO4_MOST_DIM || (dim & (dim - 1)) != 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_turbo4_init: a vector has %zu elements, but must have a power of two from 8 "
                   "to %d",
                   dim, KG_TURBO4_MOST_DIM);
  double centroids[KG_TURBO4_LEVELS];
  kg_turbo4_centroids(dim, centroids);
  format->dim = dim;
  for (int i = 0; i < KG_TURBO4_LEVELS; i++) format->codebook[i] = (float)centroids[i];
  for (int i = 0; i + 1 < KG_TURBO4_LEVELS; i++)
    format->boundaries[i] = (centroids[i] + centroids[i + 1]) / 2;
  if (keys) seed += key_stream;
  kg_turbo4_signs(seed, dim, format->signs1);
  kg_turbo4_signs(seed + second_diagonal, dim, format->signs2);
  return KG_OK;
}

static kg_status check(const kg_turbo4 *format, bool pointers, const char *who, kg_error *error) {
  if (!format || !pointers) return kg_fail(error, KG_BAD_ARGUMENT, "%s: a pointer is null", who);
  if (format->dim == 0 || format->dim > KG_TURBO4_MOST_DIM)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: the format is not one of kg_turbo4_init", who);
  return KG_OK;
}

/* ---- rotation -------------------------------------------------------------------------------- */

/* v <- second H first v. */
static void rotate(double *v, size_t dim, const int8_t *first, const int8_t *second) {
  for (size_t i = 0; i < dim; i++) v[i] *= first[i];
  for (size_t apart = 1; apart < dim; apart *= 2)
    for (size_t i = 0; i < dim; i++)
      if ((i & apart) == 0) {
        const double a = v[i], b = v[i + apart];
        v[i] = a + b;
        v[i + apart] = a - b;
      }
  const double scale = 1 / sqrt((double)dim);
  for (size_t i = 0; i < dim; i++) v[i] *= scale * second[i];
}

static void rotate_rows(float *rows, size_t count, size_t dim, const int8_t *first,
                        const int8_t *second) {
  double v[KG_TURBO4_MOST_DIM];
  for (size_t r = 0; r < count; r++, rows += dim) {
    for (size_t i = 0; i < dim; i++) v[i] = rows[i];
    rotate(v, dim, first, second);
    for (size_t i = 0; i < dim; i++) rows[i] = (float)v[i];
  }
}

kg_status kg_turbo4_rotate(const kg_turbo4 *format, float *rows, size_t count, kg_error *error) {
  const kg_status s = check(format, rows || count == 0, "kg_turbo4_rotate", error);
  if (s == KG_OK) rotate_rows(rows, count, format->dim, format->signs1, format->signs2);
  return s;
}

kg_status kg_turbo4_unrotate(const kg_turbo4 *format, float *rows, size_t count, kg_error *error) {
  const kg_status s = check(format, rows || count == 0, "kg_turbo4_unrotate", error);
  if (s == KG_OK) rotate_rows(rows, count, format->dim, format->signs2, format->signs1);
  return s;
}

/* ---- vectors --------------------------------------------------------------------------------- */

static double length(const double *v, size_t dim) {
  double sum = 0;
  for (size_t i = 0; i < dim; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

static unsigned code_of(const kg_turbo4 *format, double y) {
  unsigned below = 0;
  while (below < KG_TURBO4_LEVELS - 1 && format->boundaries[below] < y) below++;
  return below;
}

/* v holds the vector, and its rotation afterwards.  The norm of what the codes stand for. */
static double encode_codes(const kg_turbo4 *format, double *v, double norm, uint8_t *packed) {
  for (size_t i = 0; i < format->dim; i++) v[i] /= norm > 0 ? norm : 1;
  rotate(v, format->dim, format->signs1, format->signs2);
  double kept = 0;
  for (size_t i = 0; i < format->dim; i++) {
    const unsigned code = code_of(format, v[i]);
    if (i % 2 == 0)
      packed[i / 2] = (uint8_t)code;
    else
      packed[i / 2] = (uint8_t)(packed[i / 2] | code << 4);
    kept += (double)format->codebook[code] * format->codebook[code];
  }
  return sqrt(kept);
}

kg_status kg_turbo4_encode(const kg_turbo4 *format, const float *vectors, size_t count,
                           uint8_t *packed, uint16_t *rescale, uint16_t *norms, kg_error *error) {
  double v[KG_TURBO4_MOST_DIM];
  const bool pointers = count == 0 || (vectors && packed && rescale);
  const kg_status s = check(format, pointers, "kg_turbo4_encode", error);
  if (s != KG_OK) return s;
  for (size_t n = 0; n < count; n++) {
    for (size_t i = 0; i < format->dim; i++) {
      v[i] = vectors[n * format->dim + i];
      if (!isfinite(v[i]))
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_turbo4_encode: element %zu of vector %zu is not finite", i, n);
    }
    const double norm = length(v, format->dim);
    const double kept = encode_codes(format, v, norm, packed + n * (format->dim / 2));
    const double by = norm / fmax(kept, 1e-10);
    if (isinf(kg_f64_from_f16(kg_f16_from_f64(fmax(norm, by)))))
      return kg_fail(error, KG_BAD_ARGUMENT,
                     "kg_turbo4_encode: vector %zu has the norm %g, which does not fit into f16", n,
                     norm);
    rescale[n] = kg_f16_from_f64(by);
    if (norms) norms[n] = kg_f16_from_f64(norm);
  }
  return KG_OK;
}

kg_status kg_turbo4_decode(const kg_turbo4 *format, const uint8_t *packed, const uint16_t *rescale,
                           size_t count, float *vectors, kg_error *error) {
  double v[KG_TURBO4_MOST_DIM];
  const bool pointers = count == 0 || (vectors && packed && rescale);
  const kg_status s = check(format, pointers, "kg_turbo4_decode", error);
  if (s != KG_OK) return s;
  for (size_t n = 0; n < count; n++) {
    const uint8_t *codes = packed + n * (format->dim / 2);
    const double by = kg_f64_from_f16(rescale[n]);
    for (size_t i = 0; i < format->dim; i++)
      v[i] = by * format->codebook[i % 2 ? codes[i / 2] >> 4 : codes[i / 2] & 15];
    rotate(v, format->dim, format->signs2, format->signs1);
    for (size_t i = 0; i < format->dim; i++) vectors[n * format->dim + i] = (float)v[i];
  }
  return KG_OK;
}

uint32_t kg_turbo4_slots(uint64_t Tq) { return Tq <= 1 ? 1 : 4; }

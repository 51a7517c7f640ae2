/* data.c: see data.h. */
#include "verify/data.h"

#include <math.h>

#include "verify/element.h"

/* ---- random numbers by counter: an element's value depends on nothing else ------------- */

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t trial_hash(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static double uniform(uint64_t bits) {
  return ((double)(bits >> 11) + 0.5) * 0x1p-53;
} /* in (0, 1) */

/* Standard normal, by Box and Muller. */
static double normal(uint64_t key, uint64_t index) {
  const double u = uniform(trial_hash(key ^ trial_hash(2 * index))),
               v = uniform(trial_hash(key ^ trial_hash(2 * index + 1)));
  return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* ---- an element ------------------------------------------------------------------------------ */

typedef struct At {
  uint64_t key, index; /* the element, from the tensor's first */
  uint64_t row;        /* its last dim's number; of a tensor of one dim: 0 */
  uint64_t column, columns, rows;
  kg_dtype dtype;
  int64_t bound; /* of DATA_DIMS: the dim's value */
} At;

static uint64_t dice(const At *at, uint64_t salt) {
  return trial_hash(at->key ^ trial_hash(at->index ^ trial_hash(salt)));
}

/* The same for all of a row. */
static uint64_t row_dice(const At *at, uint64_t salt) {
  return trial_hash(at->key ^ trial_hash(at->row ^ trial_hash(salt + 1000)));
}

/* The same for all of a row; in a list, for sixteen. */
static uint64_t part_dice(const At *at, uint64_t salt) {
  return at->rows > 1 ? row_dice(at, salt)
                      : trial_hash(at->key ^ trial_hash(at->column / 16 ^ trial_hash(salt + 1000)));
}

static int fraction_bits(kg_dtype dtype) { return kg_dtype_info(dtype)->fraction; }
static double smallest(kg_dtype dtype) { return kg_f64_from_float(dtype, 1); }

/* Between two neighbours of a dtype narrower than this one, and sometimes next to that. */
static double midpoint(const At *at, double x) {
  static const int narrower[] = {10, 7}; /* f16, bf16 */
  const int bits = narrower[part_dice(at, 3) % 2];
  int e;
  const double m = frexp(x, &e), scale = ldexp(1, bits + 1);
  const double mid = ldexp((floor(m * scale) + 0.5) / scale, e);
  return dice(at, 4) % 4 ? mid : mid * (1 + ldexp(1, -fraction_bits(at->dtype)));
}

/* Rows of nothing but this, rows with none, and rows with some; one row is as any other. */
static double sprinkled(const At *at, double what, double x) {
  switch (row_dice(at, 5) % 4) {
  case 0: return at->rows > 1 || at->key % 3 == 0 ? what : x;
  case 1: return at->rows > 1 || at->key % 3 == 0 ? x : at->column % 3 == 0 ? what : x;
  case 2: return dice(at, 6) % 2 ? what : x;
  default: return dice(at, 6) % 11 == 0 || at->column == at->key % at->columns ? what : x;
  }
}

/* Half way between two steps of a quantiser of 8 or 4 bits whose scale is then 1; the largest
** stands wherever a block may begin. */
static double half_step(const At *at) {
  const int64_t largest = part_dice(at, 7) % 2 ? 127 : 7;
  const bool first = at->column % 16 == 0;
  const double x = first
                       ? (double)largest
                       : (double)((int64_t)(dice(at, 1) % (uint64_t)(2 * largest)) - largest) + 0.5;
  return first && dice(at, 8) % 2 ? -x : x;
}

static double float_of(DataClass data, const At *at) {
  const double x = normal(at->key, at->index);
  switch (data) {
  case DATA_HUNDREDFOLD: return 100 * x;
  case DATA_RAISED: return 100 + x;
  case DATA_LOWERED: return -200 + x;
  case DATA_SMALL: return 1e-6 * x;
  case DATA_THOUSANDS: return 5000 * x;
  case DATA_LOW: return -30000 + 16 * x;
  case DATA_TENTHS: return 0.1;
  case DATA_PEAKED: return at->column == row_dice(at, 1) % at->columns ? x + 20 : x;
  case DATA_TIES:
    return ldexp((double)((int64_t)(dice(at, 1) % 9) - 4), -1 - (int)(part_dice(at, 2) % 3));
  case DATA_HALVES: return (double)((int64_t)(dice(at, 1) % 300) - 150) + 0.5;
  case DATA_STEPS: return half_step(at);
  case DATA_MIDPOINTS: return midpoint(at, x);
  case DATA_SIGNED_ZEROS: return dice(at, 1) % 4 == 0 ? x : dice(at, 1) % 2 ? -0.0 : 0.0;
  case DATA_ZEROS: return 0;
  case DATA_CONSTANT:
    return row_dice(at, 1) % 4 == 0 ? 0
                                    : normal(at->key, at->row) * (row_dice(at, 2) % 2 ? 100 : 1);
  case DATA_RISING: return (double)at->column / 8 + (double)at->row - 3;
  case DATA_MINUS_INF: return sprinkled(at, -INFINITY, x);
  case DATA_PLUS_INF: return sprinkled(at, INFINITY, x);
  case DATA_NAN: return sprinkled(at, (double)NAN, x);
  case DATA_LARGE_ROW:
    return at->row == at->key % at->rows ? x * fmin(1e9, dtype_largest(at->dtype) / 64) : x;
  case DATA_BEYOND: return x * fmin(1e10, dtype_largest(at->dtype) / 8);
  case DATA_SUBNORMAL: return smallest(at->dtype) * (double)((int64_t)(dice(at, 1) % 4096) - 2048);
  case DATA_LARGEST: return dice(at, 1) % 3 ? x : copysign(dtype_largest(at->dtype), x);
  case DATA_LOWEST: return -fmin(2e30, dtype_largest(at->dtype)) * (1 - uniform(dice(at, 1)) / 2);
  default: return x;
  }
}

static int64_t integer_of(DataClass data, const At *at) {
  const int bits = 8 * (int)kg_dtype_bytes(at->dtype);
  const bool is_signed = kg_dtype_info(at->dtype)->kind == KG_KIND_SIGNED;
  const uint64_t h = dice(at, 1), top = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  const uint64_t most = at->bound > 0 ? (uint64_t)at->bound : 0;
  switch (data) {
  case DATA_BITS: return (int64_t)h;
  case DATA_ENDS: {
    const uint64_t ends[] = {0, 1, top, top >> 1, (top >> 1) + 1};
    return (int64_t)ends[h % 5];
  }
  case DATA_FEW: return is_signed ? (int64_t)(h % 9) - 4 : (int64_t)(h % 4);
  case DATA_MASKS: {
    const uint64_t masks[] = {0, 1, 2, top, UINT64_C(1) << (bits - 1)};
    return (int64_t)masks[row_dice(at, 2) % 5 == 0 ? 0 : h % 5];
  }
  case DATA_ONES: return 1;
  case DATA_BELOW: return most > 0 ? (int64_t)(h % most) : 0;
  case DATA_UP_TO: return (int64_t)(h % (most + 1));
  case DATA_SORTED: return at->columns > 1 ? (int64_t)(most * at->column / (at->columns - 1)) : 0;
  case DATA_LAST: return most > 0 ? (int64_t)most - 1 : 0;
  default: return 0;
  }
}

/* ---- within what is declared ------------------------------------------------------------------ */

/* An integer's bounds; false: nothing is said. */
static bool integer_domain(const ArgDomain *d, const int64_t *values, int64_t *low, int64_t *high) {
  if (d->has_index) {
    int64_t count = 0;
    *low = 0;
    *high = expr_eval(&d->index, values, &count) && count > 0 ? count - 1 : 0;
  } else if (d->has_range) {
    *low = (int64_t)d->low;
    *high = (int64_t)d->high;
  }
  return d->has_index || d->has_range;
}

static int64_t integer_within(DataClass data, const At *at, int64_t low, int64_t high) {
  const uint64_t span = (uint64_t)high - (uint64_t)low, h = dice(at, 1);
  const uint64_t off = span == UINT64_MAX ? h : h % (span + 1);
  switch (data) {
  case DATA_ENDS: return h % 2 ? low : high;
  case DATA_ONES: return low > 1 ? low : high < 1 ? high : 1;
  case DATA_NOUGHTS: return low > 0 ? low : high < 0 ? high : 0;
  case DATA_FEW: return (int64_t)((uint64_t)low + (span < 3 ? off : h % 3)); /* equal ones */
  default: return (int64_t)((uint64_t)low + off);
  }
}

static double float_within(DataClass data, const At *at, double low, double high) {
  if (data == DATA_PLAIN) return low + (high - low) * uniform(dice(at, 1));
  if (data == DATA_LARGEST) return dice(at, 1) % 2 ? low : high;
  const double x = float_of(data, at);
  return x < low ? low : x > high ? high : x;
}

bool data_admitted(const Kernel *k, int arg, kg_dtype dtype, DataClass data) {
  const ArgDomain *d = &k->domains[arg];
  const bool is_float = dtype_is_float(dtype), declared = d->has_index || d->has_range;
  if (data == DATA_PLAIN) return true;
  if ((data_facts[data].kind == DATA_FLOATS) != is_float) return false;
  if (is_float && (d->finite || d->has_range) &&
      (data == DATA_NAN || data == DATA_MINUS_INF || data == DATA_PLUS_INF))
    return false;
  if (is_float) return true;
  return !declared || data == DATA_ENDS || data == DATA_FEW || data == DATA_ONES ||
         data == DATA_NOUGHTS;
}

void data_fill(const Kernel *k, int arg, InputData data, uint64_t key, const int64_t *values,
               ref_tensor *t) {
  const ArgDomain *d = &k->domains[arg];
  At at = {.key = key, .dtype = (kg_dtype)t->dtype};
  at.columns = t->rank > 0 && t->shape[t->rank - 1] > 0 ? (uint64_t)t->shape[t->rank - 1] : 1;
  at.rows = t->count > 0 ? (uint64_t)t->count / at.columns : 1;
  if (at.rows == 0) at.rows = 1;
  at.bound = data_facts[data.is].kind == DATA_DIMS ? values[data.dim] : 0;
  int64_t low = 0, high = 0;
  const bool within = !t->real && integer_domain(d, values, &low, &high);
  for (int64_t i = 0; i < t->count; i++) {
    at.index = (uint64_t)i;
    at.row = (uint64_t)i / at.columns;
    at.column = (uint64_t)i % at.columns;
    if (t->real)
      t->real[i] =
          d->has_range ? float_within(data.is, &at, d->low, d->high) : float_of(data.is, &at);
    else
      t->whole[i] = within ? integer_within(data.is, &at, low, high) : integer_of(data.is, &at);
  }
}

double tensor_largest(const ref_tensor *t) {
  double most = 0;
  for (int64_t i = 0; t->real && i < t->count; i++)
    if (isfinite(t->real[i])) most = fmax(most, fabs(t->real[i]));
  return most;
}

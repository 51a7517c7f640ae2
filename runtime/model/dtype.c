/* dtype.c: the rows of dtype.def, and conversion between doubles and floats of any row.
**
** Conversions take a double, so that a test can round once from a reference in double precision;
** a detour by float would round twice. */
#include <math.h>
#include <string.h>

#include "kg.h"

static const kg_dtype_facts dtypes[KG_DTYPES] = {
#define KG_DTYPE(id, name, mlx, bytes, kind, exponent, fraction, bias, special, c)                 \
  {name, mlx, #id, bytes, KG_KIND_##kind, exponent, fraction, bias, KG_SPECIAL_##special, c},
#include "model/dtype.def"
#undef KG_DTYPE
};

/* A float's fields fill its bytes, and a double holds more than each of them; no other row has
** any. */
#define KG_DTYPE(id, name, mlx, bytes, kind, exponent, fraction, bias, special, c)                 \
  _Static_assert(KG_KIND_##kind == KG_KIND_FLOAT                                                   \
                     ? 1 + (exponent) + (fraction) == 8 * (bytes) && (exponent) < 11 &&            \
                           (fraction) > 0 && (fraction) < 52 && (bias) > 0 && (bias) < 1023 &&     \
                           KG_SPECIAL_##special != KG_SPECIAL_NONE                                 \
                     : (exponent) + (fraction) + (bias) == 0 &&                                    \
                           KG_SPECIAL_##special == KG_SPECIAL_NONE,                                \
                 "dtype.def: the fields of " name);                                                \
  _Static_assert((bytes) == 1 || (bytes) == 2 || (bytes) == 4 || (bytes) == 8,                     \
                 "dtype.def: the bytes of " name);
#include "model/dtype.def"
#undef KG_DTYPE

const kg_dtype_facts *kg_dtype_info(kg_dtype dtype) {
  return (unsigned)dtype < KG_DTYPES ? &dtypes[dtype] : NULL;
}

kg_dtype kg_dtype_find(const char *name) {
  for (int i = 0; i < KG_DTYPES; i++)
    if (strcmp(name, dtypes[i].name) == 0 || strcmp(name, dtypes[i].mlx_name) == 0)
      return (kg_dtype)i;
  return KG_DTYPES;
}

size_t kg_dtype_bytes(kg_dtype dtype) {
  const kg_dtype_facts *const t = kg_dtype_info(dtype);
  return t ? t->bytes : 0;
}

const char *kg_dtype_name(kg_dtype dtype) {
  const kg_dtype_facts *const t = kg_dtype_info(dtype);
  return t ? t->name : "no dtype";
}

const char *kg_dtype_mlx_name(kg_dtype dtype) {
  const kg_dtype_facts *const t = kg_dtype_info(dtype);
  return t ? t->mlx_name : "no_dtype";
}

/* ---- floats: sign, exponent, fraction -------------------------------------------------------- */

/* All bits below the sign. */
static uint64_t magnitude_of_ones(const kg_dtype_facts *t) {
  return (UINT64_C(1) << (t->exponent + t->fraction)) - 1;
}

/* The first magnitude that is no finite number: infinity's, or the one NaN's. */
static uint64_t magnitude_past_all(const kg_dtype_facts *t) {
  const uint64_t ones = magnitude_of_ones(t);
  return t->special == KG_SPECIAL_ONE_NAN ? ones : ones >> t->fraction << t->fraction;
}

static uint64_t nan_bits(const kg_dtype_facts *t, uint64_t sign, uint64_t low) {
  if (t->special == KG_SPECIAL_ONE_NAN) return magnitude_of_ones(t);
  const uint64_t payload = low >> (52 - t->fraction); /* its head, made quiet */
  return sign | magnitude_past_all(t) | payload | UINT64_C(1) << (t->fraction - 1);
}

uint64_t kg_float_from_f64(kg_dtype dtype, double x) {
  const kg_dtype_facts *const t = kg_dtype_info(dtype);
  if (!t || t->kind != KG_KIND_FLOAT) return 0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint64_t sign = bits >> 63 << (t->exponent + t->fraction);
  const uint64_t low = bits & ((UINT64_C(1) << 52) - 1);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024 && low != 0) return nan_bits(t, sign, low);

  /* Bits to drop; a value below the smallest normal one loses more, down to where nothing can be
  ** left. */
  const int smallest = 1 - t->bias;
  int drop = 52 - t->fraction;
  if (exponent < smallest) drop += smallest - exponent;
  if (drop > 54) return sign;
  const uint64_t whole = low | UINT64_C(1) << 52; /* a subnormal double has been dropped above */
  const uint64_t half = UINT64_C(1) << (drop - 1);
  const uint64_t odd = whole >> drop & 1;
  const uint64_t kept = (whole + half - 1 + odd) >> drop;

  /* The leading one of a normal value counts as one step of the exponent, and so does a carry
  ** out of the fraction: past the largest value it gives infinity's own bits. */
  const uint64_t below =
      exponent < smallest ? 0 : (uint64_t)(exponent + t->bias - 1) << t->fraction;
  const uint64_t past = magnitude_past_all(t);
  if (below + kept < past) return sign | (below + kept);
  return t->special == KG_SPECIAL_ONE_NAN ? past : sign | past;
}

double kg_f64_from_float(kg_dtype dtype, uint64_t bits) {
  const kg_dtype_facts *const t = kg_dtype_info(dtype);
  if (!t || t->kind != KG_KIND_FLOAT) return 0;
  const uint64_t magnitude = bits & magnitude_of_ones(t), past = magnitude_past_all(t);
  const uint64_t field = magnitude >> t->fraction;
  const uint64_t rest = magnitude & ((UINT64_C(1) << t->fraction) - 1);
  const double sign = bits >> (t->exponent + t->fraction) & 1 ? -1.0 : 1.0;
  if (magnitude > past || (magnitude == past && t->special == KG_SPECIAL_ONE_NAN))
    return copysign((double)NAN, sign);
  if (magnitude == past) return copysign((double)INFINITY, sign);
  if (field == 0) return copysign(ldexp((double)rest, 1 - t->bias - t->fraction), sign);
  const uint64_t exponent = (uint64_t)((int64_t)field - t->bias + 1023);
  const uint64_t wide = exponent << 52 | rest << (52 - t->fraction);
  double x;
  memcpy(&x, &wide, sizeof x);
  return copysign(x, sign);
}

uint16_t kg_f16_from_f64(double x) { return (uint16_t)kg_float_from_f64(KG_F16, x); }
uint16_t kg_bf16_from_f64(double x) { return (uint16_t)kg_float_from_f64(KG_BF16, x); }
double kg_f64_from_f16(uint16_t bits) { return kg_f64_from_float(KG_F16, bits); }
double kg_f64_from_bf16(uint16_t bits) { return kg_f64_from_float(KG_BF16, bits); }

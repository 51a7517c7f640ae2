/* dtype.c: sizes and names of the dtypes; conversion of the 16-bit storage types.
**
** Conversions take a double, so that a test can round once from a reference in double precision;
** a detour by float would round twice.  Both storage types are laid out as IEEE 754 lays out
** binary16: sign, exponent, fraction. */
#include <math.h>
#include <string.h>

#include "kg.h"

static const struct {
  size_t bytes;
  const char *name, *mlx_name;
} dtypes[KG_DTYPES] = {
    [KG_F32] = {4, "f32", "float32"},    [KG_F16] = {2, "f16", "float16"},
    [KG_BF16] = {2, "bf16", "bfloat16"}, [KG_I8] = {1, "i8", "int8"},
    [KG_U8] = {1, "u8", "uint8"},        [KG_I16] = {2, "i16", "int16"},
    [KG_U16] = {2, "u16", "uint16"},     [KG_I32] = {4, "i32", "int32"},
    [KG_U32] = {4, "u32", "uint32"},     [KG_I64] = {8, "i64", "int64"},
    [KG_U64] = {8, "u64", "uint64"},
};

static bool is_dtype(kg_dtype dtype) { return (unsigned)dtype < KG_DTYPES; }

size_t kg_dtype_bytes(kg_dtype dtype) { return is_dtype(dtype) ? dtypes[dtype].bytes : 0; }

const char *kg_dtype_name(kg_dtype dtype) {
  return is_dtype(dtype) ? dtypes[dtype].name : "no dtype";
}

const char *kg_dtype_mlx_name(kg_dtype dtype) {
  return is_dtype(dtype) ? dtypes[dtype].mlx_name : "no_dtype";
}

/* x rounded once, ties to even, to a sign, 15 - fraction exponent bits and fraction bits of
** fraction. */
static uint16_t round_to_16(double x, int fraction) {
  const int bias = (1 << (14 - fraction)) - 1;
  const uint32_t infinity = 0x7fffu >> fraction << fraction;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t sign = (uint32_t)(bits >> 63) << 15;
  const uint64_t low = bits & ((UINT64_C(1) << 52) - 1);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;

  if (exponent == 1024 && low != 0) { /* NaN: the head of its payload, made quiet */
    const uint32_t payload = (uint32_t)(low >> (52 - fraction));
    return (uint16_t)(sign | infinity | payload | 1u << (fraction - 1));
  }
  if (exponent > bias) return (uint16_t)(sign | infinity);

  /* Bits to drop; a value below the smallest normal one loses more, down to where nothing can be
  ** left. */
  const int smallest = 1 - bias;
  int drop = 52 - fraction;
  if (exponent < smallest) drop += smallest - exponent;
  if (drop > 54) return (uint16_t)sign;
  const uint64_t whole = low | UINT64_C(1) << 52; /* a subnormal double has been dropped above */
  const uint64_t half = UINT64_C(1) << (drop - 1);
  const uint64_t odd = whole >> drop & 1;
  const uint32_t kept = (uint32_t)((whole + half - 1 + odd) >> drop);

  /* The leading one of a normal value counts as one step of the exponent, and so does a carry
  ** out of the fraction. */
  const uint32_t below = exponent < smallest ? 0 : (uint32_t)(exponent + bias - 1) << fraction;
  return (uint16_t)(sign |
                    (below + kept)); /* a carry past the largest value gives infinity's own bits */
}

uint16_t kg_f16_from_f64(double x) { return round_to_16(x, 10); }
uint16_t kg_bf16_from_f64(double x) { return round_to_16(x, 7); }

double kg_f64_from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double x;
  if (exponent == 0x1f) x = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0) x = ldexp(fraction, -24);
  else x = ldexp(1024 + fraction, exponent - 25);
  return copysign(x, bits & 0x8000 ? -1.0 : 1.0);
}

double kg_f64_from_bf16(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float x;
  memcpy(&x, &wide, sizeof x);
  return (double)x;
}

/* element.c: see element.h. */
#include "verify/element.h"

uint64_t element_bits(kg_dtype dtype, const void *data, int64_t i) {
  const size_t bytes = kg_dtype_bytes(dtype);
  const unsigned char *at = (const unsigned char *)data + (size_t)i * bytes;
  uint64_t bits = 0;
  for (size_t b = 0; b < bytes; b++) bits |= (uint64_t)at[b] << (8 * b);
  return bits;
}

void element_put_bits(kg_dtype dtype, void *data, int64_t i, uint64_t bits) {
  const size_t bytes = kg_dtype_bytes(dtype);
  unsigned char *at = (unsigned char *)data + (size_t)i * bytes;
  for (size_t b = 0; b < bytes; b++) at[b] = (unsigned char)(bits >> (8 * b));
}

uint64_t element_bits_of_real(kg_dtype dtype, double x) {
  return dtype_is_float(dtype) ? kg_float_from_f64(dtype, x)
                               : element_bits_of_whole(dtype, (int64_t)x);
}

uint64_t element_bits_of_whole(kg_dtype dtype, int64_t x) {
  const size_t bits = 8 * kg_dtype_bytes(dtype);
  return bits == 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << bits) - 1);
}

double element_real(kg_dtype dtype, uint64_t bits) {
  return dtype_is_float(dtype) ? kg_f64_from_float(dtype, bits)
                               : (double)element_whole(dtype, bits);
}

int64_t element_whole(kg_dtype dtype, uint64_t bits) {
  const kg_dtype_facts *t = kg_dtype_info(dtype);
  if (!t || t->kind != KG_KIND_SIGNED) return (int64_t)bits;
  const int above = 64 - 8 * (int)t->bytes; /* the sign's bit goes to the top and comes back */
  return (int64_t)(bits << above) >> above;
}

uint64_t element_poison(kg_dtype dtype) {
  const uint64_t pattern = UINT64_C(0xa5a5a5a5a5a5a5a5);
  const kg_dtype_facts *t = kg_dtype_info(dtype);
  if (!dtype_is_float(dtype)) return element_bits_of_whole(dtype, (int64_t)pattern);
  const uint64_t sign = UINT64_C(1) << (t->exponent + t->fraction), ones = sign - 1;
  if (t->special == KG_SPECIAL_ONE_NAN) return sign | ones; /* what is computed has no sign */
  const uint64_t fraction = (UINT64_C(1) << t->fraction) - 1, quiet = (fraction + 1) >> 1;
  return sign | (ones & ~fraction) | quiet | (pattern & fraction);
}

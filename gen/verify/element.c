/* element.c: see element.h. */
#include "verify/element.h"

#include <string.h>

bool element_is_float(kg_dtype dtype) {
  return dtype == KG_F32 || dtype == KG_F16 || dtype == KG_BF16;
}

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
  const float f = (float)x;
  uint32_t bits;
  switch (dtype) {
  case KG_F32: memcpy(&bits, &f, sizeof bits); return bits;
  case KG_F16: return kg_f16_from_f64(x);
  case KG_BF16: return kg_bf16_from_f64(x);
  default: return element_bits_of_whole(dtype, (int64_t)x);
  }
}

uint64_t element_bits_of_whole(kg_dtype dtype, int64_t x) {
  const size_t bits = 8 * kg_dtype_bytes(dtype);
  return bits == 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << bits) - 1);
}

double element_real(kg_dtype dtype, uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  float f;
  switch (dtype) {
  case KG_F32: memcpy(&f, &low, sizeof f); return (double)f;
  case KG_F16: return kg_f64_from_f16((uint16_t)bits);
  case KG_BF16: return kg_f64_from_bf16((uint16_t)bits);
  default: return (double)element_whole(dtype, bits);
  }
}

int64_t element_whole(kg_dtype dtype, uint64_t bits) {
  switch (dtype) {
  case KG_I8: return (int8_t)bits;
  case KG_I16: return (int16_t)bits;
  case KG_I32: return (int32_t)bits;
  default: return (int64_t)bits;
  }
}

uint64_t element_poison(kg_dtype dtype) {
  switch (dtype) {
  case KG_F32: return 0xffe5a5a5u;
  case KG_F16: return 0xffa5u;
  case KG_BF16: return 0xffe5u;
  default: return element_bits_of_whole(dtype, (int64_t)UINT64_C(0xa5a5a5a5a5a5a5a5));
  }
}

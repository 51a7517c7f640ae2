/* mxfp4.c: see mxfp4.h. */
#include "mxfp4.h"

#include <math.h>
#include <string.h>

static const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
enum { LARGEST_EXPONENT = 2, BIAS = 127 }; /* of e2m1; of e8m0 */

uint8_t kg_e2m1_code(float x) {
  const float size = fabsf(x);
  uint8_t code = 7;
  for (uint8_t below = 0; below < 7; below++) {
    const float middle = (magnitudes[below] + magnitudes[below + 1]) / 2;
    /* the mantissa is the code's last bit: a tie goes to the even code */
    if (size > middle || (size == middle && below % 2 == 1)) continue;
    code = below;
    break;
  }
  return (uint8_t)(signbit(x) ? code | 8 : code);
}

float kg_e2m1_value(uint8_t code) {
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

float kg_e8m0_value(uint8_t scale) { return scale == 255 ? NAN : ldexpf(1, (int)scale - BIAS); }

static kg_status check(const char *who, size_t rows, size_t columns, bool pointers,
                       kg_error *error) {
  if (columns % KG_MXFP4_BLOCK)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "%s: rows of %zu columns: they must be a multiple of %d, the block of a scale",
                   who, columns, (int)KG_MXFP4_BLOCK);
  if (rows && columns && !pointers)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: weights, words and scales must not be null", who);
  return KG_OK;
}

/* The scale of a block whose largest magnitude this is. */
static uint8_t scale_for(float largest) {
  if (largest == 0) return 0;
  int exponent;
  frexpf(largest, &exponent); /* largest = f * 2^exponent with f in [0.5, 1) */
  const int scale = exponent - 1 - LARGEST_EXPONENT + BIAS;
  return (uint8_t)(scale < 0 ? 0 : scale); /* at most 252 */
}

kg_status kg_mxfp4_quantize(const float *weights, size_t rows, size_t columns, uint32_t *words,
                            uint8_t *scales, kg_error *error) {
  const kg_status s = check("kg_mxfp4_quantize", rows, columns, weights && words && scales, error);
  if (s != KG_OK) return s;
  for (size_t block = 0; block < rows * columns / KG_MXFP4_BLOCK; block++) {
    const float *w = weights + block * KG_MXFP4_BLOCK;
    uint32_t *to = words + block * (KG_MXFP4_BLOCK / 8);
    float largest = 0;
    for (size_t i = 0; i < KG_MXFP4_BLOCK; i++) {
      const size_t at = block * KG_MXFP4_BLOCK + i;
      if (!isfinite(w[i]))
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_mxfp4_quantize: the weight at row %zu, column %zu is not finite",
                       at / columns, at % columns);
      largest = fmaxf(largest, fabsf(w[i]));
    }
    scales[block] = scale_for(largest);
    memset(to, 0, KG_MXFP4_BLOCK / 8 * sizeof *to);
    for (size_t i = 0; i < KG_MXFP4_BLOCK; i++) { /* the quotient is exact, or far below 0.25 */
      const float scaled = (float)ldexp((double)w[i], BIAS - (int)scales[block]);
      to[i / 8] |= (uint32_t)kg_e2m1_code(scaled) << (4 * (i % 8));
    }
  }
  return KG_OK;
}

kg_status kg_mxfp4_dequantize(const uint32_t *words, const uint8_t *scales, size_t rows,
                              size_t columns, float *weights, kg_error *error) {
  const kg_status s =
      check("kg_mxfp4_dequantize", rows, columns, weights && words && scales, error);
  if (s != KG_OK) return s;
  for (size_t i = 0; i < rows * columns; i++) {
    const uint8_t code = (uint8_t)(words[i / 8] >> (4 * (i % 8)) & 15);
    weights[i] = kg_e2m1_value(code) * kg_e8m0_value(scales[i / KG_MXFP4_BLOCK]);
  }
  return KG_OK;
}

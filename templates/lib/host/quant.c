/* quant.c: see quant.h. */
#include "quant.h"

#include <math.h>
#include <string.h>

static bool is_width(int width) { return width == 4 || width == 6 || width == 8; }

size_t kg_quant_words(size_t codes, int width) {
  if (!is_width(width)) return 0;
  const size_t pack = width == 6 ? 16 : 32 / (size_t)width; /* fills whole words */
  return codes % pack == 0 ? codes / pack * (width == 6 ? 3 : 1) : 0;
}

static kg_status check_row(const char *who, size_t columns, int width, kg_error *error) {
  if (!is_width(width))
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: codes have 4, 6 or 8 bits, not %d", who, width);
  if (columns && kg_quant_words(columns, width) == 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "%s: rows of %zu codes of %d bits do not fill whole words: the columns must be "
                   "a multiple of %d",
                   who, columns, width, width == 6 ? 16 : 32 / width);
  return KG_OK;
}

static void put_code(uint32_t *row, size_t column, int width, uint32_t code) {
  const size_t bit = column * (size_t)width, word = bit / 32;
  const uint64_t at = (uint64_t)code << bit % 32;
  row[word] |= (uint32_t)at;
  if (at >> 32) row[word + 1] |= (uint32_t)(at >> 32); /* 6 bits cross into the next word */
}

static uint8_t get_code(const uint32_t *row, size_t column, int width) {
  const size_t bit = column * (size_t)width, word = bit / 32;
  uint64_t two = row[word];
  if (bit % 32 + (size_t)width > 32) two |= (uint64_t)row[word + 1] << 32;
  return (uint8_t)(two >> bit % 32 & ((1u << width) - 1));
}

kg_status kg_quant_pack(const uint8_t *codes, size_t rows, size_t columns, int width,
                        uint32_t *words, kg_error *error) {
  const kg_status s = check_row("kg_quant_pack", columns, width, error);
  if (s != KG_OK || rows == 0 || columns == 0) return s;
  if (!codes || !words)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_quant_pack: codes and words must not be null");
  const size_t across = kg_quant_words(columns, width);
  memset(words, 0, rows * across * sizeof *words);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) {
      const uint32_t code = codes[r * columns + c];
      if (code >> width)
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_quant_pack: code %u at row %zu, column %zu does not fit into %d bits",
                       code, r, c, width);
      put_code(words + r * across, c, width, code);
    }
  return KG_OK;
}

kg_status kg_quant_unpack(const uint32_t *words, size_t rows, size_t columns, int width,
                          uint8_t *codes, kg_error *error) {
  const kg_status s = check_row("kg_quant_unpack", columns, width, error);
  if (s != KG_OK || rows == 0 || columns == 0) return s;
  if (!codes || !words)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_quant_unpack: words and codes must not be null");
  const size_t across = kg_quant_words(columns, width);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++)
      codes[r * columns + c] = get_code(words + r * across, c, width);
  return KG_OK;
}

/* A scale and a bias for one group, and its codes.  The range runs from the entry farther from 0,
** which gets code 0, over 0 to the other end; the scale is then moved a little so that 0 is a whole
** number of steps from that entry. */
static void quantise_group(const float *weights, size_t count, int width, uint8_t *codes,
                           float *scale, float *bias) {
  float low = weights[0], high = weights[0];
  for (size_t i = 1; i < count; i++) {
    low = fminf(low, weights[i]);
    high = fmaxf(high, weights[i]);
  }
  const float most = (float)((1 << width) - 1);
  const bool from_low = fabsf(low) > fabsf(high);
  const float far = from_low ? low : high;
  const float size = fmaxf((high - low) / most, 1e-7f);
  const float step = from_low ? size : -size;
  const float steps = rintf(far / step); /* from 0 to the far entry; never positive */
  *scale = steps != 0 ? far / steps : step;
  *bias = steps != 0 ? far : 0;
  for (size_t i = 0; i < count; i++) {
    const float code = rintf((weights[i] - *bias) / *scale);
    codes[i] = (uint8_t)fminf(fmaxf(code, 0), most);
  }
}

kg_status kg_quant_affine(const float *weights, size_t rows, size_t columns, int width,
                          size_t group_size, uint32_t *words, float *scales, float *biases,
                          kg_error *error) {
  const kg_status s = check_row("kg_quant_affine", columns, width, error);
  if (s != KG_OK || rows == 0 || columns == 0) return s;
  if (!weights || !words || !scales || !biases)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_quant_affine: weights, words, scales and biases must not be null");
  uint8_t codes[1024];
  if (group_size == 0 || group_size > sizeof codes || columns % group_size != 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kg_quant_affine: groups of %zu columns do not cut a row of %zu (largest group: "
                   "%zu)",
                   group_size, columns, sizeof codes);
  const size_t across = kg_quant_words(columns, width), groups = columns / group_size;
  memset(words, 0, rows * across * sizeof *words);
  for (size_t r = 0; r < rows; r++)
    for (size_t g = 0; g < groups; g++) {
      const float *own = weights + r * columns + g * group_size;
      for (size_t i = 0; i < group_size; i++)
        if (!isfinite(own[i]))
          return kg_fail(error, KG_BAD_ARGUMENT,
                         "kg_quant_affine: the weight at row %zu, column %zu is not finite", r,
                         g * group_size + i);
      quantise_group(own, group_size, width, codes, &scales[r * groups + g],
                     &biases[r * groups + g]);
      for (size_t i = 0; i < group_size; i++)
        put_code(words + r * across, g * group_size + i, width, codes[i]);
    }
  return KG_OK;
}

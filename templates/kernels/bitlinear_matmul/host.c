/* host.c: see host.h. */
#include "host.h"

static kg_status check_bitnet(const char *who, size_t rows, size_t columns, const void *weights,
                              const void *packed, kg_error *error) {
  if (rows % 4 != 0)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "%s: %zu rows are not four quarters: a byte has one row of each", who, rows);
  if (rows && columns && (!weights || !packed))
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: weights and packed must not be null", who);
  return KG_OK;
}

kg_status kg_bitnet_pack(const int8_t *weights, size_t rows, size_t columns, uint8_t *packed,
                         kg_error *error) {
  const kg_status s = check_bitnet("kg_bitnet_pack", rows, columns, weights, packed, error);
  if (s != KG_OK) return s;
  const size_t quarter = rows / 4;
  for (size_t r = 0; r < quarter; r++)
    for (size_t j = 0; j < columns; j++) {
      unsigned byte = 0;
      for (size_t q = 0; q < 4; q++) {
        const int w = weights[(q * quarter + r) * columns + j];
        if (w < -1 || w > 1)
          return kg_fail(error, KG_BAD_ARGUMENT,
                         "kg_bitnet_pack: %d at row %zu, column %zu is not -1, 0 or 1", w,
                         q * quarter + r, j);
        byte |= (unsigned)(w + 1) << (2 * q);
      }
      packed[r * columns + j] = (uint8_t)byte;
    }
  return KG_OK;
}

kg_status kg_bitnet_unpack(const uint8_t *packed, size_t rows, size_t columns, int8_t *weights,
                           kg_error *error) {
  const kg_status s = check_bitnet("kg_bitnet_unpack", rows, columns, weights, packed, error);
  if (s != KG_OK) return s;
  const size_t quarter = rows / 4;
  for (size_t row = 0; row < rows; row++)
    for (size_t j = 0; j < columns; j++) {
      const int code = packed[row % quarter * columns + j] >> (2 * (row / quarter)) & 3;
      if (code == 3)
        return kg_fail(error, KG_BAD_ARGUMENT,
                       "kg_bitnet_unpack: code 3 at row %zu, column %zu stands for no weight", row,
                       j);
      weights[row * columns + j] = (int8_t)(code - 1);
    }
  return KG_OK;
}

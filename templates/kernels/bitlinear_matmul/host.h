/* host.h: packing of BitNet's ternary weights for bitlinear_matmul.  Plain C over host memory of the
** caller's; no device is touched.
**
** Byte (r, j) of packed [rows / 4, columns] has column j of four rows: bits 0-1 of row r, then of
** rows r + rows / 4, r + rows / 2 and r + 3 rows / 4; weight + 1 each.
**
** Every function returns KG_OK, or KG_BAD_ARGUMENT with a sentence in error (which may be NULL) and
** nothing promised about the results. */
#ifndef KG_BITLINEAR_MATMUL_HOST_H
#define KG_BITLINEAR_MATMUL_HOST_H

#include "kg.h"

/* weights [rows, columns], each -1, 0 or 1; rows a multiple of 4. */
kg_status kg_bitnet_pack(const int8_t *weights, size_t rows, size_t columns, uint8_t *packed,
                         kg_error *error);

/* The way back; a code 3, which stands for nothing, is refused. */
kg_status kg_bitnet_unpack(const uint8_t *packed, size_t rows, size_t columns, int8_t *weights,
                           kg_error *error);

#endif

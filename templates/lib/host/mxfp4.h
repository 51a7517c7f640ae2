/* mxfp4.h: the host's half of the MXFP4 kernels (qmv_mxfp4, gather_qmm_..._mxfp4): OCP's
** Microscaling format with 32 elements e2m1 to one E8M0 scale.  Plain C over host memory of the
** caller's; no device is touched.
**
** Element j of a row is bits 4 (j % 8) to 4 (j % 8) + 3 of word j / 8: in bytes, low nibble first.
** Its value is sign * {0, 0.5, 1, 1.5, 2, 3, 4, 6} * 2^(scale - 127); scale 255 means NaN.
**
** Every function that returns a status returns KG_OK, or KG_BAD_ARGUMENT with a sentence in error
** (which may be NULL) and nothing promised about the results. */
#ifndef KG_HOST_MXFP4_H
#define KG_HOST_MXFP4_H

#include "kg.h"

enum { KG_MXFP4_BLOCK = 32 };

/* The e2m1 code nearest to x, the one with an even mantissa where two are as near; beyond 6 that of
** 6.  The sign of zero is kept.  x must not be NaN. */
uint8_t kg_e2m1_code(float x);

/* The value of a code; only its low four bits are looked at. */
float kg_e2m1_value(uint8_t code);

/* 2^(scale - 127), NaN for 255. */
float kg_e8m0_value(uint8_t scale);

/* Weights [rows, columns] to words [rows, columns / 8] and scales [rows, columns / 32].  A block's
** scale is the power of two that takes its largest magnitude into [4, 8), as OCP's MX 1.0 has it,
** at least 2^-127; a block of zeros has scale 0.  KG_BAD_ARGUMENT: columns not a multiple of 32, a
** weight that is not finite, a null pointer. */
kg_status kg_mxfp4_quantize(const float *weights, size_t rows, size_t columns, uint32_t *words,
                            uint8_t *scales, kg_error *error);

/* The way back. */
kg_status kg_mxfp4_dequantize(const uint32_t *words, const uint8_t *scales, size_t rows,
                              size_t columns, float *weights, kg_error *error);

#endif

/* quant.h: the host's half of the kernels over packed affine weights (moe_*, qmv, gather_qmm):
** packing.  Plain C over host memory of the caller's; no device is touched.
**
** Every function returns KG_OK, or KG_BAD_ARGUMENT with a sentence in error (which may be NULL) and
** nothing promised about the results. */
#ifndef KG_HOST_QUANT_H
#define KG_HOST_QUANT_H

#include "kg.h"

/* Codes of 4, 6 or 8 bits.
**
** A row of codes is one stream of bits, low bits first, in little-endian words: with 4 and 8 bits
** code j of a word stands at bit j * width; with 6 bits four codes fill three bytes.  That is how
** MLX packs its affine weights. */

/* The words of a row of `codes` codes; 0 where they do not fill whole words. */
size_t kg_quant_words(size_t codes, int width);

/* codes [rows, columns], each below 2^width, to words [rows, kg_quant_words(columns, width)]. */
kg_status kg_quant_pack(const uint8_t *codes, size_t rows, size_t columns, int width,
                        uint32_t *words, kg_error *error);

/* The way back. */
kg_status kg_quant_unpack(const uint32_t *words, size_t rows, size_t columns, int width,
                          uint8_t *codes, kg_error *error);

/* Weights [rows, columns] to codes (packed as above) with a scale and a bias for each run of
** group_size columns, [rows, columns / group_size]: weight ~ code * scale + bias.  The
** entry farthest from 0 is code 0 and equals the bias; 0 itself, where it is in a group's range,
** lies at a whole code; every entry is met within one scale.  Groups have at most 1024 columns; a
** weight that is not finite is refused.  A caller that keeps scales and biases in 16 bits rounds
** them itself. */
kg_status kg_quant_affine(const float *weights, size_t rows, size_t columns, int width,
                          size_t group_size, uint32_t *words, float *scales, float *biases,
                          kg_error *error);

#endif

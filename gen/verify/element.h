/* element.h: single elements of tensors in host memory, by dtype. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "spec/spec.h"

/* The bit pattern of element i, zero-extended. */
uint64_t element_bits(kg_dtype dtype, const void *data, int64_t i);
void element_put_bits(kg_dtype dtype, void *data, int64_t i, uint64_t bits);

/* A real value rounded once to a floating dtype; an integer cut to its width. */
uint64_t element_bits_of_real(kg_dtype dtype, double x);
uint64_t element_bits_of_whole(kg_dtype dtype, int64_t x);
double element_real(kg_dtype dtype, uint64_t bits);
int64_t element_whole(kg_dtype dtype, uint64_t bits);

/* The pattern of memory that nobody wrote: for floats a quiet NaN that no arithmetic makes, for
** integers 0xA5 bytes. */
uint64_t element_poison(kg_dtype dtype);

#endif

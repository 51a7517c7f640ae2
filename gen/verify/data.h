/* data.h: the elements of a trial's inputs, by the classes of gen/spec/data.def. */
#ifndef DATA_H
#define DATA_H

#include "verify/trial.h"

/* 64 bits that depend on all of x's. */
uint64_t trial_hash(uint64_t x);

/* Fills the input: its class's elements, each by counter from the key and nothing else, within what
** the specification says of it.  values: of dims, constants and scalars, by variable. */
void data_fill(const Kernel *k, int arg, InputData data, uint64_t key, const int64_t *values,
               ref_tensor *t);

/* Whether the class says anything of an input of this dtype that its declared domain admits. */
bool data_admitted(const Kernel *k, int arg, kg_dtype dtype, DataClass data);

/* The largest finite number, without its sign; 0 of integers. */
double tensor_largest(const ref_tensor *t);

#endif

/* plain.h: what the references here share. */
#ifndef PLAIN_H
#define PLAIN_H
#include "reference.h"

/* As an f32 would hold it. */
static inline double single(double x) { return (double)(float)x; }

static inline void put(const ref_tensor *t, int64_t i, double x) {
  t->real[i] = ref_round(t->dtype, x);
}

/* The largest of a row, NaN left out; -inf of none. */
static inline double largest(const double *x, int64_t n) {
  double top = -INFINITY;
  for (int64_t i = 0; i < n; i++)
    if (x[i] > top) top = x[i];
  return top;
}

/* To the nearest integer, ties to even; NaN stays. */
static inline double nearest(double x) { return nearbyint(x); }
#endif

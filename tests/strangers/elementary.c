/* elementary: a sum of each elementary function of templates/lib, of signs, whole numbers and bits. */
#include "reference.h"

/* Zeros of `n` bits before the first one that is set, from the highest on or from the lowest. */
static int zeros(uint64_t x, int n, bool from_the_highest) {
  int count = 0;
  while (count < n && !(x >> (from_the_highest ? n - 1 - count : count) & 1)) count++;
  return count;
}

static double limited(double x, double low, double high) {
  return x > low ? x < high ? x : high : low; /* NaN: low */
}

void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *y = ref_find(c, "y");
  for (int64_t i = 0; i < x->count; i++) {
    const double v = x->real[i], tenth = v * (double)0.1f;
    double sum = expm1(v) * (double)0.001f + log1p(fabs(v)) + pow(fabs(v), 1.5) + erf(v) + atan(v);
    sum += atan2(v, 0.5) + tan(tenth) + sinh(tenth) + cosh(tenth);
    sum += trunc(v) + rint(v) + round(v) + fmod(v, 0.75) + copysign(2, v);
    sum += (v > 0 ? 1 : v < 0 ? -1 : v) + limited(v, -1, 1) + (v > 0 ? 1 : 3);
    sum += (isinf(v) ? 1 : 0) + (isfinite(v) ? 2 : 0);
    sum += zeros((uint64_t)i, 32, true) + zeros((uint64_t)i, 32, false);
    sum += zeros((uint64_t)i << 7, 64, true) + limited((double)i, 3, 9);
    y->real[i] = sum;
  }
}

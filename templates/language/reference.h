/* reference.h: what the referee of a kernel is given.
**
** A reference is one C file named in the specification (`reference = "x.ref.c"`), compiled with referee.c into a program that
** `kgen run` and `kgen verify` ask for results.  It computes the outputs in plain loops of doubles, from the formula and not
** from the body; where the specification says that a value is rounded, it rounds there (ref_round).  It defines
**
**   void reference(ref_call *c);                     fills the outputs of c from its inputs
**
** and may define
**
**   void fill(ref_call *c, const char *how, uint64_t seed);   the inputs and scalars of a case, where plain normal numbers do
**                                                             not do; how is the case's `fill` ("" when it names none).  Inputs
**                                                             come filled (floats standard normal, integers 0); what is set
**                                                             is rounded to the tensor's dtype afterwards
**   const char *judge(const ref_call *want, const ref_call *got);   NULL: right; else a sentence.  Called in place of the
**                                                             comparison within tolerance, for results that are choices
**
** Headers that several references of kgen's own share are in templates/lib/ref/, and included as "lib/ref/qmm.h".
**
** Floats stand in `real`, integers in `whole`, each row-contiguous; the other pointer is NULL.  Outputs come as zeros; an
** element that may be anything, as behind the last of a list of unknown length, is said to be so (ref_leave).
**
** It is compiled a second time with float for double (KG_REFERENCE_SINGLE) and run in each direction of rounding: how far
** these results lie apart is what rounding alone may do to an output, and what a kernel is allowed beside its tolerance.
** So write `double` where a value is computed, and nothing that depends on its size. */
#ifndef KG_REFERENCE_H
#define KG_REFERENCE_H

#include <complex.h>
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef double ref_wide; /* a double in either compilation */
#ifdef KG_REFERENCE_SINGLE
#include "single.h"
#endif

typedef enum ref_dtype { /* as kg_dtype: REF_F32, REF_F16 ...  kgen has the file at hand for the compiler */
#define KG_DTYPE(id, name, mlx, bytes, kind, exponent, fraction, bias, special, c) REF_##id,
#include "model/dtype.def"
#undef KG_DTYPE
                         REF_DTYPES
} ref_dtype;

typedef struct ref_tensor {
  const char *name;
  ref_dtype dtype;
  int rank;
  int64_t shape[8];
  int64_t count; /* elements */
  double *real;
  int64_t *whole;
  unsigned char *left; /* by element: 1 where it may be anything; NULL: nowhere */
} ref_tensor;

typedef struct ref_value {
  const char *name;
  int64_t whole;
  double real;
} ref_value; /* a dim, constant or scalar */

typedef struct ref_call {
  const char *kernel;
  int tensor_count;
  ref_tensor *tensors; /* inputs, then outputs */
  int value_count;
  ref_value *values; /* dims, constants, scalars; both readings hold the value */
} ref_call;

/* A name that is not there is a fault of the reference: it says so and ends the process. */
static inline ref_tensor *ref_find(const ref_call *c, const char *name) {
  for (int i = 0; i < c->tensor_count; i++)
    if (strcmp(c->tensors[i].name, name) == 0) return &c->tensors[i];
  fprintf(stderr, "reference of %s: it has no tensor '%s'\n", c->kernel, name);
  exit(70);
}

static inline ref_value *ref_value_find(const ref_call *c, const char *name) {
  for (int i = 0; i < c->value_count; i++)
    if (strcmp(c->values[i].name, name) == 0) return &c->values[i];
  fprintf(stderr, "reference of %s: it has no dim, constant or scalar '%s'\n", c->kernel, name);
  exit(70);
}

/* Element i of an output may be anything, also what was there before. */
static inline void ref_leave(ref_tensor *t, int64_t i) {
  if (t->left) t->left[i] = 1;
}

static inline int64_t ref_int(const ref_call *c, const char *name) {
  return ref_value_find(c, name)->whole;
}
static inline double ref_real(const ref_call *c, const char *name) {
  return ref_value_find(c, name)->real;
}

/* x to `fraction` explicit fraction bits with least exponent `low` (of the leading bit), ties to even. */
static inline double ref_round_bits(double x, int fraction, int low, double largest) {
  if (x == 0 || isnan(x) || isinf(x)) return x;
  int e;
  frexp(x, &e);
  e -= 1;
  if (e < low) e = low;
  const double unit = ldexp(1.0, e - fraction);
  const double r =
      nearbyint(x / unit) * unit; /* exact: the quotient has few bits, or is far below one half */
  return fabs(r) > largest ? copysign(INFINITY, x) : r;
}

/* The nearest value of a dtype, ties to even; overflow gives infinity, or NaN where there is none; NaN stays NaN. */
static inline double ref_round(ref_dtype dtype, double x) {
  enum { FLOAT = 1, SIGNED = 0, UNSIGNED = 0, IEEE = 0, ONE_NAN = 1, NONE = 0 };
  static const struct {
    int is_float, exponent, fraction, bias, one_nan;
  } rows[] = {
#define KG_DTYPE(id, name, mlx, bytes, kind, exponent, fraction, bias, special, c)                 \
  {kind, exponent, fraction, bias, special},
#include "model/dtype.def"
#undef KG_DTYPE
  };
  if (dtype == REF_F32) return (double)(float)x; /* as its row says, and faster */
  if (dtype >= REF_DTYPES || !rows[dtype].is_float) return x;
  const int fraction = rows[dtype].fraction, bias = rows[dtype].bias, one_nan = rows[dtype].one_nan;
  const int high = (1 << rows[dtype].exponent) - 2 + one_nan - bias; /* exponent of the largest */
  const double largest = ldexp(2 - ldexp(one_nan ? 2 : 1, -fraction), high);
  const double r = ref_round_bits(x, fraction, 1 - bias, largest);
  return one_nan && isinf(r) ? (double)NAN : r;
}

#endif

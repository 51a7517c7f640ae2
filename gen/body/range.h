/* range.h: what is known of an integer: the interval that it lies in, what it is made of, whether
** it can have wrapped around.  range.c makes ranges, flow.c and its kin carry them through a body.
**
** Doubles are enough: an interval is compared with 2^32, far below where they lose units, and
** cannot overflow. */
#ifndef KGEN_BODY_RANGE_H
#define KGEN_BODY_RANGE_H

#include "body/reading.h"

#define U32_MOST 4294967295.0
#define I32_MOST 2147483647.0
#define U64_MOST 18446744073709551615.0

/* What a value is made of, as bits: who the thread is, its group, each dim, each scalar.  Free is
** what an input holds: a caller may write anything there. */
typedef uint64_t Sources;
enum {
  SOURCE_LANE = 1,
  SOURCE_WAVE = 2,
  SOURCE_GROUP = 4,
  SOURCE_DIMS = 3, /* the number of the first one's bit */
  SOURCE_SCALARS = SOURCE_DIMS + MAX_DIMS
};
#define SOURCE_ANY (~(Sources)0)
static inline Sources source_bit(int number) { return (Sources)1 << number; }

typedef struct Range {
  double low, high;
  bool known; /* not just "any value" */
  bool sized; /* made of dims or groups */
  /* Where gap is not 0, some thread, at some time, with the dims at their largest, has a value above
  ** high - gap; `sure` conditions around the place are part of that (flow.c). */
  double gap;
  int sure;
  Sources from;
  unsigned stored; /* number of the store that it comes from */
  /* A 32-bit operation in it that can pass 32 bits, and what it can reach; NULL: none. */
  const Node *wrapped;
  double reached;
} Range;

Range range_of_kind(enum CXTypeKind kind); /* any value of it */
Range range_any(const Node *n);            /* of n's type */
Range range_number(double value);
Range range_word(const Check *c, int word); /* thread, group_x ... */
Range range_dim(const Check *c, int dim);
Range range_scalar(const Check *c, int scalar, enum CXTypeKind kind);
/* a op b, in n's type; n is said to wrap where the result does not fit. */
Range range_binary(const Node *n, int op, Range a, Range b);
/* What a variable or a cast of n's type keeps of it. */
Range range_as(const Node *n, Range r);
Range range_min_max(const Node *n, bool is_min, Range a, Range b);
/* Either of them. */
Range range_either(Range a, Range b);
bool range_same(Range a, Range b);
bool range_is_number(Range r);

bool is_32(enum CXTypeKind k);
double most_of(enum CXTypeKind k);

#endif

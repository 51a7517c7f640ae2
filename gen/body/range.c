/* range.c: intervals of integers: what the specification declares of a word, a dim, a scalar, and
** what an operation makes of its operands.
**
** A dim lies between the least that `require` asks for and its max, a group's number below the
** launch's groups, a thread's below the group's size.  What is loaded from memory is not known; it
** counts as large in a product with a dim or a group's number, and not at all in a sum.  A
** difference is taken not to wrap. */
#include "body/range.h"

#include <math.h>

bool is_32(enum CXTypeKind k) { return k == CXType_UInt || k == CXType_Int; }
double most_of(enum CXTypeKind k) { return k == CXType_Int ? I32_MOST : U32_MOST; }

static double least(double x, double y) { return x < y ? x : y; }
static double most(double x, double y) { return x > y ? x : y; }

/* ---- from nothing ---------------------------------------------------------------------------- */

Range range_of_kind(enum CXTypeKind kind) {
  static const struct {
    enum CXTypeKind kind;
    double most;
  } types[] = {{CXType_Bool, 1},        {CXType_UChar, 255},
               {CXType_SChar, 127},     {CXType_UShort, 65535},
               {CXType_Short, 32767},   {CXType_Int, I32_MOST},
               {CXType_UInt, U32_MOST}, {CXType_LongLong, I32_MOST * U32_MOST}};
  double high = U64_MOST;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].kind == kind) high = types[i].most;
  return (Range){.high = high, .known = high < I32_MOST, .from = SOURCE_ANY};
}

Range range_any(const Node *n) { return range_of_kind(n->canonical); }

Range range_number(double value) {
  return (Range){.low = value, .high = value, .known = true, .gap = 1};
}

bool range_is_number(Range r) { return r.known && r.low == r.high && r.wrapped == NULL; }

/* ---- what the specification declares --------------------------------------------------------- */

static Range symbol_range(const Check *c, int number) {
  const kg_symbol s = kg_symbol_at(&c->k->model, number);
  if (s.kind == KG_DIM) return range_dim(c, s.index);
  if (s.kind == KG_CONST) return range_number((double)c->consts[s.index]);
  const double high = c->k->scalars[s.index].dtype == KG_I32 ? I32_MOST : U32_MOST;
  return (Range){.high = high, .known = true, .sized = true};
}

/* An operator over the ranges of its operands: of[1] and of[2] are there where it takes them. */
static Range operator_range(kg_op op, const Range *of) {
  const int takes = kg_ops[op].takes;
  const Range a = of[0], b = takes > 1 ? of[1] : a, x = takes > 2 ? of[2] : b;
  Range r = {.known = true, .sized = a.sized || b.sized || x.sized};
  const double by = b.low > 0 ? b.low : 1, by_most = most(b.high, 1);
  switch (op) {
  case KG_OP_ADD: r.low = a.low + b.low, r.high = a.high + b.high; break;
  case KG_OP_SUB: r.low = most(a.low - b.high, 0), r.high = most(a.high - b.low, 0); break;
  case KG_OP_MUL: r.low = a.low * b.low, r.high = a.high * b.high; break;
  case KG_OP_DIV: r.low = floor(a.low / by_most), r.high = floor(a.high / by); break;
  case KG_OP_CEIL_DIV: r.low = ceil(a.low / by_most), r.high = ceil(a.high / by); break;
  case KG_OP_MOD: r.high = most(b.high - 1, 0); break;
  case KG_OP_MIN: r.low = least(a.low, b.low), r.high = least(a.high, b.high); break;
  case KG_OP_MAX: r.low = most(a.low, b.low), r.high = most(a.high, b.high); break;
  case KG_OP_WHEN: r.low = least(b.low, x.low), r.high = most(b.high, x.high); break;
  default: r.high = 1; /* a comparison, or logic */
  }
  return r;
}

static Range expr_range(const Check *c, const kg_expr *e) {
  Range stack[KG_EXPR_DEPTH];
  int n = 0;
  for (int i = 0; i < e->count; i++) {
    const kg_step s = e->steps[i];
    Range r = range_number((double)s.value);
    if (s.op == KG_OP_VAR)
      r = symbol_range(c, (int)s.value);
    else if (s.op != KG_OP_INT) {
      n -= kg_ops[s.op].takes;
      r = operator_range((kg_op)s.op, &stack[n]);
    }
    stack[n++] = r;
  }
  return stack[0];
}

static Range group_range(const Check *c, int axis) {
  const Range groups = expr_range(c, &c->k->groups[axis]);
  const double high = most(least(groups.high, U32_MOST) - 1, 0);
  const Sources from = high > 0 ? SOURCE_GROUP : 0;
  return (Range){.high = high, .known = true, .sized = groups.sized || high > 0, .from = from};
}

/* 0 to count - 1, and every one of them is someone's. */
static Range each_of(double count, Sources from) {
  return (Range){.high = most(count - 1, 0), .known = true, .gap = 1, .from = from};
}

Range range_word(const Check *c, int word) {
  const Sources both = SOURCE_LANE | SOURCE_WAVE;
  switch (word) {
  case IX_THREAD: return each_of((double)c->threads, both);
  case IX_THREAD_X:
  case IX_THREAD_Y:
  case IX_THREAD_Z: return each_of(expr_range(c, &c->port->threads[word - IX_THREAD_X]).high, both);
  case IX_LANE: return each_of((double)(c->threads < c->wave ? c->threads : c->wave), SOURCE_LANE);
  case IX_WAVE_INDEX: return each_of((double)((c->threads + c->wave - 1) / c->wave), SOURCE_WAVE);
  default: return group_range(c, word - IX_GROUP_X);
  }
}

Range range_dim(const Check *c, int dim) {
  return (Range){.low = (double)c->dim_low[dim],
                 .high = (double)c->dim_high[dim],
                 .known = true,
                 .sized = true,
                 .gap = c->dim_bound[dim] ? 0 : 1,
                 .from = source_bit(SOURCE_DIMS + dim)};
}

Range range_scalar(const Check *c, int scalar, enum CXTypeKind kind) {
  Range r = range_of_kind(kind);
  r.from = source_bit(SOURCE_SCALARS + scalar);
  if (is_32(kind)) {
    r.high = least(r.high, (double)c->scalar_high[scalar]);
    r.gap = c->scalar_bound[scalar] ? 0 : 1;
  }
  return r;
}

/* ---- what an operation makes ----------------------------------------------------------------- */

static double power_of_two(double n) { return n < 64 ? exp2(floor(n)) : U64_MOST; }

static Range made_of(Range a, Range b) {
  Range r = {.known = a.known && b.known, .sized = a.sized || b.sized, .from = a.from | b.from};
  r.sure = a.sure < b.sure ? a.sure : b.sure;
  if (a.from == 0) r.sure = b.sure; /* a number holds under any condition */
  if (b.from == 0) r.sure = a.sure;
  r.wrapped = a.wrapped ? a.wrapped : b.wrapped;
  r.reached = a.wrapped ? a.reached : b.reached;
  return r;
}

/* The gap of a op b: a number moves the other's values, or stretches what lies between them. */
static double gap_of(int op, Range a, Range b) {
  const bool moved = range_is_number(b), first = range_is_number(a);
  if (a.gap <= 0 || b.gap <= 0 || (!moved && !first)) return 0;
  const double number = moved ? b.low : a.low, gap = moved ? a.gap : b.gap;
  switch (op) {
  case CXBinaryOperator_Add: return gap;
  case CXBinaryOperator_Sub: return moved && a.high >= b.low ? gap : 0;
  case CXBinaryOperator_Mul: return most(gap * number, 1);
  case CXBinaryOperator_Shl: return moved ? gap * power_of_two(number) : 0;
  case CXBinaryOperator_Div: return moved ? most(ceil(gap / most(number, 1)), 1) : 0;
  case CXBinaryOperator_Shr: return moved ? most(ceil(gap / power_of_two(number)), 1) : 0;
  default: return 0;
  }
}

/* A factor that only a hash or a generator of random numbers has: it means to wrap. */
static bool is_scrambling(Range r) {
  return range_is_number(r) && r.low > 65536 && fmod(r.low, 2) != 0;
}

/* A sum, a product: the result as it is, and whether 32 bits hold it. */
static Range grown(const Node *n, Range r, Range a, Range b, bool sum) {
  const double bound = is_32(n->canonical) ? most_of(n->canonical) : U64_MOST;
  const bool counted = sum ? a.known && b.known && r.sized : r.sized;
  if (r.high <= bound) return r;
  if (is_32(n->canonical) && counted && r.wrapped == NULL) {
    r.wrapped = n;
    r.reached = r.high;
  }
  r.high = bound;
  r.low = r.gap = 0;
  return r;
}

static Range product(const Node *n, Range a, Range b, Range r) {
  if (is_scrambling(a) || is_scrambling(b)) {
    const Sources from = r.from;
    r = range_any(n);
    r.from = from;
    return r;
  }
  return grown(n, r, a, b, false);
}

static Range remainder_of(Range a, Range b, Range r) {
  if (!b.known) {
    const Sources from = r.from;
    r = a;
    r.from = from;
    r.gap = 0;
    return r;
  }
  r.known = true;
  r.sized = b.sized;
  r.high = least(most(b.high - 1, 0), a.high);
  if (range_is_number(a) && range_is_number(b) && b.low > 0) r.low = r.high = fmod(a.low, b.low);
  return r;
}

/* Bits of a mask: who keeps low ones alone does not mean the others, so nothing wraps in them. */
static Range masked(Range a, Range b, Range r) {
  const bool first = a.high <= b.high;
  r.known = first ? a.known : b.known;
  r.sized = first ? a.sized : b.sized;
  r.high = first ? a.high : b.high;
  if (r.high < I32_MOST) r.wrapped = NULL;
  if (range_is_number(a) && range_is_number(b) && r.high < U32_MOST)
    r.low = r.high = (double)((uint64_t)a.low & (uint64_t)b.low);
  return r;
}

static Range divided(Range a, Range r, double by_least, double by_most) {
  r.known = a.known;
  r.sized = a.sized;
  r.low = floor(a.low / by_most);
  r.high = floor(a.high / by_least);
  return r;
}

static Range compared(int op, Range a, Range b, Range r) {
  r.known = true;
  r.sized = false;
  r.high = 1;
  r.wrapped = NULL;
  if (!range_is_number(a) || !range_is_number(b)) return r;
  const bool holds = op == CXBinaryOperator_LT   ? a.low < b.low
                     : op == CXBinaryOperator_GT ? a.low > b.low
                     : op == CXBinaryOperator_LE ? a.low <= b.low
                     : op == CXBinaryOperator_GE ? a.low >= b.low
                     : op == CXBinaryOperator_EQ ? a.low == b.low
                                                 : a.low != b.low;
  r.low = r.high = holds;
  return r;
}

Range range_binary(const Node *n, int op, Range a, Range b) {
  Range r = made_of(a, b);
  r.gap = gap_of(op, a, b);
  switch (op) {
  case CXBinaryOperator_Add:
    r.low = a.low + b.low, r.high = a.high + b.high;
    return grown(n, r, a, b, true);
  case CXBinaryOperator_Sub:
    r.low = most(a.low - b.high, 0), r.high = most(a.high - b.low, 0);
    return r;
  case CXBinaryOperator_Mul:
    r.low = a.low * b.low, r.high = a.high * b.high;
    return product(n, a, b, r);
  case CXBinaryOperator_Shl:
    r.low = a.low * power_of_two(b.low), r.high = a.high * power_of_two(b.high);
    return product(n, a, range_number(1), r);
  case CXBinaryOperator_Div: return divided(a, r, b.low > 0 ? b.low : 1, most(b.high, 1));
  case CXBinaryOperator_Shr: return divided(a, r, power_of_two(b.low), power_of_two(b.high));
  case CXBinaryOperator_Rem: return remainder_of(a, b, r);
  case CXBinaryOperator_And: return masked(a, b, r);
  case CXBinaryOperator_LT:
  case CXBinaryOperator_GT:
  case CXBinaryOperator_LE:
  case CXBinaryOperator_GE:
  case CXBinaryOperator_EQ:
  case CXBinaryOperator_NE: return compared(op, a, b, r);
  default: { /* bits that are mixed */
    const Sources from = r.from;
    r = range_any(n);
    r.from = from;
    return r;
  }
  }
}

Range range_as(const Node *n, Range r) {
  if (n->canonical == CXType_Float) {
    const Sources from = r.from;
    r = range_any(n);
    r.from = from;
    return r;
  }
  const double high = range_any(n).high;
  if (r.high > high) r.low = r.gap = 0, r.high = high;
  return r;
}

Range range_min_max(const Node *n, bool is_min, Range a, Range b) {
  Range r = made_of(a, b);
  if (is_min || !(a.wrapped ? a : b).known) r.wrapped = NULL; /* of what is not known: a guess */
  if (is_min) r.known = a.known || b.known;
  r.low = is_min ? least(a.low, b.low) : most(a.low, b.low);
  r.high = is_min ? least(a.high, b.high) : most(a.high, b.high);
  return range_as(n, r);
}

Range range_either(Range a, Range b) {
  Range r = made_of(a, b);
  r.low = least(a.low, b.low);
  r.high = most(a.high, b.high);
  return r;
}

bool range_same(Range a, Range b) {
  return a.low == b.low && a.high == b.high && a.known == b.known && a.sized == b.sized &&
         a.gap == b.gap && a.sure == b.sure && a.from == b.from && a.wrapped == b.wrapped;
}

/* range.c: 32-bit products and sums that are used as an index into GLOBAL memory and can pass
** what 32 bits hold.
**
** Every value gets an interval from what the specification declares: a dim lies between the least
** that `require` asks for and its max, a group's number below the launch's groups, a thread's below
** the group's size; a variable that is not assigned again has its initialiser's interval, narrowed
** by the conditions around the place of use (`if (i < D)`, a loop's condition, `if (i >= D)
** return;` above it).  What is loaded from memory is not known; it counts as large in a product
** with a dim or a group's number, and not at all in a sum.
**
** What was found of a node is kept with it (Ranged) while the variant is at hand: a variable that
** is made of another one twice, and that of a third one twice, must not double the work each
** time. */
#include "body/reading.h"

#include <string.h>

#define U32_MOST 4294967295.0
#define I32_MOST 2147483647.0

/* Doubles are enough: an interval is compared with 2^32, far below where they lose units, and
** cannot overflow. */
typedef struct Range {
  double low, high;
  bool known, sized;
} Range; /* known: not just "any value"; sized: made of dims or groups */

typedef struct Ranged {
  int turn;                                              /* Check.turn that all this holds for */
  enum { RANGE_UNKNOWN, RANGE_OPEN, RANGE_FOUND } state; /* OPEN: under way, so made of itself */
  Range range;
  enum { INDEX_UNKNOWN, INDEX_FINE, INDEX_REPORTED } index;
} Ranged;

/* What is kept is no part of what the tree says, which stays as it is. */
static Ranged *kept_of(const Check *c, const Node *n) {
  Ranged **kept = &((Node *)(uintptr_t)n)->ranged;
  if (!*kept) *kept = arena_alloc(c->a, sizeof **kept);
  if ((*kept)->turn != c->turn) **kept = (Ranged){.turn = c->turn};
  return *kept;
}

static Range any_value(const Node *n) {
  const double most = n->canonical == CXType_Int      ? I32_MOST
                      : n->canonical == CXType_UInt   ? U32_MOST
                      : n->canonical == CXType_UChar  ? 255.0
                      : n->canonical == CXType_UShort ? 65535.0
                                                      : 18446744073709551615.0;
  return (Range){0, most, most < I32_MOST, false};
}

static Range range_of(Check *c, const Node *n);

/* ---- what the specification declares --------------------------------------------------------- */

static Range symbol_range(const Check *c, int number) {
  const kg_symbol s = kg_symbol_at(&c->k->model, number);
  if (s.kind == KG_DIM)
    return (Range){(double)c->dim_low[s.index], (double)c->dim_high[s.index], true, true};
  if (s.kind == KG_CONST)
    return (Range){(double)c->consts[s.index], (double)c->consts[s.index], true, false};
  return (Range){0, c->k->scalars[s.index].dtype == KG_I32 ? I32_MOST : U32_MOST, true, true};
}

/* An operator over the ranges of its operands: of[1] and of[2] are there where it takes them. */
static Range operator_range(kg_op op, const Range *of) {
  const int takes = kg_ops[op].takes;
  const Range a = of[0], b = takes > 1 ? of[1] : a, x = takes > 2 ? of[2] : b;
  Range r = {0, 0, true, a.sized || b.sized || x.sized};
  const double least = b.low > 0 ? b.low : 1;
  switch (op) {
  case KG_OP_ADD: r.low = a.low + b.low, r.high = a.high + b.high; break;
  case KG_OP_SUB: r.low = 0, r.high = a.high - b.low > 0 ? a.high - b.low : 0; break;
  case KG_OP_MUL: r.low = a.low * b.low, r.high = a.high * b.high; break;
  case KG_OP_DIV: r.low = 0, r.high = (double)(int64_t)(a.high / least); break;
  case KG_OP_CEIL_DIV:
    r.low = a.low > 0, r.high = (double)(int64_t)((a.high + least - 1) / least);
    break;
  case KG_OP_MOD: r.high = b.high > 0 ? b.high - 1 : 0; break;
  case KG_OP_MIN:
    r.low = a.low < b.low ? a.low : b.low, r.high = a.high < b.high ? a.high : b.high;
    break;
  case KG_OP_MAX:
    r.low = a.low > b.low ? a.low : b.low, r.high = a.high > b.high ? a.high : b.high;
    break;
  case KG_OP_WHEN:
    r.low = b.low < x.low ? b.low : x.low, r.high = b.high > x.high ? b.high : x.high;
    break;
  default: r.high = 1; /* a comparison, or logic */
  }
  return r;
}

static Range expr_range(const Check *c, const kg_expr *e) {
  Range stack[KG_EXPR_DEPTH];
  int n = 0;
  for (int i = 0; i < e->count; i++) {
    const kg_step s = e->steps[i];
    Range r = {(double)s.value, (double)s.value, true, false};
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
  const double high = groups.high < U32_MOST ? groups.high : U32_MOST;
  return (Range){0, high > 0 ? high - 1 : 0, true, groups.sized || groups.high > 1};
}

static Range index_word_range(const Check *c, int word) {
  switch (word) {
  case IX_THREAD: return (Range){0, (double)c->threads - 1, true, false};
  case IX_THREAD_X:
  case IX_THREAD_Y:
  case IX_THREAD_Z: {
    const Range r = expr_range(c, &c->port->threads[word - IX_THREAD_X]);
    return (Range){0, r.high > 0 ? r.high - 1 : 0, true, false};
  }
  case IX_LANE: return (Range){0, c->wave - 1, true, false};
  case IX_WAVE_INDEX:
    return (Range){0, (double)((c->threads + c->wave - 1) / c->wave) - 1, true, false};
  default: return group_range(c, word - IX_GROUP_X);
  }
}

static Range parameter_range(Check *c, const Node *n, const Decl *d) {
  const int dim = d->index - c->k->arg_count;
  if (d->function->is_body && dim >= 0 && dim < c->k->dim_count)
    return (Range){(double)c->dim_low[dim], (double)c->dim_high[dim], true, true};
  return any_value(n);
}

/* ---- conditions around a place --------------------------------------------------------------- */

static bool leaves(const Node *n) {
  if (!n) return false;
  if (n->kind == CXCursor_CompoundStmt) return n->count > 0 && leaves(n->child[n->count - 1]);
  return n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
         n->kind == CXCursor_ContinueStmt;
}

static bool names(const Node *n, const Decl *d) {
  n = node_strip_casts(n);
  return n && n->kind == CXCursor_DeclRefExpr && n->decl == d;
}

/* Narrows r by a condition that holds (or, with `holds` false, does not). */
static void narrow(Check *c, Range *r, const Node *cond, const Decl *d, bool holds) {
  cond = node_strip(cond);
  if (!cond) return;
  if (cond->kind == CXCursor_UnaryOperator && cond->op == CXUnaryOperator_LNot && cond->count) {
    narrow(c, r, cond->child[0], d, !holds);
    return;
  }
  if (cond->kind != CXCursor_BinaryOperator || cond->count != 2) return;
  if (cond->op == (holds ? CXBinaryOperator_LAnd : CXBinaryOperator_LOr)) {
    narrow(c, r, cond->child[0], d, holds);
    narrow(c, r, cond->child[1], d, holds);
    return;
  }
  const bool left = names(cond->child[0], d), right = names(cond->child[1], d);
  if (left == right) return;
  const Range other = range_of(c, cond->child[left ? 1 : 0]);
  int op = cond->op;
  if (right)
    op = op == CXBinaryOperator_LT   ? CXBinaryOperator_GT
         : op == CXBinaryOperator_GT ? CXBinaryOperator_LT
         : op == CXBinaryOperator_LE ? CXBinaryOperator_GE
         : op == CXBinaryOperator_GE ? CXBinaryOperator_LE
                                     : op;
  if (!holds)
    op = op == CXBinaryOperator_LT   ? CXBinaryOperator_GE
         : op == CXBinaryOperator_GE ? CXBinaryOperator_LT
         : op == CXBinaryOperator_GT ? CXBinaryOperator_LE
         : op == CXBinaryOperator_LE ? CXBinaryOperator_GT
         : op == CXBinaryOperator_EQ ? CXBinaryOperator_NE
                                     : CXBinaryOperator_EQ;
  double most;
  if (op == CXBinaryOperator_LT)
    most = other.high - 1;
  else if (op == CXBinaryOperator_LE || op == CXBinaryOperator_EQ)
    most = other.high;
  else if (op == CXBinaryOperator_NE && d->loop && holds)
    most = other.high - 1; /* for (i = 0; i != n; i++) */
  else
    return;
  if (most < r->high || !r->known) {
    if (most < r->high) r->high = most > 0 ? most : 0;
    r->known = r->known || other.known;
    r->sized = r->sized || other.sized;
  }
}

static bool within(const Node *n, const Node *outer) {
  for (; n; n = n->parent)
    if (n == outer) return true;
  return false;
}

static void narrow_by_place(Check *c, Range *r, const Node *use, const Decl *d) {
  for (const Node *n = use, *up = use->parent; up; n = up, up = up->parent) {
    if (up->kind == CXCursor_IfStmt && up->cond) {
      if (up->body && within(use, up->body))
        narrow(c, r, up->cond, d, true);
      else if (up->step && within(use, up->step))
        narrow(c, r, up->cond, d, false);
    }
    if ((up->kind == CXCursor_ForStmt || up->kind == CXCursor_WhileStmt) && up->cond && up->body &&
        n == up->body)
      narrow(c, r, up->cond, d, true);
    if (up->kind == CXCursor_ConditionalOperator && up->count == 3 && n != up->child[0])
      narrow(c, r, up->child[0], d, n == up->child[1]);
    if (up->kind == CXCursor_BinaryOperator && up->op == CXBinaryOperator_LAnd && up->count == 2 &&
        n == up->child[1])
      narrow(c, r, up->child[0], d, true);
    if (up->kind == CXCursor_CompoundStmt)
      for (int i = 0; i < up->count && up->child[i] != n; i++)
        if (up->child[i]->kind == CXCursor_IfStmt && !up->child[i]->step &&
            leaves(up->child[i]->body))
          narrow(c, r, up->child[i]->cond, d, false);
  }
}

/* ---- values ---------------------------------------------------------------------------------- */

static Range variable_range(Check *c, const Node *n, const Decl *d) {
  Range r = any_value(n);
  if (d->kind == DECL_VARIABLE && d->init && !d->changed && !d->loop) {
    r = range_of(c, d->init);
  } else if (d->kind == DECL_VARIABLE && d->init && d->loop && !d->changed) {
    const Range from = range_of(c, d->init);
    const Node *step = d->loop->step ? node_strip(d->loop->step) : NULL;
    const bool down =
        step &&
        ((is_step(step) &&
          (step->op == CXUnaryOperator_PostDec || step->op == CXUnaryOperator_PreDec)) ||
         (step->kind == CXCursor_CompoundAssignOperator && step->op != CXBinaryOperator_AddAssign &&
          step->op != CXBinaryOperator_MulAssign && step->op != CXBinaryOperator_ShlAssign));
    if (down)
      r = from;
    else
      r.low = from.low;
  }
  if (!d->changed) narrow_by_place(c, &r, n, d);
  return r;
}

static bool is_32(enum CXTypeKind k) { return k == CXType_UInt || k == CXType_Int; }
static double most_of(enum CXTypeKind k) { return k == CXType_Int ? I32_MOST : U32_MOST; }

static Range combine(const Node *n, Range a, Range b, double low, double high) {
  Range r = {low, high, a.known && b.known, a.sized || b.sized};
  const double most = is_32(n->canonical) ? most_of(n->canonical) : 18446744073709551615.0;
  if (r.high > most) r.high = most, r.low = 0;
  return r;
}

static Range operation_range(Check *c, const Node *n) {
  const Range a = range_of(c, n->child[0]), b = range_of(c, n->child[1]);
  const double least = b.low > 0 ? b.low : 1;
  double two_to = 1;
  for (int i = 0; i < 64 && i < (int)b.high; i++) two_to *= 2;
  switch (n->op) {
  case CXBinaryOperator_Add: return combine(n, a, b, a.low + b.low, a.high + b.high);
  case CXBinaryOperator_Sub:
    return combine(n, a, b, 0, a.high - b.low > 0 ? a.high - b.low : 0); /* taken not to wrap */
  case CXBinaryOperator_Mul: return combine(n, a, b, a.low * b.low, a.high * b.high);
  case CXBinaryOperator_Div: return combine(n, a, a, 0, (double)(uint64_t)(a.high / least));
  case CXBinaryOperator_Rem:
    return b.known ? combine(n, b, b, 0, b.high > 0 && b.high - 1 < a.high ? b.high - 1 : a.high)
                   : a;
  case CXBinaryOperator_Shl: return combine(n, a, b, a.low, a.high * two_to);
  case CXBinaryOperator_Shr:
    return combine(n, a, a, 0,
                   b.low > 0 ? a.high / (b.low >= 32 ? U32_MOST : (double)(1u << (unsigned)b.low))
                             : a.high);
  case CXBinaryOperator_And: {
    const bool first = a.high <= b.high;
    return combine(n, first ? a : b, first ? a : b, 0, first ? a.high : b.high);
  }
  default: return any_value(n);
  }
}

static Range new_range(Check *c, const Node *n);

static Range range_of(Check *c, const Node *n) {
  n = node_strip(n);
  Ranged *kept = kept_of(c, n);
  if (kept->state == RANGE_FOUND) return kept->range;
  if (kept->state == RANGE_OPEN || !down_from(c, n)) return any_value(n);
  kept->state = RANGE_OPEN;
  const Range r = new_range(c, n);
  kept->range = r;
  kept->state = RANGE_FOUND;
  c->down--;
  return r;
}

/* n is stripped. */
static Range new_range(Check *c, const Node *n) {
  int64_t value;
  if (node_constant(c, n, c->wave, &value) && value >= 0)
    return (Range){(double)value, (double)value, true, false};
  if (is_cast(n)) {
    const Node *from = cast_operand(n);
    if (!from) return any_value(n);
    Range r = range_of(c, from);
    if (is_32(n->canonical) && r.high > most_of(n->canonical))
      r = (Range){0, most_of(n->canonical), r.known, r.sized};
    return r;
  }
  if (n->kind == CXCursor_DeclRefExpr && n->decl) {
    if (n->decl->kind == DECL_INDEX) return index_word_range(c, n->decl->index);
    if (n->decl->kind == DECL_PARAMETER) {
      Range r = parameter_range(c, n, n->decl);
      if (!n->decl->changed) narrow_by_place(c, &r, n, n->decl);
      return r;
    }
    return variable_range(c, n, n->decl);
  }
  if (n->kind == CXCursor_BinaryOperator && n->count == 2) return operation_range(c, n);
  if (n->kind == CXCursor_ConditionalOperator && n->count == 3) {
    if (node_constant(c, n->child[0], c->wave, &value)) return range_of(c, n->child[value ? 1 : 2]);
    const Range a = range_of(c, n->child[1]), b = range_of(c, n->child[2]);
    return combine(n, a, b, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high);
  }
  if (n->kind == CXCursor_CallExpr && n->decl && n->count == 3) {
    const bool is_min = strcmp(n->decl->name, "min") == 0;
    if (is_min || strcmp(n->decl->name, "max") == 0) {
      const Range a = range_of(c, n->child[1]), b = range_of(c, n->child[2]);
      Range r = combine(n, a, b, 0, (a.high < b.high) == is_min ? a.high : b.high);
      if (is_min) r.known = a.known || b.known;
      return r;
    }
  }
  return any_value(n);
}

/* ---- where indices are ----------------------------------------------------------------------- */

static const char *with_commas(Check *c, double x) {
  if (x > 9.0e15) return arena_printf(c->a, "%.3g", x);
  return arena_printf(c->a, "%.0f", x);
}

/* True when n or what it is made of was reported: its parents then say nothing more. */
static bool new_index(Check *c, const Node *n);

static bool index_value(Check *c, const Node *n) {
  n = node_strip(n);
  Ranged *kept = kept_of(c, n);
  if (kept->index != INDEX_UNKNOWN) return kept->index == INDEX_REPORTED;
  if (!down_from(c, n)) return true;
  kept->index = INDEX_FINE; /* of what is made of itself, too */
  if (new_index(c, n)) kept->index = INDEX_REPORTED;
  c->down--;
  return kept->index == INDEX_REPORTED;
}

/* n is stripped. */
static bool new_index(Check *c, const Node *n) {
  if (is_cast(n)) {
    const Node *from = cast_operand(n);
    return from && index_value(c, from);
  }
  if (n->kind == CXCursor_DeclRefExpr && n->decl && n->decl->kind == DECL_VARIABLE && n->decl->init)
    return n->decl->init->canonical != CXType_Pointer && index_value(c, n->decl->init);
  if (n->kind == CXCursor_ConditionalOperator && n->count == 3) {
    int64_t value;
    if (node_constant(c, n->child[0], c->wave, &value))
      return index_value(c, n->child[value ? 1 : 2]);
    const bool first = index_value(c, n->child[1]);
    return index_value(c, n->child[2]) || first;
  }
  if (n->kind == CXCursor_CallExpr && n->decl &&
      (strcmp(n->decl->name, "min") == 0 || strcmp(n->decl->name, "max") == 0))
    return false;
  if (n->kind != CXCursor_BinaryOperator || n->count != 2) return false;
  const bool below = index_value(c, n->child[0]);
  if (index_value(c, n->child[1]) || below) return true;
  if (!is_32(n->canonical)) return false;
  const bool sum = n->op == CXBinaryOperator_Add,
             product = n->op == CXBinaryOperator_Mul || n->op == CXBinaryOperator_Shl;
  if (!sum && !product) return false;
  const Range a = range_of(c, n->child[0]), b = range_of(c, n->child[1]);
  double high = sum ? a.high + b.high : a.high * b.high;
  if (n->op == CXBinaryOperator_Shl) {
    high = a.high;
    for (int i = 0; i < 64 && i < (int)b.high; i++) high *= 2;
  }
  const double most = most_of(n->canonical);
  const bool counted = sum ? a.known && b.known && (a.sized || b.sized) : a.sized || b.sized;
  if (!counted || high <= most) return false;
  FAULT(c, n->at, D_INDEX_WRAPS, sum ? "sum" : "product", with_commas(c, high),
        with_commas(c, most));
  NOTE(c, "widen before it grows: u64(a) %s b; or declare the dims' max in the specification",
       sum ? "+" : "*");
  return true;
}

static bool global_pointer(const Node *n) {
  return n->canonical == CXType_Pointer &&
         type_space(clang_getPointeeType(clang_getCanonicalType(n->type))) == 1;
}

static void find_indices(Check *c, const Node *n) {
  if (n->kind == CXCursor_ArraySubscriptExpr && n->count == 2 && global_pointer(n->child[0]))
    index_value(c, n->child[1]);
  if (n->kind == CXCursor_BinaryOperator && global_pointer(n) && n->count == 2 &&
      (n->op == CXBinaryOperator_Add || n->op == CXBinaryOperator_Sub))
    index_value(c, n->child[global_pointer(n->child[0]) ? 1 : 0]);
  if (n->kind == CXCursor_CompoundAssignOperator && global_pointer(n) && n->count == 2)
    index_value(c, n->child[1]);
  if (n->kind == CXCursor_CallExpr && n->decl) {
    bool memory = false;
    for (int i = 1; i < n->count; i++) memory = memory || global_pointer(n->child[i]);
    for (int i = 1; memory && i < n->count; i++)
      if (n->child[i]->canonical == CXType_UInt) index_value(c, n->child[i]);
  }
  for (int i = 0; i < n->count; i++) find_indices(c, n->child[i]);
}

/* Whatever a reference was made of is changed by a store to it. */
static void all_change(const Node *n) {
  if (n->kind == CXCursor_DeclRefExpr && n->decl) n->decl->changed = true;
  for (int i = 0; i < n->count; i++) all_change(n->child[i]);
}

/* Marks variables that are assigned after their declaration, other than by their loop's step. */
static void find_changes(const Node *n) {
  if ((is_assignment(n) || is_step(n)) && n->count) {
    const Node *to = node_strip(n->child[0]);
    Decl *d = to->kind == CXCursor_DeclRefExpr ? to->decl : NULL;
    if (d && !(d->loop && d->loop->step && within(n, d->loop->step))) d->changed = true;
  }
  if (n->kind == CXCursor_CallExpr && n->decl && n->decl->kind == DECL_FUNCTION) {
    const CXType type = clang_getCanonicalType(n->decl->type);
    for (int i = 1; i < n->count; i++) { /* a reference to a variable may change it */
      const Node *x = node_strip(n->child[i]);
      const CXType p = clang_getCanonicalType(clang_getArgType(type, (unsigned)i - 1));
      if (p.kind == CXType_LValueReference && x->kind == CXCursor_DeclRefExpr && x->decl)
        x->decl->changed = true;
    }
  }
  if (n->kind == CXCursor_UnaryOperator && n->op == CXUnaryOperator_AddrOf && n->count) {
    const Node *to = node_strip(n->child[0]);
    if (to->kind == CXCursor_DeclRefExpr && to->decl) to->decl->changed = true;
  }
  if (n->kind == CXCursor_VarDecl && n->decl && n->init &&
      clang_getCanonicalType(n->decl->type).kind == CXType_LValueReference)
    all_change(n->init);
  for (int i = 0; i < n->count; i++) find_changes(n->child[i]);
}

void check_ranges(Check *c) {
  for (const Function *f = c->tree->functions; f; f = f->next)
    if (f->body) find_changes(f->body);
  for (const Function *f = c->tree->functions; f; f = f->next) {
    if (!f->body) continue;
    variant_set(c, f->variant);
    find_indices(c, f->body);
  }
}

/* narrow.c: what a condition that holds says of the values that it compares. */
#include "body/flow.h"

#include <limits.h>

int turned(int op) {
  return op == CXBinaryOperator_LT   ? CXBinaryOperator_GT
         : op == CXBinaryOperator_GT ? CXBinaryOperator_LT
         : op == CXBinaryOperator_LE ? CXBinaryOperator_GE
         : op == CXBinaryOperator_GE ? CXBinaryOperator_LE
                                     : op;
}

static int negated(int op) {
  return op == CXBinaryOperator_LT   ? CXBinaryOperator_GE
         : op == CXBinaryOperator_GE ? CXBinaryOperator_LT
         : op == CXBinaryOperator_GT ? CXBinaryOperator_LE
         : op == CXBinaryOperator_LE ? CXBinaryOperator_GT
         : op == CXBinaryOperator_EQ ? CXBinaryOperator_NE
                                     : CXBinaryOperator_EQ;
}

/* How far below its high end r still comes, where r op other holds: as far as other lets it, where
** other is at its largest. */
static double gap_under(const Walk *w, const Range *r, int op, Range other) {
  if (!state_sure(w->now, *r)) return 0;
  const bool is_number = range_is_number(other);
  switch (op) {
  case CXBinaryOperator_LT:
  case CXBinaryOperator_LE: {
    const double high = op == CXBinaryOperator_LT ? other.high - 1 : other.high;
    if (other.low > r->high) return r->gap;
    if (!is_number && !state_sure(w->now, other)) return 0;
    return high - other.gap + 1 >= r->high ? r->gap : r->gap + other.gap - 1;
  }
  case CXBinaryOperator_GT:
  case CXBinaryOperator_GE: return other.high < r->high - r->gap + 1 ? r->gap : 0;
  case CXBinaryOperator_EQ: return is_number && r->gap == 1 ? 1 : 0;
  default: return is_number ? r->gap + 1 : 0;
  }
}

/* r op other holds, for a cell of this type. */
static void narrow_range(Walk *w, Range *r, enum CXTypeKind type, int op, Range other) {
  double high = U64_MOST, low = 0;
  r->gap = gap_under(w, r, op, other);
  r->from |= other.from;
  r->sure = w->now->depth + 1; /* the condition that follows is this one */
  if (op == CXBinaryOperator_LT) high = other.high - 1;
  if (op == CXBinaryOperator_LE || op == CXBinaryOperator_EQ) high = other.high;
  if (op == CXBinaryOperator_GT) low = other.low + 1;
  if (op == CXBinaryOperator_GE || op == CXBinaryOperator_EQ) low = other.low;
  if (op == CXBinaryOperator_NE && range_is_number(other) && r->high == other.high)
    high = other.high - 1;
  if (op == CXBinaryOperator_NE && range_is_number(other) && other.high == 0) low = 1;
  if (type == CXType_UInt && r->known && other.known && (high < r->low || low > r->high))
    w->now->dead = true;
  if (low > r->low) r->low = low < r->high ? low : r->high;
  if (high < r->high || (high < U64_MOST && !r->known)) {
    if (high < r->high) r->high = high > 0 ? high : 0;
    r->known = r->known || other.known;
    r->sized = r->sized || other.sized;
  }
  if (r->low > r->high) r->low = r->high;
}

/* `place + more < other`: the place, and what is left of the bound for it. */
static const Node *part_of_sum(Walk *w, const Node *sum, int op, Range *bound) {
  if (op != CXBinaryOperator_LT && op != CXBinaryOperator_LE) return NULL;
  const bool second = cell_of(w->f, sum->child[0]) < 0;
  const Range more = w->flow->peek(w, sum->child[second ? 0 : 1], w->now);
  bound->high = bound->high > more.low ? bound->high - more.low : 0;
  bound->low = bound->low > more.high ? bound->low - more.high : 0;
  bound->gap = range_is_number(more) ? bound->gap : 0;
  bound->from |= more.from;
  return node_strip_casts(sum->child[second ? 1 : 0]);
}

/* `all - place > other`, which says that place < all - other. */
static const Node *part_of_rest(Walk *w, const Node *rest, int *op, Range *bound) {
  if (*op != CXBinaryOperator_GT && *op != CXBinaryOperator_GE) return NULL;
  const Range all = w->flow->peek(w, rest->child[0], w->now), other = *bound;
  *bound = all;
  bound->high = all.high > other.low ? all.high - other.low : 0;
  bound->low = all.low > other.high ? all.low - other.high : 0;
  bound->gap = range_is_number(other) ? all.gap : 0;
  bound->from |= other.from;
  *op = turned(*op);
  return node_strip_casts(rest->child[1]);
}

/* Nothing that it names was stored to since. */
static bool stored_before(const Walk *w, const Node *n, unsigned before) {
  const int cell = before < UINT_MAX ? cell_of(w->f, n) : -1;
  if (cell >= 0 && w->now->cell[cell].stored >= before) return false;
  for (int i = 0; i < n->count && before < UINT_MAX; i++)
    if (!stored_before(w, n->child[i], before)) return false;
  return true;
}

/* `place op other`. */
static void narrow_place(Walk *w, const Node *place, int op, const Node *other, unsigned before) {
  if (!stored_before(w, place, before) || !stored_before(w, other, before)) return;
  place = node_strip_casts(place);
  Range bound = w->flow->peek(w, other, w->now);
  const bool binary = place && place->kind == CXCursor_BinaryOperator && place->count == 2;
  if (binary && place->op == CXBinaryOperator_Add)
    place = part_of_sum(w, place, op, &bound);
  else if (binary && place->op == CXBinaryOperator_Sub)
    place = part_of_rest(w, place, &op, &bound);
  const int cell = place && place->kind != CXCursor_ArraySubscriptExpr ? cell_of(w->f, place) : -1;
  if (cell >= 0) narrow_range(w, &w->now->cell[cell], place->canonical, op, bound);
}

/* names: how many more variables that are conditions may be looked into; before: what was stored since
** is not what such a one was made of. */
static void narrow(Walk *w, const Node *cond, bool holds, int *names, unsigned before) {
  cond = node_strip(cond);
  if (!cond) return;
  if (cond->kind == CXCursor_UnaryOperator && cond->op == CXUnaryOperator_LNot && cond->count) {
    narrow(w, cond->child[0], !holds, names, before);
    return;
  }
  const Decl *d = cond->kind == CXCursor_DeclRefExpr ? cond->decl : NULL;
  if (d && d->kind == DECL_VARIABLE && d->is_const && d->init && cell_of(w->f, cond) >= 0) {
    const unsigned made = w->now->cell[cell_of(w->f, cond)].stored;
    if ((*names)-- > 0) /* const bool inside = i < n; */
      narrow(w, d->init, holds, names, made < before ? made : before);
    return;
  }
  if (cond->kind != CXCursor_BinaryOperator || cond->count != 2) return;
  if (cond->op == (holds ? CXBinaryOperator_LAnd : CXBinaryOperator_LOr)) {
    narrow(w, cond->child[0], holds, names, before);
    narrow(w, cond->child[1], holds, names, before);
    return;
  }
  if (cond->op < CXBinaryOperator_LT || cond->op > CXBinaryOperator_NE) return;
  const int op = holds ? cond->op : negated(cond->op);
  narrow_place(w, cond->child[0], op, cond->child[1], before);
  narrow_place(w, cond->child[1], turned(op), cond->child[0], before);
}

void state_narrow(Walk *w, const Node *cond, bool holds) {
  int names = 16;
  if (!w->now->dead) narrow(w, cond, holds, &names, UINT_MAX);
}

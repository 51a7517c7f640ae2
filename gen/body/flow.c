/* flow.c: where the integers of a body can go, statement by statement.
**
** Each variable has a range (range.h) at each place, which assignments make, conditions narrow and
** joins widen.  A loop is gone through once; what grew in it is then taken to grow as much each
** time, as often as its condition lets it go round, or without bound where that is not known; then
** it is gone through again, until that was not too little.  What is found on the way is kept of
** the last time only.
**
** What a place is `under`: conditions that only some threads, dims or scalars come through.  A
** range says that its high end is reached (gap, sure) only as long as no condition since then is
** made of the same things; what an input holds may be anything, so a condition of it is none. */
#include "body/flow.h"

#include <math.h>
#include <string.h>

enum { PASSES_MOST = 6 };

/* Control goes on from here at *to as well. */
static void send(Walk *w, State **to) {
  if (w->now->dead) return;
  if (*to)
    state_join(w, *to, w->now, NULL);
  else
    *to = state_copy(w, w->now);
}

/* ---- branches -------------------------------------------------------------------------------- */

/* Its value; numbers decide. */
static Range condition(Walk *w, const Node *cond) {
  return cond ? flow_range(w, cond) : range_number(1);
}

static void go_under(Walk *w, const Node *cond, Range value, bool holds) {
  if (range_is_number(value)) {
    if ((value.low != 0) != holds) w->now->dead = true;
    return;
  }
  state_narrow(w, cond, holds);
  state_under(w->now, value.from);
}

static void branch(Walk *w, const Node *n) {
  for (int i = 0; i + 1 < n->header; i++) flow_run(w, n->child[i]);
  const Range value = condition(w, n->cond);
  State *before = state_copy(w, w->now), *then;
  go_under(w, n->cond, value, true);
  if (n->body) flow_run(w, n->body);
  then = w->now;
  w->now = state_copy(w, before);
  go_under(w, n->cond, value, false);
  if (n->step) flow_run(w, n->step);
  state_join(w, w->now, then, before);
  state_drop(w, then);
  state_drop(w, before);
}

static void choose(Walk *w, const Node *n) {
  Target own = {.is_switch = true, .outer = w->target};
  for (int i = 0; i + 1 < n->header; i++) flow_run(w, n->child[i]);
  const Range value = condition(w, n->cond);
  State *before = state_copy(w, w->now);
  own.again = state_copy(w, w->now); /* where each case comes from */
  state_under(own.again, value.from);
  w->now->dead = true;
  w->target = &own;
  if (n->body) flow_run(w, n->body);
  w->target = own.outer;
  if (own.out) state_join(w, w->now, own.out, before);
  state_join(w, w->now, before, before);
  state_drop(w, own.out);
  state_drop(w, own.again);
  state_drop(w, before);
}

static void enter_case(Walk *w, const Node *n) {
  for (const Target *t = w->target; t; t = t->outer)
    if (t->is_switch) {
      state_join(w, w->now, t->again, NULL);
      break;
    }
  if (n->count) flow_run(w, n->child[n->count - 1]);
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct Loop {
  const Node *node;
  State *entry, *head, *back, *out;
  double *grows; /* of each cell, what a time round adds to its high end; -1: not known */
  Range trips;   /* known: how often it goes round at most */
  bool leaves;   /* by break or return */
} Loop;

static bool has_leaving(const Node *n, bool by_return) {
  if (!n) return false;
  if (n->kind == CXCursor_ReturnStmt || (n->kind == CXCursor_BreakStmt && !by_return)) return true;
  for (int i = 0; i < n->count; i++)
    if (has_leaving(n->child[i], by_return)) return true;
  return false;
}

/* The condition at the state at hand: those who fail it go out. */
static void test(Walk *w, Loop *l) {
  const Range value = condition(w, l->node->cond);
  State *stay = state_copy(w, w->now);
  go_under(w, l->node->cond, value, false);
  send(w, &l->out);
  state_drop(w, w->now);
  w->now = stay;
  go_under(w, l->node->cond, value, true);
}

/* Goes round once, from l->head to l->back. */
static void go_round(Walk *w, Loop *l) {
  const Node *n = l->node;
  Target own = {.outer = w->target};
  state_drop(w, l->back);
  state_drop(w, l->out);
  l->out = NULL;
  state_drop(w, w->now);
  w->now = state_copy(w, l->head);
  if (n->kind != CXCursor_DoStmt) test(w, l);
  w->target = &own;
  if (n->body) flow_run(w, n->body);
  w->target = own.outer;
  if (own.again) state_join(w, w->now, own.again, NULL);
  if (n->kind == CXCursor_ForStmt && n->step) flow_run(w, n->step);
  if (n->kind == CXCursor_DoStmt) test(w, l);
  if (own.out && l->out)
    state_join(w, l->out, own.out, NULL);
  else if (own.out)
    l->out = state_copy(w, own.out);
  l->back = state_copy(w, w->now);
  if (l->back->depth > l->entry->depth) l->back->depth = l->entry->depth;
  state_drop(w, own.out);
  state_drop(w, own.again);
}

/* The same each time: a number, or what is never assigned and was there before the loop. */
static bool is_steady(Check *c, const Node *loop, const Node *n) {
  int64_t value;
  n = node_strip_casts(n);
  const Decl *d = n && n->kind == CXCursor_DeclRefExpr ? n->decl : NULL;
  return (d && (d->is_const || d->kind == DECL_INDEX) && d->at < loop->at) ||
         node_constant(c, n, c->wave, &value);
}

static bool adds_to(const Node *n, const Node *to) {
  n = node_strip_casts(n);
  const Node *left = n && n->kind == CXCursor_BinaryOperator && n->count == 2 &&
                             (n->op == CXBinaryOperator_Add || n->op == CXBinaryOperator_Sub)
                         ? node_strip_casts(n->child[0])
                         : NULL;
  return left && left->kind == to->kind && left->decl == to->decl && left->cell == to->cell;
}

/* All that a loop does to a place is i++, i += 4, i = i + 4 and the like. */
static bool steps_evenly(Check *c, const Node *loop, const Node *n, const Node *place) {
  if (!n) return true;
  const Node *to = (is_assignment(n) || is_step(n)) && n->count ? node_strip(n->child[0]) : NULL;
  if (to && !is_step(n) && to->kind == place->kind && to->decl == place->decl &&
      to->cell == place->cell) {
    const Node *by = n->child[1];
    if (n->op == CXBinaryOperator_Assign) {
      if (!adds_to(by, place)) return false;
      by = node_strip_casts(by)->child[1];
    } else if (n->op != CXBinaryOperator_AddAssign && n->op != CXBinaryOperator_SubAssign) {
      return false;
    }
    if (!is_steady(c, loop, by)) return false;
  }
  for (int i = 0; i < n->count; i++)
    if (!steps_evenly(c, loop, n->child[i], place)) return false;
  return true;
}

/* `i < n`, `i-- > 0`: how often, from how i moved the first time. */
static Range trips_of(Walk *w, const Loop *l, const Node *side, int op, const Node *other) {
  const Range none = {0};
  Range more = range_number(0); /* i + 4 <= n */
  side = node_strip_casts(side);
  if (side && side->kind == CXCursor_BinaryOperator && side->op == CXBinaryOperator_Add &&
      side->count == 2) {
    more = flow_peek(w, side->child[1], l->entry);
    side = node_strip_casts(side->child[0]);
  }
  if (side && is_step(side) && side->count) side = node_strip_casts(side->child[0]);
  const int cell = side ? cell_of(w->f, side) : -1;
  if (cell < 0 || side->kind == CXCursor_ArraySubscriptExpr ||
      !steps_evenly(w->flow->c, l->node, l->node, side))
    return none;
  const Range from = l->entry->cell[cell], to = l->back->cell[cell];
  Range bound = flow_peek(w, other, l->entry), later = flow_peek(w, other, l->back);
  Range trips = {.known = true, .sized = bound.sized, .from = bound.from | from.from};
  trips.gap = range_is_number(bound) || state_sure(l->entry, bound);
  const double one = op == CXBinaryOperator_LE || op == CXBinaryOperator_GE;
  if (op == CXBinaryOperator_LT || op == CXBinaryOperator_LE || op == CXBinaryOperator_NE) {
    if (bound.known && later.high == bound.high && to.low > from.low) {
      trips.high = ceil((bound.high - more.low + one - from.low) / (to.low - from.low));
      trips.gap = trips.gap > 0 && range_is_number(more);
      return trips;
    }
  }
  if (op == CXBinaryOperator_GT || op == CXBinaryOperator_GE || op == CXBinaryOperator_NE) {
    if (from.known && later.low == bound.low && to.high < from.high) {
      trips.high = from.high + one - bound.low;
      trips.sized = from.sized;
      return trips;
    }
  }
  return none;
}

static Range count_trips(Walk *w, const Loop *l, const Node *cond) {
  cond = node_strip(cond);
  if (!cond || cond->kind != CXCursor_BinaryOperator || cond->count != 2) return (Range){0};
  if (cond->op == CXBinaryOperator_LAnd) {
    const Range a = count_trips(w, l, cond->child[0]), b = count_trips(w, l, cond->child[1]);
    return !a.known ? b : !b.known || a.high <= b.high ? a : b;
  }
  const Range left = trips_of(w, l, cond->child[0], cond->op, cond->child[1]);
  return left.known ? left : trips_of(w, l, cond->child[1], turned(cond->op), cond->child[0]);
}

static double cell_most(const Function *f, int cell) {
  return range_of_kind(f->cells[cell].kind).high;
}

static void forget_bound(Walk *w, Loop *l, int i) {
  l->head->cell[i].high = cell_most(w->f, i);
  l->head->cell[i].low = l->head->cell[i].gap = 0;
  l->head->cell[i].known = false;
  l->head->cell[i].from = SOURCE_ANY;
  l->grows[i] = -1;
}

/* What a cell has at the head of the loop, from what it has before it and after the first time. */
static void widen_cell(Walk *w, Loop *l, int i) {
  const Range from = l->entry->cell[i], to = l->back->cell[i];
  Range *head = &l->head->cell[i];
  *head = range_either(from, to);
  head->stored = ++w->flow->stores;
  head->high = from.high;
  if (state_sure(l->entry, from)) head->sure = l->entry->depth + 1; /* its condition is in trips */
  head->gap = l->leaves ? 0 : from.gap;
  l->grows[i] = 0;
  if (to.high <= from.high) return;
  const double more = to.high - from.high;
  if (!l->trips.known) {
    forget_bound(w, l, i);
    return;
  }
  l->grows[i] = more;
  head->high = from.high + (l->trips.high > 1 ? (l->trips.high - 1) * more : 0);
  head->sized = head->sized || l->trips.sized;
  head->from |= l->trips.from;
  const bool even = to.low - from.low == more && head->gap > 0 && l->trips.gap > 0;
  const double width = from.high - from.low + from.gap;
  head->gap = !even ? 0 : more <= width ? from.gap : more;
}

/* After the first time: what a loop changes; false: nothing. */
static bool widen(Walk *w, Loop *l) {
  bool any = false;
  if (l->back->dead) return false;
  l->trips = count_trips(w, l, l->node->cond);
  if (l->node->kind == CXCursor_DoStmt) l->trips.high++;
  for (int i = 0; i < w->f->cell_count; i++) {
    if (l->back->cell[i].stored == l->entry->cell[i].stored) continue;
    widen_cell(w, l, i);
    any = true;
  }
  return any;
}

/* After a later time: whether the head had all that comes back to it; where not, it has now. */
static bool settled(Walk *w, Loop *l, bool last) {
  bool good = true;
  if (l->back->dead) return true;
  for (int i = 0; i < w->f->cell_count; i++) {
    Range *head = &l->head->cell[i];
    const Range to = l->back->cell[i];
    const double most = cell_most(w->f, i);
    if (l->back->cell[i].stored == l->entry->cell[i].stored) continue;
    const bool grew = l->grows[i] >= 0 && to.high > head->high + l->grows[i];
    const bool fits = !grew && head->high <= most && to.low >= head->low &&
                      (to.known || !head->known) && (!to.sized || head->sized) &&
                      (!to.wrapped || head->wrapped) && (to.from | head->from) == head->from;
    if (fits) continue;
    good = false;
    const Range both = range_either(*head, to);
    head->low = both.low, head->known = both.known, head->sized = both.sized;
    head->from = both.from, head->wrapped = both.wrapped, head->reached = both.reached;
    if (head->high > most) head->high = most;
    if (grew || last) forget_bound(w, l, i);
  }
  return good;
}

/* After the last time round, or from its middle. */
static void go_out(Walk *w, Loop *l) {
  const Node *cond = l->node->cond;
  if (l->node->kind == CXCursor_DoStmt || !cond) w->now->dead = true;
  if (!w->now->dead) go_under(w, cond, flow_peek(w, cond, w->now), false);
  if (l->out) state_join(w, w->now, l->out, NULL);
  if (w->now->depth > l->entry->depth) w->now->depth = l->entry->depth;
  if (has_leaving(l->node->body, true)) state_under(w->now, SOURCE_ANY);
  state_drop(w, l->entry);
  state_drop(w, l->head);
  state_drop(w, l->back);
  state_drop(w, l->out);
}

static void loop(Walk *w, const Node *n) {
  Flow *flow = w->flow;
  if (n->kind == CXCursor_ForStmt && n->init) flow_run(w, n->init);
  if (n->kind == CXCursor_WhileStmt)
    for (int i = 0; i + 1 < n->header; i++) flow_run(w, n->child[i]);
  if (w->now->dead) return;
  Loop l = {.node = n, .leaves = has_leaving(n->body, false)};
  l.entry = state_copy(w, w->now);
  l.head = state_copy(w, w->now);
  l.grows = arena_alloc(flow->c->a, ((size_t)w->f->cell_count + 1) * sizeof *l.grows);
  const int mark = flow->count, base = flow->base;
  const bool returned = w->returned;
  const Value result = w->result;
  for (int pass = 0;; pass++) {
    flow->base = mark;
    go_round(w, &l);
    flow->base = base;
    if (pass == 0 ? !widen(w, &l) : pass > PASSES_MOST || settled(w, &l, pass == PASSES_MOST))
      break;
    flow->count = mark; /* none of it was the last time */
    w->returned = returned;
    w->result = result;
  }
  go_out(w, &l);
}

/* ---- statements ------------------------------------------------------------------------------ */

static void leave(Walk *w, const Node *n) {
  Target *t = w->target;
  if (n->kind == CXCursor_ContinueStmt)
    while (t && t->is_switch) t = t->outer;
  if (t) send(w, n->kind == CXCursor_BreakStmt ? &t->out : &t->again);
  w->now->dead = true;
}

static void give(Walk *w, const Node *n) {
  Value x = {.range = range_number(0)};
  for (int i = 0; i < n->count; i++) x = flow_value(w, n->child[i]);
  if (!w->now->dead && !w->returned) {
    w->result = x;
    w->returned = true;
  } else if (!w->now->dead) {
    const Value known = w->result;
    w->result = (Value){.range = range_either(known.range, x.range)};
    for (int i = 0; i < known.count; i++)
      for (int j = 0; j < x.count; j++) {
        if (strcmp(known.members[i].path, x.members[j].path) != 0) continue;
        GROW(w->flow->c->a, w->result.members, w->result.count, w->result.room);
        w->result.members[w->result.count++] =
            (Member){x.members[j].path, range_either(known.members[i].range, x.members[j].range)};
      }
  }
  w->now->dead = true;
}

static void run_inside(Walk *w, const Node *n) {
  switch (n->kind) {
  case CXCursor_IfStmt: branch(w, n); return;
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_DoStmt: loop(w, n); return;
  case CXCursor_SwitchStmt: choose(w, n); return;
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt: enter_case(w, n); return;
  case CXCursor_ReturnStmt: give(w, n); return;
  case CXCursor_BreakStmt:
  case CXCursor_ContinueStmt: leave(w, n); return;
  case CXCursor_VarDecl: flow_declare(w, n); return;
  default: break;
  }
  if (clang_isExpression(n->kind)) {
    flow_value(w, n);
    return;
  }
  for (int i = 0; i < n->count; i++) flow_run(w, n->child[i]);
}

void flow_run(Walk *w, const Node *n) {
  const bool is_label = n->kind == CXCursor_CaseStmt || n->kind == CXCursor_DefaultStmt;
  if (w->now->dead && !is_label && n->kind != CXCursor_CompoundStmt) return;
  if (!step_into(w->flow->c, n)) return;
  run_inside(w, n);
  w->flow->c->down--;
}

/* index.c: integers that become an index.
**
** One into GLOBAL memory must not be made of a 32-bit sum or product that can pass 32 bits; one into
** an array of the body's own must not, for certain, pass the array's end. */
#include "body/flow.h"

#include <string.h>

/* ---- findings -------------------------------------------------------------------------------- */

void flow_find(Flow *flow, Finding x) {
  for (int i = flow->base; i < flow->count; i++)
    if (flow->findings[i].node == x.node && !flow->findings[i].array == !x.array) {
      if (x.reached > flow->findings[i].reached) flow->findings[i].reached = x.reached;
      return;
    }
  GROW(flow->c->a, flow->findings, flow->count, flow->room);
  flow->findings[flow->count++] = x;
}

/* The specification bounds a product of all the dims that it is made of: who can say. */
static bool is_bound_together(const Check *c, Sources from) {
  bool any = false, all = true;
  for (int i = 0; i < c->k->dim_count; i++) {
    if (!(from & source_bit(SOURCE_DIMS + i))) continue;
    any = true;
    all = all && c->dim_product[i];
  }
  return any && all;
}

void index_used(Walk *w, Range r) {
  if (r.wrapped && !w->now->dead && !is_bound_together(w->flow->c, r.from))
    flow_find(w->flow, (Finding){.node = r.wrapped, .reached = r.reached});
}

/* base[at] in an array whose extent its type says. */
void check_end(Walk *w, const Node *n, const Node *base, Range at) {
  const long long extent = clang_getArraySize(clang_getCanonicalType(base->type));
  if (w->now->dead || extent <= 0 || !state_sure(w->now, at)) return;
  const double slack = w->flow->any_end ? 0 : at.gap - 1;
  if (at.high - slack < (double)extent) return;
  const Decl *d = node_base(base);
  flow_find(w->flow, (Finding){.node = n,
                               .array = d ? d->name : "the array",
                               .reached = at.high,
                               .holds = (double)extent,
                               .from = at.from});
}

/* ---- a body ---------------------------------------------------------------------------------- */

static void begin_body(Walk *w) {
  Function *f = w->f;
  Check *c = w->flow->c;
  w->now = arena_alloc(c->a, sizeof *w->now + (size_t)f->cell_count * sizeof(Range));
  for (int i = 0; i < f->cell_count; i++) w->now->cell[i] = unknown_cell(f, i);
  for (int i = 0; i < INDEX_WORDS; i++) w->now->cell[i] = range_word(c, i);
  for (int i = 0; i < f->param_count; i++) {
    const int dim = i - c->k->arg_count, scalar = dim - c->k->dim_count;
    Range *r = &w->now->cell[cell_of_slot(f->params[i]->slot)];
    if (scalar >= 0)
      *r = range_scalar(c, scalar, f->cells[cell_of_slot(f->params[i]->slot)].kind);
    else if (dim >= 0 && scalar < 0)
      *r = range_dim(c, dim);
  }
}

static void walk_body(Flow *flow, Function *f) {
  Walk w = {.flow = flow, .f = f};
  flow->count = flow->base = 0;
  flow->c->steps = 0;
  flow->c->turn++; /* what was kept of a walk with other bounds holds no more */
  begin_body(&w);
  flow_run(&w, f->body);
}

static const char *shown(Check *c, double x) {
  return arena_printf(c->a, x > 9.0e15 ? "%.3g" : "%.0f", x);
}

static void tell_wrap(Check *c, const Finding *x) {
  const Node *n = x->node;
  const bool sum = n->op == CXBinaryOperator_Add || n->op == CXBinaryOperator_AddAssign;
  const bool is_sum = n->kind == CXCursor_UnaryOperator || sum;
  FAULT(c, n->at, D_INDEX_WRAPS, is_sum ? "sum" : "product", shown(c, x->reached),
        shown(c, most_of(n->canonical)));
  NOTE(c, "widen before it grows: u64(a) %s b; or declare the dims' max in the specification",
       is_sum ? "+" : "*");
}

/* The one dim or scalar that it is made of, by its symbol's number; -1: of none or several. */
static int bound_of(const Check *c, Sources from) {
  int found = -1, count = 0;
  for (int i = 0; i < c->k->dim_count; i++)
    if (from & source_bit(SOURCE_DIMS + i)) found = i, count++;
  for (int i = 0; i < c->k->scalar_count; i++)
    if (from & source_bit(SOURCE_SCALARS + i)) found = c->k->dim_count + i, count++;
  return count == 1 ? found : -1;
}

static bool finds(Flow *flow, Function *f, const Node *node) {
  walk_body(flow, f);
  for (int i = 0; i < flow->count; i++)
    if (flow->findings[i].array && flow->findings[i].node == node) return true;
  return false;
}

/* The largest bound at which the index stays inside, by halves; -1: none. */
static int64_t largest_that_fits(Check *c, Function *f, const Node *node, int64_t *bound) {
  const int64_t declared = *bound;
  int64_t low = -1, high = declared;
  while (high - low > 1) {
    Flow own = {.c = c, .any_end = true};
    *bound = low + (high - low) / 2;
    if (finds(&own, f, node))
      high = *bound;
    else
      low = *bound;
  }
  *bound = declared;
  return low;
}

static void tell_end(Check *c, Function *f, const Finding *x) {
  FAULT(c, x->node->at, D_INDEX_END, x->array, shown(c, x->reached), shown(c, x->holds));
  if (!c->live) return;
  const int made_of = bound_of(c, x->from), scalar = made_of - c->k->dim_count;
  int64_t *bound = scalar >= 0 ? &c->scalar_high[scalar] : &c->dim_high[made_of < 0 ? 0 : made_of];
  const int64_t fits = made_of < 0 ? -1 : largest_that_fits(c, f, x->node, bound);
  if (fits < 0)
    NOTE(c, "make the array larger, or leave out the threads that have no place in it");
  else if (scalar < 0)
    NOTE(c,
         "the dim '%s' can be %lld; the largest that fits is %lld: declare max = %lld, or make the "
         "array larger",
         c->k->dims[made_of], (long long)*bound, (long long)fits, (long long)fits);
  else
    NOTE(c,
         "the scalar '%s' can be %lld; the largest that fits is %lld: require "
         "scalar.%s:le(%lld), or make the array larger",
         c->k->scalars[scalar].name, (long long)*bound, (long long)fits, c->k->scalars[scalar].name,
         (long long)fits);
}

static void check_body(Check *c, Function *f) {
  Flow flow = {.c = c};
  variant_set(c, f->variant);
  walk_body(&flow, f);
  const int count = flow.count;
  for (int i = 0; i < count; i++)
    if (flow.findings[i].array)
      tell_end(c, f, &flow.findings[i]);
    else
      tell_wrap(c, &flow.findings[i]);
}

void check_flow(Check *c) {
  for (Function *f = c->tree->functions; f; f = f->next)
    if (f->body) cells_find(c, f);
  for (Function *f = c->tree->functions; f; f = f->next)
    if (f->is_body) check_body(c, f);
}

/* index.c: a walk through each body, and what is told of its findings. */
#include "body/flow.h"

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
  flow->run = flow_run;
  flow->peek = flow_peek;
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

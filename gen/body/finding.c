/* finding.c: integers that become an index.
**
** One into GLOBAL memory must not be made of a 32-bit sum or product that can pass 32 bits; one into
** an array of the body's own must not, for certain, pass the array's end. */
#include "body/flow.h"

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

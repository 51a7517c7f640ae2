/* variant.c: what a port and an instance make of a kernel's constants and threads. */
#include "body/reading.h"

#include <string.h>
int64_t port_const(const Kernel *k, const Port *p, const Instance *instance, int i) {
  for (int j = 0; j < p->define_count; j++)
    if (strcmp(p->defines[j].name, k->consts[i].name) == 0) return p->defines[j].value;
  return instance->consts[i];
}

static bool same_expr(const Expr *x, const Expr *y) {
  if (x == y) return true;
  if (!x || !y || x->op != y->op || x->value != y->value) return false;
  if (x->op == EX_VAR && (x->kind != y->kind || x->index != y->index)) return false;
  return same_expr(x->a, y->a) && same_expr(x->b, y->b) && same_expr(x->c, y->c);
}

bool ports_agree(const Kernel *k, const Port *a, const Port *b) {
  (void)k;
  if (a->absent || b->absent || strcmp(a->body, b->body) != 0 || a->define_count != b->define_count)
    return false;
  for (int i = 0; i < 3; i++)
    if (!same_expr(a->threads[i], b->threads[i])) return false;
  for (int i = 0; i < a->define_count; i++)
    if (strcmp(a->defines[i].name, b->defines[i].name) != 0 ||
        a->defines[i].value != b->defines[i].value)
      return false;
  return true;
}

void variant_set(Check *c, const Variant *v) {
  const Kernel *k = c->k;
  c->turn++;
  c->instance = v->instance;
  c->wave = v->wave;
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS] = {0};
  for (int i = 0; i < k->const_count; i++)
    values[k->dim_count + i] = c->consts[i] = port_const(k, c->port, v->instance, i);
  c->threads = 1;
  for (int i = 0; i < 3; i++) {
    int64_t n = 1;
    if (c->port->threads[i] && expr_eval(k, c->port->threads[i], values, &n) && n > 0 && n <= 4096)
      c->threads *= n;
  }
}

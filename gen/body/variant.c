/* variant.c: what a port and an instance make of a kernel's constants and threads. */
#include "body/reading.h"

#include <string.h>

bool ports_agree(const Port *a, const Port *b) {
  if (a->absent || b->absent || strcmp(a->body, b->body) != 0 ||
      a->define_count != b->define_count || a->mlx_bits != b->mlx_bits)
    return false;
  for (int i = 0; i < 3; i++)
    if (!expr_same(&a->threads[i], &b->threads[i])) return false;
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
    values[k->dim_count + i] = c->consts[i] = port_const(k, c->port, i, v->instance->consts[i]);
  c->threads = 1;
  for (int i = 0; i < 3; i++) {
    int64_t n = 1;
    if (expr_eval(&c->port->threads[i], values, &n) && n > 0 && n <= 4096) c->threads *= n;
  }
}

/* bridge.c: Kernel, Port and device text -> kg_kernel and KernelPorts.  See bridge.h. */
#include "tables/bridge.h"

#include <string.h>

#include "tables/tables.h"

/* Both enumerations have one order, so a value passes as it is. */
_Static_assert((int)DT_F32 == (int)KG_F32 && (int)DT_U64 == (int)KG_U64 &&
                   (int)DTYPES == (int)KG_DTYPES,
               "Dtype and kg_dtype have the same order");
_Static_assert((int)EX_INT == (int)KG_OP_INT && (int)EX_CEIL_DIV == (int)KG_OP_CEIL_DIV &&
                   (int)EX_WHEN == (int)KG_OP_WHEN,
               "ExprOp and kg_op have the same order");
_Static_assert((int)MAX_ARGS == KG_MAX_ARGS && (int)MAX_CONSTS == KG_MAX_CONSTS &&
                   (int)MAX_DIMS == KG_MAX_DIMS,
               "generator and runtime have the same limits");

static int step_count(const Expr *e) {
  return e ? 1 + step_count(e->a) + step_count(e->b) + step_count(e->c) : 0;
}

static kg_step *steps_put(const Kernel *k, const Expr *e, kg_step *to) {
  if (!e) return to;
  to = steps_put(k, e->a, to);
  to = steps_put(k, e->b, to);
  to = steps_put(k, e->c, to);
  to->op = (uint8_t)e->op;
  to->value = e->op == EX_VAR ? expr_var_number(k, e) : e->value;
  return to + 1;
}

static kg_expr expr_of(Arena *a, const Kernel *k, const Expr *e) {
  static const kg_step one = {KG_OP_INT, 1};
  if (!e) return (kg_expr){"1", 1, &one};
  const int count = step_count(e);
  kg_step *steps = arena_alloc(a, (size_t)count * sizeof *steps);
  steps_put(k, e, steps);
  return (kg_expr){expr_text(a, e), count, steps};
}

static const kg_port *port_of(Arena *a, const Kernel *k, const Port *p, const Facts *facts,
                              const char *text) {
  const Backend *b = p->backend;
  kg_port *port = arena_alloc(a, sizeof *port);
  port->backend = b->name;
  port->file = port_file(a, k, p);
  port->text = text ? text : emit_device(a, k, p, facts);
  const char **options = arena_alloc(a, ((size_t)b->option_count + 1) * sizeof *options);
  for (int i = 0; i < b->option_count; i++) options[i] = b->options[i];
  port->options = options;
  port->waves = p->waves;
  for (int i = 0; i < 3; i++) {
    port->groups[i] = expr_of(a, k, port_expr(a, p, k->groups[i]));
    port->threads[i] = expr_of(a, k,
                               port_expr(a, p, p->threads[i] ? p->threads[i] : k->threads[i]));
  }
  for (int i = 0; i < WAVES; i++)
    if ((p->waves & (1u << i)) && facts->shared_bytes[i] > port->shared_bytes)
      port->shared_bytes = facts->shared_bytes[i];
  return port;
}

static const KernelPorts *ports_of(Arena *a, const Kernel *k, Facts *const *facts,
                                   const char *const *texts) {
  KernelPorts *ports = arena_alloc(a, sizeof *ports);
  kg_other_port *others = arena_alloc(a, ((size_t)k->port_count + 1) * sizeof *others);
  int other_count = 0;
  const struct { const kg_port **port; const char **why; } field[KERNEL_SLOTS] = {
      {&ports->metal, &ports->why.metal},
      {&ports->cuda, &ports->why.cuda},
      {&ports->rocm, &ports->why.rocm},
  }; /* by kernel_slots */
  ports->kernel = k->name;
  ports->fallback = k->fallback;
  for (int i = 0; i < k->port_count; i++) {
    const Port *p = &k->ports[i];
    const int slot = backend_slot(p->backend);
    const kg_port *port = !p->absent && facts[i]
                              ? port_of(a, k, p, facts[i], texts ? texts[i] : NULL)
                              : NULL;
    const char *why = p->absent ? p->absent : port ? NULL : "its body was refused";
    if (slot >= 0) {
      *field[slot].port = port;
      *field[slot].why = why;
    } else {
      others[other_count++] = (kg_other_port){p->backend->name, port, why};
    }
  }
  ports->others = other_count ? others : NULL;
  return ports;
}

const kg_kernel *bridge_kernel(Arena *a, const Kernel *k, Facts *const *facts,
                               const char *const *texts) {
  kg_kernel *to = arena_alloc(a, sizeof *to);
  to->name = k->name;
  to->summary = k->summary;

  kg_type_param *types = arena_alloc(a, MAX_TYPES * sizeof *types);
  for (int i = 0; i < k->type_count; i++) {
    types[i].name = k->types[i].name;
    for (int j = 0; j < k->types[i].count; j++) types[i].dtypes |= 1u << k->types[i].dtypes[j];
  }
  to->type_count = k->type_count;
  to->types = types;

  kg_const_param *consts = arena_alloc(a, MAX_CONSTS * sizeof *consts);
  for (int i = 0; i < k->const_count; i++) {
    const Const *c = &k->consts[i];
    consts[i] = (kg_const_param){c->name, c->is_bool, c->in_key, c->count, c->values};
  }
  to->const_count = k->const_count;
  to->consts = consts;

  to->dim_count = k->dim_count;
  to->dims = k->dims;

  kg_scalar_param *scalars = arena_alloc(a, MAX_SCALARS * sizeof *scalars);
  for (int i = 0; i < k->scalar_count; i++)
    scalars[i] = (kg_scalar_param){k->scalars[i].name, (kg_dtype)k->scalars[i].dtype};
  to->scalar_count = k->scalar_count;
  to->scalars = scalars;

  kg_arg *args = arena_alloc(a, MAX_ARGS * sizeof *args);
  for (int i = 0; i < k->arg_count; i++) {
    const Arg *arg = &k->args[i];
    kg_expr *shape = arena_alloc(a, MAX_RANK * sizeof *shape);
    for (int d = 0; d < arg->rank; d++) shape[d] = expr_of(a, k, arg->shape[d]);
    args[i] = (kg_arg){arg->name, arg->output, arg->type, (kg_dtype)arg->dtype, arg->rank, shape,
                       arg->align};
  }
  to->arg_count = k->arg_count;
  to->args = args;

  const Expr **requires = kernel_requires(a, k, &to->require_count);
  kg_expr *require = arena_alloc(a, ((size_t)to->require_count + 1) * sizeof *require);
  for (int i = 0; i < to->require_count; i++) require[i] = expr_of(a, k, requires[i]);
  to->require = require;

  to->ports = ports_of(a, k, facts, texts);
  return to;
}

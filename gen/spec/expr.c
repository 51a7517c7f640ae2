/* expr.c: expressions made, and what they say as text.  Their value is the model's to say
** (model/expr.h).  Steps are few and their stack is bounded when they are recorded (words.c). */
#include "spec/spec.h"

#include <string.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* An operand on the printer's stack. */
typedef struct Written {
  const char *text;
  int strength;
  bool negative; /* a number below zero */
} Written;

/* Behind a sign: a - (-3). */
enum { UNARY = 7, BEHIND_SIGN = 8 };

static const char *wrapped(Arena *a, const Written *w, int strength) {
  return w->strength < strength ? arena_printf(a, "(%s)", w->text) : w->text;
}

static Written written(Arena *a, const kg_op_facts *op, const Written *of) {
  Written w = {.strength = op->strength};
  switch (op->form) {
  case KG_LEAF: die("the operator %s has no operands to write", op->id);
  case KG_INFIX: { /* a chain of comparisons would mislead without parentheses */
    const int left = op->strength + (op->kind == KG_COMPARISON),
              right = of[1].negative ? BEHIND_SIGN : op->strength + 1;
    w.text =
        arena_printf(a, "%s %s %s", wrapped(a, &of[0], left), op->text, wrapped(a, &of[1], right));
    break;
  }
  case KG_PREFIX:
    w.text = arena_printf(a, "%s%s", op->text, wrapped(a, &of[0], op->strength + 1));
    break;
  case KG_CALL:
    w.text = arena_printf(a, "%s(", op->text);
    for (int i = 0; i < op->takes; i++)
      w.text = arena_printf(a, "%s%s%s", w.text, i ? ", " : "", of[i].text);
    w.text = arena_printf(a, "%s)", w.text);
  }
  return w;
}

static const char *steps_text(Arena *a, const kg_kernel *k, const kg_step *steps, int count) {
  Written stack[KG_EXPR_DEPTH];
  const int depth = kg_expr_depth(steps, count);
  if (depth < 0 || depth > KG_EXPR_DEPTH) die("an expression of %d steps, %d deep", count, depth);
  Arena *scratch = arena_new();
  int n = 0;
  for (int i = 0; i < count; i++) {
    const kg_op_facts *op = &kg_ops[steps[i].op];
    const int64_t value = steps[i].value;
    Written w = {.strength = op->strength};
    if (steps[i].op == KG_OP_INT) {
      w.negative = value < 0;
      if (w.negative) w.strength = UNARY; /* -3 binds as a sign does */
      w.text = arena_printf(scratch, "%lld", (long long)value);
    } else if (steps[i].op == KG_OP_VAR) {
      w.text = kg_symbol_at(k, (int)value).name;
    } else {
      n -= op->takes;
      w = written(scratch, op, &stack[n]);
    }
    stack[n++] = w;
  }
  const char *text = arena_strdup(a, stack[0].text);
  arena_free(scratch);
  return text;
}

/* ---- making ---------------------------------------------------------------------------------- */

kg_expr expr_of_steps(Arena *a, const kg_kernel *k, const kg_step *steps, int count) {
  kg_step *own = arena_alloc(a, (size_t)count * sizeof *own);
  memcpy(own, steps, (size_t)count * sizeof *own);
  return (kg_expr){steps_text(a, k, own, count), count, own};
}

kg_expr expr_int(Arena *a, int64_t value) {
  const kg_step step = {KG_OP_INT, value};
  return expr_of_steps(a, NULL, &step, 1);
}

kg_expr expr_var(Arena *a, const kg_kernel *k, kg_symbol_kind kind, int index) {
  const kg_step step = {KG_OP_VAR, kg_variable(k, kind, index)};
  return expr_of_steps(a, k, &step, 1);
}

kg_expr expr_of(Arena *a, const kg_kernel *k, kg_op op, const kg_expr *operands) {
  int count = 1, n = 0;
  for (int i = 0; i < kg_ops[op].takes; i++) count += operands[i].count;
  kg_step *steps = arena_alloc(a, (size_t)count * sizeof *steps);
  for (int i = 0; i < kg_ops[op].takes; i++)
    for (int s = 0; s < operands[i].count; s++) steps[n++] = operands[i].steps[s];
  steps[n] = (kg_step){(uint8_t)op, 0};
  return (kg_expr){steps_text(a, k, steps, count), count, steps};
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool expr_is_int(const kg_expr *e, int64_t value) {
  return e->count == 1 && e->steps[0].op == KG_OP_INT && e->steps[0].value == value;
}

bool expr_same(const kg_expr *x, const kg_expr *y) {
  if (x->count != y->count) return false;
  for (int i = 0; i < x->count; i++)
    if (x->steps[i].op != y->steps[i].op || x->steps[i].value != y->steps[i].value) return false;
  return true;
}

bool expr_eval(const kg_expr *e, const int64_t *values, int64_t *out) {
  const kg_expr_status status = kg_expr_eval_all(e, values, out);
  if (status == KG_EXPR_MALFORMED) die("'%s' is no expression", e->text);
  return status == KG_EXPR_OK;
}

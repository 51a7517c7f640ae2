/* expr.c: the operators' rows; evaluates postfix expressions in checked 64-bit arithmetic.
**
** No undefined behaviour whatever the table or the values: the stack is bounded, every operation
** is checked before it is made, division rounds towards minus infinity (as Lua's // and %, so
** that the generator and the runtime agree). */
#include "model/expr.h"

const kg_op_facts kg_ops[KG_OPS] = {
#define KG_OPERATOR(id, takes, kind, form, strength, text, said, word)                             \
  {#id, takes, KG_##kind, KG_##form, strength, text, KG_SAID_##said, word},
#include "model/op.def"
#undef KG_OPERATOR
};

typedef kg_expr_status Status;

static Status add(int64_t a, int64_t b, int64_t *out) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return KG_EXPR_OVERFLOW;
  *out = a + b;
  return KG_EXPR_OK;
}

static Status sub(int64_t a, int64_t b, int64_t *out) {
  if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) return KG_EXPR_OVERFLOW;
  *out = a - b;
  return KG_EXPR_OK;
}

static Status mul(int64_t a, int64_t b, int64_t *out) {
  if (a == 0 || b == 0) return *out = 0, KG_EXPR_OK;
  if (a == -1 ? b == INT64_MIN : b == -1 ? a == INT64_MIN : false) return KG_EXPR_OVERFLOW;
  if (a != -1 && b != -1) { /* |a|, |b| >= 1 and no quotient below can overflow */
    const int64_t limit = (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
    const int64_t room = limit / b; /* how far a may go, on its own side of zero */
    if (a > 0 ? a > room : a < room) return KG_EXPR_OVERFLOW;
  }
  *out = a * b;
  return KG_EXPR_OK;
}

static Status divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
  if (b == 0) return KG_EXPR_ZERO;
  if (b == -1) { /* the one quotient that can overflow; the rest is 0 whatever a is */
    *rest = 0;
    if (a == INT64_MIN) return *quotient = 0, KG_EXPR_OVERFLOW;
    return *quotient = -a, KG_EXPR_OK;
  }
  *quotient = a / b;
  *rest = a % b;
  if (*rest != 0 && (*rest < 0) != (b < 0)) {
    *quotient -= 1;
    *rest += b;
  }
  return KG_EXPR_OK;
}

static Status binary(kg_op op, int64_t a, int64_t b, int64_t *out) {
  int64_t quotient = 0, rest = 0;
  Status status;
  switch (op) {
  case KG_OP_ADD: return add(a, b, out);
  case KG_OP_SUB: return sub(a, b, out);
  case KG_OP_MUL: return mul(a, b, out);
  case KG_OP_DIV:
    status = divide(a, b, &quotient, &rest);
    *out = quotient;
    return status;
  case KG_OP_MOD:
    status = divide(a, b, &quotient, &rest);
    *out = rest;
    return status == KG_EXPR_OVERFLOW ? KG_EXPR_OK : status;
  case KG_OP_CEIL_DIV:
    status = divide(a, b, &quotient, &rest);
    *out = rest == 0 ? quotient : quotient + 1; /* a rest means |b| > 1: far from the limits */
    return status;
  case KG_OP_MIN: *out = a < b ? a : b; return KG_EXPR_OK;
  case KG_OP_MAX: *out = a > b ? a : b; return KG_EXPR_OK;
  case KG_OP_EQ: *out = a == b; return KG_EXPR_OK;
  case KG_OP_NE: *out = a != b; return KG_EXPR_OK;
  case KG_OP_LT: *out = a < b; return KG_EXPR_OK;
  case KG_OP_LE: *out = a <= b; return KG_EXPR_OK;
  case KG_OP_GT: *out = a > b; return KG_EXPR_OK;
  case KG_OP_GE: *out = a >= b; return KG_EXPR_OK;
  case KG_OP_AND: *out = a != 0 && b != 0; return KG_EXPR_OK;
  case KG_OP_OR: *out = a != 0 || b != 0; return KG_EXPR_OK;
  case KG_OP_INT:
  case KG_OP_VAR:
  case KG_OP_NOT:
  case KG_OP_WHEN:
  case KG_OPS: break;
  }
  return KG_EXPR_MALFORMED;
}

static int arity(uint8_t op) { return op < KG_OPS ? kg_ops[op].takes : -1; }

static Status eval_steps(const kg_step *steps, int count, const int64_t *values, uint64_t known,
                         int64_t *out) {
  int64_t stack[KG_EXPR_DEPTH] = {0};
  int depth = 0;
  Status status = KG_EXPR_OK;
  for (int i = 0; i < count; i++) {
    const int takes = arity(steps[i].op);
    if (takes < 0 || depth < takes || depth - takes >= KG_EXPR_DEPTH) return KG_EXPR_MALFORMED;
    int64_t *const at = stack + depth - takes;
    if (steps[i].op == KG_OP_INT) {
      at[0] = steps[i].value;
    } else if (steps[i].op == KG_OP_VAR) {
      const int64_t v = steps[i].value;
      if (v < 0 || v >= KG_VARIABLES || !(known >> v & 1)) return KG_EXPR_UNKNOWN;
      at[0] = values[v];
    } else if (steps[i].op == KG_OP_NOT) {
      at[0] = at[0] == 0;
    } else if (steps[i].op == KG_OP_WHEN) {
      at[0] = at[0] != 0 ? at[1] : at[2];
    } else if ((status = binary((kg_op)steps[i].op, at[0], at[1], &at[0])) != KG_EXPR_OK) {
      return status;
    }
    depth += 1 - takes;
  }
  if (depth != 1) return KG_EXPR_MALFORMED;
  *out = stack[0];
  return KG_EXPR_OK;
}

Status kg_expr_eval(const kg_expr *expr, const kg_values *values, int64_t *out) {
  return eval_steps(expr->steps, expr->count, values->value, values->known, out);
}

Status kg_expr_eval_all(const kg_expr *expr, const int64_t *values, int64_t *out) {
  return eval_steps(expr->steps, expr->count, values, UINT64_MAX, out);
}

int kg_expr_depth(const kg_step *steps, int count) {
  int depth = 0, most = 0;
  for (int i = 0; i < count; i++) {
    const int takes = arity(steps[i].op);
    if (takes < 0 || depth < takes) return -1;
    depth += 1 - takes;
    if (depth > most) most = depth;
  }
  return depth == 1 ? most : -1;
}

int kg_expr_operand(const kg_step *steps, int last) {
  int wanted = 1; /* values still to be found, going down */
  int i = last + 1;
  while (wanted > 0) {
    if (--i < 0) return -1;
    const int takes = arity(steps[i].op);
    if (takes < 0) return -1;
    wanted += takes - 1;
  }
  return i;
}

int kg_expr_variable(const kg_expr *expr, const kg_values *values) {
  const kg_step *const steps = expr->steps;
  int last = expr->count - 1;
  while (last >= 0 && steps[last].op == KG_OP_WHEN) {
    const int other = kg_expr_operand(steps, last - 1);
    const int then = other > 0 ? kg_expr_operand(steps, other - 1) : -1;
    const int condition = then > 0 ? kg_expr_operand(steps, then - 1) : -1;
    int64_t holds;
    if (condition < 0) return -1;
    const kg_expr chooses = {NULL, then - condition, steps + condition};
    if (kg_expr_eval(&chooses, values, &holds)) return -1;
    last = holds ? other - 1 : last - 1;
  }
  if (last < 0 || steps[last].op != KG_OP_VAR) return -1;
  return steps[last].value >= 0 && steps[last].value < KG_MAX_DIMS ? (int)steps[last].value : -1;
}

const char *kg_expr_status_text(kg_expr_status status) {
  switch (status) {
  case KG_EXPR_OK: return "has a value";
  case KG_EXPR_OVERFLOW: return "passes 64 bits";
  case KG_EXPR_ZERO: return "divides by zero";
  case KG_EXPR_UNKNOWN: return "needs a dimension that no argument's shape gives";
  case KG_EXPR_MALFORMED: break;
  }
  return "is not an expression: the kernel's table is damaged";
}

/* expr.c: what an expression over dims, constants and scalars says, as text and as a number.
**
** The operators' meaning is runtime/kg.h's: 64-bit integers, division and remainder that round
** down, comparisons that give 0 or 1, all operands evaluated.  Trees are small (words.c bounds
** them), so recursion is safe. */
#include "spec/spec.h"

typedef enum Shape { LEAF, INFIX, PREFIX, CALL } Shape;

/* Binding strength as in C: a larger number binds tighter. */
static const struct {
  Shape shape;
  int strength;
  const char *text;
} spelling[] = {
  [EX_INT] = { LEAF, 9, NULL },  [EX_VAR] = { LEAF, 9, NULL },
  [EX_ADD] = { INFIX, 5, "+" },  [EX_SUB] = { INFIX, 5, "-" },
  [EX_MUL] = { INFIX, 6, "*" },  [EX_DIV] = { INFIX, 6, "/" },
  [EX_MOD] = { INFIX, 6, "%" },  [EX_CEIL_DIV] = { CALL, 9, "ceil_div" },
  [EX_MIN] = { CALL, 9, "min" }, [EX_MAX] = { CALL, 9, "max" },
  [EX_EQ] = { INFIX, 3, "==" },  [EX_NE] = { INFIX, 3, "!=" },
  [EX_LT] = { INFIX, 4, "<" },   [EX_LE] = { INFIX, 4, "<=" },
  [EX_GT] = { INFIX, 4, ">" },   [EX_GE] = { INFIX, 4, ">=" },
  [EX_AND] = { INFIX, 2, "&&" }, [EX_OR] = { INFIX, 1, "||" },
  [EX_NOT] = { PREFIX, 7, "!" }, [EX_WHEN] = { CALL, 9, "when" },
};

static bool compares(ExprOp op) { return op >= EX_EQ && op <= EX_GE; }

/* At least `strength`, or in parentheses. */
static void put(Buf *b, const Expr *e, int strength) {
  const int own =
      e->op == EX_INT && e->value < 0 ? 7 : spelling[e->op].strength; /* -3 binds as a sign does */
  const bool wrap = own < strength;
  if (wrap) buf_puts(b, "(");
  switch (spelling[e->op].shape) {
  case LEAF:
    if (e->op == EX_INT) buf_printf(b, "%lld", (long long)e->value);
    else buf_puts(b, e->name);
    break;
  case INFIX: /* all group to the left; a chain of comparisons would mislead without parentheses */
    put(b, e->a, compares(e->op) ? own + 1 : own);
    buf_printf(b, " %s ", spelling[e->op].text);
    put(b, e->b, e->b->op == EX_INT && e->b->value < 0 ? 8 : own + 1); /* a - (-3) */
    break;
  case PREFIX:
    buf_puts(b, spelling[e->op].text);
    put(b, e->a, own + 1);
    break;
  case CALL:
    buf_printf(b, "%s(", spelling[e->op].text);
    put(b, e->a, 0);
    buf_puts(b, ", ");
    put(b, e->b, 0);
    if (e->c) {
      buf_puts(b, ", ");
      put(b, e->c, 0);
    }
    buf_puts(b, ")");
    break;
  }
  if (wrap) buf_puts(b, ")");
}

const char *expr_text(Arena *a, const Expr *e) {
  Buf b = { 0 };
  put(&b, e, 0);
  const char *text = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return text;
}

int expr_var_number(const struct Kernel *k, const Expr *e) {
  if (e->op != EX_VAR) die("only a variable has a number");
  switch (e->kind) {
  case VAR_DIM: return e->index;
  case VAR_CONST: return k->dim_count + e->index;
  case VAR_SCALAR: return k->dim_count + k->const_count + e->index;
  }
  die("variable of kind %d", (int)e->kind);
}

/* ---- checked arithmetic ---------------------------------------------------------------------- */

static bool add(int64_t x, int64_t y, int64_t *out) {
  if (y > 0 ? x > INT64_MAX - y : x < INT64_MIN - y) return false;
  *out = x + y;
  return true;
}

static bool subtract(int64_t x, int64_t y, int64_t *out) {
  if (y < 0 ? x > INT64_MAX + y : x < INT64_MIN + y) return false;
  *out = x - y;
  return true;
}

static bool multiply(int64_t x, int64_t y, int64_t *out) {
  if (x != 0 && y != 0) {
    if (x == -1 ? y == INT64_MIN : y == -1 ? x == INT64_MIN : false) return false;
    if (x != -1 && y != -1) {
      const int64_t bound = (x < 0) == (y < 0) ? INT64_MAX : INT64_MIN;
      /* |x * y| passes the bound exactly when |x| passes the bound divided by |y| */
      if (x > 0 ? (y > 0 ? x > bound / y : y < bound / x) : (y > 0 ? x < bound / y : x < bound / y))
        return false;
    }
  }
  *out = x * y;
  return true;
}

/* Quotient and remainder that round down. */
static bool divide(int64_t x, int64_t y, int64_t *quotient, int64_t *remainder) {
  if (y == 0 || (x == INT64_MIN && y == -1)) return false;
  int64_t q = x / y, r = x % y;
  if (r != 0 && (r < 0) != (y < 0)) {
    q -= 1;
    r += y;
  }
  *quotient = q;
  *remainder = r;
  return true;
}

bool expr_eval(const struct Kernel *k, const Expr *e, const int64_t *values, int64_t *out) {
  int64_t a = 0, b = 0, c = 0, rest;
  if (e->a && !expr_eval(k, e->a, values, &a)) return false;
  if (e->b && !expr_eval(k, e->b, values, &b)) return false;
  if (e->c && !expr_eval(k, e->c, values, &c)) return false;
  switch (e->op) {
  case EX_INT: *out = e->value; return true;
  case EX_VAR: *out = values[expr_var_number(k, e)]; return true;
  case EX_ADD: return add(a, b, out);
  case EX_SUB: return subtract(a, b, out);
  case EX_MUL: return multiply(a, b, out);
  case EX_DIV: return divide(a, b, out, &rest);
  case EX_MOD:
    if (b == -1) { /* any number is divisible by it, the least one too */
      *out = 0;
      return true;
    }
    return divide(a, b, &rest, out);
  case EX_CEIL_DIV: {
    int64_t q;
    if (!divide(a, b, &q, &rest)) return false;
    *out = q + (rest != 0); /* a rest means |b| > 1, so q is far from the end of the range */
    return true;
  }
  case EX_MIN: *out = a < b ? a : b; return true;
  case EX_MAX: *out = a > b ? a : b; return true;
  case EX_EQ: *out = a == b; return true;
  case EX_NE: *out = a != b; return true;
  case EX_LT: *out = a < b; return true;
  case EX_LE: *out = a <= b; return true;
  case EX_GT: *out = a > b; return true;
  case EX_GE: *out = a >= b; return true;
  case EX_AND: *out = a && b; return true;
  case EX_OR: *out = a || b; return true;
  case EX_NOT: *out = !a; return true;
  case EX_WHEN: *out = a ? b : c; return true;
  }
  die("expression operator %d", (int)e->op);
}

bool expr_any(const Expr *e, bool (*visit)(const Expr *e, void *what), void *what) {
  return e && (visit(e, what) || expr_any(e->a, visit, what) || expr_any(e->b, visit, what) ||
               expr_any(e->c, visit, what));
}

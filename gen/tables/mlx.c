/* mlx.c: what the C++ header and the Python module for MLX have in common.  See mlx.h. */
#include "tables/mlx.h"

#include <string.h>

#include "model/expr.h"
#include "model/kernel.h"

/* How an operator is written there: an infix sign, or a call where it is a name. */
static const struct {
  kg_op op;
  const char *cpp, *python;
} spelling[] = {
    {KG_OP_ADD, "+", "+"},
    {KG_OP_SUB, "-", "-"},
    {KG_OP_MUL, "*", "*"},
    {KG_OP_DIV, "own::floor_div", "//"},
    {KG_OP_MOD, "own::floor_mod", "%"},
    {KG_OP_CEIL_DIV, "own::ceil_div", "_ceil_div"},
    {KG_OP_MIN, "own::least", "min"},
    {KG_OP_MAX, "own::most", "max"},
    {KG_OP_EQ, "==", "=="},
    {KG_OP_GE, ">=", ">="},
    {KG_OP_GT, ">", ">"},
    {KG_OP_LE, "<=", "<="},
    {KG_OP_LT, "<", "<"},
    {KG_OP_NE, "!=", "!="},
    {KG_OP_AND, "&&", "and"},
    {KG_OP_OR, "||", "or"},
    {KG_OP_NOT, "!", "not "},
    {KG_OP_WHEN, "?", "_when"},
};

static const char *spelled(kg_op op, MlxLanguage language) {
  for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++)
    if (spelling[i].op == op) return language == MLX_CPP ? spelling[i].cpp : spelling[i].python;
  die("the operator %s has no spelling for MLX", kg_ops[op].id);
}

static bool is_call(const char *sign) {
  return strchr("_abcdefghijklmnopqrstuvwxyz", sign[0]) != NULL && strcmp(sign, "and") != 0 &&
         strcmp(sign, "or") != 0 && strcmp(sign, "not ") != 0;
}

static const char *operated(Arena *a, kg_op op, const char *const *of, MlxLanguage language) {
  const char *sign = spelled(op, language);
  const int takes = kg_ops[op].takes;
  if (strcmp(sign, "?") == 0) return arena_printf(a, "(%s ? %s : %s)", of[0], of[1], of[2]);
  if (!is_call(sign))
    return takes == 1 ? arena_printf(a, "(%s%s)", sign, of[0])
                      : arena_printf(a, "(%s %s %s)", of[0], sign, of[1]);
  const char *text = arena_printf(a, "%s(", sign);
  for (int i = 0; i < takes; i++) text = arena_printf(a, "%s%s%s", text, i ? ", " : "", of[i]);
  return arena_printf(a, "%s)", text);
}

const char *mlx_expr(Arena *a, const Kernel *k, const kg_expr *e, MlxLanguage language) {
  const char *stack[KG_EXPR_DEPTH + 1];
  const int depth = kg_expr_depth(e->steps, e->count);
  if (depth < 0 || depth > KG_EXPR_DEPTH) die("'%s' is no expression", e->text);
  int n = 0;
  for (int i = 0; i < e->count; i++) {
    const kg_op op = (kg_op)e->steps[i].op;
    const long long value = e->steps[i].value;
    const char *text;
    if (op == KG_OP_INT) {
      text = arena_printf(a, language == MLX_CPP ? "%lldLL" : "%lld", value);
    } else if (op == KG_OP_VAR) {
      const kg_symbol s = kg_symbol_at(&k->model, (int)value);
      text = arena_printf(a,
                          language == MLX_PYTHON ? "v[\"%s\"]"
                          : s.kind == KG_SCALAR  ? "std::int64_t(%s)" /* the others are of it */
                                                 : "%s",
                          s.name);
    } else {
      n -= kg_ops[op].takes;
      text = operated(a, op, &stack[n], language);
    }
    stack[n++] = text;
  }
  return stack[0];
}

const char *mlx_dtype(kg_dtype dtype) {
  static const kg_dtype same[] = {KG_F32, KG_F16, KG_BF16, KG_I8,  KG_U8, KG_I16,
                                  KG_U16, KG_I32, KG_U32,  KG_I64, KG_U64};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    if (same[i] == dtype) return kg_dtype_mlx_name(dtype);
  return NULL;
}

/* In C++ the delimiter grows until the text does not have it; Python's literal has escapes. */
void put_mlx_literal(Buf *b, const char *text, MlxLanguage language) {
  if (language == MLX_CPP) {
    char end[17] = ")kgen\"";
    for (size_t n = strlen(end); n < sizeof end - 1 && strstr(text, end) != NULL; n++)
      memcpy(end + n - 1, "n\"", 3);
    buf_printf(b, "R\"%.*s(\n%s%s", (int)strlen(end) - 2, end + 1, text, end);
    return;
  }
  buf_puts(b, "\"\"\"\\\n");
  for (const char *s = text; *s != '\0'; s++) {
    if (*s == '\\' || *s == '"') buf_puts(b, "\\");
    buf_put(b, s, 1);
  }
  buf_puts(b, "\"\"\"");
}

bool mlx_type_is_given(const Kernel *k, int type) {
  for (int i = 0; i < k->input_count; i++)
    if (k->args[i].type == type) return false;
  return true;
}

MlxPorts mlx_ports(Arena *a, const Library *l, int kernel) {
  const Kernel *k = l->spec->kernels[kernel];
  MlxPorts all = {0};
  for (int i = 0; i < k->port_count; i++)
    if (!k->ports[i].absent && !k->ports[i].native && l->facts[kernel][i] != NULL)
      all.there[i] = emit_mlx(a, k, &k->ports[i], l->facts[kernel][i], &all.ports[i]);
  return all;
}

/* values.c: Lua values to C ones; each function knows how to complain.  See read.h. */
#include <math.h>
#include <string.h>

#include "spec/read.h"

Place val_place(const Reader *r, Val v) { return (Place){r->k->file, v.line, 0}; }

static Val child(Reader *r, Val parent, const Where *where, const char *label) {
  luaL_checkstack(r->L, 8, NULL);
  return (Val){lua_gettop(r->L), label, where, where ? where->line : parent.line};
}

Val val_field(Reader *r, Val table, const char *key) {
  luaL_checkstack(r->L, 8, NULL);
  if (lua_istable(r->L, table.at))
    lua_getfield(r->L, table.at, key);
  else
    lua_pushnil(r->L);
  const bool top = strchr(table.label, ':') == NULL; /* the kernel's own name stands first */
  return child(r, table, where_key(table.where, key),
               arena_printf(r->scratch, top ? "%s: %s" : "%s.%s", table.label, key));
}

Val val_item(Reader *r, Val table, int index) {
  luaL_checkstack(r->L, 8, NULL);
  if (lua_istable(r->L, table.at))
    lua_geti(r->L, table.at, index);
  else
    lua_pushnil(r->L);
  return child(r, table, where_item(table.where, index),
               arena_printf(r->scratch, "%s[%d]", table.label, index));
}

bool val_nil(const Reader *r, Val v) { return lua_isnil(r->L, v.at); }
bool val_poison(const Reader *r, Val v) { return spec_is_poison(r->L, v.at); }

/* A text as it may stand in a message: short, plain. */
static const char *quoted(Arena *a, const char *s, size_t len) {
  if (strlen(s) != len || utf8_bad(s, len) < len) return "a text that is not plain UTF-8";
  size_t cut = len > 40 ? 37 : len;
  char *copy = arena_strndup(a, s, cut);
  copy[utf8_bad(copy, strlen(copy))] = 0;
  for (char *c = copy; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = ' ';
  return arena_printf(a, "'%s%s'", copy, cut < len ? "..." : "");
}

const char *val_text(const Reader *r, Val v) {
  lua_State *L = r->L;
  size_t len;
  switch (lua_type(L, v.at)) {
  case LUA_TNIL: return "nothing";
  case LUA_TBOOLEAN: return lua_toboolean(L, v.at) ? "true" : "false";
  case LUA_TNUMBER:
    if (lua_isinteger(L, v.at))
      return arena_printf(r->a, "%lld", (long long)lua_tointeger(L, v.at));
    return spec_float_text(r->a, lua_tonumber(L, v.at));
  case LUA_TSTRING: {
    const char *s = lua_tolstring(L, v.at, &len);
    return quoted(r->a, s, len);
  }
  case LUA_TTABLE: return "a table";
  case LUA_TUSERDATA:
    if (spec_is_expr(L, v.at)) return "an expression";
    if (spec_to_absent(L, v.at)) return "an absent port";
    if (spec_is_native(L, v.at)) return "a native port";
    return "a kernel";
  default: return arena_printf(r->a, "a %s", luaL_typename(L, v.at));
  }
}

static bool wrong_type(Reader *r, Val v, const char *expected) {
  if (!val_poison(r, v))
    diag_add(r->d, val_place(r, v), D_FIELD_TYPE, v.label, val_text(r, v), expected);
  return false;
}

bool val_is_table(Reader *r, Val v, const char *expected) {
  return lua_istable(r->L, v.at) || wrong_type(r, v, expected);
}

bool val_required(Reader *r, Val table, Val field, const char *key, const char *expected) {
  if (!val_nil(r, field)) return true;
  diag_add(r->d, val_place(r, table), D_FIELD_MISSING, table.label, key, expected);
  return false;
}

bool val_string(Reader *r, Val v, const char *expected, const char **out) {
  if (lua_type(r->L, v.at) != LUA_TSTRING) return wrong_type(r, v, expected);
  size_t len;
  const char *s = lua_tolstring(r->L, v.at, &len), *fault = NULL;
  for (size_t i = 0; i < len && !fault; i++) {
    const unsigned char c = (unsigned char)s[i];
    if (c == 0)
      fault = "a NUL byte";
    else if (c == '\n' || c == '\r')
      fault = "a line break";
    else if (c < 0x20 || c == 0x7F)
      fault = arena_printf(r->a, "a control character (0x%02x)", (unsigned)c);
  }
  const size_t bad = utf8_bad(s, len);
  if (!fault && bad < len)
    fault = arena_printf(r->a, "a byte that is not valid UTF-8 (0x%02x)",
                         (unsigned)(unsigned char)s[bad]);
  for (size_t i = 0; i < len && !fault;
       i++) /* it stands in C's comments, which are broken in lines */
    if (s[i] == '\\' && (i + 1 == len || s[i + 1] == ' '))
      fault = "a backslash at the end of a word";
  if (!fault && strstr(s, "?"
                          "?/"))
    fault = "the trigraph ?"
            "?/";
  size_t at;
  if (!fault)
    fault = plain_fault(r->a, s, len, &at); /* "\u{202E}" is plain only as it is written */
  if (fault)
    diag_add(r->d, val_place(r, v), D_TEXT_BAD, v.label, fault);
  else if (strspn(s, " ") == len)
    diag_add(r->d, val_place(r, v), D_TEXT_EMPTY, v.label, expected);
  else {
    *out = arena_strndup(r->a, s, len);
    return true;
  }
  return false;
}

bool val_int(Reader *r, Val v, int64_t low, int64_t high, int64_t *out) {
  if (lua_type(r->L, v.at) != LUA_TNUMBER) return wrong_type(r, v, "an integer");
  const lua_Integer n = lua_tointeger(r->L, v.at);
  if (!lua_isinteger(r->L, v.at))
    diag_add(r->d, val_place(r, v), D_INT_FLOAT, v.label, val_text(r, v));
  else if (n < low || n > high)
    diag_add(r->d, val_place(r, v), D_INT_RANGE, v.label, val_text(r, v),
             arena_printf(r->a, "%lld", (long long)low),
             arena_printf(r->a, "%lld", (long long)high));
  else {
    *out = n;
    return true;
  }
  return false;
}

bool val_number(Reader *r, Val v, const char *expected, double *out) {
  if (lua_type(r->L, v.at) != LUA_TNUMBER) return wrong_type(r, v, expected);
  *out = lua_tonumber(r->L, v.at);
  return true;
}

static bool is_among(const char *s, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(s, names[i]) == 0) return true;
  return false;
}

/* A key that should not be there. */
static void unknown_key(Reader *r, Val table, const Key *key, const char *const *names, int n) {
  Place at = val_place(r, table);
  if (!key->is_string) {
    const Where *w =
        key->number > 0 && key->number < 1000 ? where_item(table.where, (int)key->number) : NULL;
    if (w) at.line = w->line;
    diag_add(r->d, at, D_FIELD_UNKNOWN, table.label,
             arena_printf(r->a, "[%lld]", (long long)key->number), "");
    return;
  }
  const char *shown = quoted(r->a, key->string, key->len);
  if (*shown != '\'') shown = "'?'";
  const char *name = arena_strndup(r->a, shown + 1, strlen(shown) - 2);
  const Where *w = where_key(table.where, name);
  if (w) at.line = w->line;
  diag_add(r->d, at, D_FIELD_UNKNOWN, table.label, name, spec_suggest(r->a, name, names, n));
}

void val_fields(Reader *r, Val table, const char *const *names, int count) {
  int n, others;
  const Key *keys = spec_keys(r->run, table.at, &n, &others);
  for (int i = 0; i < n; i++)
    if (!keys[i].is_string || !is_among(keys[i].string, names, count))
      unknown_key(r, table, &keys[i], names, count);
  if (others > 0)
    diag_add(r->d, val_place(r, table), D_FIELD_UNKNOWN, table.label, "(a key that is no text)",
             "");
}

int val_list(Reader *r, Val v, const char *expected, int most, const char *const *also,
             int also_count) {
  if (!val_is_table(r, v, expected)) return -1;
  const lua_Unsigned size = lua_rawlen(r->L, v.at);
  if (size > (lua_Unsigned)most) {
    diag_add(r->d, val_place(r, v), D_LIST_LONG, v.label,
             arena_printf(r->a, "%llu", (unsigned long long)size), most);
    return -1;
  }
  int n, others, entries = 0;
  const Key *keys = spec_keys(r->run, v.at, &n, &others);
  for (int i = 0; i < n; i++) {
    if (keys[i].is_string) {
      if (!is_among(keys[i].string, also, also_count))
        unknown_key(r, v, &keys[i], also, also_count);
    } else if (keys[i].number == entries + 1) {
      entries++;
    } else if (keys[i].number > entries && keys[i].number <= most) {
      diag_add(r->d, val_place(r, v), D_LIST_HOLE, v.label, entries + 1);
      return -1;
    } else {
      unknown_key(r, v, &keys[i], also, also_count);
    }
  }
  if (others > 0)
    diag_add(r->d, val_place(r, v), D_FIELD_UNKNOWN, v.label, "(a key that is no text)", "");
  return entries;
}

kg_dtype val_dtype(Reader *r, Val v) {
  const char *name;
  if (!val_string(r, v, "a dtype", &name)) return KG_DTYPES;
  const kg_dtype dtype = kg_dtype_find(name);
  if (dtype < KG_DTYPES) return dtype;
  const char *names[KG_DTYPES];
  for (int i = 0; i < KG_DTYPES; i++) names[i] = kg_dtype_name((kg_dtype)i);
  const char *hint = spec_suggest(r->a, name, names, KG_DTYPES);
  if (!*hint) {
    for (int i = 0; i < KG_DTYPES; i++)
      hint = arena_printf(r->a, "%s%s%s", hint, i ? ", " : "; expected one of ", names[i]);
  }
  diag_add(r->d, val_place(r, v), D_DTYPE_UNKNOWN, v.label, name, hint);
  return KG_DTYPES;
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* The words by which a specification names a variable. */
static const char *const kind_word[] = {
    [KG_DIM] = "dim", [KG_CONST] = "const", [KG_SCALAR] = "scalar"};

/* -1: unknown, and said (unless a declaration failed, which was said already). */
static int look_up(Reader *r, const char *label, Place at, kg_symbol_kind kind, const char *name) {
  const kg_kernel *k = &r->k->model;
  const kg_symbol found = kg_symbol_named(k, name);
  if (found.kind == kind) {
    if (kind != KG_SCALAR || k->scalars[found.index].dtype != KG_F32)
      return kg_variable(k, kind, found.index);
    diag_add(r->d, at, D_VAR_FLOAT, label, name);
    return -1;
  }
  if (r->bad_names) return -1;
  const char *hint;
  if (found.kind <= KG_SCALAR)
    hint = arena_printf(r->a, "; it is a %s: write %s.%s", kg_symbol_kind_name(found.kind),
                        kind_word[found.kind], name);
  else {
    const char *names[KG_VARIABLES];
    int n = 0;
    for (int i = 0; i < kg_variable_count(k); i++)
      if (kg_symbol_at(k, i).kind == kind) names[n++] = kg_symbol_at(k, i).name;
    hint = spec_suggest(r->a, name, names, n);
  }
  diag_add(r->d, at, D_VAR_UNKNOWN, label, kg_symbol_kind_name(kind), name, hint);
  return -1;
}

bool expr_is_condition(const Kernel *k, const kg_step *steps, int count) {
  const kg_step *last = &steps[count - 1];
  if (last->op == KG_OP_VAR) {
    const kg_symbol s = kg_symbol_at(&k->model, (int)last->value);
    return s.kind == KG_CONST && k->consts[s.index].is_bool;
  }
  if (last->op == KG_OP_WHEN) {
    const int other = kg_expr_operand(steps, count - 2);
    return expr_is_condition(k, steps, count - 1) && expr_is_condition(k, steps, other);
  }
  return kg_ops[last->op].kind == KG_COMPARISON || kg_ops[last->op].kind == KG_LOGIC;
}

static bool condition(Reader *r, const char *label, Place at, const kg_step *steps, int count) {
  if (expr_is_condition(r->k, steps, count)) return true;
  const kg_expr e = expr_of_steps(r->a, &r->k->model, steps, count);
  diag_add(r->d, at, D_NOT_CONDITION, label, arena_printf(r->a, "'%s'", e.text),
           "for example dim.D:ge(1)");
  return false;
}

/* An operand while names are looked up: where its steps begin, and whether all is well in it. */
typedef struct Operand {
  int start;
  bool fine;
} Operand;

/* Logic's operands and `when`'s first are conditions.  of: as many as the operator takes, the last
** one ends before step `at`. */
static bool operands_fit(Reader *r, const char *label, Place place, const kg_step *steps, int at,
                         const Operand *of) {
  const kg_op_facts *op = &kg_ops[steps[at].op];
  const int conditions = op->kind == KG_LOGIC ? op->takes : op->kind == KG_CHOICE;
  for (int i = 0; i < op->takes; i++)
    if (!of[i].fine) return false;
  for (int i = 0; i < conditions; i++) {
    const int end = i + 1 < op->takes ? of[i + 1].start : at;
    if (!condition(r, label, place, steps + of[i].start, end - of[i].start)) return false;
  }
  return true;
}

static bool is_division(uint8_t op) {
  return op == KG_OP_DIV || op == KG_OP_MOD || op == KG_OP_CEIL_DIV;
}

/* Not by a zero that is written there.  The operation is the steps from start to at. */
static bool divides(Reader *r, const char *label, Place place, const kg_step *steps, int start,
                    int at) {
  const kg_step *by = &steps[at - 1];
  if (!is_division(steps[at].op) || by->op != KG_OP_INT || by->value != 0) return true;
  const kg_expr e = expr_of_steps(r->a, &r->k->model, steps + start, at + 1 - start);
  diag_add(r->d, place, D_EXPR_FAILS, label, e.text, "it divides by zero");
  return false;
}

/* The recorded steps with their names looked up.  False when something in them is wrong; all of it
** is looked at. */
static bool resolve(Reader *r, const char *label, const kg_expr *raw, kg_expr *out) {
  Operand stack[KG_EXPR_DEPTH];
  kg_step *steps = arena_alloc(r->scratch, (size_t)raw->count * sizeof *steps);
  int n = 0;
  for (int i = 0; i < raw->count; i++) {
    Operand o = {i, true};
    steps[i] = raw->steps[i];
    if (steps[i].op == KG_OP_VAR) {
      const SpecVariable *v = &r->run->variables[steps[i].value];
      steps[i].value = look_up(r, label, v->at, v->kind, v->name);
      o.fine = steps[i].value >= 0;
    } else if (steps[i].op != KG_OP_INT) {
      const Place at = r->run->places[steps[i].value];
      steps[i].value = 0;
      n -= kg_ops[steps[i].op].takes;
      o.start = stack[n].start;
      o.fine = operands_fit(r, label, at, steps, i, &stack[n]) &&
               divides(r, label, at, steps, o.start, i);
    }
    stack[n++] = o;
  }
  if (stack[0].fine) *out = expr_of_steps(r->a, &r->k->model, steps, raw->count);
  return stack[0].fine;
}

bool val_expr(Reader *r, Val v, bool dims_by_name, const char *expected, kg_expr *out) {
  lua_State *L = r->L;
  const kg_expr *raw = spec_to_expr(L, v.at);
  if (raw) return resolve(r, v.label, raw, out);
  if (lua_type(L, v.at) == LUA_TSTRING && dims_by_name) {
    const char *name;
    if (!val_string(r, v, expected, &name)) return false;
    const int number = look_up(r, v.label, val_place(r, v), KG_DIM, name);
    if (number >= 0) *out = expr_var(r->a, &r->k->model, KG_DIM, number);
    return number >= 0;
  }
  if (lua_type(L, v.at) == LUA_TNUMBER) {
    int64_t n;
    if (!val_int(r, v, 0, UINT32_MAX, &n)) return false;
    *out = expr_int(r->a, n);
    return true;
  }
  return wrong_type(r, v, expected);
}

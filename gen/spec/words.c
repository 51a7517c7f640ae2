/* words.c: the words of the specification language.  See read.h.
**
** Values are Lua's where they can be (dtypes are their names, numbers are numbers); the rest are
** userdata:
**   expression   an operator tree, recorded; its names are looked up when a kernel takes it
**   absent       a port that is not there, with the reason
**   unknown      what a faulty word gives: whatever is done with it gives another one, so one
**                mistake is one message
**   kernel       `kernel "name"`, waiting for its table */
#include <string.h>

#include "spec/read.h"

/* ---- unknown values -------------------------------------------------------------------------- */

static const char POISON[] = "unknown", EXPR[] = "expression", ABSENT[] = "absent",
                  HEAD[] = "kernel";

void spec_push_poison(lua_State *L) {
  luaL_checkstack(L, 2, NULL);
  lua_newuserdatauv(L, 0, 0);
  luaL_setmetatable(L, POISON);
}

bool spec_is_poison(lua_State *L, int at) { return luaL_testudata(L, at, POISON) != NULL; }

static int poison_any(lua_State *L) {
  spec_push_poison(L);
  return 1;
}

static int poison_index(lua_State *L) {
  if (lua_isinteger(L, 2))
    lua_pushnil(L); /* an unknown list is empty, lest a loop over it never ends */
  else spec_push_poison(L);
  return 1;
}

static int poison_false(lua_State *L) {
  lua_pushboolean(L, 0);
  return 1;
}

static int poison_nothing(lua_State *L) {
  (void)L;
  return 0;
}

const char *spec_suggest(Arena *a, const char *word, const char *const *names, int n) {
  const char *near = nearest_name(word, names, n);
  return near ? arena_printf(a, "; did you mean '%s'?", near) : "";
}

const char *spec_kind(lua_State *L, int at) {
  return lua_isnoneornil(L, at) ? "nothing"
                                : arena_printf(spec_run(L)->a, "a %s", luaL_typename(L, at));
}

const char *spec_float_text(Arena *a, double x) {
  if (x != x) return "nan"; /* printf may show its sign */
  const char *text = arena_printf(a, "%.14g", x);
  return text[strspn(text, "-0123456789")] ? text : arena_printf(a, "%s.0", text);
}

/* ---- expressions ----------------------------------------------------------------------------- */

const RawExpr *spec_to_expr(lua_State *L, int at) {
  RawExpr **box = luaL_testudata(L, at, EXPR);
  return box ? *box : NULL;
}

static RawExpr *new_raw(lua_State *L) {
  SpecRun *run = spec_run(L);
  spec_charge(run, sizeof(RawExpr));
  RawExpr *e = arena_alloc(run->a, sizeof *e);
  e->at = spec_here(run);
  e->nodes = 1;
  return e;
}

static int push_raw(lua_State *L, RawExpr *e) {
  SpecRun *run = spec_run(L);
  if (e->nodes > SPEC_EXPR_NODES) {
    diag_add(run->d, e->at, D_EXPR_LARGE, (int)SPEC_EXPR_NODES);
    spec_push_poison(L);
    return 1;
  }
  RawExpr **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = e;
  luaL_setmetatable(L, EXPR);
  return 1;
}

/* An operand on the stack; NULL: it is none, and that was said. */
static RawExpr *operand(lua_State *L, int at, const char *who) {
  const RawExpr *e = spec_to_expr(L, at);
  if (e) return *(RawExpr **)lua_touserdata(L, at);
  SpecRun *run = spec_run(L);
  if (lua_isinteger(L, at)) {
    RawExpr *number = new_raw(L);
    number->op = EX_INT;
    number->value = lua_tointeger(L, at);
    return number;
  }
  if (spec_is_poison(L, at)) return NULL;
  if (lua_type(L, at) == LUA_TNUMBER)
    diag_add(run->d, spec_here(run), D_INT_FLOAT, arena_printf(run->a, "'%s'", who),
             spec_float_text(run->a, lua_tonumber(L, at)));
  else
    diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, arena_printf(run->a, "'%s'", who),
             spec_kind(L, at), "an integer or an expression over dim, const and scalar");
  return NULL;
}

static RawExpr *join(lua_State *L, ExprOp op, RawExpr *a, RawExpr *b, RawExpr *c) {
  RawExpr *e = new_raw(L);
  e->op = op;
  e->a = a;
  e->b = b;
  e->c = c;
  e->nodes += (a ? a->nodes : 0) + (b ? b->nodes : 0) + (c ? c->nodes : 0);
  return e;
}

/* Lua operators and methods that are recorded. */
static const struct {
  const char *event, *sign;
  ExprOp op;
} operators[] = {
  { "__add", "+", EX_ADD }, { "__sub", "-", EX_SUB },   { "__mul", "*", EX_MUL },
  { "__mod", "%", EX_MOD }, { "__idiv", "//", EX_DIV },
};
static const struct {
  const char *name;
  ExprOp op;
} methods[] = {
  { "eq", EX_EQ }, { "ge", EX_GE }, { "gt", EX_GT },
  { "le", EX_LE }, { "lt", EX_LT }, { "ne", EX_NE },
};
/* Those that Lua would evaluate, or that are not exact in integers. */
static const struct {
  const char *event, *sign, *instead;
  bool compares;
} refused[] = {
  { "__div", "/", "// (rounds down) or ceil_div(a, b)", false },
  { "__pow", "^", "the product", false },
  { "__concat", "..", "no text in its place", false },
  { "__len", "#", "the dim by its name", false },
  { "__lt", "<", "a:lt(b) or a:gt(b)", true },
  { "__le", "<=", "a:le(b) or a:ge(b)", true },
  { "__eq", "==", "a:eq(b)", true },
  { "__band", "&", "% and //", false },
  { "__bor", "|", "+", false },
  { "__bxor", "~", "+", false },
  { "__bnot", "~", "-", false },
  { "__shl", "<<", "*", false },
  { "__shr", ">>", "//", false },
};
/* Functions of expressions; more operands than `least` are folded from the left where `fold`. */
static const struct {
  const char *name;
  ExprOp op;
  int least;
  bool fold;
} functions[] = {
  { "all", EX_AND, 1, true },
  { "any_of", EX_OR, 1, true },
  { "ceil_div", EX_CEIL_DIV, 2, false },
  { "max", EX_MAX, 2, true },
  { "min", EX_MIN, 2, true },
  { "negate", EX_NOT, 1, false },
  { "when", EX_WHEN, 3, false },
};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Upvalues: operator, its sign. */
static int record_binary(lua_State *L) {
  const ExprOp op = (ExprOp)lua_tointeger(L, lua_upvalueindex(1));
  const char *sign = lua_tostring(L, lua_upvalueindex(2));
  RawExpr *a = operand(L, 1, sign), *b = operand(L, 2, sign);
  if (a && b) return push_raw(L, join(L, op, a, b, NULL));
  spec_push_poison(L);
  return 1;
}

static int record_negative(lua_State *L) {
  RawExpr *zero = new_raw(L), *a = operand(L, 1, "-");
  if (a) return push_raw(L, join(L, EX_SUB, zero, a, NULL));
  spec_push_poison(L);
  return 1;
}

/* Upvalue: row of refused. */
static int refuse(lua_State *L) {
  SpecRun *run = spec_run(L);
  const int i = (int)lua_tointeger(L, lua_upvalueindex(1));
  diag_add(run->d, spec_here(run), D_EXPR_OPERATOR, refused[i].sign, refused[i].instead);
  if (refused[i].compares) run->lost++;
  spec_push_poison(L);
  return 1;
}

/* Upvalue: row of functions. */
static int record_function(lua_State *L) {
  const int i = (int)lua_tointeger(L, lua_upvalueindex(1)), n = lua_gettop(L),
            least = functions[i].least;
  SpecRun *run = spec_run(L);
  if (n < least || (n > least && !functions[i].fold) || n > SPEC_EXPR_NODES) {
    diag_add(run->d, spec_here(run), D_WORD_ARGUMENT,
             arena_printf(run->a, "'%s'", functions[i].name),
             arena_printf(run->a, n == 1 ? "%d operand" : "%d operands", n),
             arena_printf(run->a, "%d%s", least, functions[i].fold ? " or more" : ""));
    spec_push_poison(L);
    return 1;
  }
  RawExpr *of[SPEC_EXPR_NODES] = { NULL };
  bool fine = true;
  for (int at = 1; at <= n; at++) {
    of[at - 1] = operand(L, at, functions[i].name);
    fine = fine && of[at - 1];
  }
  if (!fine) {
    spec_push_poison(L);
    return 1;
  }
  if (functions[i].op == EX_NOT) return push_raw(L, join(L, EX_NOT, of[0], NULL, NULL));
  if (functions[i].op == EX_WHEN) return push_raw(L, join(L, EX_WHEN, of[0], of[1], of[2]));
  RawExpr *e = of[0];
  for (int at = 1; at < n; at++) e = join(L, functions[i].op, e, of[at], NULL);
  return push_raw(L, e);
}

/* dim.D:ge(1): the method by its name. */
static int expr_index(lua_State *L) {
  SpecRun *run = spec_run(L);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  const char *names[COUNT(methods)];
  for (int i = 0; i < COUNT(methods); i++) {
    names[i] = methods[i].name;
    if (strcmp(methods[i].name, name) != 0) continue;
    lua_pushinteger(L, methods[i].op);
    lua_pushstring(L, name);
    lua_pushcclosure(L, record_binary, 2);
    return 1;
  }
  if (spec_utf8_bad(name, strlen(name)) < strlen(name)) name = "?";
  diag_add(run->d, spec_here(run), D_EXPR_METHOD, name,
           spec_suggest(run->a, name, names, COUNT(methods)));
  return poison_index(L);
}

/* dim.rows, const.THREADS, scalar.n.  Upvalues: kind, the word. */
static int variable(lua_State *L) {
  SpecRun *run = spec_run(L);
  size_t len = 0;
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &len) : NULL;
  if (!name || strlen(name) != len || !spec_is_identifier(name)) {
    if (!spec_is_poison(L, 2))
      diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, lua_tostring(L, lua_upvalueindex(2)),
               name ? "a text that is no name" : spec_kind(L, 2), "a name, as in dim.rows");
    return poison_index(L);
  }
  RawExpr *e = new_raw(L);
  e->op = EX_VAR;
  e->kind = (VarKind)lua_tointeger(L, lua_upvalueindex(1));
  spec_charge(run, len + 1);
  e->name = arena_strndup(run->a, name, len);
  return push_raw(L, e);
}

/* Upvalue: the word. */
static int variable_set(lua_State *L) {
  diag_add(spec_run(L)->d, spec_here(spec_run(L)), D_LUA_ASSIGN,
           lua_tostring(L, lua_upvalueindex(1)));
  return 0;
}

/* ---- absent, kernel -------------------------------------------------------------------------- */

static int absent(lua_State *L) {
  lua_settop(L, 1);
  if (spec_is_poison(L, 1)) return 1;
  lua_newuserdatauv(L, 0, 1);
  luaL_setmetatable(L, ABSENT);
  if (lua_type(L, 1) == LUA_TSTRING) lua_pushvalue(L, 1);
  else lua_pushstring(L, "");
  lua_setiuservalue(L, 2, 1);
  return 1;
}

const char *spec_to_absent(lua_State *L, int at) {
  if (!luaL_testudata(L, at, ABSENT)) return NULL;
  lua_getiuservalue(L, at, 1);
  const char *reason = lua_tostring(L, -1); /* kept alive by its userdata */
  lua_pop(L, 1);
  return reason;
}

bool spec_is_absent_word(lua_State *L, int at) { return lua_tocfunction(L, at) == absent; }

static int kernel(lua_State *L) {
  SpecRun *run = spec_run(L);
  const Place at = spec_here(run);
  size_t len = 0;
  const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
  if (run->head_count >= SPEC_KERNELS)
    return luaL_error(L, "a specification has at most %d kernels", (int)SPEC_KERNELS);
  if (!name || len == 0 || strlen(name) != len || spec_utf8_bad(name, len) < len ||
      len > SPEC_NAME_BYTES) {
    if (!spec_is_poison(L, 1))
      diag_add(run->d, at, D_WORD_ARGUMENT, "kernel",
               name ? len > SPEC_NAME_BYTES ? "a text of more than 64 bytes" : "an unfit text"
                    : spec_kind(L, 1),
               "a name, as in kernel \"fused_norm\" { ... }");
    spec_push_poison(L);
    return 1;
  }
  SpecHead *head = arena_alloc(run->a, sizeof *head);
  head->name = arena_strdup(run->a, name);
  head->at = at;
  for (int i = 0; i < run->source_count; i++)
    if (strcmp(run->sources[i]->path, at.file) == 0) head->source = run->sources[i];
  GROW(run->a, run->heads, run->head_count, run->head_room);
  run->heads[run->head_count++] = head;
  SpecHead **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = head;
  luaL_setmetatable(L, HEAD);
  return 1;
}

/* kernel "name" { ... } */
static int kernel_call(lua_State *L) {
  SpecRun *run = spec_run(L);
  SpecHead *head = *(SpecHead **)luaL_checkudata(L, 1, HEAD);
  lua_settop(L, 2);
  if (head->done) { /* the same head with a second table: a second kernel of that name */
    diag_add(run->d, spec_here(run), D_KERNEL_TWICE, head->name, head->at.file, head->at.line);
    return 0;
  }
  head->done = true;
  if (lua_istable(L, 2)) spec_kernel_read(run, head, 2);
  else if (!spec_is_poison(L, 2)) diag_add(run->d, head->at, D_KERNEL_UNFINISHED, head->name);
  return 0;
}

/* path { name = "...", kernels = { ... } } */
static int path(lua_State *L) {
  SpecRun *run = spec_run(L);
  lua_settop(L, 1);
  spec_path_read(run, spec_here(run), 1);
  return 0;
}

/* ---- the table of words ---------------------------------------------------------------------- */

static void open_poison(lua_State *L) {
  static const char *const any[] = { "__call", "__concat", "__add", "__sub",  "__mul",  "__div",
                                     "__mod",  "__pow",    "__unm", "__idiv", "__band", "__bor",
                                     "__bxor", "__shl",    "__shr", "__bnot", "__len" };
  static const luaL_Reg rest[] = { { "__index", poison_index }, { "__newindex", poison_nothing },
                                   { "__lt", poison_false },    { "__le", poison_false },
                                   { "__eq", poison_false },    { NULL, NULL } };
  luaL_newmetatable(L, POISON);
  luaL_setfuncs(L, rest, 0);
  for (int i = 0; i < COUNT(any); i++) {
    lua_pushcfunction(L, poison_any);
    lua_setfield(L, -2, any[i]);
  }
  lua_pop(L, 1);
}

static void open_expr(lua_State *L) {
  luaL_newmetatable(L, EXPR);
  lua_pushcfunction(L, expr_index);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, record_negative);
  lua_setfield(L, -2, "__unm");
  for (int i = 0; i < COUNT(operators); i++) {
    lua_pushinteger(L, operators[i].op);
    lua_pushstring(L, operators[i].sign);
    lua_pushcclosure(L, record_binary, 2);
    lua_setfield(L, -2, operators[i].event);
  }
  for (int i = 0; i < COUNT(refused); i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, refuse, 1);
    lua_setfield(L, -2, refused[i].event);
  }
  lua_pop(L, 1);
}

static void add_variables(lua_State *L, int words, const char *word, VarKind kind) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushinteger(L, kind);
  lua_pushstring(L, word);
  lua_pushcclosure(L, variable, 2);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, word);
  lua_pushcclosure(L, variable_set, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_setfield(L, words, word);
}

void spec_words_open(SpecRun *run, int words) {
  lua_State *L = run->L;
  open_poison(L);
  open_expr(L);
  luaL_newmetatable(L, ABSENT);
  luaL_newmetatable(L, HEAD);
  lua_pushcfunction(L, kernel_call);
  lua_setfield(L, -2, "__call");
  lua_pop(L, 2);
  for (int i = 0; i < DTYPES; i++) {
    lua_pushstring(L, dtype_info[i].name);
    lua_setfield(L, words, dtype_info[i].name);
  }
  lua_pushstring(L, "bool");
  lua_setfield(L, words, "bool");
  lua_pushstring(L, "any");
  lua_setfield(L, words, "any");
  for (int i = 0; i < COUNT(functions); i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, record_function, 1);
    lua_setfield(L, words, functions[i].name);
  }
  add_variables(L, words, "dim", VAR_DIM);
  add_variables(L, words, "const", VAR_CONST);
  add_variables(L, words, "scalar", VAR_SCALAR);
  lua_pushcfunction(L, absent);
  lua_setfield(L, words, "absent");
  lua_pushcfunction(L, kernel);
  lua_setfield(L, words, "kernel");
  lua_pushcfunction(L, path);
  lua_setfield(L, words, "path");
}

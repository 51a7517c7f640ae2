/* raw.c: values that are recorded while a specification runs.  See read.h.
**
**   expression   its steps, recorded; its names are looked up when a kernel takes it
**   unknown      what a faulty word gives: whatever is done with it gives another one, so one
**                mistake is one message */
#include <string.h>

#include "spec/read.h"

/* ---- unknown values -------------------------------------------------------------------------- */

static const char POISON[] = "unknown", EXPR[] = "expression";

void spec_push_poison(lua_State *L) {
  luaL_checkstack(L, 2, NULL);
  spec_run(L)->unknowns = true;
  lua_newuserdatauv(L, 0, 0);
  luaL_setmetatable(L, POISON);
}

bool spec_is_poison(lua_State *L, int at) { return luaL_testudata(L, at, POISON) != NULL; }

static int poison_any(lua_State *L) {
  spec_push_poison(L);
  return 1;
}

/* What a loop asks for its first values is there no loop: unknown ones would go on for ever. */
static int poison_call(lua_State *L) {
  if (lua_gettop(L) == 3 && lua_isnil(L, 3)) return 0;
  return poison_any(L);
}

static int poison_index(lua_State *L) {
  if (lua_isinteger(L, 2))
    lua_pushnil(L); /* an unknown list is empty, lest a loop over it never ends */
  else
    spec_push_poison(L);
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

/* ---- expressions ----------------------------------------------------------------------------- */

/* made: its number among run->made; -1: a variable alone, which may be left over. */
typedef struct Recorded {
  kg_expr e;
  int made;
} Recorded;

/* What takes an expression makes use of it. */
const kg_expr *spec_to_expr(lua_State *L, int at) {
  const Recorded *box = luaL_testudata(L, at, EXPR);
  if (box && box->made >= 0) spec_run(L)->made[box->made].used = true;
  return box ? &box->e : NULL;
}

bool spec_is_expr(lua_State *L, int at) { return luaL_testudata(L, at, EXPR) != NULL; }

void spec_left_over(SpecRun *run) {
  for (int i = 0; i < run->made_count; i++)
    if (!run->made[i].used) diag_add(run->d, run->made[i].at, D_EXPR_LEFT_OVER, run->made[i].word);
}

/* Room for an expression of so many steps. */
static kg_step *new_steps(SpecRun *run, int count) {
  spec_charge(run, (size_t)count * sizeof(kg_step));
  return arena_alloc(run->a, (size_t)count * sizeof(kg_step));
}

/* Where the operator being recorded stands, as its step has it. */
static int64_t place_here(SpecRun *run) {
  const Place at = spec_here(run),
              *last = run->place_count ? &run->places[run->place_count - 1] : NULL;
  if (!last || last->line != at.line || strcmp(last->file, at.file) != 0) {
    GROW(run->a, run->places, run->place_count, run->place_room);
    run->places[run->place_count++] = at;
  }
  return run->place_count - 1;
}

/* The value of an operator, or of a variable (KG_OP_VAR).  A number that is made outside an entry
** may be for kernels that are not there: a helper's table.  A condition was meant to hold. */
static int push_steps(lua_State *L, const kg_step *steps, int count, kg_op op) {
  SpecRun *run = spec_run(L);
  if (kg_expr_depth(steps, count) > KG_EXPR_DEPTH) {
    diag_add(run->d, spec_here(run), D_EXPR_DEEP, (int)KG_EXPR_DEPTH);
    spec_push_poison(L);
    return 1;
  }
  int made = -1;
  const bool condition = kg_ops[op].kind == KG_COMPARISON || kg_ops[op].kind == KG_LOGIC;
  if (op != KG_OP_VAR && (condition || run->entries_open > 0)) {
    spec_charge(run, sizeof *run->made);
    GROW(run->a, run->made, run->made_count, run->made_room);
    run->made[made = run->made_count++] = (SpecMade){kg_ops[op].word, spec_here(run), false};
  }
  Recorded *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (Recorded){{NULL, count, steps}, made};
  luaL_setmetatable(L, EXPR);
  return 1;
}

/* An operand on the stack; false: it is none, and that was said. */
static bool operand(lua_State *L, int at, const char *who, kg_expr *out) {
  const kg_expr *e = spec_to_expr(L, at);
  SpecRun *run = spec_run(L);
  if (e) {
    *out = *e;
    return true;
  }
  if (lua_isinteger(L, at)) {
    kg_step *number = new_steps(run, 1);
    *number = (kg_step){KG_OP_INT, lua_tointeger(L, at)};
    *out = (kg_expr){NULL, 1, number};
    return true;
  }
  if (spec_is_poison(L, at)) return false;
  if (lua_type(L, at) == LUA_TNUMBER)
    diag_add(run->d, spec_here(run), D_INT_FLOAT, arena_printf(run->a, "'%s'", who),
             spec_float_text(run->a, lua_tonumber(L, at)));
  else
    diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, arena_printf(run->a, "'%s'", who),
             spec_kind(L, at), "an integer or an expression over dim, const and scalar");
  return false;
}

/* The operands' steps, and the operator as often as it takes to make one value of them: from the
** left where there are more than it takes. */
static int record(lua_State *L, kg_op op, const kg_expr *of, int n) {
  SpecRun *run = spec_run(L);
  const int takes = kg_ops[op].takes, times = n == takes ? 1 : n - 1;
  int64_t count = times;
  for (int i = 0; i < n; i++) count += of[i].count;
  if (count > SPEC_EXPR_NODES) {
    diag_add(run->d, spec_here(run), D_EXPR_LARGE, (int)SPEC_EXPR_NODES);
    spec_push_poison(L);
    return 1;
  }
  const kg_step step = {(uint8_t)op, place_here(run)};
  kg_step *steps = new_steps(run, (int)count), *to = steps;
  for (int i = 0; i < n; i++) {
    memcpy(to, of[i].steps, (size_t)of[i].count * sizeof *to);
    to += of[i].count;
    if (i == takes - 1 || (i >= takes && times > 1)) *to++ = step;
  }
  return push_steps(L, steps, (int)count, op);
}

/* What Lua does with two values: recorded where an operator is said by that sign, else refused, as
** Lua would evaluate it or it is not exact in integers. */
static const struct {
  const char *event, *sign, *instead;
  bool compares;
} signs[] = {
    {"__add", "+", NULL, false},
    {"__sub", "-", NULL, false},
    {"__mul", "*", NULL, false},
    {"__mod", "%", NULL, false},
    {"__idiv", "//", NULL, false},
    {"__div", "/", "// (rounds down) or ceil_div(a, b)", false},
    {"__pow", "^", "the product", false},
    {"__concat", "..", "no text in its place", false},
    {"__len", "#", "the dim by its name", false},
    {"__lt", "<", "a:lt(b) or a:gt(b)", true},
    {"__le", "<=", "a:le(b) or a:ge(b)", true},
    {"__eq", "==", "a:eq(b)", true},
    {"__band", "&", "% and //", false},
    {"__bor", "|", "+", false},
    {"__bxor", "~", "+", false},
    {"__bnot", "~", "-", false},
    {"__shl", "<<", "*", false},
    {"__shr", ">>", "//", false},
};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* The operator that a specification says so; KG_OPS: none. */
static kg_op said(kg_op_said how, const char *word) {
  int op = 0;
  while (op < KG_OPS && (kg_ops[op].said != how || strcmp(kg_ops[op].word, word) != 0)) op++;
  return (kg_op)op;
}

/* Upvalue: operator. */
static int record_binary(lua_State *L) {
  const kg_op op = (kg_op)lua_tointeger(L, lua_upvalueindex(1));
  const int extra = lua_gettop(L) - 2; /* a sign has no more than two */
  if (extra > 0) {
    SpecRun *run = spec_run(L);
    diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, arena_printf(run->a, "'%s'", kg_ops[op].word),
             arena_printf(run->a, "%d operands in its parentheses", extra + 1), "1");
    spec_push_poison(L);
    return 1;
  }
  kg_expr of[2];
  const bool a = operand(L, 1, kg_ops[op].word, &of[0]), b = operand(L, 2, kg_ops[op].word, &of[1]);
  if (a && b) return record(L, op, of, 2);
  spec_push_poison(L);
  return 1;
}

static int record_negative(lua_State *L) {
  static const kg_step zero = {KG_OP_INT, 0};
  kg_expr of[2] = {{NULL, 1, &zero}};
  if (operand(L, 1, "-", &of[1])) return record(L, KG_OP_SUB, of, 2);
  spec_push_poison(L);
  return 1;
}

/* Upvalue: row of signs. */
static int refuse(lua_State *L) {
  SpecRun *run = spec_run(L);
  const int i = (int)lua_tointeger(L, lua_upvalueindex(1));
  diag_add(run->d, spec_here(run), D_EXPR_OPERATOR, signs[i].sign, signs[i].instead);
  if (signs[i].compares) run->lost++;
  spec_push_poison(L);
  return 1;
}

/* Upvalue: operator. */
static int record_function(lua_State *L) {
  const kg_op op = (kg_op)lua_tointeger(L, lua_upvalueindex(1));
  const kg_op_facts *f = &kg_ops[op];
  const bool fold = f->said == KG_SAID_FOLD;
  const int n = lua_gettop(L), least = fold && f->kind == KG_LOGIC ? 1 : f->takes;
  SpecRun *run = spec_run(L);
  if (n < least || (n > least && !fold) || n > SPEC_EXPR_NODES) {
    diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, arena_printf(run->a, "'%s'", f->word),
             arena_printf(run->a, n == 1 ? "%d operand" : "%d operands", n),
             arena_printf(run->a, "%d%s", least, fold ? " or more" : ""));
    spec_push_poison(L);
    return 1;
  }
  kg_expr of[SPEC_EXPR_NODES];
  bool fine = true;
  for (int at = 1; at <= n; at++) fine = operand(L, at, f->word, &of[at - 1]) && fine;
  if (!fine) {
    spec_push_poison(L);
    return 1;
  }
  return n < f->takes ? push_steps(L, of[0].steps, of[0].count, op) : record(L, op, of, n);
}

/* dim.D:ge(1): the method by its name. */
static int expr_index(lua_State *L) {
  SpecRun *run = spec_run(L);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  const kg_op op = said(KG_SAID_METHOD, name);
  if (op < KG_OPS) {
    lua_pushinteger(L, op);
    lua_pushcclosure(L, record_binary, 1);
    return 1;
  }
  const char *names[KG_OPS];
  int n = 0;
  for (int i = 0; i < KG_OPS; i++)
    if (kg_ops[i].said == KG_SAID_METHOD) names[n++] = kg_ops[i].word;
  if (utf8_bad(name, strlen(name)) < strlen(name)) name = "?";
  diag_add(run->d, spec_here(run), D_EXPR_METHOD, name, spec_suggest(run->a, name, names, n));
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
  spec_charge(run, sizeof *run->variables + len + 1);
  GROW(run->a, run->variables, run->variable_count, run->variable_room);
  run->variables[run->variable_count] =
      (SpecVariable){(kg_symbol_kind)lua_tointeger(L, lua_upvalueindex(1)),
                     arena_strndup(run->a, name, len), spec_here(run)};
  kg_step *step = new_steps(run, 1);
  *step = (kg_step){KG_OP_VAR, run->variable_count++};
  return push_steps(L, step, 1, KG_OP_VAR);
}

/* Upvalue: the word. */
static int variable_set(lua_State *L) {
  diag_add(spec_run(L)->d, spec_here(spec_run(L)), D_LUA_ASSIGN,
           lua_tostring(L, lua_upvalueindex(1)));
  return 0;
}

/* ---- the words ------------------------------------------------------------------------------- */

static void open_poison(lua_State *L) {
  static const char *const any[] = {"__concat", "__add", "__sub",  "__mul",  "__div", "__mod",
                                    "__pow",    "__unm", "__idiv", "__band", "__bor", "__bxor",
                                    "__shl",    "__shr", "__bnot", "__len"};
  static const luaL_Reg rest[] = {{"__index", poison_index},
                                  {"__newindex", poison_nothing},
                                  {"__lt", poison_false},
                                  {"__le", poison_false},
                                  {"__eq", poison_false},
                                  {"__call", poison_call},
                                  {NULL, NULL}};
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
  for (int i = 0; i < COUNT(signs); i++) {
    const kg_op op = said(KG_SAID_SIGN, signs[i].sign);
    lua_pushinteger(L, op < KG_OPS ? (int)op : i);
    lua_pushcclosure(L, op < KG_OPS ? record_binary : refuse, 1);
    lua_setfield(L, -2, signs[i].event);
  }
  lua_pop(L, 1);
}

static void add_variables(lua_State *L, int words, const char *word, kg_symbol_kind kind) {
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

void spec_raw_open(SpecRun *run, int words) {
  lua_State *L = run->L;
  open_poison(L);
  open_expr(L);
  for (int i = 0; i < KG_OPS; i++) {
    if (kg_ops[i].said != KG_SAID_FUNCTION && kg_ops[i].said != KG_SAID_FOLD) continue;
    lua_pushinteger(L, i);
    lua_pushcclosure(L, record_function, 1);
    lua_setfield(L, words, kg_ops[i].word);
  }
  add_variables(L, words, "dim", KG_DIM);
  add_variables(L, words, "const", KG_CONST);
  add_variables(L, words, "scalar", KG_SCALAR);
}

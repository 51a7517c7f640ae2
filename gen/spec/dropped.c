/* dropped.c: what Lua would drop without a word, found in a file's text.  See read.h.
**
** `a and b` and `a or b` give one of the two, so that the other is in no kernel, and `b` of an `or` is
** not even run; `not a` is false.  A key that stands twice in a table keeps one value.
**
** An operand is taken for a recorded one where it begins as one: dim.n, ceil_div(..), a variable
** that is only ever set to such a thing. */
#include <stdlib.h>
#include <string.h>

#include "spec/scan.h"

typedef struct TableKey {
  const char *name; /* NULL: it has a number */
  int number;
  int line;
  struct TableKey *next;
} TableKey;

/* A bracket or a block that is open, and the operand of and, or, not under way in it. */
typedef struct Frame {
  char open;    /* ( [ {; b: a block, up to `end` or `until` */
  bool call;    /* (: of a call */
  bool names;   /* of a function: its parameters come, or are in these parentheses */
  bool loops;   /* a loop's variables come */
  bool entry;   /* {: an entry may begin */
  bool numbers; /* {: some entry's number is written */
  int index;    /* {: entries without a key so far */
  TableKey *keys;
  bool recorded;            /* the operand is a recorded one */
  bool chosen;              /* it stands behind an `and` or `or` */
  bool guarded;             /* behind the `and` of a plain value: `flag and a or b` chooses */
  const LuaToken *negated;  /* the `not` before it */
  const LuaToken *assigned; /* the variable that it is assigned to */
} Frame;

typedef struct NameList {
  const LuaToken **list;
  int count, room;
} NameList;

typedef struct Drops {
  SpecRun *run;
  const SpecSource *source;
  int count, room;
  LuaToken *t;
  int depth, depth_room;
  Frame *frames;
  NameList recorded, plain; /* variables by what they are set to */
  bool tells;               /* the second time through */
} Drops;

static bool is(const LuaToken *t, const char *word) {
  return t && (size_t)t->len == strlen(word) && memcmp(t->s, word, (size_t)t->len) == 0 &&
         t->kind != LUA_STRING;
}

static bool is_among(const LuaToken *t, const char *const *words, int n) {
  for (int i = 0; i < n; i++)
    if (is(t, words[i])) return true;
  return false;
}
#define IS_AMONG(t, words) is_among(t, words, (int)(sizeof(words) / sizeof *(words)))

static void add_name(Drops *d, NameList *names, const LuaToken *t) {
  if (d->tells) return;
  GROW(d->run->scratch, names->list, names->count, names->room);
  names->list[names->count++] = t;
}

static bool has_name(const NameList *names, const LuaToken *t) {
  for (int i = 0; i < names->count; i++)
    if (names->list[i]->len == t->len && memcmp(names->list[i]->s, t->s, (size_t)t->len) == 0)
      return true;
  return false;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static Frame *top(Drops *d) { return &d->frames[d->depth - 1]; }

static void push(Drops *d, Frame f) {
  GROW(d->run->scratch, d->frames, d->depth, d->depth_room);
  d->frames[d->depth++] = f;
}

/* The operand, and what it was assigned to, ends. */
static void end_value(Drops *d) {
  Frame *f = top(d);
  if (f->assigned) add_name(d, f->recorded && !f->chosen ? &d->recorded : &d->plain, f->assigned);
  f->recorded = f->chosen = f->guarded = false;
  f->negated = f->assigned = NULL;
}

static void complain(Drops *d, const LuaToken *t, const char *instead) {
  if (d->tells)
    diag_add(d->run->d, (Place){d->source->path, t->line, 0}, D_EXPR_OPERATOR,
             arena_strndup(d->run->a, t->s, (size_t)t->len), instead);
}

static void found_recorded(Drops *d) {
  Frame *f = top(d);
  f->recorded = true;
  if (f->negated) complain(d, f->negated, "negate(a)");
  f->negated = NULL;
}

static void pop(Drops *d) {
  if (d->depth == 1) return;
  const Frame f = *top(d);
  end_value(d);
  d->depth--;
  if (f.open == '(' && !f.call && f.recorded && !f.chosen) found_recorded(d);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* name: NULL for a number. */
static void add_key(Drops *d, const char *name, int number, int line) {
  Frame *f = top(d);
  if (!d->tells) return;
  for (const TableKey *k = name || f->numbers ? f->keys : NULL; k; k = k->next) {
    const bool same =
        name && k->name ? strcmp(k->name, name) == 0 : !name && !k->name && k->number == number;
    if (same) {
      diag_add(d->run->d, (Place){d->source->path, line, 0}, D_KEY_TWICE,
               name ? name : arena_printf(d->run->a, "%d", number), k->line);
      return;
    }
  }
  TableKey *k = arena_alloc(d->run->scratch, sizeof *k);
  *k = (TableKey){name, number, line, f->keys};
  f->keys = k;
}

/* An entry begins at token i: the token after its key, where it has one. */
static int begin_entry(Drops *d, int i) {
  Frame *f = top(d);
  const LuaToken *t = &d->t[i];
  f->entry = false;
  if (t->kind == LUA_NAME && lua_is_sign(t + 1, '=')) {
    add_key(d, arena_strndup(d->run->a, t->s, (size_t)t->len), 0, t->line);
    return i + 2;
  }
  if (lua_is_sign(t, '[') && (t[1].kind == LUA_STRING || t[1].kind == LUA_DIGITS) &&
      lua_is_sign(t + 2, ']')) {
    const bool number = t[1].kind == LUA_DIGITS;
    f->numbers = f->numbers || number;
    if (number)
      add_key(d, NULL, atoi(t[1].s), t->line);
    else if (strchr("'\"", *t[1].s))
      add_key(d, arena_strndup(d->run->a, t[1].s + 1, (size_t)t[1].len - 2), 0, t->line);
    return i + 4;
  }
  if (lua_is_sign(t, '[') || lua_is_sign(t, '}')) return i;
  add_key(d, NULL, ++f->index, t->line);
  return i;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static const char *const openers[] = {"function", "if", "do", "repeat"};
static const char *const closers[] = {"end", "until"};
static const char *const breaks[] = {"return", "local", "then",  "else", "elseif", "in",
                                     "while",  "for",   "break", "goto", "until"};
static const char *const values[] = {"nil", "true", "false"};

static bool is_operand_end(const LuaToken *t) {
  static const char *const words[] = {"and", "or", "not"};
  if (!t || t->kind == LUA_SIGN) return t && strchr(")]}", *t->s);
  return t->kind != LUA_NAME ||
         (!IS_AMONG(t, openers) && !IS_AMONG(t, breaks) && !IS_AMONG(t, words));
}

/* A name that begins a recorded value. */
static bool begins_recorded(Drops *d, int i) {
  static const char *const variables[] = {"dim", "const", "scalar"};
  const LuaToken *t = &d->t[i], *before = i ? t - 1 : NULL;
  if (before && (lua_is_sign(before, '.') || lua_is_sign(before, ':'))) return false;
  if (has_name(&d->plain, t)) return false;
  if (IS_AMONG(t, variables)) return lua_is_sign(t + 1, '.') || lua_is_sign(t + 1, '[');
  for (int op = 0; op < KG_OPS; op++)
    if ((kg_ops[op].said == KG_SAID_FUNCTION || kg_ops[op].said == KG_SAID_FOLD) &&
        is(t, kg_ops[op].word))
      return lua_is_sign(t + 1, '(');
  return has_name(&d->recorded, t);
}

static void choose(Drops *d, const LuaToken *t) {
  Frame *f = top(d);
  const bool is_and = is(t, "and");
  if (f->recorded && (is_and || !f->guarded))
    complain(d, t,
             is_and ? "all(a, b), or when(condition, a, b)"
                    : "any_of(a, b), or when(condition, a, b)");
  f->guarded = is_and && !f->recorded;
  f->recorded = false;
  f->chosen = true;
  f->negated = NULL;
}

static void see_name(Drops *d, int i) {
  const LuaToken *t = &d->t[i], *before = i ? t - 1 : NULL;
  Frame *f = top(d);
  if (is(t, "and") || is(t, "or")) {
    choose(d, t);
  } else if (is(t, "not")) {
    f->negated = t;
  } else if (IS_AMONG(t, openers)) {
    if (!is(t, "function")) end_value(d);
    f->loops = false;
    push(d, (Frame){.open = 'b', .names = is(t, "function")});
  } else if (IS_AMONG(t, closers)) {
    pop(d);
    if (is(t, "until")) end_value(d);
  } else if (IS_AMONG(t, breaks)) {
    end_value(d);
    f->loops = is(t, "for");
  } else if (!IS_AMONG(t, values)) {
    if (is_operand_end(before)) end_value(d); /* the next statement */
    if (is(before, "function") || f->loops || (f->open == '(' && f->names))
      add_name(d, &d->plain, t);
    else if (begins_recorded(d, i))
      found_recorded(d);
  }
}

static void see_sign(Drops *d, int i) {
  const LuaToken *t = &d->t[i], *before = i ? t - 1 : NULL;
  Frame *f = top(d);
  if (lua_is_sign(t, '(')) {
    const bool names = f->open == 'b' && f->names;
    f->names = false;
    push(d, (Frame){.open = '(', .call = is_operand_end(before), .names = names});
  } else if (lua_is_sign(t, '[')) {
    push(d, (Frame){.open = '['});
  } else if (lua_is_sign(t, '{')) {
    push(d, (Frame){.open = '{', .entry = true});
  } else if (lua_is_sign(t, ')') || lua_is_sign(t, ']') || lua_is_sign(t, '}')) {
    pop(d);
  } else if (lua_is_sign(t, ',') || lua_is_sign(t, ';')) {
    end_value(d);
    f->entry = f->open == '{';
  } else if (lua_is_sign(t, '=') && before && before->kind == LUA_NAME) {
    const LuaToken *further = i > 1 ? before - 1 : NULL;
    const bool field = further && lua_is_sign(further, '.'),
               several = further && lua_is_sign(further, ',');
    end_value(d);
    f->loops = false;
    if (several) add_name(d, &d->plain, before);
    if (!field && !several) f->assigned = before;
  }
}

static void go_through(Drops *d) {
  d->depth = 0;
  push(d, (Frame){.open = 'b'});
  for (int i = 0; i < d->count - 1; i++) { /* the last one is the end */
    if (top(d)->open == '{' && top(d)->entry) i = begin_entry(d, i);
    if (d->t[i].kind == LUA_NAME) see_name(d, i);
    if (d->t[i].kind == LUA_SIGN) see_sign(d, i);
  }
  while (d->depth > 1) pop(d);
  end_value(d);
}

void spec_dropped_check(SpecRun *run, const SpecSource *source) {
  Drops d = {.run = run, .source = source};
  LuaScan s = {.a = run->scratch, .at = source->text, .end = source->text + source->len, .line = 1};
  do {
    lua_scan(&s);
    GROW(run->scratch, d.t, d.count, d.room);
    d.t[d.count++] = s.tok;
  } while (s.tok.kind != LUA_END);
  go_through(&d); /* what variables are set to; a use may stand before it, in a function */
  d.tells = true;
  go_through(&d);
}

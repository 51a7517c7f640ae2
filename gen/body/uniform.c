/* uniform.c: who comes where.  A barrier is for the whole group, a lane operation for the whole
** wave; under a condition that differs from thread to thread they hang, or take the value of a lane
** that is not there.
**
** Each value has a level: the same in the group, the same in a wave, or each lane's own.  thread,
** lane and wave_index start it; a sum, a load, a call has the highest level of what goes in; a lane
** operation whose result every lane has lowers it.  By contract the library's group_... functions
** give the whole group one value and its wave_... functions a wave, but for ..._scan.  A variable's
** level follows the order of statements; what is assigned under a condition has the condition's
** level too.  Control has a level as well: the conditions around a place, and the returns, breaks
** and continues before it. Functions that hold a barrier or a lane operation are followed into at
** each call, with the levels of that call; the same call a second time has the same outcome.  A
** loop is gone through until nothing changes: levels only rise, so that comes.
**
** A variable that a pointer or a reference of the function may mean (Decl.pointed) shares one level
** with all of that kind: what is stored through a pointer may be any of them. */
#include "body/reading.h"

#include <string.h>

typedef unsigned char Level;
enum { GROUP, WAVE_WIDE, LANE_OWN }; /* levels */

typedef struct Loop {
  Level left, skipped;
  bool is_switch;
  struct Loop *outer;
} Loop; /* by break; by continue */

typedef struct Frame {
  Check *c;
  const Function *f;
  Level *of;      /* by slot */
  Level returned; /* control level of the returns so far */
  Level result;
  Level pointed; /* the highest that was stored to a variable that may have another name */
  Loop *loop;
  const Node *left_at; /* the return or break that made control differ */
  const Node *call;    /* in the caller */
  const struct Frame *caller;
  bool quiet; /* faults were given at the call */
} Frame;

static Level eval(Frame *r, Node *n, Level control);
static Level new_level(Frame *r, Node *n, Level control);
static void run(Frame *r, Node *n, Level control);

static Level most(Level x, Level y) { return x > y ? x : y; }

/* The control level here, with what left before. */
static Level now(const Frame *r, Level control) {
  Level x = most(control, r->returned);
  for (const Loop *l = r->loop; l; l = l->outer) x = most(x, most(l->left, l->skipped));
  return x;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static const Node *condition_of(const Node *n) {
  switch (n->kind) {
  case CXCursor_IfStmt:
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_DoStmt:
  case CXCursor_SwitchStmt: return n->cond;
  case CXCursor_ConditionalOperator: return n->count ? n->child[0] : NULL;
  case CXCursor_BinaryOperator:
    return (n->op == CXBinaryOperator_LAnd || n->op == CXBinaryOperator_LOr) && n->count
               ? n->child[0]
               : NULL;
  default: return NULL;
  }
}

static void say_why(const Frame *r, const Node *n, Level least, bool barrier) {
  Check *c = r->c;
  const Node *cause = NULL;
  for (const Node *up = n->parent, *from = n; up && !cause; from = up, up = up->parent) {
    const Node *cond = condition_of(up);
    if (cond && cond != from && cond->level >= least) cause = cond;
  }
  const char *what =
      least == WAVE_WIDE ? "differs from wave to wave" : "differs from thread to thread";
  if (cause) {
    const Place at = tree_place(c, c->tree, cause->at);
    NOTE(c, "the condition at %s:%d:%d %s", at.file, at.line, at.col, what);
  } else if (r->left_at) {
    const Place at = tree_place(c, c->tree, r->left_at->at);
    NOTE(c, "threads may have left at %s:%d:%d, under a condition that %s", at.file, at.line,
         at.col, what);
  }
  if (r->caller) {
    const Place at = tree_place(c, c->tree, r->call->at);
    NOTE(c, "as %s:%d:%d calls %s", at.file, at.line, at.col, r->f->name);
  }
  NOTE(c, barrier ? "let every thread come here: put the work, not the call, under the condition"
                  : "let every lane come here: put the work, not the call, under the condition (a "
                    "lane without work brings 0)");
}

/* True when a fault was given: the call asks for more than comes here. */
static bool check_call(Frame *r, const Node *n, const char *name, bool barrier, bool lanes,
                       Level control) {
  Check *c = r->c;
  const bool one_wave = c->threads <= c->wave;
  const Level here = now(r, control);
  const bool bad_barrier = barrier && here > (one_wave ? WAVE_WIDE : GROUP),
             bad_lanes = lanes && here > WAVE_WIDE;
  if (r->quiet || (!bad_barrier && !bad_lanes)) return false;
  const Level least = here == LANE_OWN ? LANE_OWN : WAVE_WIDE;
  if (bad_barrier) {
    FAULT(c, n->at, D_BARRIER_DIVERGENT, name,
          here == LANE_OWN ? "only some threads" : "only some waves");
    say_why(r, n, least, true);
  } else {
    FAULT(c, n->at, D_LANES_DIVERGENT, name);
    say_why(r, n, least, false);
  }
  return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t axis_threads(const Check *c, int axis) {
  int64_t v = 1, values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS] = {0};
  for (int i = 0; i < c->k->const_count; i++) values[c->k->dim_count + i] = c->consts[i];
  return expr_eval(&c->port->threads[axis], values, &v) ? v : 1;
}

static Level index_level(const Check *c, int word) {
  const int wave = c->wave;
  const int64_t x = axis_threads(c, 0), y = axis_threads(c, 1), z = axis_threads(c, 2);
  switch (word) {
  case IX_THREAD_X: return x == 1 ? GROUP : LANE_OWN;
  case IX_THREAD_Y: return y == 1 ? GROUP : x % wave == 0 ? WAVE_WIDE : LANE_OWN;
  case IX_THREAD_Z: return z == 1 ? GROUP : x * y % wave == 0 ? WAVE_WIDE : LANE_OWN;
  case IX_THREAD: return c->threads == 1 ? GROUP : LANE_OWN;
  case IX_LANE: return LANE_OWN;
  case IX_WAVE_INDEX: return c->threads <= wave ? GROUP : WAVE_WIDE;
  default: return GROUP;
  }
}

static Level words_level(const Check *c, unsigned words) {
  Level x = GROUP;
  for (int w = 0; w < INDEX_WORDS; w++)
    if (words >> w & 1) x = most(x, index_level(c, w));
  return x;
}

static Level name_level(Frame *r, const Node *n) {
  const Decl *d = n->decl;
  if (!d) return GROUP;
  if (d->kind == DECL_INDEX) return index_level(r->c, d->index);
  if ((d->kind == DECL_VARIABLE || d->kind == DECL_PARAMETER) && d->function == r->f)
    return d->pointed ? most(r->of[d->slot], r->pointed) : r->of[d->slot];
  return GROUP;
}

static bool is_own(const Frame *r, const Decl *d) {
  return d && (d->kind == DECL_VARIABLE || d->kind == DECL_PARAMETER) && d->function == r->f;
}

/* A store whose place has no one name: each variable that the place is made of, or points to. */
static void raise_all(Frame *r, const Node *n, Level x) {
  r->pointed = most(r->pointed, x);
  if (n->kind == CXCursor_DeclRefExpr && is_own(r, n->decl))
    r->of[n->decl->slot] = most(r->of[n->decl->slot], x);
  for (int i = 0; i < n->count; i++) raise_all(r, n->child[i], x);
}

/* The thread's number, by whichever name; with one row of threads thread_x is it too. */
static bool is_thread(const Check *c, const Node *n) {
  n = node_strip_casts(n);
  const Decl *d = n && n->kind == CXCursor_DeclRefExpr ? n->decl : NULL;
  for (int names = 0; d && d->kind == DECL_VARIABLE && d->is_const && d->init; names++) {
    n = names < 16 ? node_strip_casts(d->init) : NULL;
    d = n && n->kind == CXCursor_DeclRefExpr ? n->decl : NULL;
  }
  if (!d || d->kind != DECL_INDEX) return false;
  return d->index == IX_THREAD ||
         (d->index == IX_THREAD_X && axis_threads(c, 1) == 1 && axis_threads(c, 2) == 1);
}

/* thread / WAVE and thread / (2 * WAVE), thread < WAVE and thread >= 2 * WAVE are the same in a
** wave. */
static bool is_wave_number(Frame *r, const Node *n) {
  const int wave = r->c->wave;
  int64_t by;
  if (n->count != 2) return false;
  const bool turned = is_thread(r->c, n->child[1]); /* WAVE > thread */
  if (!turned && !is_thread(r->c, n->child[0])) return false;
  if (!node_constant(r->c, n->child[turned ? 0 : 1], wave, &by)) return false;
  switch (n->op) {
  case CXBinaryOperator_Div: return !turned && by > 0 && by % wave == 0;
  case CXBinaryOperator_LT:
  case CXBinaryOperator_GE: return (turned ? by + 1 : by) % wave == 0;
  case CXBinaryOperator_LE:
  case CXBinaryOperator_GT: return (turned ? by : by + 1) % wave == 0;
  default: return false;
  }
}

static void assign(Frame *r, const Node *to, Level value, Level control, bool keeps) {
  const Node *plain = node_strip(to);
  const Decl *d = node_base(to);
  if (!d) raise_all(r, to, most(value, now(r, control)));
  if (!is_own(r, d)) return;
  const bool whole = plain->kind == CXCursor_DeclRefExpr && !keeps;
  if (plain->kind != CXCursor_DeclRefExpr) {
    const CXType type = clang_getCanonicalType(
        d->type); /* a store to GLOBAL or LOCAL memory leaves the pointer as it is */
    if (type.kind == CXType_Pointer && type_space(clang_getPointeeType(type)) != 0) return;
    if (type_space(d->type) != 0) return;
  }
  const Level x = most(value, now(r, control));
  r->of[d->slot] = whole ? x : most(r->of[d->slot], x);
  if (d->pointed) r->pointed = most(r->pointed, x);
}

static bool ends_in_scan(const char *name) {
  const size_t len = strlen(name);
  return len > 5 && strcmp(name + len - 5, "_scan") == 0;
}

static Level by_contract(const char *name, Level x) {
  if (ends_in_scan(name)) return x;
  if (strncmp(name, "group_", 6) == 0) return GROUP;
  return strncmp(name, "wave_", 5) == 0 && x > WAVE_WIDE ? WAVE_WIDE : x;
}

/* By portable.h's marks.  A lane operation that is not agreed upon gives each lane another one's
** value. */
static Level word_level(const Frame *r, const char *name, const Level *args, int count) {
  const unsigned marks = words_marks(&r->c->l->words, name);
  Level all = GROUP;
  for (int i = 0; i < count; i++) all = most(all, args[i]);
  if (marks & WORD_AGREED) return all > WAVE_WIDE ? WAVE_WIDE : all;
  if (marks & WORD_LANES && count == 2) {
    if (args[0] < LANE_OWN) return args[0];
    return marks & WORD_OF_LANE && args[1] < LANE_OWN ? WAVE_WIDE : LANE_OWN;
  }
  return all;
}

/* What a called function may change: variables that it takes by reference or pointer. */
static bool takes_place(const Decl *param) {
  const CXType type = clang_getCanonicalType(param->type);
  if (type.kind != CXType_Pointer && type.kind != CXType_LValueReference) return false;
  const CXType to = clang_getPointeeType(type);
  return type_space(to) == 0 && !clang_isConstQualifiedType(to);
}

/* values: of the parameters afterwards; NULL: all are x. */
static void give_back(Frame *r, const Function *f, const Node *n, const Level *values, Level x,
                      Level control) {
  for (int i = 0; i + 1 < n->count && i < f->param_count; i++)
    if (takes_place(f->params[i])) {
      const Decl *d = node_base(n->child[i + 1]);
      const Level after = most(values ? values[i] : x, now(r, control));
      if (!d) raise_all(r, n->child[i + 1], after);
      if (!is_own(r, d)) continue;
      r->of[d->slot] = most(r->of[d->slot], after);
      if (d->pointed) r->pointed = most(r->pointed, after);
    }
}

/* A function that was followed: with what, and what came of it. */
typedef struct Followed {
  int turn;
  Level control, result;
  bool quiet;
  const Level *args, *values; /* of the parameters, before and after */
  struct Followed *next;
} Followed;

static const Followed *followed_before(const Check *c, const Function *f, const Level *args,
                                       Level control, bool quiet) {
  for (const Followed *x = f->followed; x; x = x->next)
    if (x->turn == c->turn && x->control == control && x->quiet == quiet &&
        memcmp(x->args, args, (size_t)f->param_count) == 0)
      return x;
  return NULL;
}

/* args: one for each parameter. */
static Level follow(Frame *r, Function *f, Node *n, const Level *args, Level control, bool quiet) {
  Check *c = r->c;
  const Level inner = quiet ? GROUP : now(r, control);
  const Followed *known = followed_before(c, f, args, inner, quiet);
  if (!known) {
    Level *of = arena_alloc(c->a, (size_t)f->slot_count + 1),
          *values = arena_alloc(c->a, (size_t)f->param_count + 1);
    Frame own = {.c = c, .f = f, .of = of, .call = n, .caller = r, .quiet = quiet};
    for (int i = 0; i < f->param_count; i++) of[f->params[i]->slot] = args[i];
    run(&own, f->body, inner);
    for (int i = 0; i < f->param_count; i++) {
      values[i] = of[f->params[i]->slot];
      if (f->params[i]->pointed) values[i] = most(values[i], own.pointed);
    }
    Followed *x = arena_alloc(c->a, sizeof *x);
    *x = (Followed){c->turn, inner, own.result, quiet, args, values, f->followed};
    known = f->followed = x;
  }
  give_back(r, f, n, known->values, GROUP, control);
  return known->result;
}

static Level call(Frame *r, Node *n, Level control) {
  Function *f = n->decl->function;
  const int given = n->count - 1, room = given > f->param_count ? given : f->param_count;
  Level *args = arena_alloc(r->c->a, (size_t)room + 1), all = GROUP;
  for (int i = 0; i < given; i++) {
    args[i] = eval(r, n->child[i + 1], control);
    all = most(all, args[i]);
  }
  const bool faulty = check_call(r, n, f->name, f->barrier, f->lane_op, control);
  if (!f->body) return word_level(r, f->name, args, given);
  if (!f->barrier && !f->lane_op) {
    const Level x = most(all, words_level(r->c, f->index_words));
    give_back(r, f, n, NULL, x, control);
    return by_contract(f->name, x);
  }
  return by_contract(f->name, follow(r, f, n, args, control, r->quiet || faulty));
}

static Level choice(Frame *r, Node *n, Level control) {
  const Level cond = eval(r, n->child[0], control);
  n->child[0]->level = most(n->child[0]->level, cond);
  Level x = cond;
  for (int i = 1; i < n->count; i++) x = most(x, eval(r, n->child[i], most(control, cond)));
  return x;
}

static Level eval(Frame *r, Node *n, Level control) {
  if (!step_into(r->c, n)) return LANE_OWN;
  const Level x = new_level(r, n, control);
  r->c->down--;
  return x;
}

static Level new_level(Frame *r, Node *n, Level control) {
  Level x = GROUP;
  switch (n->kind) {
  case CXCursor_DeclRefExpr: return name_level(r, n);
  case CXCursor_CallExpr:
    if (n->decl && n->decl->kind == DECL_FUNCTION) return call(r, n, control);
    break;
  case CXCursor_ConditionalOperator: return choice(r, n, control);
  case CXCursor_BinaryOperator:
    if (n->op == CXBinaryOperator_LAnd || n->op == CXBinaryOperator_LOr)
      return choice(r, n, control);
    if (is_wave_number(r, n)) return r->c->threads <= r->c->wave ? GROUP : WAVE_WIDE;
    if (n->op == CXBinaryOperator_Assign && n->count == 2) {
      x = most(eval(r, n->child[1], control), node_strip(n->child[0])->kind == CXCursor_DeclRefExpr
                                                  ? GROUP
                                                  : eval(r, n->child[0], control));
      assign(r, n->child[0], x, control, false);
      return x;
    }
    break;
  case CXCursor_CompoundAssignOperator:
    if (n->count == 2) {
      x = most(eval(r, n->child[0], control), eval(r, n->child[1], control));
      assign(r, n->child[0], x, control, true);
      return x;
    }
    break;
  case CXCursor_UnaryOperator:
    if (is_step(n) && n->count) {
      x = eval(r, n->child[0], control);
      assign(r, n->child[0], x, control, true);
      return x;
    }
    break;
  default: break;
  }
  for (int i = 0; i < n->count; i++) x = most(x, eval(r, n->child[i], control));
  return x;
}

/* ---- statements ------------------------------------------------------------------------------ */

static Level *copy_levels(const Frame *r) {
  Level *copy = arena_alloc(r->c->a, (size_t)r->f->slot_count + 1);
  memcpy(copy, r->of, (size_t)r->f->slot_count);
  return copy;
}

static bool join_levels(const Frame *r, const Level *other) {
  bool changed = false;
  for (int i = 0; i < r->f->slot_count; i++) {
    changed = changed || r->of[i] > other[i];
    r->of[i] = most(r->of[i], other[i]);
  }
  return changed;
}

static void branch(Frame *r, Node *n, Level control) {
  for (int i = 0; i + 1 < n->header; i++) run(r, n->child[i], control);
  const Level cond = n->cond ? eval(r, n->cond, control) : GROUP;
  if (n->cond) n->cond->level = most(n->cond->level, cond);
  const Level inner = most(control, cond);
  Level *before = copy_levels(r);
  if (n->body) run(r, n->body, inner);
  Level *then = copy_levels(r);
  memcpy(r->of, before, (size_t)r->f->slot_count);
  if (n->step) run(r, n->step, inner);
  join_levels(r, then);
}

static void loop(Frame *r, Node *n, Level control) {
  Loop own = {.outer = r->loop};
  if (n->kind == CXCursor_ForStmt && n->init) run(r, n->init, control);
  if (n->kind == CXCursor_WhileStmt)
    for (int i = 0; i + 1 < n->header; i++) run(r, n->child[i], control);
  r->loop = &own;
  Level stays = GROUP;
  for (;;) {
    const Level *before = copy_levels(r);
    const Level left = own.left, cond_before = stays, returned = r->returned, pointed = r->pointed;
    if (n->kind == CXCursor_DoStmt && n->body) run(r, n->body, most(control, stays));
    own.skipped = GROUP; /* the lanes that continued are back */
    if (n->cond) {
      stays = most(stays, eval(r, n->cond, most(control, stays)));
      n->cond->level = most(n->cond->level, stays);
    }
    if (n->kind != CXCursor_DoStmt && n->body) run(r, n->body, most(control, stays));
    own.skipped = GROUP;
    if (n->step) run(r, n->step, most(control, stays));
    const bool changed = join_levels(r, before);
    if (!changed && left == own.left && cond_before == stays && returned == r->returned &&
        pointed == r->pointed)
      break;
  }
  r->loop = own.outer;
}

static void choose(Frame *r, Node *n, Level control) {
  Loop own = {.outer = r->loop, .is_switch = true};
  for (int i = 0; i + 1 < n->header; i++) run(r, n->child[i], control);
  const Level cond = n->cond ? eval(r, n->cond, control) : GROUP;
  if (n->cond) n->cond->level = most(n->cond->level, cond);
  const Level *before = copy_levels(r);
  r->loop = &own;
  if (n->body) run(r, n->body, most(control, cond));
  r->loop = own.outer;
  if (own.skipped && r->loop) r->loop->skipped = most(r->loop->skipped, own.skipped);
  join_levels(r, before);
}

static void leave(Frame *r, const Node *n, Level control) {
  const Level here = now(r, control);
  Loop *l = r->loop;
  if (n->kind == CXCursor_ReturnStmt) {
    r->returned = most(r->returned, here);
  } else if (n->kind == CXCursor_BreakStmt) {
    if (l) l->left = most(l->left, here);
  } else {
    while (l && l->is_switch) l = l->outer;
    if (l) l->skipped = most(l->skipped, here);
  }
  if (here > GROUP) r->left_at = n;
}

static void run_inside(Frame *r, Node *n, Level control);

static void run(Frame *r, Node *n, Level control) {
  if (!step_into(r->c, n)) return;
  run_inside(r, n, control);
  r->c->down--;
}

static void run_inside(Frame *r, Node *n, Level control) {
  switch (n->kind) {
  case CXCursor_IfStmt: branch(r, n, control); return;
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_DoStmt: loop(r, n, control); return;
  case CXCursor_SwitchStmt: choose(r, n, control); return;
  case CXCursor_ReturnStmt: {
    Level x = GROUP;
    for (int i = 0; i < n->count; i++) x = most(x, eval(r, n->child[i], control));
    r->result = most(r->result, most(x, now(r, control)));
    leave(r, n, control);
    return;
  }
  case CXCursor_BreakStmt:
  case CXCursor_ContinueStmt: leave(r, n, control); return;
  case CXCursor_VarDecl:
    if (n->decl && n->decl->function == r->f) {
      const bool shared = type_space(n->type) != 0;
      const Level x = n->init ? eval(r, n->init, control) : GROUP;
      r->of[n->decl->slot] = shared ? GROUP : n->init ? most(x, now(r, control)) : GROUP;
    }
    return;
  default: break;
  }
  if (clang_isExpression(n->kind)) {
    eval(r, n, control);
    return;
  }
  for (int i = 0; i < n->count; i++) run(r, n->child[i], control);
}

/* ---- which variables have another name ------------------------------------------------------- */

static bool is_private_pointer(CXType type) {
  type = clang_getCanonicalType(type);
  return (type.kind == CXType_Pointer || type.kind == CXType_LValueReference) &&
         type_space(clang_getPointeeType(type)) == 0;
}

static bool holds_address(CXType type);

static enum CXVisitorResult field_of(CXCursor field, CXClientData found) {
  *(bool *)found = holds_address(clang_getCursorType(field));
  return *(bool *)found ? CXVisit_Break : CXVisit_Continue;
}

/* Is a value of this type an address of PRIVATE memory, or a struct or an array with one? */
static bool holds_address(CXType type) {
  type = clang_getCanonicalType(type);
  bool found = is_private_pointer(type);
  if (type.kind == CXType_ConstantArray) return holds_address(clang_getArrayElementType(type));
  if (type.kind == CXType_Record) clang_Type_visitFields(type, field_of, &found);
  return found;
}

static void mark_all(const Node *n) {
  if (n->kind == CXCursor_DeclRefExpr && n->decl) n->decl->pointed = true;
  for (int i = 0; i < n->count; i++) mark_all(n->child[i]);
}

/* The variable that is given for a parameter which means it, and not its value. */
static Decl *given_place(const Function *f, const Node *call, int i) {
  if (i + 1 >= call->count || !is_private_pointer(f->params[i]->type)) return NULL;
  return (Decl *)(uintptr_t)node_base(call->child[i + 1]);
}

/* f(a, a): two of its parameters are one variable, and it may store to one of them.  True where
** that was not known yet. */
static bool mark_given_twice(const Function *f, const Node *n) {
  bool news = false;
  for (int i = 0; i < f->param_count; i++)
    for (int j = i + 1; j < f->param_count; j++) {
      const Decl *a = given_place(f, n, i), *b = given_place(f, n, j);
      if (!a || !b || (a != b && !(a->pointed && b->pointed)) ||
          (!takes_place(f->params[i]) && !takes_place(f->params[j])))
        continue;
      news = news || !f->params[i]->pointed || !f->params[j]->pointed;
      f->params[i]->pointed = f->params[j]->pointed = true;
    }
  return news;
}

/* An argument's address is not kept, unless the function gives it back, which then is a
** variable's value or a place without a name; what the function stores there, the call says. */
static bool find_pointed(const Node *n) {
  bool news = false;
  if (n->kind == CXCursor_VarDecl && n->decl && n->init && type_space(n->type) == 0 &&
      holds_address(n->decl->type)) {
    n->decl->pointed = true;
    mark_all(n->init);
  } else if (n->kind == CXCursor_BinaryOperator && n->count == 2 &&
             n->op == CXBinaryOperator_Assign && holds_address(node_strip(n->child[0])->type)) {
    mark_all(n);
  } else if (n->kind == CXCursor_CallExpr && n->decl && n->decl->kind == DECL_FUNCTION) {
    news = mark_given_twice(n->decl->function, n);
  }
  for (int i = 0; i < n->count; i++) news = find_pointed(n->child[i]) || news;
  return news;
}

void mark_pointed(Check *c) {
  bool news;
  do { /* what a function is given twice, it may give on; marks are only ever added */
    news = false;
    for (const Function *f = c->tree->functions; f; f = f->next)
      if (f->body) news = find_pointed(f->body) || news;
  } while (news);
}

void check_uniform(Check *c) {
  for (const Function *f = c->tree->functions; f; f = f->next) {
    if (!f->is_body || (!f->barrier && !f->lane_op)) continue;
    variant_set(c, f->variant);
    c->steps = 0;
    Frame r = {.c = c, .f = f, .of = arena_alloc(c->a, (size_t)f->slot_count + 1)};
    run(&r, f->body, GROUP);
  }
}

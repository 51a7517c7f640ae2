/* value.c: the integers that a body's expressions make.
**
** A function of the library is walked through at each call, with the call's arguments; the same call
** a second time has the same outcome.  What a pointer may mean, and what memory holds, is not
** known. */
#include "body/flow.h"

#include <math.h>
#include <string.h>

/* ---- structs --------------------------------------------------------------------------------- */

static void add_member(Walk *w, Value *v, const char *path, Range r) {
  GROW(w->flow->c->a, v->members, v->count, v->room);
  v->members[v->count++] = (Member){path, r};
}

static const char *path_in(Walk *w, const char *outer, const char *path) {
  return outer[0] ? arena_printf(w->flow->c->a, "%s.%s", outer, path) : path;
}

typedef struct Names {
  Arena *a;
  int count, room;
  const char **names;
} Names;

static enum CXVisitorResult name_field(CXCursor field, CXClientData data) {
  Names *f = data;
  CXString s = clang_getCursorSpelling(field);
  GROW(f->a, f->names, f->count, f->room);
  f->names[f->count++] = arena_strdup(f->a, clang_getCString(s));
  clang_disposeString(s);
  return CXVisit_Continue;
}

/* type{a, b}: its values by the names of the type's fields. */
static Value listed(Walk *w, const Node *n) {
  Value v = {.range = range_any(n)};
  Names f = {.a = w->flow->c->a};
  clang_Type_visitFields(clang_getCanonicalType(n->type), name_field, &f);
  for (int i = 0; i < n->count; i++) {
    const Value x = flow_value(w, n->child[i]);
    if (i >= f.count) continue;
    if (x.count == 0) add_member(w, &v, f.names[i], x.range);
    for (int j = 0; j < x.count; j++)
      add_member(w, &v, path_in(w, f.names[i], x.members[j].path), x.members[j].range);
  }
  return v;
}

static Value variable_members(Walk *w, const Node *n) {
  Value v = {.range = range_any(n)};
  for (int i = cell_of_slot(w->f->slot_count); i < w->f->cell_count; i++)
    if (w->f->cells[i].decl == n->decl) add_member(w, &v, w->f->cells[i].path, w->now->cell[i]);
  return v;
}

static void store_cell(Walk *w, int cell, Range r, bool whole) {
  Range *to = &w->now->cell[cell];
  *to = whole ? r : range_either(*to, r);
  if (!whole) to->gap = 0;
  to->stored = ++w->flow->stores;
}

Range unknown_cell(const Function *f, int cell) { return range_of_kind(f->cells[cell].kind); }

/* A struct, or (outer: "a.") a struct in one: what the value does not say is not known. */
static void store_members(Walk *w, const Decl *d, const char *outer, const Value *v, bool whole) {
  const size_t len = strlen(outer);
  for (int i = cell_of_slot(w->f->slot_count); i < w->f->cell_count; i++) {
    if (w->f->cells[i].decl != d || strncmp(w->f->cells[i].path, outer, len) != 0) continue;
    Range r = unknown_cell(w->f, i);
    for (int j = 0; v && j < v->count; j++)
      if (strcmp(v->members[j].path, w->f->cells[i].path + len) == 0) r = v->members[j].range;
    store_cell(w, i, r, whole);
  }
}

static void forget(Walk *w, const Decl *d) {
  if (!has_cell(w->f, d)) return;
  store_cell(w, cell_of_slot(d->slot), unknown_cell(w->f, cell_of_slot(d->slot)), true);
  store_members(w, d, "", NULL, true);
}

/* ---- stores ---------------------------------------------------------------------------------- */

static void store(Walk *w, const Node *to, const Value *v) {
  const Node *place = node_strip(to);
  const int cell = cell_of(w->f, place);
  if (place->kind != CXCursor_DeclRefExpr) flow_value(w, place);
  bool whole = true;
  for (const Node *n = place; n && n->kind != CXCursor_DeclRefExpr;
       n = n->count ? node_strip(n->child[0]) : NULL)
    whole = whole && n->kind == CXCursor_MemberRefExpr;
  const Decl *d = node_base(place);
  if (place->canonical == CXType_Record) {
    const bool is_member = place->kind == CXCursor_MemberRefExpr;
    const char *path = is_member ? member_path(w->flow->c, place, &d) : NULL;
    if (has_cell(w->f, d))
      store_members(w, d, path ? arena_printf(w->flow->c->a, "%s.", path) : "", v, whole);
    return;
  }
  if (cell >= 0) store_cell(w, cell, range_as(place, v->range), whole);
  if (cell < 0 && v->range.wrapped && !w->pointed.wrapped) w->pointed = v->range;
}

void flow_declare(Walk *w, const Node *n) {
  const Decl *d = n->decl;
  const Value v = n->init ? flow_value(w, n->init) : (Value){.range = range_any(n)};
  if (!has_cell(w->f, d) || d->pointed) return;
  const int cell = cell_of_slot(d->slot);
  if (n->canonical == CXType_ConstantArray) {
    store_cell(w, cell, n->init ? v.range : unknown_cell(w->f, cell), true);
    store_members(w, d, "", NULL, true);
    return;
  }
  store_cell(w, cell, range_as(n, v.range), true);
  if (!n->init) w->now->cell[cell] = (Range){.known = true, .stored = w->flow->stores};
  store_members(w, d, "", &v, true);
}

/* ---- calls ----------------------------------------------------------------------------------- */

typedef struct Walked { /* a function that was walked through: with what, and what came of it */
  int turn, depth;
  const Value *args;
  Sources under[CONDITIONS_MOST];
  Range words[INDEX_WORDS];
  Value result;
  Range *after; /* its parameters */
  int count;
  const Finding *findings;
  struct Walked *next;
} Walked;

static bool same_value(const Value *a, const Value *b) {
  if (!range_same(a->range, b->range) || a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->members[i].path, b->members[i].path) != 0 ||
        !range_same(a->members[i].range, b->members[i].range))
      return false;
  return true;
}

static const Walked *walked_before(const Walk *w, Function *f, const Value *args) {
  if (f->walked && f->walked->turn != w->flow->c->turn) f->walked = NULL; /* of another walk */
  for (const Walked *x = f->walked; x; x = x->next) {
    if (x->depth != w->now->depth) continue;
    bool same = memcmp(x->under, w->now->under, (size_t)x->depth * sizeof *x->under) == 0;
    for (int i = 0; i < f->param_count && same; i++) same = same_value(&x->args[i], &args[i]);
    for (int i = 0; i < INDEX_WORDS && same; i++) same = range_same(x->words[i], w->now->cell[i]);
    if (same) return x;
  }
  return NULL;
}

static bool points(const Decl *param) {
  const CXType type = clang_getCanonicalType(param->type);
  return type.kind == CXType_Pointer || type.kind == CXType_LValueReference;
}

static void begin(Walk *own, const State *from, const Value *args) {
  Function *f = own->f;
  own->now = arena_alloc(own->flow->c->a, sizeof *own->now + (size_t)f->cell_count * sizeof(Range));
  own->now->depth = from->depth;
  memcpy(own->now->under, from->under, sizeof from->under);
  for (int i = 0; i < f->cell_count; i++) own->now->cell[i] = unknown_cell(f, i);
  for (int i = 0; i < INDEX_WORDS; i++) own->now->cell[i] = from->cell[i];
  for (int i = 0; i < f->param_count; i++) {
    const Decl *d = f->params[i];
    if (d->pointed) continue;
    const int cell = cell_of_slot(d->slot);
    if (clang_getCanonicalType(d->type).kind != CXType_Pointer) {
      own->now->cell[cell] = args[i].range;
      store_members(own, d, "", &args[i], true);
    }
    own->now->cell[cell].stored = ++own->flow->stores;
  }
}

static const Walked *walk_through(Walk *w, Function *f, const Value *args) {
  Flow *flow = w->flow;
  Walk own = {.flow = flow, .f = f, .result = {.range = {.high = U64_MOST, .from = SOURCE_ANY}}};
  const int mark = flow->count, base = flow->base;
  Walked *x = arena_alloc(flow->c->a, sizeof *x);
  *x = (Walked){.turn = flow->c->turn, .depth = w->now->depth, .args = args, .next = f->walked};
  memcpy(x->under, w->now->under, sizeof x->under);
  memcpy(x->words, w->now->cell, sizeof x->words);
  x->after = arena_alloc(flow->c->a, ((size_t)f->param_count + 1) * sizeof *x->after);
  begin(&own, w->now, args);
  flow->base = mark;
  flow->run(&own, f->body);
  flow->base = base;
  x->result = own.result;
  for (int i = 0; i < f->param_count; i++) {
    const int cell = cell_of_slot(f->params[i]->slot);
    x->after[i] =
        own.now->dead || f->params[i]->pointed ? unknown_cell(f, cell) : own.now->cell[cell];
  }
  x->count = flow->count - mark;
  Finding *kept = arena_alloc(flow->c->a, ((size_t)x->count + 1) * sizeof *kept);
  if (x->count) memcpy(kept, flow->findings + mark, (size_t)x->count * sizeof *kept);
  x->findings = kept;
  flow->count = mark;
  f->walked = x;
  return x;
}

/* What a called function may have changed. */
static void give_back(Walk *w, const Function *f, const Node *n, const Range *after) {
  for (int i = 0; i + 1 < n->count && i < f->param_count; i++) {
    if (!points(f->params[i])) continue;
    const CXType to = clang_getPointeeType(clang_getCanonicalType(f->params[i]->type));
    if (clang_isConstQualifiedType(to)) continue;
    const Node *arg = node_strip(n->child[i + 1]);
    const int cell = arg->canonical == CXType_Record || arg->canonical == CXType_ConstantArray
                         ? -1
                         : cell_of(w->f, arg);
    if (cell >= 0 && after && clang_getCanonicalType(f->params[i]->type).kind != CXType_Pointer) {
      const Value v = {.range = after[i]};
      store(w, arg, &v);
    } else {
      forget(w, node_base(arg));
    }
  }
}

static bool is_memory(const Node *n) {
  return n->canonical == CXType_Pointer &&
         type_space(clang_getPointeeType(clang_getCanonicalType(n->type))) == 1;
}

/* A word of the language: what is known of its value. */
static Range word_range(Walk *w, const Node *n, const Value *args, int count) {
  static const char *const up_to_wave[] = {"popcount", "lanes_count", "lanes_first",
                                           "lanes_before"};
  const char *name = n->decl->name;
  Range r = range_any(n);
  if (count == 2 && (strcmp(name, "min") == 0 || strcmp(name, "max") == 0))
    return range_min_max(n, name[1] == 'i', args[0].range, args[1].range);
  if (strncmp(name, "shuffle_", 8) == 0 && count == 2) { /* another lane's */
    r = args[0].range;
    r.gap = 0;
    return r;
  }
  for (size_t i = 0; i < sizeof up_to_wave / sizeof *up_to_wave; i++)
    if (strcmp(name, up_to_wave[i]) == 0) r.high = 64, r.known = true;
  bool memory = false;
  for (int i = 1; i < n->count; i++) memory = memory || is_memory(n->child[i]);
  for (int i = 1; memory && i < n->count; i++)
    if (n->child[i]->canonical == CXType_UInt) index_used(w, args[i - 1].range);
  return r;
}

static Value call(Walk *w, const Node *n) {
  Function *f = n->decl->function;
  const int given = n->count - 1, room = given > f->param_count ? given : f->param_count;
  Value *args = arena_alloc(w->flow->c->a, ((size_t)room + 1) * sizeof *args);
  for (int i = 0; i < given; i++) args[i] = flow_value(w, n->child[i + 1]);
  if (!f->body) {
    const Value v = {.range = word_range(w, n, args, given)};
    give_back(w, f, n, NULL);
    return v;
  }
  if (w->now->dead) return (Value){.range = range_any(n)};
  for (int i = 0; i < given && i < f->param_count; i++)
    if (is_32(clang_getCanonicalType(f->params[i]->type).kind))
      args[i].range = range_as(n->child[i + 1], args[i].range);
  const Walked *x = walked_before(w, f, args);
  if (!x) x = walk_through(w, f, args);
  for (int i = 0; i < x->count; i++) flow_find(w->flow, x->findings[i]);
  give_back(w, f, n, x->after);
  return x->result;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static Value plain(Range r) { return (Value){.range = r}; }

/* What has several names holds what was stored to any such. */
static Range pointed_to(const Walk *w, const Node *n) {
  Range r = range_any(n);
  if (!is_32(n->canonical)) return r;
  r.wrapped = w->pointed.wrapped;
  r.reached = w->pointed.reached;
  return r;
}

static Range name_range(Walk *w, const Node *n) {
  const Decl *d = n->decl;
  int64_t value;
  if (!d) return range_any(n);
  if (d->kind == DECL_INDEX) return w->now->cell[d->index];
  if (d->kind == DECL_CONSTANT || d->kind == DECL_WAVE) {
    if (node_constant(w->flow->c, n, w->flow->c->wave, &value) && value >= 0)
      return range_number((double)value);
    return range_any(n);
  }
  const int cell = cell_of(w->f, n);
  return cell >= 0 ? w->now->cell[cell] : pointed_to(w, n);
}

static Range subscript(Walk *w, const Node *n) {
  const Node *base = node_strip(n->child[0]);
  const Range at = flow_range(w, n->child[1]);
  if (base->kind != CXCursor_DeclRefExpr) flow_value(w, base);
  if (is_memory(n->child[0])) {
    index_used(w, at);
    Range r = range_any(n);
    if (clang_isConstQualifiedType(clang_getPointeeType(clang_getCanonicalType(n->child[0]->type))))
      r.from = 0; /* an input may hold anything */
    return r;
  }
  if (base->canonical == CXType_ConstantArray) check_end(w, n, base, at);
  const int cell = type_space(base->type) == 0 ? cell_of(w->f, n) : -1;
  Range r = cell >= 0 ? w->now->cell[cell] : range_any(n);
  r.gap = 0;
  return r;
}

/* The right side of && and ||, or a choice: only where the left side says so. */
static Value under(Walk *w, const Node *n, const Node *cond, Range value, bool holds) {
  State *before = state_copy(w, w->now);
  state_narrow(w, cond, holds);
  state_under(w->now, value.from);
  const Value v = flow_value(w, n);
  state_join(w, before, w->now, before);
  state_drop(w, w->now);
  w->now = before;
  return v;
}

static Range logic(Walk *w, const Node *n) {
  const Range left = flow_range(w, n->child[0]);
  const bool is_and = n->op == CXBinaryOperator_LAnd;
  if (range_is_number(left) && (left.low != 0) != is_and) return left;
  const Range right = under(w, n->child[1], n->child[0], left, is_and).range;
  if (range_is_number(left)) return right;
  if (range_is_number(right) && (right.low != 0) != is_and) return right;
  return (Range){.high = 1, .known = true, .from = left.from | right.from};
}

static Value choice(Walk *w, const Node *n) {
  const Range cond = flow_range(w, n->child[0]);
  if (range_is_number(cond)) return flow_value(w, n->child[cond.low != 0 ? 1 : 2]);
  const Value a = under(w, n->child[1], n->child[0], cond, true),
              b = under(w, n->child[2], n->child[0], cond, false);
  Value v = {.range = range_either(a.range, b.range)};
  v.range.from |= cond.from;
  for (int i = 0; i < a.count; i++)
    for (int j = 0; j < b.count; j++)
      if (strcmp(a.members[i].path, b.members[j].path) == 0)
        add_member(w, &v, a.members[i].path, range_either(a.members[i].range, b.members[j].range));
  return v;
}

static bool same_place(const Walk *w, const Node *a, const Node *b) {
  const int cell = cell_of(w->f, node_strip_casts(a));
  a = node_strip_casts(a);
  b = node_strip_casts(b);
  return cell >= 0 && a->kind != CXCursor_ArraySubscriptExpr && cell_of(w->f, b) == cell &&
         a->kind == b->kind;
}

/* low + (high - low) / 2: no more than high, and less where low is.  NULL: it is nothing of that
** kind. */
static const Node *upper_end(const Walk *w, const Node *from, const Node *more, bool *halved) {
  more = node_strip_casts(more);
  *halved = more && more->kind == CXCursor_BinaryOperator && more->count == 2 &&
            (more->op == CXBinaryOperator_Div || more->op == CXBinaryOperator_Shr);
  if (*halved) more = node_strip_casts(more->child[0]);
  const bool difference = more && more->kind == CXCursor_BinaryOperator && more->count == 2 &&
                          more->op == CXBinaryOperator_Sub;
  return difference && same_place(w, from, more->child[1]) ? more->child[0] : NULL;
}

static Range sum_of(Walk *w, const Node *n, Range a, Range b) {
  bool halved;
  const Node *end = upper_end(w, n->child[0], n->child[1], &halved);
  const Range from = end ? a : b;
  if (!end) end = upper_end(w, n->child[1], n->child[0], &halved);
  if (!end) return range_binary(n, n->op, a, b);
  Range to = flow_peek(w, end, w->now);
  if (halved && to.high > 0) to.high--;
  return range_either(from, to);
}

/* n - n % 4: a multiple, and no more than n's largest one. */
static Range difference_of(Walk *w, const Node *n, Range a, Range b) {
  Range r = range_binary(n, n->op, a, b);
  const Node *rest = node_strip_casts(n->child[1]);
  if (rest->kind != CXCursor_BinaryOperator || rest->op != CXBinaryOperator_Rem ||
      rest->count != 2 || !same_place(w, n->child[0], rest->child[0]))
    return r;
  const Range by = flow_peek(w, rest->child[1], w->now);
  if (range_is_number(by) && by.low > 0) r.high -= fmod(r.high, by.low);
  return r;
}

static Range binary(Walk *w, const Node *n) {
  if (n->op == CXBinaryOperator_LAnd || n->op == CXBinaryOperator_LOr) return logic(w, n);
  if (n->op == CXBinaryOperator_Assign) {
    const Value v = flow_value(w, n->child[1]);
    store(w, n->child[0], &v);
    return v.range;
  }
  const Range a = flow_range(w, n->child[0]), b = flow_range(w, n->child[1]);
  if (n->op == CXBinaryOperator_Comma) return b;
  if (n->canonical == CXType_Pointer) {
    if (is_memory(n)) index_used(w, is_memory(n->child[0]) ? b : a);
    return range_any(n);
  }
  if (n->op == CXBinaryOperator_Add) return sum_of(w, n, a, b);
  return n->op == CXBinaryOperator_Sub ? difference_of(w, n, a, b) : range_binary(n, n->op, a, b);
}

/* a += b, a *= b ...: the operator that it is made of. */
static int operator_of(int op) {
  switch (op) {
  case CXBinaryOperator_AddAssign: return CXBinaryOperator_Add;
  case CXBinaryOperator_SubAssign: return CXBinaryOperator_Sub;
  case CXBinaryOperator_MulAssign: return CXBinaryOperator_Mul;
  case CXBinaryOperator_DivAssign: return CXBinaryOperator_Div;
  case CXBinaryOperator_RemAssign: return CXBinaryOperator_Rem;
  case CXBinaryOperator_ShlAssign: return CXBinaryOperator_Shl;
  case CXBinaryOperator_ShrAssign: return CXBinaryOperator_Shr;
  case CXBinaryOperator_AndAssign: return CXBinaryOperator_And;
  default: return CXBinaryOperator_Xor;
  }
}

/* Made of dims, none of which has a max of its own. */
static bool has_no_max(const Check *c, Sources from) {
  bool any = false;
  for (int i = 0; i < c->k->dim_count; i++) {
    if (!(from & source_bit(SOURCE_DIMS + i))) continue;
    if (c->dim_high[i] < UINT32_MAX) return false;
    any = true;
  }
  return any;
}

/* i += THREADS where i < D, and D has no max: it may be 2^32 - 1, but nobody's row is, and the
** commonest loop of all is not refused for it. */
static Range step_of(Walk *w, const Node *n, int op, Range a, Range b) {
  const double step_most = 65536;
  Range r = range_binary(n, op, a, b);
  if (op == CXBinaryOperator_Add && r.wrapped == n && a.high < U32_MOST && range_is_number(b) &&
      b.high <= step_most && has_no_max(w->flow->c, a.from))
    r.wrapped = NULL;
  return r;
}

static Range step(Walk *w, const Node *n) {
  const bool up = n->op == CXUnaryOperator_PostInc || n->op == CXUnaryOperator_PreInc;
  const Range a = flow_range(w, n->child[0]);
  if (n->canonical == CXType_Pointer) return range_any(n);
  const Value v =
      plain(range_binary(n, up ? CXBinaryOperator_Add : CXBinaryOperator_Sub, a, range_number(1)));
  store(w, n->child[0], &v);
  return n->op == CXUnaryOperator_PostInc || n->op == CXUnaryOperator_PostDec ? a : v.range;
}

static Range compound(Walk *w, const Node *n) {
  const Range a = flow_range(w, n->child[0]), b = flow_range(w, n->child[1]);
  if (n->canonical == CXType_Pointer) {
    if (is_memory(n)) index_used(w, b);
    return range_any(n);
  }
  const Value v = plain(step_of(w, n, operator_of(n->op), a, b));
  store(w, n->child[0], &v);
  return v.range;
}

static Range each_child(Walk *w, const Node *n) {
  Range r = range_any(n);
  r.from = 0;
  for (int i = 0; i < n->count; i++) r.from |= flow_range(w, n->child[i]).from;
  return r;
}

/* { a, b }: one of them, or 0 for what it leaves out. */
static Range any_child(Walk *w, const Node *n) {
  Range r = range_number(0);
  for (int i = 0; i < n->count; i++) r = range_either(r, flow_range(w, n->child[i]));
  return r;
}

/* f(x).a */
static Value member_of(Walk *w, const Node *n) {
  Value v = {.range = range_any(n)};
  if (n->count == 0) return v;
  const Value whole = flow_value(w, n->child[n->count - 1]);
  const size_t len = strlen(n->name);
  for (int i = 0; i < whole.count; i++) {
    if (strncmp(whole.members[i].path, n->name, len) != 0) continue;
    if (whole.members[i].path[len] == 0) v.range = whole.members[i].range;
    if (whole.members[i].path[len] == '.')
      add_member(w, &v, whole.members[i].path + len + 1, whole.members[i].range);
  }
  return v;
}

static Range number_of(Walk *w, const Node *n) {
  int64_t value;
  if (node_constant(w->flow->c, n, w->flow->c->wave, &value) && value >= 0)
    return range_number((double)value);
  return range_any(n);
}

/* n is stripped. */
static Value new_value(Walk *w, const Node *n) {
  switch (n->kind) {
  case CXCursor_IntegerLiteral:
  case CXCursor_CXXBoolLiteralExpr:
  case CXCursor_UnaryExpr: return plain(number_of(w, n)); /* sizeof */
  case CXCursor_DeclRefExpr:
    return n->canonical == CXType_Record ? variable_members(w, n) : plain(name_range(w, n));
  case CXCursor_MemberRefExpr: {
    const int cell = cell_of(w->f, n);
    if (cell >= 0 && n->canonical != CXType_Record) {
      if (n->count && node_strip(n->child[0])->kind != CXCursor_DeclRefExpr)
        flow_value(w, n->child[0]);
      return plain(w->now->cell[cell]);
    }
    return member_of(w, n);
  }
  case CXCursor_ArraySubscriptExpr:
    if (n->count == 2) return plain(subscript(w, n));
    break;
  case CXCursor_InitListExpr:
    return n->canonical == CXType_Record ? listed(w, n) : plain(any_child(w, n));
  case CXCursor_CallExpr:
    if (n->decl && n->decl->kind == DECL_FUNCTION) return call(w, n);
    if (n->canonical == CXType_Record && n->count == 1) return flow_value(w, n->child[0]);
    break;
  case CXCursor_ConditionalOperator:
    if (n->count == 3) return choice(w, n);
    break;
  case CXCursor_BinaryOperator:
    if (n->count == 2) return plain(binary(w, n));
    break;
  case CXCursor_CompoundAssignOperator:
    if (n->count == 2) return plain(compound(w, n));
    break;
  case CXCursor_UnaryOperator:
    if (is_step(n) && n->count) return plain(step(w, n));
    if (n->op == CXUnaryOperator_Plus && n->count) return flow_value(w, n->child[0]);
    if (n->op == CXUnaryOperator_Deref) {
      each_child(w, n);
      return plain(pointed_to(w, n));
    }
    break;
  default: break;
  }
  if (is_cast(n) && cast_operand(n)) {
    Value v = flow_value(w, cast_operand(n));
    if (n->canonical != CXType_Record) v.range = range_as(n, v.range);
    return v;
  }
  return plain(each_child(w, n));
}

Value flow_value(Walk *w, const Node *n) {
  n = node_strip(n);
  if (!step_into(w->flow->c, n)) return plain(range_any(n));
  const Value v = new_value(w, n);
  w->flow->c->down--;
  return v;
}

Range flow_range(Walk *w, const Node *n) { return flow_value(w, n).range; }

Range flow_peek(Walk *w, const Node *n, const State *at) {
  State *const now = w->now;
  const int mark = w->flow->count, base = w->flow->base;
  w->now = state_copy(w, at);
  w->flow->base = mark;
  const Range r = flow_range(w, n);
  state_drop(w, w->now);
  w->now = now;
  w->flow->base = base;
  w->flow->count = mark;
  return r;
}

/* names.c: the names that a body declares, and the numbers that it writes where the
** wavefront's width is meant. */
#include "body/reading.h"

#include <string.h>

#include "base/macros.h"

/* ---- declared names -------------------------------------------------------------------------- */

/* C++20 has them: some backend's compiler may be there already. */
static bool is_later_keyword(const char *name) {
  static const char *const words[] = {"char8_t", "co_await",  "co_return", "co_yield",
                                      "concept", "consteval", "constinit", "requires"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

static const char *whose(Check *c, const char *name, bool in_body) {
  const Kernel *k = c->k;
  const int len = (int)strlen(name);
  if (strncmp(name, "kg_", 3) == 0 || strncmp(name, "KG_", 3) == 0)
    return "kept for the generated text (kg_, KG_)";
  if (strstr(name, "__") || (name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z'))
    return "kept for compilers";
  if (is_language_word(c->l, name, len)) return "a word of the kernel language";
  if (is_later_keyword(name)) return "a reserved word of C++20";
  const char *macro = macro_owner(name);
  if (macro) return arena_printf(c->a, "a word of %s", macro);
  for (int i = 0; i < k->port_count; i++) {
    const Backend *b = k->ports[i].backend;
    for (int j = 0; j < b->reserved_count; j++)
      if (strcmp(b->reserved[j], name) == 0)
        return arena_printf(c->a, "a reserved word of %s", b->title);
  }
  if (!in_body) return NULL;
  if (is_library_name(c->l, name, len, true)) return "a library function or struct";
  for (int i = 0; i < k->arg_count; i++)
    if (strcmp(k->args[i].name, name) == 0) return "an argument of the kernel";
  for (int i = 0; i < k->dim_count; i++)
    if (strcmp(k->dims[i], name) == 0) return "a dim of the kernel";
  for (int i = 0; i < k->scalar_count; i++)
    if (strcmp(k->scalars[i].name, name) == 0) return "a scalar of the kernel";
  for (int i = 0; i < k->type_count; i++)
    if (strcmp(k->types[i].name, name) == 0) return "a type of the kernel";
  for (int i = 0; i < k->const_count; i++)
    if (strcmp(k->consts[i].name, name) == 0) return "a constant of the kernel";
  return NULL;
}

static void check_name(Check *c, unsigned at, const char *name, bool in_body) {
  const char *owner = name[0] ? whose(c, name, in_body) : NULL;
  if (!owner) return;
  FAULT(c, at, D_BODY_NAME, name, owner);
  NOTE(c, "choose another name: in generated text this one means something else on some backend");
}

static void declared_name(Check *c, const Node *n, bool in_body) {
  switch (n->kind) {
  case CXCursor_VarDecl:
    if (n->decl) check_name(c, n->at, n->decl->name, in_body);
    break;
  case CXCursor_StructDecl:
  case CXCursor_FieldDecl:
  case CXCursor_TypedefDecl:
  case CXCursor_TypeAliasDecl:
  case CXCursor_EnumDecl:
  case CXCursor_EnumConstantDecl:
    if (n->name) check_name(c, n->at, n->name, in_body && n->kind != CXCursor_FieldDecl);
    break;
  default: break;
  }
  for (int i = 0; i < n->count; i++) declared_name(c, n->child[i], in_body);
}

/* ---- literal widths --------------------------------------------------------------------------
**
** 32 and 64 are also what tiles and blocks of data have.  A thread's number is taken for a lane's
** only in a function that speaks of waves at all: without lane, wave_index, WAVE, and without an
** operation over lanes (those of the library's group_... functions are its own), no result depends
** on the width.  thread_x is a lane only where a group has one row of threads. */

enum { ASK_LANE = 1, ASK_THREAD = 2, ASK_WAVE = 4 };

static bool speaks_of_waves(const Node *n) {
  const Decl *d = n->decl;
  if (d && n->kind == CXCursor_DeclRefExpr &&
      (d->kind == DECL_WAVE ||
       (d->kind == DECL_INDEX && (d->index == IX_LANE || d->index == IX_WAVE_INDEX))))
    return true;
  if (d && n->kind == CXCursor_CallExpr && d->kind == DECL_FUNCTION && d->function->lane_op &&
      strncmp(d->name, "group_", 6) != 0)
    return true;
  for (int i = 0; i < n->count; i++)
    if (speaks_of_waves(n->child[i])) return true;
  return false;
}

static bool is_row(const Check *c) {
  return expr_is_int(&c->port->threads[1], 1) && expr_is_int(&c->port->threads[2], 1);
}

typedef struct Widths { /* of one function */
  Check *c;
  const Function *f;
  bool waves; /* it speaks of them */
  bool flat;  /* a group is one row of threads */
} Widths;

static unsigned asks_word(const Widths *w, int word) {
  if (word == IX_LANE) return ASK_LANE;
  if (word == IX_WAVE_INDEX) return ASK_WAVE;
  const bool is_thread = word == IX_THREAD || (word == IX_THREAD_X && w->flat);
  return is_thread && w->waves ? ASK_THREAD : 0;
}

/* A number that the text itself has: 32, 31u, 32 - 1, a variable that is one; through so many names
** and operators at most. */
enum { WRITTEN_MOST = 6, ADDED_MOST = 32 };

static bool written_within(Check *c, const Node *n, int most, int64_t *value) {
  n = node_strip_casts(n);
  int64_t x, y;
  if (!n || most == 0) return false;
  if (node_literal(c, n, value)) return true;
  const Decl *d = n->kind == CXCursor_DeclRefExpr ? n->decl : NULL;
  if (d && d->kind == DECL_VARIABLE && d->is_const && d->init)
    return written_within(c, d->init, most - 1, value);
  return n->kind == CXCursor_BinaryOperator && n->count == 2 &&
         written_within(c, n->child[0], most - 1, &x) &&
         written_within(c, n->child[1], most - 1, &y) && node_constant(c, n, c->wave, value);
}

static bool written_number(Check *c, const Node *n, int64_t *value) {
  return written_within(c, n, WRITTEN_MOST, value);
}

/* Which of lane, thread, wave_index a value is made of, through variables never assigned; a number
** more or less is no other value. */
static unsigned asks(const Widths *w, const Node *n) {
  n = node_strip_casts(n);
  int added = 0;
  for (const Decl *before = NULL; n;) {
    const Decl *d = n->kind == CXCursor_DeclRefExpr ? n->decl : NULL;
    if (d && d->kind == DECL_INDEX) return asks_word(w, d->index);
    int64_t v;
    if (n->kind == CXCursor_BinaryOperator && n->count == 2 && added++ < ADDED_MOST &&
        (n->op == CXBinaryOperator_Add || n->op == CXBinaryOperator_Sub ||
         n->op == CXBinaryOperator_Or || n->op == CXBinaryOperator_Xor ||
         (n->op == CXBinaryOperator_Mul && written_number(w->c, n->child[1], &v) && v == 1))) {
      const bool first = written_number(w->c, n->child[0], &v);
      if (!first && !written_number(w->c, n->child[1], &v)) return 0;
      n = node_strip_casts(n->child[first ? 1 : 0]);
      continue;
    }
    if (!d || d->kind != DECL_VARIABLE || !d->init || d->loop || !d->is_const) return 0;
    if (before && d->at >= before->at) return 0; /* made of itself */
    before = d;
    n = node_strip_casts(d->init);
  }
  return 0;
}

static void width_fault(Check *c, const Node *n, const char *instead) {
  n = node_strip(n);
  int64_t v = 0;
  const char *shown = node_number(c, n);
  if (n->kind != CXCursor_IntegerLiteral && written_number(c, n, &v))
    shown = arena_printf(c->a, "%lld", (long long)v);
  FAULT(c, n->at, D_WIDTH_LITERAL, shown);
  NOTE(c,
       "write %s; a number that means something else gets a name among the specification's consts",
       instead);
}

static bool is_comparison(int op) {
  return op == CXBinaryOperator_LT || op == CXBinaryOperator_GT || op == CXBinaryOperator_LE ||
         op == CXBinaryOperator_GE || op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE;
}

/* thread % 32, thread / 32, thread & 31, thread >> 5, wave_index * 32, wave_index << 5, lane < 32,
** lane == 31, thread < 32. */
static void check_operation(const Widths *w, const Node *n) {
  Check *c = w->c;
  if (n->count != 2) return;
  for (int side = 0; side < 2; side++) {
    int64_t v;
    const Node *number = n->child[side];
    if (!written_number(c, number, &v)) continue;
    const unsigned ask = asks(w, n->child[1 - side]);
    if (!ask) continue;
    const bool full = v == 32 || v == 64, last = v == 31 || v == 63, shift = v == 5 || v == 6;
    switch (n->op) {
    case CXBinaryOperator_Rem:
    case CXBinaryOperator_Div:
      if (side == 1 && full)
        width_fault(c, number,
                    n->op == CXBinaryOperator_Rem ? "lane, or % WAVE" : "wave_index, or / WAVE");
      break;
    case CXBinaryOperator_And:
      if (last) width_fault(c, number, "lane, or % WAVE");
      break;
    case CXBinaryOperator_Shr:
      if (side == 1 && shift) width_fault(c, number, "wave_index, or / WAVE");
      break;
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_Shl:
      if (ask & ASK_WAVE && (n->op == CXBinaryOperator_Mul ? full : side == 1 && shift))
        width_fault(c, number, "wave_index * WAVE");
      break;
    default:
      if (!is_comparison(n->op)) break;
      if (ask & ASK_LANE && (full || last))
        width_fault(c, number, "WAVE or WAVE - 1");
      else if (ask & ASK_THREAD && (v == 32 || v == 31))
        width_fault(c, number, "wave_index == 0, or WAVE");
    }
  }
}

/* The same word with 8, 4, 2 and 1 too: with 16 they fold 32 lanes. */
static unsigned folds_by(Check *c, const Node *n, const char *word) {
  unsigned found = 0;
  int64_t v;
  if (n->kind == CXCursor_CallExpr && n->decl && n->count > 2 && strcmp(n->decl->name, word) == 0 &&
      written_number(c, n->child[2], &v) && v >= 1 && v <= 16)
    found = (unsigned)v;
  for (int i = 0; i < n->count; i++) found |= folds_by(c, n->child[i], word);
  return found;
}

/* for (apart = 16; ..), for (apart = 1; apart < 32; ..) around a shuffle by `apart`. */
static void check_shuffle_loop(Check *c, const Decl *d, bool fold) {
  int64_t v;
  if (fold && d->init && written_number(c, d->init, &v) && (v == 16 || v == 32))
    width_fault(c, d->init, "WAVE / 2");
  const Node *cond = d->loop ? node_strip(d->loop->cond) : NULL;
  if (!cond || cond->kind != CXCursor_BinaryOperator || cond->count != 2) return;
  const Node *left = node_strip_casts(cond->child[0]);
  if (!left || left->decl != d || !written_number(c, cond->child[1], &v)) return;
  const bool below = cond->op == CXBinaryOperator_LT || cond->op == CXBinaryOperator_NE;
  if (below ? v == 32 || v == 64 : cond->op == CXBinaryOperator_LE && (v == 16 || v == 31))
    width_fault(c, cond->child[1], below ? "WAVE" : "WAVE / 2");
}

/* A shuffle's mask, delta or lane: 31, 32, 63, 64, and the 16 that starts a fold of 32 lanes.  Only
** two of the words fold. */
static void check_shuffle(const Widths *w, const Node *n) {
  Check *c = w->c;
  if (n->count < 3) return;
  int64_t v;
  const Node *mask = node_strip_casts(n->child[2]);
  if (!mask) return;
  const bool fold =
      strcmp(n->decl->name, "shuffle_xor") == 0 || strcmp(n->decl->name, "shuffle_down") == 0;
  if (written_number(c, mask, &v)) {
    const bool whole =
        fold && v == 16 && w->f->body && folds_by(c, w->f->body, n->decl->name) == 31;
    if (v == 31 || v == 32 || v == 63 || v == 64 || whole)
      width_fault(c, mask, fold ? "WAVE / 2, or wave_sum(x) and its like" : "WAVE - 1");
    return;
  }
  const Decl *d = mask->kind == CXCursor_DeclRefExpr ? mask->decl : NULL;
  if (d && d->kind == DECL_VARIABLE) check_shuffle_loop(c, d, fold);
}

/* [THREADS / 32] of an array in LOCAL memory: one place a wave.  (One that is too small for the
** waves or lanes that there are is found where it is indexed.) */
static void check_extent(Check *c, const Node *n) {
  int64_t v, whole;
  n = node_strip_casts(n);
  if (!n) return;
  const bool parts = n->kind == CXCursor_BinaryOperator && n->count == 2 &&
                     (n->op == CXBinaryOperator_Div || n->op == CXBinaryOperator_Shr);
  if (parts && written_number(c, n->child[1], &v) && !written_number(c, n->child[0], &whole) &&
      (n->op == CXBinaryOperator_Div ? v == 32 || v == 64 : v == 5 || v == 6))
    width_fault(c, n->child[1], "WAVE");
  for (int i = 0; i < n->count; i++) check_extent(c, n->child[i]);
}

static void check_widths(const Widths *w, const Node *n) {
  if (n->kind == CXCursor_BinaryOperator) check_operation(w, n);
  if (n->kind == CXCursor_CallExpr && n->decl && strncmp(n->decl->name, "shuffle_", 8) == 0)
    check_shuffle(w, n);
  if (n->kind == CXCursor_VarDecl && n->canonical == CXType_ConstantArray &&
      type_space(n->type) == 3)
    for (int i = 0; i < n->count; i++)
      if (n->child[i] != n->init) check_extent(w->c, n->child[i]);
  for (int i = 0; i < n->count; i++) check_widths(w, n->child[i]);
}

void check_names(Check *c) {
  for (const Function *f = c->tree->functions; f; f = f->next) {
    if (!f->body) continue;
    if (!f->is_body) {
      if (f->item < 0 || !item_prefix(&c->l->items[f->item])[0]) /* else texts call it otherwise */
        check_name(c, f->at, f->name, false);
      for (int i = 0; i < f->param_count; i++)
        check_name(c, f->params[i]->at, f->params[i]->name, false);
    }
    declared_name(c, f->body, f->is_body);
    variant_set(c, f->variant);
    const Widths w = {c, f, speaks_of_waves(f->body), is_row(c)};
    check_widths(&w, f->body);
  }
}

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
  if (is_library_name(c->l, name, len)) return "a library function or struct";
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

/* ---- literal widths -------------------------------------------------------------------------- */

enum { ASK_LANE = 1, ASK_THREAD = 2, ASK_WAVE = 4 };

/* Which of lane, thread, wave_index a value is made of, through variables never assigned. */
static unsigned asks(const Node *n) {
  n = node_strip_casts(n);
  for (const Decl *before = NULL; n && n->kind == CXCursor_DeclRefExpr && n->decl;) {
    const Decl *d = n->decl;
    if (d->kind == DECL_INDEX)
      return d->index == IX_LANE                                ? ASK_LANE
             : d->index == IX_WAVE_INDEX                        ? ASK_WAVE
             : d->index == IX_THREAD || d->index == IX_THREAD_X ? ASK_THREAD
                                                                : 0;
    if (d->kind != DECL_VARIABLE || !d->init || d->loop || !d->is_const) return 0;
    if (before && d->at >= before->at) return 0; /* made of itself */
    before = d;
    n = node_strip_casts(d->init); /* a plain other name, not something computed */
  }
  return 0;
}

static void width_fault(Check *c, const Node *literal, int64_t value, const char *instead) {
  (void)value;
  FAULT(c, node_strip(literal)->at, D_WIDTH_LITERAL, node_number(c, node_strip(literal)));
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
static void check_operation(Check *c, const Node *n) {
  if (n->count != 2) return;
  for (int side = 0; side < 2; side++) {
    int64_t v;
    const Node *literal = n->child[side];
    if (!node_literal(c, literal, &v)) continue;
    const unsigned ask = asks(n->child[1 - side]);
    if (!ask) continue;
    const bool full = v == 32 || v == 64, last = v == 31 || v == 63, shift = v == 5 || v == 6;
    switch (n->op) {
    case CXBinaryOperator_Rem:
    case CXBinaryOperator_Div:
      if (side == 1 && full)
        width_fault(c, literal, v,
                    n->op == CXBinaryOperator_Rem ? "lane, or % WAVE" : "wave_index, or / WAVE");
      break;
    case CXBinaryOperator_And:
      if (last) width_fault(c, literal, v, "lane, or % WAVE");
      break;
    case CXBinaryOperator_Shr:
      if (side == 1 && shift) width_fault(c, literal, v, "wave_index, or / WAVE");
      break;
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_Shl:
      if (ask & ASK_WAVE && (n->op == CXBinaryOperator_Mul ? full : side == 1 && shift))
        width_fault(c, literal, v, "wave_index * WAVE");
      break;
    default:
      if (!is_comparison(n->op)) break;
      if (ask & ASK_LANE && (full || last))
        width_fault(c, literal, v, "WAVE or WAVE - 1");
      else if (ask & ASK_THREAD && (v == 32 || v == 31))
        width_fault(c, literal, v, "wave_index == 0, or WAVE");
    }
  }
}

/* A shuffle's mask, delta or lane: 31, 32, 63, 64, and the 16 or 32 that starts a fold of a whole
** wave.  Only these two words fold. */
static void check_shuffle(Check *c, const Node *n) {
  if (n->count < 3) return;
  int64_t v;
  const Node *mask = node_strip_casts(n->child[2]);
  if (!mask) return;
  const bool fold =
      strcmp(n->decl->name, "shuffle_xor") == 0 || strcmp(n->decl->name, "shuffle_down") == 0;
  if (node_literal(c, mask, &v)) {
    if (v == 31 || v == 32 || v == 63 || v == 64 || (fold && v == 16))
      width_fault(c, mask, v, fold ? "WAVE / 2, or wave_sum(x) and its like" : "WAVE - 1");
    return;
  }
  const Decl *d = mask->kind == CXCursor_DeclRefExpr ? mask->decl : NULL;
  if (fold && d && d->kind == DECL_VARIABLE && d->init && node_literal(c, d->init, &v) &&
      (v == 16 || v == 32))
    width_fault(c, d->init, v, "WAVE / 2");
}

static void check_extent(Check *c, const Node *n) {
  int64_t v;
  if (n->kind == CXCursor_IntegerLiteral && node_literal(c, n, &v) &&
      (v == 31 || v == 32 || v == 63 || v == 64))
    width_fault(c, n, v, "WAVE");
  for (int i = 0; i < n->count; i++) check_extent(c, n->child[i]);
}

static void check_widths(Check *c, const Node *n) {
  if (n->kind == CXCursor_BinaryOperator) check_operation(c, n);
  if (n->kind == CXCursor_CallExpr && n->decl && strncmp(n->decl->name, "shuffle_", 8) == 0)
    check_shuffle(c, n);
  if (n->kind == CXCursor_VarDecl && n->canonical == CXType_ConstantArray &&
      type_space(n->type) == 3)
    for (int i = 0; i < n->count; i++)
      if (n->child[i] != n->init) check_extent(c, n->child[i]);
  for (int i = 0; i < n->count; i++) check_widths(c, n->child[i]);
}

void check_names(Check *c) {
  for (const Function *f = c->tree->functions; f; f = f->next) {
    if (!f->body) continue;
    if (!f->is_body) {
      check_name(c, f->at, f->name, false);
      for (int i = 0; i < f->param_count; i++)
        check_name(c, f->params[i]->at, f->params[i]->name, false);
    }
    declared_name(c, f->body, f->is_body);
    check_widths(c, f->body);
  }
}

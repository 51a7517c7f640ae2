/* check.c: what a body does with types, pointers and arguments that not all backends would do
** alike. */
#include "body/reading.h"

#include <string.h>

static const char *type_text(Check *c, const Node *n) {
  switch (n->canonical) {
  case CXType_Float16: return "f16";
  case CXType_BFloat16: return "bf16";
  default: break;
  }
  CXString s = clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCanonicalType(n->type)));
  const char *text = clang_getCString(s);
  static const char *const names[][2] = {{"float", "f32"},
                                         {"int", "i32"},
                                         {"unsigned int", "u32"},
                                         {"long long", "i64"},
                                         {"unsigned long long", "u64"},
                                         {"unsigned char", "u8"},
                                         {"signed char", "i8"},
                                         {"short", "i16"},
                                         {"unsigned short", "u16"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i][0]) == 0) {
      clang_disposeString(s);
      return names[i][1];
    }
  const char *copy = arena_strdup(c->a, text);
  clang_disposeString(s);
  return copy;
}

/* ---- storage types --------------------------------------------------------------------------- */

static bool computes(const Node *n) {
  if (n->kind == CXCursor_CompoundAssignOperator) return true;
  return n->kind == CXCursor_BinaryOperator && n->op != CXBinaryOperator_Assign &&
         n->op != CXBinaryOperator_Comma && n->op != CXBinaryOperator_LAnd &&
         n->op != CXBinaryOperator_LOr;
}

static bool computes_unary(const Node *n) {
  return is_step(n) || (n->kind == CXCursor_UnaryOperator && n->op >= CXUnaryOperator_Plus &&
                        n->op <= CXUnaryOperator_LNot);
}

static const Node *storage_operand(const Node *n) {
  for (int i = 0; i < n->count; i++) {
    const Node *x = node_strip(n->child[i]);
    if (is_storage(x->canonical)) return x;
  }
  return NULL;
}

static void check_arithmetic(Check *c, const Node *n) {
  const Node *x = storage_operand(n);
  if (!x) return;
  FAULT(c, n->at, D_STORAGE_ARITHMETIC, type_text(c, x));
  NOTE(c, "f16 and bf16 only store: compute on f32(x), and round once with T(...) or rnd<T>(...)");
}

static void check_conversion(Check *c, const Node *n, const Node *from, bool is_explicit) {
  const bool to_storage = is_storage(n->canonical), from_storage = is_storage(from->canonical);
  if ((!to_storage && !from_storage) || n->canonical == from->canonical ||
      n->canonical == CXType_Invalid || from->canonical == CXType_Invalid)
    return;
  if (from->canonical == CXType_Double || from->canonical == CXType_LongDouble)
    return; /* its literal was a fault already */
  if (!is_explicit) {
    FAULT(c, from->at, D_STORAGE_IMPLICIT, type_text(c, from), type_text(c, n));
    if (from_storage)
      NOTE(c, "write f32(...) around it");
    else
      NOTE(c, "say that it is rounded: T(f32) with the type's own name");
    return;
  }
  int64_t value;
  const bool literal = to_storage && node_literal(c, from, &value);
  if (n->canonical == CXType_Float || from->canonical == CXType_Float || literal) return;
  FAULT(c, n->at, D_STORAGE_CAST, type_text(c, from), type_text(c, n));
  NOTE(c, "storage types convert from and to f32 alone: write %s(f32(...))", type_text(c, n));
}

/* ---- pointers -------------------------------------------------------------------------------- */

static bool says_private(Check *c, unsigned at) {
  const Chunk *chunk = tree_chunk(c->tree, at);
  if (!chunk) return true;
  const char *name = chunk->text + (at - chunk->start), *s = name;
  while (s > chunk->text && !strchr(";{}(,", s[-1])) s--;
  const char *word = strstr(s, "PRIVATE");
  return word && word < name;
}

static void check_declared_pointer(Check *c, const Decl *d) {
  const CXType type = clang_getCanonicalType(d->type);
  if (type.kind != CXType_Pointer && type.kind != CXType_LValueReference &&
      type.kind != CXType_RValueReference)
    return;
  const CXType to = clang_getPointeeType(type);
  if (to.kind == CXType_FunctionProto || to.kind == CXType_FunctionNoProto) {
    FAULT(c, d->at, D_BODY_REFUSED, "a pointer to a function");
    NOTE(c, "Metal has none: call the function, or choose with a constant");
    return;
  }
  if (type_space(to) == 0 && !says_private(c, d->at)) {
    FAULT(c, d->at, D_POINTER_SPACE, type.kind == CXType_Pointer ? "pointer" : "reference",
          d->name);
    NOTE(c, "write GLOBAL, LOCAL or PRIVATE before the type: Metal does not guess where memory is");
  }
}

static void check_pointer_cast(Check *c, const Node *n) {
  const Node *from = cast_operand(n);
  if (!from || n->canonical != CXType_Pointer) return;
  while (from->kind == CXCursor_ParenExpr && from->count == 1) from = from->child[0];
  const CXType to = clang_getPointeeType(clang_getCanonicalType(n->type));
  const CXType of = clang_getPointeeType(clang_getCanonicalType(from->type));
  if (from->canonical != CXType_Pointer || type_space(to) != type_space(of)) {
    FAULT(c, n->at, D_POINTER_CAST, "");
    NOTE(c, "a pointer keeps its address space: GLOBAL and LOCAL memory are apart on Metal");
    return;
  }
  const unsigned roots = node_roots(from);
  for (int i = 0; i < c->k->input_count; i++)
    if (roots >> i & 1 && !clang_isConstQualifiedType(to)) {
      FAULT(c, n->at, D_INPUT_WRITTEN, c->k->args[i].name);
      NOTE(c, "the cast takes const away; inputs are GLOBAL const");
    }
}

/* ---- what the language does not have --------------------------------------------------------- */

static const struct {
  enum CXCursorKind kind;
  const char *what, *instead;
} absent[] = {
    {CXCursor_LambdaExpr, "a lambda", "write a function above the body"},
    {CXCursor_CXXForRangeStmt, "a range-based for", "write for (u32 i = 0; i < n; i++)"},
    {CXCursor_StmtExpr, "a statement expression", "write a function above the body"},
    {CXCursor_CXXMethod, "a member function",
     "a struct holds data only: write a plain function above the body"},
    {CXCursor_Constructor, "a constructor", "a struct holds data only: write name{a, b}"},
    {CXCursor_FunctionDecl, "a function inside of a body",
     "write it above the first statement, or in lib/"},
    {CXCursor_IndirectGotoStmt, "goto", "write a loop or an if"},
    {CXCursor_LabelStmt, "a label", "write a loop or an if"},
    {CXCursor_CXXThisExpr, "this", "a struct holds data only"},
    {CXCursor_CXXNewExpr, "memory allocation", "declare an array whose extent is a constant"},
    {CXCursor_AsmStmt, "inline assembly", "no backend shares it with another"},
};

static void check_absent(Check *c, const Node *n) {
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    if (n->kind == absent[i].kind) {
      FAULT(c, n->at, D_BODY_REFUSED, absent[i].what);
      NOTE(c, "%s", absent[i].instead);
    }
  const Node *callee = n->kind == CXCursor_CallExpr && n->count ? node_strip(n->child[0]) : NULL;
  /* a member that is a struct stands there when it is copied: that is a call of a constructor */
  if (callee && callee->kind == CXCursor_MemberRefExpr && callee->canonical != CXType_Record) {
    FAULT(c, n->at, D_BODY_REFUSED, "a call of a member function");
    NOTE(c, "a struct holds data only: write a plain function above the body");
  }
}

static void check_double(Check *c, const Node *n) {
  if (n->kind != CXCursor_FloatingLiteral ||
      (n->canonical != CXType_Double && n->canonical != CXType_LongDouble))
    return;
  FAULT(c, n->at, D_BODY_DOUBLE, node_number(c, n));
  NOTE(c, "write %sf: Metal has no double, and the others would compute in it", node_number(c, n));
}

/* A base is a struct's alone, so its tokens tell: a library item's too, which no tree holds. */
static void check_bases(Check *c, const char *file, const Token *t, int count) {
  const Token *last[3] = {NULL, NULL, NULL};
  for (int i = 0; i < count; i++) {
    if (token_blank(&t[i]) || token_is(&t[i], "final")) continue;
    const bool is_enum = last[0] && token_is(last[0], "enum");
    if (last[1] && token_is(last[1], "struct") && !is_enum && token_is(&t[i], ":")) {
      FAULT_AT(c, ((Place){file, t[i].line, text_column(t->s, t[i].s)}), D_BODY_REFUSED,
               "a base of a struct");
      NOTE(c, "Metal has none: make the other struct a member");
    }
    last[0] = last[1];
    last[1] = last[2];
    last[2] = &t[i];
  }
}

/* ---- every node ------------------------------------------------------------------------------ */

static void check_node(Check *c, Node *n) {
  check_absent(c, n);
  check_double(c, n);
  const bool arithmetic = computes(n) || computes_unary(n);
  if (arithmetic) check_arithmetic(c, n);
  if (is_cast(n)) {
    const Node *from = cast_operand(n);
    if (from) check_conversion(c, n, node_strip(from), true);
    check_pointer_cast(c, n);
  }
  if (n->kind == CXCursor_UnexposedExpr && n->count == 1) {
    const Node *outer = n->parent;
    while (outer && outer->kind == CXCursor_ParenExpr) outer = outer->parent;
    const bool within_cast = outer && is_cast(outer);
    const bool counted =
        outer && (computes(outer) || computes_unary(outer)) && storage_operand(outer) != NULL;
    if (!within_cast && !counted &&
        !(outer && outer->kind == CXCursor_UnexposedExpr && outer->parent &&
          is_cast(outer->parent)))
      check_conversion(c, n, n->child[0], false);
  }
  if (n->kind == CXCursor_VarDecl && n->decl) check_declared_pointer(c, n->decl);
  for (int i = 0; i < n->count; i++) check_node(c, n->child[i]);
}

/* ---- arguments: inputs used, outputs written ------------------------------------------------- */

typedef struct Use {
  bool used[MAX_ARGS + MAX_DIMS + MAX_SCALARS];
  unsigned written;
  bool changed;
} Use;

static bool add_roots(Decl *d, unsigned roots) {
  const unsigned before = d->roots;
  d->roots |= roots;
  return d->roots != before;
}

static void find_roots(Node *n, Use *u) {
  if (n->kind == CXCursor_VarDecl && n->decl && n->init && is_pointer(n))
    u->changed |= add_roots(n->decl, node_roots(n->init));
  if (is_assignment(n) && n->count == 2 && n->child[0]->canonical == CXType_Pointer) {
    const Node *to = node_strip(n->child[0]);
    if (to->kind == CXCursor_DeclRefExpr && to->decl)
      u->changed |= add_roots(to->decl, node_roots(n->child[1]));
  }
  for (int i = 0; i < n->count; i++) find_roots(n->child[i], u);
}

/* A call writes through each of its pointers to what is not const. */
static void find_call_writes(const Node *n, Use *u) {
  const CXType type = clang_getCanonicalType(n->decl->type);
  for (int i = 1; i < n->count; i++) {
    const CXType p = clang_getCanonicalType(clang_getArgType(type, (unsigned)i - 1));
    const bool points = p.kind == CXType_Pointer || p.kind == CXType_LValueReference;
    if (points && !clang_isConstQualifiedType(clang_getPointeeType(p)))
      u->written |= node_roots(n->child[i]);
  }
}

static void find_uses(const Node *n, Use *u) {
  if (n->kind == CXCursor_DeclRefExpr && n->decl && n->decl->kind == DECL_PARAMETER &&
      n->decl->index >= 0)
    u->used[n->decl->index] = true;
  if ((is_assignment(n) || is_step(n)) && n->count) {
    const Node *to = node_strip(n->child[0]);
    if (to->kind != CXCursor_DeclRefExpr) u->written |= node_roots(to);
  }
  if (n->kind == CXCursor_CallExpr && n->decl && n->decl->kind == DECL_FUNCTION)
    find_call_writes(n, u);
  for (int i = 0; i < n->count; i++) find_uses(n->child[i], u);
}

static void check_arguments(Check *c, Function *body) {
  const Kernel *k = c->k;
  Use u = {0};
  for (int i = 0; i < k->arg_count && i < body->param_count; i++) body->params[i]->roots = 1u << i;
  do { /* roots are only ever added, so this ends */
    u.changed = false;
    find_roots(body->body, &u);
  } while (u.changed);
  find_uses(body->body, &u);
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *x = &k->args[i];
    if (!x->output && !u.used[i]) {
      FAULT_AT(c, ((Place){k->file, k->arg_line[i], 0}), D_ARG_UNUSED, "input", x->name, c->path);
      NOTE(c, "take it out of the specification, or read it");
    }
    if (x->output && !(u.written >> i & 1)) {
      FAULT_AT(c, ((Place){k->file, k->arg_line[i], 0}), D_OUTPUT_UNWRITTEN, x->name, c->path);
      NOTE(c, "an output holds nothing until the body stores to it");
    }
  }
  for (int i = 0; i < k->scalar_count; i++)
    if (!u.used[k->arg_count + k->dim_count + i]) {
      FAULT_AT(c, ((Place){k->file, k->line, 0}), D_ARG_UNUSED, "scalar", k->scalars[i].name,
               c->path);
      NOTE(c, "take it out of the specification, or read it");
    }
}

void check_tree(Check *c) {
  check_bases(c, c->path, c->tokens, c->token_count);
  for (int i = 0; i < c->item_count; i++) {
    const Item *x = &c->l->items[c->items[i]];
    check_bases(c, x->file, x->tokens, x->token_count);
  }
  for (Function *f = c->tree->functions; f; f = f->next) {
    if (!f->body) continue;
    if (f->is_body) check_arguments(c, f); /* first: the roots of pointers serve the others */
    for (int i = 0; i < f->param_count && !f->is_body; i++) check_declared_pointer(c, f->params[i]);
    check_node(c, f->body);
  }
}

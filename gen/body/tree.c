/* tree.c: one parse of a body by libclang, copied into a tree of our own.
**
** The parsed text is one virtual file: portable.h, the instance's types and constants, the library
** items that the body can reach, and the body as the inside of a function.  Chunks remember which
** bytes are copies of which file, so every offset finds its way back to a file, line and column. */
#include "body/reading.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How deep a tree is at most, in libclang's cursors, each of which takes some of the stack to
** visit; and through how many functions a call is followed. */
enum { NEST_MOST = 400, CALLS_MOST = 100 };

/* ---- the parsed text ------------------------------------------------------------------------- */

static void add_chunk(Tree *t, const char *file, const char *text, size_t len, int line, int item,
                      const Variant *v) {
  t->chunks[t->chunk_count++] =
      (Chunk){(unsigned)t->text.len, (unsigned)len, file, text, line, item, v};
  buf_put(&t->text, text, len);
  buf_puts(&t->text, "\n");
}

static const char *type_of(const Kernel *k, const kg_arg *arg) {
  return arg->type >= 0 ? k->types[arg->type].name : kg_dtype_name(arg->dtype);
}

static void put_const(const Check *c, Tree *t, int i, int64_t value) {
  const kg_const_param *x = &c->k->consts[i];
  if (x->is_bool)
    buf_printf(&t->text, "constexpr bool %s = %s;\n", x->name, value ? "true" : "false");
  else
    buf_printf(&t->text, "constexpr %s %s = %lld;\n", value < 0 ? "i32" : "u32", x->name,
               (long long)value);
}

/* What all variants share: the constants of the first one. */
static void put_constants(Check *c, Tree *t) {
  variant_set(c, t->variants[0]);
  buf_puts(&t->text, "#define LOCAD static LOCAL\n");
  buf_printf(&t->text, "constexpr u32 WAVE = %d;\n", c->wave);
  for (int i = 0; i < c->k->const_count; i++) put_const(c, t, i, c->consts[i]);
}

static void put_parameters(const Kernel *k, Buf *out) {
  buf_puts(out, "void kg_body(");
  int n = 0;
  for (int i = 0; i < k->arg_count; i++)
    buf_printf(out, "%sGLOBAL %s%s *%s", n++ ? ", " : "", k->args[i].output ? "" : "const ",
               type_of(k, &k->args[i]), k->args[i].name);
  for (int i = 0; i < k->dim_count; i++)
    buf_printf(out, "%sconst u32 %s", n++ ? ", " : "", k->dims[i]);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(out, "%sconst %s %s", n++ ? ", " : "", kg_dtype_name(k->scalars[i].dtype),
               k->scalars[i].name);
  buf_puts(out, ") {\n");
}

/* A variant's own types, and its constants where they differ from the first's. */
static void put_variant(Check *c, Tree *t, int number) {
  const Variant *v = t->variants[number], *first = t->variants[0];
  const Kernel *k = c->k;
  buf_printf(&t->text, "namespace kg_%d {\n", number);
  for (int i = 0; i < k->type_count; i++)
    buf_printf(&t->text, "typedef %s %s;\n", kg_dtype_name(v->instance->types[i]),
               k->types[i].name);
  if (v->wave != first->wave) buf_printf(&t->text, "constexpr u32 WAVE = %d;\n", v->wave);
  for (int i = 0; i < k->const_count; i++)
    if (port_const(k, c->port, i, v->instance->consts[i]) !=
        port_const(k, c->port, i, first->instance->consts[i]))
      put_const(c, t, i, port_const(k, c->port, i, v->instance->consts[i]));
  put_parameters(k, &t->text);
  add_chunk(t, c->path, c->text, c->len, 1, -1, v);
  buf_puts(&t->text, "}\n}\n");
}

/* Storage types that portable.h does not declare: their bytes, and a type of their own, from and to
** which f32 is converted in so many words. */
static bool is_own_storage(const Check *c, kg_dtype dtype) {
  const kg_dtype_facts *d = kg_dtype_info(dtype);
  return d->kind == KG_KIND_FLOAT && !is_language_word(c->l, d->name, (int)strlen(d->name));
}

static void put_storage(const Check *c, Tree *t) {
  for (int i = 0; i < KG_DTYPES; i++) {
    const kg_dtype_facts *d = kg_dtype_info((kg_dtype)i);
    if (is_own_storage(c, (kg_dtype)i))
      buf_printf(&t->text, "enum %s : %s {};\n", d->name, d->bytes == 1 ? "u8" : "u16");
  }
}

/* libclang's kind; CXType_Half, which portable.h has no other use for, for the types above. */
static enum CXTypeKind canonical_kind(const Check *c, CXType type) {
  const CXType canonical = clang_getCanonicalType(type);
  if (canonical.kind != CXType_Enum) return canonical.kind;
  CXString s = clang_getTypeSpelling(clang_getUnqualifiedType(canonical));
  const kg_dtype dtype = kg_dtype_find(clang_getCString(s));
  clang_disposeString(s);
  return dtype < KG_DTYPES && is_own_storage(c, dtype) ? CXType_Half : canonical.kind;
}

static void put_text(Check *c, Tree *t) {
  const Variant *first = t->variants[0];
  t->chunks = arena_alloc(c->a, (size_t)(c->item_count + t->variant_count + 1) * sizeof *t->chunks);
  add_chunk(t, c->l->portable.file, c->l->portable.text, c->l->portable.len, 1, -2, first);
  for (int i = 0; i < WORD_MARKS; i++) /* they are portable.h's alone */
    buf_printf(&t->text, "#undef %s\n", word_marks[i].name);
  put_storage(c, t);
  put_constants(c, t);
  for (int i = 0; i < c->item_count; i++) {
    const Item *x = &c->l->items[c->items[i]];
    const char *marked = text_mark_local(c, x->file, x->text, x->len, x->tokens, x->token_count);
    add_chunk(t, x->file, marked, x->len, x->line, c->items[i], first);
  }
  for (int i = 0; i < t->variant_count; i++) put_variant(c, t, i);
}

/* ---- copying --------------------------------------------------------------------------------- */

typedef struct Copy {
  Check *c;
  Tree *t;
  Function *function;
  Node *parent;
  Node **kids;
  int kid_count, kid_room; /* a stack of children under way */
  int nest;
} Copy;

static unsigned offset_of(CXCursor cursor) {
  unsigned at = 0;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), NULL, NULL, NULL, &at);
  return at;
}

static const char *keep(Arena *a, CXString s) {
  const char *text = clang_getCString(s);
  const char *copy = arena_strdup(a, text ? text : "");
  clang_disposeString(s);
  return copy;
}

static Function *function_of(Copy *k, CXCursor cursor);

static int index_of(const char *name) {
  for (int i = 0; i < INDEX_WORDS; i++)
    if (strcmp(index_word[i], name) == 0) return i;
  return -1;
}

static void place_constant(Copy *k, Decl *d) {
  if (strcmp(d->name, "WAVE") == 0) d->kind = DECL_WAVE;
  for (int i = 0; i < k->c->k->const_count; i++)
    if (strcmp(k->c->k->consts[i].name, d->name) == 0) d->kind = DECL_CONSTANT, d->index = i;
  const int word = index_of(d->name);
  if (d->kind == DECL_OTHER && word >= 0) d->kind = DECL_INDEX, d->index = word;
}

/* The declaration that a cursor is, made on its first sight. */
static Decl *decl_of(Copy *k, CXCursor cursor) {
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  const bool is_function = kind == CXCursor_FunctionDecl;
  const unsigned at = offset_of(cursor);
  if (at >= k->t->text.len) return NULL;
  Function *own = is_function ? function_of(k, cursor) : k->function;
  for (Decl *d = k->t->by_at[at]; d; d = d->next)
    if (d->function == own || (d->function == NULL && !is_function)) return d;
  Decl *d = arena_alloc(k->c->a, sizeof *d);
  *d = (Decl){.kind = DECL_OTHER,
              .cursor = cursor,
              .at = at,
              .type = clang_getCursorType(cursor),
              .function = own,
              .index = -1};
  d->name = keep(k->c->a, clang_getCursorSpelling(cursor));
  d->is_const = clang_isConstQualifiedType(clang_getCanonicalType(d->type)) != 0;
  if (is_function) {
    d->kind = DECL_FUNCTION;
  } else if (kind == CXCursor_ParmDecl) {
    d->kind = DECL_PARAMETER;
  } else if (kind == CXCursor_VarDecl) {
    const enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(cursor));
    if (parent == CXCursor_TranslationUnit || parent == CXCursor_Namespace) {
      d->function = NULL;
      place_constant(k, d);
    } else {
      d->kind = DECL_VARIABLE;
    }
  }
  if (d->kind == DECL_PARAMETER || d->kind == DECL_VARIABLE) d->slot = k->function->slot_count++;
  d->next = k->t->by_at[at];
  k->t->by_at[at] = d;
  return d;
}

static void use_type(Copy *k, CXType type) {
  const CXCursor decl = clang_getTypeDeclaration(clang_getCanonicalType(type));
  if (clang_Cursor_isNull(decl) || clang_getCursorKind(decl) == CXCursor_NoDeclFound) return;
  const Chunk *chunk = tree_chunk(k->t, offset_of(decl));
  if (chunk && chunk->item >= 0) k->t->item_used[chunk->item] = true;
}

static void note_call(Arena *a, Function *from, Function *to) {
  for (int i = 0; i < from->call_count; i++)
    if (from->calls[i] == to) return;
  GROW(a, from->calls, from->call_count, from->call_room);
  from->calls[from->call_count++] = to;
}

/* ---- the parts of statements (libclang leaves out what is not there, so places decide) ------ */

/* From `for`, `if`, ...: the closing parenthesis, and the semicolons on its level. */
static unsigned header_end(const Buf *text, unsigned at, unsigned semicolon[2]) {
  int depth = 0, n = 0;
  semicolon[0] = semicolon[1] = ~0u;
  for (size_t i = at; i < text->len; i++) {
    const char *s = text->s + i;
    if (s[0] == '/' && s[1] == '/') {
      while (i < text->len && text->s[i] != '\n') i++;
    } else if (s[0] == '/' && s[1] == '*') {
      for (i += 2; i + 1 < text->len && !(text->s[i] == '*' && text->s[i + 1] == '/');) i++;
    } else if (*s == '(' || *s == '[' || *s == '{') {
      depth++;
    } else if (*s == ')' || *s == ']' || *s == '}') {
      if (--depth == 0) return (unsigned)i;
    } else if (*s == ';' && depth == 1 && n < 2) {
      semicolon[n++] = (unsigned)i;
    }
  }
  return ~0u;
}

static void place_parts(Tree *t, Node *n) {
  unsigned semicolon[2];
  if (n->kind == CXCursor_DoStmt) {
    n->body = n->count > 0 ? n->child[0] : NULL;
    n->cond = n->count > 1 ? n->child[1] : NULL;
    return;
  }
  const unsigned close = header_end(&t->text, n->at, semicolon);
  for (int i = 0; i < n->count; i++) {
    Node *x = n->child[i];
    if (n->kind == CXCursor_ForStmt) {
      if (x->at < semicolon[0])
        n->init = x;
      else if (x->at < semicolon[1])
        n->cond = x;
      else if (x->at < close)
        n->step = x;
      else
        n->body = x;
    } else if (x->at < close) {
      n->cond = x;
      n->header = i + 1;
    } else if (!n->body) {
      n->body = x;
    } else {
      n->step = x;
    }
  }
}

static void note_loop_variable(Node *loop) {
  for (int i = 0; loop->init && i < loop->init->count; i++)
    if (loop->init->child[i]->kind == CXCursor_VarDecl && loop->init->child[i]->decl)
      loop->init->child[i]->decl->loop = loop;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static enum CXChildVisitResult copy_child(CXCursor cursor, CXCursor parent, CXClientData data);

static bool stacked_label(const Node *n) {
  return n && n->kind == CXCursor_CaseStmt && n->parent && n->parent->kind == CXCursor_CaseStmt;
}

static void copy_children(Copy *k, Node *n, CXCursor cursor) {
  Node *const parent = k->parent;
  const int first = k->kid_count;
  k->parent = n;
  if (k->nest == NEST_MOST) {
    if (!k->t->cut) {
      FAULT(k->c, n->at, D_BODY_DEEP, NEST_MOST);
      if (stacked_label(n) || stacked_label(n->parent))
        NOTE(k->c,
             "a case label stands within the one before it, so no more than some %d may follow "
             "each other: compare with the ends of a range",
             NEST_MOST);
    }
    k->t->cut = true;
  } else {
    k->nest++;
    clang_visitChildren(cursor, copy_child, k);
    k->nest--;
  }
  k->parent = parent;
  n->count = k->kid_count - first;
  if (n->count) {
    n->child = arena_alloc(k->c->a, (size_t)n->count * sizeof *n->child);
    memcpy(n->child, k->kids + first, (size_t)n->count * sizeof *n->child);
  }
  k->kid_count = first;
}

static void push(Copy *k, Node *n) {
  GROW(k->c->a, k->kids, k->kid_count, k->kid_room);
  k->kids[k->kid_count++] = n;
}

static void finish_variable(Copy *k, Node *n, CXCursor cursor) {
  n->decl = decl_of(k, cursor);
  if (!n->decl) return;
  n->decl->node = n;
  const CXCursor init = clang_Cursor_getVarDeclInitializer(cursor);
  if (!clang_Cursor_isNull(init)) {
    const unsigned at = offset_of(init);
    for (int i = n->count - 1; i >= 0 && !n->init; i--)
      if (n->child[i]->at == at && n->child[i]->kind == clang_getCursorKind(init))
        n->init = n->child[i];
  }
  n->decl->init = n->init;
  if (n->canonical == CXType_Record) use_type(k, n->type);
}

static void finish_name(Copy *k, Node *n, CXCursor cursor) {
  const CXCursor to = clang_getCursorReferenced(cursor);
  if (clang_Cursor_isNull(to)) return;
  if (n->kind == CXCursor_MemberRefExpr) {
    n->name = keep(k->c->a, clang_getCursorSpelling(cursor));
    return;
  }
  if (n->kind == CXCursor_TypeRef) {
    const Chunk *chunk = tree_chunk(k->t, offset_of(to));
    if (chunk && chunk->item >= 0) k->t->item_used[chunk->item] = true;
    return;
  }
  n->decl = decl_of(k, to);
  if (!n->decl) return;
  if (n->decl->kind == DECL_INDEX) k->function->index_words |= 1u << n->decl->index;
  if (n->decl->kind == DECL_FUNCTION) note_call(k->c->a, k->function, n->decl->function);
}

/* In `a + b` of structs libclang has the operator's name between the operands, as it is written;
** the checks find the callee first, as in any call. */
static void callee_first(Node *n) {
  Node *const callee = n->count > 1 ? (Node *)(uintptr_t)node_strip(n->child[1]) : NULL;
  if (!callee || !callee->decl || callee->decl->kind != DECL_FUNCTION ||
      strncmp(callee->decl->name, "operator", 8) != 0)
    return;
  Node *const first = n->child[0];
  n->child[0] = n->child[1];
  n->child[1] = first;
}

/* A struct's `a = b` is a call of its operator=: to the checks it is the assignment that it says. */
static bool struct_assigned(Node *n) {
  const Node *callee = n->count == 3 ? node_strip(n->child[1]) : NULL;
  if (!callee || !callee->decl || strcmp(callee->decl->name, "operator=") != 0) return false;
  n->kind = CXCursor_BinaryOperator;
  n->op = CXBinaryOperator_Assign;
  n->child[1] = n->child[2];
  n->count = 2;
  return true;
}

static enum CXChildVisitResult copy_child(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Copy *k = data;
  if (k->t->cut) return CXChildVisit_Break;
  Node *n = arena_alloc(k->c->a, sizeof *n);
  n->kind = clang_getCursorKind(cursor);
  n->at = offset_of(cursor);
  n->parent = k->parent;
  if (!clang_isStatement(n->kind) && n->kind != CXCursor_TypeRef) {
    n->type = clang_getCursorType(cursor);
    n->canonical = canonical_kind(k->c, n->type);
  }
  switch (n->kind) {
  case CXCursor_VarDecl: /* before its children, which may name it */ decl_of(k, cursor); break;
  case CXCursor_BinaryOperator:
  case CXCursor_CompoundAssignOperator:
    n->op = (int)clang_getCursorBinaryOperatorKind(cursor);
    break;
  case CXCursor_UnaryOperator: n->op = (int)clang_getCursorUnaryOperatorKind(cursor); break;
  default: break;
  }
  copy_children(k, n, cursor);
  switch (n->kind) {
  case CXCursor_VarDecl: finish_variable(k, n, cursor); break;
  case CXCursor_DeclRefExpr:
  case CXCursor_MemberRefExpr:
  case CXCursor_TypeRef: finish_name(k, n, cursor); break;
  case CXCursor_CallExpr: {
    if (struct_assigned(n)) break;
    callee_first(n);
    const Node *callee = n->count ? node_strip(n->child[0]) : NULL;
    if (callee && callee->decl && callee->decl->kind == DECL_FUNCTION) n->decl = callee->decl;
    if (n->canonical == CXType_Record) use_type(k, n->type);
    break;
  }
  case CXCursor_StructDecl:
  case CXCursor_FieldDecl:
  case CXCursor_TypedefDecl:
  case CXCursor_TypeAliasDecl:
  case CXCursor_EnumDecl:
  case CXCursor_EnumConstantDecl: n->name = keep(k->c->a, clang_getCursorSpelling(cursor)); break;
  case CXCursor_ForStmt:
    place_parts(k->t, n);
    note_loop_variable(n);
    break;
  case CXCursor_IfStmt:
  case CXCursor_WhileStmt:
  case CXCursor_SwitchStmt:
  case CXCursor_DoStmt: place_parts(k->t, n); break;
  default: break;
  }
  push(k, n);
  return CXChildVisit_Continue;
}

/* ---- functions ------------------------------------------------------------------------------- */

static enum CXChildVisitResult copy_function_child(CXCursor cursor, CXCursor parent,
                                                   CXClientData data) {
  Copy *k = data;
  const enum CXCursorKind kind = clang_getCursorKind(cursor);
  Function *f = k->function;
  if (k->t->cut) return CXChildVisit_Break;
  if (kind == CXCursor_TypeRef) return copy_child(cursor, parent, data);
  if (kind == CXCursor_ParmDecl) {
    Decl *d = decl_of(k, cursor);
    if (d) {
      GROW(k->c->a, f->params, f->param_count, f->param_room);
      d->index = f->param_count;
      f->params[f->param_count++] = d;
      use_type(k, d->type);
    }
  }
  if (kind == CXCursor_CompoundStmt) {
    copy_child(cursor, parent, data);
    f->body = k->kids[--k->kid_count];
  }
  return CXChildVisit_Continue;
}

/* The function that a cursor is, made on its first sight.  Its inside is copied later, by
** copy_functions: a function that calls one that calls one takes no more of the stack. */
static Function *function_of(Copy *k, CXCursor cursor) {
  const unsigned at = offset_of(cursor);
  for (Function *f = k->t->functions; f; f = f->next)
    if (f->at == at && clang_equalCursors(f->cursor, cursor)) return f;
  Function *f = arena_alloc(k->c->a, sizeof *f);
  const Chunk *chunk = tree_chunk(k->t, at);
  *f = (Function){.cursor = cursor, .at = at, .item = chunk && chunk->item >= 0 ? chunk->item : -1};
  f->name = keep(k->c->a, clang_getCursorSpelling(cursor));
  f->is_body = strcmp(f->name, "kg_body") == 0;
  f->variant = k->t->variants[0];
  f->is_instance = !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(cursor));
  if (k->t->last)
    k->t->last->next = f;
  else
    k->t->functions = f;
  k->t->last = f;
  if (f->item >= 0) k->t->item_used[f->item] = true;
  if (f->item < 0 && !f->is_body) {
    const unsigned marks = words_marks(&k->c->l->words, f->name);
    f->lane_op = marks & WORD_LANES;
    f->barrier = marks & WORD_GROUP;
  }
  return f;
}

static enum CXChildVisitResult find_bodies(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Copy *k = data;
  if (clang_getCursorKind(cursor) == CXCursor_Namespace) return CXChildVisit_Recurse;
  const unsigned at = offset_of(cursor);
  if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl ||
      strncmp(k->t->text.s + at, "kg_body(", 8) != 0)
    return CXChildVisit_Continue;
  for (int i = 0; i < k->t->chunk_count; i++) /* its text is the next chunk */
    if (k->t->chunks[i].item == -1 && k->t->chunks[i].start > at) {
      Variant *v = NULL;
      for (int j = 0; j < k->t->variant_count; j++)
        if (k->t->variants[j] == k->t->chunks[i].variant) v = k->t->variants[j];
      v->body = function_of(k, cursor);
      v->body->variant = v;
      break;
    }
  return CXChildVisit_Continue;
}

/* Copies all that the bodies reach: those that a copy reaches come at the list's end. */
static void copy_functions(Check *c, Tree *t) {
  for (Function *f = t->functions; f && !t->cut; f = f->next) {
    if (f->item < 0 && !f->is_body) continue;
    Copy own = {.c = c, .t = t, .function = f};
    clang_visitChildren(f->cursor, copy_function_child, &own);
  }
}

/* What a function does through those it calls; a way back to itself is recursion. */
static void close_function(Check *c, Tree *t, Function *f, const Function *from, int depth) {
  if (f->open || depth > CALLS_MOST) {
    t->unfollowed = true;
    if (!f->open)
      FAULT(c, f->at, D_CALLS_DEEP, f->name, CALLS_MOST);
    else
      FAULT(c, f->at, D_BODY_RECURSION, f->name);
    if (f->open)
      NOTE(c, "%s calls it; no backend has a stack to speak of: write a loop", from->name);
    return;
  }
  if (f->closed) return;
  f->open = f->closed = true;
  for (int i = 0; i < f->call_count; i++) {
    close_function(c, t, f->calls[i], f, depth + 1);
    f->lane_op = f->lane_op || f->calls[i]->lane_op;
    f->barrier = f->barrier || f->calls[i]->barrier;
    f->index_words |= f->calls[i]->index_words;
  }
  f->open = false;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static const char *const arguments[] = {
    "-x",
    "c++",
    "-std=c++17",
    "-target",
    "x86_64-unknown-linux-gnu",
    "-fno-builtin",
    "-nostdinc",
    "-nostdinc++",
    "-fno-spell-checking",
    "-fno-exceptions",
    "-fno-rtti",
    "-ferror-limit=400",
    "-Wall",
    "-Wshorten-64-to-32",
    "-Wfloat-conversion",
    "-Wconditional-uninitialized",
    "-Wpre-c++17-compat", /* Metal is C++14 */
    "-Wno-tautological-compare",
    "-Wno-unused-function",
    "-Wno-unused-const-variable",
};

static enum CXErrorCode parse(const Check *c, Tree *t) {
  struct CXUnsavedFile file = {"kg_body.cc", t->text.s, t->text.len};
  return clang_parseTranslationUnit2(c->l->index, "kg_body.cc", arguments,
                                     sizeof arguments / sizeof *arguments, &file, 1,
                                     CXTranslationUnit_None, &t->unit);
}

/* From this size on, a body is parsed by a child first: what clang takes for it can grow with its
** third power, and a parse cannot be stopped. */
enum { LARGE = 16384, PARSE_SECONDS = 20 };

/* Whether clang comes to an end; $KGEN_PARSE_SECONDS is another limit. */
static bool ends_in_time(const Check *c, Tree *t, int *seconds) {
  const char *given = getenv("KGEN_PARSE_SECONDS");
  const int limit = *seconds = given && atoi(given) > 0 ? atoi(given) : PARSE_SECONDS;
  if (c->len < LARGE) return true;
  const pid_t child = fork();
  if (child < 0)
    return true; /* no room for a second look; the first one then takes what it takes */
  if (child == 0) {
    const struct rlimit cpu = {(rlim_t)limit, (rlim_t)limit};
    if (setrlimit(RLIMIT_CPU, &cpu) == 0) parse(c, t);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return true;
  return WTERMSIG(status) != SIGXCPU && WTERMSIG(status) != SIGKILL;
}

Tree *tree_make(Check *c, Variant **variants, int count) {
  Tree *t = arena_alloc(c->a, sizeof *t);
  t->variants = variants;
  t->variant_count = count;
  c->tree = t;
  put_text(c, t);
  int seconds;
  if (!ends_in_time(c, t, &seconds)) {
    FAULT_AT(c, ((Place){c->path, 1, 0}), D_BODY_PARSE_LONG, seconds);
    NOTE(c, "make it smaller: a table in memory, or a function above the body, for what it says so "
            "often");
    tree_close(t);
    return NULL;
  }
  const enum CXErrorCode rc = parse(c, t);
  if (rc != CXError_Success) FAULT_AT(c, ((Place){c->path, 1, 0}), D_BODY_CRASH, (int)rc);
  if (rc != CXError_Success || clang_errors(c, t) > 0) {
    tree_close(t);
    return NULL;
  }
  t->by_at = arena_alloc(c->a, (t->text.len + 1) * sizeof *t->by_at);
  t->item_used = arena_alloc(c->a, (size_t)c->l->item_count + 1);
  Copy k = {.c = c, .t = t};
  clang_visitChildren(clang_getTranslationUnitCursor(t->unit), find_bodies, &k);
  copy_functions(c, t);
  if (t->cut) { /* told of; what is missing from the tree would look as if it were not there */
    tree_close(t);
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    if (!variants[i]->body || !variants[i]->body->body)
      die("%s: the parsed text has no body", c->path);
    close_function(c, t, variants[i]->body, variants[i]->body, 0);
  }
  return t;
}

void tree_close(Tree *t) {
  if (t->unit) clang_disposeTranslationUnit(t->unit);
  t->unit = NULL;
  buf_free(&t->text);
}

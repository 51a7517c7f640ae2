/* node.c: small questions that the checks of a body ask of its tree. */
#include "body/reading.h"

#include <string.h>

/* The one child that is an expression, where there is one. */
static const Node *only_expression(const Node *n) {
  const Node *found = NULL;
  for (int i = 0; i < n->count; i++) {
    if (n->child[i]->kind == CXCursor_TypeRef || n->child[i]->kind == CXCursor_TemplateRef)
      continue;
    if (found) return NULL;
    found = n->child[i];
  }
  return found;
}

const Node *node_strip(const Node *n) {
  while (n && (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr)) {
    const Node *inner = only_expression(n);
    if (!inner) break;
    n = inner;
  }
  return n;
}

bool is_cast(const Node *n) {
  return n->kind == CXCursor_CXXFunctionalCastExpr || n->kind == CXCursor_CStyleCastExpr ||
         n->kind == CXCursor_CXXStaticCastExpr;
}

const Node *cast_operand(const Node *n) { return only_expression(n); }

const Node *node_strip_casts(const Node *n) {
  for (n = node_strip(n); n && is_cast(n);) {
    const Node *inner = only_expression(n);
    if (!inner) break;
    n = node_strip(inner);
  }
  return n;
}

bool is_storage(enum CXTypeKind k) {
  return k == CXType_Half || k == CXType_Float16 || k == CXType_BFloat16;
}

bool is_pointer(const Node *n) { return n->canonical == CXType_Pointer; }

unsigned type_space(CXType pointee) {
  return clang_getAddressSpace(clang_getCanonicalType(pointee));
}

bool is_assignment(const Node *n) {
  return n->kind == CXCursor_CompoundAssignOperator ||
         (n->kind == CXCursor_BinaryOperator && n->op == CXBinaryOperator_Assign);
}

bool is_step(const Node *n) {
  return n->kind == CXCursor_UnaryOperator && n->op >= CXUnaryOperator_PostInc &&
         n->op <= CXUnaryOperator_PreDec;
}

/* The number that a text starts with, and where it ends. */
const char *node_number(const Check *c, const Node *n) {
  const Chunk *chunk = tree_chunk(c->tree, n->at);
  if (!chunk) return "";
  const char *s = chunk->text + (n->at - chunk->start);
  size_t len = 0;
  while (s[len] && (strchr("0123456789abcdefABCDEFxXuUlLpP.'", s[len]) ||
                    (len && strchr("+-", s[len]) && strchr("eEpP", s[len - 1]))))
    len++;
  return arena_strndup(c->a, s, len);
}

bool node_literal(const Check *c, const Node *n, int64_t *value) {
  n = node_strip(n);
  if (!n || n->kind != CXCursor_IntegerLiteral) return false;
  uint64_t v = 0;
  const char *s = node_number(c, n);
  const bool binary = s[0] == '0' && (s[1] == 'b' || s[1] == 'B');
  const unsigned base = binary                                        ? 2
                        : s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16
                        : s[0] == '0'                                 ? 8
                                                                      : 10;
  for (s += base == 16 || binary ? 2 : 0; *s; s++) {
    const char *digits = "0123456789abcdef",
               *at = strchr(digits, *s >= 'A' && *s <= 'F' ? *s + 32 : *s);
    if (*s == '\'') continue;
    if (!at || (unsigned)(at - digits) >= base) break;
    v = v * base + (unsigned)(at - digits);
  }
  *value = (int64_t)v;
  return true;
}

/* sizeof a type of the instance: its text decides. */
static bool size_of(const Check *c, const Node *n, int64_t *value) {
  const Chunk *chunk = tree_chunk(c->tree, n->at);
  const char *s = chunk ? chunk->text + (n->at - chunk->start) : "";
  if (strncmp(s, "sizeof(", 7) != 0) return false;
  s += 7;
  const size_t len = strcspn(s, ")");
  const char *name = arena_strndup(c->a, s, len);
  kg_dtype dtype = kg_dtype_find(name);
  for (int i = 0; i < c->k->type_count; i++)
    if (strcmp(c->k->types[i].name, name) == 0) dtype = c->instance->types[i];
  if (dtype == KG_DTYPES) return false;
  *value = (int64_t)kg_dtype_bytes(dtype);
  return true;
}

static bool constant_of(Check *c, const Node *n, int wave, int64_t *value);

/* A variable that keeps what it was made with.  Asked for once a turn: what uses it twice, and is
** itself used twice, must not double the work; and one that is made of itself has no value. */
static bool variable_constant(Check *c, Decl *d, int wave, int64_t *value) {
  Constant *k = &d->constant;
  if (d->kind != DECL_VARIABLE || !d->is_const || !d->init) return false;
  if (k->turn != c->turn || k->wave != wave || k->state == CONSTANT_UNKNOWN) {
    *k = (Constant){.turn = c->turn, .wave = wave, .state = CONSTANT_OPEN};
    int64_t found = 0;
    const bool known = node_constant(c, d->init, wave, &found);
    k->state = known ? CONSTANT_KNOWN : CONSTANT_NONE;
    k->value = found;
  }
  *value = k->value;
  return k->state == CONSTANT_KNOWN;
}

bool node_constant(Check *c, const Node *n, int wave, int64_t *value) {
  n = node_strip_casts(n);
  if (!n || !down_from(c, n)) return false;
  const bool known = constant_of(c, n, wave, value);
  c->down--;
  return known;
}

/* n is stripped. */
static bool constant_of(Check *c, const Node *n, int wave, int64_t *value) {
  int64_t x, y;
  if (node_literal(c, n, value)) return true;
  if (n->kind == CXCursor_CXXBoolLiteralExpr) {
    const Chunk *chunk = tree_chunk(c->tree, n->at);
    *value = chunk && chunk->text[n->at - chunk->start] == 't';
    return true;
  }
  if (n->kind == CXCursor_UnaryExpr) return size_of(c, n, value);
  if (n->kind == CXCursor_DeclRefExpr && n->decl) {
    if (n->decl->kind == DECL_WAVE)
      *value = wave;
    else if (n->decl->kind == DECL_CONSTANT)
      *value = c->consts[n->decl->index];
    else
      return variable_constant(c, n->decl, wave, value);
    return true;
  }
  if (n->kind == CXCursor_ConditionalOperator && n->count == 3 &&
      node_constant(c, n->child[0], wave, &x))
    return node_constant(c, n->child[x ? 1 : 2], wave, value);
  if (n->kind == CXCursor_CallExpr && n->decl && n->count == 3 &&
      (strcmp(n->decl->name, "min") == 0 || strcmp(n->decl->name, "max") == 0)) {
    if (!node_constant(c, n->child[1], wave, &x) || !node_constant(c, n->child[2], wave, &y))
      return false;
    *value = (strcmp(n->decl->name, "min") == 0) == (x < y) ? x : y;
    return true;
  }
  if (n->kind != CXCursor_BinaryOperator || n->count != 2) return false;
  if (!node_constant(c, n->child[0], wave, &x) || !node_constant(c, n->child[1], wave, &y))
    return false;
  const bool small = x >= 0 && y >= 0 && x <= UINT32_MAX && y <= UINT32_MAX;
  switch (n->op) {
  case CXBinaryOperator_Add: *value = x + y; return small;
  case CXBinaryOperator_Sub: *value = x - y; return small;
  case CXBinaryOperator_Mul:
    *value = (int64_t)((uint64_t)x * (uint64_t)y);
    return small && *value >= 0;
  case CXBinaryOperator_Div: *value = y ? x / y : 0; return small && y;
  case CXBinaryOperator_Rem: *value = y ? x % y : 0; return small && y;
  case CXBinaryOperator_Shl: *value = y < 31 ? x << y : 0; return small && y < 31;
  case CXBinaryOperator_Shr: *value = y < 63 ? x >> y : 0; return small;
  case CXBinaryOperator_LT: *value = x < y; return true;
  case CXBinaryOperator_GT: *value = x > y; return true;
  case CXBinaryOperator_LE: *value = x <= y; return true;
  case CXBinaryOperator_GE: *value = x >= y; return true;
  case CXBinaryOperator_EQ: *value = x == y; return true;
  case CXBinaryOperator_NE: *value = x != y; return true;
  case CXBinaryOperator_LAnd: *value = x && y; return true;
  case CXBinaryOperator_LOr: *value = x || y; return true;
  default: return false;
  }
}

/* The variable that a place is part of: a of a[i].x, *a, (a + 1)[2]. */
const Decl *node_base(const Node *n) {
  for (n = node_strip_casts(n); n;) {
    if (n->kind == CXCursor_DeclRefExpr) return n->decl;
    const bool down = n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr ||
                      n->kind == CXCursor_UnaryOperator;
    const bool pointer = n->kind == CXCursor_BinaryOperator && n->canonical == CXType_Pointer;
    if ((!down && !pointer) || n->count == 0) return NULL;
    const int at = pointer && n->count == 2 &&
                   node_strip(n->child[0])->canonical != CXType_Pointer &&
                   node_strip(n->child[0])->canonical != CXType_ConstantArray;
    n = node_strip_casts(n->child[at]);
  }
  return NULL;
}

unsigned node_roots(const Node *n) {
  n = node_strip_casts(n);
  if (!n) return 0;
  switch (n->kind) {
  case CXCursor_DeclRefExpr: return n->decl ? n->decl->roots : 0;
  case CXCursor_ConditionalOperator:
    return n->count == 3 ? node_roots(n->child[1]) | node_roots(n->child[2]) : 0;
  case CXCursor_ArraySubscriptExpr:
  case CXCursor_UnaryOperator:
  case CXCursor_MemberRefExpr: return n->count ? node_roots(n->child[0]) : 0;
  case CXCursor_BinaryOperator: {
    unsigned roots = 0;
    for (int i = 0; i < n->count; i++) {
      const Node *x = node_strip(n->child[i]);
      if (x->canonical == CXType_Pointer) roots |= node_roots(x);
    }
    return roots;
  }
  case CXCursor_CallExpr: { /* a pointer out of pointers */
    unsigned roots = 0;
    for (int i = 1; i < n->count; i++)
      if (n->child[i]->canonical == CXType_Pointer) roots |= node_roots(n->child[i]);
    return roots;
  }
  default: return 0;
  }
}

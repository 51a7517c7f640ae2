/* cells.c: what of a function has a range of its own: words, variables, members (flow.h). */
#include "body/flow.h"

#include <string.h>

enum { FIRST_SLOT = INDEX_WORDS };

int cell_of_slot(int slot) { return FIRST_SLOT + slot; }

bool has_cell(const Function *f, const Decl *d) {
  return d && (d->kind == DECL_VARIABLE || d->kind == DECL_PARAMETER) && d->function == f;
}

int cell_of(const Function *f, const Node *place) {
  for (place = node_strip(place); place; place = node_strip(place->child[0])) {
    if (place->kind == CXCursor_DeclRefExpr) {
      const Decl *d = place->decl;
      if (d && d->kind == DECL_INDEX) return d->index;
      return has_cell(f, d) && !d->pointed ? cell_of_slot(d->slot) : -1;
    }
    if (place->kind == CXCursor_MemberRefExpr) return place->cell > 0 ? place->cell : -1;
    if (place->kind != CXCursor_ArraySubscriptExpr || place->count != 2 ||
        node_strip(place->child[0])->canonical != CXType_ConstantArray)
      return -1;
  }
  return -1;
}

/* "a.x" for v.a[i].x of a struct v; NULL: no variable's own member. */
const char *member_path(Check *c, const Node *n, const Decl **of) {
  const char *path = n->name;
  for (n = n->count ? node_strip(n->child[0]) : NULL; n; n = node_strip(n->child[0])) {
    if (n->kind == CXCursor_DeclRefExpr) {
      *of = n->decl;
      return path;
    }
    if (n->kind == CXCursor_MemberRefExpr && n->name)
      path = arena_printf(c->a, "%s.%s", n->name, path);
    else if (n->kind != CXCursor_ArraySubscriptExpr)
      return NULL;
    if (n->count == 0) return NULL;
  }
  return NULL;
}

typedef struct Fields { /* of a struct, or of a struct in one */
  Check *c;
  Function *f;
  const Decl *d;
  const char *outer; /* "a." */
} Fields;

static enum CXVisitorResult add_field(CXCursor field, CXClientData data) {
  Fields *x = data;
  CXString s = clang_getCursorSpelling(field);
  const char *path = arena_printf(x->c->a, "%s%s", x->outer, clang_getCString(s));
  CXType type = clang_getCursorType(field);
  clang_disposeString(s);
  while (clang_getCanonicalType(type).kind == CXType_ConstantArray)
    type = clang_getArrayElementType(clang_getCanonicalType(type));
  type = clang_getCanonicalType(type);
  if (type.kind == CXType_Record) {
    Fields inner = {x->c, x->f, x->d, arena_printf(x->c->a, "%s.", path)};
    clang_Type_visitFields(type, add_field, &inner);
    return CXVisit_Continue;
  }
  Function *f = x->f;
  GROW(x->c->a, f->cells, f->cell_count, f->cell_room);
  f->cells[f->cell_count++] = (Cell){x->d, path, type.kind};
  return CXVisit_Continue;
}

static CXType element_of(CXType type) {
  for (type = clang_getCanonicalType(type); type.kind == CXType_ConstantArray;)
    type = clang_getCanonicalType(clang_getArrayElementType(type));
  return type.kind == CXType_LValueReference ? clang_getCanonicalType(clang_getPointeeType(type))
                                             : type;
}

static void add_variable(Check *c, Function *f, const Decl *d) {
  if (!has_cell(f, d) || f->cells[cell_of_slot(d->slot)].decl) return;
  const CXType type = element_of(d->type);
  f->cells[cell_of_slot(d->slot)] = (Cell){d, NULL, type.kind};
  Fields fields = {c, f, d, ""};
  if (type.kind == CXType_Record && type_space(d->type) == 0)
    clang_Type_visitFields(type, add_field, &fields);
}

static void find_variables(Check *c, Function *f, const Node *n) {
  if (n->kind == CXCursor_VarDecl) add_variable(c, f, n->decl);
  for (int i = 0; i < n->count; i++) find_variables(c, f, n->child[i]);
}

static void find_members(Check *c, const Function *f, Node *n) {
  const Decl *d = NULL;
  const char *path = n->kind == CXCursor_MemberRefExpr && n->name ? member_path(c, n, &d) : NULL;
  if (path && has_cell(f, d) && !d->pointed)
    for (int i = cell_of_slot(f->slot_count); i < f->cell_count; i++)
      if (f->cells[i].decl == d && strcmp(f->cells[i].path, path) == 0) n->cell = i;
  for (int i = 0; i < n->count; i++) find_members(c, f, n->child[i]);
}

void cells_find(Check *c, Function *f) {
  while (f->cell_count < cell_of_slot(f->slot_count)) {
    GROW(c->a, f->cells, f->cell_count, f->cell_room);
    f->cells[f->cell_count++] = (Cell){.kind = CXType_UInt};
  }
  for (int i = 0; i < f->param_count; i++) add_variable(c, f, f->params[i]);
  find_variables(c, f, f->body);
  find_members(c, f, f->body);
}

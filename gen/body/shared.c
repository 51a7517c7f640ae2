/* shared.c: the arrays in LOCAL memory of a body and of the library functions that it uses:
** who owns them, what the entry calls them, how many bytes they take for each instance and width,
** and whether every backend has so many. */
#include "body/reading.h"

#include <string.h>

/* ---- finding them ---------------------------------------------------------------------------- */

static const char *word_before(Arena *a, const char *text, const char *s) {
  while (s > text && strchr(" \t\r\n", s[-1])) s--;
  const char *end = s;
  while (s > text && (s[-1] == '_' || (s[-1] >= '0' && s[-1] <= '9') ||
                      ((s[-1] | 32) >= 'a' && (s[-1] | 32) <= 'z')))
    s--;
  return arena_strndup(a, s, (size_t)(end - s));
}

/* "[THREADS / WAVE]" behind a name, without spaces at its ends. */
static const char *extent_text(Arena *a, const char *s) {
  while (*s && *s != '[') s++;
  size_t len = strcspn(s, ";");
  while (len > 0 && strchr(" \t\r\n", s[len - 1])) len--;
  return arena_strndup(a, s, len);
}

static CXType element_type(CXType type) {
  for (type = clang_getCanonicalType(type); type.kind == CXType_ConstantArray;)
    type = clang_getCanonicalType(clang_getArrayElementType(type));
  return type;
}

/* Numbers, constants of the specification, WAVE: what the entry knows, where the array is declared
** in generated text. */
static bool is_global_constant(const Node *n) {
  if (n->kind == CXCursor_DeclRefExpr && n->decl && n->decl->kind == DECL_VARIABLE) return false;
  for (int i = 0; i < n->count; i++)
    if (!is_global_constant(n->child[i])) return false;
  return true;
}

static Array *array_add(Check *c, Gathered *g, const Node *n, const Function *f,
                        const Chunk *chunk) {
  const unsigned at = n->at - chunk->start;
  for (int i = 0; i < g->array_count; i++)
    if (g->arrays[i].item == f->item && g->arrays[i].at == at) return &g->arrays[i];
  GROW(c->a, g->arrays, g->array_count, g->array_room);
  Array *x = &g->arrays[g->array_count++];
  *x = (Array){.item = f->item, .at = at, .tree = c->tree};
  x->element = arena_alloc(c->a, (size_t)g->choice_count * sizeof *x->element);
  const char *name = chunk->text + at;
  x->shared = (SharedArray){.own_name = n->decl->name,
                            .function = f->item < 0 ? NULL : f->name,
                            .type = word_before(c->a, chunk->text, name),
                            .extent = extent_text(c->a, name),
                            .at = tree_place(c, c->tree, n->at)};
  bool plain = true;
  for (int i = 0; i < n->count; i++) {
    const Node *e = n->child[i];
    int64_t v;
    if (e == n->init || e->kind == CXCursor_TypeRef) continue;
    plain = plain && is_global_constant(e) && node_constant(c, e, c->wave, &v) && v > 0 &&
            v <= INT32_MAX;
    GROW(c->a, x->extents, x->rank, x->extent_room);
    x->extents[x->rank++] = e;
  }
  if (!plain) {
    FAULT(c, n->at, D_LOCAL_EXTENT, n->decl->name);
    NOTE(c, "generated text declares it at the top of the entry: use numbers, the specification's "
            "constants, WAVE and + - * / %%");
  }
  if (f->item >= 0 && f->is_instance) {
    FAULT(c, n->at, D_LOCAL_FORM, n->decl->name, "stands in a template");
    NOTE(c, "each instance would need its own: write the function for one type");
  }
  if (f->item >= 0 && x->rank > 1) {
    FAULT(c, n->at, D_LOCAL_FORM, n->decl->name, "has more than one dimension");
    NOTE(c, "the function gets it as a pointer: compute one index");
  }
  return x;
}

static void find_arrays(Check *c, Gathered *g, const Node *n, const Function *f) {
  if (n->kind == CXCursor_VarDecl && n->decl && n->canonical == CXType_ConstantArray &&
      type_space(n->type) == 3) {
    const Chunk *chunk = tree_chunk(c->tree, n->at);
    Array *x = chunk ? array_add(c, g, n, f, chunk) : NULL;
    const CXType element = element_type(n->type);
    const long long bytes = clang_Type_getSizeOf(element), align = clang_Type_getAlignOf(element);
    const int types = f->variant->types;
    if (x && bytes > 0) x->element[types] = (uint32_t)bytes;
    if (x && align > 0 && (uint32_t)align > x->align) x->align = (uint32_t)align;
  }
  for (int i = 0; i < n->count; i++) find_arrays(c, g, n->child[i], f);
}

/* Which items a function reaches through calls.  `open` has room for all functions; each comes into
** it once. */
static void find_reached(const Check *c, Gathered *g, const Function *from, Function **open) {
  int count = 0;
  for (const Function *f = from; f; f = count > 0 ? open[--count] : NULL)
    for (int i = 0; i < f->call_count; i++) {
      Function *to = f->calls[i];
      if (to->item < 0 || to->reached_from == from) continue;
      to->reached_from = from;
      g->reaches[from->item * c->l->item_count + to->item] = true;
      open[count++] = to;
    }
}

void shared_gather(Check *c, Gathered *g) {
  for (int i = 0; i < c->l->item_count; i++) g->used[i] = g->used[i] || c->tree->item_used[i];
  size_t functions = 0;
  for (const Function *f = c->tree->functions; f; f = f->next) functions++;
  Function **open = arena_alloc(c->a, functions * sizeof *open);
  for (const Function *f = c->tree->functions; f; f = f->next) {
    if (!f->body) continue;
    variant_set(c, f->variant);
    find_arrays(c, g, f->body, f);
    if (f->is_body) {
      g->body_words |= f->index_words;
      g->lane_ops = g->lane_ops || f->lane_op;
      g->barriers = g->barriers || f->barrier;
    } else if (f->item >= 0) {
      g->words[f->item] |= f->index_words;
      find_reached(c, g, f, open);
    }
  }
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool before(const Check *c, const Array *x, const Array *y) {
  int px = 0, py = 0; /* in the order of the parsed text, the body last */
  while (px < c->item_count && c->items[px] != x->item) px++;
  while (py < c->item_count && c->items[py] != y->item) py++;
  return px != py ? px < py : x->at < y->at;
}

/* What else has the name in the entry. */
static const char *holder(const Check *c, const Gathered *g, int array, const char *name) {
  static const char *const kinds[KG_SYMBOL_KINDS] = {[KG_DIM] = "a dim",
                                                     [KG_CONST] = "a constant",
                                                     [KG_SCALAR] = "a scalar",
                                                     [KG_INPUT] = "an argument",
                                                     [KG_OUTPUT] = "an argument"};
  const kg_symbol s = kg_symbol_named(&c->k->model, name);
  if (s.name && kinds[s.kind]) return kinds[s.kind];
  for (int i = 0; i < g->array_count; i++)
    if (i != array && g->arrays[i].shared.name && strcmp(g->arrays[i].shared.name, name) == 0)
      return "another LOCAL array";
  return NULL;
}

static bool body_names(const Check *c, const char *name) {
  for (int i = 0; i < c->token_count; i++)
    if (c->tokens[i].kind == TOK_NAME && token_is(&c->tokens[i], name)) return true;
  return false;
}

void shared_name(Check *c, Gathered *g) {
  for (int i = 1; i < g->array_count; i++) /* by insertion: there are few */
    for (int j = i; j > 0 && before(c, &g->arrays[j], &g->arrays[j - 1]); j--) {
      const Array swap = g->arrays[j];
      g->arrays[j] = g->arrays[j - 1];
      g->arrays[j - 1] = swap;
    }
  for (int i = 0; i < g->array_count; i++) { /* the body's keep their names: its text says them */
    SharedArray *s = &g->arrays[i].shared;
    if (s->function) continue;
    const char *taken = holder(c, g, i, s->own_name);
    s->name = s->own_name;
    if (!taken) continue;
    FAULT_AT(c, s->at, D_LOCAL_NAME, s->own_name, taken);
    NOTE(c, "generated text declares all of them at the top of the entry: choose another name");
  }
  for (int i = 0; i < g->array_count; i++) {
    SharedArray *s = &g->arrays[i].shared;
    if (!s->function) continue;
    const char *name = arena_printf(c->a, "%s_%s", s->function, s->own_name);
    for (int n = 2; holder(c, g, i, name) || body_names(c, name); n++)
      name = arena_printf(c->a, "%s_%s_%d", s->function, s->own_name, n);
    s->name = name;
  }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int choice_of(const Gathered *g, const Kernel *k, const kg_instance *instance) {
  for (int i = 0; i < g->choice_count; i++)
    if (memcmp(g->choices[i]->types, instance->types,
               (size_t)k->type_count * sizeof *instance->types) == 0)
      return i;
  return 0;
}

static uint32_t array_bytes(Check *c, const Gathered *g, const Array *x, int choice, int wave,
                            bool *fits) {
  uint32_t element = x->element[choice];
  for (int i = 0; !element && i < g->choice_count; i++) element = x->element[i];
  uint64_t bytes = element;
  c->tree = x->tree;
  for (int i = 0; i < x->rank; i++) {
    int64_t v = 0;
    if (!node_constant(c, x->extents[i], wave, &v) || v < 0) v = 0;
    bytes *= (uint64_t)v;
    if (bytes > UINT32_MAX / 2) *fits = false, bytes = UINT32_MAX / 2;
  }
  return (uint32_t)bytes;
}

static uint32_t instance_bytes(Check *c, const Gathered *g, const kg_instance *instance, int wave) {
  uint64_t sum = 0;
  bool fits = true;
  const Variant v = {.instance = instance, .wave = wave};
  variant_set(c, &v);
  for (int i = 0; i < g->array_count; i++) {
    const Array *x = &g->arrays[i];
    const uint64_t align = x->align ? x->align : 1;
    sum = (sum + align - 1) / align * align +
          array_bytes(c, g, x, choice_of(g, c->k, instance), wave, &fits);
  }
  return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

void shared_bytes(Check *c, Gathered *g, Facts *f, const kg_instance *instances, int count) {
  for (int w = 0; w < WAVES; w++) {
    f->instance_shared[w] =
        arena_alloc(c->run, (size_t)(count + 1) * sizeof *f->instance_shared[w]);
    for (int i = 0; i < count; i++) {
      const uint32_t bytes = f->instance_shared[w][i] =
          instance_bytes(c, g, &instances[i], 32 << w);
      if (bytes > f->shared_bytes[w]) f->shared_bytes[w] = bytes;
    }
  }
}

void shared_limits(Check *c, const Gathered *g, const Facts *f, const kg_instance *instances,
                   int count) {
  for (int p = 0; p < c->k->port_count; p++) {
    const Port *port = &c->k->ports[p];
    if (port->absent || !ports_agree(port, c->port) || !port->backend->limits.shared) continue;
    for (int w = 0; w < WAVES; w++) {
      const uint32_t limit = port->backend->limits.shared;
      if (!(port->waves >> w & 1) || f->shared_bytes[w] <= limit) continue;
      int worst = 0;
      for (int i = 0; i < count; i++)
        if (f->instance_shared[w][i] > f->instance_shared[w][worst]) worst = i;
      const Place at = g->arrays[g->array_count - 1].shared.at;
      FAULT_AT(c, at, D_SHARED_LIMIT, (long long)f->shared_bytes[w], 32 << w, port->backend->title,
               limit);
      NOTE(c, "in the instance %s", instance_name(c->a, &instances[worst]));
      for (int i = 0; i < g->array_count; i++) {
        const SharedArray *s = &g->arrays[i].shared;
        NOTE(c, "%s %s%s%s%s", s->type, s->own_name, s->extent, s->function ? " of " : "",
             s->function ? s->function : "");
      }
      NOTE(c, "make it smaller, or say in the specification: %s = absent \"the reason\"",
           port->backend->name);
      break;
    }
  }
}

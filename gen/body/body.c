/* body.c: from a port's body to its facts: what it uses, and everything that is wrong with it.
**
** The body is looked at once for each instance at each width, but for those that differ only in
** constants which neither it, nor the library that it uses, nor the launch names.  All of these
** variants go through all checks; a fault that two of them share is given once.  Those for which
** the library says the same stand in one parse. */
#include "body/reading.h"

#include <string.h>

#include "base/plain.h"

/* A body that was read: ports that agree share it. */
typedef struct Read {
  const Kernel *k;
  const Port *port;
  Facts *facts;
  struct Read *next;
} Read;

/* ---- the language ---------------------------------------------------------------------------- */

Language *language_load(Arena *a, const char *templates, Diags *d) {
  Language *l = arena_alloc(a, sizeof *l);
  l->a = a;
  items_load(l, templates, d);
  l->index = clang_createIndex(0, 0);
  if (!l->index) die("libclang gives no index");
  return l;
}

void language_load_own(Language *l, const char *folder, Diags *d) { items_load_own(l, folder, d); }

const Words *language_words(const Language *l) { return &l->words; }

void language_free(Language *l) {
  if (l && l->index) clang_disposeIndex(l->index);
  if (l) l->index = NULL;
}

/* ---- dims ------------------------------------------------------------------------------------ */

/* dim >= 1, scalar <= 4096: false, the requirement says something else. */
static bool narrows(Check *c, const kg_expr *require) {
  const kg_step *s = require->steps;
  if (require->count != 3 || s[0].op != KG_OP_VAR || s[1].op != KG_OP_INT) return false;
  const kg_symbol x = kg_symbol_at(&c->k->model, (int)s[0].value);
  if (x.kind == KG_CONST) return false;
  int64_t none = 0, *low = x.kind == KG_DIM ? &c->dim_low[x.index] : &none,
          *high = x.kind == KG_DIM ? &c->dim_high[x.index] : &c->scalar_high[x.index];
  const int64_t v = s[1].value;
  switch (s[2].op) {
  case KG_OP_GE: *low = v > *low ? v : *low; return true;
  case KG_OP_GT: *low = v + 1 > *low ? v + 1 : *low; return true;
  case KG_OP_LE: *high = v < *high ? v : *high; return true;
  case KG_OP_LT: *high = v - 1 < *high ? v - 1 : *high; return true;
  case KG_OP_EQ: *low = *high = v; return true;
  default: return false;
  }
}

/* dim.rows * dim.D <= something. */
static bool bounds_product(const kg_expr *require) {
  const int last = require->steps[require->count - 1].op;
  bool product = false;
  for (int i = 0; i < require->count; i++) product = product || require->steps[i].op == KG_OP_MUL;
  return product && (last == KG_OP_LE || last == KG_OP_LT || last == KG_OP_EQ);
}

/* A requirement that is more than a least or a most. */
static void note_bound(Check *c, const kg_expr *require) {
  int dims = 0;
  for (int i = 0; i < require->count; i++) {
    if (require->steps[i].op != KG_OP_VAR) continue;
    const kg_symbol s = kg_symbol_at(&c->k->model, (int)require->steps[i].value);
    if (s.kind == KG_DIM) c->dim_bound[s.index] = true, dims++;
    if (s.kind == KG_SCALAR) c->scalar_bound[s.index] = true;
  }
  for (int i = 0; i < require->count && dims > 1 && bounds_product(require); i++) {
    if (require->steps[i].op != KG_OP_VAR) continue;
    const kg_symbol s = kg_symbol_at(&c->k->model, (int)require->steps[i].value);
    if (s.kind == KG_DIM) c->dim_product[s.index] = true;
  }
}

/* What the requirements make of dims and scalars. */
static void find_bounds(Check *c) {
  const Kernel *k = c->k;
  for (int i = 0; i < k->dim_count; i++)
    c->dim_low[i] = 0, c->dim_high[i] = k->dim_max[i] > 0 ? k->dim_max[i] : UINT32_MAX;
  for (int i = 0; i < k->scalar_count; i++) {
    double low, high;
    scalar_ends(k->scalars[i].dtype, &k->scalar_domains[i], &low, &high);
    c->scalar_high[i] = high >= 0 && high < UINT32_MAX ? (int64_t)high : UINT32_MAX;
  }
  for (int i = 0; i < k->require_count; i++)
    if (!narrows(c, &k->require[i])) note_bound(c, &k->require[i]);
}

/* ---- one parse ------------------------------------------------------------------------------- */

static const char *choice_text(Check *c, const kg_instance *x, const kg_instance *first, int wave,
                               int first_wave) {
  Buf b = {0};
  for (int i = 0; i < c->k->type_count; i++)
    if (x->types[i] != first->types[i])
      buf_printf(&b, "%s%s is %s", b.len ? ", " : "", c->k->types[i].name,
                 kg_dtype_name(x->types[i]));
  for (int i = 0; i < c->k->const_count; i++)
    if (x->consts[i] != first->consts[i]) {
      const bool is_bool = c->k->consts[i].is_bool;
      buf_printf(&b, "%s%s is ", b.len ? ", " : "", c->k->consts[i].name);
      if (is_bool)
        buf_puts(&b, x->consts[i] ? "true" : "false");
      else
        buf_printf(&b, "%lld", (long long)x->consts[i]);
    }
  if (wave != first_wave) buf_printf(&b, "%sWAVE is %d", b.len ? ", " : "", wave);
  const char *s = b.len ? arena_strdup(c->a, b.s) : NULL;
  buf_free(&b);
  return s;
}

/* True when a library item of this body names the word. */
static bool items_name(const Check *c, const char *word) {
  for (int i = 0; i < c->item_count; i++)
    for (int t = 0; t < c->l->items[c->items[i]].token_count; t++)
      if (token_is(&c->l->items[c->items[i]].tokens[t], word)) return true;
  return false;
}

/* A library function of this body that comes to name THREADS, its mentions before it. */
static bool counts_threads(const Check *c, const Token *t) {
  if (!is_library_name(c->l, t->s, t->len, false)) return false;
  bool *counts = arena_alloc(c->a, (size_t)c->l->item_count + 1);
  for (int i = 0; i < c->item_count; i++) {
    const Item *x = &c->l->items[c->items[i]];
    for (int n = 0; n < x->token_count && !counts[c->items[i]]; n++)
      counts[c->items[i]] = token_is(&x->tokens[n], "THREADS");
    for (int n = 0; n < x->mention_count; n++)
      counts[c->items[i]] = counts[c->items[i]] || counts[x->mentions[n]];
    if (counts[c->items[i]] && token_is(t, x->name)) return true;
  }
  return false;
}

/* Functions of kgen's library that take THREADS for the group's size are among this body's. */
static bool group_functions(const Check *c) {
  for (int i = 0; i < c->item_count; i++) {
    const Item *x = &c->l->items[c->items[i]];
    for (int t = 0; t < x->token_count && x->shipped; t++)
      if (token_is(&x->tokens[t], "THREADS")) return true;
  }
  return false;
}

static bool uses_lanes(const Check *c, const Token *t) {
  for (const Function *f = c->tree->functions; f; f = f->next)
    if (f->lane_op && !f->is_body && token_is(t, f->name)) return true;
  return false;
}

/* The library's group functions count on THREADS, its wave functions on whole waves. */
static void check_threads(Check *c, const Variant *v) {
  variant_set(c, v);
  for (int i = 0; i < c->k->const_count; i++) {
    if (strcmp(c->k->consts[i].name, "THREADS") != 0 || c->consts[i] == c->threads ||
        !group_functions(c))
      continue;
    FAULT_AT(c, text_first(c, counts_threads), D_THREADS_DIFFER, (long long)c->consts[i],
             c->port->backend->title, (long long)c->threads);
    NOTE(c, "the library's group functions take THREADS for the group's size: launch.threads must "
            "multiply to it");
  }
  if (v->body->lane_op && c->threads % c->wave != 0) {
    FAULT_AT(c, text_first(c, uses_lanes), D_THREADS_WAVE, (long long)c->threads, c->wave);
    NOTE(c, "make the threads a multiple of %d, or give the kernel another wave", c->wave);
  }
}

/* What is looked at in one parse. */
static bool check_parse(Check *c, Gathered *g, Variant **variants, int count) {
  Tree *t = tree_make(c, variants, count);
  if (!t) return false;
  check_tree(c);
  check_names(c);
  mark_pointed(c);
  if (!t->unfollowed) check_flow(c);
  if (!t->unfollowed) check_uniform(c);
  for (int i = 0; i < count; i++) check_threads(c, variants[i]);
  shared_gather(c, g);
  overloads_gather(c, g);
  clang_warnings(c, t);
  tree_close(t);
  return true;
}

/* A tree's memory goes with it, unless something of it is kept: an array's extents, a fault's
** place. */
static bool check_once(Check *c, Gathered *g, Variant **variants, int count) {
  Arena *const whole = c->a;
  const int kept = g->array_count + c->seen_count + c->missing_count;
  c->a = arena_new();
  const bool parsed = check_parse(c, g, variants, count);
  if (g->array_count + c->seen_count + c->missing_count == kept) {
    arena_free(c->a);
  } else {
    TreeArena *t = arena_alloc(whole, sizeof *t);
    *t = (TreeArena){c->a, c->trees};
    c->trees = t;
  }
  c->a = whole;
  return parsed;
}

/* ---- which parses ---------------------------------------------------------------------------- */

enum { TOGETHER_MOST = 64 }; /* variants in one parse */

static bool body_names(const Check *c, const char *word) {
  for (int i = 0; i < c->token_count; i++)
    if (c->tokens[i].kind == TOK_NAME && token_is(&c->tokens[i], word)) return true;
  return false;
}

static bool expr_names(const Kernel *k, const kg_expr *e, int constant) {
  for (int i = 0; i < e->count; i++) {
    if (e->steps[i].op != KG_OP_VAR) continue;
    const kg_symbol s = kg_symbol_at(&k->model, (int)e->steps[i].value);
    if (s.kind == KG_CONST && s.index == constant) return true;
  }
  return false;
}

/* What a constant is can matter to a reading: the body names it, or the library does, or the
** launch. */
static bool const_matters(const Check *c, int constant) {
  const char *name = c->k->consts[constant].name;
  bool launch = false;
  for (int i = 0; i < 3; i++)
    launch = launch || expr_names(c->k, &c->port->threads[i], constant) ||
             expr_names(c->k, &c->k->groups[i], constant);
  return launch || body_names(c, name) || items_name(c, name);
}

static int choice_of_types(Check *c, Gathered *g, const kg_instance *x) {
  const size_t bytes = (size_t)c->k->type_count * sizeof *x->types;
  for (int i = 0; i < g->choice_count; i++)
    if (memcmp(g->choices[i]->types, x->types, bytes) == 0) return i;
  g->choices[g->choice_count] = x;
  return g->choice_count++;
}

/* The variants to be read: of instances that differ only in constants that do not matter, the
** first.  Returns how many; *list has room for every instance at every width. */
static int find_variants(Check *c, Gathered *g, const kg_instance *instances, int count,
                         unsigned waves, Variant **list) {
  bool matters[MAX_CONSTS];
  int n = 0;
  const int first_wave = waves & 1 ? 32 : 64;
  for (int i = 0; i < c->k->const_count; i++) matters[i] = const_matters(c, i);
  for (int wave = 32; wave <= 64; wave *= 2)
    for (int i = 0; i < count && waves & (unsigned)wave / 32; i++) {
      const kg_instance *x = &instances[i];
      bool same = false;
      for (int j = 0; j < c->k->const_count; j++)
        same = same || (!matters[j] && x->consts[j] != instances->consts[j]);
      if (same) continue;
      Variant *v = list[n++] = arena_alloc(c->a, sizeof *v);
      *v = (Variant){.instance = x,
                     .wave = wave,
                     .types = choice_of_types(c, g, x),
                     .choice = choice_text(c, x, instances, wave, first_wave)};
    }
  return n;
}

/* Both can be read with one text of the library. */
static bool share_library(const Check *c, const bool *named, const Variant *x, const Variant *y) {
  if (named[MAX_CONSTS] && x->wave != y->wave) return false;
  for (int i = 0; i < c->k->const_count; i++)
    if (named[i] && x->instance->consts[i] != y->instance->consts[i]) return false;
  return true;
}

/* All parses; false when the first one gave no tree. */
static bool check_all(Check *c, Gathered *g, const kg_instance *instances, int count,
                      unsigned waves) {
  Variant **list = arena_alloc(c->a, ((size_t)count * WAVES + 1) * sizeof *list);
  bool named[MAX_CONSTS + 1] = {0}; /* by the library; the last: WAVE */
  int left = find_variants(c, g, instances, count, waves, list);
  for (int i = 0; i < c->k->const_count; i++) named[i] = items_name(c, c->k->consts[i].name);
  named[MAX_CONSTS] = items_name(c, "WAVE");
  for (bool first = true; left > 0; first = false) {
    Variant **together = arena_alloc(c->a, TOGETHER_MOST * sizeof *together);
    int n = 0, stay = 0;
    for (int i = 0; i < left; i++)
      if (n < TOGETHER_MOST && (i == 0 || share_library(c, named, together[0], list[i])))
        together[n++] = list[i];
      else
        list[stay++] = list[i];
    left = stay;
    if (!check_once(c, g, together, n) && first) return false;
  }
  return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void put_library(Check *c, const Gathered *g, Facts *f) {
  const Language *l = c->l;
  f->lib = arena_alloc(c->run, (size_t)(c->item_count + 1) * sizeof *f->lib);
  const size_t arrays = (size_t)g->array_count + 1;
  for (int i = 0; i < c->item_count; i++) {
    const int item = c->items[i];
    if (!g->used[item]) continue;
    const Item *x = &l->items[item];
    LibFunction *out = &f->lib[f->lib_count++];
    *out = (LibFunction){.name = x->name,
                         .file = x->mark,
                         .line = x->line,
                         .text = x->text,
                         .is_type = x->is_type,
                         .prefix = item_prefix(x),
                         .index_words = g->words[item]};
    out->shared = arena_alloc(c->run, arrays * sizeof *out->shared);
    for (int s = 0; s < g->array_count; s++) {
      const int owner = g->arrays[s].item;
      if (owner >= 0 && (owner == item || g->reaches[item * l->item_count + owner]))
        out->shared[out->shared_count++] = s;
    }
  }
}

static void put_files(Check *c, Facts *f) {
  const char **files = arena_alloc(c->run, (size_t)(c->l->source_count + 2) * sizeof *files);
  files[f->read_count++] = c->path;
  files[f->read_count++] = c->l->portable.file;
  for (int i = 0; i < c->l->source_count; i++) files[f->read_count++] = c->l->sources[i].file;
  f->read_files = files;
}

/* Where functions stood above the body. */
static void skip_blank_lines(Facts *f) {
  for (size_t n; f->text[n = strspn(f->text, " ")] == '\n'; f->line++) {
    f->text += n + 1;
    f->len -= n + 1;
  }
}

static Facts *make_facts(Check *c, Gathered *g, const kg_instance *instances, int count) {
  Facts *f = arena_alloc(c->run, sizeof *f);
  *f = (Facts){.path = c->port->body,
               .text = c->shown,
               .line = 1,
               .len = c->len,
               .index_words = g->body_words,
               .lane_ops = g->lane_ops,
               .barriers = g->barriers,
               .shared_count = g->array_count};
  if (c->shown != c->whole) skip_blank_lines(f);
  shared_name(c, g);
  f->shared = arena_alloc(c->run, (size_t)(g->array_count + 1) * sizeof *f->shared);
  for (int i = 0; i < g->array_count; i++) {
    const SharedArray *s = &g->arrays[i].shared;
    f->shared[i] = (SharedArray){.name = arena_strdup(c->run, s->name),
                                 .own_name = arena_strdup(c->run, s->own_name),
                                 .function = s->function ? arena_strdup(c->run, s->function) : NULL,
                                 .type = arena_strdup(c->run, s->type),
                                 .extent = arena_strdup(c->run, s->extent),
                                 .at = s->at};
  }
  put_library(c, g, f);
  overloads_put(c, g, f);
  shared_bytes(c, g, f, instances, count);
  if (g->array_count) shared_limits(c, g, f, instances, count);
  put_files(c, f);
  return f;
}

/* The kernel's own name for something; NULL: it has none such. */
static const char *kernels_own(const Kernel *k, const char *name) {
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

static Place item_place(const Item *x) {
  const Token *t = &x->tokens[x->own];
  const char *line = t->s;
  while (line > x->tokens[0].s && line[-1] != '\n') line--;
  return (Place){x->file, t->line, (int)(t->s - line) + 1};
}

/* The functions above the body become items of its own, after the library's. */
static bool take_functions_above(Check *c) {
  char *rest = NULL;
  const Source body = {.file = c->path,
                       .mark = c->port->body,
                       .text = c->shown,
                       .len = c->len,
                       .tokens = c->tokens,
                       .token_count = c->token_count};
  const int errors = diags_errors(c->d), first = c->l->item_count;
  Language *own = items_above(c->run, c->l, &body, &rest, c->d);
  if (!own) return true;
  if (diags_errors(c->d) > errors || !items_named_well(own, first, c->d)) return false;
  c->l = own;
  c->shown = rest;
  c->tokens = lex(c->a, c->shown, c->len, &c->token_count);
  return true;
}

/* What the specification's author wrote: called as nothing of the kernel's is, and, above a body, used. */
static bool check_own_items(Check *c) {
  bool well = true;
  for (int i = 0; i < c->l->item_count; i++) {
    const Item *x = &c->l->items[i];
    bool reached = false;
    for (int n = 0; n < c->item_count; n++) reached = reached || c->items[n] == i;
    const char *other = x->shipped || !reached ? NULL : kernels_own(c->k, x->name);
    if (other) FAULT_AT(c, item_place(x), D_LIB_NAME, x->name, other);
    const bool unused = !reached && strcmp(x->file, c->path) == 0;
    if (unused) {
      FAULT_AT(c, item_place(x), D_OWN_UNUSED, x->name);
      NOTE(c, "take it out, or call it");
    }
    well = well && !other && !unused;
  }
  return well;
}

static Facts *read_body(Check *c) {
  const char *why = NULL;
  c->shown = text_read(c->run, c->path, &c->len, &why);
  if (!c->shown) {
    diag_add(c->d, (Place){c->path, 0, 0}, D_BODY_READ, why);
    return NULL;
  }
  c->whole = c->shown;
  c->tokens = lex(c->run, c->shown, c->len, &c->token_count);
  if (!take_functions_above(c)) return NULL;
  c->items = arena_alloc(c->a, (size_t)(c->l->item_count + 1) * sizeof *c->items);
  c->item_count = items_reached(c->l, c->tokens, c->token_count, c->items);
  bool clean = text_check(c);
  clean = check_own_items(c) && clean;
  const int before = c->faults;
  c->text = text_mark_local(c, c->path, c->shown, c->len, c->tokens, c->token_count);
  clean = clean && before == c->faults;
  for (int i = 0; i < c->item_count; i++) {
    const Item *x = &c->l->items[c->items[i]];
    const int so_far = c->faults;
    text_check_tokens(c, x->file, x->tokens, x->token_count);
    clean = clean && so_far == c->faults;
  }
  if (!clean) return NULL;
  int count = 0;
  const kg_instance *instances = kernel_instances(c->a, c->k, &count);
  if (count == 0) return NULL;
  unsigned waves = 0;
  for (int i = 0; i < c->k->port_count; i++)
    if (ports_agree(&c->k->ports[i], c->port)) waves |= c->k->ports[i].waves;
  const size_t items = (size_t)c->l->item_count + 1;
  Gathered *g = arena_alloc(c->a, sizeof *g);
  g->used = arena_alloc(c->a, items);
  g->words = arena_alloc(c->a, items * sizeof *g->words);
  g->reaches = arena_alloc(c->a, items * items);
  g->overload_used = arena_alloc(c->a, (size_t)c->l->words.overload_count + 1);
  g->choices = arena_alloc(c->a, (size_t)count * sizeof *g->choices);
  find_bounds(c);
  if (!check_all(c, g, instances, count, waves ? waves : 3)) return NULL;
  return make_facts(c, g, instances, count);
}

Facts *body_facts(Arena *a, Language *l, const Kernel *k, const Port *port, Diags *d) {
  if (port->absent || !port->body) return NULL;
  for (const Read *r = l->reads; r; r = r->next)
    if (r->k == k && ports_agree(r->port, port)) return r->facts;
  Check c = {.a = arena_new(),
             .run = a,
             .l = l,
             .k = k,
             .port = port,
             .d = d}; /* trees are large: they go at once */
  c.path = k->folder && k->folder[0] && port->body[0] != '/'
               ? arena_printf(a, "%s/%s", k->folder, port->body)
               : port->body;
  Read *r = arena_alloc(l->a, sizeof *r);
  *r = (Read){k, port, read_body(&c), l->reads};
  l->reads = r;
  for (TreeArena *t = c.trees; t; t = t->next) arena_free(t->arena);
  arena_free(c.a);
  return r->facts;
}

/* check.c: what must hold between the parts of a kernel, and between kernels.  See read.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spec/read.h"

enum { THREADS_MOST = 1024 }; /* in a group, on every backend there is */

static bool names_dim(const kg_expr *e, int dim) {
  for (int i = 0; i < e->count; i++)
    if (e->steps[i].op == KG_OP_VAR && e->steps[i].value == dim) return true;
  return false;
}

/* ---- dims ------------------------------------------------------------------------------------ */

/* Alone, or as what a `when` chooses. */
static bool binds(const kg_step *steps, int last, int dim) {
  if (steps[last].op != KG_OP_WHEN) return steps[last].op == KG_OP_VAR && steps[last].value == dim;
  return binds(steps, last - 1, dim) || binds(steps, kg_expr_operand(steps, last - 1) - 1, dim);
}

static bool is_used(const Kernel *k, int dim) {
  for (int i = 0; i < k->arg_count; i++)
    for (int j = 0; j < k->args[i].rank; j++)
      if (names_dim(&k->args[i].shape[j], dim)) return true;
  for (int i = 0; i < 3; i++)
    if (names_dim(&k->groups[i], dim)) return true;
  for (int i = 0; i < k->stated_count; i++)
    if (names_dim(&k->require[i], dim)) return true;
  for (int i = 0; i < k->input_count; i++)
    if (k->domains[i].has_index && names_dim(&k->domains[i].index, dim)) return true;
  return false;
}

static void check_dims(Reader *r, Val top) {
  const Kernel *k = r->k;
  const Val dims = {0, arena_printf(r->a, "%s: dims", top.label), where_key(top.where, "dims"),
                    top.line};
  for (int d = 0; d < k->dim_count; d++) {
    bool bound = false;
    for (int i = 0; i < k->arg_count; i++)
      for (int j = 0; j < k->args[i].rank; j++) {
        const kg_expr *e = &k->args[i].shape[j];
        bound = bound || binds(e->steps, e->count - 1, d);
      }
    if (bound) continue;
    const Where *w = where_item(dims.where, d + 1);
    const Place at = {k->file, w ? w->line : dims.where ? dims.where->line : top.line, 0};
    diag_add(r->d, at, is_used(k, d) ? D_DIM_UNBOUND : D_DIM_UNUSED, dims.label, k->dims[d]);
  }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The first dim or scalar that an expression names; -1: there is none. */
static int first_no_const(const Kernel *k, const kg_expr *e) {
  for (int i = 0; i < e->count; i++) {
    const int v = (int)e->steps[i].value;
    if (e->steps[i].op == KG_OP_VAR && kg_symbol_at(&k->model, v).kind != KG_CONST) return v;
  }
  return -1;
}

void const_choice(const Kernel *k, const Port *p, int64_t n, int64_t *values) {
  for (int i = k->const_count - 1; i >= 0; i--) {
    const kg_const_param *c = &k->consts[i];
    values[k->dim_count + i] = port_const(k, p, i, c->values[c->in_key ? n % c->count : 0]);
    if (c->in_key) n /= c->count;
  }
}

static const char *with_consts(Arena *a, const Kernel *k, const int64_t *values, const char *text) {
  const char *chosen = "";
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key)
      chosen = arena_printf(a, "%s%s%s = %lld", chosen, *chosen ? ", " : " with ",
                            k->consts[i].name, (long long)values[k->dim_count + i]);
  return arena_printf(a, "%s%s", text, chosen);
}

/* One choice of constants; false: told of a fault. */
static bool threads_fit(Reader *r, Place at, const char *label, const Port *p,
                        const int64_t *values) {
  const Kernel *k = r->k;
  const Backend *b = p->backend;
  const int most =
      b->limits.threads && b->limits.threads < THREADS_MOST ? (int)b->limits.threads : THREADS_MOST;
  int64_t n[3];
  for (int i = 0; i < 3; i++) {
    const char *text = p->threads[i].text;
    if (!expr_eval(&p->threads[i], values, &n[i])) {
      diag_add(r->d, at, D_EXPR_FAILS, label, text, "it divides by zero or passes 64 bits");
      return false;
    }
    if (n[i] < 1) {
      const char *value = arena_printf(r->a, "%lld", (long long)n[i]);
      diag_add(r->d, at, D_THREADS_VALUE, label, text, with_consts(r->a, k, values, value));
      return false;
    }
  }
  const bool fits = n[0] <= most && n[1] <= most && n[2] <= most && n[0] * n[1] * n[2] <= most;
  for (int i = 0; i < 3 && fits; i++) {
    if (b->limits.axes[i] == 0 || (uint64_t)n[i] <= b->limits.axes[i]) continue;
    diag_add(r->d, at, D_INT_RANGE, arena_printf(r->a, "%s[%d] on %s", label, i + 1, b->title),
             with_consts(r->a, k, values, arena_printf(r->a, "%lld", (long long)n[i])), "1",
             arena_printf(r->a, "%llu", (unsigned long long)b->limits.axes[i]));
    return false;
  }
  if (fits) return true;
  const char *text[3], *product = "more than 2^63";
  for (int i = 0; i < 3; i++) text[i] = arena_printf(r->a, "%lld", (long long)n[i]);
  if (n[0] <= INT32_MAX && n[1] <= INT32_MAX && n[2] == 1)
    product = arena_printf(r->a, "%lld", (long long)(n[0] * n[1]));
  else if (n[0] < 1 << 20 && n[1] < 1 << 20 && n[2] < 1 << 20)
    product = arena_printf(r->a, "%lld", (long long)(n[0] * n[1] * n[2]));
  diag_add(r->d, at, D_THREADS_MANY, label, text[0], text[1], text[2], product, b->title, most);
  return false;
}

int64_t const_choices(const Kernel *k) {
  int64_t n = 1;
  for (int i = 0; i < k->const_count && n <= SPEC_INSTANCES; i++)
    if (k->consts[i].in_key) n *= k->consts[i].count;
  return n;
}

static bool consts_whole(const Kernel *k) {
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].count == 0) return false;
  return true;
}

static void check_threads(Reader *r, Val top) {
  const Kernel *k = r->k;
  const Where *launch = where_key(where_key(top.where, "launch"), "threads"),
              *ports = where_key(top.where, "ports");
  bool said = false; /* of the kernel's own threads */
  for (int i = 0; i < k->port_count; i++) {
    const Port *p = &k->ports[i];
    if (p->absent || p->threads[0].count == 0) continue;
    const bool own = p->threads[0].steps != k->threads[0].steps;
    if (!own && said) continue;
    const Where *w = own ? where_key(where_key(ports, p->backend->name), "threads") : launch;
    const Place at = {k->file, w ? w->line : top.line, 0};
    const char *label =
        own ? arena_printf(r->a, "%s: ports.%s.threads", top.label, p->backend->name)
            : arena_printf(r->a, "%s: launch.threads", top.label);
    bool fine = true;
    for (int j = 0; j < 3; j++) {
      const int found = first_no_const(k, &p->threads[j]);
      if (found < 0) continue;
      const kg_symbol s = kg_symbol_at(&k->model, found);
      diag_add(r->d, at, D_THREADS_VARY, label, p->threads[j].text, kg_symbol_kind_name(s.kind),
               s.name);
      fine = false;
    }
    const int64_t choices = consts_whole(k) ? const_choices(k) : 0;
    for (int64_t n = 0; fine && n < choices && n < SPEC_INSTANCES; n++) {
      int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS] = {0};
      const_choice(k, p, n, values);
      fine = threads_fit(r, at, label, p, values);
    }
    said = said || (!own && !fine);
  }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_division(const kg_step *s) {
  return s->op == KG_OP_DIV || s->op == KG_OP_MOD || s->op == KG_OP_CEIL_DIV;
}

/* By what comes to zero whatever the dims and scalars are.  A `when` computes both of its values. */
static bool divides_by_zero(const Kernel *k, const kg_expr *e, const int64_t *values) {
  for (int i = 1; i < e->count; i++) {
    int64_t x;
    if (!is_division(&e->steps[i])) continue;
    const int start = kg_expr_operand(e->steps, i - 1);
    const kg_expr by = {e->text, i - start, e->steps + start};
    if (first_no_const(k, &by) < 0 && expr_eval(&by, values, &x) && x == 0) return true;
  }
  return false;
}

/* One axis under one choice of constants; false: told of a fault. */
static bool groups_fit(Reader *r, Place place, const char *label, const Port *p, int axis,
                       const int64_t *values) {
  const Kernel *k = r->k;
  const kg_expr *e = &k->groups[axis];
  const uint64_t most = p->backend->limits.groups[axis];
  int64_t n;
  if (divides_by_zero(k, e, values)) {
    diag_add(r->d, place, D_EXPR_FAILS, label, e->text,
             with_consts(r->a, k, values, "it divides by zero"));
    return false;
  }
  if (first_no_const(k, e) >= 0 || !expr_eval(e, values, &n)) return true;
  const char *number = arena_printf(r->a, "%lld", (long long)n);
  if (n >= 0 && (most == 0 || (uint64_t)n <= most)) return true;
  diag_add(r->d, place, D_INT_RANGE, arena_printf(r->a, "%s on %s", label, p->backend->title),
           expr_is_int(e, n) ? number : with_consts(r->a, k, values, number), "0",
           arena_printf(r->a, "%llu", (unsigned long long)(most ? most : INT64_MAX)));
  return false;
}

static void check_groups(Reader *r, Val top) {
  const Kernel *k = r->k;
  const Where *groups = where_key(where_key(top.where, "launch"), "groups");
  const int64_t choices = consts_whole(k) ? const_choices(k) : 0;
  for (int axis = 0; axis < 3 && k->groups[0].count; axis++) {
    const Where *w = where_item(groups, axis + 1);
    const Place at = {k->file, w ? w->line : groups ? groups->line : top.line, 0};
    const char *label = arena_printf(r->a, "%s: launch.groups[%d]", top.label, axis + 1);
    for (int i = 0; i < k->port_count; i++) {
      bool fine = !k->ports[i].absent;
      for (int64_t n = 0; fine && n < choices && n < SPEC_INSTANCES; n++) {
        int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS] = {0};
        const_choice(k, &k->ports[i], n, values);
        fine = groups_fit(r, at, label, &k->ports[i], axis, values);
      }
    }
  }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void check_buffers(Reader *r, Val top) {
  const Kernel *k = r->k;
  for (int i = 0; i < k->port_count; i++) {
    const Backend *b = k->ports[i].backend;
    if (k->ports[i].absent || !b->limits.buffers || k->arg_count + 1 <= (int)b->limits.buffers ||
        r->args_over)
      continue;
    diag_add(r->d, val_place(r, top), D_ARGS_BUFFERS, top.label, k->arg_count, k->arg_count + 1,
             b->title, (int)b->limits.buffers);
  }
}

static double count_instances(const Kernel *k) { /* 32^24 is far past 64 bits */
  double n = 1;
  for (int i = 0; i < k->type_count; i++) n *= k->types[i].count;
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key) n *= k->consts[i].count;
  return n;
}

static void check_instances(Reader *r, Val top) {
  const double n = count_instances(r->k);
  if (n > (double)SPEC_INSTANCES)
    diag_add(r->d, val_place(r, top), D_INSTANCES, top.label, arena_printf(r->a, "%.0f", n),
             (int)SPEC_INSTANCES);
}

void spec_kernel_check(Reader *r, Val top) {
  check_instances(r, top);
  check_buffers(r, top);
  check_threads(r, top);
  check_groups(r, top);
  if (!r->bad_names && !r->bad_shapes) check_dims(r, top);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool is_known(const Case *c, const kg_expr *e) {
  for (int i = 0; i < e->count; i++)
    if (e->steps[i].op == KG_OP_VAR && !c->given[e->steps[i].value]) return false;
  return true;
}

/* With constants that the case leaves open, any choice must do: those expressions are left to the
** launch. */
void spec_case_check(Reader *r, Val v, const Case *c) {
  const Kernel *k = r->k;
  Case full = *c;
  for (int i = 0; i < k->const_count; i++) {
    if (k->consts[i].in_key || k->consts[i].count == 0) continue;
    full.values[k->dim_count + i] = k->consts[i].values[0];
    full.given[k->dim_count + i] = true;
  }
  for (int i = 0; i < k->stated_count; i++) { /* a dim in its range is asked of each value */
    int64_t holds = 1;
    if (!is_known(&full, &k->require[i])) continue;
    const char *text = arena_printf(r->a, "'%s'", k->require[i].text);
    if (!expr_eval(&k->require[i], full.values, &holds))
      diag_add(r->d, val_place(r, v), D_EXPR_FAILS, v.label, k->require[i].text,
               "it divides by zero or passes 64 bits");
    else if (!holds)
      diag_add(r->d, val_place(r, v), D_CASE_REQUIRE, v.label, text);
  }
  for (int i = 0; i < k->arg_count; i++)
    for (int j = 0; j < k->args[i].rank; j++) {
      const kg_expr *e = &k->args[i].shape[j];
      int64_t extent;
      if (!is_known(&full, e)) continue;
      const char *why = NULL;
      if (!expr_eval(e, full.values, &extent))
        why = "divides by zero or passes 64 bits";
      else if (extent < 0)
        why = arena_printf(r->a, "is %lld", (long long)extent);
      if (why)
        diag_add(r->d, val_place(r, v), D_CASE_SHAPE, v.label, k->args[i].name, j + 1,
                 arena_printf(r->a, "'%s' %s", e->text, why));
    }
}

/* ---- kernels beside each other --------------------------------------------------------------- */

typedef struct Ranked {
  const Kernel *k;
  int rank;
} Ranked; /* rank: the order in which they were read */

static int by_name(const void *x, const void *y) {
  const Ranked *p = x, *q = y;
  const int d = strcmp(p->k->name, q->k->name);
  return d ? d : p->rank - q->rank;
}

static int by_folded_name(const void *x, const void *y) {
  const Ranked *p = x, *q = y;
  const int d = strcasecmp(p->k->name, q->k->name);
  return d ? d : p->rank - q->rank;
}

/* Names that a file system which is blind to case takes for one. */
static void check_alike(SpecRun *run, Ranked *sorted, int n) {
  qsort(sorted, (size_t)n, sizeof *sorted, by_folded_name);
  for (int i = 1; i < n; i++) {
    const Kernel *k = sorted[i].k, *first = sorted[i - 1].k;
    if (strcasecmp(k->name, first->name) == 0 && strcmp(k->name, first->name) != 0)
      diag_add(run->d, (Place){k->file, k->line, 0}, D_KERNEL_ALIKE, k->name, first->name,
               first->file, first->line);
  }
}

static bool names_whole(const Kernel *k) {
  const double n = count_instances(k);
  return n >= 1 && n <= (double)SPEC_INSTANCES;
}

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char **sorted_names(Arena *a, const Kernel *k, int *count) {
  const kg_instance *list = kernel_instances(a, k, count);
  const char **names = arena_alloc(a, (size_t)*count * sizeof *names);
  for (int i = 0; i < *count; i++) names[i] = instance_name(a, &list[i]);
  qsort(names, (size_t)*count, sizeof *names, by_text);
  return names;
}

/* The longer name is the shorter one with more behind an underscore, so the two can spell one
** instance alike. */
static void check_pair(SpecRun *run, const Ranked *x, const Ranked *y) {
  if (!names_whole(x->k) || !names_whole(y->k)) return;
  int n, m;
  const char **p = sorted_names(run->a, x->k, &n), **q = sorted_names(run->a, y->k, &m);
  const Kernel *first = x->rank < y->rank ? x->k : y->k, *later = first == x->k ? y->k : x->k;
  for (int i = 0, j = 0; i < n && j < m;) {
    const int d = strcmp(p[i], q[j]);
    if (d == 0) {
      diag_add(run->d, (Place){later->file, later->line, 0}, D_INSTANCE_TWICE, later->name, p[i],
               first->name, first->file, first->line);
      return;
    }
    if (d < 0)
      i++;
    else
      j++;
  }
}

void spec_kernels_check(SpecRun *run) {
  const int n = run->kernel_count;
  Ranked *sorted = arena_alloc(run->a, (size_t)n * sizeof *sorted);
  for (int i = 0; i < n; i++) sorted[i] = (Ranked){run->kernels[i], i};
  qsort(sorted, (size_t)n, sizeof *sorted, by_name);
  for (int i = 0; i < n; i++) { /* names that begin alike stand together */
    const Kernel *k = sorted[i].k;
    const size_t len = strlen(k->name);
    for (int j = i + 1; j < n && strncmp(sorted[j].k->name, k->name, len) == 0; j++) {
      const Kernel *other = sorted[j].k;
      if (other->name[len] == '_')
        check_pair(run, &sorted[i], &sorted[j]);
      else if (other->name[len] == 0 && j == i + 1)
        diag_add(run->d, (Place){other->file, other->line, 0}, D_KERNEL_TWICE, other->name, k->file,
                 k->line);
    }
  }
  check_alike(run, sorted, n);
}

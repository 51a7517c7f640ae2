/* instance.c: the choices of dtypes and constants that a kernel is made for, their names and
** their argument block. */
#include <string.h>

#include "spec/spec.h"

Instance *kernel_instances(Arena *a, const Kernel *k, int *count) {
  int64_t n = 1;
  int keyed = 0;
  while (keyed < k->const_count && k->consts[keyed].in_key) keyed++;
  for (int i = 0; i < k->type_count; i++) n *= k->types[i].count;
  for (int i = 0; i < keyed && n < 1 << 20; i++) n *= k->consts[i].count;
  if (n >= 1 << 20) die("%s has more than a million instances", k->name);
  Instance *list = arena_alloc(a, (size_t)(n > 0 ? n : 1) * sizeof *list);
  for (int64_t at = 0; at < n; at++) {
    Instance *x = &list[at];
    int64_t rest = at; /* a number in mixed radix: the last choice is its lowest digit */
    for (int i = k->const_count - 1; i >= 0; i--) {
      const Const *c = &k->consts[i];
      x->consts[i] = c->values[c->in_key ? rest % c->count : 0];
      if (c->in_key) rest /= c->count;
    }
    for (int i = k->type_count - 1; i >= 0; i--) {
      x->types[i] = k->types[i].dtypes[rest % k->types[i].count];
      rest /= k->types[i].count;
    }
  }
  *count = (int)n;
  return list;
}

const char *instance_name(Arena *a, const Kernel *k, const Instance *x) {
  Buf b = {0};
  buf_printf(&b, "custom_kernel_%s", k->name);
  for (int i = 0; i < k->type_count; i++) buf_printf(&b, "_%s", dtype_info[x->types[i]].mlx_name);
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    if (k->consts[i].is_bool)
      buf_puts(&b, x->consts[i] ? "_t" : "_f");
    else
      buf_printf(&b, "_%lld", (long long)x->consts[i]);
  }
  const char *name = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return name;
}

const char *instance_block(Arena *a, const Kernel *k, const Instance *x, int wave,
                           const char *file) {
  Buf b = {0};
  buf_printf(&b, "#define KG_INSTANCE 1\n#define KG_WAVE %d\n", wave);
  for (int i = 0; i < k->type_count; i++)
    buf_printf(&b, "#define KG_T_%s %s\n", k->types[i].name, dtype_info[x->types[i]].name);
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key)
      buf_printf(&b, "#define KG_C_%s %lld\n", k->consts[i].name, (long long)x->consts[i]);
  buf_printf(&b, "#define KG_ENTRY %s\n#line 1 \"%s\"\n", instance_name(a, k, x), file);
  const char *block = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return block;
}

/* ---- choices from a command line ------------------------------------------------------------- */

/* "T=f32|f16|bf16 LAYOUT=0|1": what has to be chosen. */
static void put_choice(Buf *b, const Kernel *k, int i) {
  if (b->len) buf_puts(b, " ");
  if (i < k->type_count) {
    const TypeParam *t = &k->types[i];
    for (int j = 0; j < t->count; j++)
      buf_printf(b, "%s%s", j ? "|" : t->name, j ? "" : "="),
          buf_puts(b, dtype_info[t->dtypes[j]].name);
    return;
  }
  const Const *c = &k->consts[i - k->type_count];
  for (int j = 0; j < c->count; j++) {
    buf_printf(b, "%s%s", j ? "|" : c->name, j ? "" : "=");
    if (c->is_bool)
      buf_puts(b, c->values[j] ? "true" : "false");
    else
      buf_printf(b, "%lld", (long long)c->values[j]);
  }
}

static const char *choice_text(Arena *a, const Kernel *k, int i) {
  Buf b = {0};
  put_choice(&b, k, i);
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

static bool choose_type(Arena *a, const Kernel *k, int i, const char *value, Instance *x,
                        const char **why) {
  const int dtype = dtype_find(value);
  for (int j = 0; j < k->types[i].count; j++)
    if ((int)k->types[i].dtypes[j] == dtype) {
      x->types[i] = (Dtype)dtype;
      return true;
    }
  *why = arena_printf(a, "%s=%s is not a dtype that %s is made for: %s", k->types[i].name, value,
                      k->name, choice_text(a, k, i));
  return false;
}

static bool choose_const(Arena *a, const Kernel *k, int i, const char *value, Instance *x,
                         const char **why) {
  const Const *c = &k->consts[i];
  for (int j = 0; j < c->count; j++) {
    const char *number = arena_printf(a, "%lld", (long long)c->values[j]);
    const char *word = c->values[j] ? "true" : "false", *letter = c->values[j] ? "t" : "f";
    if (strcmp(value, number) == 0 ||
        (c->is_bool && (strcmp(value, word) == 0 || strcmp(value, letter) == 0))) {
      x->consts[i] = c->values[j];
      return true;
    }
  }
  *why = arena_printf(a, "%s=%s is not a value that %s lists: %s", c->name, value, k->name,
                      choice_text(a, k, k->type_count + i));
  return false;
}

bool instance_choose(Arena *a, const Kernel *k, char *const *choices, int count, Instance *x,
                     const char **why) {
  bool chosen[MAX_TYPES + MAX_CONSTS] = {0};
  const char *names[MAX_TYPES + MAX_CONSTS];
  const int total = k->type_count + k->const_count;
  for (int i = 0; i < total; i++)
    names[i] = i < k->type_count ? k->types[i].name : k->consts[i - k->type_count].name;
  memset(x, 0, sizeof *x);
  for (int i = 0; i < k->const_count; i++) {
    x->consts[i] = k->consts[i].values[0];
    chosen[k->type_count + i] = !k->consts[i].in_key;
  }
  for (int i = 0; i < count; i++) {
    const size_t len = strcspn(choices[i], "=");
    if (choices[i][len] == 0) {
      *why = arena_printf(a, "'%s' is not a choice of the form NAME=VALUE", choices[i]);
      return false;
    }
    const char *name = arena_strndup(a, choices[i], len), *value = choices[i] + len + 1;
    int at = 0;
    while (at < total && strcmp(names[at], name) != 0) at++;
    if (at == total) {
      const char *near = nearest_name(name, names, total);
      *why = near ? arena_printf(a, "%s has no type or constant '%s'; did you mean '%s'?", k->name,
                                 name, near)
                  : arena_printf(a, "%s has no type or constant '%s'", k->name, name);
      return false;
    }
    if (at >= k->type_count && !k->consts[at - k->type_count].in_key) {
      *why =
          arena_printf(a, "%s is fixed in the specification (%lld); an instance does not choose it",
                       name, (long long)k->consts[at - k->type_count].values[0]);
      return false;
    }
    if (at < k->type_count ? !choose_type(a, k, at, value, x, why)
                           : !choose_const(a, k, at - k->type_count, value, x, why))
      return false;
    chosen[at] = true;
  }
  Buf missing = {0};
  for (int i = 0; i < total; i++)
    if (!chosen[i]) put_choice(&missing, k, i);
  if (missing.len) *why = arena_printf(a, "%s still needs: %s", k->name, missing.s);
  const bool complete = missing.len == 0;
  buf_free(&missing);
  return complete;
}

/* ---- the argument block ---------------------------------------------------------------------- */

int argument_block(const Kernel *k, BlockField fields[MAX_FIELDS],
                   uint32_t *bytes) {
  int n = 0;
  uint32_t at = 0, align = 1;
  const int total = k->arg_count + k->dim_count + k->scalar_count;
  for (int i = 0; i < total; i++) {
    BlockField *f = &fields[n++];
    if (i < k->arg_count)
      *f = (BlockField){k->args[i].name, 'p', i, 0, 8};
    else if (i < k->arg_count + k->dim_count)
      *f = (BlockField){k->dims[i - k->arg_count], 'd', i - k->arg_count, 0, 4};
    else {
      const int s = i - k->arg_count - k->dim_count;
      *f = (BlockField){k->scalars[s].name, 's', s, 0,
                        (uint32_t)dtype_info[k->scalars[s].dtype].bytes};
    }
    at = (at + f->bytes - 1) / f->bytes *
         f->bytes; /* natural alignment: a multiple of its own size */
    f->offset = at;
    at += f->bytes;
    if (f->bytes > align) align = f->bytes;
  }
  *bytes = (at + align - 1) / align * align;
  return n;
}

/* ---- what a launch must satisfy -------------------------------------------------------------- */

static Expr *made(Arena *a, Expr value) {
  Expr *e = arena_alloc(a, sizeof *e);
  *e = value;
  return e;
}

const Expr **kernel_requires(Arena *a, const Kernel *k, int *count) {
  const Expr **list = arena_alloc(a, (size_t)(k->require_count + k->dim_count + 1) * sizeof *list);
  int n = 0;
  for (int i = 0; i < k->require_count; i++) list[n++] = k->require[i];
  for (int i = 0; i < k->dim_count; i++) {
    if (k->dim_max[i] <= 0 || k->dim_max[i] >= UINT32_MAX)
      continue; /* every dim fits a u32 anyway */
    Expr *dim = made(a, (Expr){.op = EX_VAR, .kind = VAR_DIM, .index = i, .name = k->dims[i]});
    list[n++] = made(
        a,
        (Expr){.op = EX_LE, .a = dim, .b = made(a, (Expr){.op = EX_INT, .value = k->dim_max[i]})});
  }
  *count = n;
  return list;
}

/* ---- a port's own constants in an expression ------------------------------------------------- */

static Expr *substitute(Arena *a, const Port *p, const Expr *e) {
  if (!e) return NULL;
  Expr *own = arena_alloc(a, sizeof *own);
  *own = *e;
  for (int i = 0; e->op == EX_VAR && e->kind == VAR_CONST && i < p->define_count; i++)
    if (strcmp(p->defines[i].name, e->name) == 0)
      *own = (Expr){.op = EX_INT, .value = p->defines[i].value};
  own->a = substitute(a, p, e->a);
  own->b = substitute(a, p, e->b);
  own->c = substitute(a, p, e->c);
  return own;
}

const Expr *port_expr(Arena *a, const Port *p, const Expr *e) {
  if (!e) {
    Expr *one = arena_alloc(a, sizeof *one);
    *one = (Expr){.op = EX_INT, .value = 1};
    return one;
  }
  return p && p->define_count ? substitute(a, p, e) : e;
}

/* ---- ports ------------------------------------------------------------------------------------ */

const Port *kernel_port(const Kernel *k, const char *backend, int *index) {
  for (int i = 0; i < k->port_count; i++) {
    if (strcmp(k->ports[i].backend->name, backend) != 0) continue;
    if (index) *index = i;
    return &k->ports[i];
  }
  return NULL;
}

const char *port_file(Arena *a, const Kernel *k, const Port *p) {
  return arena_printf(a, "%s/%s.%s", p->backend->name, k->name, p->backend->extension);
}

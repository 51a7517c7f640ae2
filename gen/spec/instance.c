/* instance.c: the choices of dtypes and constants that a kernel is made for, and what a port makes
** of its kernel. */
#include <string.h>

#include "base/lex.h"
#include "spec/spec.h"

kg_instance *kernel_instances(Arena *a, const Kernel *k, int *count) {
  int64_t n = 1;
  int keyed = 0;
  while (keyed < k->const_count && k->consts[keyed].in_key) keyed++;
  for (int i = 0; i < k->type_count; i++) n *= k->types[i].count;
  for (int i = 0; i < keyed && n < 1 << 20; i++) n *= k->consts[i].count;
  if (n >= 1 << 20) die("%s has more than a million instances", k->name);
  kg_instance *list = arena_alloc(a, (size_t)(n > 0 ? n : 1) * sizeof *list);
  for (int64_t at = 0; at < n; at++) {
    kg_instance *x = &list[at];
    int64_t rest = at; /* a number in mixed radix: the last choice is its lowest digit */
    x->kernel = &k->model;
    for (int i = k->const_count - 1; i >= 0; i--) {
      const kg_const_param *c = &k->consts[i];
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

const char *instance_name(Arena *a, const kg_instance *x) {
  char name[KG_NAME_BYTES];
  kg_error error;
  if (kg_instance_name(x, name, &error) != KG_OK) die("%s", error.message);
  return arena_strdup(a, name);
}

const char *instance_block(Arena *a, const kg_instance *x, int wave, const char *file) {
  kg_instance at_width = *x;
  const kg_port port = {.file = file};
  char name[KG_NAME_BYTES], block[KG_BLOCK_BYTES];
  size_t bytes;
  kg_error error;
  at_width.wave = wave;
  if (kg_instance_name(x, name, &error) != KG_OK ||
      kg_instance_block(&at_width, &port, name, block, &bytes, &error) != KG_OK)
    die("%s", error.message);
  return arena_strndup(a, block, bytes);
}

/* ---- choices from a command line ------------------------------------------------------------- */

/* "T=f32|f16|bf16 LAYOUT=0|1": what has to be chosen. */
static void put_choice(Buf *b, const Kernel *k, int i) {
  if (b->len) buf_puts(b, " ");
  if (i < k->type_count) {
    const kg_type_param *t = &k->types[i];
    for (int j = 0; j < t->count; j++)
      buf_printf(b, "%s%s", j ? "|" : t->name, j ? "" : "="),
          buf_puts(b, kg_dtype_name(t->dtypes[j]));
    return;
  }
  const kg_const_param *c = &k->consts[i - k->type_count];
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

static bool choose_type(Arena *a, const Kernel *k, int i, const char *value, kg_instance *x,
                        const char **why) {
  x->types[i] = kg_dtype_find(value);
  if (kg_type_has(&k->types[i], x->types[i])) return true;
  *why = arena_printf(a, "%s=%s is not a dtype that %s is made for: %s", k->types[i].name, value,
                      k->name, choice_text(a, k, i));
  return false;
}

static bool choose_const(Arena *a, const Kernel *k, int i, const char *value, kg_instance *x,
                         const char **why) {
  const kg_const_param *c = &k->consts[i];
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

/* Which choice (types, then constants) the name is; -1: none, and *why says so. */
static int choice_find(Arena *a, const Kernel *k, const char *name, const char **why) {
  const char *names[MAX_TYPES + MAX_CONSTS];
  const int total = k->type_count + k->const_count;
  for (int i = 0; i < total; i++)
    names[i] = i < k->type_count ? k->types[i].name : k->consts[i - k->type_count].name;
  const kg_symbol s = kg_symbol_named(&k->model, name);
  if (s.kind == KG_TYPE) return s.index;
  if (s.kind == KG_CONST && !k->consts[s.index].in_key)
    *why =
        arena_printf(a, "%s is fixed in the specification (%lld); an instance does not choose it",
                     name, (long long)k->consts[s.index].values[0]);
  else if (s.kind == KG_CONST)
    return k->type_count + s.index;
  else {
    const char *near = nearest_name(name, names, total);
    *why = near ? arena_printf(a, "%s has no type or constant '%s'; did you mean '%s'?", k->name,
                               name, near)
                : arena_printf(a, "%s has no type or constant '%s'", k->name, name);
  }
  return -1;
}

bool instance_choose(Arena *a, const Kernel *k, char *const *choices, int count, kg_instance *x,
                     const char **why) {
  bool chosen[MAX_TYPES + MAX_CONSTS] = {0};
  *x = (kg_instance){.kernel = &k->model};
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
    const int at = choice_find(a, k, name, why);
    if (at < 0) return false;
    if (at < k->type_count ? !choose_type(a, k, at, value, x, why)
                           : !choose_const(a, k, at - k->type_count, value, x, why))
      return false;
    chosen[at] = true;
  }
  Buf missing = {0};
  for (int i = 0; i < k->type_count + k->const_count; i++)
    if (!chosen[i]) put_choice(&missing, k, i);
  if (missing.len) *why = arena_printf(a, "%s still needs: %s", k->name, missing.s);
  const bool complete = missing.len == 0;
  buf_free(&missing);
  return complete;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static const Define *port_define(const Port *p, const char *name) {
  for (int i = 0; i < p->define_count; i++)
    if (strcmp(p->defines[i].name, name) == 0) return &p->defines[i];
  return NULL;
}

int64_t port_const(const Kernel *k, const Port *p, int constant, int64_t otherwise) {
  const Define *own = port_define(p, k->consts[constant].name);
  return own ? own->value : otherwise;
}

kg_expr port_expr(Arena *a, const Kernel *k, const Port *p, const kg_expr *e) {
  if (!p || p->define_count == 0 || e->count == 0) return *e;
  kg_step *steps = arena_alloc(a, (size_t)e->count * sizeof *steps);
  for (int i = 0; i < e->count; i++) {
    steps[i] = e->steps[i];
    if (steps[i].op != KG_OP_VAR) continue;
    const Define *own = port_define(p, kg_symbol_at(&k->model, (int)steps[i].value).name);
    if (own) steps[i] = (kg_step){KG_OP_INT, own->value};
  }
  return expr_of_steps(a, &k->model, steps, e->count);
}

const Port *kernel_port(const Kernel *k, const char *backend, int *index) {
  for (int i = 0; i < k->port_count; i++) {
    if (strcmp(k->ports[i].backend->name, backend) != 0) continue;
    if (index) *index = i;
    return &k->ports[i];
  }
  return NULL;
}

static void slot_set(Kernel *k, const Port *p, const kg_port *launch, const char *reason) {
  const struct {
    const kg_port **port;
    const char **why;
  } field[KERNEL_SLOTS] = {
      {&k->slots.metal, &k->slots.why.metal},
      {&k->slots.cuda, &k->slots.why.cuda},
      {&k->slots.rocm, &k->slots.why.rocm},
  }; /* by kernel_slots */
  const int slot = backend_slot(p->backend);
  if (slot >= 0) {
    *field[slot].port = launch;
    *field[slot].why = reason;
    return;
  }
  kg_other_port *other = k->others;
  while (other->backend && strcmp(other->backend, p->backend->name) != 0) other++;
  *other = (kg_other_port){p->backend->name, launch, reason};
  k->slots.others = k->others;
}

void port_launchable(Arena *a, Kernel *k, Port *p) {
  const Backend *b = p->backend;
  k->slots.version = KG_TABLES_VERSION;
  k->slots.kernel = k->name;
  k->slots.fallback = k->fallback;
  k->model.ports = &k->slots;
  slot_set(k, p, NULL, p->absent ? p->absent : "its text was not made");
  if (p->absent) return;
  const char **options = arena_alloc(a, ((size_t)b->option_count + 1) * sizeof *options);
  for (int i = 0; i < b->option_count; i++) options[i] = b->options[i];
  p->launch = (kg_port){.backend = b->name,
                        .file = port_file(a, k, p),
                        .options = options,
                        .waves = p->waves,
                        .native = p->native != NULL};
  for (int i = 0; i < 3; i++) {
    p->launch.groups[i] = port_expr(a, k, p, &k->groups[i]);
    p->launch.threads[i] = port_expr(a, k, p, &p->threads[i]);
  }
}

void port_emitted(Kernel *k, Port *p, const char *text, uint32_t shared_bytes) {
  p->launch.text = text;
  p->launch.shared_bytes = shared_bytes;
  slot_set(k, p, &p->launch, NULL);
}

const char *port_file(Arena *a, const Kernel *k, const Port *p) {
  return arena_printf(a, "%s/%s.%s", p->backend->name, k->name, p->backend->extension);
}

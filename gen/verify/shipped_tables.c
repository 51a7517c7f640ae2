/* shipped_tables.c: every table of kernels.c, field by field, against what the specification's
** reader made.  See shipped.h. */
#include <stdlib.h>
#include <string.h>

#include "verify/shipped.h"

typedef struct Compare {
  ShippedReport *to;
  const Kernel *k;
  char what[256]; /* "the HIP port's groups on axis 1" */
} Compare;

static void of(Compare *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void of(Compare *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->what, sizeof c->what, format, args);
  va_end(args);
}

static bool same_number(const Compare *c, const char *field, int64_t got, int64_t want) {
  if (got != want)
    shipped_found(c->to, c->k, "kernels.c: %s%s is %lld, and by the specification %lld", c->what,
                  field, (long long)got, (long long)want);
  return got == want;
}

static const char *shown(const char *text) { return text != NULL ? text : "nothing"; }

static bool same_text(const Compare *c, const char *field, const char *got, const char *want) {
  if (got == want || (got != NULL && want != NULL && strcmp(got, want) == 0)) return true;
  shipped_found(c->to, c->k, "kernels.c: %s%s is \"%s\", and by the specification \"%s\"", c->what,
                field, shown(got), shown(want));
  return false;
}

static void same_dtype(const Compare *c, const char *field, kg_dtype got, kg_dtype want) {
  if (got != want)
    shipped_found(c->to, c->k, "kernels.c: %s%s is %s, and by the specification %s", c->what, field,
                  kg_dtype_info(got) != NULL ? kg_dtype_name(got) : "no dtype",
                  kg_dtype_name(want));
}

/* Its words, and what is computed. */
static void same_expr(const Compare *c, const char *field, const kg_expr *got,
                      const kg_expr *want) {
  if (!same_text(c, field, got->text, want->text)) return;
  bool same = got->count == want->count;
  for (int i = 0; same && i < want->count; i++)
    same = got->steps[i].op == want->steps[i].op && got->steps[i].value == want->steps[i].value;
  if (!same)
    shipped_found(c->to, c->k, "kernels.c: %s%s is computed by other steps than those of \"%s\"",
                  c->what, field, want->text);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void compare_params(Compare *c, const kg_kernel *got) {
  const Kernel *k = c->k;
  of(c, "the number of ");
  const bool types = same_number(c, "types", got->type_count, k->type_count),
             consts = same_number(c, "constants", got->const_count, k->const_count),
             dims = same_number(c, "dims", got->dim_count, k->dim_count),
             scalars = same_number(c, "scalars", got->scalar_count, k->scalar_count);
  for (int i = 0; types && i < k->type_count; i++) {
    const kg_type_param *x = &got->types[i], *y = &k->types[i];
    of(c, "type %d", i);
    same_text(c, "", x->name, y->name);
    of(c, "the type %s", y->name);
    if (!same_number(c, "'s number of dtypes", x->count, y->count)) continue;
    for (int n = 0; n < y->count; n++) same_dtype(c, "'s dtype", x->dtypes[n], y->dtypes[n]);
  }
  for (int i = 0; consts && i < k->const_count; i++) {
    const kg_const_param *x = &got->consts[i], *y = &k->consts[i];
    of(c, "constant %d", i);
    same_text(c, "", x->name, y->name);
    of(c, "the constant %s", y->name);
    same_number(c, ": that it is a bool", x->is_bool, y->is_bool);
    same_number(c, ": that an instance chooses it", x->in_key, y->in_key);
    if (!same_number(c, "'s number of values", x->count, y->count)) continue;
    for (int n = 0; n < y->count; n++) same_number(c, "'s value", x->values[n], y->values[n]);
  }
  for (int i = 0; dims && i < k->dim_count; i++) {
    of(c, "dim %d", i);
    same_text(c, "", got->dims[i], k->dims[i]);
  }
  for (int i = 0; scalars && i < k->scalar_count; i++) {
    of(c, "scalar %d", i);
    same_text(c, "", got->scalars[i].name, k->scalars[i].name);
    of(c, "the scalar %s", k->scalars[i].name);
    same_dtype(c, "'s dtype", got->scalars[i].dtype, k->scalars[i].dtype);
  }
}

static void compare_args(Compare *c, const kg_kernel *got) {
  const Kernel *k = c->k;
  of(c, "the number of ");
  const bool args = same_number(c, "arguments", got->arg_count, k->arg_count),
             require = same_number(c, "requirements", got->require_count, k->require_count);
  for (int i = 0; args && i < k->arg_count; i++) {
    const kg_arg *x = &got->args[i], *y = &k->args[i];
    of(c, "argument %d", i);
    same_text(c, "", x->name, y->name);
    of(c, "the argument %s", y->name);
    same_number(c, ": that it is written", x->output, y->output);
    if (same_number(c, "'s type", x->type, y->type) && y->type < 0)
      same_dtype(c, "'s dtype", x->dtype, y->dtype);
    same_number(c, "'s alignment", x->align, y->align);
    if (!same_number(c, "'s rank", x->rank, y->rank)) continue;
    for (int d = 0; d < y->rank; d++) {
      of(c, "the argument %s's shape on axis %d", y->name, d);
      same_expr(c, "", &x->shape[d], &y->shape[d]);
    }
  }
  for (int i = 0; require && i < k->require_count; i++) {
    of(c, "requirement %d", i);
    same_expr(c, "", &got->require[i], &k->require[i]);
  }
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Lines from 1; where two texts part. */
static int line_of_difference(const char *x, const char *y) {
  int line = 1;
  for (; *x && *x == *y; x++, y++) line += *x == '\n';
  return line;
}

static void compare_port(Compare *c, const char *slot, const kg_port *got, const kg_port *want) {
  of(c, "the %s port", slot);
  if ((got == NULL) != (want == NULL)) {
    shipped_found(c->to, c->k, "kernels.c: the %s port is %s, and by the specification %s", slot,
                  got != NULL ? "there" : "absent", want != NULL ? "there" : "absent");
    return;
  }
  if (want == NULL) return;
  same_text(c, "'s backend", got->backend, want->backend);
  same_text(c, "'s file", got->file, want->file);
  if (strcmp(got->text, want->text) != 0)
    shipped_found(c->to, c->k, "kernels.c: the %s port's text is not that of %s, from line %d on",
                  slot, want->file, line_of_difference(got->text, want->text));
  for (int i = 0;; i++) {
    same_text(c, "'s option", got->options[i], want->options[i]);
    if (got->options[i] == NULL || want->options[i] == NULL) break;
  }
  same_number(c, "'s widths", got->waves, want->waves);
  same_number(c, "'s bytes of shared memory", got->shared_bytes, want->shared_bytes);
  for (int axis = 0; axis < 3; axis++) {
    of(c, "the %s port's groups on axis %c", slot, "xyz"[axis]);
    same_expr(c, "", &got->groups[axis], &want->groups[axis]);
    of(c, "the %s port's threads on axis %c", slot, "xyz"[axis]);
    same_expr(c, "", &got->threads[axis], &want->threads[axis]);
  }
}

/* An empty slot has a reason, also one that the specification does not speak of. */
static void compare_slot(Compare *c, const char *slot, const kg_port *got, const kg_port *want,
                         const char *got_why, const char *want_why) {
  compare_port(c, slot, got, want);
  of(c, "why there is no %s port", slot);
  if (want == NULL && want_why == NULL) want_why = "its specification does not name it";
  same_text(c, "", got_why, want_why);
}

static void compare_ports(Compare *c, const KernelPorts *got) {
  const KernelPorts *want = c->k->model.ports;
  of(c, "the ports' ");
  same_number(c, "version", got->version, want->version);
  same_text(c, "kernel", got->kernel, want->kernel);
  same_text(c, "fallback", got->fallback, want->fallback);
  compare_slot(c, "metal", got->metal, want->metal, got->why.metal, want->why.metal);
  compare_slot(c, "cuda", got->cuda, want->cuda, got->why.cuda, want->why.cuda);
  compare_slot(c, "rocm", got->rocm, want->rocm, got->why.rocm, want->why.rocm);
  const kg_other_port none = {NULL, NULL, NULL}, *x = got->others ? got->others : &none,
                      *y = want->others ? want->others : &none;
  for (;; x++, y++) {
    of(c, "the other port's ");
    same_text(c, "backend", x->backend, y->backend);
    if (x->backend == NULL || y->backend == NULL) break;
    compare_port(c, y->backend, x->port, y->port);
    of(c, "why there is no %s port", y->backend);
    same_text(c, "", x->why, y->why);
  }
}

/* ---- all ------------------------------------------------------------------------------------- */

void shipped_tables(ShippedReport *to, const Library *l, const ShippedObject *object) {
  const Spec *spec = l->spec;
  Compare all = {.to = to};
  const bool counted = same_number(&all, "kg_kernel_count", *object->count, spec->kernel_count);
  for (int i = 0; i < spec->kernel_count; i++) {
    Compare c = {.to = to, .k = spec->kernels[i]};
    const ShippedKernel *got = &object->kernels[i];
    shipped_at(to, c.k, "reading the tables of kernels.c");
    if (counted && object->list[i] != got->kernel)
      shipped_found(to, c.k, "kernels.c: kg_kernels[%d] is not %s_kernel", i, c.k->name);
    if (got->kernel->ports != got->ports)
      shipped_found(to, c.k, "kernels.c: %s_kernel's ports are not %s_ports", c.k->name, c.k->name);
    of(&c, "the kernel's ");
    same_number(&c, "version", got->kernel->version, KG_TABLES_VERSION);
    same_text(&c, "name", got->kernel->name, c.k->name);
    same_text(&c, "summary", got->kernel->summary, c.k->summary != NULL ? c.k->summary : "");
    compare_params(&c, got->kernel);
    compare_args(&c, got->kernel);
    compare_ports(&c, got->ports);
  }
  shipped_at(to, NULL, "reading kg_kernels");
  if (counted && object->list[spec->kernel_count] != NULL)
    shipped_found(to, NULL, "kernels.c: kg_kernels does not end with NULL");
}

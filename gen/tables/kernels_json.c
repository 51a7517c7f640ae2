/* kernels_json.c: generated/kernels.json, what the C tables say, for other languages. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/block.h"
#include "tables/ctext.h"
#include "tables/tables.h"

/* ---- kernels.json --------------------------------------------------------------------------- */

static void put_text(Json *j, const char *key, const char *value) {
  json_key(j, key);
  json_string(j, value);
}

static void put_int(Json *j, const char *key, int64_t value) {
  json_key(j, key);
  json_int(j, value);
}

static void put_axes(Json *j, const char *key, const kg_expr e[3]) {
  json_key(j, key);
  json_open_flat(j, '[');
  for (int i = 0; i < 3; i++) json_string(j, e[i].text);
  json_close(j);
}

static void put_waves(Json *j, const char *key, unsigned waves) {
  json_key(j, key);
  json_open_flat(j, '[');
  if (waves & 1u) json_int(j, 32);
  if (waves & 2u) json_int(j, 64);
  json_close(j);
}

static void put_value(Json *j, bool is_bool, int64_t value) {
  if (is_bool)
    json_bool(j, value != 0);
  else
    json_int(j, value);
}

static void put_params(Json *j, const Kernel *k) {
  json_key(j, "types");
  json_open(j, '[');
  for (int i = 0; i < k->type_count; i++) {
    json_open_flat(j, '{');
    put_text(j, "name", k->types[i].name);
    json_key(j, "dtypes");
    json_open_flat(j, '[');
    for (int n = 0; n < k->types[i].count; n++)
      json_string(j, kg_dtype_name(k->types[i].dtypes[n]));
    json_close(j);
    json_close(j);
  }
  json_close(j);
  json_key(j, "consts");
  json_open(j, '[');
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    json_open_flat(j, '{');
    put_text(j, "name", c->name);
    json_key(j, "in_key");
    json_bool(j, c->in_key);
    json_key(j, "values");
    json_open_flat(j, '[');
    for (int n = 0; n < c->count; n++) put_value(j, c->is_bool, c->values[n]);
    json_close(j);
    json_close(j);
  }
  json_close(j);
  json_key(j, "dims");
  json_open(j, '[');
  for (int i = 0; i < k->dim_count; i++) {
    json_open_flat(j, '{');
    put_text(j, "name", k->dims[i]);
    put_int(j, "max", k->dim_max[i]);
    json_close(j);
  }
  json_close(j);
}

static void put_real(Json *j, const char *key, double value) {
  json_key(j, key);
  json_real(j, value);
}

/* Which values come, where the specification says. */
static void put_domain(Json *j, const ArgDomain *d) {
  if (d->has_index) put_text(j, "index", d->index.text);
  if (d->has_range) {
    json_key(j, "range");
    json_open_flat(j, '[');
    json_real(j, d->low);
    json_real(j, d->high);
    json_close(j);
  }
  if (!d->finite) return;
  json_key(j, "finite");
  json_bool(j, true);
}

static void put_args(Json *j, const Kernel *k, bool output) {
  json_key(j, output ? "outputs" : "inputs");
  json_open(j, '[');
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    if (arg->output != output) continue;
    json_open_flat(j, '{');
    put_text(j, "name", arg->name);
    put_text(j, arg->type >= 0 ? "type" : "dtype", arg_type_text(k, arg));
    json_key(j, "shape");
    json_open_flat(j, '[');
    for (int d = 0; d < arg->rank; d++) json_string(j, arg->shape[d].text);
    json_close(j);
    if (arg->align) put_int(j, "align", arg->align); /* bytes; else an element's */
    put_domain(j, &k->domains[i]);
    json_close(j);
  }
  json_close(j);
}

static void put_argument_block(Json *j, const Kernel *k) {
  kg_block_field fields[KG_MAX_FIELDS];
  uint32_t bytes;
  const int n = kg_block_layout(&k->model, fields, &bytes);
  json_key(j, "argument_block");
  json_open(j, '{');
  put_int(j, "bytes", bytes);
  json_key(j, "fields");
  json_open(j, '[');
  for (int i = 0; i < n; i++) {
    const kg_block_field *f = &fields[i];
    json_open_flat(j, '{');
    put_text(j, "name", f->symbol.name);
    put_text(j, "is",
             f->symbol.kind == KG_DIM      ? "u32"
             : f->symbol.kind == KG_SCALAR ? kg_dtype_name(k->scalars[f->symbol.index].dtype)
                                           : "pointer");
    put_int(j, "offset", f->offset);
    put_int(j, "bytes", f->bytes);
    json_close(j);
  }
  json_close(j);
  json_close(j);
}

/* Bytes of LOCAL memory at each width, in the order of `instances`. */
static void put_shared(Json *j, Arena *a, const Kernel *k, const Port *p, const Facts *f) {
  int count = 0;
  kernel_instances(a, k, &count);
  json_key(j, "shared_bytes");
  json_open(j, '{');
  for (int w = 0; w < WAVES; w++) {
    if (!(p->waves & (1u << w))) continue;
    json_key(j, w ? "64" : "32");
    json_open_flat(j, '[');
    for (int i = 0; i < count; i++)
      json_int(j, f->instance_shared[w] ? f->instance_shared[w][i] : f->shared_bytes[w]);
    json_close(j);
  }
  json_close(j);
}

/* A text that its owner wrote.  A whole kernel for Metal binds its arguments each by itself, in this
** order; all others are bound as the table has them. */
static void put_native(Json *j, const Kernel *k, const Facts *f) {
  const bool bound = f && native_binds(f);
  json_key(j, "native");
  json_open_flat(j, '{');
  json_key(j, "buffers");
  if (!bound) json_string(j, NULL);
  if (bound) json_open_flat(j, '[');
  for (int i = 0; bound && native_argument(k, f, i); i++) json_string(j, native_argument(k, f, i));
  if (bound) json_close(j);
  json_close(j);
}

static void put_port(Json *j, Arena *a, const Kernel *k, const Port *p, const Facts *f) {
  json_key(j, p->backend->name);
  json_open(j, '{');
  put_text(j, "slot", p->backend->slot);
  put_text(j, "absent", p->absent);
  if (!p->absent) {
    put_text(j, "file", port_file(a, k, p));
    put_text(j, "body", p->body);
    if (p->native) put_native(j, k, f);
    put_waves(j, "waves", p->waves);
    put_axes(j, "groups", p->launch.groups);
    put_axes(j, "threads", p->launch.threads);
    json_key(j, "options");
    json_open_flat(j, '[');
    for (int i = 0; i < p->backend->option_count; i++) json_string(j, p->backend->options[i]);
    json_close(j);
    json_key(j, "define");
    json_open_flat(j, '{');
    for (int i = 0; i < p->define_count; i++) {
      json_key(j, p->defines[i].name);
      put_value(j, p->defines[i].is_bool, p->defines[i].value);
    }
    json_close(j);
    put_text(j, "bits", p->mlx_bits ? "mlx" : "portable");
    put_text(j, "why", p->why_defines);
    if (f) put_shared(j, a, k, p, f);
  }
  json_close(j);
}

static void put_tolerance(Json *j, const Tolerance *t) {
  json_open_flat(j, '{');
  json_key(j, "rms");
  json_real(j, t->rms);
  json_key(j, "max");
  json_real(j, t->max);
  json_close(j);
}

/* By the dtype of an output; then the outputs that have one of their own. */
static void put_tolerances(Json *j, const Kernel *k) {
  bool used[KG_DTYPES] = {0};
  for (int i = k->input_count; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    if (arg->type < 0) used[arg->dtype] = true;
    for (int n = 0; arg->type >= 0 && n < k->types[arg->type].count; n++)
      used[k->types[arg->type].dtypes[n]] = true;
  }
  json_key(j, "tolerance");
  json_open(j, '{');
  for (int i = 0; i < KG_DTYPES; i++) {
    if (!used[i]) continue;
    json_key(j, kg_dtype_name((kg_dtype)i));
    put_tolerance(j, &k->tolerance[i]);
  }
  json_close(j);
  json_key(j, "output_tolerance");
  json_open(j, '{');
  for (int i = k->input_count; i < k->arg_count; i++) {
    if (!k->has_out_tolerance[i]) continue;
    json_key(j, k->args[i].name);
    put_tolerance(j, &k->out_tolerance[i]);
  }
  json_close(j);
}

static void put_instances(Json *j, Arena *a, const Kernel *k) {
  int count = 0;
  const kg_instance *list = kernel_instances(a, k, &count);
  json_key(j, "instances");
  json_open(j, '[');
  for (int i = 0; i < count; i++) {
    json_open_flat(j, '{');
    put_text(j, "name", instance_name(a, &list[i]));
    for (int t = 0; t < k->type_count; t++)
      put_text(j, k->types[t].name, kg_dtype_name(list[i].types[t]));
    for (int c = 0; c < k->const_count; c++) {
      if (!k->consts[c].in_key) continue;
      json_key(j, k->consts[c].name);
      put_value(j, k->consts[c].is_bool, list[i].consts[c]);
    }
    json_close(j);
  }
  json_close(j);
}

static void put_kernel(Json *j, Arena *a, const Kernel *k, Facts *const *facts) {
  json_open(j, '{');
  put_text(j, "name", k->name);
  put_text(j, "summary", k->summary);
  put_text(j, "fallback", k->fallback);
  put_params(j, k);
  put_args(j, k, false);
  json_key(j, "scalars");
  json_open(j, '[');
  for (int i = 0; i < k->scalar_count; i++) {
    json_open_flat(j, '{');
    put_text(j, "name", k->scalars[i].name);
    put_text(j, "dtype", kg_dtype_name(k->scalars[i].dtype));
    if (k->scalar_domains[i].has_min) put_real(j, "min", k->scalar_domains[i].min);
    if (k->scalar_domains[i].has_max) put_real(j, "max", k->scalar_domains[i].max);
    json_close(j);
  }
  json_close(j);
  put_args(j, k, true);
  put_axes(j, "groups", k->groups);
  put_axes(j, "threads", k->threads);
  json_key(j, "require");
  json_open_flat(j, '[');
  for (int i = 0; i < k->stated_count; i++) json_string(j, k->require[i].text);
  json_close(j);
  put_waves(j, "waves", k->waves);
  put_tolerances(j, k);
  put_argument_block(j, k);
  json_key(j, "ports");
  json_open(j, '{');
  for (int i = 0; i < k->port_count; i++) put_port(j, a, k, &k->ports[i], facts ? facts[i] : NULL);
  json_close(j);
  put_instances(j, a, k);
  json_close(j);
}

char *emit_json(Arena *a, const Library *l) {
  Json j = {0};
  json_open(&j, '{');
  put_text(&j, "generated",
           arena_printf(a, "by kgen from %s; do not edit: change the specification and run kgen",
                        spec_name(l)));
  put_text(&j, "stamp", "content 00000000000000000000000000000000");
  json_key(&j, "backends");
  json_open(&j, '[');
  for (int i = 0; i < l->backend_count; i++) {
    const Backend *b = l->backends[i];
    json_open_flat(&j, '{');
    put_text(&j, "name", b->name);
    put_text(&j, "title", b->title);
    put_text(&j, "slot", b->slot);
    put_waves(&j, "waves", b->waves);
    json_close(&j);
  }
  json_close(&j);
  json_key(&j, "kernels");
  json_open(&j, '[');
  for (int i = 0; i < l->spec->kernel_count; i++)
    put_kernel(&j, a, l->spec->kernels[i], l->facts ? l->facts[i] : NULL);
  json_close(&j);
  json_key(&j, "paths");
  json_open(&j, '[');
  for (int i = 0; i < l->spec->set_count; i++) {
    const KernelSet *p = l->spec->sets[i];
    json_open_flat(&j, '{');
    put_text(&j, "name", p->name);
    json_key(&j, "kernels");
    json_open_flat(&j, '[');
    for (int n = 0; n < p->kernel_count; n++) json_string(&j, p->kernels[n]);
    json_close(&j);
    json_close(&j);
  }
  json_close(&j);
  json_close(&j);
  return json_finish(&j, a);
}

/* output_fixture.h: a library of two kernels and four backends made by hand, so that the writing
** passes are tested without Lua or libclang.  One backend has no slot in KernelPorts; texts and
** reasons hold what is hard to quote. */
#ifndef OUTPUT_FIXTURE_H
#define OUTPUT_FIXTURE_H

#include <string.h>

#include "passes.h"

typedef struct Fixture {
  Arena *a;
  Spec spec;
  Kernel scale, copy;
  Kernel *kernels[2];
  Backend backends[4];
  const Backend *backend_list[4];
  Facts facts;
  Facts *facts_by_port[2][5];
  Facts **facts_list[2];
  Library library;
} Fixture;

static inline kg_expr *fx_shape(Fixture *f, kg_expr first, kg_expr second) {
  kg_expr *shape = arena_alloc(f->a, 2 * sizeof *shape);
  shape[0] = first, shape[1] = second;
  return shape;
}

static inline kg_expr fx_op(Fixture *f, const Kernel *k, kg_op op, kg_expr x, kg_expr y) {
  return expr_of(f->a, &k->model, op, (const kg_expr[]){x, y});
}

static inline void fx_ports(Fixture *f, Kernel *k) {
  k->port_count = 4;
  for (int i = 0; i < 4; i++) {
    k->ports[i] =
        (Port){.backend = &f->backends[i], .body = k->body, .waves = f->backends[i].waves};
    for (int n = 0; n < 3; n++) k->ports[i].threads[n] = k->threads[n];
  }
}

/* scale: two types, a choice and a flag in the key, a fixed constant, dims, all scalar dtypes,
** an input and two outputs. */
static inline void fx_scale(Fixture *f) {
  Kernel *k = &f->scale;
  *k = (Kernel){.name = "scale",
                .summary = "y = x * factor, /* not */ more.",
                .fallback = "multiply in the graph",
                .file = "kernels.lua",
                .line = 3,
                .folder = "",
                .waves = 3,
                .body = "templates/kernels/scale.kc"};
  static const kg_dtype t[] = {KG_F32, KG_BF16}, tw[] = {KG_F16};
  static const int64_t flip[] = {0, 1}, layout[] = {1, -2}, thread_values[] = {256};
  kernel_room(f->a, k);
  k->type_count = 2;
  k->room->types[0] = (kg_type_param){"T", 2, t};
  k->room->types[1] = (kg_type_param){"TW", 1, tw};
  k->const_count = 3;
  k->room->consts[0] = (kg_const_param){"FLIP", true, true, 2, flip};
  k->room->consts[1] = (kg_const_param){"LAYOUT", false, true, 2, layout};
  k->room->consts[2] = (kg_const_param){"THREADS", false, false, 1, thread_values};
  k->dim_count = 3;
  k->room->dims[0] = "rows", k->room->dims[1] = "D", k->room->dims[2] = "odd";
  k->dim_max[0] = k->dim_max[1] = 4294967295, k->dim_max[2] = 77;
  k->scalar_count = 3;
  k->room->scalars[0] = (kg_scalar_param){"factor", KG_F32};
  k->room->scalars[1] = (kg_scalar_param){"shift", KG_I32};
  k->room->scalars[2] = (kg_scalar_param){"seed", KG_U32};
  const kg_expr rows = expr_var(f->a, &k->model, KG_DIM, 0),
                d = expr_var(f->a, &k->model, KG_DIM, 1),
                odd = expr_var(f->a, &k->model, KG_DIM, 2), one = expr_int(f->a, 1),
                threads = expr_var(f->a, &k->model, KG_CONST, 2);
  k->arg_count = 4, k->input_count = 2;
  k->room->args[0] = (kg_arg){.name = "x", .type = 0, .rank = 2, .shape = fx_shape(f, rows, d)};
  k->room->args[1] = (kg_arg){
      .name = "table", .type = -1, .dtype = KG_U32, .rank = 1, .shape = fx_shape(f, odd, odd)};
  k->room->args[2] =
      (kg_arg){.name = "y",
               .type = 0,
               .output = true,
               .rank = 2,
               .shape = fx_shape(f, rows, fx_op(f, k, KG_OP_MUL, expr_int(f->a, 2), d))};
  k->room->args[3] =
      (kg_arg){.name = "weights", .type = 1, .output = true, .rank = 1, .shape = fx_shape(f, d, d)};
  k->domains[0] = (ArgDomain){.has_range = true, .low = -1, .high = 0.5, .finite = true};
  k->domains[1] = (ArgDomain){.has_index = true, .index = rows};
  k->scalar_domains[2] = (ScalarDomain){.has_min = true, .min = 1};
  k->groups[0] = rows, k->groups[1] = fx_op(f, k, KG_OP_CEIL_DIV, d, threads), k->groups[2] = one;
  k->threads[0] = threads, k->threads[1] = one, k->threads[2] = one;
  k->stated_count = 1, k->require_count = 2; /* and the range of odd */
  k->room->require[0] = fx_op(f, k, KG_OP_GE, d, one);
  k->room->require[1] = fx_op(f, k, KG_OP_LE, odd, expr_int(f->a, 77));
  k->tolerance[KG_F32] = (Tolerance){1e-6, 1e-5};
  k->tolerance[KG_BF16] = (Tolerance){0.008, 0.016};
  k->tolerance[KG_F16] = (Tolerance){0.001, 0.002};
  k->has_out_tolerance[3] = true;
  k->allow_count = 1;
  k->allow[0].code = "E123", k->allow[0].reason = "the row | is one wave";
  fx_ports(f, k);
  k->ports[1].absent = "the graph is \"as fast\" there \\ ?\?/";
  k->ports[2].define_count = 1;
  k->ports[2].defines[0] = (Define){"THREADS", false, 128};
  k->ports[2].why_defines = "fewer registers";
}

/* copy: nothing but what a kernel must have. */
static inline void fx_copy(Fixture *f) {
  Kernel *k = &f->copy;
  *k = (Kernel){.name = "copy",
                .summary = "y = x.",
                .file = "kernels.lua",
                .line = 40,
                .folder = "",
                .waves = 1,
                .body = "templates/kernels/copy.kc"};
  kernel_room(f->a, k);
  k->dim_count = 1;
  k->room->dims[0] = "n";
  k->dim_max[0] = 4294967295;
  const kg_expr n = expr_var(f->a, &k->model, KG_DIM, 0);
  k->arg_count = 2, k->input_count = 1;
  k->room->args[0] = (kg_arg){.name = "tensors",
                              .type = -1,
                              .dtype = KG_U8,
                              .rank = 1,
                              .shape = fx_shape(f, n, n)}; /* also a name the launcher likes */
  k->room->args[1] = (kg_arg){.name = "y",
                              .type = -1,
                              .dtype = KG_U8,
                              .output = true,
                              .rank = 1,
                              .shape = fx_shape(f, n, n)};
  for (int i = 0; i < 3; i++)
    k->groups[i] = i ? expr_int(f->a, 1) : n, k->threads[i] = expr_int(f->a, 1);
  fx_ports(f, k);
  for (int i = 0; i < 4; i++) k->ports[i].waves = f->backends[i].waves & 1u;
  k->ports[3].absent = "nobody asked for it";
}

static inline void fx_output(Fixture *f, int at, const char *path, const char *text,
                             const char *from) {
  char *copy = arena_strdup(f->a, text);
  const size_t len = strlen(copy);
  content_stamp(copy, len);
  f->library.outputs[at] = (Output){.path = path, .text = copy, .len = len, .from = from};
}

/* The device text of a port; `more` makes another one. */
static inline const char *fx_device(Fixture *f, const Kernel *k, const Port *p, const char *more) {
  return arena_printf(f->a,
                      "// %s for %s, by kgen. content 00000000000000000000000000000000\n\tchar *s "
                      "= \"\\n?\?/\"; // \303\251%s\n",
                      k->name, p->backend->name, more);
}

/* Another text in the place of an output's. */
static inline void fx_replace(Fixture *f, const char *path, const char *text, const char *from) {
  const Output *o = library_output(&f->library, path);
  if (!o) die("%s is no output", path);
  fx_output(f, (int)(o - f->library.outputs), path, text, from);
}

static inline void fx_outputs(Fixture *f, const char *more) {
  Library *l = &f->library;
  l->outputs = arena_alloc(f->a, 16 * sizeof *l->outputs);
  l->output_count = 4;
  for (int i = 0; i < 2; i++)
    for (int n = 0; n < 4; n++) {
      const Kernel *k = f->kernels[i];
      const Port *p = &k->ports[n];
      if (p->absent) continue;
      fx_output(f, l->output_count++, port_file(f->a, k, p), fx_device(f, k, p, more),
                arena_printf(f->a, "kernels.lua and %s", k->body));
    }
  fx_output(f, 0, "kernels.h", emit_header(f->a, l), "kernels.lua");
  fx_output(f, 1, "kernels.c", emit_tables(f->a, l), "kernels.lua");
  fx_output(f, 2, "kernels.json", emit_json(f->a, l), "kernels.lua");
  fx_output(f, 3, "PORTS.md", emit_ports_md(f->a, l), "kernels.lua");
}

static inline void fixture_make(Fixture *f) {
  static const char *options[] = {"-O3", "-ffp-contract=off"};
  memset(f, 0, sizeof *f);
  f->a = arena_new();
  f->backends[0] = (Backend){.name = "metal",
                             .title = "Metal",
                             .slot = "metal",
                             .extension = "metal",
                             .waves = 1,
                             .order = 1};
  f->backends[1] = (Backend){
      .name = "cuda", .title = "CUDA", .slot = "cuda", .extension = "cu", .waves = 1, .order = 2};
  f->backends[2] = (Backend){.name = "hip",
                             .title = "HIP",
                             .slot = "rocm",
                             .extension = "hip",
                             .waves = 3,
                             .order = 3,
                             .options = options,
                             .option_count = 2};
  f->backends[3] =
      (Backend){.name = "opencl", .title = "OpenCL", .extension = "cl", .waves = 3, .order = 4};
  for (int i = 0; i < 4; i++) f->backend_list[i] = &f->backends[i];
  fx_scale(f);
  fx_copy(f);
  f->kernels[0] = &f->scale, f->kernels[1] = &f->copy;
  f->spec = (Spec){.file = "kernels.lua", .folder = "", .kernel_count = 2, .kernels = f->kernels};
  for (int i = 0; i < 2; i++)
    for (int n = 0; n < 4; n++) {
      Port *p = &f->kernels[i]->ports[n];
      port_launchable(f->a, f->kernels[i], p);
      if (!p->absent) port_emitted(f->kernels[i], p, "", 32);
    }
  f->facts.shared_bytes[0] = 32, f->facts.shared_bytes[1] = 16;
  for (int i = 0; i < 2; i++) {
    f->facts_list[i] = f->facts_by_port[i];
    for (int n = 0; n < 4; n++)
      f->facts_by_port[i][n] = f->kernels[i]->ports[n].absent ? NULL : &f->facts;
  }
  f->library = (Library){
      .spec = &f->spec, .backends = f->backend_list, .backend_count = 4, .facts = f->facts_list};
  fx_outputs(f, "");
}

static inline void fixture_free(Fixture *f) { arena_free(f->a); }

#endif

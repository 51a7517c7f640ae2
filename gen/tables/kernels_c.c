/* kernels_c.c: generated/kernels.c.  What a specification says as C tables for the runtime, and the
** launchers over them. */
#include "tables/inner.h"

#include <string.h>

#include "model/block.h"
#include "tables/ctext.h"
#include "tables/tables.h"

/* ---- expressions: each distinct one of a kernel is a table of its own ------------------------ */

typedef struct Tables { /* of the kernel at hand */
  Buf *b;
  Arena *a;
  const Kernel *k;
  int count, room;
  const kg_expr **list;
} Tables;

static int expr_index(const Tables *t, const kg_expr *e) {
  for (int i = 0; i < t->count; i++)
    if (expr_same(t->list[i], e)) return i;
  return -1;
}

static void add_expr(Tables *t, const kg_expr *e) {
  if (expr_index(t, e) >= 0) return;
  GROW(t->a, t->list, t->count, t->room);
  buf_puts(t->b, "/* ");
  put_c_comment(t->b, e->text);
  buf_printf(t->b, " */\nstatic const kg_step %s_e%d[] = {", t->k->name, t->count);
  for (int i = 0; i < e->count; i++) {
    buf_printf(t->b, "%s{KG_OP_%s, ", i ? ", " : "", kg_ops[e->steps[i].op].id);
    put_c_int(t->b, e->steps[i].value);
    buf_puts(t->b, "}");
  }
  buf_puts(t->b, "};\n");
  t->list[t->count++] = e;
}

/* A kg_expr: {"rows", 1, fused_xielu_e0}. */
static void put_expr(Tables *t, const kg_expr *e) {
  buf_puts(t->b, "{");
  put_c_string(t->b, e->text);
  buf_printf(t->b, ", %d, %s_e%d}", e->count, t->k->name, expr_index(t, e));
}

static void put_exprs(Tables *t) {
  const Kernel *k = t->k;
  for (int i = 0; i < k->arg_count; i++)
    for (int d = 0; d < k->args[i].rank; d++) add_expr(t, &k->args[i].shape[d]);
  for (int i = 0; i < k->require_count; i++) add_expr(t, &k->require[i]);
  for (int i = 0; i < k->port_count; i++) {
    const Port *p = &k->ports[i];
    if (p->absent) continue;
    for (int n = 0; n < 3; n++) add_expr(t, &p->launch.groups[n]);
    for (int n = 0; n < 3; n++) add_expr(t, &p->launch.threads[n]);
  }
  if (t->count) buf_puts(t->b, "\n");
}

/* ---- types, constants, dims, scalars, arguments ---------------------------------------------- */

static const char *dtype_symbol(Arena *a, kg_dtype dtype) {
  return arena_printf(a, "KG_%s", kg_dtype_info(dtype)->id);
}

static void put_params(Tables *t) {
  Buf *b = t->b;
  const Kernel *k = t->k;
  for (int i = 0; i < k->type_count; i++) {
    buf_printf(b, "static const kg_dtype %s_type%d_dtypes[] = {", k->name, i);
    for (int n = 0; n < k->types[i].count; n++)
      buf_printf(b, "%s%s", n ? ", " : "", dtype_symbol(t->a, k->types[i].dtypes[n]));
    buf_puts(b, "};\n");
  }
  if (k->type_count) buf_printf(b, "static const kg_type_param %s_types[] = {\n", k->name);
  for (int i = 0; i < k->type_count; i++)
    buf_printf(b, "  {.name = \"%s\", .count = %d, .dtypes = %s_type%d_dtypes},\n",
               k->types[i].name, k->types[i].count, k->name, i);
  if (k->type_count) buf_puts(b, "};\n");
  for (int i = 0; i < k->const_count; i++) {
    buf_printf(b, "static const int64_t %s_const%d_values[] = {", k->name, i);
    for (int n = 0; n < k->consts[i].count; n++) {
      if (n) buf_puts(b, ", ");
      put_c_int(b, k->consts[i].values[n]);
    }
    buf_puts(b, "};\n");
  }
  if (k->const_count) buf_printf(b, "static const kg_const_param %s_consts[] = {\n", k->name);
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    buf_printf(b,
               "  {.name = \"%s\", .is_bool = %s, .in_key = %s, .count = %d, .values = "
               "%s_const%d_values},\n",
               c->name, c->is_bool ? "true" : "false", c->in_key ? "true" : "false", c->count,
               k->name, i);
  }
  if (k->const_count) buf_puts(b, "};\n");
  if (k->dim_count) buf_printf(b, "static const char *const %s_dims[] = {", k->name);
  for (int i = 0; i < k->dim_count; i++) buf_printf(b, "%s\"%s\"", i ? ", " : "", k->dims[i]);
  if (k->dim_count) buf_puts(b, "};\n");
  if (k->scalar_count) buf_printf(b, "static const kg_scalar_param %s_scalars[] = {", k->name);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(b, "%s{\"%s\", %s}", i ? ", " : "", k->scalars[i].name,
               dtype_symbol(t->a, k->scalars[i].dtype));
  if (k->scalar_count) buf_puts(b, "};\n");
}

static void put_args(Tables *t) {
  const Kernel *k = t->k;
  Buf *b = t->b;
  for (int i = 0; i < k->arg_count; i++) {
    if (k->args[i].rank == 0) continue;
    buf_printf(b, "/* %s */\nstatic const kg_expr %s_arg%d_shape[] = {", k->args[i].name, k->name,
               i);
    for (int d = 0; d < k->args[i].rank; d++) {
      if (d) buf_puts(b, ", ");
      put_expr(t, &k->args[i].shape[d]);
    }
    buf_puts(b, "};\n");
  }
  buf_printf(b, "static const kg_arg %s_args[] = {\n", k->name);
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    buf_printf(b, "  {.name = \"%s\", .output = %s, ", arg->name, arg->output ? "true" : "false");
    if (arg->type >= 0)
      buf_printf(b, ".type = %d /* %s */, ", arg->type, k->types[arg->type].name);
    else
      buf_printf(b, ".type = -1, .dtype = %s, ", dtype_symbol(t->a, arg->dtype));
    if (arg->rank)
      buf_printf(b, ".rank = %d, .shape = %s_arg%d_shape", arg->rank, k->name, i);
    else
      buf_puts(b, ".rank = 0, .shape = NULL");
    if (arg->align) buf_printf(b, ", .align = %u", arg->align);
    buf_puts(b, "},\n");
  }
  buf_puts(b, "};\n");
  if (k->require_count) buf_printf(b, "static const kg_expr %s_require[] = {\n", k->name);
  for (int i = 0; i < k->require_count; i++) {
    buf_puts(b, "  ");
    put_expr(t, &k->require[i]);
    buf_puts(b, ",\n");
  }
  if (k->require_count) buf_puts(b, "};\n");
}

/* ---- ports ----------------------------------------------------------------------------------- */

const char *text_symbol(Arena *a, const Kernel *k, const Port *p) {
  return arena_printf(a, "kg_text_%s_%s", p->backend->name, k->name);
}

static void put_axes(Tables *t, const char *field, const kg_expr e[3]) {
  buf_printf(t->b, "  .%s = {", field);
  for (int i = 0; i < 3; i++) {
    if (i) buf_puts(t->b, ", ");
    put_expr(t, &e[i]);
  }
  buf_puts(t->b, "},\n");
}

static void put_port(Tables *t, const Port *p) {
  Buf *b = t->b;
  const Kernel *k = t->k;
  static const char *const waves[] = {"0", "KG_WAVE32", "KG_WAVE64", "KG_WAVE32 | KG_WAVE64"};
  buf_printf(b, "\nextern const char %s[];\n", text_symbol(t->a, k, p));
  buf_printf(b, "static const char *const %s_%s_options[] = {", k->name, p->backend->name);
  for (int i = 0; i < p->backend->option_count; i++) {
    put_c_string(b, p->backend->options[i]);
    buf_puts(b, ", ");
  }
  buf_puts(b, "NULL};\n");
  buf_printf(b, "static const kg_port %s_%s_port = {\n  .backend = ", k->name, p->backend->name);
  put_c_string(b, p->backend->name);
  buf_puts(b, ",\n  .file = ");
  put_c_string(b, port_file(t->a, k, p));
  buf_printf(b, ",\n  .text = %s,\n  .options = %s_%s_options,\n  .waves = %s,\n",
             text_symbol(t->a, k, p), k->name, p->backend->name, waves[p->waves & 3]);
  put_axes(t, "groups", p->launch.groups);
  put_axes(t, "threads", p->launch.threads);
  buf_printf(b, "  .shared_bytes = %u,\n%s};\n", p->launch.shared_bytes,
             p->native ? "  .native = true,\n" : "");
}

static void put_ports(Tables *t) {
  Buf *b = t->b;
  const Kernel *k = t->k;
  const Port *slots[KERNEL_SLOTS] = {0};
  int others = 0;
  for (int i = 0; i < k->port_count; i++) {
    const int slot = backend_slot(k->ports[i].backend);
    if (slot >= 0)
      slots[slot] = &k->ports[i];
    else if (others++ == 0)
      buf_printf(b, "\nstatic const kg_other_port %s_others[] = {\n", k->name);
    if (slot >= 0) continue;
    const Port *p = &k->ports[i];
    buf_printf(b, "  {\"%s\", ", p->backend->name);
    if (p->absent) {
      buf_puts(b, "NULL, ");
      put_c_string(b, p->absent);
    } else {
      buf_printf(b, "&%s_%s_port, NULL", k->name, p->backend->name);
    }
    buf_puts(b, "},\n");
  }
  if (others) buf_puts(b, "  {NULL, NULL, NULL},\n};\n");

  buf_printf(b, "\nconst KernelPorts %s_ports = {\n  .version = %#x,\n", k->name,
             (unsigned)k->version);
  buf_printf(b, "  .kernel = \"%s\",\n  .fallback = ", k->name);
  if (k->fallback)
    put_c_string(b, k->fallback);
  else
    buf_puts(b, "NULL");
  buf_puts(b, ",\n");
  int empty = 0;
  for (int i = 0; i < KERNEL_SLOTS; i++) {
    if (slots[i] && !slots[i]->absent) {
      buf_printf(b, "  .%s = &%s_%s_port,\n", kernel_slots[i], k->name, slots[i]->backend->name);
    } else {
      buf_printf(b, "  .%s = NULL,\n", kernel_slots[i]);
      empty++;
    }
  }
  if (empty) buf_puts(b, "  .why = {");
  for (int i = 0; i < KERNEL_SLOTS; i++) {
    if (slots[i] && !slots[i]->absent) continue;
    buf_printf(b, ".%s = ", kernel_slots[i]);
    put_c_string(b, slots[i] ? slots[i]->absent : "its specification does not name it");
    if (--empty)
      buf_puts(b, ", ");
    else
      buf_puts(b, "},\n");
  }
  if (others) buf_printf(b, "  .others = %s_others,\n", k->name);
  buf_puts(b, "};\n");
}

/* ---- the kernel, its argument block, its functions ------------------------------------------- */

static void put_list(Buf *b, const Kernel *k, const char *count, const char *list, int n) {
  buf_printf(b, "  .%s = %d, .%s = ", count, n, list);
  if (n)
    buf_printf(b, "%s_%s,\n", k->name, list);
  else
    buf_puts(b, "NULL,\n");
}

static void put_kernel(Buf *b, const Kernel *k) {
  buf_printf(b, "\nconst kg_kernel %s_kernel = {\n  .version = %#x,\n", k->name,
             (unsigned)k->version);
  buf_printf(b, "  .name = \"%s\",\n  .summary = ", k->name);
  put_c_string(b, k->summary ? k->summary : "");
  buf_puts(b, ",\n");
  put_list(b, k, "type_count", "types", k->type_count);
  put_list(b, k, "const_count", "consts", k->const_count);
  put_list(b, k, "dim_count", "dims", k->dim_count);
  put_list(b, k, "scalar_count", "scalars", k->scalar_count);
  put_list(b, k, "arg_count", "args", k->arg_count);
  put_list(b, k, "require_count", "require", k->require_count);
  buf_printf(b, "  .ports = &%s_ports,\n", k->name);
  buf_puts(b, "};\n");
}

static void put_block(Buf *b, const Kernel *k) {
  kg_block_field fields[KG_MAX_FIELDS];
  uint32_t bytes;
  const int n = kg_block_layout(&k->model, fields, &bytes);
  buf_printf(b, "\n/* The argument block: the entry's parameter list, in C. */\nstruct %s_args {\n",
             k->name);
  for (int i = 0; i < n; i++) {
    const kg_symbol s = fields[i].symbol;
    if (s.kind == KG_DIM || s.kind == KG_SCALAR)
      buf_printf(b, "  %s %s;\n",
                 kg_dtype_info(s.kind == KG_DIM ? KG_U32 : k->scalars[s.index].dtype)->c_type,
                 s.name);
    else
      buf_printf(b, "  %svoid *%s;\n", s.kind == KG_OUTPUT ? "" : "const ", s.name);
  }
  buf_puts(b, "};\n");
  for (int i = 0; i < n; i++)
    buf_printf(b,
               "_Static_assert(offsetof(struct %s_args, %s) == %u, \"%s: %s is not where its entry "
               "expects it\");\n",
               k->name, fields[i].symbol.name, fields[i].offset, k->name, fields[i].symbol.name);
  buf_printf(b,
             "_Static_assert(sizeof(struct %s_args) == %u, \"%s: the argument block has another "
             "size\");\n",
             k->name, kg_block_sizeof(fields, n, bytes), k->name);
}

/* A name for a local variable that is none of the parameters'. */
static const char *local_name(Arena *a, const Kernel *k, const char *name) {
  const kg_symbol s = kg_symbol_named(&k->model, name);
  const bool taken = s.name && s.kind != KG_DIM && s.kind != KG_TYPE;
  return taken ? local_name(a, k, arena_printf(a, "%s_", name)) : name;
}

static void put_functions(Buf *b, Arena *a, const Kernel *k) {
  buf_printf(
      b,
      "\nbool %s_available(const kg_device *device) { return kg_has_port(&%s_ports, device); }\n\n",
      k->name, k->name);
  put_launcher(b, k);
  buf_puts(b, " {\n");
  const char *tensors = local_name(a, k, "tensors"), *scalars = "NULL", *consts = "NULL";
  buf_printf(b, "  const kg_tensor %s[] = {", tensors);
  for (int i = 0; i < k->arg_count; i++)
    buf_printf(b, "%skg_tensor_at(%s)", i ? ", " : "", k->args[i].name);
  buf_puts(b, "};\n");
  if (k->scalar_count) {
    scalars = local_name(a, k, "scalars");
    buf_printf(b, "  const kg_scalar %s[] = {", scalars);
    for (int i = 0; i < k->scalar_count; i++)
      buf_printf(b, "%s{.%s = %s}", i ? ", " : "", kg_dtype_name(k->scalars[i].dtype),
                 k->scalars[i].name);
    buf_puts(b, "};\n");
  }
  if (k->const_count) {
    consts = local_name(a, k, "consts");
    buf_printf(b, "  const int64_t %s[] = {", consts);
    for (int i = 0; i < k->const_count; i++) {
      if (i) buf_puts(b, ", ");
      if (k->consts[i].in_key)
        buf_puts(b, k->consts[i].name);
      else
        put_c_int(b, k->consts[i].values[0]);
    }
    buf_puts(b, "};\n");
  }
  const char *call = local_name(a, k, "call");
  buf_printf(
      b, "  const kg_call %s = {&%s_kernel, %s, %s, %s};\n  return kg_launch(device, &%s);\n}\n",
      call, k->name, tensors, scalars, consts, call);
}

char *emit_tables(Arena *a, const Library *l) {
  Buf b = {0};
  put_banner(&b, l, "kernels.c: the tables behind kernels.h.");
  buf_puts(&b, "#include \"kernels.h\"\n\n");
  buf_printf(&b,
             "_Static_assert(KG_TABLES_VERSION == %#x, \"kg.h is of another kgen than these "
             "tables: run kgen again\");\n",
             (unsigned)KG_TABLES_VERSION);
  buf_puts(&b,
           "_Static_assert(sizeof(void *) == 8, \"the device entries take 64-bit addresses\");\n\n"
           "/* A null pointer becomes a tensor that no kernel accepts, so that kg_launch says "
           "which one it was. */\n"
           "static kg_tensor kg_tensor_at(const kg_tensor *t) {\n"
           "  return t ? *t : (kg_tensor){.data = NULL, .dtype = KG_DTYPES, .rank = -1};\n}\n");
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    Tables t = {.b = &b, .a = a, .k = k};
    put_kernel_rule(&b, k);
    put_exprs(&t);
    put_params(&t);
    put_args(&t);
    for (int n = 0; n < k->port_count; n++)
      if (!k->ports[n].absent) put_port(&t, &k->ports[n]);
    put_ports(&t);
    put_kernel(&b, k);
    put_block(&b, k);
    put_functions(&b, a, k);
  }
  if (l->spec->set_count) buf_puts(&b, "\n/* ---- paths ---- */\n");
  for (int i = 0; i < l->spec->set_count; i++) {
    const KernelSet *p = l->spec->sets[i];
    buf_printf(&b, "\nbool %s_available(const kg_device *device) {\n  return ", p->name);
    for (int n = 0; n < p->kernel_count; n++)
      buf_printf(&b, "%s%s_available(device)", n ? " && " : "", p->kernels[n]);
    buf_puts(&b, ";\n}\n");
  }
  buf_puts(&b, "\n/* ---- all of them ---- */\n\nconst kg_kernel *const kg_kernels[] = {\n");
  for (int i = 0; i < l->spec->kernel_count; i++)
    buf_printf(&b, "  &%s_kernel,\n", l->spec->kernels[i]->name);
  buf_printf(&b, "  NULL,\n};\nconst int kg_kernel_count = %d;\n", l->spec->kernel_count);
  Buf lines = {0};
  put_c_lines(&lines, b.s);
  char *text = arena_strndup(a, lines.s, lines.len);
  buf_free(&b);
  buf_free(&lines);
  return text;
}

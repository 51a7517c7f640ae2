/* native.c: the frame around a text that its owner wrote, and whose bytes stay what they are.
**
** A body stands in an entry as MLX would write it, with the specification's names.  A whole kernel for
** CUDA or HIP is called by an entry of ours, and is a function of the device's until then.  Metal lets
** nobody call a kernel: there it gets the instance's name, and only the SIMT device, which is C++, has an
** entry of ours that calls it. */
#include <string.h>

#include "base/lex.h"
#include "emit/native.h"
#include "emit/words.h"

const NativeAttribute native_attributes[] = {
    {"dispatch_quadgroups_per_threadgroup", "uint"},
    {"dispatch_simdgroups_per_threadgroup", "uint"},
    {"dispatch_threads_per_threadgroup", "uint3"},
    {"quadgroup_index_in_threadgroup", "uint"},
    {"quadgroups_per_threadgroup", "uint"},
    {"simdgroup_index_in_threadgroup", "uint"},
    {"simdgroups_per_threadgroup", "uint"},
    {"thread_execution_width", "uint"},
    {"thread_index_in_quadgroup", "uint"},
    {"thread_index_in_simdgroup", "uint"},
    {"thread_index_in_threadgroup", "uint"},
    {"thread_position_in_grid", "uint3"},
    {"thread_position_in_threadgroup", "uint3"},
    {"threadgroup_position_in_grid", "uint3"},
    {"threadgroups_per_grid", "uint3"},
    {"threads_per_grid", "uint3"},
    {"threads_per_simdgroup", "uint"},
    {"threads_per_threadgroup", "uint3"},
    {NULL, NULL},
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool has_name(const NativeKernel *n, const char *name) {
  for (int i = 0; i < n->tokens.count; i++)
    if (native_is(&n->tokens, i, name)) return true;
  return false;
}

/* An expression with the instance's macros and plain numbers for the specification's names. */
static const char *resolved(Emit *e, const char *text) {
  const Kernel *k = e->k;
  Buf b = {0};
  int count;
  const Token *t = lex(e->a, text, strlen(text), &count);
  for (int i = 0; i < count; i++) {
    const kg_symbol s = kg_symbol_named(&k->model, arena_strndup(e->a, t[i].s, (size_t)t[i].len));
    const kg_const_param *c = s.kind == KG_CONST ? &k->consts[s.index] : NULL;
    if (s.kind == KG_TYPE)
      buf_printf(&b, "KG_T_%s", s.name);
    else if (c && c->in_key)
      buf_printf(&b, "KG_C_%s", s.name);
    else if (c)
      buf_puts(&b, emit_const_text(e, c, port_const(k, e->p, s.index, c->values[0])));
    else
      buf_put(&b, t[i].s, (size_t)t[i].len);
  }
  const char *s = arena_strdup(e->a, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

static const char *threads_of(Emit *e) {
  const char *text = NULL;
  for (int i = 0; i < 3; i++) {
    const kg_expr *x = &e->p->threads[i];
    if (expr_is_int(x, 1)) continue;
    const char *s = resolved(e, x->count > 1 ? arena_printf(e->a, "(%s)", x->text) : x->text);
    text = text ? arena_printf(e->a, "%s * %s", text, s) : s;
  }
  return text ? text : "1";
}

/* ---- types and constants --------------------------------------------------------------------- */

/* The vendor's type, or what kgen's own texts have. */
static const char *dtype_text(Emit *e, kg_dtype dtype) {
  const char *name = kg_dtype_name(dtype), *text = NULL;
  if (e->f->native->whole) text = backend_text(e->b, arena_printf(e->a, "native_whole_%s", name));
  if (!text) text = backend_text(e->b, arena_printf(e->a, "native_%s", name));
  return text ? text : pair_find(e->b->pieces, e->b->piece_count, name);
}

static void put_dtypes(Emit *e, Buf *out, bool strides) {
  const Kernel *k = e->k;
  bool used[KG_DTYPES] = {[KG_U32] = true, [KG_I32] = true, [KG_I64] = strides};
  for (int i = 0; i < k->type_count; i++)
    for (int j = 0; j < k->types[i].count; j++) used[k->types[i].dtypes[j]] = true;
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].type < 0) used[k->args[i].dtype] = true;
  for (int i = 0; i < k->scalar_count; i++) used[k->scalars[i].dtype] = true;
  used[KG_U16] = used[KG_U16] || used[KG_BF16] || used[KG_F16]; /* which may be made of it */
  used[KG_F32] = true;
  for (int narrow = 0; narrow < 2; narrow++)
    for (int t = 0; t < KG_DTYPES; t++) {
      const bool is_narrow = t == KG_F16 || t == KG_BF16;
      const char *text = used[t] && is_narrow == narrow ? dtype_text(e, (kg_dtype)t) : NULL;
      if (text) buf_printf(out, "%s\n", text);
    }
}

static void put_chosen(Emit *e, Buf *out) {
  const Kernel *k = e->k;
  for (int i = 0; i < k->type_count; i++) {
    const Pair holes[] = {{"name", k->types[i].name},
                          {"dtype", arena_printf(e->a, "KG_T_%s", k->types[i].name)}};
    emit_text(e, out, "type", holes, 2);
    buf_puts(out, "\n");
  }
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    const int64_t value = port_const(k, e->p, i, c->values[0]);
    bool large = value > INT32_MAX;
    for (int j = 0; j < c->count; j++) large = large || c->values[j] > INT32_MAX;
    const Pair holes[] = {{"name", c->name},
                          {"type", c->is_bool ? "bool"
                                   : large    ? "u32"
                                              : "i32"}, /* as MLX has it */
                          {"value", c->in_key ? arena_printf(e->a, "KG_C_%s", c->name)
                                              : emit_const_text(e, c, value)}};
    emit_text(e, out, "const", holes, 3);
    buf_puts(out, "\n");
  }
}

/* ---- the entry ------------------------------------------------------------------------------- */

static const char *filled(Emit *e, const char *name, const Pair *holes, int count) {
  Buf b = {0};
  emit_text(e, &b, name, holes, count);
  const char *s = arena_strdup(e->a, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

static void put_parameter(Buf *out, int *count, const char *text) {
  buf_printf(out, "%s%s", (*count)++ ? ",\n         " : "", text);
}

static bool in_a_block(const Emit *e) { return backend_text(e->b, "args_open") != NULL; }

/* What a parameter is called: where the owner's names are there too, by none of them; and in MLX's bodies
** for CUDA and HIP a scalar's own name is a pointer's. */
static const char *own_name(Emit *e, const NativeKernel *n, const char *name, bool scalar) {
  return n->whole || (scalar && !in_a_block(e)) ? arena_printf(e->a, "kg_%s", name) : name;
}

static void put_block(Emit *e, Buf *out) {
  const char *name, *type;
  if (!in_a_block(e) || !emit_value_at(e->k, 0, &name, &type)) return;
  buf_printf(out, "%s\n", filled(e, "args_open", NULL, 0));
  for (int i = 0; emit_value_at(e->k, i, &name, &type); i++) {
    const Pair holes[] = {{"name", name}, {"type", type}};
    buf_printf(out, "%s\n", filled(e, "args_field", holes, 2));
  }
  buf_printf(out, "%s\n\n", filled(e, "args_close", NULL, 0));
}

/* The arguments in the table's order, and for Metal the attributes that the text asks for. */
static void put_parameters(Emit *e, Buf *out, const NativeKernel *n) {
  const Kernel *k = e->k;
  const char *name, *type;
  int count = 0;
  for (int i = 0; i < k->arg_count; i++) {
    const Pair holes[] = {{"name", own_name(e, n, k->args[i].name, false)},
                          {"type", resolved(e, emit_type_name(k, &k->args[i]))},
                          {"index", arena_printf(e->a, "%d", i)}};
    put_parameter(out, &count, filled(e, k->args[i].output ? "entry_out" : "entry_in", holes, 3));
  }
  const Pair block[] = {{"index", arena_printf(e->a, "%d", k->arg_count)}};
  if (in_a_block(e) && emit_value_at(k, 0, &name, &type))
    put_parameter(out, &count, filled(e, "entry_args", block, 1));
  for (int i = 0; !in_a_block(e) && emit_value_at(k, i, &name, &type); i++) {
    const Pair holes[] = {{"name", own_name(e, n, name, i >= k->dim_count)}, {"type", type}};
    put_parameter(out, &count, filled(e, "entry_value", holes, 2));
  }
  if (!native_is_metal(e->p)) return;
  for (const NativeAttribute *x = native_attributes; !n->whole && x->name; x++)
    if (has_name(n, x->name))
      put_parameter(out, &count, arena_printf(e->a, "%s %s [[%s]]", x->type, x->name, x->name));
  for (int i = 0; n->whole && i < n->entry->parameter_count; i++) {
    const NativeParameter *x = &n->entry->parameters[i];
    if (native_is_position(e->p, x))
      put_parameter(out, &count, native_text(&n->tokens, x->first, x->last));
  }
}

static void put_open(Emit *e, Buf *out, const NativeKernel *n) {
  const Pair about[] = {{"kernel", e->k->name}, {"threads", threads_of(e)}};
  const char *name, *type;
  put_block(e, out);
  buf_puts(out, filled(e, "entry_open", about, 2));
  put_parameters(e, out, n);
  buf_printf(out, "%s\n", filled(e, "entry_close", about, 2));
  for (int i = 0; !n->whole && in_a_block(e) && emit_value_at(e->k, i, &name, &type); i++) {
    const Pair holes[] = {{"name", name}, {"type", type}};
    buf_printf(out, "%s\n", filled(e, "entry_local", holes, 2));
  }
}

/* ---- a body ---------------------------------------------------------------------------------- */

static const char *stride(Emit *e, const kg_arg *arg, int axis) {
  const char *text = "i64(1)";
  for (int i = axis + 1; i < arg->rank; i++)
    text = arena_printf(e->a, "%s * i64(%s)", text, arg->shape[i].text);
  return text;
}

/* x_shape, x_strides and x_ndim of the inputs, where the body names them. */
static void put_shapes(Emit *e, Buf *out, const NativeKernel *n) {
  for (int i = 0; i < e->k->input_count; i++) {
    const kg_arg *arg = &e->k->args[i];
    const char *shape = arena_printf(e->a, "%s_shape", arg->name),
               *strides = arena_printf(e->a, "%s_strides", arg->name),
               *ndim = arena_printf(e->a, "%s_ndim", arg->name);
    const bool has_axes = arg->rank > 0;
    if (has_axes && has_name(n, shape)) {
      buf_printf(out, "  const i32 %s[] = {", shape);
      for (int x = 0; x < arg->rank; x++)
        buf_printf(out, "%si32(%s)", x ? ", " : "", arg->shape[x].text);
      buf_puts(out, "};\n");
    }
    if (has_axes && has_name(n, strides)) {
      buf_printf(out, "  const i64 %s[] = {", strides);
      for (int x = 0; x < arg->rank; x++) buf_printf(out, "%s%s", x ? ", " : "", stride(e, arg, x));
      buf_puts(out, "};\n");
    }
    if (has_name(n, ndim)) buf_printf(out, "  const i32 %s = %d;\n", ndim, arg->rank);
  }
}

static bool has_strides(Emit *e, const NativeKernel *n) {
  for (int i = 0; i < e->k->input_count; i++)
    if (has_name(n, arena_printf(e->a, "%s_strides", e->k->args[i].name))) return true;
  return false;
}

/* A text, as it stands in its file. */
static void put_file(Buf *out, const char *path, const char *text) {
  const size_t len = strlen(text);
  buf_printf(out, "#line 1 \"%s\"\n%s%s", path, text, len && text[len - 1] == '\n' ? "" : "\n");
}

static void put_body(Emit *e, Buf *out, const NativeKernel *n) {
  const char *name, *type;
  put_dtypes(e, out, has_strides(e, n));
  put_chosen(e, out);
  if (n->header) {
    put_file(out, n->header_path, n->header);
    emit_own_line(e, out);
  }
  put_open(e, out, n);
  for (int i = e->k->dim_count; !in_a_block(e) && emit_value_at(e->k, i, &name, &type); i++)
    buf_printf(out, "  const %s *%s = &kg_%s;\n", type, name, name); /* as MLX gives them */
  put_shapes(e, out, n);
  put_file(out, e->f->path, n->text);
  buf_puts(out, "}\n");
}

/* ---- a whole kernel -------------------------------------------------------------------------- */

/* One argument as the kernel's own parameter takes it. */
static const char *given(Emit *e, const NativeKernel *n, const NativeParameter *x, int number) {
  const Kernel *k = e->k;
  const char *name, *type;
  if (number >= k->arg_count) {
    emit_value_at(k, number - k->arg_count, &name, &type);
    return arena_printf(e->a, in_a_block(e) ? "kg_args.%s" : "kg_%s", name);
  }
  name = arena_printf(e->a, "kg_%s", k->args[number].name);
  for (int i = x->first; i <= x->last; i++) { /* the type up to its star, where that is known */
    if (native_mark(&n->tokens, i, '<') || native_is(&n->tokens, i, "auto")) break;
    if (!native_mark(&n->tokens, i, '*')) continue;
    if (n->entry->is_template) break;
    return arena_printf(e->a, "(%s)%s", native_text(&n->tokens, x->first, i), name);
  }
  return name;
}

static void put_caller(Emit *e, Buf *out, const NativeKernel *n) {
  put_open(e, out, n);
  buf_printf(out, "  %s(", resolved(e, n->called));
  for (int i = 0, argument = 0; i < n->entry->parameter_count; i++) {
    const NativeParameter *x = &n->entry->parameters[i];
    buf_printf(out, "%s%s", i ? ", " : "",
               native_is_position(e->p, x) ? x->name : given(e, n, x, n->arguments[argument++]));
  }
  buf_puts(out, ");\n}\n");
}

/* Metal's own way to the instance's name, where the kernel is a template. */
static void put_instance(Emit *e, Buf *out, const NativeKernel *n) {
  buf_printf(out,
             "#ifndef KG_SIMT\n#define KG_NAME_2(x) #x\n#define KG_NAME(x) KG_NAME_2(x)\n"
             "template [[host_name(KG_NAME(KG_ENTRY))]] [[kernel]] decltype(%s) %s;\n#endif\n",
             resolved(e, n->called), resolved(e, n->called));
}

static void put_whole(Emit *e, Buf *out, const NativeKernel *n) {
  const char *before = backend_text(e->b, "native_before"),
             *after = backend_text(e->b, "native_after");
  const bool renamed = native_is_metal(e->p) && !n->entry->is_template;
  if (before) buf_puts(out, before);
  if (renamed) buf_printf(out, "#ifndef KG_SIMT\n#  define %s KG_ENTRY\n#endif\n", n->entry->name);
  put_file(out, e->f->path, n->text);
  emit_own_line(e, out);
  if (after) buf_puts(out, after);
  put_dtypes(e, out, false);
  if (native_is_metal(e->p) && !renamed) put_instance(e, out, n);
  if (native_is_metal(e->p))
    buf_puts(out, "#ifdef KG_SIMT // run on a CPU, lane by lane, where kernels are functions\n");
  put_caller(e, out, n);
  if (native_is_metal(e->p)) buf_puts(out, "#endif\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool native_binds(const Facts *f) {
  return f->native->whole && strcmp(f->native->tokens.backend, "metal") == 0;
}

const char *native_argument(const Kernel *k, const Facts *f, int i) {
  const char *name, *type;
  if (i >= f->native->argument_count) return NULL;
  const int number = f->native->arguments[i];
  if (number < k->arg_count) return k->args[number].name;
  emit_value_at(k, number - k->arg_count, &name, &type);
  return name;
}

static void put_about(Emit *e, Buf *out, const NativeKernel *n) {
  buf_printf(out, "// -- %s: its owner's text, as it stands there; groups (", e->f->path);
  for (int i = 0; i < 3; i++) buf_printf(out, "%s%s", i ? ", " : "", e->k->groups[i].text);
  buf_puts(out, ") of (");
  for (int i = 0; i < 3; i++) buf_printf(out, "%s%s", i ? ", " : "", e->p->threads[i].text);
  buf_puts(out, ") threads --\n");
  if (!native_binds(e->f)) return;
  buf_puts(out, "// Its buffers are bound in the order");
  for (int i = 0; i < n->argument_count; i++)
    buf_printf(out, "%s %s", i ? "," : "", native_argument(e->k, e->f, i));
  buf_puts(out, ".\n");
}

char *emit_native(Arena *a, const Kernel *k, const Port *p, const Facts *f) {
  Emit e = {.a = a, .k = k, .p = p, .b = p->backend, .f = f};
  Buf out = {0};
  emit_banner(&e, &out);
  emit_default_instance(&e, &out);
  emit_guard(&e, &out);
  put_about(&e, &out, f->native);
  if (f->native->whole)
    put_whole(&e, &out, f->native);
  else
    put_body(&e, &out, f->native);
  char *text = arena_strdup(a, out.s);
  content_stamp(text, strlen(text));
  buf_free(&out);
  return text;
}

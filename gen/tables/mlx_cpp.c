/* mlx_cpp.c: <specification>_mlx.h, the kernels for a C++ program that has MLX: for each its ports'
** texts, a row of KernelPorts, its predicate, and a launcher that checks what it is given. */
#include <string.h>

#include "model/kernel.h"
#include "tables/ctext.h"
#include "tables/mlx.h"

typedef struct Cpp {
  Arena *a;
  const Library *l;
  const Kernel *k;
  MlxPorts ports;
  Buf *out;
} Cpp;

static const char *expr(const Cpp *c, const kg_expr *e) { return mlx_expr(c->a, c->k, e, MLX_CPP); }

/* Which of MLX's constructors, and under which condition. */
static const struct {
  const char *backend, *make, *tail, *only_if;
} makers[] = {
    {"metal", "metal_kernel", ", true, false", NULL},
    {"cuda", "cuda_kernel", ", true, 0", NULL},
    {"hip", "hip_kernel", ", true, 0", "KGEN_MLX_ROCM"},
};
enum { MAKERS = sizeof makers / sizeof *makers };

static int port_of(const Cpp *c, int maker) {
  for (int i = 0; i < c->k->port_count; i++)
    if (c->ports.there[i] && strcmp(c->k->ports[i].backend->name, makers[maker].backend) == 0)
      return i;
  return -1;
}

static void put_names(const Cpp *c, const char *what) {
  const Kernel *k = c->k;
  const bool output = what[0] == 'o';
  buf_printf(c->out, "inline const std::vector<std::string> &%s_%s() {\n", k->name, what);
  buf_puts(c->out, "  static const std::vector<std::string> names = {");
  int n = 0;
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].output == output)
      buf_printf(c->out, "%s\"kg_%s_%s\"", n++ ? ", " : "", k->args[i].name, output ? "out" : "in");
  for (int i = 0; i < k->dim_count && !output; i++) {
    int input, end;
    if (!mlx_dim_place(k, i, &input, &end))
      buf_printf(c->out, "%s\"kg_%s_in\"", n++ ? ", " : "", k->dims[i]);
  }
  for (int i = 0; i < k->scalar_count && !output; i++)
    buf_printf(c->out, "%s\"kg_%s_in\"", n++ ? ", " : "", k->scalars[i].name);
  buf_puts(c->out, "};\n  return names;\n}\n");
}

static void put_port(const Cpp *c, int maker, int port) {
  const char *name = c->k->name, *backend = makers[maker].backend;
  if (makers[maker].only_if) buf_printf(c->out, "#ifdef %s\n", makers[maker].only_if);
  buf_printf(c->out, "inline constexpr char %s_%s_header[] = ", name, backend);
  put_mlx_literal(c->out, c->ports.ports[port].header, MLX_CPP);
  buf_printf(c->out, ";\ninline constexpr char %s_%s_source[] = ", name, backend);
  put_mlx_literal(c->out, c->ports.ports[port].source, MLX_CPP);
  buf_printf(c->out,
             ";\ninline const mlx::core::fast::CustomKernelFunction &%s_%s() {\n"
             "  static const auto *const made = new mlx::core::fast::CustomKernelFunction(\n"
             "      mlx::core::fast::%s(\"%s\", %s_inputs(), %s_outputs(), %s_%s_source, "
             "%s_%s_header%s));\n  return *made;\n}\n",
             name, backend, makers[maker].make, name, name, name, name, backend, name, backend,
             makers[maker].tail);
  if (makers[maker].only_if) buf_puts(c->out, "#endif\n");
}

static void put_row(const Cpp *c) {
  static const char *const slots[MAKERS] = {"metal", "cuda", "rocm"};
  buf_printf(c->out, "inline constexpr KernelPorts %s_ports = {\n", c->k->name);
  for (int m = 0; m < MAKERS; m++) {
    const int port = port_of(c, m);
    if (port < 0) continue;
    if (makers[m].only_if) buf_printf(c->out, "#ifdef %s\n", makers[m].only_if);
    buf_printf(c->out,
               "    .%s = +[]() -> const mlx::core::fast::CustomKernelFunction & { return "
               "%s_%s(); },\n",
               slots[m], c->k->name, makers[m].backend);
    if (strcmp(slots[m], "rocm") == 0 && c->k->ports[port].waves == (KG_WAVE32 | KG_WAVE64))
      buf_puts(c->out, "    .rocm_any_wave_size = true,\n");
    if (makers[m].only_if) buf_puts(c->out, "#endif\n");
  }
  buf_printf(c->out, "};\ninline bool %s_available() { return has_kernel_port(%s_ports); }\n\n",
             c->k->name, c->k->name);
}

static const char *dtype_text(const Cpp *c, const kg_arg *arg) {
  return arg->type >= 0 ? c->k->types[arg->type].name
                        : arena_printf(c->a, "mlx::core::%s", mlx_dtype(arg->dtype));
}

static void put_comment(const Cpp *c) {
  const Kernel *k = c->k;
  Buf line = {0};
  buf_puts(c->out, "// ");
  put_c_comment(c->out, k->summary);
  buf_printf(c->out, "\n//\n");
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    buf_printf(c->out, "//   %s %s: %s %s", arg->output ? "gives" : "takes", arg->name,
               arg_type_text(k, arg), shape_text(c->a, arg));
    if (arg->align > 0 && !arg->output)
      buf_printf(c->out, ", in memory from a multiple of %u bytes on", arg->align);
    buf_puts(c->out, "\n");
  }
  buf_puts(c->out, "// Inputs that are not row-contiguous are copied by MLX; outputs need no value "
                   "before.\n");
  buf_free(&line);
}

/* Inputs, dims that no shape tells, types that no input has, scalars, constants of the instance. */
static void put_parameters(const Cpp *c) {
  const Kernel *k = c->k;
  int n = 0, input, end;
  for (int i = 0; i < k->input_count; i++)
    buf_printf(c->out, "%sconst mlx::core::array &%s", n++ ? ", " : "", k->args[i].name);
  for (int i = 0; i < k->dim_count; i++)
    if (!mlx_dim_place(k, i, &input, &end))
      buf_printf(c->out, "%sint64_t %s", n++ ? ", " : "", k->dims[i]);
  for (int i = 0; i < k->type_count; i++)
    if (mlx_type_is_given(k, i))
      buf_printf(c->out, "%smlx::core::Dtype %s", n++ ? ", " : "", k->types[i].name);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(c->out, "%s%s %s", n++ ? ", " : "", kg_dtype_info(k->scalars[i].dtype)->c_type,
               k->scalars[i].name);
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key)
      buf_printf(c->out, "%s%s %s", n++ ? ", " : "", k->consts[i].is_bool ? "bool" : "int64_t",
                 k->consts[i].name);
  buf_printf(c->out, "%smlx::core::StreamOrDevice kg_stream = {}", n ? ", " : "");
}

static void put_types(const Cpp *c) {
  const Kernel *k = c->k;
  for (int t = 0; t < k->type_count; t++) {
    const char *name = k->types[t].name;
    for (int i = 0; i < k->input_count && !mlx_type_is_given(k, t); i++)
      if (k->args[i].type == t) {
        buf_printf(c->out, "  const mlx::core::Dtype %s = %s.dtype();\n", name, k->args[i].name);
        break;
      }
    buf_printf(c->out, "  own::dtype(\"%s\", \"%s\", %s, {", k->name, name, name);
    int n = 0;
    for (int j = 0; j < k->types[t].count; j++)
      if (mlx_dtype(k->types[t].dtypes[j]) != NULL)
        buf_printf(c->out, "%smlx::core::%s", n++ ? ", " : "", mlx_dtype(k->types[t].dtypes[j]));
    buf_puts(c->out, "});\n");
  }
  for (int i = 0; i < k->input_count; i++)
    buf_printf(c->out, "  own::dtype(\"%s\", \"%s\", %s.dtype(), {%s});\n", k->name,
               k->args[i].name, k->args[i].name, dtype_text(c, &k->args[i]));
}

static void put_constants(const Cpp *c) {
  const Kernel *k = c->k;
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *p = &k->consts[i];
    if (!p->in_key) {
      buf_printf(c->out, "  [[maybe_unused]] constexpr int64_t %s = %lld;\n", p->name,
                 (long long)p->values[0]);
      continue;
    }
    buf_puts(c->out, "  own::must(");
    for (int j = 0; j < p->count; j++)
      buf_printf(c->out, "%s%s == %lld", j ? " || " : "", p->name, (long long)p->values[j]);
    buf_printf(c->out, ", \"%s\", \"%s is one of its values\");\n", k->name, p->name);
  }
}

static void put_checks(const Cpp *c) {
  const Kernel *k = c->k;
  int input, end;
  for (int i = 0; i < k->input_count; i++)
    buf_printf(c->out, "  own::rank(\"%s\", \"%s\", %s, %d);\n", k->name, k->args[i].name,
               k->args[i].name, k->args[i].rank);
  put_types(c);
  put_constants(c);
  for (int i = 0; i < k->dim_count; i++)
    if (mlx_dim_place(k, i, &input, &end))
      buf_printf(c->out, "  [[maybe_unused]] const int64_t %s = %s.shape(%d);\n", k->dims[i],
                 k->args[input].name, k->args[input].rank - end);
  for (int i = 0; i < k->input_count; i++)
    for (int d = 0; d < k->args[i].rank; d++) {
      const kg_expr *e = &k->args[i].shape[d];
      buf_printf(c->out, "  own::axis(\"%s\", \"%s\", %s, %d, %s, ", k->name, k->args[i].name,
                 k->args[i].name, d, expr(c, e));
      put_c_string(c->out, e->text);
      buf_puts(c->out, ");\n");
    }
  for (int i = 0; i < k->require_count; i++) {
    buf_printf(c->out, "  own::must(%s, \"%s\", ", expr(c, &k->require[i]), k->name);
    put_c_string(c->out, k->require[i].text);
    buf_puts(c->out, ");\n");
  }
}

static bool same_launch(const Port *x, const Port *y) {
  for (int i = 0; i < 3; i++)
    if (!expr_same(&x->launch.groups[i], &y->launch.groups[i]) ||
        !expr_same(&x->launch.threads[i], &y->launch.threads[i]))
      return false;
  return true;
}

static void put_axes(const Cpp *c, const char *name, const kg_expr e[3]) {
  buf_printf(c->out, "%s[0] = %s; %s[1] = %s; %s[2] = %s;", name, expr(c, &e[0]), name,
             expr(c, &e[1]), name, expr(c, &e[2]));
}

/* By backend, where a port has a group or a grid of its own. */
static void put_grid(const Cpp *c) {
  static const char *const cases[MAKERS] = {"Metal", "Cuda", "Rocm"};
  const Port *first = NULL;
  bool alike = true;
  for (int m = 0; m < MAKERS; m++) {
    const int port = port_of(c, m);
    if (port < 0) continue;
    if (first == NULL) first = &c->k->ports[port];
    alike = alike && same_launch(first, &c->k->ports[port]);
  }
  buf_puts(c->out, "  int64_t kg_groups[3] = {0, 0, 0}, kg_threads[3] = {1, 1, 1};\n");
  if (!alike) buf_puts(c->out, "  switch (gpu_kernel_backend()) {\n");
  for (int m = 0; m < MAKERS; m++) {
    const int port = port_of(c, m);
    if (port < 0 || (alike && &c->k->ports[port] != first)) continue;
    if (!alike) buf_printf(c->out, "  case GpuKernelBackend::%s: ", cases[m]);
    buf_puts(c->out, alike ? "  " : "");
    put_axes(c, "kg_groups", c->k->ports[port].launch.groups);
    buf_puts(c->out, "\n    ");
    put_axes(c, "kg_threads", c->k->ports[port].launch.threads);
    buf_puts(c->out, alike ? "\n" : " break;\n");
  }
  if (!alike) buf_puts(c->out, "  default: break;\n  }\n");
}

static void put_call(const Cpp *c) {
  const Kernel *k = c->k;
  int n = 0, input, end;
  buf_printf(c->out, "  return own::launch(\"%s\", kg_function, {", k->name);
  for (int i = 0; i < k->input_count; i++)
    buf_printf(c->out, "%sown::seen(%s)", n++ ? ", " : "", k->args[i].name);
  for (int i = 0; i < k->dim_count; i++)
    if (!mlx_dim_place(k, i, &input, &end))
      buf_printf(c->out, "%smlx::core::array(uint32_t(%s), mlx::core::uint32)", n++ ? ", " : "",
                 k->dims[i]);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(c->out, "%smlx::core::array(%s, mlx::core::%s)", n++ ? ", " : "", k->scalars[i].name,
               mlx_dtype(k->scalars[i].dtype));
  buf_puts(c->out, "},\n      {");
  for (int i = k->input_count; i < k->arg_count; i++) {
    buf_puts(c->out, i > k->input_count ? ", {" : "{");
    for (int d = 0; d < k->args[i].rank; d++)
      buf_printf(c->out, "%s%s", d ? ", " : "", expr(c, &k->args[i].shape[d]));
    buf_puts(c->out, "}");
  }
  buf_puts(c->out, "},\n      {");
  for (int i = k->input_count; i < k->arg_count; i++)
    buf_printf(c->out, "%s%s", i > k->input_count ? ", " : "", dtype_text(c, &k->args[i]));
  buf_puts(c->out, "}, kg_groups, kg_threads, {");
  n = 0;
  for (int i = 0; i < k->type_count; i++)
    buf_printf(c->out, "%s{\"KG_T_%s\", %s}", n++ ? ", " : "", k->types[i].name, k->types[i].name);
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key)
      buf_printf(c->out, "%s{\"KG_C_%s\", %s(%s)}", n++ ? ", " : "", k->consts[i].name,
                 k->consts[i].is_bool ? "bool" : "int", k->consts[i].name);
  buf_puts(c->out, "}, kg_stream);\n}\n");
}

static void put_kernel(const Cpp *c) {
  const Kernel *k = c->k;
  buf_printf(c->out, "\n// ---- %s\n\n", k->name);
  put_names(c, "inputs");
  put_names(c, "outputs");
  for (int m = 0; m < MAKERS; m++)
    if (port_of(c, m) >= 0) put_port(c, m, port_of(c, m));
  put_row(c);
  put_comment(c);
  buf_printf(c->out, "inline std::vector<mlx::core::array> %s(", k->name);
  put_parameters(c);
  buf_puts(c->out, ") {\n");
  put_checks(c);
  buf_printf(
      c->out,
      "  const mlx::core::fast::CustomKernelFunction &kg_function = select_kernel_port(\"%s\", ",
      k->name);
  put_c_string(c->out, k->fallback);
  buf_printf(c->out, ", %s_ports);\n", k->name);
  put_grid(c);
  put_call(c);
}

char *emit_mlx_cpp(Arena *a, const Library *l, const char *fixed, const bool *wanted,
                   const char **why) {
  (void)why;
  Buf out = {0};
  buf_printf(
      &out,
      "// Kernels for MLX. Generated by kgen from %s; do not edit: change the specification and "
      "run kgen.\n// content %032d\n",
      spec_name(l), 0);
  buf_puts(&out, fixed);
  buf_puts(&out, "\nnamespace kgen_mlx {\n");
  for (int i = 0; i < l->spec->kernel_count; i++) {
    if (!wanted[i]) continue;
    const Cpp c = {
        .a = a, .l = l, .k = l->spec->kernels[i], .ports = mlx_ports(a, l, i), .out = &out};
    put_kernel(&c);
  }
  buf_puts(&out, "\n} // namespace kgen_mlx\n");
  char *text = arena_strdup(a, out.s);
  content_stamp(text, strlen(text));
  buf_free(&out);
  return text;
}

/* mlx_python.c: <specification>_mlx.py, the kernels for a Python program that has MLX: a Kernel object
** each (templates/mlx/module.py has what these are), made of what the specification says. */
#include <string.h>

#include "base/plain.h"
#include "model/kernel.h"
#include "tables/ctext.h"
#include "tables/mlx.h"

static void put_string(Buf *b, const char *s) {
  buf_puts(b, "\"");
  for (; *s != '\0'; s++) {
    if (*s == '\\' || *s == '"') buf_puts(b, "\\");
    if (*s == '\n')
      buf_puts(b, "\\n");
    else
      buf_put(b, s, 1);
  }
  buf_puts(b, "\"");
}

static void put_lambda(Buf *b, Arena *a, const Kernel *k, const kg_expr *e) {
  buf_printf(b, "lambda v: %s", mlx_expr(a, k, e, MLX_PYTHON));
}

/* A tuple of one needs its comma. */
static void put_names(Buf *b, const Kernel *k, bool output) {
  int input, end;
  buf_puts(b, "[");
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].output == output)
      buf_printf(b, "\"kg_%s_%s\", ", k->args[i].name, output ? "out" : "in");
  for (int i = 0; i < k->dim_count && !output; i++)
    if (!mlx_dim_place(k, i, &input, &end)) buf_printf(b, "\"kg_%s_in\", ", k->dims[i]);
  for (int i = 0; i < k->scalar_count && !output; i++)
    buf_printf(b, "\"kg_%s_in\", ", k->scalars[i].name);
  buf_puts(b, "]");
}

static void put_parameters(Buf *b, const Kernel *k) {
  int input, end;
  buf_puts(b, "    parameters=(");
  for (int i = 0; i < k->input_count; i++) buf_printf(b, "\"%s\", ", k->args[i].name);
  for (int i = 0; i < k->dim_count; i++)
    if (!mlx_dim_place(k, i, &input, &end)) buf_printf(b, "\"%s\", ", k->dims[i]);
  for (int i = 0; i < k->type_count; i++)
    if (mlx_type_is_given(k, i)) buf_printf(b, "\"%s\", ", k->types[i].name);
  for (int i = 0; i < k->scalar_count; i++) buf_printf(b, "\"%s\", ", k->scalars[i].name);
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key) buf_printf(b, "\"%s\", ", k->consts[i].name);
  buf_puts(b, "),\n");
}

static void put_chosen(Buf *b, const Kernel *k) {
  buf_puts(b, "    types={");
  for (int i = 0; i < k->type_count; i++) {
    buf_printf(b, "\"%s\": (", k->types[i].name);
    for (int j = 0; j < k->types[i].count; j++)
      if (mlx_dtype(k->types[i].dtypes[j]) != NULL)
        buf_printf(b, "mx.%s, ", mlx_dtype(k->types[i].dtypes[j]));
    buf_puts(b, "), ");
  }
  buf_puts(b, "},\n    consts={");
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *c = &k->consts[i];
    if (!c->in_key) continue;
    buf_printf(b, "\"%s\": (%s, (", c->name, c->is_bool ? "True" : "False");
    for (int j = 0; j < c->count; j++) buf_printf(b, "%lld, ", (long long)c->values[j]);
    buf_printf(b, "), %lld), ", (long long)c->values[0]);
  }
  buf_puts(b, "},\n    fixed={");
  for (int i = 0; i < k->const_count; i++)
    if (!k->consts[i].in_key)
      buf_printf(b, "\"%s\": %lld, ", k->consts[i].name, (long long)k->consts[i].values[0]);
  buf_puts(b, "},\n    dims={");
  for (int i = 0; i < k->dim_count; i++) {
    int input, end;
    if (mlx_dim_place(k, i, &input, &end))
      buf_printf(b, "\"%s\": (\"%s\", %d), ", k->dims[i], k->args[input].name, end);
    else
      buf_printf(b, "\"%s\": None, ", k->dims[i]);
  }
  buf_puts(b, "},\n");
}

static void put_args(Buf *b, Arena *a, const Kernel *k, bool output) {
  buf_printf(b, "    %s=(\n", output ? "outputs" : "inputs");
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    if (arg->output != output) continue;
    buf_printf(b, "        (\"%s\", ", arg->name);
    if (arg->type >= 0)
      buf_printf(b, "\"%s\", (", k->types[arg->type].name);
    else
      buf_printf(b, "mx.%s, (", mlx_dtype(arg->dtype));
    for (int d = 0; d < arg->rank; d++) {
      buf_puts(b, output ? "" : "(");
      put_lambda(b, a, k, &arg->shape[d]);
      if (!output) {
        buf_puts(b, ", ");
        put_string(b, arg->shape[d].text);
        buf_puts(b, ")");
      }
      buf_puts(b, ", ");
    }
    buf_puts(b, ")),\n");
  }
  buf_puts(b, "    ),\n");
}

static void put_conditions(Buf *b, Arena *a, const Kernel *k) {
  buf_puts(b, "    scalars=(");
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(b, "(\"%s\", mx.%s), ", k->scalars[i].name, mlx_dtype(k->scalars[i].dtype));
  buf_puts(b, "),\n    require=(\n");
  for (int i = 0; i < k->require_count; i++) {
    buf_puts(b, "        (");
    put_lambda(b, a, k, &k->require[i]);
    buf_puts(b, ", ");
    put_string(b, k->require[i].text);
    buf_puts(b, "),\n");
  }
  buf_puts(b, "    ),\n");
}

static void put_port(Buf *b, Arena *a, const Kernel *k, const Port *p, const MlxPort *m) {
  buf_printf(b, "        \"%s\": dict(\n            inputs=", p->backend->name);
  put_names(b, k, false);
  buf_puts(b, ",\n            outputs=");
  put_names(b, k, true);
  for (int threads = 0; threads < 2; threads++) {
    buf_printf(b, ",\n            %s=(", threads ? "threads" : "groups");
    for (int i = 0; i < 3; i++) {
      put_lambda(b, a, k, threads ? &p->launch.threads[i] : &p->launch.groups[i]);
      buf_puts(b, ", ");
    }
    buf_puts(b, ")");
  }
  buf_puts(b, ",\n            header=");
  put_mlx_literal(b, m->header, MLX_PYTHON);
  buf_puts(b, ",\n            source=");
  put_mlx_literal(b, m->source, MLX_PYTHON);
  buf_puts(b, "),\n");
}

/* ---- graphs ------------------------------------------------------------------------------------- */

/* A graph's file is the body of a function of the module, so that two files may use one name, each for
** itself; the function has the number of the first kernel that names the file. */
static int graph_number(const Library *l, const char *path) {
  for (int i = 0; i < l->spec->kernel_count; i++)
    if (l->spec->kernels[i]->graph && strcmp(l->spec->kernels[i]->graph, path) == 0) return i;
  die("%s is no graph's file", path);
}

/* `def NAME(` or `NAME =` at the start of a line. */
static bool defines(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    const char *at = strncmp(line, "def ", 4) == 0 ? line + 4 : line;
    if (strncmp(at, name, n) != 0) continue;
    const char *after = at + n + strspn(at + n, " ");
    if (at != line ? after[0] == '(' : after[0] == '=' && after[1] != '=') return true;
  }
  return false;
}

static void put_graph_file(Buf *b, const Library *l, const char *path, const char *text) {
  buf_printf(b, "def _graphs_%d():  # %s\n", graph_number(l, path), path);
  for (const char *line = text; *line;) {
    const size_t n = strcspn(line, "\n");
    buf_printf(b, "%s%.*s\n", n ? "    " : "", (int)n, line);
    line += n + (line[n] == '\n');
  }
  buf_puts(b, "    return locals()\n\n\n");
}

/* False with *why: a file that cannot be read, or has no function of its kernel's name. */
static bool put_graphs(Buf *b, Arena *a, const Library *l, const bool *wanted, const char **why) {
  bool *put = arena_alloc(a, ((size_t)l->spec->kernel_count + 1) * sizeof *put);
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    if (!wanted[i] || !k->graph) continue;
    size_t len;
    const char *reason = "", *text = text_read(a, path_opened(a, l->spec, k->graph), &len, &reason);
    if (!text || strlen(text) < len) {
      *why = arena_printf(a, "%s: cannot be read: %s", k->graph, text ? "a NUL byte" : reason);
      return false;
    }
    if (!defines(text, k->name)) {
      *why = arena_printf(a,
                          "%s: has no `def %s(...):` at the start of a line; the graph of a kernel "
                          "is the function of its name",
                          k->graph, k->name);
      return false;
    }
    if (!put[graph_number(l, k->graph)]) put_graph_file(b, l, k->graph, text);
    put[graph_number(l, k->graph)] = true;
  }
  return true;
}

static void put_kernel(Buf *b, Arena *a, const Library *l, int number) {
  const Kernel *k = l->spec->kernels[number];
  const MlxPorts all = mlx_ports(a, l, number);
  buf_printf(b, "KERNELS[\"%s\"] = Kernel(\n    name=\"%s\",\n", k->name, k->name);
  put_parameters(b, k);
  put_chosen(b, k);
  put_args(b, a, k, false);
  put_args(b, a, k, true);
  put_conditions(b, a, k);
  buf_puts(b, "    ports={\n");
  for (int i = 0; i < k->port_count; i++)
    if (all.there[i] && strcmp(k->ports[i].backend->name, "hip") != 0)
      put_port(b, a, k, &k->ports[i], &all.ports[i]);
  buf_puts(b, "    },\n    why={");
  for (int i = 0; i < k->port_count; i++)
    if (k->ports[i].absent) {
      buf_printf(b, "\"%s\": ", k->ports[i].backend->name);
      put_string(b, k->ports[i].absent);
      buf_puts(b, ", ");
    }
  buf_puts(b, "},\n    fallback=");
  put_string(b, k->fallback);
  if (k->graph)
    buf_printf(b, ",\n    graph=_graphs_%d()[\"%s\"],\n    doc=", graph_number(l, k->graph),
               k->name);
  else
    buf_puts(b, ",\n    graph=None,\n    doc=");
  put_string(b, k->summary);
  buf_puts(b, ",\n)\n\n");
}

char *emit_mlx_python(Arena *a, const Library *l, const char *fixed, const bool *wanted,
                      const char **why) {
  Buf b = {0};
  buf_printf(
      &b,
      "# Kernels for MLX. Generated by kgen from %s; do not edit: change the specification and "
      "run kgen.\n# content %032d\n",
      spec_name(l), 0);
  buf_puts(&b, fixed);
  if (!put_graphs(&b, a, l, wanted, why)) {
    buf_free(&b);
    return NULL;
  }
  buf_puts(&b, "KERNELS = {}\n\n");
  for (int i = 0; i < l->spec->kernel_count; i++) {
    if (!wanted[i]) continue;
    put_kernel(&b, a, l, i);
  }
  /* one that is called as a word of Python's or of the module's is in KERNELS only */
  buf_puts(&b, "globals().update({n: k for n, k in KERNELS.items() if n not in globals()})\n");
  char *text = arena_strdup(a, b.s);
  content_stamp(text, strlen(text));
  buf_free(&b);
  return text;
}

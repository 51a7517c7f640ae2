/* emit.c: `kgen emit mlx`: the kernels as another program's own functions take them. */
#include <string.h>

#include "base/plain.h"
#include "cmd/cmd.h"
#include "passes.h"
#include "tables/mlx.h"
#include "tables/output.h"

static const OptionRow rows[] = {
    {'f', "file", "FILE", "the specification (default: kernels.lua)"},
    {'o', "output", "FOLDER", "where the two files go (default: the current folder)"},
    {'t', "templates", "FOLDER", "backends, library and kernel language (default: this kgen's)"},
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "emit",
    .operands = "mlx [KERNEL...]",
    .summary = "Write the kernels for MLX: kernels_mlx.h for C++, kernels_mlx.py for Python.",
    .more = "Both have each port's text as fast::metal_kernel, cuda_kernel and (C++) hip_kernel "
            "take it, "
            "and a function\n"
            "for each kernel that checks what it is given and launches.  Without KERNEL: all of "
            "them.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = -1,
};

/* The first dtype of the kernel that MLX has not, where a tensor can be of no other. */
static const char *stranger(const Kernel *k) {
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].type < 0 && mlx_dtype(k->args[i].dtype) == NULL)
      return kg_dtype_name(k->args[i].dtype);
  for (int i = 0; i < k->type_count; i++) {
    int known = 0;
    for (int j = 0; j < k->types[i].count; j++) known += mlx_dtype(k->types[i].dtypes[j]) != NULL;
    if (known == 0) return k->types[i].name;
  }
  return NULL;
}

/* Which kernels: those named, else all; one that MLX cannot take is told of. */
static bool *choose(Arena *a, const Library *l, const Options *o, int *status) {
  bool *wanted = arena_alloc(a, ((size_t)l->spec->kernel_count + 1) * sizeof *wanted);
  *status = EXIT_FINE;
  for (int i = 0; i < l->spec->kernel_count; i++) wanted[i] = o->operand_count == 1;
  for (int i = 1; i < o->operand_count; i++) {
    int index;
    if (library_kernel_named(&command, l, o->operands[i], &index) == NULL) {
      *status = EXIT_USAGE;
      return NULL;
    }
    wanted[index] = true;
  }
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const char *dtype = wanted[i] ? stranger(l->spec->kernels[i]) : NULL;
    if (dtype == NULL) continue;
    fprintf(stderr, "kgen emit: %s is left out: MLX has no dtype for its %s\n",
            l->spec->kernels[i]->name, dtype);
    wanted[i] = false;
    *status = EXIT_FINDINGS;
  }
  return wanted;
}

static const char *stem(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
             *dot = strrchr(name, '.');
  return arena_printf(a, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

static int emit(Arena *a, const LibraryOptions *lo, const Options *o, const char *folder) {
  static const struct {
    const char *fixed, *ending;
    char *(*text)(Arena *a, const Library *l, const char *fixed, const bool *wanted,
                  const char **why);
  } files[] = {{"mlx/ports.h", "_mlx.h", emit_mlx_cpp},
               {"mlx/module.py", "_mlx.py", emit_mlx_python}};
  const Library *l = library_open(a, lo);
  int status;
  const bool *wanted = l ? choose(a, l, o, &status) : NULL;
  if (!l) return EXIT_FINDINGS;
  if (!wanted) return status;
  const char *why = NULL;
  if (!output_folder(folder, &why)) {
    fprintf(stderr, "%s: cannot be made: %s\n", folder, why);
    return EXIT_FINDINGS;
  }
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    size_t len;
    const char *from = arena_printf(a, "%s/%s", library_templates_folder(a, lo), files[i].fixed);
    const char *to = arena_printf(a, "%s/%s%s", folder, stem(a, l->spec->file), files[i].ending);
    const char *fixed = text_read(a, from, &len, &why);
    if (!fixed) {
      fprintf(stderr, "%s: cannot be read: %s\n", from, why);
      return EXIT_FINDINGS;
    }
    const char *text = files[i].text(a, l, fixed, wanted, &why);
    if (!text) {
      fprintf(stderr, "%s\n", why);
      return EXIT_FINDINGS;
    }
    if (!output_file(to, text, strlen(text), &why)) {
      fprintf(stderr, "%s: cannot be written: %s\n", to, why);
      return EXIT_FINDINGS;
    }
    printf("%s\n", to);
  }
  return status;
}

int cmd_emit(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  if (strcmp(o.operands[0], "mlx") != 0)
    return usage_error(&command, "there is nothing to emit for '%s'; there is: mlx", o.operands[0]);
  Arena *a = arena_new();
  LibraryOptions lo = library_options(&command, &o);
  const char *folder = option_value(&command, &o, "output");
  status = emit(a, &lo, &o, folder ? folder : ".");
  arena_free(a);
  return status;
}

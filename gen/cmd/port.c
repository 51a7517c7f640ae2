/* port.c: `kgen port KERNEL BACKEND`: how to fill a slot, and what stands in it. */
#include <string.h>

#include "cmd/cmd.h"
#include "tables/ctext.h"
#include "passes.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "port",
    .operands = "KERNEL BACKEND",
    .summary =
        "Say how to fill an empty slot, as the exact edit to make, or what stands in a filled one.",
    .more = "Changes nothing: the reason that an absent port gives is yours to weigh.\n\n"
            "A slot takes a text that is there already, too, byte for byte: native \"FILE\", or\n"
            "native{ \"FILE\", entry = \"NAME<T>\", args = { \"x\", \"y\", \"n\" }, header = "
            "\"FILE\" }: a body as "
            "MLX takes it, or a\nfile of whole kernels (README has the rest).\n",
    .rows = rows,
    .operands_min = 2,
    .operands_max = 2,
};

typedef struct Found {
  int line;
  const char *text;
  size_t len;
} Found;

/* The first line from `from` on where `backend` is followed by `= absent`. */
static Found absent_line(const char *text, int from, const char *backend) {
  int number = 1;
  for (const char *s = text; *s; number++) {
    const size_t len = strcspn(s, "\n");
    for (const char *at = s; number >= from && (at = strstr(at, backend)) != NULL && at < s + len;
         at++) {
      const char *p = at + strlen(backend);
      const bool whole = at == text || strspn(at - 1, " \t,{\n") > 0;
      p += strspn(p, " \t");
      if (!whole || *p != '=') continue;
      p += 1 + strspn(p + 1, " \t");
      if (strncmp(p, "absent", 6) == 0) return (Found){number, s, len};
    }
    s += len + (s[len] == '\n');
  }
  return (Found){0, NULL, 0};
}

/* The line with `backend = absent "..."` as `backend = {}`. */
static const char *filled_line(Arena *a, const Found *f, const char *backend) {
  const char *line = arena_strndup(a, f->text, f->len), *at = line;
  while ((at = strstr(at, backend)) != NULL) {
    const char *p = at + strlen(backend);
    p += strspn(p, " \t");
    if (*p == '=' && strncmp(p + 1 + strspn(p + 1, " \t"), "absent", 6) == 0) break;
    at++;
  }
  if (!at) return NULL;
  const char *absent = strstr(at, "absent"), *quote = absent + 6 + strspn(absent + 6, " \t(");
  if (*quote != '"' && *quote != '\'') return NULL;
  const char *end = quote + 1;
  while (*end && *end != *quote) end += end[0] == '\\' && end[1] ? 2 : 1;
  if (!*end) return NULL; /* the reason goes on on another line */
  end += 1 + (end[1] == ')');
  return arena_printf(a, "%.*s{}%s", (int)(absent - line), line, end);
}

static void print_limits(const Kernel *k, const Port *p) {
  const Backend *b = p->backend;
  printf("\nwhat %s brings (%s):\n  lanes %s\n", b->title, b->file, waves_text(b->waves));
  if (b->limits.threads) printf("  at most %u threads in a group\n", b->limits.threads);
  if (b->limits.shared)
    printf("  at most %u bytes of shared memory in a group\n", b->limits.shared);
  if (b->limits.buffers) printf("  at most %u buffers\n", b->limits.buffers);
  printf("\nof its own, where it must differ, a port may have (with why = \"the reason\"):\n"
         "  %s = { body = \"%s_%s.kc\", threads = { 128, 1, 1 }, wave = 32, define = { NAME = 1 }, "
         "why = \"...\" }\n",
         b->name, k->name, b->name);
  printf("\nthen:\n  kgen\n  kgen run %s", k->name);
  for (int i = 0; i < k->type_count; i++)
    printf(" %s=%s", k->types[i].name, kg_dtype_name(k->types[i].dtypes[0]));
  printf("\n");
}

static void explain_absent(Arena *a, const Kernel *k, const Port *p) {
  size_t len;
  const char *why, *text = file_read(a, k->file, &len, &why), *new = NULL;
  Found f = {0};
  if (text) f = absent_line(text, k->line, p->backend->name);
  if (f.line) new = filled_line(a, &f, p->backend->name);
  printf("%s has no %s port: %s\n\n", k->name, p->backend->title, p->absent);
  if (new) {
    printf("to fill it, in %s:\n", k->file);
    printf("  %d - %.*s\n", f.line, (int)f.len, f.text);
    printf("  %d + %s\n", f.line, new);
  } else {
    printf(
        "to fill it, in the `ports` of \"%s\" (%s:%d), write in place of its reason:\n  %s = {}\n",
        k->name, k->file, k->line, p->backend->name);
  }
  print_limits(k, p);
}

static void explain_present(Arena *a, const Library *l, const Kernel *k, const Port *p) {
  printf("%s has a %s port\n", k->name, p->backend->title);
  printf("  text     %s\n", port_file(a, k, p));
  printf("  %-8s %s%s\n", p->native ? "native" : "body", path_opened(a, l->spec, p->body),
         p->own_body && !p->native ? " (its own)" : "");
  printf("  lanes    %s\n", waves_text(p->waves));
  printf("  groups   %s\n", axes_text(a, p->launch.groups));
  printf("  threads  %s\n", axes_text(a, p->launch.threads));
  for (int i = 0; i < p->define_count; i++)
    printf("  define   %s = %lld\n", p->defines[i].name, (long long)p->defines[i].value);
  printf("  bits     %s\n", p->mlx_bits ? "mlx: those of MLX's graph on this backend" : "portable");
  if (p->why_defines) printf("  why      %s\n", p->why_defines);
  print_limits(k, p);
}

static int port(Arena *a, const Library *l, char *const *operands) {
  const Kernel *k = library_kernel_named(&command, l, operands[0], NULL);
  if (!k) return EXIT_USAGE;
  const Port *p = kernel_port(k, operands[1], NULL);
  if (!p) {
    const char *names[MAX_BACKENDS];
    Buf list = {0};
    for (int i = 0; i < l->backend_count && i < MAX_BACKENDS; i++) {
      names[i] = l->backends[i]->name;
      buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_name(operands[1], names, l->backend_count);
    const int status = near ? usage_error(&command, "there is no backend '%s'; did you mean '%s'?",
                                          operands[1], near)
                            : usage_error(&command, "there is no backend '%s'; there are: %s",
                                          operands[1], list.s);
    buf_free(&list);
    return status;
  }
  if (p->absent)
    explain_absent(a, k, p);
  else
    explain_present(a, l, k, p);
  return EXIT_FINE;
}

int cmd_port(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  Arena *a = arena_new();
  LibraryOptions lo = library_options(&command, &o);
  lo.spec_only = true;
  const Library *l = library_open(a, &lo);
  status = l ? port(a, l, o.operands) : EXIT_FINDINGS;
  arena_free(a);
  return status;
}

/* explain.c: `kgen explain FILE:LINE`: where a generated line comes from, and what came of a
** line of a body.
**
** The #line marks in the texts are the whole of what is known, so this works for any backend. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "passes.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "explain",
    .operands = "FILE:LINE",
    .summary = "From a generated line to its body line, specification and siblings in the other "
               "backends; and back.",
    .more = "FILE is a generated file, a body, a library file or the specification.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = 1,
};

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct Line {
  const char *s;
  int len;
  const char *file;
  int line;
} Line; /* file: NULL where the text is its own */

/* The lines of a text, each with the place that the #line marks give it. */
static Line *text_lines(Arena *a, const char *text, const char *own, int *count) {
  int n = 0, at = 0;
  for (const char *s = text; *s; s++) n += *s == '\n';
  Line *lines = arena_alloc(a, ((size_t)n + 1) * sizeof *lines);
  const char *file = NULL;
  int line = 0;
  for (const char *s = text; *s;) {
    const int len = (int)strcspn(s, "\n");
    int number, start = 0;
    lines[at] = (Line){s, len, NULL, 0};
    if (sscanf(s, "#line %d \"%n", &number, &start) == 1 && start > 0) {
      const char *name = arena_strndup(a, s + start, strcspn(s + start, "\"\n"));
      file = strcmp(name, own) == 0 ? NULL : name;
      line = number;
    } else if (file) {
      lines[at].file = file;
      lines[at].line = line++;
    }
    at++;
    s += len + (s[len] == '\n');
  }
  *count = at;
  return lines;
}

static void print_line(const char *file, int number, const char *s, int len) {
  while (len > 0 && *s == ' ') s++, len--;
  printf("  %s:%d: %.*s\n", file, number, len, s);
}

static bool same_file(const char *x, const char *y) {
  struct stat a, b;
  if (strcmp(x, y) == 0) return true;
  return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- one question ---------------------------------------------------------------------------- */

typedef struct Question {
  Arena *a;
  const Library *l;
  const char *folder, *templates; /* of the outputs; of kgen's own library files */
  const char *file;
  int line;
} Question;

/* A file of a #line mark, as opened: below the specification's folder, or below the templates'. */
static const char *mark_path(const Question *q, const char *mark) {
  const char *path = path_opened(q->a, q->l->spec, mark);
  if (access(path, F_OK) == 0 || strncmp(mark, "templates/", 10) != 0) return path;
  return arena_printf(q->a, "%s/%s", q->templates, mark + 10);
}

/* Whether a path is port_file's, without making it: 1000 kernels are asked about 1000 times. */
static bool is_port_file(const char *path, const Kernel *k, const Port *p) {
  const size_t folder = strlen(p->backend->name), name = strlen(k->name);
  return strncmp(path, p->backend->name, folder) == 0 && path[folder] == '/' &&
         strncmp(path + folder + 1, k->name, name) == 0 && path[folder + 1 + name] == '.' &&
         strcmp(path + folder + name + 2, p->backend->extension) == 0;
}

/* Whose device text it is; NULL: a table's. */
static const Kernel *kernel_of(const Library *l, const Output *o, const Port **port) {
  for (int i = 0; i < l->spec->kernel_count; i++)
    for (int n = 0; n < l->spec->kernels[i]->port_count; n++) {
      const Kernel *k = l->spec->kernels[i];
      if (!is_port_file(o->path, k, &k->ports[n])) continue;
      *port = &k->ports[n];
      return k;
    }
  return NULL;
}

static int line_count(const Question *q, const char *path) {
  size_t len;
  const char *why = NULL, *text = file_read(q->a, path, &len, &why);
  int n = 0;
  for (size_t i = 0; text && i < len; i++) n += text[i] == '\n' || i + 1 == len;
  return n;
}

/* A line that has its origin in a file: what stands behind a mark's last line, as the brace that
** closes an entry does, is the backend's own. */
static bool has_origin(const Question *q, const Line *line) {
  return line->file && line->line <= line_count(q, mark_path(q, line->file));
}

/* Each line of the other outputs that has the same origin; `except` may be NULL. */
static int print_places(const Question *q, const char *path, int line, const Kernel *kernel,
                        const Output *except) {
  int found = 0;
  if (line > line_count(q, path)) return 0;
  for (int i = 0; i < q->l->output_count; i++) {
    const Output *o = &q->l->outputs[i];
    const Port *port;
    const Kernel *k = kernel_of(q->l, o, &port);
    int count;
    if (!k || o == except || (kernel && k != kernel)) continue;
    const Line *lines = text_lines(q->a, o->text, o->path, &count);
    /* a file's mark is one string: the file system is asked once for each */
    const char *mark = NULL;
    bool same = false;
    for (int n = 0; n < count; n++) {
      if (!lines[n].file) continue;
      if (lines[n].file != mark) same = same_file(mark_path(q, lines[n].file), path);
      mark = lines[n].file;
      if (!same || lines[n].line != line) continue;
      if (found++ == 0) printf(except ? "its siblings:\n" : "it becomes:\n");
      print_line(arena_printf(q->a, "%s/%s", q->folder, o->path), n + 1, lines[n].s, lines[n].len);
    }
  }
  return found;
}

static void print_source_line(const Question *q, const char *path, int number) {
  size_t len;
  const char *why = NULL, *text = file_read(q->a, path, &len, &why);
  for (int n = 1; text && n < number; n++) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  print_line(path, number, text ? text : "", text ? (int)strcspn(text, "\n") : 0);
}

/* "// -- what this kernel uses --": the last heading above a line. */
static void print_heading(const Line *lines, int at) {
  for (int n = at; n >= 0; n--) {
    if (lines[n].len < 6 || strncmp(lines[n].s, "// -- ", 6) != 0) continue;
    int len = lines[n].len - 6;
    while (len > 0 && (lines[n].s[6 + len - 1] == '-' || lines[n].s[6 + len - 1] == ' ')) len--;
    printf("  in the part \"%.*s\"\n", len, lines[n].s + 6);
    return;
  }
}

static int explain_output(const Question *q, const Output *o) {
  const char *shown = arena_printf(q->a, "%s/%s", q->folder, o->path);
  const Port *port = NULL;
  const Kernel *k = kernel_of(q->l, o, &port);
  int count;
  const Line *lines = text_lines(q->a, o->text, o->path, &count);
  size_t len;
  const char *why = NULL, *disk = file_read(q->a, shown, &len, &why);
  if (!disk || len != o->len || memcmp(disk, o->text, len) != 0)
    printf("note: %s is not up to date; this is about what it should be\n", shown);
  if (q->line > count) {
    fprintf(stderr, "kgen explain: %s has %d lines\n", shown, count);
    return EXIT_FINDINGS;
  }
  const Line *at = &lines[q->line - 1];
  print_line(shown, q->line, at->s, at->len);
  if (!k) {
    printf("is written from %s alone, by kgen's tables; no body has a part in it\n",
           q->l->spec->file);
    return EXIT_FINE;
  }
  const bool origin = has_origin(q, at);
  if (origin) {
    printf("comes from:\n");
    print_source_line(q, mark_path(q, at->file), at->line);
  } else {
    printf("comes from the backend's table and the specification:\n  %s\n", port->backend->file);
    print_heading(lines, q->line - 1);
  }
  printf("of the kernel %s:\n  %s:%d\n", k->name, k->file, k->line);
  if (origin) print_places(q, mark_path(q, at->file), at->line, k, o);
  return EXIT_FINE;
}

/* A line of the specification belongs to the kernel that begins last before it. */
static int explain_spec(const Question *q) {
  const Kernel *last = NULL;
  for (int i = 0; i < q->l->spec->kernel_count; i++) {
    const Kernel *k = q->l->spec->kernels[i];
    if (same_file(k->file, q->file) && k->line <= q->line && (!last || k->line > last->line))
      last = k;
  }
  print_source_line(q, q->file, q->line);
  if (!last) {
    printf("stands before the first kernel of that file\n");
    return EXIT_FINE;
  }
  printf("is of the kernel %s (%s:%d), which becomes:\n", last->name, last->file, last->line);
  for (int n = 0; n < last->port_count; n++) {
    const Port *p = &last->ports[n];
    if (p->absent)
      printf("  no %s port: %s\n", p->backend->name, p->absent);
    else
      printf("  %s/%s from %s\n", q->folder, port_file(q->a, last, p),
             path_opened(q->a, q->l->spec, p->body));
  }
  return EXIT_FINE;
}

static int explain(const Question *q) {
  for (int i = 0; i < q->l->output_count; i++) {
    const Output *o = &q->l->outputs[i];
    if (strcmp(q->file, o->path) == 0 ||
        same_file(q->file, arena_printf(q->a, "%s/%s", q->folder, o->path)))
      return explain_output(q, o);
  }
  for (int i = 0; i < q->l->spec->read_count; i++)
    if (same_file(q->file, q->l->spec->read_files[i])) return explain_spec(q);
  if (access(q->file, R_OK) != 0) {
    fprintf(stderr, "kgen explain: there is no file '%s'\n", q->file);
    return EXIT_FINDINGS;
  }
  print_source_line(q, q->file, q->line);
  if (print_places(q, q->file, q->line, NULL, NULL) > 0) return EXIT_FINE;
  printf("becomes no line of any generated file: it is past the end, or no kernel uses it\n");
  return EXIT_FINDINGS;
}

int cmd_explain(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  const char *colon = strrchr(o.operands[0], ':');
  char *end = NULL;
  const long line = colon ? strtol(colon + 1, &end, 10) : 0;
  if (!colon || colon == o.operands[0] || *end || line < 1 || line > 100000000)
    return usage_error(&command, "'%s' is not FILE:LINE", o.operands[0]);
  Arena *a = arena_new();
  const LibraryOptions lo = library_options(&command, &o);
  const Library *l = library_open(a, &lo);
  const Question q = {a,
                      l,
                      library_output_folder(a, &lo),
                      library_templates_folder(a, &lo),
                      arena_strndup(a, o.operands[0], (size_t)(colon - o.operands[0])),
                      (int)line};
  status = l ? explain(&q) : EXIT_FINDINGS;
  arena_free(a);
  return status;
}

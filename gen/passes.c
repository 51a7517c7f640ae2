/* passes.c: from a specification file to all texts, the way every command goes.  See passes.h. */
#include "passes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform.h"

/* ---- where things are ----------------------------------------------------------------------- */

/* The program's own folder, found once at its start; the only state of kgen that no call hands
** on. */
static char program_folder[4096];

void library_program(const char *argv0) {
  if (!kg_program_path(program_folder, sizeof program_folder) &&
      (size_t)snprintf(program_folder, sizeof program_folder, "%s", argv0 ? argv0 : "") >=
          sizeof program_folder)
    program_folder[0] = 0;
  char *slash = strrchr(program_folder, '/');
  *(slash ? slash : program_folder) = 0;
}

LibraryOptions library_options(const Command *command, const Options *options) {
  return (LibraryOptions){
      .spec = option_value(command, options, "file"),
      .output = option_value(command, options, "output"),
      .templates = option_value(command, options, "templates"),
  };
}

static const char *spec_path(const LibraryOptions *o) { return o->spec ? o->spec : "kernels.lua"; }

static const char *beside_spec(Arena *a, const LibraryOptions *o, const char *name) {
  const char *spec = spec_path(o), *slash = strrchr(spec, '/');
  return slash ? arena_printf(a, "%.*s/%s", (int)(slash - spec), spec, name) : name;
}

const char *library_output_folder(Arena *a, const LibraryOptions *o) {
  const char *folder = o->output ? o->output : beside_spec(a, o, "generated");
  size_t len = strlen(folder);
  while (len > 1 && folder[len - 1] == '/') len--;
  return len ? arena_strndup(a, folder, len) : ".";
}

static bool is_folder(const char *path, struct stat *s) {
  return stat(path, s) == 0 && S_ISDIR(s->st_mode);
}

const char *library_templates_folder(Arena *a, const LibraryOptions *o) {
  struct stat near, own;
  const char *given = o->templates ? o->templates : getenv("KGEN_TEMPLATES");
  if (given && *given) return given;
  const char *slash =
      strrchr(program_folder, '/'); /* its folder's own folder: no ".." in messages */
  const char *beside = beside_spec(a, o, "templates");
  const char *program =
      slash ? arena_printf(a, "%.*s/templates", (int)(slash - program_folder), program_folder)
            : "../templates";
  if (!*program_folder || !is_folder(program, &own)) return beside;
  /* the same folder by two names: the relative one keeps absolute paths out of depfiles and
  ** messages */
  if (is_folder(beside, &near) && near.st_dev == own.st_dev && near.st_ino == own.st_ino)
    return beside;
  return program;
}

/* ---- finding things in it ------------------------------------------------------------------- */

const Kernel *library_kernel(const Library *l, const char *name, int *index) {
  for (int i = 0; i < l->spec->kernel_count; i++) {
    if (strcmp(l->spec->kernels[i]->name, name) != 0) continue;
    if (index) *index = i;
    return l->spec->kernels[i];
  }
  return NULL;
}

const Kernel *library_kernel_named(const Command *command, const Library *l, const char *name,
                                   int *index) {
  const Kernel *k = library_kernel(l, name, index);
  if (k) return k;
  Arena *a = arena_new();
  const char **names = arena_alloc(a, (size_t)l->spec->kernel_count * sizeof *names);
  for (int i = 0; i < l->spec->kernel_count; i++) names[i] = l->spec->kernels[i]->name;
  const char *near = nearest_name(name, names, l->spec->kernel_count);
  if (near)
    usage_error(command, "there is no kernel '%s' in %s; did you mean '%s'?", name, l->spec->file,
                near);
  else
    usage_error(command, "there is no kernel '%s' in %s", name, l->spec->file);
  arena_free(a);
  return NULL;
}

/* ---- making it ------------------------------------------------------------------------------ */

static bool wanted(const LibraryOptions *o, const Kernel *k) {
  return !o->only || strcmp(o->only, k->name) == 0;
}

/* One run of the passes: what each leaves for those after it. */
typedef struct Run {
  Arena *a;
  const LibraryOptions *o;
  Diags *d;
  Language *language;
  const Words *words;
  const Backend *const *there; /* every backend that there is */
  int there_count;
  Library *l;
} Run;

/* portable.h and lib/, before all else: the words that everything after is read against. */
static void read_language(Run *r) {
  r->language = language_load(r->a, library_templates_folder(r->a, r->o), r->d);
  r->words = language_words(r->language);
}

static void read_backends(Run *r) {
  r->there =
      backends_load(r->a, library_templates_folder(r->a, r->o), r->words, &r->there_count, r->d);
}

static void read_specification(Run *r) {
  Library *l = r->l;
  l->spec = spec_load(r->a, spec_path(r->o), r->words, r->there, r->there_count, r->d);
  if (!l->spec) return;
  l->backends = l->spec->backends;
  l->backend_count = l->spec->backend_count;
  l->facts = arena_alloc(r->a, (size_t)l->spec->kernel_count * sizeof *l->facts);
  for (int i = 0; i < l->spec->kernel_count; i++)
    l->facts[i] =
        arena_alloc(r->a, (size_t)(l->spec->kernels[i]->port_count + 1) * sizeof **l->facts);
}

/* lib/ beside the specification: the functions of its author's own. */
static void read_own_library(Run *r) { language_load_own(r->language, r->l->spec->folder, r->d); }

static void read_bodies(Run *r) {
  for (int i = 0; i < r->l->spec->kernel_count; i++) {
    const Kernel *k = r->l->spec->kernels[i];
    for (int n = 0; n < k->port_count && wanted(r->o, k); n++) {
      const Port *p = &k->ports[n];
      if (p->absent) continue;
      const Facts *facts = r->l->facts[i][n] =
          p->native ? native_facts(r->a, k, p, r->d) : body_facts(r->a, r->language, k, p, r->d);
      if (!facts && diags_errors(r->d) == 0) die("no facts of %s and no word why", k->name);
    }
  }
}

/* Each dtype that an instance may have must have a text on each backend. */
static void check_dtypes(Run *r) {
  for (int i = 0; i < r->l->spec->kernel_count; i++) {
    Kernel *k = r->l->spec->kernels[i];
    for (int n = 0; n < k->port_count; n++)
      if (r->l->facts[i][n]) device_dtypes_check(r->a, k, &k->ports[n], r->d);
  }
}

static void align_arguments(Run *r) {
  for (int i = 0; i < r->l->spec->kernel_count; i++)
    args_align(r->l->spec->kernels[i], r->words, r->l->facts[i]);
}

/* The tables whose names never change come first: a build file can name the first output of the
** depfile. */
typedef struct Table {
  const char *path;
  char *(*emit)(Arena *a, const Library *l);
} Table;
static const Table tables[] = {
    {"kernels.h", emit_header},
    {"kernels.c", emit_tables},
    {"kernels.json", emit_json},
    {"PORTS.md", emit_ports_md},
};
enum { TABLES = sizeof tables / sizeof *tables };

static void put_output(Output *o, const char *path, char *text, const char *from) {
  const size_t len = strlen(text);
  if (!content_holds(text, len)) content_stamp(text, len);
  *o = (Output){.path = path, .text = text, .len = len, .from = from};
}

/* The most shared memory over the widths that the port is for. */
static uint32_t most_shared(const Port *p, const Facts *f) {
  uint32_t most = 0;
  for (int w = 0; w < WAVES; w++)
    if ((p->waves & (1u << w)) && f->shared_bytes[w] > most) most = f->shared_bytes[w];
  return most;
}

static void emit_devices(Run *r) {
  Library *l = r->l;
  int ports = 0;
  for (int i = 0; i < l->spec->kernel_count; i++) ports += l->spec->kernels[i]->port_count;
  l->outputs = arena_alloc(r->a, (size_t)(TABLES + ports) * sizeof *l->outputs);
  l->output_count = r->o->only ? 0 : TABLES;
  for (int i = 0; i < l->spec->kernel_count; i++) {
    Kernel *k = l->spec->kernels[i];
    for (int n = 0; n < k->port_count; n++) {
      if (!l->facts[i][n]) continue;
      Port *p = &k->ports[n];
      const char *from = arena_printf(r->a, "%s and %s", path_from_spec(l->spec, k->file), p->body);
      Output *text = &l->outputs[l->output_count++];
      const Facts *f = l->facts[i][n];
      put_output(text, p->launch.file,
                 p->native ? emit_native(r->a, k, p, f) : emit_device(r->a, k, p, f), from);
      port_emitted(k, p, text->text, most_shared(p, l->facts[i][n]));
    }
  }
}

static void emit_all_tables(Run *r) {
  const char *spec = path_from_spec(r->l->spec, r->l->spec->file);
  for (int i = 0; i < TABLES && !r->o->only; i++)
    put_output(&r->l->outputs[i], tables[i].path, tables[i].emit(r->a, r->l), spec);
}

/* The way of every command.  A pass knows what those before it left, and none goes on where one of
** them found an error. */
static const struct {
  void (*pass)(Run *r);
  bool reads_specification; /* what there is where bodies are not asked for */
} passes[] = {
    {read_language, true},     {read_backends, true}, {read_specification, true},
    {read_own_library, false}, {read_bodies, false},  {check_dtypes, false},
    {align_arguments, false},  {emit_devices, false}, {emit_all_tables, false},
};

Library *library_make(Arena *a, const LibraryOptions *o, Diags *d) {
  Run r = {.a = a, .o = o, .d = d, .l = arena_alloc(a, sizeof *r.l)};
  for (size_t i = 0; i < sizeof passes / sizeof *passes && diags_errors(d) == 0; i++)
    if (passes[i].reads_specification || !o->spec_only) passes[i].pass(&r);
  language_free(r.language);
  return diags_errors(d) == 0 && r.l->spec ? r.l : NULL;
}

const Backend *const *library_backends(Arena *a, const LibraryOptions *o, int *count, Diags *d) {
  const char *templates = library_templates_folder(a, o);
  Words words;
  words_load(a, &words, templates, d);
  return backends_load(a, templates, &words, count, d);
}

Library *library_open(Arena *a, const LibraryOptions *o) {
  Diags *d = diags_new(a);
  Library *l = library_make(a, o, d);
  diags_print(d, stderr, isatty(STDERR_FILENO));
  return l;
}

/* ---- what it was made from ------------------------------------------------------------------ */

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

typedef struct Names {
  const char **list;
  int count, room;
} Names;

static void add_name(Arena *a, Names *n, const char *name) {
  GROW(a, n->list, n->count, n->room);
  n->list[n->count++] = name;
}

const char **library_reads(Arena *a, const Library *l, const LibraryOptions *o, int *count) {
  Names n = {0};
  const char *templates = library_templates_folder(a, o);
  /* a backend or a library file that is added makes another result */
  add_name(a, &n, arena_printf(a, "%s/backends", templates));
  add_name(a, &n, arena_printf(a, "%s/lib", templates));
  for (int i = 0; i < l->backend_count; i++)
    for (int f = 0; f < l->backends[i]->file_count; f++) add_name(a, &n, l->backends[i]->files[f]);
  for (int i = 0; i < l->spec->read_count; i++) add_name(a, &n, l->spec->read_files[i]);
  for (int i = 0; i < l->spec->kernel_count; i++)
    for (int p = 0; p < l->spec->kernels[i]->port_count; p++)
      for (int r = 0; l->facts[i][p] && r < l->facts[i][p]->read_count; r++)
        add_name(a, &n, l->facts[i][p]->read_files[r]);
  qsort(n.list, (size_t)n.count, sizeof *n.list, by_text);
  int kept = 0;
  for (int i = 0; i < n.count; i++)
    if (kept == 0 || strcmp(n.list[kept - 1], n.list[i]) != 0) n.list[kept++] = n.list[i];
  *count = kept;
  return n.list;
}

/* new.c: `kgen new NAME`: a commented starting point that generates, runs and passes as it
** is.
**
** Writes a folder with the kernel's specification, body and reference where nothing stands yet, and
** adds an include to the end of the specification.  Nothing is overwritten; when anything cannot be
** made, nothing is left. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "passes.h"
#include "tables/output.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "new",
    .operands = "NAME",
    .summary = "Write a commented starting point: a specification, a body and a reference.",
    .more = "They go to kernels/NAME/ as NAME.lua, NAME.kc and NAME.ref.c, beside the "
            "specification (to templates/kernels/NAME/\n"
            "where there is a templates/kernels), and an include of the first to the "
            "specification's end; it is made when\n"
            "there is none.  Nothing is overwritten.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = 1,
};

/* $N is the kernel's name, $P its ports. */
static const char entry_text[] =
    "kernel \"$N\" {\n"
    "  summary = \"y = x * scale, rounded once.\",  -- one sentence; it stands in every generated "
    "file\n"
    "  types = { { \"T\", { f32, f16, bf16 } } },   -- chosen by an instance, and so part of its "
    "name\n"
    "  dims = { \"n\" },                            -- a u32 in the body, learnt from the tensors' "
    "shapes\n"
    "  inputs = { { \"x\", \"T\", { \"n\" } } },        -- name, type, shape\n"
    "  scalars = { { \"scale\", \"f32\" } },\n"
    "  outputs = { { \"y\", \"T\", { \"n\" } } },\n"
    "  consts = { { \"THREADS\", 256 } },           -- one number: fixed; a list or bool: chosen "
    "by an instance\n"
    "  launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, "
    "1 } },\n"
    "  wave = any,                                -- the widths that the body is right for: any, "
    "32 or 64\n"
    "  ports = { $P }, -- or: NAME = absent \"why this backend has none\"\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-4, bf16 = 8e-4 } },\n"
    "  fallback = \"multiply by the scale\",        -- what a refused caller should do\n"
    "  body = \"$N.kc\",\n"
    "  reference = \"$N.ref.c\",\n"
    "  cases = { { n = 1000, scale = 0.5 }, { n = 1, scale = -3 } },\n"
    "}\n";

static const char body_text[] =
    "// The inside of the kernel: templates/language/portable.h has every word that may stand "
    "here.\n"
    "// One thread an element; the last group may reach past the end.\n"
    "const u32 i = group_x * THREADS + thread;\n"
    "if (i >= n) return;\n"
    "y[i] = T(f32(x[i]) * scale); // f32(x) widens, T(x) rounds once; there is no other arithmetic "
    "on 16 bits\n";

static const char reference_text[] =
    "/* $N: y = x * scale, in doubles and from the formula, not from the body. */\n"
    "#include \"reference.h\"\n\n"
    "void reference(ref_call *c) {\n"
    "  const ref_tensor *x = ref_find(c, \"x\"), *y = ref_find(c, \"y\");\n"
    "  const double scale = ref_real(c, \"scale\");\n"
    "  for (int64_t i = 0; i < x->count; i++) y->real[i] = ref_round(y->dtype, x->real[i] * "
    "scale);\n"
    "}\n";

static const char *filled(Arena *a, const char *text, const char *name, const char *ports) {
  Buf b = {0};
  for (; *text; text++) {
    if (text[0] == '$' && (text[1] == 'N' || text[1] == 'P'))
      buf_puts(&b, *++text == 'N' ? name : ports);
    else
      buf_put(&b, text, 1);
  }
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

static bool is_name(const char *s) {
  if (!(*s >= 'a' && *s <= 'z')) return false;
  for (; *s; s++)
    if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_')) return false;
  return true;
}

/* What this run has made, the last first: files and folders, to be taken back when it fails. */
typedef struct Made {
  const char *path;
  const struct Made *before;
} Made;

static void note_made(Arena *a, const Made **made, const char *path) {
  Made *m = arena_alloc(a, sizeof *m);
  *m = (Made){path, *made};
  *made = m;
}

static void take_back(const Made *made) {
  for (; made; made = made->before) remove(made->path); /* a folder only when it is empty */
}

/* Whether it worked shows when the file is made. */
static void make_folders(Arena *a, const char *path, const Made **made) {
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    const char *folder = arena_strndup(a, path, (size_t)(slash - path));
    if (mkdir(folder, 0777) == 0) note_made(a, made, folder);
  }
}

/* A file that is not there yet. */
static bool write_new(Arena *a, const char *path, const char *text, const Made **made) {
  make_folders(a, path, made);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const size_t len = strlen(text);
  if (fd < 0) {
    fprintf(stderr, "kgen new: %s: %s\n", path,
            errno == EEXIST ? "is there already, and nothing is overwritten" : strerror(errno));
    return false;
  }
  note_made(a, made, path);
  const bool whole = write(fd, text, len) == (ssize_t)len, closed = close(fd) == 0;
  if (whole && closed) return true;
  fprintf(stderr, "kgen new: %s: cannot be written: %s\n", path, strerror(errno));
  return false;
}

/* Of the backends that the specification speaks of; of all where there is none yet (NULL). */
static const char *port_list(Arena *a, const LibraryOptions *lo, const Library *l, Diags *d) {
  int count = l ? l->backend_count : 0;
  const Backend *const *b = l ? l->backends : library_backends(a, lo, &count, d);
  const char *text = "";
  for (int i = 0; i < count; i++)
    text = arena_printf(a, "%s%s%s = {}", text, i ? ", " : "", b[i]->name);
  return text;
}

/* The specification's text, "" where there is none yet; *there tells.  NULL: said. */
static const char *spec_text(Arena *a, const char *spec, bool *there) {
  const char *why = NULL, *text = "";
  size_t len;
  *there = access(spec, F_OK) == 0;
  if (*there && (text = file_read(a, spec, &len, &why)) == NULL)
    fprintf(stderr, "kgen new: %s: %s\n", spec, why);
  return text;
}

static bool write_spec(const char *spec, const char *text) {
  const char *why = NULL;
  if (output_file(spec, text, strlen(text), &why)) return true;
  fprintf(stderr, "kgen new: %s: cannot be written: %s\n", spec, why);
  return false;
}

/* What is there must be sound, and without that name. */
static const Library *sound_without(Arena *a, const LibraryOptions *lo, const char *name) {
  LibraryOptions look = *lo;
  look.spec_only = true;
  const Library *l = library_open(a, &look);
  const Kernel *k = l ? library_kernel(l, name, NULL) : NULL;
  if (k)
    fprintf(stderr, "kgen new: the kernel '%s' is there already: %s:%d\n", name, k->file, k->line);
  return k ? NULL : l;
}

/* Adds the include and reads the whole: a name that is a keyword of some backend shows now.  *there:
** the specification was. */
static bool add_include(Arena *a, const LibraryOptions *lo, const char *spec, const char *line,
                        bool *there) {
  const char *old = spec_text(a, spec, there);
  if (!old) return false;
  const size_t len = strlen(old);
  const char *gap = len && old[len - 1] != '\n' ? "\n" : "";
  if (!write_spec(spec, arena_printf(a, "%s%s%s", old, gap, line))) return false;
  LibraryOptions look = *lo;
  look.spec_only = true;
  if (library_open(a, &look)) return true;
  if (*there)
    write_spec(spec, old);
  else
    unlink(spec);
  return false;
}

static int make_new(Arena *a, const LibraryOptions *lo, const char *name) {
  static const struct {
    const char *end, *text;
  } files[] = {{"lua", entry_text}, {"kc", body_text}, {"ref.c", reference_text}};
  const char *spec = lo->spec ? lo->spec : "kernels.lua", *slash = strrchr(spec, '/');
  const char *beside = slash ? arena_strndup(a, spec, (size_t)(slash - spec) + 1) : "";
  struct stat st;
  const bool of_templates = stat(arena_printf(a, "%stemplates/kernels", beside), &st) == 0;
  const char *folder =
      arena_printf(a, "%skernels/%s/%s", of_templates ? "templates/" : "", name, name);
  const bool is_there = access(spec, F_OK) == 0;
  const Library *l = is_there ? sound_without(a, lo, name) : NULL;
  if (is_there && !l) return EXIT_FINDINGS;
  Diags *d = diags_new(a);
  const char *ports = port_list(a, lo, l, d);
  if (diags_errors(d)) {
    diags_print(d, stderr, isatty(STDERR_FILENO));
    return EXIT_FINDINGS;
  }
  const Made *made = NULL;
  bool done = true, there;
  for (int i = 0; i < 3 && done; i++)
    done = write_new(a, arena_printf(a, "%s%s.%s", beside, folder, files[i].end),
                     filled(a, files[i].text, name, ports), &made);
  const char *line = arena_printf(a, "include \"%s.lua\"\n", folder);
  if (!done || !add_include(a, lo, spec, line, &there)) {
    take_back(made);
    return EXIT_FINDINGS;
  }
  for (int i = 0; i < 3; i++) printf("wrote %s%s.%s\n", beside, folder, files[i].end);
  printf("%s %s\nnext: change them, then 'kgen', then 'kgen run %s'\n",
         there ? "added an include to" : "wrote", spec, name);
  return EXIT_FINE;
}

int cmd_new(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  if (!is_name(o.operands[0]))
    return usage_error(&command,
                       "'%s' is not a name for a kernel: a small letter, then small letters, "
                       "digits and underscores",
                       o.operands[0]);
  Arena *a = arena_new();
  const LibraryOptions lo = library_options(&command, &o);
  status = make_new(a, &lo, o.operands[0]);
  arena_free(a);
  return status;
}

/* new.c: `kgen new NAME`: a commented starting point that generates, runs and passes as it
** is.
**
** Writes a body and a reference where nothing stands yet, and adds an entry to the end of the
** specification.  Nothing is overwritten; when any of the three cannot be made, none is left. */
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
    .summary = "Write a commented starting point: a specification entry, a body and a reference.",
    .more = "The entry goes to the end of the specification (made when there is none), the body to "
            "templates/kernels/NAME.kc and\n"
            "the reference to tests/reference/NAME.c beside it.  Nothing is overwritten.\n",
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
    "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },\n"
    "  fallback = \"multiply by the scale\",        -- what a refused caller should do\n"
    "  body = \"$N.kc\",\n"
    "  reference = \"$N.c\",\n"
    "  cases = { { n = 1000, scale = 0.5 }, { n = 1, scale = -3 } },\n"
    "}\n";

static const char body_text[] =
    "// The inside of the kernel: templates/language/portable.h has every word that may stand here.\n"
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

static void make_folders(Arena *a, const char *path) {
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
    mkdir(arena_strndup(a, path, (size_t)(slash - path)),
          0777); /* whether it worked shows when the file is made */
}

/* A file that is not there yet. */
static bool write_new(Arena *a, const char *path, const char *text) {
  make_folders(a, path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const size_t len = strlen(text);
  if (fd < 0) {
    fprintf(stderr, "kgen new: %s: %s\n", path,
            errno == EEXIST ? "is there already, and nothing is overwritten" : strerror(errno));
    return false;
  }
  const bool whole = write(fd, text, len) == (ssize_t)len, closed = close(fd) == 0;
  if (whole && closed) return true;
  fprintf(stderr, "kgen new: %s: cannot be written: %s\n", path, strerror(errno));
  unlink(path);
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

/* Adds the entry; the old text, and whether there was one, comes back for taking it away again. */
static bool add_entry(Arena *a, const char *spec, const char *entry, const char **old,
                      size_t *old_len) {
  const char *why = NULL;
  *old = NULL;
  *old_len = 0;
  if (access(spec, F_OK) == 0 && (*old = file_read(a, spec, old_len, &why)) == NULL) {
    fprintf(stderr, "kgen new: %s: %s\n", spec, why);
    return false;
  }
  const char *gap = *old_len == 0 ? "" : (*old)[*old_len - 1] == '\n' ? "\n" : "\n\n";
  const char *text = arena_printf(a, "%s%s%s", *old ? *old : "", gap, entry);
  if (output_file(spec, text, strlen(text), &why)) return true;
  fprintf(stderr, "kgen new: %s: cannot be written: %s\n", spec, why);
  return false;
}

static void take_back_entry(const char *spec, const char *old, size_t len) {
  const char *why;
  if (!old)
    unlink(spec);
  else
    output_file(spec, old, len, &why);
}

static int make_new(Arena *a, const LibraryOptions *lo, const char *name) {
  const char *spec = lo->spec ? lo->spec : "kernels.lua", *slash = strrchr(spec, '/'), *old;
  const char *folder = slash ? arena_strndup(a, spec, (size_t)(slash - spec) + 1) : "";
  const char *body = arena_printf(a, "%stemplates/kernels/%s.kc", folder, name);
  const char *reference = arena_printf(a, "%stests/reference/%s.c", folder, name);
  size_t old_len;
  const Library *l = NULL;
  if (access(spec, F_OK) == 0) { /* what is there must be sound, and without that name */
    LibraryOptions look = *lo;
    look.spec_only = true;
    l = library_open(a, &look);
    if (!l) return EXIT_FINDINGS;
    const Kernel *k = library_kernel(l, name, NULL);
    if (k) {
      fprintf(stderr, "kgen new: the kernel '%s' is there already: %s:%d\n", name, k->file,
              k->line);
      return EXIT_FINDINGS;
    }
  }
  Diags *d = diags_new(a);
  const char *ports = port_list(a, lo, l, d);
  if (diags_errors(d)) {
    diags_print(d, stderr, isatty(STDERR_FILENO));
    return EXIT_FINDINGS;
  }
  if (!write_new(a, body, filled(a, body_text, name, ports))) return EXIT_FINDINGS;
  if (!write_new(a, reference, filled(a, reference_text, name, ports))) {
    unlink(body);
    return EXIT_FINDINGS;
  }
  bool done = add_entry(a, spec, filled(a, entry_text, name, ports), &old, &old_len);
  if (done) { /* a name that is a keyword of some backend shows now */
    LibraryOptions look = *lo;
    look.spec_only = true;
    done = library_open(a, &look) != NULL;
    if (!done) take_back_entry(spec, old, old_len);
  }
  if (!done) {
    unlink(body);
    unlink(reference);
    return EXIT_FINDINGS;
  }
  printf("wrote %s\nwrote %s\n%s %s\nnext: change them, then 'kgen', then 'kgen run %s'\n", body,
         reference, old ? "added an entry to" : "wrote", spec, name);
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

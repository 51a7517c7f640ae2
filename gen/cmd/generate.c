/* generate.c: `kgen`: brings the generated files up to date. */
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "passes.h"
#include "tables/output.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {'e', "embed", "FILE", "write the device texts as C there, to be compiled beside kernels.c"},
    {'d', "depfile", "FILE", "write what was read, for ninja or make"},
    {'q', "quiet", NULL, "do not name the files that change"},
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "",
    .operands = "",
    .summary = "Bring the generated files up to date.",
    .more =
        "Only files whose text changes are written, all of them or none; files that kgen wrote "
        "once and that nothing\n"
        "gives any more are removed.  Each changed file is named on a line.\n"
        "A build that links kernels.c makes its texts with --embed: kgen --embed build/texts.c\n",
    .rows = rows,
    .operands_max = 1,
};

/* A path as make and ninja read it in a depfile. */
static void put_path(Buf *b, const char *path) {
  for (; *path; path++) {
    if (*path == ' ' || *path == '#' || *path == '\\') buf_puts(b, "\\");
    if (*path == '$') buf_puts(b, "$");
    buf_put(b, path, 1);
  }
}

static bool write_depfile(Arena *a, const Library *l, const LibraryOptions *lo, const char *path) {
  int count;
  const char **reads = library_reads(a, l, lo, &count), *why = NULL;
  Buf b = {0};
  put_path(&b, arena_printf(a, "%s/%s", library_output_folder(a, lo), l->outputs[0].path));
  buf_puts(&b, ":");
  for (int i = 0; i < count; i++) {
    buf_puts(&b, " \\\n  ");
    put_path(&b, reads[i]);
  }
  buf_puts(&b, "\n");
  const bool done = output_file(path, b.s, b.len, &why);
  if (!done) fprintf(stderr, "%s: the depfile cannot be written: %s\n", path, why);
  buf_free(&b);
  return done;
}

static bool write_embedded(Arena *a, const Library *l, const char *path) {
  const char *text = emit_texts(a, l), *why = NULL;
  size_t len;
  const char *before = file_read(a, path, &len, &why);
  if (before && len == strlen(text) && memcmp(before, text, len) == 0) return true;
  if (output_file(path, text, strlen(text), &why)) return true;
  fprintf(stderr, "%s: the texts cannot be written: %s\n", path, why);
  return false;
}

static int generate(Arena *a, const LibraryOptions *lo, const char *embed, const char *depfile,
                    bool quiet) {
  const Library *l = library_open(a, lo);
  if (!l) return EXIT_FINDINGS;
  Diags *d = diags_new(a);
  const int changed = outputs_write(l, library_output_folder(a, lo), quiet ? NULL : stdout, d);
  diags_print(d, stderr, isatty(STDERR_FILENO));
  if (changed < 0) return EXIT_FINDINGS;
  if (embed && !write_embedded(a, l, embed)) return EXIT_FINDINGS;
  return !depfile || write_depfile(a, l, lo, depfile) ? EXIT_FINE : EXIT_FINDINGS;
}

int cmd_generate(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  if (o.operand_count)
    return usage_error(&command, "a command comes before its options: kgen %s ...", o.operands[0]);
  Arena *a = arena_new();
  const LibraryOptions lo = library_options(&command, &o);
  status =
      generate(a, &lo, option_value(&command, &o, "embed"), option_value(&command, &o, "depfile"),
               option_value(&command, &o, "quiet") != NULL);
  arena_free(a);
  return status;
}

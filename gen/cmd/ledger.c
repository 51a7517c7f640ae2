/* ledger.c: kgen ledger: brings generated/ledger.json up to date, or says what would move. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ledger/ledger.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {'n', "check", NULL, "compile every row anew, write nothing, exit 1 when anything moved"},
    {0, "roots", "FOLDER",
     "the roots of the newer hipRTC generations (default: $KGEN_ROCM, else /var/tmp/kgen-rocm)"},
    {'j', "jobs", "N", "compilers at a time (default: one a processor)"},
    {0, NULL, NULL, NULL},
};

static const Command command = {
    "ledger",
    "",
    "What the pinned compiler makes of each HIP instance: registers, memory, occupancy, code.",
    "Rows whose text has not changed are taken over; only the others are compiled.  The pinned "
    "compiler is hipRTC " LEDGER_GENERATION ",\nin a root that gen/rocm-root makes.\n",
    rows,
    0,
    0};

static void show_progress(int done, int all) {
  if (isatty(2)) fprintf(stderr, "\rledger: %d of %d%s", done, all, done == all ? "\n" : "");
}

static int write_ledger(Arena *a, const Library *l, const char *folder, const char *path,
                        const Ledger *ledger, Diags *d) {
  Library one = *l;
  Output output = {LEDGER_FILE, ledger_text(a, ledger), 0, "kgen ledger"};
  output.len = strlen(output.text);
  one.outputs = &output;
  one.output_count = 1;
  const int changed = outputs_write_some(&one, folder, d);
  diags_print(d, stderr, isatty(2));
  if (changed > 0) printf("wrote %s\n", path);
  return changed < 0 ? EXIT_FINDINGS : EXIT_FINE;
}

int cmd_ledger(int argc, char **argv) {
  Options options;
  int status = EXIT_FINE;
  if (!options_parse(&command, argc, argv, &options, &status)) return status;
  const char *jobs_text = option_value(&command, &options, "jobs");
  const long jobs = jobs_text != NULL ? strtol(jobs_text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
  if (jobs < 1 || jobs > 64) return usage_error(&command, "--jobs takes a number from 1 to 64");
  const char *roots = option_value(&command, &options, "roots");
  if (roots == NULL) roots = ledger_roots();
  const bool check = option_value(&command, &options, "check") != NULL;

  Arena *a = arena_new();
  Diags *d = diags_new(a);
  const LibraryOptions lo = library_options(&command, &options);
  const Library *l = library_open(a, &lo);
  const char *why = NULL;
  status = EXIT_FINDINGS;
  if (l != NULL) {
    const char *folder = library_output_folder(a, &lo),
               *path = arena_printf(a, "%s/" LEDGER_FILE, folder);
    const Ledger *old = ledger_read(a, path, &why);
    Ledger *wanted = ledger_wanted(a, l);
    if (old == NULL) {
      fprintf(stderr, "kgen ledger: %s: %s; remove it and run kgen ledger\n", path, why);
    } else if (!check && ledger_reuse(wanted, old) == 0 && old->count == wanted->count) {
      status = EXIT_FINE;
    } else if (!ledger_fill(a, l, wanted, roots, (int)jobs, show_progress, &why)) {
      fprintf(stderr, "kgen ledger: %s\n", why);
    } else if (old->compiler != NULL && strcmp(old->compiler, wanted->compiler) != 0 && check) {
      fprintf(stderr,
              "kgen ledger: %s was made by hipRTC %s, and this is %s: they cannot be compared\n",
              path, old->compiler, wanted->compiler);
    } else {
      const int moved = ledger_moved(old, wanted, stdout);
      status = check ? (moved > 0 ? EXIT_FINDINGS : EXIT_FINE)
                     : write_ledger(a, l, folder, path, wanted, d);
    }
    if (status == EXIT_FINE && ledger_over_budget(l, wanted, stderr) > 0) status = EXIT_FINDINGS;
  }
  arena_free(a);
  return status;
}

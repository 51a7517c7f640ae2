/* check.c: `kgen check`: says which generated files are not as the specification has them. */
#include <string.h>

#include "cmd/cmd.h"
#include "ledger/ledger.h"
#include "tables/output.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "check",
    .operands = "",
    .summary = "Name each generated file that is stale, edited, missing or orphan, and the command "
               "that mends it.",
    .more = "Says nothing and exits with 0 when all is well; exits with 1 on any finding.  Writes "
            "nothing.\n",
    .rows = rows,
    .operands_max = 0,
};

/* The command that brings files up to date, with the options that this one was given. */
static const char *mending(Arena *a, const char *text, const LibraryOptions *lo) {
  if (lo->spec) text = arena_printf(a, "%s -f %s", text, quoted(a, lo->spec));
  if (lo->output) text = arena_printf(a, "%s -o %s", text, quoted(a, lo->output));
  if (lo->templates) text = arena_printf(a, "%s -t %s", text, quoted(a, lo->templates));
  return text;
}

int cmd_check(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  Arena *a = arena_new();
  const LibraryOptions lo = library_options(&command, &o);
  const Library *l = library_open(a, &lo);
  status = EXIT_FINDINGS;
  if (l) {
    const char *folder = library_output_folder(a, &lo);
    int findings = outputs_check(l, folder, mending(a, "kgen", &lo), stdout);
    findings += ledger_check(a, l, arena_printf(a, "%s/%s", folder, LEDGER_FILE),
                             mending(a, "kgen ledger", &lo), stdout);
    if (findings == 0) status = EXIT_FINE;
  }
  arena_free(a);
  return status;
}

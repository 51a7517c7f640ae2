/* cmd_check.c: `kgen check`: says which generated files are not as the specification has them. */
#include <string.h>

#include "commands.h"
#include "library.h"
#include "output.h"

static const OptionRow rows[] = {
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "check",
    .operands = "",
    .summary =
        "Name each generated file that is stale, edited, missing or orphan, and the command that mends it.",
    .more =
        "Says nothing and exits with 0 when all is well; exits with 1 on any finding.  Writes nothing.\n",
    .rows = rows,
    .operands_max = 0,
};

/* The command that brings the files up to date, with the options that this one was given. */
static const char *mending(Arena *a, const LibraryOptions *lo) {
  const char *text = "kgen";
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
  status = l && outputs_check(l, library_output_folder(a, &lo), mending(a, &lo), stdout) == 0
               ? EXIT_FINE
               : EXIT_FINDINGS;
  arena_free(a);
  return status;
}

/* ports.c: `kgen ports`: the matrix of kernels and ports. */
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "passes.h"
#include "tables/inner.h"

static const OptionRow rows[] = {
    {0, "json", NULL, "as kernels.json has it"},
    {0, "markdown", NULL, "as PORTS.md has it"},
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "ports",
    .operands = "",
    .summary = "Print which kernel has which port, at which widths, and why a slot is empty.",
    .more = "--json prints an object; its `kernels` is an array of objects with name, types, "
            "ports, instances and more.\n",
    .rows = rows,
    .operands_max = 0,
};

int cmd_ports(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  const bool json = option_value(&command, &o, "json"),
             markdown = option_value(&command, &o, "markdown");
  if (json && markdown)
    return usage_error(&command, "--json and --markdown are two different answers; give one");
  Arena *a = arena_new();
  LibraryOptions lo = library_options(&command, &o);
  lo.spec_only =
      !json && !markdown; /* the bodies add shared memory and the stamp; the matrix needs neither */
  const Library *l = library_open(a, &lo);
  if (l) {
    const Output *file =
        json || markdown ? library_output(l, json ? "kernels.json" : "PORTS.md") : NULL;
    fputs(file ? file->text : ports_text(a, l, isatty(STDOUT_FILENO)), stdout);
  }
  arena_free(a);
  return l ? EXIT_FINE : EXIT_FINDINGS;
}

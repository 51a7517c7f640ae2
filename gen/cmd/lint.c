/* lint.c: `kgen lint`: a client's own sources against the port rules and the dtype rule.  See lint/lint.h. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "lint/lint.h"

static const OptionRow rows[] = {
    {0, "format", "text|sarif", "how findings are printed (default: text; SARIF 2.1.0)"},
    {'a', "allow", "FILE", "what is allowed, a line each: RULE FILE [SYMBOL] -- REASON"},
    {'p', "pins", "FILE", "the any-wave tables and their HIP sources, a line each: TABLE SOURCE"},
    {0, "rules", NULL, "print the rules, and what to do instead"},
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "lint",
    .operands = "FILE...",
    .summary =
        "Hold C, C++, CUDA, HIP, Objective-C++ and Rust sources that launch kernels through MLX "
        "to the rules of port\ntables and dtype keys.",
    .more = "FILE is a source, a folder (with all below it), or - for names from standard input, "
            "one a line:\n\n"
            "  git ls-files src | kgen lint --allow lint.allow -\n\n"
            "An entry of the lists that matches nothing is a finding.  Give all sources at once: a "
            "name is\n"
            "followed from one to another.  Files that kgen wrote are read, and not judged.\n",
    .rows = rows,
    .operands_min = 0,
    .operands_max = -1,
};

int cmd_lint(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  if (option_value(&command, &o, "rules")) {
    lint_rules(stdout);
    return EXIT_FINE;
  }
  const char *format = option_value(&command, &o, "format");
  if (format && strcmp(format, "text") != 0 && strcmp(format, "sarif") != 0)
    return usage_error(&command, "--format is text or sarif; not '%s'", format);
  if (o.operand_count == 0)
    return usage_error(&command, "which files? or - for names from standard input");
  const LintWish wish = {.names = o.operands,
                         .name_count = o.operand_count,
                         .allow = option_value(&command, &o, "allow"),
                         .pins = option_value(&command, &o, "pins"),
                         .sarif = format && strcmp(format, "sarif") == 0};
  Arena *arena = arena_new();
  status = lint(arena, &wish, stdout);
  arena_free(arena);
  return status;
}

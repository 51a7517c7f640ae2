/* lint.h: a client's own sources against the rules of port tables and of dtype keys (rule.def). */
#ifndef KGEN_LINT_LINT_H
#define KGEN_LINT_LINT_H

#include <stdio.h>

#include "base/arena.h"

enum LintRule {
#define RULE(name, id, title, about, help) RULE_##name,
#include "lint/rule.def"
#undef RULE
  LINT_RULES
};

typedef struct LintWish {
  char **names; /* files and folders; "-": names from stdin, one a line */
  int name_count;
  const char *allow, *pins; /* NULL: none */
  bool sarif;
} LintWish;

/* Prints what is found.  EXIT_FINE, EXIT_FINDINGS (also where there was nothing to look at), EXIT_USAGE (a file that
** cannot be read; a list with a line that is none). */
int lint(Arena *a, const LintWish *wish, FILE *out);
/* The rules, a paragraph each. */
void lint_rules(FILE *out);

#endif

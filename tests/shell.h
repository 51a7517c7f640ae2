/* shell.h: commands as a user gives them, in a scratch folder, and what they say. */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include <stdio.h>
#include <string.h>

#include "command.h"

static char folder[64], said[65536];

/* Runs a command in which each @ stands for the folder; its words are in `said`.  Its exit status. */
static inline int run(const char *command) {
  char line[4096] = "";
  for (const char *c = command; *c; c++) {
    const char one[] = {*c, 0};
    strncat(line, *c == '@' ? folder : one, sizeof line - strlen(line) - 1);
  }
  char *all;
  const int status = command_run(line, &all);
  snprintf(said, sizeof said, "%s", all);
  free(all);
  return status;
}

#endif

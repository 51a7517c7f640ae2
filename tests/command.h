/* command.h: a command, and what it says. */
#ifndef TESTS_COMMAND_H
#define TESTS_COMMAND_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Its exit status; *said, to be freed, is all that it printed on its standard output. */
static inline int command_run(const char *command, char **said) {
  char part[4096];
  size_t bytes;
  FILE *from = popen(command, "r"), *to = open_memstream(said, &bytes);
  assert_non_null(from);
  assert_non_null(to);
  for (size_t n; (n = fread(part, 1, sizeof part, from)) > 0;)
    assert_int_equal(fwrite(part, 1, n, to), n);
  const int status = pclose(from);
  assert_int_equal(fclose(to), 0);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#endif

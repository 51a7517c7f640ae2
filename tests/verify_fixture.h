/* verify_fixture.h: kgen as its user runs it, on copies of tests/verify with a fault in them.
**
** The kgen is the one that $KGEN names, or .build/kgen. */
#ifndef TESTS_VERIFY_FIXTURE_H
#define TESTS_VERIFY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "command.h"

static char root[] = "/tmp/kgen-test-verify-XXXXXX", kgen[4096], home[2048];
static Arena *a;
static const char *folder; /* the test's copy */
static char *said;         /* what the last command printed */

static inline int shell(const char *format, ...) {
  va_list args;
  char command[8192];
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  char *all;
  const int status = command_run(command, &all);
  said = arena_strdup(a, all);
  free(all);
  return status;
}

static inline char *get(const char *name) {
  size_t len;
  const char *why = NULL;
  char *text = file_read(a, arena_printf(a, "%s/%s", folder, name), &len, &why);
  if (text == NULL) fail_msg("%s: %s", name, why);
  return text;
}

static inline void edit(const char *name, const char *from, const char *to) {
  const char *text = get(name), *at = strstr(text, from);
  if (at == NULL) fail_msg("no \"%s\" in %s", from, name);
  FILE *f = fopen(arena_printf(a, "%s/%s", folder, name), "w");
  assert_non_null(f);
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  assert_int_equal(fclose(f), 0);
}

static inline int copy_made(void **state) {
  static int count;
  (void)state;
  folder = arena_printf(a, "%s/%d", root, count++);
  return shell("cp -r %s/tests/verify %s", home, folder);
}

/* The project's templates as the copy's own, to be edited. */
static inline int templates_copied(void) {
  return shell("cp -r %s/templates %s/own", home, folder);
}

static inline int fixture_set_up(void **state) {
  (void)state;
  const char *given = getenv("KGEN");
  a = arena_new();
  if (getcwd(home, sizeof home) == NULL || mkdtemp(root) == NULL) return -1;
  if (given != NULL && given[0] == '/')
    snprintf(kgen, sizeof kgen, "%s", given);
  else
    snprintf(kgen, sizeof kgen, "%.2000s/%.1000s", home,
             given != NULL && *given ? given : ".build/kgen");
  return access(kgen, X_OK);
}

static inline int fixture_tear_down(void **state) {
  (void)state;
  const int status = shell("rm -rf %s", root);
  arena_free(a);
  return status;
}

#endif

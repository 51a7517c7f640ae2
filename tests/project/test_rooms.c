/* test_rooms.c: no circle among the files of gen/ and runtime/, and no room that uses one above it
** (tests/project/rooms). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"

static char home[PATH_MAX], script[PATH_MAX + 32];

static int rooms_of(const char *where) {
  char command[2 * PATH_MAX + 64];
  snprintf(command, sizeof command, "sh %s %s 2>&1", script, where);
  return run(command);
}

static int new_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-rooms-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state) {
  (void)state;
  return run("rm -rf @");
}

/* An object in a room of the scratch folder, of one line of C. */
static void object(const char *name, const char *text) {
  char command[1024];
  snprintf(command, sizeof command,
           "mkdir -p $(dirname @/%s) && echo '%s' | cc -x c -c -o @/%s.o - 2>&1", name, text, name);
  if (run(command) != 0) fail_msg("%s", said);
}

static void the_files_of_this_tree_stand_in_order(void **state) {
  (void)state;
  char build[PATH_MAX + 16];
  snprintf(build, sizeof build, "%s/.build", home);
  const int status = rooms_of(build);
  if (status != 0) fail_msg("%s", said);
  assert_string_equal(said, "");
}

static void a_circle_of_files_is_found(void **state) {
  (void)state;
  object("gen/base/a", "void b(void); void a(void); void a(void) { b(); }");
  object("gen/base/b", "void c(void); void b(void); void b(void) { c(); }");
  object("gen/base/c", "void c(void); void c(void) {}");
  assert_int_equal(rooms_of("@"), 0);
  object("gen/base/c", "void a(void); void c(void); void c(void) { a(); }");
  assert_int_equal(rooms_of("@"), 1);
  assert_non_null(strstr(said, "a circle of files:\n"));
  for (const char *name = "abc"; *name; name++) {
    char line[32];
    snprintf(line, sizeof line, "  gen/base/%c\n", *name);
    assert_non_null(strstr(said, line));
  }
}

static void a_variable_makes_a_circle_as_a_function_does(void **state) {
  (void)state;
  object("runtime/a", "extern int b; int *a = &b;");
  object("runtime/b", "extern int *a; int b; int *of_a(void); int *of_a(void) { return a; }");
  assert_int_equal(rooms_of("@"), 1);
  assert_non_null(strstr(said, "a circle of files:\n"));
}

static void a_room_that_uses_one_above_it_is_found(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"runtime/model", "runtime/devices"},
      {"runtime/model", "gen/base"},
      {"runtime", "gen/spec"},
      {"gen/base", "gen/spec"},
      {"gen/spec", "gen/body"},
      {"gen/emit", "gen/tables"},
      {"gen/tables", "gen"},
      {"gen/ledger", "gen/verify"},
      {"gen/tables", "runtime/devices"},
      {"gen/verify", "gen/cmd"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char low[64], high[64], line[200];
    assert_int_equal(run("rm -rf @/gen @/runtime"), 0);
    snprintf(low, sizeof low, "%s/low", wrong[i][0]);
    snprintf(high, sizeof high, "%s/high", wrong[i][1]);
    object(high, "void h(void); void l(void); void h(void) {}");
    object(low, "void h(void); void l(void); void l(void) { h(); }");
    assert_int_equal(rooms_of("@"), 1);
    snprintf(line, sizeof line, "%s uses h of %s: %s may not use %s\n", low, high, wrong[i][0],
             wrong[i][1]);
    assert_string_equal(said, line);
    object(low, "void l(void); void l(void) {}");
    object(high, "void h(void); void l(void); void h(void) { l(); }"); /* the other way is fine */
    assert_int_equal(rooms_of("@"), strcmp(wrong[i][0], "gen/tables") == 0 &&
                                        strcmp(wrong[i][1], "runtime/devices") == 0);
  }
}

static void a_room_without_a_row_and_a_folder_without_objects_are_found(void **state) {
  (void)state;
  object("gen/attic/a", "void b(void); void a(void); void a(void) { b(); }");
  object("gen/base/b", "void b(void); void b(void) {}");
  assert_int_equal(rooms_of("@"), 1);
  assert_string_equal(
      said, "gen/attic/a is in a room that tests/project/rooms does not know: gen/attic\n");
  assert_int_equal(run("rm -rf @/gen"), 0);
  assert_int_equal(rooms_of("@"), 2);
}

int main(int argc, char **argv) {
  (void)argc;
  char self[PATH_MAX];
  if (!realpath(argv[0], self)) return 1;
  snprintf(home, sizeof home, "%s", dirname(dirname(self)));
  snprintf(script, sizeof script, "%s/tests/project/rooms", home);
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, new_folder, drop_folder)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_files_of_this_tree_stand_in_order),
      SCRATCH(a_circle_of_files_is_found),
      SCRATCH(a_variable_makes_a_circle_as_a_function_does),
      SCRATCH(a_room_that_uses_one_above_it_is_found),
      SCRATCH(a_room_without_a_row_and_a_folder_without_objects_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

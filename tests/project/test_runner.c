/* test_runner.c: tests/run, that it counts right and calls nothing passed that is not; gen/setup,
** what it says and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "shell.h"

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-runner-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* An executable shell script in the folder. */
static void script(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "#!/bin/sh\n%s", text);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(chmod(path, 0755), 0);
}

static void says(const char *words) {
  if (!strstr(said, words)) fail_msg("'%s' is not in:\n%s", words, said);
}

static void ends_with(const char *words) {
  const size_t all = strlen(said), len = strlen(words);
  if (all < len || strcmp(said + all - len, words) != 0)
    fail_msg("'%s' does not end:\n%s", words, said);
}

/* ---- tests/run ------------------------------------------------------------------------------- */

#define PASSES "echo 1..2; echo ok 1 - one; echo ok 2 - two\n"

static void all_that_pass_is_a_success(void **state) {
  (void)state;
  script("a", PASSES);
  script("b", "echo 1..1; echo ok 1 - three\n");
  assert_int_equal(run("sh tests/run @/a @/b 2>&1"), 0);
  ends_with("\n3 passed, 0 failed\n");
}

static void what_is_skipped_is_counted_and_shown_with_its_reason(void **state) {
  (void)state;
  script("a", "echo 1..2; echo ok 1 - one; echo 'it needs a GPU'; echo 'not ok 2 # SKIP two'\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 0);
  says("it needs a GPU\na: SKIPPED two\n");
  ends_with("\n1 passed, 0 failed, 1 skipped\n");
}

static void a_failure_is_shown_in_full(void **state) {
  (void)state;
  script("a", "echo 1..2; echo 'noise of the first'; echo ok 1 - one; echo 'its own words'; echo "
              "'not ok 2 - two'; echo '# 3 != 4'; "
              "echo '# a.c:5: error: Failure!'; exit 1\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("its own words\na: FAILED two\n# 3 != 4\n# a.c:5: error: Failure!\n");
  assert_null(strstr(said, "noise of the first"));
  ends_with("\n1 passed, 1 failed\n");
}

static void a_verdict_behind_words_that_were_cut_is_counted(void **state) {
  (void)state;
  script("a", "echo 1..2; printf 'words of over 1,024 by'; echo 'not ok 1 - one'; echo '# a.c:5: "
              "error: Failure!'; "
              "printf ' '; echo 'ok 2 - two'; exit 1\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("words of over 1,024 by\na: FAILED one\n# a.c:5: error: Failure!\n");
  ends_with("\n1 passed, 1 failed\n");
}

static void a_crash_counts_as_failed_though_its_tests_passed(void **state) {
  (void)state;
  script("a", PASSES "kill -SEGV $$\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("a: FAILED it was killed by signal 11");
  ends_with("\n2 passed, 1 failed\n");
}

static void a_program_that_stops_early_fails_by_each_test_it_left_out(void **state) {
  (void)state;
  script("a", "echo 1..5; echo ok 1 - one; exit 0\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("a: FAILED it stopped after 1 of 5 tests");
  ends_with("\n1 passed, 4 failed\n");
}

static void a_program_without_a_test_fails(void **state) {
  (void)state;
  script("a", "exit 0\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("a: FAILED it ran no test");
}

static void a_program_that_is_not_there_fails(void **state) {
  (void)state;
  assert_int_equal(run("sh tests/run @/missing 2>&1"), 1);
  says("there is no program");
  ends_with("\n0 passed, 1 failed\n");
}

static void a_status_that_no_test_explains_fails(void **state) {
  (void)state;
  script("a", PASSES "exit 3\n");
  assert_int_equal(run("sh tests/run @/a 2>&1"), 1);
  says("a: FAILED it failed outside its tests (exit 3 after");
}

static void a_program_that_hangs_is_ended(void **state) {
  (void)state;
  script("a", "echo 1..1; exec sleep 100\n");
  assert_int_equal(run("KGEN_TEST_SECONDS=1 sh tests/run @/a 2>&1"), 1);
  says("a: FAILED it ran too long and was ended");
}

/* ---- gen/setup: with another PATH, so that nothing is really installed ----------------------- */

/* A folder of commands: those that the script needs, and apt and dpkg as the test wants them. */
static void fake_system(const char *dpkg_query, const char *apt_get, const char *apt_cache,
                        const char *id) {
  assert_int_equal(run("rm -rf @/bin; mkdir @/bin; for c in sed cat sh grep; do ln -s \"$(command "
                       "-v $c)\" @/bin/$c; done"),
                   0);
  script("bin/dpkg-query", dpkg_query);
  script("bin/apt-get", apt_get);
  script("bin/apt-cache", apt_cache);
  script("bin/id", id);
}
#define SETUP "PATH=@/bin /bin/sh gen/setup 2>&1"

static void setup_asks_nobody_when_everything_is_there(void **state) {
  (void)state;
  fake_system("echo installed\n", "echo APT; exit 1\n", "exit 0\n", "echo 1000\n");
  assert_int_equal(run(SETUP), 0);
  assert_string_equal(said, "gen/setup: everything is installed\n");
}

static void setup_names_what_is_missing_when_it_is_not_root(void **state) {
  (void)state;
  fake_system("case $* in *lua*) exit 1;; *) echo installed;; esac\n", "echo APT; exit 1\n",
              "exit 0\n", "echo 1000\n");
  assert_int_equal(run(SETUP), 1);
  assert_string_equal(said,
                      "gen/setup: only root can install packages; as root, run: sh gen/setup\n"
                      "gen/setup: missing: liblua5.4-dev\n");
}

static void setup_installs_only_what_is_missing(void **state) {
  (void)state;
  fake_system("case $* in *lua*) exit 1;; *) echo installed;; esac\n", "echo \"APT $*\"\n",
              "exit 0\n", "echo 0\n");
  assert_int_equal(run(SETUP), 0);
  assert_string_equal(said, "gen/setup: installing liblua5.4-dev\n"
                            "APT install -y -q --no-install-recommends liblua5.4-dev\n"
                            "gen/setup: installed liblua5.4-dev\n");
}

static void setup_updates_the_lists_when_they_do_not_have_a_package(void **state) {
  (void)state;
  fake_system("case $* in *lua*) exit 1;; *) echo installed;; esac\n", "", "", "echo 0\n");
  char text[256];
  snprintf(text, sizeof text, "[ -e %s/updated ]\n", folder);
  script("bin/apt-cache", text);
  snprintf(text, sizeof text, "echo \"APT $*\"; [ $1 != update ] || >%s/updated\n", folder);
  script("bin/apt-get", text);
  assert_int_equal(run(SETUP), 0);
  assert_string_equal(said, "gen/setup: installing liblua5.4-dev\n"
                            "gen/setup: bringing the package lists up to date\n"
                            "APT update -q\n"
                            "APT install -y -q --no-install-recommends liblua5.4-dev\n"
                            "gen/setup: installed liblua5.4-dev\n");
}

static void setup_names_a_package_that_no_source_offers(void **state) {
  (void)state;
  fake_system("case $* in *lua*) exit 1;; *) echo installed;; esac\n", "exit 0\n", "exit 1\n",
              "echo 0\n");
  assert_int_equal(run(SETUP), 1);
  says("gen/setup: no package source offers liblua5.4-dev");
}

static void setup_says_what_is_needed_where_there_is_no_apt(void **state) {
  (void)state;
  fake_system("", "", "", "");
  assert_int_equal(run("rm @/bin/apt-get; " SETUP), 1);
  says("gen/setup: this is not Debian; install what these packages of Debian 12 hold, then run "
       "ninja:\nninja-build\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_pass_is_a_success),
      cmocka_unit_test(what_is_skipped_is_counted_and_shown_with_its_reason),
      cmocka_unit_test(a_failure_is_shown_in_full),
      cmocka_unit_test(a_verdict_behind_words_that_were_cut_is_counted),
      cmocka_unit_test(a_crash_counts_as_failed_though_its_tests_passed),
      cmocka_unit_test(a_program_that_stops_early_fails_by_each_test_it_left_out),
      cmocka_unit_test(a_program_without_a_test_fails),
      cmocka_unit_test(a_program_that_is_not_there_fails),
      cmocka_unit_test(a_status_that_no_test_explains_fails),
      cmocka_unit_test(a_program_that_hangs_is_ended),
      cmocka_unit_test(setup_asks_nobody_when_everything_is_there),
      cmocka_unit_test(setup_names_what_is_missing_when_it_is_not_root),
      cmocka_unit_test(setup_installs_only_what_is_missing),
      cmocka_unit_test(setup_updates_the_lists_when_they_do_not_have_a_package),
      cmocka_unit_test(setup_names_a_package_that_no_source_offers),
      cmocka_unit_test(setup_says_what_is_needed_where_there_is_no_apt),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

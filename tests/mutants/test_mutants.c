/* test_mutants.c: mutants are read and planted as they are written, and those of tests/mutants are
** up to date: each has its place in the tree, and its line in the table of what finds what.  That
** each is found is shown by ninja mutants, which takes minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mutants.c"

/* ---- planting ------------------------------------------------------------------------------- */

static void a_text_that_is_there_once_is_replaced(void **state) {
  (void)state;
  const Mutant m = {.from = "barrier();", .to = ""};
  const char *why = NULL;
  char *s = plant(&m, "x = 1; barrier(); y = x;", &why);
  assert_string_equal(s, "x = 1;  y = x;");
  free(s);
}

static void a_text_that_is_absent_or_there_twice_is_refused(void **state) {
  (void)state;
  const Mutant m = {.from = "barrier();", .to = ""};
  const char *why = NULL;
  assert_null(plant(&m, "x = 1;", &why));
  assert_string_equal(why, "the text to change is not in the file");
  assert_null(plant(&m, "barrier(); barrier();", &why));
  assert_string_equal(why, "the text to change is there more than once (or nth is too large)");
}

static void the_one_of_several_that_is_meant_is_replaced(void **state) {
  (void)state;
  const Mutant second = {.from = "a", .to = "b", .nth = 2}, fourth = {.from = "a", .nth = 4};
  const char *why = NULL;
  char *s = plant(&second, "a a a", &why);
  assert_string_equal(s, "a b a");
  free(s);
  assert_null(plant(&fourth, "a a a", &why));
}

static void a_mutant_of_a_hiprtc_that_is_not_here_is_left_out(void **state) {
  (void)state;
  char roots[] = "/tmp/kgen-test-roots-XXXXXX", detail[] = "hiprtc-7.2", system[] = "hiprtc";
  const Mutant other = {.catcher = COMPILE, .detail = detail},
               own = {.catcher = COMPILE, .detail = system},
               test = {.catcher = TEST, .detail = detail};
  assert_non_null(mkdtemp(roots));
  assert_string_equal(missing_root(&other, roots), "7.2");
  assert_null(missing_root(&own, roots));
  assert_null(missing_root(&test, roots));
  char *root = format_text("%s/7.2", roots);
  assert_int_equal(mkdir(root, 0700), 0);
  assert_null(missing_root(&other, roots));
  rmdir(root);
  rmdir(roots);
  free(root);
}

static const char two_kernels[] =
    "kernel \"one\" {\n  types = { { \"T\", { f32, f16, bf16 } } },\n}\n"
    "\nkernel \"two\" {\n  types = { { \"T\", { f32, f16, bf16 } }, { \"TW\", { f32, f16 } } },\n"
    "  cases = { { n = 1, m = 2 } },\n}\n";

static void only_the_types_named_of_the_kernel_named_are_narrowed(void **state) {
  (void)state;
  const Mutant m = {.kernel = "two", .few = "TW", .catcher = RUN};
  char *s = narrowed(two_kernels, &m);
  assert_string_equal(s, "kernel \"one\" {\n  types = { { \"T\", { f32, f16, bf16 } } },\n}\n"
                         "\nkernel \"two\" {\n  types = { { \"T\", { f32, f16, bf16 } }, "
                         "{ \"TW\", { f16 } } },\n  cases = { { n = 1, m = 2 } },\n}\n");
  free(s);
}

static void all_types_are_narrowed_under_the_sanitizer(void **state) {
  (void)state;
  const Mutant m = {.kernel = "two", .catcher = SANITIZE}, absent = {.kernel = "three"};
  char *s = narrowed(two_kernels, &m);
  assert_non_null(strstr(s, "{ { \"T\", { bf16 } }, { \"TW\", { f16 } } }"));
  assert_non_null(strstr(s, "{ { \"T\", { f32, f16, bf16 } } }"));
  assert_non_null(strstr(s, "{ { n = 1, m = 2 } }"));
  free(s);
  assert_null(narrowed(two_kernels, &absent));
}

/* ---- those of tests/mutants ----------------------------------------------------------------- */

static void read_all(void) {
  glob_t files;
  mutant_count = 0;
  assert_int_equal(glob("tests/mutants/*.txt", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++)
    if (strstr(files.gl_pathv[i], "/table.txt") == NULL) read_mutants(files.gl_pathv[i]);
  /* the mutants go on naming their files */
}

static void every_mutant_has_its_place_in_the_tree(void **state) {
  (void)state;
  int lost = 0;
  read_all();
  assert_true(mutant_count >= 60);
  for (int i = 0; i < mutant_count; i++) {
    const char *why = "there is no such file";
    char *text = read_text(mutants[i].target);
    char *faulty = text == NULL ? NULL : plant(&mutants[i], text, &why);
    if (faulty == NULL)
      print_error("%s:%d: %s: %s: %s\n", mutants[i].file, mutants[i].line, mutants[i].name,
                  mutants[i].target, why);
    lost += faulty == NULL;
    if (faulty != NULL) assert_string_not_equal(faulty, text);
    free(faulty);
    free(text);
  }
  assert_int_equal(lost, 0);
}

static void the_table_has_a_line_for_each_mutant_and_no_other(void **state) {
  (void)state;
  int lost = 0, lines = 0;
  read_all();
  char *table = read_text("tests/mutants/table.txt");
  assert_non_null(table);
  for (const char *s = table; *s != '\0'; s++) lines += *s == '\n';
  for (int i = 0; i < mutant_count; i++) {
    char *start = format_text("\n%s ", mutants[i].name);
    const bool there = strstr(table, start) != NULL;
    if (!there)
      print_error("%s has no line in the table: .build/mutate -u %s, or ninja mutants-table\n",
                  mutants[i].name, mutants[i].name);
    lost += !there;
    free(start);
  }
  free(table);
  assert_int_equal(lost, 0);
  assert_int_equal(lines, mutant_count + 1); /* and its head */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_text_that_is_there_once_is_replaced),
      cmocka_unit_test(a_text_that_is_absent_or_there_twice_is_refused),
      cmocka_unit_test(the_one_of_several_that_is_meant_is_replaced),
      cmocka_unit_test(a_mutant_of_a_hiprtc_that_is_not_here_is_left_out),
      cmocka_unit_test(only_the_types_named_of_the_kernel_named_are_narrowed),
      cmocka_unit_test(all_types_are_narrowed_under_the_sanitizer),
      cmocka_unit_test(every_mutant_has_its_place_in_the_tree),
      cmocka_unit_test(the_table_has_a_line_for_each_mutant_and_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

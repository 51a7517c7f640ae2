/* test_companions.c: the host's half of gumbel_max_sample, and where all companions are linked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>

#include "shell.h"

#include "kernels/gumbel_max_sample/host.h"

static void a_rows_splits_follow_vocabulary_and_batch(void **state) {
  (void)state;
  const uint64_t rows[] = {1, 2, 8, 32, 64, 1000};
  const struct {
    uint64_t entries;
    uint32_t splits[6];
  } table[] = {
      {1, {1, 1, 1, 1, 1, 1}},        {1000, {1, 1, 1, 1, 1, 1}},
      {1024, {1, 1, 1, 1, 1, 1}},     {1025, {2, 2, 2, 2, 1, 1}},
      {3072, {2, 2, 2, 2, 1, 1}},     {4096, {4, 4, 4, 2, 1, 1}},
      {32000, {32, 32, 8, 2, 1, 1}},  {128256, {64, 32, 8, 2, 1, 1}},
      {151936, {64, 32, 8, 2, 1, 1}}, {UINT64_MAX, {64, 32, 8, 2, 1, 1}},
  };
  for (size_t v = 0; v < sizeof table / sizeof table[0]; v++)
    for (size_t b = 0; b < 6; b++)
      assert_int_equal(kg_gumbel_splits(table[v].entries, rows[b]), table[v].splits[b]);
  assert_int_equal(kg_gumbel_splits(128256, 33), 2); /* 33 * 2 groups are enough, 33 are not */
  assert_int_equal(kg_gumbel_splits(0, 1), 1);
  assert_int_equal(kg_gumbel_splits(128256, 0), 1);
  assert_int_equal(kg_gumbel_splits(128256, UINT64_MAX), 1);
}

static void the_largest_value_wins_and_equal_ones_go_to_the_lowest_index(void **state) {
  (void)state;
  const float vals[] = {1, 3, 2, 5, 5, 4, -INFINITY, -INFINITY, -INFINITY};
  const uint32_t idxs[] = {7, 2000, 3000, 4100, 9, 1, 0, 0, 0};
  uint32_t tokens[3];
  kg_error error;
  assert_int_equal(kg_gumbel_pick(vals, idxs, 3, 3, tokens, &error), KG_OK);
  assert_int_equal(tokens[0], 2000);
  assert_int_equal(tokens[1], 9);
  assert_int_equal(tokens[2], 0);
}

static void a_row_without_a_draw_is_refused_in_words(void **state) {
  (void)state;
  const float vals[] = {1, 2, NAN, NAN};
  const uint32_t idxs[] = {1, 2, 0, 0};
  uint32_t tokens[2] = {9, 9};
  kg_error error;
  assert_int_equal(kg_gumbel_pick(vals, idxs, 2, 2, tokens, &error), KG_BAD_ARGUMENT);
  assert_string_equal(
      error.message,
      "kg_gumbel_pick: row 1 has no draw (NaN): gumbel_max_sample needs a temperature above zero");
  assert_int_equal(tokens[0], 2);
  assert_int_equal(tokens[1], 9);
  assert_int_equal(kg_gumbel_pick(vals, idxs, 2, 0, tokens, &error), KG_BAD_ARGUMENT);
  assert_int_equal(kg_gumbel_pick(NULL, idxs, 2, 2, tokens, &error), KG_BAD_ARGUMENT);
  assert_int_equal(kg_gumbel_pick(NULL, NULL, 0, 2, NULL, NULL), KG_OK); /* no rows */
}

/* ---- where they are -------------------------------------------------------------------------- */

#define NAMES "nm -g --defined-only %s | awk 'NF == 3 { print $3 }' | sort -u"

/* What both define, as nm lists it. */
static const char *in_both(const char *one, const char *other) {
  char command[512];
  snprintf(command, sizeof command, "{ " NAMES "; " NAMES "; } 2>&1 | sort | uniq -d", one, other);
  assert_int_equal(run(command), 0);
  return said;
}

static void the_runtime_links_no_companion(void **state) {
  (void)state;
  assert_string_equal(in_both(".build/libkg.a", ".build/libkgkernels.a"), "");
  assert_non_null(strstr(in_both(".build/libkg.a", ".build/libkg.a"), "kg_launch\n"));
  assert_non_null(
      strstr(in_both(".build/libkgkernels.a", ".build/libkgkernels.a"), "kg_gumbel_pick\n"));
}

static void the_kernels_library_has_the_companion_of_every_folder(void **state) {
  (void)state;
  glob_t files = {0};
  assert_int_equal(run("ar t .build/libkgkernels.a"), 0);
  assert_int_equal(glob("templates/kernels/*/host.c", 0, NULL, &files), 0);
  assert_int_equal(glob("templates/lib/host/*.c", GLOB_APPEND, NULL, &files), 0);
  assert_true(files.gl_pathc >= 10);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char name[64] = "", member[80];
    if (sscanf(files.gl_pathv[i], "templates/kernels/%63[^/]", name) != 1)
      assert_int_equal(sscanf(files.gl_pathv[i], "templates/lib/host/%63[^.]", name), 1);
    snprintf(member, sizeof member, "%s.o\n", name);
    if (!strstr(said, member)) fail_msg("%s is not in libkgkernels.a", files.gl_pathv[i]);
  }
  globfree(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rows_splits_follow_vocabulary_and_batch),
      cmocka_unit_test(the_largest_value_wins_and_equal_ones_go_to_the_lowest_index),
      cmocka_unit_test(a_row_without_a_draw_is_refused_in_words),
      cmocka_unit_test(the_runtime_links_no_companion),
      cmocka_unit_test(the_kernels_library_has_the_companion_of_every_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

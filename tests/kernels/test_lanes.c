/* test_lanes.c: the library's wave and group functions give the right numbers at 32 and at 64
** lanes, in groups of one wave and of many; and a fold of a fixed width, planted, does not.
** tests/lanes has the kernels, and a reference in plain loops.  Runs the kgen that $KGEN names, or
** .build/kgen, in the project's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *kgen(void) {
  const char *name = getenv("KGEN");
  return name && *name ? name : ".build/kgen";
}

/* The exit status of `kgen run`: 0 right, 1 wrong. */
static int run(const char *kernel, int threads, const char *device) {
  char command[512];
  snprintf(command, sizeof command,
           "KGEN_TEMPLATES=templates %s run -f tests/lanes/kernels.lua %s THREADS=%d rows=2 "
           "--device %s >/dev/null 2>&1",
           kgen(), kernel, threads, device);
  const int status = system(command);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void need_kgen(void) {
  if (access(kgen(), X_OK) == 0) return;
  print_message("there is no %s: run ninja first\n", kgen());
  skip();
}

static const int sizes[] = {64, 128, 192, 1024};

static void every_wave_and_group_function_is_right_at_32_lanes(void **state) {
  (void)state;
  need_kgen();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    assert_int_equal(run("lanes", sizes[i], "simt32"), 0);
}

static void every_wave_and_group_function_is_right_at_64_lanes(void **state) {
  (void)state;
  need_kgen();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    assert_int_equal(run("lanes", sizes[i], "simt64"), 0);
}

static void a_fold_over_32_lanes_is_right_at_32_and_found_wrong_at_64(void **state) {
  (void)state;
  need_kgen();
  assert_int_equal(run("narrow", 128, "simt32"), 0);
  assert_int_equal(run("narrow", 128, "simt64"), 1);
}

static void integers_do_not_go_through_floats(void **state) {
  (void)state;
  static const char *const devices[] = {"simt32", "simt64", "simt32/cuda", "simt32/metal"};
  need_kgen();
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    assert_int_equal(run("integers", 128, devices[i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_wave_and_group_function_is_right_at_32_lanes),
      cmocka_unit_test(every_wave_and_group_function_is_right_at_64_lanes),
      cmocka_unit_test(a_fold_over_32_lanes_is_right_at_32_and_found_wrong_at_64),
      cmocka_unit_test(integers_do_not_go_through_floats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

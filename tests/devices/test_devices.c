/* test_devices.c: devices by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "shell.h"

static void a_name_that_is_none_is_refused_with_those_that_are(void **state) {
  static const char *const bad[] = {"",      "simt",         "simt16",  "simt32:1",
                                    "hip:",  "hip:x",        "cuda:-1", "cuda:1x",
                                    "cuda/", "hip:99999999", "Best",    "bestest"};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kg_device *device = (kg_device *)&device;
    kg_error error;
    assert_int_equal(kg_device_open(bad[i], &device, &error), KG_BAD_ARGUMENT);
    assert_null(device);
    char expected[512];
    snprintf(expected, sizeof expected,
             "no device is named \"%s\"; there are hip and cuda (with :N for device N), simt32, "
             "simt64 (with /cuda or /metal for that backend's text, and +check to have it "
             "checked), and best",
             bad[i]);
    assert_string_equal(error.message, expected);
  }
}

static void null_pointers_are_refused(void **state) {
  (void)state;
  kg_device *device;
  kg_error error;
  assert_int_equal(kg_device_open(NULL, &device, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_device_open: name is a null pointer");
  assert_int_equal(kg_device_open("simt32", NULL, NULL), KG_BAD_ARGUMENT);
  assert_string_equal(kg_device_name(NULL), "");
  assert_string_equal(kg_device_message(NULL), "");
  assert_int_equal(kg_device_wave(NULL), 0);
}

static void a_simulated_device_has_the_width_of_its_name(void **state) {
  static const struct {
    const char *name, *backend;
    int wave;
  } rows[] = {{"simt32", "hip", 32},
              {"simt64", "hip", 64},
              {"simt32/cuda", "cuda", 32},
              {"simt32/metal", "metal", 32}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kg_device *device;
    kg_error error;
    const kg_status status = kg_device_open(rows[i].name, &device, &error);
    if (status == KG_NO_COMPILER) {
      print_message("skipped, it needs clang: %s\n", error.message);
      skip();
    }
    assert_int_equal(status, KG_OK);
    assert_int_equal(kg_device_wave(device), rows[i].wave);
    assert_string_equal(kg_device_backend(device), rows[i].backend);
    assert_int_equal(strncmp(kg_device_name(device), rows[i].name, strlen(rows[i].name)), 0);
    kg_device_close(device);
  }
}

/* Each kind is in the sentence of a name that is none, in the interface, and in what kgen run says of itself. */
static void every_kind_of_device_is_told_of(void **state) {
  (void)state;
  kg_device *device;
  kg_error error;
  assert_int_equal(kg_device_open("no such device", &device, &error), KG_BAD_ARGUMENT);
  assert_int_equal(run("cat runtime/kg.h"), 0);
  char interface[sizeof said];
  strcpy(interface, said);
  assert_int_equal(run(".build/kgen run --help"), 0);
  int count = 0;
  for (; kg_device_kind(count); count++) {
    assert_non_null(strstr(error.message, kg_device_kind(count)));
    assert_non_null(strstr(interface, kg_device_kind(count)));
    assert_non_null(strstr(said, kg_device_kind(count)));
  }
  assert_true(count >= 4);
}

static void the_best_device_is_a_gpu_or_the_simulated_one(void **state) {
  (void)state;
  kg_device *device;
  kg_error error;
  const kg_status status = kg_device_open("best", &device, &error);
  if (status == KG_NO_COMPILER) {
    print_message("skipped, it needs a GPU or clang: %s\n", error.message);
    skip();
  }
  assert_int_equal(status, KG_OK);
  const char *const name = kg_device_name(device);
  kg_device *gpu;
  const bool hip = kg_device_open("hip", &gpu, &error) == KG_OK;
  if (hip) kg_device_close(gpu);
  const bool cuda = kg_device_open("cuda", &gpu, &error) == KG_OK;
  if (cuda) kg_device_close(gpu);
  const char *const kind = hip ? "hip" : cuda ? "cuda" : "simt32";
  assert_int_equal(strncmp(name, kind, strlen(kind)), 0);
  print_message("best is %s\n", name);
  kg_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_that_is_none_is_refused_with_those_that_are),
      cmocka_unit_test(null_pointers_are_refused),
      cmocka_unit_test(a_simulated_device_has_the_width_of_its_name),
      cmocka_unit_test(every_kind_of_device_is_told_of),
      cmocka_unit_test(the_best_device_is_a_gpu_or_the_simulated_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_hip.c: hipRTC in its child process, code objects, and the AMD device, on a machine with
** no AMD GPU.
**
** fake_hiprtc.so and fake_hip.so, beside this program, stand for the vendor's libraries where a
** fault has to be planted or a GPU is needed; where the text's own compilation matters it is the
** real hipRTC. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "devices/code_object.h"
#include "device.h"
#include "devices/hip.h"
#include "devices/hip_compile.h"

/* ---- what devices/hip.h says of HIP is what the header says ----------------------------------- */

_Static_assert(HIP_ERROR_OUT_OF_MEMORY == (int)hipErrorOutOfMemory, "hipErrorOutOfMemory");
_Static_assert(HIP_ERROR_NO_DEVICE == (int)hipErrorNoDevice, "hipErrorNoDevice");
_Static_assert(HIP_ERROR_INVALID_DEVICE == (int)hipErrorInvalidDevice, "hipErrorInvalidDevice");
_Static_assert(HIP_MEMCPY_HOST_TO_DEVICE == (int)hipMemcpyHostToDevice, "hipMemcpyHostToDevice");
_Static_assert(HIP_MEMCPY_DEVICE_TO_HOST == (int)hipMemcpyDeviceToHost, "hipMemcpyDeviceToHost");
_Static_assert(HIP_ATTRIBUTE_WARP_SIZE == (int)hipDeviceAttributeWarpSize,
               "hipDeviceAttributeWarpSize");
_Static_assert(HIP_ATTRIBUTE_MAX_THREADS == (int)hipDeviceAttributeMaxThreadsPerBlock,
               "MaxThreadsPerBlock");
_Static_assert(HIP_ATTRIBUTE_MAX_SHARED == (int)hipDeviceAttributeMaxSharedMemoryPerBlock,
               "MaxSharedMemoryPerBlock");
_Static_assert(HIP_ATTRIBUTE_MAX_GRID_X == (int)hipDeviceAttributeMaxGridDimX, "MaxGridDimX");
_Static_assert(HIP_ATTRIBUTE_MAX_GRID_Y == (int)hipDeviceAttributeMaxGridDimY, "MaxGridDimY");
_Static_assert(HIP_ATTRIBUTE_MAX_GRID_Z == (int)hipDeviceAttributeMaxGridDimZ, "MaxGridDimZ");
_Static_assert(sizeof(hipDeviceProp_t) <= HIP_PROPERTIES_ROOM, "room for the properties");

/* The installed header has one of the two layouts of hipDeviceProp_t. */
static void the_properties_layout_is_the_installed_header_s(void **state) {
  (void)state;
#ifdef hipGetDeviceProperties /* from ROCm 6 on it is a macro for the newer function */
  const hip_properties_layout *l = &hip_properties_layouts[0];
#else
  const hip_properties_layout *l = &hip_properties_layouts[1];
#endif
  assert_int_equal(l->bytes, sizeof(hipDeviceProp_t));
  assert_int_equal(l->warp_size, offsetof(hipDeviceProp_t, warpSize));
  assert_int_equal(l->gcn_arch_name, offsetof(hipDeviceProp_t, gcnArchName));
  assert_ptr_equal(HIP_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_POINTER);
  assert_ptr_equal(HIP_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_BUFFER_SIZE);
  assert_ptr_equal(HIP_PARAM_END, HIP_LAUNCH_PARAM_END);
}

/* ---- common ---------------------------------------------------------------------------------- */

static char folder[3000]; /* this program's */

static const char *beside(const char *name) {
  static _Thread_local char path[3600];
  snprintf(path, sizeof path, "%s%s", folder, name);
  return path;
}

static kg_source source_of(const char *text) {
  static const char *const options[] = {"-O3", "-ffp-contract=off", NULL};
  return (kg_source){.kernel = "scale",
                     .entry = "scale",
                     .text = text,
                     .file = "hip/scale.hip",
                     .options = options,
                     .wave = 64};
}

/* A kernel with every kind of parameter, and a guard as generated texts have it in short. */
static const char real_text[] =
    "#if defined(__GFX9__)\n#define KG_DEVICE_WAVE 64\n#else\n#define KG_DEVICE_WAVE 32\n#endif\n"
    "extern \"C\" __global__ void __launch_bounds__(256) scale(const float *__restrict__ x, float "
    "*__restrict__ y,\n"
    "    unsigned n, float factor, unsigned last) {\n"
    "  __shared__ float slot[256];\n"
    "#line 1 \"templates/kernels/scale.kc\"\n"
    "  slot[threadIdx.x] = x[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x < n) y[threadIdx.x] = slot[255 - threadIdx.x] * factor + last;\n"
    "}\n";

/* ---- hipRTC in a child, with the imaginary library ------------------------------------------- */

static kg_hip_compiler *imaginary;

static int open_imaginary(void **state) {
  (void)state;
  kg_error error = {KG_OK, ""};
  setenv("KG_HIPRTC_LIBRARY", beside("fake_hiprtc.so"), 1);
  const kg_status status = kg_hip_compiler_open(NULL, &imaginary, &error);
  if (status != KG_OK) print_error("%s\n", error.message);
  return status == KG_OK ? 0 : -1;
}

static int close_imaginary(void **state) {
  (void)state;
  kg_hip_compiler_close(imaginary);
  imaginary = NULL;
  unsetenv("KG_HIPRTC_LIBRARY");
  unsetenv("KG_HIPRTC_TIMEOUT");
  unsetenv("KG_HIPRTC");
  return 0;
}

static int open_hasty(void **state) {
  setenv("KG_HIPRTC_TIMEOUT", "0.3", 1);
  return open_imaginary(state);
}

static int open_inner(void **state) {
  setenv("KG_HIPRTC", "none", 1);
  return open_imaginary(state);
}

static void assert_compiles(kg_hip_compiler *compiler, const char *text) {
  kg_error error;
  kg_blob blob;
  const kg_source source = source_of(text);
  const kg_status status = kg_hip_compile(compiler, &source, "gfx90a:xnack-", &blob, NULL, &error);
  if (status != KG_OK) fail_msg("%s", error.message);
  static const char expected[] = "code for -O3 -ffp-contract=off --offload-arch=gfx90a:xnack-";
  assert_int_equal(blob.size, strlen(expected));
  assert_memory_equal(blob.bytes, expected, blob.size);
  free(blob.bytes);
}

static void assert_fails(kg_hip_compiler *compiler, const char *text, const char *target,
                         kg_status expected, const char *message) {
  kg_error error = {KG_OK, ""};
  kg_blob blob = {&error, 1};
  const kg_source source = source_of(text);
  assert_int_equal(kg_hip_compile(compiler, &source, target, &blob, NULL, &error), expected);
  assert_int_equal(error.status, expected);
  assert_string_equal(error.message, message);
  assert_null(blob.bytes);
  assert_int_equal(blob.size, 0);
}

static void options_reach_hiprtc_with_exactly_one_architecture_after_them(void **state) {
  (void)state;
  assert_compiles(imaginary, "plain");
}

static void
an_abort_of_hiprtc_is_an_error_with_its_last_words_and_the_next_text_compiles(void **state) {
  (void)state;
  assert_fails(imaginary, "ABORT", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale: hipRTC 0 broke off while compiling for gfx90a: its process ended by "
               "signal 6 (Aborted); "
               "its last words: free(): invalid pointer");
  assert_compiles(imaginary, "plain");
  assert_fails(imaginary, "ABORT", "gfx90a",
               KG_COMPILE_FAILED, /* also in a child that has served before */
               "kernel scale: hipRTC 0 broke off while compiling for gfx90a: its process ended by "
               "signal 6 (Aborted); "
               "its last words: free(): invalid pointer");
  assert_compiles(imaginary, "plain");
}

static void a_child_that_died_between_two_texts_is_replaced_without_a_word(void **state) {
  (void)state;
  assert_compiles(imaginary, "EXITS");
  assert_compiles(imaginary, "plain");
  assert_compiles(imaginary, "plain");
}

static void a_text_that_never_ends_is_given_up_in_time(void **state) {
  (void)state;
  assert_compiles(imaginary, "plain"); /* the child's own start is not counted */
  const double start = kg_child_clock();
  assert_fails(imaginary, "HANG", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale: hipRTC 0 did not finish for gfx90a in 0 seconds");
  assert_true(kg_child_clock() - start < 5);
  assert_compiles(imaginary, "plain");
}

static void what_the_library_prints_does_not_get_among_the_answers(void **state) {
  (void)state;
  assert_compiles(imaginary, "NOISE");
  assert_compiles(imaginary, "NOISE");
}

static void an_error_s_message_begins_at_the_first_error_and_the_log_is_whole(void **state) {
  (void)state;
  static const char log_text[] =
      "a.kc:1:1: warning: unused\n  x\na.kc:7:3: error: no such word\n  y\n";
  char text[256], *log;
  snprintf(text, sizeof text, "SAY %s", log_text);
  assert_fails(imaginary, text, "gfx1030", KG_COMPILE_FAILED,
               "kernel scale does not compile for gfx1030 with hipRTC 0:\na.kc:7:3: error: no such "
               "word\n  y\n");
  kg_error error;
  kg_blob blob;
  const kg_source source = source_of(text);
  assert_int_equal(kg_hip_compile(imaginary, &source, "gfx1030", &blob, &log, &error),
                   KG_COMPILE_FAILED);
  assert_string_equal(log, log_text);
  free(log);
}

static void the_environment_of_the_compiler_is_fixed(void **state) {
  (void)state;
  setenv("HIPRTC_COMPILE_OPTIONS_APPEND", "-ffast-math", 1);
  kg_hip_compiler_close(imaginary);
  assert_int_equal(open_imaginary(NULL), 0);
  assert_fails(imaginary, "GETENV HIPRTC_COMPILE_OPTIONS_APPEND", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale does not compile for gfx90a with hipRTC 0:\nnot there");
  assert_fails(imaginary, "GETENV HOME", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale does not compile for gfx90a with hipRTC 0:\nnot there");
  assert_fails(imaginary, "GETENV LC_ALL", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale does not compile for gfx90a with hipRTC 0:\nC");
  unsetenv("HIPRTC_COMPILE_OPTIONS_APPEND");
}

static void a_target_that_is_not_known_never_reaches_hiprtc(void **state) {
  (void)state;
  assert_fails(
      imaginary, "ABORT", "gfx1250", KG_BAD_TARGET,
      "hipRTC 0 does not know the architecture \"gfx1250\"; the nearest that it knows: gfx1030");
  assert_fails(imaginary, "ABORT", "bogus", KG_BAD_TARGET,
               "hipRTC 0 does not know the architecture \"bogus\"; it knows gfx90a gfx1030");
  assert_fails(imaginary, "ABORT", "", KG_BAD_TARGET, "target \"\" is not an architecture's name");
  assert_fails(imaginary, "ABORT", "gfx1030:xnack+", KG_BAD_TARGET,
               "target \"gfx1030:xnack+\": \"xnack+\" is not a feature of it; gfx1030 has none");
  assert_fails(imaginary, "ABORT", "gfx90a:xnack", KG_BAD_TARGET,
               "target \"gfx90a:xnack\": \"xnack\" is not a feature of it; gfx90a has sramecc+ or "
               "sramecc- xnack+ or xnack-");
  assert_fails(imaginary, "ABORT", "gfx90a:xnack+:xnack-", KG_BAD_TARGET,
               "target \"gfx90a:xnack+:xnack-\": \"xnack-\" is there twice; gfx90a has sramecc+ or "
               "sramecc- xnack+ or xnack-");
}

static void an_option_that_is_not_a_port_s_to_give_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"--offload-arch=gfx90a", "--gpu-architecture=gfx90a",
                                    "-march=x", "-std=c++11", "--std=c++14"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *const options[] = {"-O3", bad[i], NULL};
    char expected[128];
    kg_error error;
    kg_blob blob;
    kg_source source = source_of("plain");
    source.options = options;
    assert_int_equal(kg_hip_compile(imaginary, &source, "gfx90a", &blob, NULL, &error),
                     KG_BAD_ARGUMENT);
    snprintf(expected, sizeof expected, "kernel scale: option %s is not for a port to give",
             bad[i]);
    assert_string_equal(error.message, expected);
  }
}

static void *compile_many(void *data) {
  int *done = data;
  for (int i = 0; i < 50; i++) {
    kg_blob blob;
    const kg_source source = source_of("plain");
    if (kg_hip_compile(imaginary, &source, "gfx90a", &blob, NULL, NULL) == KG_OK) ++*done;
    free(blob.bytes);
  }
  return NULL;
}

static void threads_take_turns(void **state) {
  (void)state;
  pthread_t thread[4];
  int done[4] = {0};
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, compile_many, &done[i]), 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
    assert_int_equal(done[i], 50);
  }
}

static void a_caller_that_reaps_its_own_children_gets_its_answers_too(void **state) {
  (void)state;
  signal(SIGCHLD, SIG_IGN);
  assert_fails(imaginary, "ABORT", "gfx90a", KG_COMPILE_FAILED,
               "kernel scale: hipRTC 0 broke off while compiling for gfx90a: its process ended; "
               "its last words: free(): invalid pointer");
  assert_compiles(imaginary, "plain");
  signal(SIGCHLD, SIG_DFL);
}

static void closing_leaves_no_process_behind(void **state) {
  (void)state;
  kg_hip_compiler_close(imaginary);
  imaginary = NULL;
  errno = 0;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
}

static void a_compiler_that_cannot_be_opened_says_why(void **state) {
  (void)state;
  kg_error error;
  kg_hip_compiler *compiler = NULL;
  setenv("KG_HIPRTC", "/nowhere/kg-hiprtc", 1);
  assert_int_equal(kg_hip_compiler_open(NULL, &compiler, &error), KG_NO_COMPILER);
  assert_null(compiler);
  assert_string_equal(error.message,
                      "no process for hipRTC of this system could be started: /nowhere/kg-hiprtc: "
                      "No such file or directory");
  unsetenv("KG_HIPRTC");

  setenv("KG_HIPRTC_LIBRARY", "/nowhere/libhiprtc.so", 1);
  assert_int_equal(kg_hip_compiler_open(NULL, &compiler, &error), KG_NO_COMPILER);
  assert_string_equal(
      error.message,
      "there is no hipRTC in this system (/nowhere/libhiprtc.so is not a library with hipRTC's "
      "functions); on Debian: apt-get install libamdhip64-dev");
  unsetenv("KG_HIPRTC_LIBRARY");

  const kg_hip_choice nowhere = {"/nowhere", 0};
  assert_int_equal(kg_hip_compiler_open(&nowhere, &compiler, &error), KG_NO_COMPILER);
  static const char no_root[] = "no process for hipRTC of /nowhere could be started: cannot change "
                                "to the root directory: No such file or directory";
  assert_string_equal(error.message, no_root);
  setenv("KG_HIPRTC", "none", 1); /* the program in the library serves roots too */
  assert_int_equal(kg_hip_compiler_open(&nowhere, &compiler, &error), KG_NO_COMPILER);
  assert_string_equal(error.message, no_root);
  unsetenv("KG_HIPRTC");
}

/* A wrapper of one's own, which watches or limits the program: for a root directory too, where no
** script could be run. */
static void a_script_may_stand_in_the_program_s_place(void **state) {
  (void)state;
  char script[] = "/tmp/kgen-test-script-XXXXXX", *here = getcwd(NULL, 0);
  const int file = mkstemp(script);
  kg_hip_compiler *compiler = NULL;
  kg_error error = {0};
  assert_non_null(here);
  assert_true(dprintf(file, "#!/bin/sh\nexec '%s/.build/kg-hiprtc' \"$@\"\n", here) > 0);
  assert_int_equal(fchmod(file, 0700), 0);
  close(file);
  setenv("KG_HIPRTC", script, 1);
  const kg_hip_choice choices[] = {{NULL, 0}, {"/", 0}};
  for (int i = 0; i < 2; i++) {
    const kg_status opened = kg_hip_compiler_open(&choices[i], &compiler, &error);
    if (opened != KG_OK) print_message("%s\n", error.message);
    if (opened !=
        KG_OK) /* nothing else is wrong but what this machine has not, or does not allow */
      assert_true(strstr(error.message, "there is no hipRTC") != NULL ||
                  strstr(error.message, "not permitted") != NULL);
    kg_hip_compiler_close(compiler);
  }
  unsetenv("KG_HIPRTC");
  unlink(script);
  free(here);
}

/* ---- the device, with the imaginary GPU and the real compiler -------------------------------- */

static kg_device device;

static const char *fake_record(void) {
  void *handle = dlopen(getenv("KG_HIP_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(handle);
  const char *text = dlsym(handle, "fake_hip_record");
  dlclose(handle);
  return text;
}

static void forget_record(void) {
  char *text;
  const char *kept = fake_record();
  memcpy(&text, &kept, sizeof text);
  text[0] = '\0';
}

static kg_status open_device(const char *behaviour, int index, kg_error *error) {
  memset(&device, 0, sizeof device);
  memset(error, 0, sizeof *error);
  setenv("KG_HIP_LIBRARY", beside("fake_hip.so"), 0);
  setenv("KG_FAKE_HIP", behaviour, 1);
  return kg_device_hip.open(&device, index, "", error);
}

static int close_device(void **state) {
  (void)state;
  if (device.self != NULL) kg_device_hip.close(&device);
  unsetenv("KG_HIP_LIBRARY");
  unsetenv("KG_FAKE_HIP");
  return 0;
}

static bool no_hiprtc(void) {
  static kg_error error;
  static bool asked;
  if (!asked) {
    kg_hip_compiler *compiler;
    const kg_hip_choice five = {NULL, 5};
    if (kg_hip_compiler_open(&five, &compiler, &error) == KG_OK) kg_hip_compiler_close(compiler);
    asked = true;
  }
  if (error.status != KG_OK) print_message("hiprtc: %s\n", error.message);
  return error.status != KG_OK;
}

static void assert_opens(const char *behaviour) {
  kg_error error;
  if (open_device(behaviour, 0, &error) != KG_OK) fail_msg("%s", error.message);
}

static void an_open_device_says_what_it_is(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  assert_opens("arch=gfx90a:sramecc+:xnack- wave=64");
  assert_string_equal(device.target, "gfx90a:sramecc+:xnack-");
  assert_int_equal(device.wave, 64);
  assert_string_equal(device.name, "hip:0 (Imaginary GPU, gfx90a:sramecc+:xnack-)");
  assert_non_null(strstr(device.compiler, "hipRTC 5.2"));
  assert_int_equal(device.limits.threads, 1024);
  assert_int_equal(device.limits.shared_bytes, 65536);
  assert_int_equal(device.limits.groups[0], 2147483647);
  assert_int_equal(device.limits.groups[1], 65536);
  assert_non_null(strstr(fake_record(), "properties of ROCm 6\n"));
  close_device(NULL);
  assert_opens("arch=gfx1030 wave=32");
  assert_string_equal(device.target, "gfx1030");
  assert_int_equal(device.wave, 32);
}

static void a_library_of_rocm_5_is_read_in_its_own_layout(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  setenv("KG_HIP_LIBRARY", beside("fake_hip5.so"), 1);
  assert_opens("arch=gfx1030 wave=32");
  assert_string_equal(device.target, "gfx1030");
  assert_int_equal(device.wave, 32);
  assert_non_null(strstr(fake_record(), "properties of ROCm 5\n"));
}

static void a_width_that_is_not_certain_is_zero(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  static const char *const uncertain[] = {"wave=64 told=32", "wave=32 told=64", "wave=48", "wave=0",
                                          "fail=width:1"};
  for (size_t i = 0; i < sizeof uncertain / sizeof *uncertain; i++) {
    assert_opens(uncertain[i]);
    assert_int_equal(device.wave, 0);
    kg_error error;
    kg_blob blob;
    const kg_source source = source_of(real_text);
    assert_int_equal(kg_device_hip.compile(&device, &source, &blob, &error), KG_BAD_WIDTH);
    assert_string_equal(
        error.message,
        "kernel scale: this instance is for a wavefront of 64 lanes, the device has 0");
    kg_device_hip.close(&device);
  }
}

static void assert_does_not_open(const char *behaviour, int index, kg_status status,
                                 const char *message) {
  kg_error error;
  assert_int_equal(open_device(behaviour, index, &error), status);
  assert_string_equal(error.message, message);
  assert_null(device.self);
}

static void no_gpu_is_a_status_and_a_sentence(void **state) {
  (void)state;
  assert_does_not_open("devices=0", 0, KG_NO_DEVICE, "no AMD GPU is present");
  assert_does_not_open("init=101", 0, KG_NO_DEVICE, "no AMD GPU is present");
  assert_does_not_open("init=100", 0, KG_NO_DEVICE, "no AMD GPU is present");
  assert_does_not_open("init=3", 0, KG_NO_DEVICE,
                       "no AMD GPU can be used: HIP does not start: imaginary error (error 3)");
  assert_does_not_open("devices=2", 2, KG_NO_DEVICE,
                       "there is no AMD GPU 2; this machine has 2, counted from 0");
  assert_does_not_open("devices=2", -1, KG_NO_DEVICE,
                       "there is no AMD GPU -1; this machine has 2, counted from 0");
  assert_does_not_open("fail=properties:1", 0, KG_DEVICE_FAILED,
                       "AMD GPU 0: hipGetDevicePropertiesR0600 failed: imaginary error (error 1)");
  assert_does_not_open("arch=nonsense", 0, KG_DEVICE_FAILED,
                       "AMD GPU 0 does not say which architecture it is");
  setenv("KG_HIP_LIBRARY", beside("fake_hiprtc.so"), 1);
  assert_does_not_open("", 0, KG_NO_DEVICE,
                       "no AMD GPU can be used: libamdhip64 has no function hipInit");
  setenv("KG_HIP_LIBRARY", "/nowhere/libamdhip64.so", 1);
  assert_does_not_open(
      "", 0, KG_NO_DEVICE,
      "$KG_HIP_LIBRARY cannot be loaded: /nowhere/libamdhip64.so: cannot open shared "
      "object file: No such file or directory");
}

static void the_real_library_says_that_there_is_no_gpu(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  kg_error error;
  memset(&device, 0, sizeof device);
  const kg_status status = kg_device_hip.open(&device, 0, "", &error);
  if (status == KG_OK) {
    print_message("gpu: this machine has one\n");
    skip();
  }
  assert_int_equal(status, KG_NO_DEVICE);
  assert_string_equal(error.message, "no AMD GPU is present");
}

typedef struct block {
  const float *x;
  float *y;
  uint32_t n;
  float factor;
  uint32_t last;
} block;

static kg_function *load_scale(const char *behaviour) {
  kg_error error;
  kg_blob blob;
  kg_function *f;
  assert_opens(behaviour);
  kg_source source = source_of(real_text);
  source.wave = device.wave;
  if (kg_device_hip.compile(&device, &source, &blob, &error) != KG_OK)
    fail_msg("%s", error.message);
  if (kg_device_hip.load(&device, &blob, "scale", &f, &error) != KG_OK)
    fail_msg("%s", error.message);
  free(blob.bytes);
  return f;
}

static void a_launch_passes_the_block_byte_for_byte_and_counts_groups(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  kg_error error;
  kg_function *f = load_scale("arch=gfx1030 wave=32");
  const block args = {(const float *)0x123456789abc, (float *)0x9876543210, 4096, 1.5f,
                      0xfedcba98u};
  const kg_grid grid = {{3, 2, 1}, {128, 2, 1}, 0};
  forget_record();
  assert_int_equal(kg_device_hip.launch(&device, f, &grid, &args, 28, &error), KG_OK);
  assert_string_equal(fake_record(), "launch scale groups 3 2 1 threads 128 2 1 shared 0\n");
  void *handle = dlopen(getenv("KG_HIP_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  assert_int_equal(*(size_t *)dlsym(handle, "fake_hip_block_bytes"), 28);
  assert_memory_equal(dlsym(handle, "fake_hip_block"), &args, 28);
  dlclose(handle);
  forget_record();
  assert_int_equal(kg_device_hip.launch(&device, f, &grid, &args, sizeof args, &error),
                   KG_OK); /* the struct's own padding */
  assert_int_equal(kg_device_hip.synchronize(&device, &error), KG_OK);
  kg_device_hip.unload(&device, f);
  assert_string_equal(fake_record(),
                      "launch scale groups 3 2 1 threads 128 2 1 shared 0\nsynchronize\nunload\n");
}

static void a_launch_that_cannot_be_right_is_refused(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  static const struct {
    kg_grid grid;
    size_t bytes;
    kg_status status;
    const char *message;
  } bad[] = {
      {{{1, 1, 1}, {257, 1, 1}, 0},
       28,
       KG_LIMIT,
       "a group of 257 threads; the code was compiled for 1 to 256"},
      {{{1, 1, 1}, {128, 0, 1}, 0},
       28,
       KG_LIMIT,
       "a group of 0 threads; the code was compiled for 1 to 256"},
      {{{16777216, 1, 1}, {256, 1, 1}, 0},
       28,
       KG_TOO_LARGE,
       "grid axis 0: 16777216 groups of 256 threads; HIP counts 1 to 4294967295 threads on an "
       "axis"},
      {{{1, 0, 1}, {256, 1, 1}, 0},
       28,
       KG_TOO_LARGE,
       "grid axis 1: 0 groups of 1 threads; HIP counts 1 to 4294967295 threads on an axis"},
      {{{1, 1, 1}, {256, 1, 1}, 0},
       24,
       KG_BAD_ARGUMENT,
       "an argument block of 24 bytes; the code's parameters take 28"},
      {{{1, 1, 1}, {256, 1, 1}, 0},
       40,
       KG_BAD_ARGUMENT,
       "an argument block of 40 bytes; the code's parameters take 28"},
  };
  kg_function *f = load_scale("arch=gfx90a:sramecc+:xnack- wave=64");
  const block args[2] = {{NULL, NULL, 0, 0, 0}};
  forget_record();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    kg_error error;
    assert_int_equal(kg_device_hip.launch(&device, f, &bad[i].grid, args, bad[i].bytes, &error),
                     bad[i].status);
    assert_string_equal(error.message, bad[i].message);
  }
  assert_string_equal(fake_record(), ""); /* nothing went to the driver */
  const kg_grid good = {{16777215, 1, 1}, {256, 1, 1}, 0};
  assert_int_equal(kg_device_hip.launch(&device, f, &good, args, 28, NULL), KG_OK);
  kg_device_hip.unload(&device, f);
}

static void assert_does_not_load(const kg_blob *blob, const char *entry, kg_status status,
                                 const char *message) {
  kg_error error;
  kg_function *f = NULL;
  assert_int_equal(kg_device_hip.load(&device, blob, entry, &f, &error), status);
  assert_string_equal(error.message, message);
  assert_null(f);
}

static void a_code_object_for_another_device_is_not_loaded(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  kg_blob blob, copy;
  kg_source source = source_of(real_text);
  assert_opens("arch=gfx90a:sramecc+:xnack- wave=64");
  assert_int_equal(kg_device_hip.compile(&device, &source, &blob, NULL), KG_OK);
  kg_device_hip.close(&device);

  assert_opens("arch=gfx1030 wave=32");
  forget_record();
  assert_does_not_load(
      &blob, "scale", KG_BAD_TARGET,
      "scale: the code object is for gfx90a:sramecc+:xnack-, the device is gfx1030");
  kg_device_hip.close(&device);
  assert_opens("arch=gfx90a:sramecc+:xnack+ wave=64"); /* the other setting of a feature */
  assert_does_not_load(
      &blob, "scale", KG_BAD_TARGET,
      "scale: the code object is for gfx90a:sramecc+:xnack-, the device is gfx90a:sramecc+:xnack+");
  kg_device_hip.close(&device);
  assert_opens(
      "arch=gfx90a:sramecc+:xnack- wave=32"); /* a device that counts its lanes in another way */
  assert_does_not_load(&blob, "scale", KG_BAD_WIDTH,
                       "scale: the code object is for a wavefront of 64 lanes, the device has 32");
  kg_device_hip.close(&device);
  assert_opens("arch=gfx90a:sramecc+:xnack- wave=64");
  assert_does_not_load(&blob, "scaled", KG_DEVICE_FAILED,
                       "the code object for gfx90a:sramecc+:xnack- has no kernel scaled");
  copy = (kg_blob){blob.bytes, blob.size / 16};
  assert_does_not_load(&copy, "scale", KG_DEVICE_FAILED,
                       "scale: not a code object with AMD's metadata");
  assert_string_equal(fake_record(),
                      "properties of ROCm 6\nproperties of ROCm 6\nproperties of ROCm 6\n");
  setenv("KG_FAKE_HIP", "fail=hipModuleLoadData:209", 1);
  assert_does_not_load(&blob, "scale", KG_DEVICE_FAILED,
                       "AMD GPU 0: hipModuleLoadData failed: imaginary error (error 209)");
  free(blob.bytes);
}

static void memory_goes_there_and_back(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  kg_error error;
  void *at;
  char there[] = "eight by", back[8];
  assert_opens("");
  assert_int_equal(kg_device_hip.alloc(&device, 8, &at, &error), KG_OK);
  forget_record();
  assert_int_equal(kg_device_hip.upload(&device, at, there, 8, &error), KG_OK);
  assert_int_equal(kg_device_hip.download(&device, back, at, 8, &error), KG_OK);
  assert_int_equal(kg_device_hip.download(&device, back, at, 0, &error), KG_OK);
  assert_memory_equal(back, there, 8);
  assert_string_equal(fake_record(), "copy 8 bytes, kind 1\ncopy 8 bytes, kind 2\n");
  kg_device_hip.free(&device, at);
  kg_device_hip.free(&device, NULL);
  setenv("KG_FAKE_HIP", "fail=hipMalloc:2", 1);
  assert_int_equal(kg_device_hip.alloc(&device, 1024, &at, &error), KG_OUT_OF_MEMORY);
  assert_string_equal(error.message, "AMD GPU 0 has no 1024 bytes of memory left");
  assert_null(at);
  setenv("KG_FAKE_HIP", "fail=hipDeviceSynchronize:719", 1);
  assert_int_equal(kg_device_hip.synchronize(&device, &error), KG_DEVICE_FAILED);
  assert_string_equal(error.message,
                      "AMD GPU 0: hipDeviceSynchronize failed: imaginary error (error 719)");
}

/* ---- code objects ---------------------------------------------------------------------------- */

static kg_blob compile_real(const char *target) {
  kg_error error;
  kg_blob blob = {NULL, 0};
  kg_hip_compiler *compiler;
  const kg_hip_choice five = {NULL, 5};
  const kg_source source = source_of(real_text);
  assert_int_equal(kg_hip_compiler_open(&five, &compiler, &error), KG_OK);
  if (kg_hip_compile(compiler, &source, target, &blob, NULL, &error) != KG_OK)
    fail_msg("%s", error.message);
  kg_hip_compiler_close(compiler);
  return blob;
}

static void a_code_object_says_what_it_was_compiled_for(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  static const struct {
    const char *target;
    uint32_t wave;
  } made[] = {{"gfx90a:xnack+", 64}, {"gfx1030", 32}};
  for (size_t i = 0; i < 2; i++) {
    kg_code_object o;
    kg_blob blob = compile_real(made[i].target);
    assert_int_equal(kg_code_object_read(blob.bytes, blob.size, "scale", &o, NULL), KG_OK);
    assert_string_equal(o.target, made[i].target);
    assert_int_equal(o.wave, made[i].wave);
    assert_int_equal(o.threads, 256);
    assert_int_equal(o.argument_bytes, 28);
    assert_int_equal(o.shared_bytes, 1024);
    assert_int_equal(o.scratch_bytes, 0);
    assert_int_equal(o.vgpr_spills, 0);
    assert_in_range(o.vgprs, 1, 64);
    free(blob.bytes);
  }
}

static void a_damaged_code_object_is_never_read_past_its_end(void **state) {
  (void)state;
  if (no_hiprtc()) skip();
  kg_code_object o;
  kg_blob blob = compile_real("gfx1030");
  for (size_t cut = 0; cut < blob.size;
       cut += cut < 2048 ? 1 : 61) { /* the copy is exactly that long: valgrind would see */
    char *copy = malloc(cut > 0 ? cut : 1);
    memcpy(copy, blob.bytes, cut);
    kg_code_object_read(copy, cut, "scale", &o, NULL);
    free(copy);
  }
  unsigned char *damaged = malloc(blob.size);
  for (size_t at = 0; at < blob.size && at < 2048; at++)
    for (unsigned flip = 0xff; flip > 0; flip >>= 1) {
      memcpy(damaged, blob.bytes, blob.size);
      damaged[at] = (unsigned char)(damaged[at] ^ flip);
      kg_code_object_read(damaged, blob.size, "scale", &o, NULL);
    }
  free(damaged);
  free(blob.bytes);
}

int main(void) {
  ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
  folder[n > 0 ? n : 0] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash != NULL) slash[1] = '\0';
  unsetenv("KG_HIPRTC");
  unsetenv("KG_HIPRTC_LIBRARY");
  unsetenv("KG_HIPRTC_TIMEOUT");
  unsetenv("KG_HIP_LIBRARY");

#define CHILD(test) cmocka_unit_test_setup_teardown(test, open_imaginary, close_imaginary)
#define INNER(test) {#test " (its own program)", test, open_inner, close_imaginary, NULL}
#define DEVICE(test) cmocka_unit_test_teardown(test, close_device)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_properties_layout_is_the_installed_header_s),
      CHILD(options_reach_hiprtc_with_exactly_one_architecture_after_them),
      CHILD(an_abort_of_hiprtc_is_an_error_with_its_last_words_and_the_next_text_compiles),
      CHILD(a_child_that_died_between_two_texts_is_replaced_without_a_word),
      cmocka_unit_test_setup_teardown(a_text_that_never_ends_is_given_up_in_time, open_hasty,
                                      close_imaginary),
      CHILD(what_the_library_prints_does_not_get_among_the_answers),
      CHILD(an_error_s_message_begins_at_the_first_error_and_the_log_is_whole),
      CHILD(the_environment_of_the_compiler_is_fixed),
      CHILD(a_target_that_is_not_known_never_reaches_hiprtc),
      CHILD(an_option_that_is_not_a_port_s_to_give_is_refused),
      CHILD(threads_take_turns),
      CHILD(a_caller_that_reaps_its_own_children_gets_its_answers_too),
      CHILD(closing_leaves_no_process_behind),
      INNER(options_reach_hiprtc_with_exactly_one_architecture_after_them),
      INNER(an_abort_of_hiprtc_is_an_error_with_its_last_words_and_the_next_text_compiles),
      INNER(the_environment_of_the_compiler_is_fixed),
      cmocka_unit_test(a_compiler_that_cannot_be_opened_says_why),
      cmocka_unit_test(a_script_may_stand_in_the_program_s_place),
      DEVICE(an_open_device_says_what_it_is),
      DEVICE(a_library_of_rocm_5_is_read_in_its_own_layout),
      DEVICE(a_width_that_is_not_certain_is_zero),
      DEVICE(no_gpu_is_a_status_and_a_sentence),
      DEVICE(the_real_library_says_that_there_is_no_gpu),
      DEVICE(a_launch_passes_the_block_byte_for_byte_and_counts_groups),
      DEVICE(a_launch_that_cannot_be_right_is_refused),
      DEVICE(a_code_object_for_another_device_is_not_loaded),
      DEVICE(memory_goes_there_and_back),
      cmocka_unit_test(a_code_object_says_what_it_was_compiled_for),
      cmocka_unit_test(a_damaged_code_object_is_never_read_past_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

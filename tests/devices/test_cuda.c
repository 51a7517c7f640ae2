/* test_cuda.c: NVIDIA GPUs.  What needs a GPU or NVRTC says so in a line and is skipped where
** there is none. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"

/* ---- a kernel: out = in * 3 + shift, in f32, rounded once ----------------------------------- */

#define STEPS(...)                                                                                 \
  (const kg_step[]) { __VA_ARGS__ }
#define EXPR(words, ...)                                                                           \
  {words, (int)(sizeof(STEPS(__VA_ARGS__)) / sizeof(kg_step)), STEPS(__VA_ARGS__)}
#define ONE EXPR("1", {KG_OP_INT, 1})

static const char text[] =
    "typedef float f32;\n"
    "typedef unsigned short u16;\n"
    "typedef unsigned int u32;\n"
    "struct f16 {\n"
    "  u16 bits;\n"
    "  f16() = default;\n"
    "  __device__ explicit f16(f32 x) { asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x)); "
    "}\n"
    "  __device__ explicit operator f32() const {\n"
    "    f32 x;\n"
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));\n"
    "    return x;\n"
    "  }\n"
    "};\n"
    "struct bf16 {\n"
    "  u16 bits;\n"
    "  bf16() = default;\n"
    "  __device__ explicit bf16(f32 x) {\n"
    "    const u32 u = __float_as_uint(x);\n"
    "    bits = u16((u + 0x7fffu + (u >> 16 & 1u)) >> 16);\n"
    "  }\n"
    "  __device__ explicit operator f32() const { return __uint_as_float(u32(bits) << 16); }\n"
    "};\n"
    "typedef KG_T_T T;\n"
    "extern \"C\" __global__ void __launch_bounds__(128)\n"
    "KG_ENTRY(const T *in, T *out, u32 n, f32 times, int shift) {\n"
    "#line 1 \"triple.kc\"\n"
    "  const u32 i = blockIdx.x * 128 + threadIdx.x;\n"
    "  if (i < n) out[i] = T(f32(in[i]) * times + f32(shift));\n"
    "}\n";

static const kg_arg args[] = {
    {"in", false, 0, 0, 1, (const kg_expr[]){EXPR("n", {KG_OP_VAR, 0})}, 0},
    {"out", true, 0, 0, 1, (const kg_expr[]){EXPR("n", {KG_OP_VAR, 0})}, 0},
};
static const kg_dtype floats[] = {KG_F32, KG_F16, KG_BF16};
static const kg_type_param types[] = {{"T", 3, floats}};
static const kg_scalar_param scalars[] = {{"times", KG_F32}, {"shift", KG_I32}};
static const char *const dims[] = {"n"};

static const kg_port port = {
    .backend = "cuda",
    .file = "cuda/triple.cu",
    .text = text,
    .options = (const char *const[]){"--fmad=false", NULL},
    .waves = KG_WAVE32,
    .groups = {EXPR("ceil_div(n, 128)", {KG_OP_VAR, 0}, {KG_OP_INT, 128}, {KG_OP_CEIL_DIV, 0}), ONE,
               ONE},
    .threads = {EXPR("128", {KG_OP_INT, 128}), ONE, ONE},
};
static const KernelPorts ports = {
    .version = KG_TABLES_VERSION, .kernel = "triple", .fallback = "multiply", .cuda = &port};

static kg_kernel kernel_of(const KernelPorts *p) {
  return (kg_kernel){.version = KG_TABLES_VERSION,
                     .name = "triple",
                     .type_count = 1,
                     .types = types,
                     .dim_count = 1,
                     .dims = dims,
                     .scalar_count = 2,
                     .scalars = scalars,
                     .arg_count = 2,
                     .args = args,
                     .ports = p};
}

/* ---- devices -------------------------------------------------------------------------------- */

static kg_status open_cuda(int index, const char *target, kg_device **device, kg_error *error) {
  return kg_device_open_with(&kg_device_cuda, "cuda", index, target, device, error);
}

static kg_device *gpu(void) {
  kg_device *device;
  kg_error error;
  if (open_cuda(0, "", &device, &error) == KG_OK) return device;
  print_message("skipped, it needs an NVIDIA GPU: %s\n", error.message);
  skip();
  return NULL;
}

static kg_device *compiler(const char *target) {
  kg_device *device;
  kg_error error;
  const kg_status status = open_cuda(0, target, &device, &error);
  if (status == KG_OK) return device;
  assert_int_equal(status, KG_NO_COMPILER);
  print_message("skipped, it needs NVRTC: %s\n", error.message);
  skip();
  return NULL;
}

static void without_a_driver_there_is_no_device_and_a_reason(void **state) {
  (void)state;
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver) {
    dlclose(driver);
    print_message("skipped, it needs a machine without libcuda.so.1\n");
    skip();
  }
  kg_device *device;
  kg_error error;
  assert_int_equal(open_cuda(0, "", &device, &error), KG_NO_DEVICE);
  assert_null(device);
  assert_string_equal(error.message,
                      "cuda: no NVIDIA driver is installed (libcuda.so.1 is not found)");
}

static void a_mode_that_is_no_target_is_refused(void **state) {
  (void)state;
  kg_device *device;
  kg_error error;
  assert_int_equal(open_cuda(0, "gfx90a", &device, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "cuda: \"gfx90a\" is no CUDA target; write cuda/sm_90, say");
}

static void a_number_with_no_gpu_behind_it_is_no_device(void **state) {
  (void)state;
  kg_device_close(gpu());
  kg_device *device;
  kg_error error;
  assert_int_equal(open_cuda(99, "", &device, &error), KG_NO_DEVICE);
  assert_non_null(strstr(error.message, "cuda: the NVIDIA driver has "));
}

static void an_opened_gpu_says_what_it_is(void **state) {
  (void)state;
  kg_device *const device = gpu();
  assert_int_equal(kg_device_wave(device), 32);
  assert_string_equal(kg_device_backend(device), "cuda");
  assert_int_equal(strncmp(kg_device_target(device), "sm_", 3), 0);
  assert_int_equal(strncmp(kg_device_name(device), "cuda:0 (", 8), 0);
  assert_true(device->limits.threads >= 512 && device->limits.shared_bytes >= 16384);
  assert_true(device->limits.groups[0] >= 0x7fffffff);
  print_message("%s, wave %d, compiler %s\n", kg_device_name(device), kg_device_wave(device),
                device->compiler);
  kg_device_close(device);
}

/* ---- launches ------------------------------------------------------------------------------- */

enum { N = 1000 };

static double value(kg_dtype dtype, const void *data, size_t i) {
  uint16_t half;
  float f;
  memcpy(&f, (const char *)data + (dtype == KG_F32 ? i * 4 : 0), 4);
  memcpy(&half, (const char *)data + i * 2, 2);
  return dtype == KG_F32   ? (double)f
         : dtype == KG_F16 ? kg_f64_from_f16(half)
                           : kg_f64_from_bf16(half);
}

static void put(kg_dtype dtype, void *data, size_t i, double x) {
  const float f = (float)x;
  const uint16_t half = dtype == KG_F16 ? kg_f16_from_f64(x) : kg_bf16_from_f64(x);
  if (dtype == KG_F32)
    memcpy((char *)data + i * 4, &f, 4);
  else
    memcpy((char *)data + i * 2, &half, 2);
}

/* The value that is right to the last bit: the product and sum below are exact in double
** precision. */
static double expected(kg_dtype dtype, double x) {
  char bytes[4] = {0};
  put(dtype, bytes, 0, x * 3 - 7);
  return value(dtype, bytes, 0);
}

static int wrong_values(kg_device *device, kg_dtype dtype) {
  const kg_kernel kernel = kernel_of(&ports);
  char in[4 * N], out[4 * N];
  const size_t bytes = N * kg_dtype_bytes(dtype);
  for (size_t i = 0; i < N; i++) put(dtype, in, i, (double)i * 0.37 - 150);
  void *from = NULL, *to = NULL;
  if (kg_device_alloc(device, bytes, &from) || kg_device_alloc(device, bytes, &to)) return -1;
  int wrong = kg_device_upload(device, from, in, bytes) == KG_OK ? 0 : -1;
  const kg_tensor tensors[] = {kg_tensor_of(device, from, dtype, 1, (const int64_t[]){N}),
                               kg_tensor_of(device, to, dtype, 1, (const int64_t[]){N})};
  const kg_scalar scalar[] = {{.f32 = 3}, {.i32 = -7}};
  const kg_call call = {&kernel, tensors, scalar, NULL};
  if (kg_launch(device, &call) || kg_device_download(device, out, to, bytes)) {
    print_message("%s\n", kg_device_message(device));
    wrong = -1;
  }
  for (size_t i = 0; i < N && wrong >= 0; i++) {
    const double x = value(dtype, in, i);
    const float product = (float)x * 3.0f, sum = product - 7.0f; /* no contraction: two roundings */
    wrong += dtype == KG_F32 ? value(dtype, out, i) != (double)sum
                             : value(dtype, out, i) != expected(dtype, x);
  }
  kg_device_free(device, from);
  kg_device_free(device, to);
  return wrong;
}

static void two_dtypes_in_one_process_are_right_to_the_last_bit(void **state) {
  (void)state;
  kg_device *const device = gpu();
  static const kg_dtype order[] = {KG_F16, KG_BF16, KG_F32, KG_F16};
  for (int i = 0; i < 4; i++) assert_int_equal(wrong_values(device, order[i]), 0);
  assert_int_equal(kg_device_cache_stats(device).misses, 3);
  assert_int_equal(kg_device_cache_stats(device).hits, 1);
  kg_device_close(device);
}

static void *run(void *device) {
  int wrong = 0;
  for (int i = 0; i < 20 && !wrong; i++) wrong = wrong_values(device, i % 2 ? KG_F16 : KG_BF16);
  return (void *)(intptr_t)wrong;
}

static void threads_may_share_a_gpu(void **state) {
  (void)state;
  kg_device *const device = gpu();
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) assert_int_equal(pthread_create(&threads[i], NULL, run, device), 0);
  for (int i = 0; i < 6; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  assert_int_equal(kg_device_cache_stats(device).misses, 2);
  kg_device_close(device);
}

static void a_callers_own_context_is_left_alone(void **state) {
  (void)state;
  kg_device *const device = gpu();
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*get_current)(void **) = NULL;
  void *const address = driver ? dlsym(driver, "cuCtxGetCurrent") : NULL;
  memcpy(&get_current, &address, sizeof address);
  assert_non_null(address);
  void *context = &context;
  assert_int_equal(get_current(&context), 0);
  assert_null(context);
  assert_int_equal(wrong_values(device, KG_F32), 0);
  assert_int_equal(get_current(&context), 0);
  assert_null(context);
  kg_device_close(device);
}

static void memory_that_is_not_there_is_out_of_memory(void **state) {
  (void)state;
  kg_device *const device = gpu();
  void *address;
  assert_int_equal(kg_device_alloc(device, (size_t)1 << 46, &address), KG_OUT_OF_MEMORY);
  assert_null(address);
  assert_non_null(strstr(kg_device_message(device), "allocating 70368744177664 bytes"));
  kg_device_close(device);
}

/* ---- the compiler --------------------------------------------------------------------------- */

static kg_status prepare(kg_device *device, const char *with_text, const char *const *options) {
  kg_port p = port;
  p.text = with_text;
  if (options) p.options = options;
  const KernelPorts only = {
      .version = KG_TABLES_VERSION, .kernel = "triple", .fallback = "multiply", .cuda = &p};
  const kg_kernel kernel = kernel_of(&only);
  const kg_instance instance = {&kernel, {KG_BF16}, {0}, 32};
  return kg_prepare(device, &instance);
}

static void a_target_compiles_without_its_gpu(void **state) {
  (void)state;
  kg_device *const device = compiler("sm_80");
  assert_int_equal(prepare(device, text, NULL), KG_OK);
  void *address;
  assert_int_equal(kg_device_alloc(device, 4, &address), KG_NO_DEVICE);
  assert_string_equal(kg_device_message(device),
                      "cuda: this device only compiles; open \"cuda\" to run");
  kg_device_close(device);
}

static void a_fault_in_the_body_is_reported_at_the_bodys_line(void **state) {
  (void)state;
  kg_device *const device = compiler("sm_80");
  char broken[sizeof text];
  memcpy(broken, text, sizeof text);
  memcpy(strstr(broken, "(i < n)"), "(j < n)", 7);
  assert_int_equal(prepare(device, broken, NULL), KG_COMPILE_FAILED);
  assert_non_null(strstr(kg_device_message(device), "triple: NVRTC "));
  assert_non_null(
      strstr(kg_device_message(device), "triple.kc(2): error: identifier \"j\" is undefined"));
  kg_device_close(device);
}

static void a_fault_outside_the_body_is_reported_at_the_committed_files_line(void **state) {
  (void)state;
  kg_device *const device = compiler("sm_80");
  char broken[sizeof text];
  memcpy(broken, text, sizeof text);
  memcpy(strstr(broken, "typedef KG_T_T T"), "typedef KG_T_U T", 16);
  assert_int_equal(prepare(device, broken, NULL), KG_COMPILE_FAILED);
  assert_non_null(strstr(kg_device_message(device), "cuda/triple.cu(23): error: "));
  kg_device_close(device);
}

static void an_unknown_target_is_refused_with_those_that_are_known(void **state) {
  (void)state;
  kg_device *const device = compiler("sm_999");
  assert_int_equal(prepare(device, text, NULL), KG_BAD_TARGET);
  assert_non_null(
      strstr(kg_device_message(device), "does not know the target sm_999; it knows sm_"));
  kg_device_close(device);
}

static void an_invalid_option_is_a_failed_compilation_with_its_log(void **state) {
  (void)state;
  kg_device *const device = compiler("sm_80");
  assert_int_equal(prepare(device, text, (const char *const[]){"--no-such-option", NULL}),
                   KG_COMPILE_FAILED);
  assert_non_null(strstr(kg_device_message(device), "no-such-option"));
  kg_device_close(device);
}

static void without_nvrtc_a_gpu_opens_and_says_so_when_it_must_compile(void **state) {
  (void)state;
  setenv("KG_NVRTC", "/nowhere/libnvrtc.so", 1);
  kg_device *device;
  kg_error error;
  assert_int_equal(open_cuda(0, "sm_90", &device, &error), KG_NO_COMPILER);
  assert_string_equal(error.message,
                      "cuda: NVRTC is not found; install it or set KG_NVRTC to its file");
  const kg_status status = open_cuda(0, "", &device, &error);
  unsetenv("KG_NVRTC");
  if (status) {
    assert_int_equal(status, KG_NO_DEVICE);
    return;
  }
  assert_int_equal(prepare(device, text, NULL), KG_NO_COMPILER);
  assert_string_equal(kg_device_message(device),
                      "triple: NVRTC is not found, so it cannot be compiled; install it or set "
                      "KG_NVRTC to its file");
  kg_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_driver_there_is_no_device_and_a_reason),
      cmocka_unit_test(a_mode_that_is_no_target_is_refused),
      cmocka_unit_test(a_number_with_no_gpu_behind_it_is_no_device),
      cmocka_unit_test(an_opened_gpu_says_what_it_is),
      cmocka_unit_test(two_dtypes_in_one_process_are_right_to_the_last_bit),
      cmocka_unit_test(threads_may_share_a_gpu),
      cmocka_unit_test(a_callers_own_context_is_left_alone),
      cmocka_unit_test(memory_that_is_not_there_is_out_of_memory),
      cmocka_unit_test(a_target_compiles_without_its_gpu),
      cmocka_unit_test(a_fault_in_the_body_is_reported_at_the_bodys_line),
      cmocka_unit_test(a_fault_outside_the_body_is_reported_at_the_committed_files_line),
      cmocka_unit_test(an_unknown_target_is_refused_with_those_that_are_known),
      cmocka_unit_test(an_invalid_option_is_a_failed_compilation_with_its_log),
      cmocka_unit_test(without_nvrtc_a_gpu_opens_and_says_so_when_it_must_compile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

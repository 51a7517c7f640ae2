/* test_native.c: ports whose texts their owners wrote (tests/native/kernels): right, with planted faults that
** are told at the owner's own lines, and with specifications that do not fit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "shell.h"

static char home[2048];
static Arena *a;

static const char *kgen(void) {
  const char *own = getenv("KGEN");
  return own ? own : arena_printf(a, "%s/.build/kgen", home);
}

static int run_kgen(const char *arguments) {
  return run(arena_printf(a, "cd @ && %s %s 2>&1", kgen(), arguments));
}

/* Whether it does; else what it says is printed. */
static bool does_say(const char *arguments, int status, const char *words) {
  const int got = run_kgen(arguments);
  if (got == status && strstr(said, words)) return true;
  print_error("kgen %s: status %d, not %d with '%s':\n", arguments, got, status, words);
  fputs(said, stderr);
  return false;
}

static void says(const char *arguments, int status, const char *words) {
  assert_true(does_say(arguments, status, words));
}

/* ---- as they are ----------------------------------------------------------------------------- */

static int fresh(void **state) {
  (void)state;
  return run(arena_printf(a, "rm -rf @/* && cp %s/tests/native/kernels/* @", home));
}

static const char *text_of(const char *name, size_t *len) {
  const char *why;
  char *text = file_read(a, arena_printf(a, "%s/%s", folder, name), len, &why);
  if (!text) fail_msg("%s: %s", name, why);
  return text;
}

static void their_bytes_stay_what_they_are(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"swish.metal", "metal/swish.metal"}, {"swish_words.metal", "metal/swish.metal"},
      {"rms.metal", "metal/rms.metal"},     {"rms.cu", "cuda/rms.cu"},
      {"rms.hip", "hip/rms.hip"},           {"softmax.metal", "metal/softmax.metal"},
      {"softmax.cu", "cuda/softmax.cu"},    {"axpy.metal", "metal/axpy.metal"},
      {"axpy.body.cu", "cuda/axpy.cu"},     {"axpy.body.cu", "hip/axpy.hip"},
  };
  says("", 0, "");
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    size_t own, whole;
    const char *text = text_of(pairs[i][0], &own);
    const char *in = text_of(arena_printf(a, "generated/%s", pairs[i][1]), &whole);
    if (!memmem(in, whole, text, own)) fail_msg("%s is not in %s", pairs[i][0], pairs[i][1]);
  }
  says("check", 0, "");
  assert_int_equal(run("echo '// another' >> @/rms.cu"), 0);
  says("check", 1, "cuda/rms.cu");
}

/* Each port against its reference and against those of kgen's, watched; and read at the other width. */
static void they_are_run_watched_and_compared(void **state) {
  (void)state;
  says("", 0, "");
  says("verify --only static,run,sanitize --own", 0, "no findings");
  assert_non_null(strstr(said, "metal native"));
  assert_non_null(strstr(said, "a native text and one of kgen's say it in other bits: y: "));
  says("verify --only compile --target metal3.1 --with clang-metal,required,guard", 0,
       "no findings");
}

/* ---- planted faults -------------------------------------------------------------------------- */

static void plant(const char *file, const char *from, const char *to) {
  size_t len;
  const char *text = text_of(file, &len), *at = strstr(text, from);
  if (!at) fail_msg("%s has no '%s'", file, from);
  FILE *f = fopen(arena_printf(a, "%s/%s", folder, file), "w");
  assert_non_null(f);
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  assert_int_equal(fclose(f), 0);
}

static const struct Fault {
  const char *run, *file, *from, *to, *words;
} faults[] = {
    {"rms --device simt32/metal+check", "rms.metal",
     "  threadgroup_barrier(mem_flags::mem_threadgroup);\n", "\n", "rms.metal:19"},
    {"rms --device simt32+check", "rms.hip", "sums[threadIdx.x / 32] = acc",
     "sums[threadIdx.x / 32 + 1] = acc", "rms.hip:11"},
    {"rms --device simt32/cuda+check", "rms.cu", "__syncthreads();",
     "if (threadIdx.x < 64) __syncthreads();", "rms.cu:16"},
    {"softmax T=bf16 THREADS=64 --device simt32/cuda+check", "softmax.cu",
     "i < cols; i += N) m =", "i <= cols; i += N) m =", "softmax.cu:29"},
    {"softmax T=f32 THREADS=64 --device simt32/metal+check", "softmax.metal", "float sum = 0.0;",
     "float sum;", "when variables that nobody has set hold a pattern"},
    {"swish T=f16 --device simt32/metal+check", "swish.metal", "static_cast<float>(x[i])",
     "static_cast<float>(x[i + 1])", "swish.metal:4"},
    {"swish T=f32 --device simt32/metal", "swish_words.metal", "1.0f / (1.0f +", "1.0f / (1.5f +",
     "WRONG"},
    {"axpy T=f32 --device simt32/cuda+check", "axpy.body.cu", "if (col >= cols) return;", "",
     "axpy.body.cu:5"},
    {"axpy T=f16 --device simt32/metal", "axpy.metal", "at.y) * x_strides[0]",
     "at.y) * x_strides[1]", "WRONG"},
};

static void each_planted_fault_is_told_at_its_owner_s_line(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const struct Fault *f = &faults[i];
    assert_int_equal(fresh(NULL), 0);
    plant(f->file, f->from, f->to);
    says("", 0, "");
    wrong += !does_say(arena_printf(a, "run %s", f->run), 1, f->words);
  }
  assert_int_equal(wrong, 0);
}

/* ---- what does not fit ----------------------------------------------------------------------- */

static const struct Misfit {
  const char *file, *from, *to, *words;
} misfits[] = {
    {"kernels.lua", "entry = \"rms<128>\"", "entry = \"rsm<128>\"",
     "rms.cu: error E161: there is no kernel 'rsm' in it; it has rms<...>"},
    {"kernels.lua", "entry = \"rms<128>\", ", "",
     "rms.cu: error E161: 'rms' is a template: say of what, as in 'rms<T>'"},
    {"kernels.lua", "{ \"rms.hip\", args", "{ \"rms.hip\", entry = \"rms<float>\", args",
     "rms.hip: error E161: 'rms' is no template"},
    {"rms.hip", "extern \"C\"", "__global__ void other(float *y) {}\nextern \"C\"",
     "rms.hip: error E161: it has several kernels, other, rms; in the specification: "},
    {"kernels.lua", "{ \"y\", \"x\", \"w\", \"rows\", \"D\", \"eps\" } },\n    hip",
     "{ \"x\", \"y\", \"w\", \"rows\", \"D\", \"eps\" } },\n    hip",
     "rms.cu:5: error E164: it takes 'const float *__restrict__ x' as parameter 2, where the table "
     "has the output 'y', a pointer to f32; change the specification, or say the order: native{ "},
    {"kernels.lua", "args = { \"x\", \"w\", \"y\", \"eps\", \"D\", \"rows\" }",
     "args = { \"x\", \"w\", \"y\", \"D\", \"eps\", \"rows\" }",
     "rms.metal:5: error E164: it takes 'constant float &eps [[buffer(3)]]' as parameter 4, where "
     "the table has the dim 'D', a constant reference to u32;"},
    {"rms.hip", "unsigned D,", "unsigned D, int stride,",
     "rms.hip:3: error E164: it takes 'int stride'"},
    {"rms.hip", ",\n                               float eps", "",
     "rms.hip:3: error E164: it takes no parameter 6, where the table has the scalar 'eps'"},
    {"rms.metal", "constant uint &rows", "constant ulong &rows", "rms.metal:6: error E164"},
    {"softmax.metal", "device T *out", "device const T *out", "softmax.metal:7: error E164"},
    {"rms.cu", "__shared__ float sums[WARPS]", "extern __shared__ float sums[]",
     "rms.cu:7: error E162: extern __shared__ memory"},
    {"rms.cu", "#define WARPS", "#ifdef KG_SIMT\n#endif\n#define WARPS",
     "rms.cu: error E162: it asks for KG_SIMT"},
    {"kernels.lua", "native \"axpy.metal\"",
     "native{ \"axpy.metal\", args = { \"x\", \"b\", \"y\", \"rows\", \"D\", \"a\" } }",
     "axpy.metal: error E162: it has no kernel, and so it is a body"},
    {"kernels.lua", "native{ \"rms.metal\", args",
     "native{ \"rms.metal\", header = \"rms.cu\", args",
     "rms.metal: error E162: it has a whole kernel"},
};

static void what_does_not_fit_is_told_with_what_to_do(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
    assert_int_equal(fresh(NULL), 0);
    plant(misfits[i].file, misfits[i].from, misfits[i].to);
    wrong += !does_say("", 1, misfits[i].words);
  }
  assert_int_equal(wrong, 0);
}

static int begin(void **state) {
  (void)state;
  a = arena_new();
  strcpy(folder, "/tmp/kgen-native-test-XXXXXX");
  return getcwd(home, sizeof home) && mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  run("rm -rf @");
  arena_free(a);
  return 0;
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(their_bytes_stay_what_they_are, fresh),
      cmocka_unit_test_setup(they_are_run_watched_and_compared, fresh),
      cmocka_unit_test(each_planted_fault_is_told_at_its_owner_s_line),
      cmocka_unit_test(what_does_not_fit_is_told_with_what_to_do),
  };
  return cmocka_run_group_tests(tests, begin, end);
}

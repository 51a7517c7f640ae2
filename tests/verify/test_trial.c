/* test_trial.c: trials: the data they are made of, the comparison and each fault it must see,
** references that do not compile, and `kgen run` as its user meets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/compare.h"
#include "verify/element.h"
#include "passes.h"
#include "verify/trial.h"
#include "shell.h"

/* ---- the comparison, on outputs made by hand ------------------------------------------------ */

enum { COUNT = 6 }; /* a 2 x 3 output */

typedef struct Made {
  Arena *arena;
  Kernel kernel;
  Reference reference;
  TrialData data;
  double real[COUNT];
  int64_t whole[COUNT];
  unsigned char got[COUNT * 8];
  Trial trial;
} Made;

static int make(void **state) {
  Made *m = calloc(1, sizeof *m);
  if (!m) return -1;
  m->arena = arena_new();
  m->kernel.name = "made";
  m->kernel.arg_count = 1;
  m->data.kernel = &m->kernel;
  m->data.reference = &m->reference;
  m->data.singles = arena_alloc(m->arena, sizeof *m->data.singles);
  m->data.scale = 1;
  m->data.want.tensor_count = 1;
  m->data.want.tensors = arena_alloc(m->arena, sizeof *m->data.want.tensors);
  m->data.want.kernel = "made";
  *state = m;
  return 0;
}

static int unmake(void **state) {
  Made *m = *state;
  arena_free(m->arena);
  free(m);
  return 0;
}

/* Wants 1, 2 ... 6 and got just that, within these tolerances. */
static void wants(Made *m, kg_dtype dtype, double rms, double max) {
  const bool real = dtype_is_float(dtype);
  m->data.want.tensors[0] = (ref_tensor){.name = "y",
                                         .dtype = (ref_dtype)dtype,
                                         .rank = 2,
                                         .shape = {2, 3},
                                         .count = COUNT,
                                         .real = real ? m->real : NULL,
                                         .whole = real ? NULL : m->whole};
  m->kernel.tolerance[dtype] = (Tolerance){rms, max};
  for (int i = 0; i < COUNT; i++) {
    m->real[i] = i + 1;
    m->whole[i] = i + 1;
    element_put_bits(dtype, m->got, i, element_bits_of_real(dtype, i + 1));
  }
}

static void got(Made *m, int i, double x) {
  const kg_dtype dtype = (kg_dtype)m->data.want.tensors[0].dtype;
  element_put_bits(dtype, m->got, i, element_bits_of_real(dtype, x));
}

static const TrialOutput *compared(Made *m) {
  m->trial = (Trial){0};
  m->trial.outputs[0].got = m->got;
  compare_outputs(m->arena, &m->data, &m->trial);
  return &m->trial.outputs[0];
}

static void equal_outputs_are_right_with_no_error(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-5);
  const TrialOutput *o = compared(m);
  assert_true(m->trial.right);
  assert_true(o->right);
  assert_null(o->why);
  assert_true(o->rms == 0 && o->max == 0);
  assert_int_equal(o->count, COUNT);
}

static void an_error_is_normalised_by_what_is_wanted(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1, 1);
  got(m, 1, 2.5);
  const TrialOutput *o = compared(m);
  assert_true(o->right);
  assert_true(fabs(o->rms - 0.5 / sqrt(91)) < 1e-15); /* 1 + 4 + ... + 36 */
  assert_true(fabs(o->max - 0.5 / 6) < 1e-15);
}

static void an_rms_error_over_the_tolerance_names_the_worst_element(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 0.05, 1);
  got(m, 4, 5.5);
  const TrialOutput *o = compared(m);
  assert_false(m->trial.right);
  assert_string_equal(
      o->why,
      "rms error 0.0524 is over the tolerance 0.05; the worst element: [1, 1] is 5.5, expected 5");
}

static void a_largest_error_over_the_tolerance_is_named_though_the_rms_is_fine(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1, 0.05);
  got(m, 2, 3.5);
  assert_string_equal(
      compared(m)->why,
      "the largest error 0.0833 is over the tolerance 0.05: [0, 2] is 3.5, expected 3");
}

static void a_nan_where_none_is_wanted_is_wrong_whatever_the_tolerance(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e9, 1e9);
  got(m, 3, NAN);
  assert_string_equal(
      compared(m)->why,
      "1 of 6 elements differ in being NaN or infinite, the first: [1, 0] is nan, expected 4");
}

static void a_nan_that_is_wanted_must_be_there(void **state) {
  Made *m = *state;
  wants(m, KG_BF16, 1e9, 1e9);
  m->real[3] = NAN;
  assert_string_equal(
      compared(m)->why,
      "1 of 6 elements differ in being NaN or infinite, the first: [1, 0] is 4, expected nan");
  got(m, 3, -NAN); /* any NaN will do */
  assert_true(compared(m)->right);
}

static void an_infinity_must_have_its_sign(void **state) {
  Made *m = *state;
  wants(m, KG_F16, 1e9, 1e9);
  m->real[0] = INFINITY;
  got(m, 0, -INFINITY);
  assert_string_equal(
      compared(m)->why,
      "1 of 6 elements differ in being NaN or infinite, the first: [0, 0] is -inf, expected inf");
  got(m, 0, INFINITY);
  assert_true(compared(m)->right);
  m->real[0] = 70000; /* f16 has no such number: infinity is its nearest */
  assert_true(compared(m)->right);
}

static void tolerance_zero_means_every_bit(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 0, 0);
  assert_true(compared(m)->right);
  m->real[5] = 0;
  got(m, 5, -0.0);
  assert_string_equal(
      compared(m)->why,
      "1 of 6 elements differ (every bit must agree), the first: [1, 2] is -0, expected 0");
}

static void integers_are_compared_exactly_whatever_the_tolerance(void **state) {
  Made *m = *state;
  wants(m, KG_U32, 1, 1);
  assert_true(compared(m)->right);
  m->whole[2] = 4294967295;
  assert_string_equal(
      compared(m)->why,
      "1 of 6 elements differ (every bit must agree), the first: [0, 2] is 3, expected 4294967295");
}

static void an_element_nobody_wrote_is_found_in_every_dtype(void **state) {
  Made *m = *state;
  for (int dtype = KG_F32; dtype < KG_DTYPES; dtype++) {
    wants(m, (kg_dtype)dtype, 1e9, 1e9);
    for (int i = 4; i < COUNT; i++)
      element_put_bits((kg_dtype)dtype, m->got, i, element_poison((kg_dtype)dtype));
    assert_string_equal(compared(m)->why,
                        "2 of 6 elements were never written, the first is [1, 1]");
    m->real[4] = m->real[5] = NAN; /* not even where a NaN is wanted */
    if (dtype_is_float((kg_dtype)dtype)) assert_false(compared(m)->right);
  }
}

static void an_error_where_only_zeros_are_wanted_is_infinite(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 0.5, 0.5);
  for (int i = 0; i < COUNT; i++) m->real[i] = 0;
  assert_true(isinf(compared(m)->rms));
  assert_false(m->trial.right);
}

static void an_outputs_own_tolerance_goes_before_its_dtypes(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-5);
  got(m, 0, 1.5);
  assert_false(compared(m)->right);
  m->kernel.has_out_tolerance[0] = true;
  m->kernel.out_tolerance[0] = (Tolerance){1, 1};
  assert_true(compared(m)->right);
}

/* The made kernel's reference becomes the one with that judge; to be closed. */
static References *judged(Made *m) {
  static const Spec spec = {.folder = ""};
  References *all = references_open(m->arena, &spec, "templates");
  m->kernel.reference = "tests/verify/judged.ref.c";
  m->data.reference = reference_of(all, &m->kernel);
  assert_true(m->data.reference->has_judge);
  return all;
}

static void a_judge_decides_in_place_of_tolerances(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-6);
  References *all = judged(m);
  got(m, 0, 1.5);
  compared(m);
  assert_true(m->trial.right && m->trial.judged);
  got(m, 0, 2.5);
  compared(m);
  assert_false(m->trial.right);
  assert_string_equal(m->trial.judgement, "the first one is too large");
  references_close(all);
}

static void a_judge_does_not_excuse_an_element_nobody_wrote(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 0, 0);
  References *all = judged(m);
  element_put_bits(KG_F32, m->got, 5, element_poison(KG_F32));
  compared(m);
  assert_false(m->trial.right);
  assert_string_equal(m->trial.outputs[0].why,
                      "1 of 6 elements were never written, the first is [1, 2]");
  references_close(all);
}

/* ---- what rounding may do --------------------------------------------------------------------- */

/* What single precision gives: the same, and each with that much more. */
static void single_gives(Made *m, double up) {
  *m->data.singles = (Singles){.count = SINGLES, .all = true};
  for (int d = 0; d < SINGLES; d++) {
    ref_tensor *t = m->data.singles->outputs[d] = arena_alloc(m->arena, sizeof *t);
    *t = m->data.want.tensors[0];
    t->real = arena_alloc(m->arena, COUNT * sizeof *t->real);
    for (int i = 0; i < COUNT; i++) t->real[i] = m->real[i] + (d == 1 ? up : 0);
  }
}

static void a_row_is_held_against_itself(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-3, 1e-2);
  for (int i = 0; i < 3; i++) m->real[i] *= 1e9, got(m, i, m->real[i]);
  got(m, 4, 6);
  compared(m);
  assert_true(m->trial.right); /* beside the large row it is nothing */
  single_gives(m, 0);
  compared(m);
  assert_false(m->trial.right);
  assert_non_null(strstr(m->trial.outputs[0].why, "[1, 1] is 6, expected 5"));
}

static void what_single_precision_loses_is_no_fault(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-6);
  got(m, 4, 5.25);
  m->data.made = true; /* an author's bound holds for the author's cases */
  single_gives(m, 0.01);
  compared(m);
  assert_false(m->trial.right);
  single_gives(m, 0.1);
  compared(m);
  assert_true(m->trial.right);
}

/* A nudge that moves an element far counts where one of eight steps moves it farther. */
static void a_wider_nudge_tells_rounding_from_another_element(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-6);
  m->data.made = true;
  got(m, 4, 5.25);
  single_gives(m, 0);
  double *nudged = m->data.singles->outputs[FIRST_SINGLES][0].real,
         *wider = m->data.singles->outputs[FIRST_SINGLES + 1][0].real;
  nudged[4] = wider[4] = 5.25; /* as beside a threshold */
  assert_false(compared(m)->right);
  wider[4] = 7; /* as in a row whose values are nearly equal */
  assert_true(compared(m)->right);
  nudged[4] = 5; /* the wider one alone shows nothing of one step */
  assert_false(compared(m)->right);
}

static void where_neither_precision_has_a_number_either_will_do(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-6);
  m->data.made = true;
  m->real[2] = INFINITY;
  single_gives(m, 0);
  got(m, 2, NAN);
  assert_false(compared(m)->right);
  m->data.singles->outputs[0][0].real[2] = NAN;
  assert_true(compared(m)->right);
  m->real[2] = 3; /* a number is wanted */
  assert_false(compared(m)->right);
}

static void neighbours_where_rounding_changes_nothing_are_a_fault(void **state) {
  Made *m = *state;
  wants(m, KG_F16, 1e-2, 1e-2);
  single_gives(m, 0);
  got(m, 0, 1 + 0x1p-10);
  compared(m);
  assert_true(m->trial.right);
  for (int i = 0; i < 3; i++) got(m, i, m->real[i] * (1 + 0x1p-10));
  compared(m);
  assert_false(m->trial.right);
  assert_non_null(strstr(m->trial.outputs[0].why, "are not the nearest f16"));
}

static void in_extremes_an_overflow_of_single_precision_is_no_fault(void **state) {
  Made *m = *state;
  wants(m, KG_F32, 1e-6, 1e-6);
  single_gives(m, INFINITY);
  got(m, 2, INFINITY);
  compared(m);
  assert_false(m->trial.right);
  m->data.extreme = true;
  compared(m);
  assert_true(m->trial.right);
}

static void an_element_that_is_left_open_may_be_anything(void **state) {
  Made *m = *state;
  unsigned char left[COUNT] = {[5] = 1};
  wants(m, KG_F32, 0, 0);
  element_put_bits(KG_F32, m->got, 5, element_poison(KG_F32));
  assert_false(compared(m)->right);
  m->data.want.tensors[0].left = left;
  assert_true(compared(m)->right);
}

/* ---- elements ------------------------------------------------------------------------------- */

static void every_pattern_of_a_dtype_survives_the_way_out_and_back(void **state) {
  (void)state;
  for (int dtype = KG_F32; dtype < KG_DTYPES; dtype++)
    for (uint64_t step = 0; step < 65536; step++) {
      const uint64_t wide = step * UINT64_C(0x9e3779b97f4a7c15);
      const uint64_t bits = element_bits_of_whole((kg_dtype)dtype, (int64_t)wide);
      unsigned char memory[24] = {0};
      element_put_bits((kg_dtype)dtype, memory, 1, bits);
      assert_int_equal(element_bits((kg_dtype)dtype, memory, 1), bits);
      if (!dtype_is_float((kg_dtype)dtype))
        assert_int_equal(
            element_bits_of_whole((kg_dtype)dtype, element_whole((kg_dtype)dtype, bits)), bits);
      else if (!isnan(element_real((kg_dtype)dtype, bits)))
        assert_int_equal(element_bits_of_real((kg_dtype)dtype, element_real((kg_dtype)dtype, bits)),
                         bits);
    }
}

static void signed_integers_keep_their_sign(void **state) {
  (void)state;
  assert_int_equal(element_whole(KG_I8, 0xff), -1);
  assert_int_equal(element_whole(KG_U8, 0xff), 255);
  assert_int_equal(element_whole(KG_I16, 0x8000), -32768);
  assert_int_equal(element_whole(KG_I32, 0xffffffffu), -1);
  assert_int_equal(element_whole(KG_U32, 0xffffffffu), 4294967295);
}

/* ---- whole trials on the CPU ---------------------------------------------------------------- */

static const char spec_text[] =
    "kernel \"twice\" {\n"
    "  summary = \"x times gain.\",\n"
    "  types = { { \"T\", { f32, bf16 } } },\n"
    "  dims = { \"n\" },\n"
    "  inputs = { { \"x\", \"T\", { \"n\" } } },\n"
    "  scalars = { { \"gain\", \"f32\" } },\n"
    "  outputs = { { \"y\", \"T\", { \"n\" } } },\n"
    "  consts = { { \"THREADS\", 64 } },\n"
    "  launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 }, threads = { const.THREADS, 1, "
    "1 } },\n"
    "  wave = any,\n"
    "  ports = { metal = {}, cuda = absent \"tried without\", hip = {} },\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, bf16 = 8e-3 } },\n"
    "  fallback = \"multiply\",\n"
    "  body = \"twice.kc\",\n"
    "  reference = \"twice.c\",\n"
    "  cases = { { n = 100, gain = 2 } },\n"
    "}\n";

#define BODY(last) "const u32 i = group_x * THREADS + thread;\nif (i >= n) return;\n" last
static const char right_body[] = BODY("y[i] = T(f32(x[i]) * gain);\n");
static const char right_reference[] =
    "#include \"reference.h\"\n"
    "void reference(ref_call *c) {\n"
    "  ref_tensor *x = ref_find(c, \"x\"), *y = ref_find(c, \"y\");\n"
    "  for (int64_t i = 0; i < x->count; i++) y->real[i] = x->real[i] * ref_real(c, \"gain\");\n"
    "}\n";

static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static void put_all(const char *body, const char *reference) {
  put("kernels.lua", spec_text);
  put("twice.kc", body);
  put("twice.c", reference);
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-trial-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* Runs the command and keeps what it says, on both streams. */
static int kgen(const char *format, ...) {
  char arguments[512], command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(arguments, sizeof arguments, format, args);
  va_end(args);
  snprintf(command, sizeof command, ".build/kgen run -f %s/kernels.lua %s 2>&1", folder, arguments);
  return run(command);
}

static void says(const char *words) {
  if (!strstr(said, words)) fail_msg("'%s' is not in:\n%s", words, said);
}

static bool no_clang(void) {
  kg_device *device = NULL;
  kg_error error = {0};
  if (kg_device_open("simt32", &device, &error) != KG_OK) {
    print_message("skipped: %s\n", error.message);
    return true;
  }
  kg_device_close(device);
  return false;
}

static void a_right_kernel_is_right_on_every_device(void **state) {
  (void)state;
  if (no_clang()) skip();
  put_all(right_body, right_reference);
  assert_int_equal(kgen("twice T=bf16 --device simt32"), 0);
  says("custom_kernel_twice_bfloat16  n=100 gain=2  seed 1\n");
  assert_null(strstr(said, "WRONG"));
  assert_int_equal(kgen("twice --device simt64 n=1000 gain=-0.5 --seed 7 --repeat 3"), 0);
  says("custom_kernel_twice_float32  n=1000 gain=-0.5  seed 7\n");
  assert_int_equal(kgen("twice --device all"), 0);
  static const char *const kinds[] = {"\nhip", "\ncuda", "\nsimt32 ", "\nsimt64 "};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) says(kinds[i]);
}

static void no_elements_are_no_fault(void **state) {
  (void)state;
  if (no_clang()) skip();
  put_all(right_body, right_reference);
  assert_int_equal(kgen("twice n=0 --device simt32"), 0);
}

static void each_planted_fault_is_found_and_named(void **state) {
  (void)state;
  if (no_clang()) skip();
  static const struct {
    const char *body, *words;
  } faults[] = {
      {BODY("if (i + 1 < n) y[i] = T(f32(x[i]) * gain);\n"),
       "y: 1 of 100 elements were never written, the first is [99]"},
      {BODY("y[i] = i == 3 ? T(NOT_A_NUMBER) : T(f32(x[i]) * gain);\n"),
       "y: 1 of 100 elements differ in being NaN or infinite, the first: [3] is nan"},
      {BODY("y[i] = T(f32(x[i]) * (i == 5 ? gain + 0.1f : gain));\n"),
       "is over the tolerance 1e-06; the worst element: [5] is"},
      {BODY("y[i] = T(f32(x[i > 0 ? i - 1 : 0]) * gain);\n"), "rms error"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    put_all(faults[i].body, right_reference);
    assert_int_equal(kgen("twice --device simt32"), 1);
    says("WRONG");
    says(faults[i].words);
  }
}

static void a_reference_that_does_not_compile_shows_the_compilers_words(void **state) {
  (void)state;
  put_all(right_body, "#include \"reference.h\"\nvoid reference(ref_call *c) { nonsense(c) }\n");
  assert_int_equal(kgen("twice --device simt32"), 1);
  says("kgen run: twice: no reference result: ");
  says("twice.c:2:");
  says("nonsense");
}

/* What a reference does to itself is told, with its line, and does not end kgen. */
static void a_reference_that_faults_is_named_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *statement, *words;
  } faults[] = {
      {"y->real[x->count] = 1;", "twice.c:5: it reads or writes what is not its own"},
      {"y->real[0] = x->real[-1 - (x->count < 0)];", "twice.c:5: it reads or writes"},
      {"static int calls; y->real[0] = calls++;",
       "does not give the same: it reads what no tensor"},
      {"y->real[0] = (double)x->whole[0];", "twice.c:5: it reads or writes"},
      {"y->real[0] = (double)(1 / ref_int(c, \"n\") / (ref_int(c, \"n\") / 1000));",
       "twice.c:5: it divides a whole number by zero"},
      {"abort();", "ended by signal 6"},
      {"y->real[0] = ref_real(c, \"nothing\");", "it has no dim, constant or scalar 'nothing'"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "#include \"reference.h\"\n"
             "void reference(ref_call *c) {\n"
             "  ref_tensor *x = ref_find(c, \"x\"), *y = ref_find(c, \"y\");\n"
             "  (void)x, (void)y;\n"
             "  %s\n"
             "}\n",
             faults[i].statement);
    put_all(right_body, text);
    assert_int_equal(kgen("twice --device simt32"), 1);
    says(faults[i].words);
  }
}

static void a_reference_without_its_function_is_named(void **state) {
  (void)state;
  put_all(right_body, "int unrelated;\n");
  assert_int_equal(kgen("twice --device simt32"), 1);
  says("twice.c defines no function `reference`");
}

/* gcc 12 with its vectorizer takes both as they are: rope's cosine and sine were never rounded. */
static void a_reference_that_rounds_two_neighbours_rounds_them(void **state) {
  (void)state;
  if (no_clang()) skip();
  put_all(right_body,
          "#include \"reference.h\"\n"
          "typedef struct Pair { double a, b; } Pair;\n"
          "__attribute__((noinline)) static Pair rounded(double a, double b) {\n"
          "  return (Pair){ref_round(REF_F32, a), ref_round(REF_F32, b)};\n"
          "}\n"
          "void reference(ref_call *c) {\n"
          "  ref_tensor *x = ref_find(c, \"x\"), *y = ref_find(c, \"y\");\n"
          "  const double gain = ref_real(c, \"gain\");\n"
          "  const Pair p = rounded(gain / 3, gain / 7);\n"
          "  const bool both = p.a == (double)0x1.555556p-1f && p.b == (double)0x1.24924ap-2f;\n"
          "  for (int64_t i = 0; i < x->count; i++) y->real[i] = both ? x->real[i] * gain : NAN;\n"
          "}\n");
  assert_int_equal(kgen("twice gain=2 --device simt32"), 0);
}

/* Fills and references count on the requirements: before they held, these divided by zero or read
** past an array's end. */
static void a_requirement_that_does_not_hold_is_refused_before_the_data_are_made(void **state) {
  (void)state;
  static const struct {
    const char *call, *words;
  } calls[] = {
      {"paged_v2_partial D=0",
       "kgen run: paged_v2_partial: it requires D >= 1, which does not hold (D = 0)\n"},
      {"sparse_v kv_rows=0",
       "sparse_v: it requires kv_rows >= 1, which does not hold (kv_rows = 0)\n"},
      {"gather_qmm_mxfp4 R=1", "kgen run: gather_qmm_mxfp4: it requires "},
      {"paged_attention splits=0",
       "kgen run: paged_attention: it requires splits >= 1, which does not hold (splits = 0)\n"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    assert_int_equal(kgen("-f kernels.lua %s --device simt32", calls[i].call), 1);
    says(calls[i].words);
  }
}

static void a_kernel_without_a_reference_says_so(void **state) {
  (void)state;
  put_all(right_body, right_reference);
  char text[sizeof spec_text];
  memcpy(text, spec_text, sizeof text);
  memcpy(strstr(text, "  reference = "), "--", 2); /* as Lua's comments */
  memcpy(strstr(text, "  cases = "), "--", 2);
  put("kernels.lua", text);
  assert_int_equal(kgen("twice n=3 gain=1 --device simt32"), 1);
  says("the specification names no reference");
}

static void a_fill_makes_inputs_and_scalars_and_both_sides_see_them_rounded(void **state) {
  (void)state;
  if (no_clang()) skip();
  char reference[1024];
  snprintf(reference, sizeof reference, "%s%s", right_reference,
           "void fill(ref_call *c, const char *how, uint64_t seed) {\n"
           "  ref_tensor *x = ref_find(c, \"x\");\n"
           "  if (strcmp(how, \"thirds\") != 0 || seed != 1) return;\n"
           "  for (int64_t i = 0; i < x->count; i++) x->real[i] = 1.0 / 3;\n"
           "  ref_value_find(c, \"gain\")->real = 0.1;\n"
           "}\n");
  put_all(BODY("y[i] = T(gain == 0.1f && bits(f32(x[i])) == 0x3eaaaaabu ? f32(x[i]) * gain : "
               "100.0f);\n"),
          reference);
  assert_int_equal(kgen("twice T=f32 --fill thirds --device simt32"), 0);
  says("gain=0.1");
  assert_int_equal(kgen("twice T=f32 --device simt32"), 1);
}

static void what_is_asked_for_by_a_wrong_name_gets_the_nearest_one(void **state) {
  (void)state;
  put_all(right_body, right_reference);
  static const struct {
    const char *arguments, *words;
  } rows[] = {
      {"twicce", "kgen run: there is no kernel 'twicce'; did you mean 'twice'?\n"},
      {"twice gian=1", "twice has no type, dim, constant or scalar 'gian'; did you mean 'gain'?\n"},
      {"twice sideways=1",
       "twice has no type, dim, constant or scalar 'sideways'; it has T, n, THREADS, gain\n"},
      {"twice T=f61", "type T of twice is one of f32, bf16; not 'f61'\n"},
      {"twice n=-1", "dim n of twice is a whole number from 0 to 4294967295; not '-1'\n"},
      {"twice n=many", "not 'many'\n"},
      {"twice THREADS=32",
       "constant THREADS of twice is fixed by the specification, at 64; not '32'\n"},
      {"twice gain=strong", "scalar gain of twice is a number of f32; not 'strong'\n"},
      {"twice n", "'n' is not NAME=VALUE\n"},
      {"twice --seed x", "--seed takes a whole number; not 'x'\n"},
      {"twice --repeat 0", "--repeat takes a number from 1 to 1000000; not '0'\n"},
      {"twice --device abacus", "abacus"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(kgen("%s", rows[i].arguments), 2);
    says(rows[i].words);
  }
}

static void a_scalar_stays_between_its_declared_ends(void **state) {
  (void)state;
  put_all(right_body, right_reference);
  const char *at = strstr(spec_text, "\"gain\", \"f32\"") + strlen("\"gain\", \"f32\"");
  char text[sizeof spec_text + 64];
  snprintf(text, sizeof text, "%.*s, min = 0.5%s", (int)(at - spec_text), spec_text, at);
  put("kernels.lua", text);
  static const char *const wrong[] = {"0", "nan", "inf"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(kgen("twice gain=%s", wrong[i]), 2);
    says("scalar gain of twice is a number of f32 from 0.5 to 3.40282347e+38; not '");
  }
}

static void an_absent_port_is_refused_with_its_reason(void **state) {
  (void)state;
  if (no_clang()) skip();
  put_all(right_body, right_reference);
  assert_int_equal(kgen("twice --device simt32/cuda"), 1);
  says("no port");
  says("tried without");
  says("multiply");
}

static void data_that_no_memory_holds_is_refused_before_it_is_made(void **state) {
  (void)state;
  put_all(right_body, right_reference);
  assert_int_equal(kgen("twice n=4000000000 --device simt32"), 1);
  says("the data would take more than 4 GiB");
}

/* ---- data ----------------------------------------------------------------------------------- */

static Library *load(Arena *a, const LibraryOptions *o) {
  Diags *d = diags_new(a);
  Library *l = library_make(a, o, d);
  if (!l) diags_print(d, stderr, false);
  assert_non_null(l);
  return l;
}

static void made_up_data_are_standard_normals_and_depend_on_seed_and_place_alone(void **state) {
  (void)state;
  put_all(right_body, right_reference);
  Arena *a = arena_new();
  const LibraryOptions o = {.spec = arena_printf(a, "%s/kernels.lua", folder),
                            .templates = "templates"};
  const Library *l = load(a, &o);
  const Kernel *k = l->spec->kernels[0];
  References *refs = references_open(a, l->spec, "templates");
  const char *why = NULL;
  Case c = k->cases[0];
  const kg_dtype f32[] = {KG_F32};
  const kg_instance instance = case_instance(k, &c, f32);
  c.values[0] = 100000;
  const TrialData *large = trial_data(a, k, &instance, &c, reference_of(refs, k), 1, &why);
  c.values[0] = 10;
  const TrialData *small = trial_data(a, k, &instance, &c, reference_of(refs, k), 1, &why);
  const TrialData *other = trial_data(a, k, &instance, &c, reference_of(refs, k), 2, &why);
  assert_true(large && small && other);
  const double *x = large->want.tensors[0].real;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < 100000; i++)
    sum += x[i], squares += x[i] * x[i], fourths += x[i] * x[i] * x[i] * x[i];
  assert_true(fabs(sum / 1e5) < 0.02); /* six standard deviations */
  assert_true(fabs(squares / 1e5 - 1) < 0.03);
  assert_true(fabs(fourths / 1e5 - 3) < 0.2);
  assert_memory_equal(small->want.tensors[0].real, x, 10 * sizeof *x);
  assert_memory_not_equal(other->want.tensors[0].real, x, 10 * sizeof *x);
  references_close(refs);
  arena_free(a);
}

int main(void) {
#define MADE(test) cmocka_unit_test_setup_teardown(test, make, unmake)
  const struct CMUnitTest tests[] = {
      MADE(equal_outputs_are_right_with_no_error),
      MADE(an_error_is_normalised_by_what_is_wanted),
      MADE(an_rms_error_over_the_tolerance_names_the_worst_element),
      MADE(a_largest_error_over_the_tolerance_is_named_though_the_rms_is_fine),
      MADE(a_nan_where_none_is_wanted_is_wrong_whatever_the_tolerance),
      MADE(a_nan_that_is_wanted_must_be_there),
      MADE(an_infinity_must_have_its_sign),
      MADE(tolerance_zero_means_every_bit),
      MADE(integers_are_compared_exactly_whatever_the_tolerance),
      MADE(an_element_nobody_wrote_is_found_in_every_dtype),
      MADE(an_error_where_only_zeros_are_wanted_is_infinite),
      MADE(an_outputs_own_tolerance_goes_before_its_dtypes),
      MADE(a_judge_decides_in_place_of_tolerances),
      MADE(a_judge_does_not_excuse_an_element_nobody_wrote),
      MADE(a_row_is_held_against_itself),
      MADE(what_single_precision_loses_is_no_fault),
      MADE(a_wider_nudge_tells_rounding_from_another_element),
      MADE(where_neither_precision_has_a_number_either_will_do),
      MADE(neighbours_where_rounding_changes_nothing_are_a_fault),
      MADE(in_extremes_an_overflow_of_single_precision_is_no_fault),
      MADE(an_element_that_is_left_open_may_be_anything),
      cmocka_unit_test(every_pattern_of_a_dtype_survives_the_way_out_and_back),
      cmocka_unit_test(signed_integers_keep_their_sign),
      cmocka_unit_test(a_right_kernel_is_right_on_every_device),
      cmocka_unit_test(no_elements_are_no_fault),
      cmocka_unit_test(each_planted_fault_is_found_and_named),
      cmocka_unit_test(a_reference_that_does_not_compile_shows_the_compilers_words),
      cmocka_unit_test(a_reference_that_rounds_two_neighbours_rounds_them),
      cmocka_unit_test(a_reference_without_its_function_is_named),
      cmocka_unit_test(a_reference_that_faults_is_named_with_its_line),
      cmocka_unit_test(a_requirement_that_does_not_hold_is_refused_before_the_data_are_made),
      cmocka_unit_test(a_kernel_without_a_reference_says_so),
      cmocka_unit_test(a_fill_makes_inputs_and_scalars_and_both_sides_see_them_rounded),
      cmocka_unit_test(what_is_asked_for_by_a_wrong_name_gets_the_nearest_one),
      cmocka_unit_test(a_scalar_stays_between_its_declared_ends),
      cmocka_unit_test(an_absent_port_is_refused_with_its_reason),
      cmocka_unit_test(data_that_no_memory_holds_is_refused_before_it_is_made),
      cmocka_unit_test(made_up_data_are_standard_normals_and_depend_on_seed_and_place_alone),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

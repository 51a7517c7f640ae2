/* test_objects.c: what verify's compile stage sees without running anything: instructions that no
** word of a text allows, what a text and its options must say, the guard under the macros of
** compilers that are not here; and how a run ends that was stopped, or had not everything.
**
** Every check is shown by a text, a listing or a table that has the fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "verify/objects.h"
#include "verify_fixture.h"

/* ---- listings -------------------------------------------------------------------------------- */

enum { MAX_LINES = 8 };

/* The faults of a listing whose lines are separated by '\n', as text: a line each. */
static const char *faults_of(const char *text, const char *listing, int mode, uint32_t scratch) {
  CodeLine lines[MAX_LINES];
  Code code = {.mode = mode, .lines = lines};
  char *rest = NULL, *copy = arena_strdup(a, listing);
  for (char *line = strtok_r(copy, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
    lines[code.count++] = (CodeLine){16, 8, line};
  const ObjectText o = {text, &code, scratch};
  int count;
  const ObjectFault *faults = object_faults(a, &o, &count);
  const char *all = "";
  for (int i = 0; i < count; i++)
    all = arena_printf(a, "%s%s (%s)\n", all, faults[i].what, faults[i].where);
  return all;
}

/* A listing that a text with these words explains, and the words of the fault without them. */
static const struct {
  const char *listing, *text, *fault;
} listings[] = {
    {"v_fma_f32 v0, v1, v2, v3", "y = fmaf(a, b, c);", "fused"},
    {"v_dual_mul_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5", "fmaf(a, b, c)", "fused"},
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "fmaf(a, b, c)", "fused"},
    {"s_fmac_f32 s0, s1, s2", "sinf(x)", "fused"},
    {"v_rcp_f32_e32 v0, v1", "tanhf(x)", "approximate reciprocal"},
    {"v_exp_f32_e32 v0, v1", "__expf(x)", "approximate exponential"},
    {"v_s_exp_f32 s0, s1", "exp2f(x)", "approximate exponential"},
    {"v_log_f32_e32 v0, v1", "__logf(x)", "approximate logarithm"},
    {"v_mov_b32 v0, 0", "f32 own[4];", NULL},
    /* sequences explain as many as they have */
    {"v_rcp_f32_e32 v0, v1\nv_fma_f32 v0, v1, v2, v3\nv_div_fixup_f32 v0, v1, v2, v3", "a / b",
     NULL},
    {"v_exp_f32_e32 v0, v1\nv_ldexp_f32 v0, v0, v1\nv_fma_f32 v0, v1, v2, v3", "expf(x)", NULL},
    {"v_sqrt_f32_e32 v0, v1\nv_mul_f32_e32 v0, 0x37800000, v0", "sqrtf(x)", NULL},
};

static void what_a_word_or_a_sequence_explains_is_no_fault(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
    assert_string_equal(faults_of(listings[i].text, listings[i].listing, 0xf0, 0), "");
    if (listings[i].fault == NULL) continue;
    const char *told = faults_of("y = a + b; // fmaf __expf tanhf", listings[i].listing, 0xf0, 0);
    if (strstr(told, listings[i].fault) == NULL) fail_msg("%s: %s", listings[i].listing, told);
  }
}

static const struct {
  const char *listing, *fault;
} never[] = {
    {"v_fma_mixlo_f16 v0, v1, v2, 0 op_sel_hi:[0,1,0]", "where it is -0, +0 is stored"},
    {"v_fma_mixhi_f16 v0, v1, v2, 0", "where it is -0, +0 is stored"},
    {"v_mad_mixlo_f16 v0, v1, v2, 0", "where it is -0, +0 is stored"},
    {"v_mac_f32_e32 v0, v1, v2", "subnormal numbers for zero"},
    {"v_mad_f32 v0, v1, v2, v3", "subnormal numbers for zero"},
    {"v_mad_mix_f32 v0, v1, v2, v3", "subnormal numbers for zero"},
    {"v_cvt_pkrtz_f16_f32 v0, v1, v2", "towards zero"},
    {"v_cvt_pk_rtz_f16_f32_e32 v0, v1, v2", "towards zero"},
    {"v_dot2_f32_f16 v0, v1, v2, v3", "dot product"},
    {"v_dot2_f32_bf16 v0, v1, v2, v3", "dot product"},
    {"v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0", "dot product"},
    {"v_rsq_f32_e32 v0, v1", "1 / sqrt(x)"},
    {"v_sqrt_f32_e32 v0, v1", "approximate square root"},
    {"v_s_sqrt_f32 s0, s1", "approximate square root"},
    {"v_sin_f32_e32 v0, v1", "sine or cosine"},
    {"v_tanh_f32_e32 v0, v1", "hyperbolic"},
    {"s_denorm_mode 0", "rounding or subnormal"},
    {"s_round_mode 3", "rounding or subnormal"},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", "rounding or subnormal"},
    {"s_setreg_b32 hwreg(HW_REG_MODE), s0", "rounding or subnormal"},
    {"?", "disassembler"},
};

static void what_no_word_explains_is_a_fault_in_every_text(void **state) {
  (void)state;
  static const char text[] = "fmaf(a, b, c) + a / b + sqrtf(x) + __expf(x) + f16(a * b)";
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    const char *told = faults_of(text, never[i].listing, 0xf0, 0);
    if (strstr(told, never[i].fault) == NULL) fail_msg("%s: %s", never[i].listing, told);
  }
}

/* Their neighbours, which are as the text has them. */
static void instructions_of_like_names_are_no_faults(void **state) {
  (void)state;
  static const char *const good[] = {
      "v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]",
      "v_mad_i32_i24 v0, v1, v2, v3",
      "v_div_fmas_f32 v0, v1, v2, v3",
      "v_rcp_iflag_f32_e32 v0, v1",
      "v_cvt_pk_f16_f32 v0, v1, v2",
      "v_dot4_i32_i8 v0, v1, v2, v3",
      "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1",
      "v_cmp_class_f32_e64 vcc, v0, 0x260",
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    assert_string_equal(faults_of("y = a + b;", good[i], 0xf0, 0), "");
}

static void one_more_than_the_sequences_have_is_a_fault(void **state) {
  (void)state;
  static const char two[] = "v_div_fixup_f32 v0, v1, v2, v3\nv_rcp_f32_e32 v0, v1\n"
                            "v_rcp_f32_e32 v4, v5";
  assert_string_equal(faults_of("a / b", two, 0xf0, 0),
                      "an approximate reciprocal that no division makes exact (2 times, first at "
                      "byte 0x10: v_rcp_f32_e32 v0, v1)\n");
}

static void the_mode_and_the_scratch_of_a_launch_are_judged(void **state) {
  (void)state;
  static const char what[] = "rounding or subnormal numbers are not as the text has them: f32 and "
                             "f16 round to nearest and keep what is subnormal ";
  assert_string_equal(faults_of("a", "s_endpgm", 0xc0, 0),
                      arena_printf(a, "%s(its descriptor's FLOAT_MODE is 0xc0)\n", what));
  assert_string_equal(
      faults_of("__shared__ f32 s[4]; y[i] = x[i]; return a[i];", "s_endpgm", 0xf0, 16),
      "memory of a lane's own (scratch) is used, and the text has no private array "
      "(16 bytes a lane)\n");
  assert_string_equal(faults_of("f32 own[4];", "s_endpgm", 0xf0, 16), "");
}

/* ---- runs of kgen ---------------------------------------------------------------------------- */

static int copy_with_templates(void **state) {
  return copy_made(state) != 0 ? -1 : templates_copied();
}

static int verify(const char *options) {
  return shell("cd %s && %s verify -t own %s 2>&1", folder, kgen, options);
}

static void assert_said(const char *words) {
  if (strstr(said, words) == NULL) fail_msg("no \"%s\" in:\n%s", words, said);
}

/* A change of a backend's table, and what is found of it. */
typedef struct Change {
  const char *file, *from, *to, *words;
} Change;

static void try_changes(const char *options, const Change *changes, size_t count) {
  if (verify(options) != 0) fail_msg("%s", said);
  for (size_t i = 0; i < count; i++) {
    const Change *c = &changes[i];
    edit(c->file, c->from, c->to);
    const int status = verify(options);
    if (status != 1) fail_msg("nothing is found without \"%s\": %s", c->from, said);
    assert_said(c->words);
    shell("cp %s/templates/backends/* %s/own/backends/ 2>/dev/null", home, folder);
  }
}

#define BACKEND(name) "own/backends/" name ".lua"

static const Change losses[] = {
    {BACKEND("metal"), "mem_flags::mem_threadgroup | ", "",
     "a threadgroup_barrier has no mem_threadgroup"},
    {BACKEND("metal"), " | mem_flags::mem_device", "", "a threadgroup_barrier has no mem_device"},
    {BACKEND("metal"), "#pragma METAL fp contract(off)\n", "",
     "the text has no #pragma METAL fp contract(off)"},
    {BACKEND("metal"), "#pragma METAL fp math_mode(safe)\n", "",
     "the text has no #pragma METAL fp math_mode(safe)"},
    {BACKEND("metal"), "#pragma clang fp", "// #pragma clang fp",
     "the text has no #pragma clang fp contract(off)"},
    {BACKEND("metal"), "\"fastMathEnabled=NO\", ", "",
     "the list of compiler options has no fastMathEnabled=NO"},
    {BACKEND("metal"), "fastMathEnabled=NO", "fastMathEnabled=YES",
     "the option fastMathEnabled=YES is none that is known to leave the arithmetic as it is"},
    {BACKEND("metal"), ", \"languageVersion=3.1\"", "",
     "the list of compiler options has no languageVersion=3.1"},
    {BACKEND("metal"), "__METAL_VERSION__ < 310", "__METAL_VERSION__ < 300",
     "an older Metal must refuse it"},
    {BACKEND("metal"), "[[max_total_threads_per_threadgroup(${threads})]] ", "",
     "the text has no [[max_total_threads_per_threadgroup("},
    {BACKEND("metal"), "shared = 32768", "shared = 65536",
     "the backend's limit of bytes of shared memory is 65536, and every device of the platform "
     "has only 32768"},
    {BACKEND("metal"), "threads = 1024, buffers", "buffers",
     "the backend's limit of threads in a group is 0"},
    {BACKEND("cuda"), "\"--fmad=false\" }", "}",
     "the list of compiler options has no --fmad=false"},
    {BACKEND("cuda"), "\"--fmad=false\"", "\"--fmad=false\", \"--use_fast_math\"",
     "the option --use_fast_math is none"},
    {BACKEND("cuda"), "65535, 65535 }", "65536, 65535 }", "groups on axis y is 65536"},
    {BACKEND("base_cuda"), " __launch_bounds__(${threads})", "",
     "row_sum, the cuda text\n  at required\n  the text has no __launch_bounds__("},
    {BACKEND("hip"), "#pragma clang fp contract(off)", "",
     "row_sum, the hip text\n  at required\n  the text has no #pragma clang fp contract(off)"},
    {BACKEND("hip"), ", \"-ffp-contract=off\"", "",
     "the list of compiler options has no -ffp-contract=off"},
    {BACKEND("hip"), "\"-O3\", ", "", "the list of compiler options has no -O3"},
    {BACKEND("hip"), "\"-O3\"", "\"-O3\", \"-fgpu-approx-transcendentals\"",
     "the option -fgpu-approx-transcendentals is none"},
    {BACKEND("hip"), "  (void)__builtin_amdgcn_ballot_w32(true);", " ",
     "-mwavefrontsize64 must be refused"},
};

static void whatever_a_text_or_its_options_lose_is_found_without_their_compiler(void **state) {
  (void)state;
  try_changes("--only compile --with required", losses, sizeof losses / sizeof *losses);
}

static const Change guards[] = {
    {BACKEND("hip"), "#if KG_DEVICE_WAVE != KG_WAVE", "#if 0",
     "an instance for 32 lanes is let through, by the macros of a compiler for the other width"},
    {BACKEND("hip"), " || defined(__GFX12__)\n", "\n",
     "guard, __GFX12__ 1\n  an instance for 32 lanes is refused for a target of 32: \"kgen: "
     "row_sum: the wavefront width of this target is unknown\""},
    {BACKEND("hip"), "#elif defined(__GFX8__) || defined(__GFX9__) //",
     "#elif defined(__GFX8__) || defined(__GFX9__) || defined(__GFX12__) //",
     "guard, __GFX12__ 1\n  an instance for 64 lanes is let through"},
    {BACKEND("hip"), "#elif defined(__AMDGCN_WAVEFRONT_SIZE) //", "#elif 0 //",
     "guard, __GFX10__ 1, __AMDGCN_WAVEFRONT_SIZE 64\n"},
    {BACKEND("hip"), "#if defined(__AMDGCN_WAVEFRONT_SIZE__) //", "#if 0 //",
     "guard, __GFX10__ 1, __AMDGCN_WAVEFRONT_SIZE__ 64\n"},
    {BACKEND("hip"), "#  error \"kgen: ${kernel}: the wavefront width of this target is unknown\"",
     "#  define KG_DEVICE_WAVE 32", "by the macros of a compiler whose width nobody knows"},
    {BACKEND("hip"), "#if defined(__FAST_MATH__)", "#if 0",
     "by the macros of a compiler that is told to be fast instead of exact"},
    {BACKEND("hip"), "\"kgen: ${kernel}: this instance is for another",
     "\"this instance is for another",
     "an instance is refused, but not by the guard, which names the kernel"},
};

static void the_guard_is_judged_under_the_macros_of_compilers_that_are_not_here(void **state) {
  (void)state;
  if (verify("--only compile --with guard") != 0 && strstr(said, "not run: ") != NULL) {
    print_message("skipped, it needs clang: %s\n", said);
    skip();
  }
  try_changes("--only compile --with guard", guards, sizeof guards / sizeof *guards);
}

/* The kernel of the README, stored as f16: x = 0 and scale = -3 are -0. */
static void a_product_that_loses_the_sign_of_zero_is_found_in_the_code(void **state) {
  (void)state;
  static const char spec[] =
      "kernel \"scale\" {\n"
      "  summary = \"y = x * scale.\", types = { { \"T\", { f16 } } }, dims = { \"n\" },\n"
      "  inputs = { { \"x\", \"T\", { \"n\" } } }, scalars = { { \"scale\", \"f32\" } },\n"
      "  outputs = { { \"y\", \"T\", { \"n\" } } }, consts = { { \"THREADS\", 256 } },\n"
      "  launch = { groups = { ceil_div(dim.n, const.THREADS), 1, 1 },\n"
      "             threads = { const.THREADS, 1, 1 } },\n"
      "  wave = any, ports = { metal = absent \"x\", cuda = absent \"x\", hip = {} },\n"
      "  numerics = { accumulate = f32, tolerance = { f16 = 1e-3 } }, fallback = \"x\",\n"
      "  body = \"scale.kc\",\n"
      "}\n";
  static const char body[] = "const u32 i = group_x * THREADS + thread;\n"
                             "if (i >= n) return;\n"
                             "y[i] = T(f32(x[i]) * scale);\n";
  static const char options[] = "--only compile --with hiprtc-7.2 --target gfx942,gfx1151";
  const char *const texts[][2] = {{"kernels.lua", spec}, {"scale.kc", body}};
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(arena_printf(a, "%s/%s", folder, texts[i][0]), "w");
    assert_non_null(f);
    fputs(texts[i][1], f);
    fclose(f);
  }
  const int clean = verify(options);
  if (strstr(said, "not run: ") != NULL) {
    print_message("skipped, it needs hipRTC 7.2: %s\n", said);
    skip();
  }
  if (clean != 0) fail_msg("%s", said);
  edit(BACKEND("hip"), "    asm(\"\" : \"+v\"(x));\n", "");
  assert_int_equal(verify(options), 1);
  assert_said("compile: scale, the hip text\n  at custom_kernel_scale_float16, gfx942, hiprtc-7.2, "
              "1 time, first at byte 0x");
  assert_said("a product is rounded to 16 bits as fma(a, b, +0): where it is -0, +0 is stored");
}

static void what_was_not_tried_stands_in_the_last_line(void **state) {
  (void)state;
  assert_int_equal(verify("--only compile --roots /nowhere"), 0);
  assert_said(": no findings; not tried: ");
  assert_said("hiprtc-5.7, hiprtc-6.4, hiprtc-7.2");
  assert_said("; no compiler here for ");
  assert_said("gfx1201, gfx1250");
  assert_string_equal(strchr(strstr(said, "; not tried: "), '\n'), "\n");
  assert_int_equal(verify("--only compile --roots /nowhere --json"), 0);
  assert_said("\"targets_not_tried\": [");
}

static void a_run_that_is_stopped_says_what_it_has_and_leaves_no_folder(void **state) {
  (void)state;
  const char *tmp = arena_printf(a, "%s/tmp", folder), *out = arena_printf(a, "%s/out", folder);
  edit("row_sum.kc", "const u32 row = group_x;",
       "const u32 row = group_x;\nfor (u32 i = 0; row < i + 7; i += 0) {}");
  assert_int_equal(shell("mkdir %s", tmp), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGINT, SIG_DFL);
    setenv("TMPDIR", tmp, 1);
    if (chdir(folder) != 0 || freopen(out, "w", stdout) == NULL) _exit(3);
    dup2(1, 2);
    execl(kgen, kgen, "verify", "-t", "own", "--only", "run", "-j", "1", (char *)NULL);
    _exit(3);
  }
  /* its folder is there as soon as it can be stopped */
  const double deadline = kg_child_clock() + 60;
  while (shell("ls %s | grep kgen-verify", tmp) != 0 && kg_child_clock() < deadline) usleep(10000);
  int status;
  kill(pid, SIGINT);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  shell("ls -A %s", tmp);
  assert_string_equal(said, "");
  shell("cat %s", out);
  assert_said("; stopped by signal 2 (Interrupt)");
}

/* ---- all ------------------------------------------------------------------------------------- */

#define test(function) cmocka_unit_test_setup(function, copy_with_templates)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_word_or_a_sequence_explains_is_no_fault),
      cmocka_unit_test(what_no_word_explains_is_a_fault_in_every_text),
      cmocka_unit_test(instructions_of_like_names_are_no_faults),
      cmocka_unit_test(one_more_than_the_sequences_have_is_a_fault),
      cmocka_unit_test(the_mode_and_the_scratch_of_a_launch_are_judged),
      test(whatever_a_text_or_its_options_lose_is_found_without_their_compiler),
      test(the_guard_is_judged_under_the_macros_of_compilers_that_are_not_here),
      test(a_product_that_loses_the_sign_of_zero_is_found_in_the_code),
      test(what_was_not_tried_stands_in_the_last_line),
      test(a_run_that_is_stopped_says_what_it_has_and_leaves_no_folder),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}

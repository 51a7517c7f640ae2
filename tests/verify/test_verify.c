/* test_verify.c: `kgen verify` says nothing of a right kernel, and finds each planted fault with the tool that is meant for it.
**
** Runs the kgen that $KGEN names, or .build/kgen, on copies of tests/verify. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "passes.h"
#include "verify_fixture.h"

static const char body[] = "row_sum.kc";

/* ---- running -------------------------------------------------------------------------------- */

/* Neither the time nor what is not here. */
static void leave_out_time(char *text) {
  char *missing = strstr(text, "; not tried: ");
  if (missing != NULL) memmove(missing, strchr(missing, '\n'), strlen(strchr(missing, '\n')) + 1);
  char *at = NULL;
  for (char *s = text; (s = strstr(s, " in ")) != NULL; s++)
    if (s[4] >= '0' && s[4] <= '9') at = s;
  char *end = at == NULL ? NULL : strstr(at, " s: ");
  if (end != NULL) memmove(at, end + 2, strlen(end + 2) + 1);
}

/* ", 297 runs of made cases" is left out: how many there are is not what these tests are of. */
static void leave_out_made(char *text) {
  char *end = strstr(text, " runs of made cases"), *at = end;
  while (at != NULL && at > text && *at != ',') at--;
  if (end != NULL) end += strlen(" runs of made cases"), memmove(at, end, strlen(end) + 1);
}

/* No hipRTC but the system's is asked: texts must not depend on the roots that are here. */
static int verify(const char *options) {
  const int status =
      shell("cd %s && KGEN_TEMPLATES=${T:-%s/templates} KGEN_ROCM=/nowhere %s verify %s 2>&1",
            folder, home, kgen, options);
  leave_out_time(said);
  leave_out_made(said);
  return status;
}

/* What stands after the list of tools: the rows and what follows, or the findings. */
static const char *after_tools(void) {
  const char *at = strstr(said, "\n\n");
  return at != NULL ? at + 2 : said;
}

static const char *findings(const char *first) {
  const char *at = strstr(said, first);
  if (at == NULL) fail_msg("no \"%s\" in:\n%s", first, said);
  return at;
}

static bool is_missing(const char *tool) {
  const char *at = strstr(said, tool);
  if (at == NULL || strstr(at, "not run: ") == NULL) return at == NULL;
  const char *end = strchr(at, '\n'), *word = strstr(at, "not run: ");
  if (end == NULL || word > end) return false;
  print_message("%.*s\n", (int)(end - at), at);
  return true;
}

/* "clang 19.1.7" becomes "clang". */
static void edit_version(void) {
  char *at = strstr(said, "\"clang ");
  assert_non_null(at);
  char *end = strchr(at + 1, '"');
  memmove(at + 6, end, strlen(end) + 1);
}

/* ---- the copy and its faults ---------------------------------------------------------------- */

static int copy_without_templates(void **state) {
  unsetenv("T");
  return copy_made(state);
}

static void own_templates(void) {
  assert_int_equal(templates_copied(), 0);
  setenv("T", "own", 1);
}

/* ---- a right kernel ------------------------------------------------------------------------- */

static void of_a_right_kernel_nothing_is_said(void **state) {
  (void)state;
  assert_int_equal(verify("--only run,sanitize"), 0);
  assert_string_equal(
      after_tools(),
      "instance          port   run at         worst error       bits   sanitized at\n"
      "row_sum_float32   metal  simt32         9.1e-08 of 1e-05  first  simt32\n"
      "row_sum_bfloat16  metal  simt32         0 of 0.008        first  simt32\n"
      "row_sum_float32   cuda   simt32         9.1e-08 of 1e-05  same   simt32\n"
      "row_sum_bfloat16  cuda   simt32         0 of 0.008        same   simt32\n"
      "row_sum_float32   hip    simt32 simt64  9.1e-08 of 1e-05  same   simt32 simt64\n"
      "row_sum_bfloat16  hip    simt32 simt64  0 of 0.008        same   simt32 simt64\n"
      "\n"
      "6 rows, 16 runs, 16 sanitized runs: no findings\n");
}

static void the_number_of_threads_changes_no_line_of_a_report(void **state) {
  (void)state;
  edit(body, "i < D; i +=", "i + 1 < D; i +=");
  assert_int_equal(verify("--only run -j 1"), 1);
  const char *one = said;
  assert_int_equal(verify("--only run -j 7"), 1);
  assert_string_equal(said, one);
}

static void a_report_as_json_has_the_tools_the_rows_and_the_findings(void **state) {
  (void)state;
  edit("kernels.lua", "metal = {}, cuda = {}, hip = {}",
       "metal = {}, cuda = absent \"x\", hip = absent \"x\"");
  edit("kernels.lua", "{ f32, bf16 }", "{ f32 }");
  edit("kernels.lua", ", bf16 = 8e-3", "");
  edit("kernels.lua", "{ rows = 3, D = 500 }, ", "");
  edit(body, "T(all)", "T(all + 1.0f)");
  assert_int_equal(verify("--only run --json"), 1);
  edit_version();
  assert_string_equal(
      findings("  \"compilations\""),
      "  \"compilations\": 0,\n"
      "  \"refusals\": 0,\n"
      "  \"runs\": 1,\n"
      "  \"sanitized_runs\": 0,\n"
      "  \"versions\": [\n"
      "    {\"name\": \"simt32/metal\", \"stage\": \"run\", \"backend\": \"metal\", \"version\": "
      "\"clang\", \"not_run\": null, \"targets\": []}\n"
      "  ],\n"
      "  \"stopped_by_signal\": 0,\n"
      "  \"targets_not_tried\": [],\n"
      "  \"rows\": [\n"
      "    {\"kernel\": \"row_sum\", \"port\": \"metal\", \"native\": false, \"instance\": "
      "\"custom_kernel_row_sum_float32\", \"ran\": [{\"at\": \"simt32/metal\", \"cases\": 1, "
      "\"right\": 0}], \"worst_error\": 1.3088362902047284, \"tolerance\": 1e-05, \"bits\": "
      "\"first\"}\n"
      "  ],\n"
      "  \"findings\": [\n"
      "    {\n"
      "      \"stage\": \"run\",\n"
      "      \"kernel\": \"row_sum\",\n"
      "      \"port\": \"metal\",\n"
      "      \"text\": \"y: rms error 2.54 is over the tolerance 1e-05; the worst element: [1] is "
      "1.39415336, expected 0.394153327\",\n"
      "      \"places\": [\n"
      "        {\"instance\": \"custom_kernel_row_sum_float32\", \"tool\": \"simt32/metal\", "
      "\"target\": null, \"case\": \"case 1 (rows = 2, D = 1)\"}\n"
      "      ]\n"
      "    }\n"
      "  ],\n"
      "  \"remarks\": []\n"
      "}\n");
}

/* ---- static --------------------------------------------------------------------------------- */

static void a_body_that_does_not_read_is_the_only_finding(void **state) {
  (void)state;
  edit(body, "WAVE / 2; step", "16; step");
  assert_int_equal(verify(""), 1);
  assert_string_equal(
      said, "\n"
            "static:\n"
            "  row_sum.kc:6:17: error E140: 16 stands for the wavefront's width here\n"
            "    for (u32 step = 16; step > 0; step /= 2) sum += shuffle_xor(sum, step);\n"
            "                    ^\n"
            "    note: write WAVE / 2; a number that means something else gets a name among the "
            "specification's consts\n"
            "\n"
            "nothing was compiled or run: 1 finding comes first\n");
}

/* ---- compile -------------------------------------------------------------------------------- */

static void a_guard_that_lets_the_wrong_width_through_is_found_by_the_compiler(void **state) {
  (void)state;
  own_templates();
  const int clean = verify("--only compile --with hiprtc --target gfx90a,gfx1030");
  if (is_missing("hiprtc ")) skip();
  assert_int_equal(clean, 0);
  edit("own/backends/hip.lua", "#if KG_DEVICE_WAVE != KG_WAVE", "#if 0");
  assert_int_equal(verify("--only compile --with hiprtc --target gfx90a,gfx1030"), 1);
  assert_string_equal(
      findings("compile: "),
      "compile: row_sum, the hip text\n"
      "  at custom_kernel_row_sum_float32, gfx90a, hiprtc\n"
      "  the text's guard lets an instance for 32 lanes through, and the target has 64\n"
      "\n"
      "compile: row_sum, the hip text\n"
      "  at custom_kernel_row_sum_float32, gfx1030, hiprtc\n"
      "  the text's guard lets an instance for 64 lanes through, and the target has 32\n"
      "\n"
      "6 rows, 4 compilations, 2 refusals asked for: 2 findings\n");
}

static void a_word_that_a_backend_does_not_have_is_found_at_its_body_line(void **state) {
  (void)state;
  own_templates();
  edit("own/backends/metal.lua", "barrier = \"", "barrier = \"no_");
  assert_int_equal(verify("--only compile --target metal3.1"), 1);
  if (is_missing("clang-metal ")) skip();
  assert_string_equal(findings("compile: "),
                      "compile: row_sum, the metal text\n"
                      "  at custom_kernel_row_sum_float32, metal3.1, clang-metal\n"
                      "  and custom_kernel_row_sum_bfloat16, metal3.1, clang-metal\n"
                      "  row_sum.kc:8:1: error: use of undeclared identifier 'no_kg_barrier'\n"
                      "      8 |   no_kg_barrier();\n"
                      "        |   ^\n"
                      "  1 error generated.\n"
                      "\n"
                      "6 rows, 2 compilations, 1 refusal asked for: 1 finding\n");
}

static void a_target_that_no_compiler_knows_is_a_finding(void **state) {
  (void)state;
  assert_int_equal(verify("--only compile --target gfx9999"), 1);
  assert_string_equal(findings("compile:"),
                      "compile:\n"
                      "  no compiler that is here knows the target \"gfx9999\"\n"
                      "\n"
                      "6 rows, 0 compilations, 0 refusals asked for: 1 finding\n");
}

static void a_compiler_that_is_required_and_not_there_is_a_finding(void **state) {
  (void)state;
  assert_int_equal(verify("--only compile --target none --require hiprtc-7.2,simt32"), 1);
  assert_string_equal(
      findings("compile:\n"),
      "compile:\n"
      "  no compiler that is here knows the target \"none\"\n"
      "\n"
      "compile:\n"
      "  at hiprtc-7.2\n"
      "  it is required, and there is no /nowhere/7.2; `sh gen/rocm-root 7.2 /nowhere` makes it\n"
      "\n"
      "6 rows, 0 compilations, 0 refusals asked for: 2 findings\n");
  assert_int_equal(verify("--only static --require all"), 1);
  assert_string_equal(
      said, "ledger  not run: there is no generated/ledger.json; `kgen ledger` makes it\n"
            "cc      cc, for kernels.c; 78 calls of its launchers\n"
            "\n"
            "instance          port\n"
            "row_sum_float32   metal\n"
            "row_sum_bfloat16  metal\n"
            "row_sum_float32   cuda\n"
            "row_sum_bfloat16  cuda\n"
            "row_sum_float32   hip\n"
            "row_sum_bfloat16  hip\n"
            "\n"
            "static:\n"
            "  at ledger\n"
            "  it is required, and there is no generated/ledger.json; `kgen ledger` makes it\n"
            "\n"
            "6 rows: 1 finding\n");
  assert_int_equal(verify("--only static"), 0);
}

/* The C in the output folder is looked at when it is not what kgen would write. */
static void a_fault_in_the_folder_s_own_c_is_found(void **state) {
  (void)state;
  static const char right[] = "_Static_assert(sizeof(void *) == 8, \"the device";
  assert_int_equal(shell("cd %s && KGEN_TEMPLATES=%s/templates %s -q", folder, home, kgen), 0);
  assert_int_equal(verify("--only static"), 0);
  edit("generated/kernels.c", right, "/* edited, and as right as it was */\n_Static_assert(8, \"");
  assert_int_equal(verify("--only static"), 0);
  edit("generated/kernels.c", "row_sum_dims[] = {\"rows\", \"D\"}",
       "row_sum_dims[] = {\"D\", \"rows\"}");
  assert_int_equal(verify("--only static"), 1);
  assert_string_equal(
      findings("static: row_sum\n"),
      "static: row_sum\n"
      "  at cc, generated/kernels.c\n"
      "  kernels.c: dim 0 is \"D\", and by the specification \"rows\"\n"
      "\n"
      "static: row_sum\n"
      "  at cc, generated/kernels.c\n"
      "  kernels.c: dim 1 is \"rows\", and by the specification \"D\"\n"
      "\n"
      "static: row_sum\n"
      "  at cc, generated/kernels.c\n"
      "  kernels.c: row_sum_launch, on a metal device of 32 lanes, answers \"row_sum: "
      "y has 3 on axis 0, but D is 4 by axis 0 of x; the two must be equal\", and by "
      "the specification \"row_sum: y has 3 on axis 0, but rows is 4 by axis 0 of x; "
      "the two must be equal\"\n"
      "\n"
      "6 rows: 3 findings\n");
}

static void with_leaves_out_all_others_and_requires_what_it_names(void **state) {
  (void)state;
  assert_int_equal(verify("--only run --own --with simt64"), 0);
  assert_string_equal(after_tools(), "instance          port   run at  worst error       bits\n"
                                     "row_sum_float32   metal  -       -                 -\n"
                                     "row_sum_bfloat16  metal  -       -                 -\n"
                                     "row_sum_float32   cuda   -       -                 -\n"
                                     "row_sum_bfloat16  cuda   -       -                 -\n"
                                     "row_sum_float32   hip    simt64  7.4e-08 of 1e-05  -\n"
                                     "row_sum_bfloat16  hip    simt64  0 of 0.008        -\n"
                                     "\n"
                                     "6 rows, 4 runs: no findings\n");
  assert_int_equal(verify("--only compile,run --with hiprtc-7.2,simt32+check,simt32"), 1);
  assert_string_equal(
      findings("static:\n"),
      "static:\n"
      "  at simt32+check\n"
      "  --with asks for it, and nothing is put to it: no kernel here has a text for it, or --only "
      "leaves its stage out\n"
      "\n"
      "compile:\n"
      "  at hiprtc-7.2\n"
      "  it is required, and there is no /nowhere/7.2; `sh gen/rocm-root 7.2 /nowhere` makes it\n"
      "\n"
      "6 rows, 0 compilations, 0 refusals asked for, 4 runs: 2 findings\n");
}

/* ---- run ------------------------------------------------------------------------------------ */

static void a_fold_that_starts_at_16_is_found_by_the_run_at_64_lanes_alone(void **state) {
  (void)state;
  edit("kernels.lua", "  fallback", "  allow = { E140 = \"planted\" },\n  fallback");
  edit(body, "WAVE / 2; step", "16; step");
  assert_int_equal(verify("--only run"), 1);
  assert_string_equal(after_tools(),
                      "instance          port   run at                  worst error       bits\n"
                      "row_sum_float32   metal  simt32                  9.1e-08 of 1e-05  first\n"
                      "row_sum_bfloat16  metal  simt32                  0 of 0.008        first\n"
                      "row_sum_float32   cuda   simt32                  9.1e-08 of 1e-05  same\n"
                      "row_sum_bfloat16  cuda   simt32                  0 of 0.008        same\n"
                      "row_sum_float32   hip    simt32 simt64 (1 of 2)  0.33 of 1e-05     same\n"
                      "row_sum_bfloat16  hip    simt32 simt64 (1 of 2)  0.33 of 0.008     same\n"
                      "\n"
                      "run: row_sum, the hip text\n"
                      "  at custom_kernel_row_sum_float32, simt64, case 1 (rows = 3, D = 500)\n"
                      "  y: rms error 0.459 is over the tolerance 1e-05; the worst element: [1] is "
                      "12.1255836, expected 22.4129639\n"
                      "\n"
                      "run: row_sum, the hip text\n"
                      "  at custom_kernel_row_sum_bfloat16, simt64, case 1 (rows = 3, D = 500)\n"
                      "  y: rms error 0.461 is over the tolerance 0.008; the worst element: [1] is "
                      "12.125, expected 22.5\n"
                      "\n"
                      "6 rows, 16 runs: 2 findings\n");
}

static void an_output_that_nobody_writes_is_found_by_every_run(void **state) {
  (void)state;
  edit("kernels.lua", "{ f32, bf16 }", "{ f32 }");
  edit("kernels.lua", ", bf16 = 8e-3", "");
  edit(body, "if (thread == 0) y", "if (thread == 0 && row != 1) y");
  assert_int_equal(verify("--only run"), 1);
  assert_string_equal(
      findings("run: "),
      "run: row_sum, the metal text\n"
      "  at custom_kernel_row_sum_float32, simt32/metal, case 1 (rows = 3, D = 500)\n"
      "  y: 1 of 3 elements were never written, the first is [1]\n"
      "\n"
      "run: row_sum, the cuda text\n"
      "  at custom_kernel_row_sum_float32, simt32/cuda, case 1 (rows = 3, D = 500)\n"
      "  y: 1 of 3 elements were never written, the first is [1]\n"
      "\n"
      "run: row_sum, the hip text\n"
      "  at custom_kernel_row_sum_float32, simt32, case 1 (rows = 3, D = 500)\n"
      "  and custom_kernel_row_sum_float32, simt64, case 1 (rows = 3, D = 500)\n"
      "  y: 1 of 3 elements were never written, the first is [1]\n"
      "\n"
      "run: row_sum, the metal text\n"
      "  at custom_kernel_row_sum_float32, simt32/metal, case 2 (rows = 2, D = 1)\n"
      "  y: 1 of 2 elements were never written, the first is [1]\n"
      "\n"
      "run: row_sum, the cuda text\n"
      "  at custom_kernel_row_sum_float32, simt32/cuda, case 2 (rows = 2, D = 1)\n"
      "  y: 1 of 2 elements were never written, the first is [1]\n"
      "\n"
      "run: row_sum, the hip text\n"
      "  at custom_kernel_row_sum_float32, simt32, case 2 (rows = 2, D = 1)\n"
      "  and custom_kernel_row_sum_float32, simt64, case 2 (rows = 2, D = 1)\n"
      "  y: 1 of 2 elements were never written, the first is [1]\n"
      "\n"
      "3 rows, 8 runs: 6 findings\n");
}

/* Right within tolerance, but not the other texts' bits: a fault of a backend's table. */
static void a_text_that_gives_other_bits_is_a_finding(void **state) {
  (void)state;
  own_templates();
  edit("own/backends/cuda.lua", "__shfl_xor_sync(0xffffffffu, x, int(mask), int(WAVE))",
       "__shfl_xor_sync(0xffffffffu, x, int(mask), int(WAVE)) * 1.0000002f");
  edit("kernels.lua", "{ f32, bf16 }", "{ f32 }");
  edit("kernels.lua", ", bf16 = 8e-3", "");
  assert_int_equal(verify("--only run"), 1);
  assert_string_equal(
      after_tools(), "instance         port   run at         worst error       bits\n"
                     "row_sum_float32  metal  simt32         9.1e-08 of 1e-05  first\n"
                     "row_sum_float32  cuda   simt32         7.7e-07 of 1e-05  DIFFER\n"
                     "row_sum_float32  hip    simt32 simt64  9.1e-08 of 1e-05  same\n"
                     "\n"
                     "run: row_sum, the cuda text\n"
                     "  at custom_kernel_row_sum_float32, simt32/cuda, case 1 (rows = 3, D = 500)\n"
                     "  y: 3 of 3 elements have other bits in the cuda text than in the metal "
                     "text, the first is [0]: -16.5653152 "
                     "(0xc18485c4), and -16.5653076 (0xc18485c0)\n"
                     "\n"
                     "3 rows, 8 runs: 1 finding\n");
}

/* Fewer threads sum in another order. */
static void other_bits_of_a_port_that_says_why_are_excused(void **state) {
  (void)state;
  edit("kernels.lua", "cuda = {}",
       "cuda = { define = { THREADS = 64 }, why = \"fewer are faster\" }");
  assert_int_equal(verify("--only run"), 0);
  assert_string_equal(after_tools(),
                      "instance          port   run at         worst error       bits\n"
                      "row_sum_float32   metal  simt32         9.1e-08 of 1e-05  first\n"
                      "row_sum_bfloat16  metal  simt32         0 of 0.008        first\n"
                      "row_sum_float32   cuda   simt32         9.1e-08 of 1e-05  differ: said why\n"
                      "row_sum_bfloat16  cuda   simt32         0 of 0.008        same\n"
                      "row_sum_float32   hip    simt32 simt64  9.1e-08 of 1e-05  same\n"
                      "row_sum_bfloat16  hip    simt32 simt64  0 of 0.008        same\n"
                      "\n"
                      "6 rows, 16 runs: no findings\n");
}

static void an_instance_that_no_case_runs_is_a_finding(void **state) {
  (void)state;
  edit("kernels.lua", "{ \"THREADS\", 128 }", "{ \"TWICE\", bool }, { \"THREADS\", 128 }");
  edit("kernels.lua", "{ f32, bf16 }", "{ f32 }");
  edit("kernels.lua", ", bf16 = 8e-3", "");
  edit(body, "T(all)", "T(TWICE ? all + all : all)");
  assert_int_equal(verify("--only run"), 1);
  assert_string_equal(
      findings("run: "),
      "run: row_sum\n"
      "  at custom_kernel_row_sum_float32_t\n"
      "  no case of the specification runs this instance; add one with its constants\n"
      "\n"
      "6 rows, 8 runs: 1 finding\n");
}

static void a_kernel_without_cases_is_a_finding(void **state) {
  (void)state;
  edit("kernels.lua", "cases = { { rows = 3, D = 500 }, { rows = 2, D = 1 } },", "");
  assert_int_equal(verify("--only run"), 1);
  assert_string_equal(findings("run: "), "run: row_sum\n"
                                         "  the specification has no case to run it with\n"
                                         "\n"
                                         "6 rows, 0 runs: 1 finding\n");
}

static void a_reference_that_does_not_compile_is_a_finding(void **state) {
  (void)state;
  edit("row_sum.ref.c", "double sum", "duble sum");
  assert_int_equal(verify("--only run"), 1);
  assert_non_null(strstr(findings("run: row_sum\n"), "duble"));
}

static void a_kernel_that_never_ends_is_a_finding(void **state) {
  (void)state;
  edit(body, "step /= 2", "step /= 1");
  setenv("KGEN_VERIFY_SECONDS", "4", 1);
  assert_int_equal(verify("--only run -j 1"), 1);
  unsetenv("KGEN_VERIFY_SECONDS");
  assert_string_equal(
      findings("run: "),
      "run: row_sum\n"
      "  at custom_kernel_row_sum_float32, case 1 (rows = 3, D = 500)\n"
      "  it has not ended after 4 seconds, and nothing after it was done; does a loop never end?\n"
      "\n"
      "6 rows, 0 runs: 1 finding\n");
}

/* D = 500 and D = 1 are right: neither has a remainder of 2. */
static void a_fault_that_no_case_shows_is_found_by_more_of_them(void **state) {
  (void)state;
  edit(body, "if (thread == 0) y", "if (D % 4 == 2) all += 1.0f;\nif (thread == 0) y");
  assert_int_equal(verify("--only run --own --with simt64"), 0);
  assert_int_equal(verify("--only run --own --with simt64 --more 10"), 1);
  const char *found = findings("run: row_sum, the hip text\n");
  assert_non_null(strstr(found, "a case made of case "));
  assert_null(strstr(found, "D = 500"));
  char *first = arena_strdup(a, found);
  assert_int_equal(verify("--only run --own --with simt64 --more 10 --seed 1"),
                   1); /* 1 is the default */
  assert_string_equal(findings("run: row_sum, the hip text\n"), first);
}

static void more_cases_of_a_right_kernel_are_right(void **state) {
  (void)state;
  assert_int_equal(verify("--only run,sanitize --own --more 5 --seed 3"), 0);
  assert_non_null(strstr(said, "56 runs, 56 sanitized runs"));
}

/* ---- made cases ------------------------------------------------------------------------------ */

/* The line that a finding gives for the specification's cases. */
static const char *made_case(void) {
  const char *at = strstr(said, "a made case: ");
  if (at == NULL) fail_msg("no made case in: %s", said);
  at += strlen("a made case: ");
  return arena_strndup(a, at, strcspn(at, "\n"));
}

/* Values, shapes and sums that neither of the two cases has; each is told as a case that shows it. */
static void what_no_case_shows_is_found_by_made_ones(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *shown_by;
  } faults[] = {
      {"sum += f32(x[u64(row) * D + i])", "sum += max(f32(x[u64(row) * D + i]), -1e30f)",
       "data = { x = "},
      {"i < D; i += THREADS", "i < min(D, 600u); i += THREADS", "D = "},
      {"const u32 row = group_x;", "const u32 row = group_x & 65535;", "rows = "},
      {"f32 all = 0;", "f32 all = D == 7 ? 1.0f : 0.0f;", "D = 7"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    copy_without_templates(state);
    edit(body, faults[i].from, faults[i].to);
    assert_int_equal(verify("--only run --with simt32"), 1);
    const char *line = made_case();
    if (strstr(line, faults[i].shown_by) == NULL) fail_msg("%s", line);
    /* among the cases it shows the same */
    edit("kernels.lua", "{ rows = 2, D = 1 }", line);
    assert_int_equal(verify("--only run --with simt32"), 1);
    assert_non_null(strstr(said, "case 2 ("));
  }
}

static void an_input_of_one_value_is_a_finding(void **state) {
  (void)state;
  edit("kernels.lua", "{ \"x\", \"T\", { \"rows\", \"D\" } }",
       "{ \"x\", \"T\", { \"rows\", \"D\" }, range = { 1, 1 } }");
  assert_int_equal(verify("--only run --with simt32"), 1);
  assert_non_null(strstr(said, "the input 'x' had one value in all its elements, in every run"));
}

static void a_filling_that_the_reference_does_not_know_is_a_finding(void **state) {
  (void)state;
  edit("kernels.lua", "{ rows = 2, D = 1 }", "{ rows = 2, D = 1, fill = \"specail\" }");
  assert_int_equal(verify("--only run --with simt32"), 1);
  assert_non_null(strstr(said, "row_sum.ref.c has no function `fill`"));
  edit("row_sum.ref.c", "void reference(",
       "void fill(ref_call *c, const char *how, uint64_t seed) {\n"
       "  (void)seed;\n"
       "  if (strcmp(how, \"special\") == 0) c->tensors[0].real[0] = 7;\n"
       "}\n"
       "void reference(");
  assert_int_equal(verify("--only run --with simt32"), 1);
  assert_non_null(strstr(said, "is 'specail' spelled as there?"));
  edit("kernels.lua", "specail", "special");
  assert_int_equal(verify("--only run --with simt32"), 0);
}

/* A reference that cannot compute a made case says that it is none; one of the author's must be. */
static void a_reference_that_faults_ends_no_run(void **state) {
  (void)state;
  edit("row_sum.ref.c", "double sum = 0;", "double sum = D == 1 ? (double)x->whole[0] : 0;");
  assert_int_equal(verify("--only run --with simt32"), 1);
  assert_non_null(strstr(said, "case 2 (rows = 2, D = 1)"));
  assert_non_null(strstr(said, "row_sum.ref.c:8: it reads or writes what is not its own"));
  edit("kernels.lua", "{ rows = 2, D = 1 }", "{ rows = 2, D = 2 }");
  assert_int_equal(verify("--only run --with simt32"), 0);
}

/* ---- sanitize ------------------------------------------------------------------------------- */

/* What was not tried, and a bound that no fault reaches, are said beside what is wrong. */
static void what_was_not_tried_is_remarked(void **state) {
  (void)state;
  edit("row_sum.ref.c", "double sum = 0;", "double sum = D == 255 ? (double)x->whole[0] : 0;");
  assert_int_equal(verify("--only run --with simt32"), 0);
  findings("remark: row_sum\n");
  findings(" made cases were not tried, as the reference does not compute them; the first: ");
  findings("D = 255");
  findings("row_sum.ref.c:");
}

/* What the reference leaves, no run misses; and no case has more groups than a backend's axis. */
static void what_a_reference_leaves_may_stay_unwritten(void **state) {
  (void)state;
  edit(body, "if (thread == 0)", "if (thread == 0 && row % 2 == 0)");
  assert_int_equal(verify("--only sanitize --with simt32+check --own"), 1);
  findings("no thread writes y[1]");
  edit("row_sum.ref.c",
       "y->real[row] =", "if (row % 2) ref_leave((ref_tensor *)y, row);\n    y->real[row] =");
  assert_int_equal(verify("--only run,sanitize --with simt32,simt32+check"), 0);
}

static void no_case_has_a_grid_that_no_device_takes(void **state) {
  (void)state;
  edit("kernels.lua", "groups = { dim.rows, 1, 1 }", "groups = { 1, dim.rows, 1 }");
  edit(body, "row = group_x", "row = group_y");
  assert_int_equal(verify("--only run --with simt32"), 0);
}

/* The line that is told can stand among the cases, also of a kernel with a seed of its own. */
static void a_case_s_seed_is_not_the_kernel_s(void **state) {
  (void)state;
  edit("kernels.lua", "  outputs = {", "  scalars = { { \"seed\", \"u32\" } },\n  outputs = {");
  edit("kernels.lua", "{ rows = 3, D = 500 }", "{ rows = 3, D = 500, seed = 4, data_seed = 9 }");
  edit("kernels.lua", "{ rows = 2, D = 1 }", "{ rows = 2, D = 1, seed = 4 }");
  edit(body, "T(all)", "T(seed == 7u ? all + 1.0f : all)");
  assert_int_equal(verify("--only run --with simt32"), 1);
  const char *told = findings("a made case: { ");
  char line[256];
  snprintf(line, sizeof line, "%.*s", (int)(strchr(told, '}') + 1 - strchr(told, '{')),
           strchr(told, '{'));
  assert_non_null(strstr(line, ", seed = 7, "));
  assert_non_null(strstr(line, ", data_seed = "));
  edit("kernels.lua", "{ rows = 2, D = 1, seed = 4 }", line);
  assert_int_equal(verify("--only run --with simt32 --own"), 1);
  findings("data_seed");
}

/* A side of a condition that no case takes is remarked, and a finding where that is asked for. */
static void a_side_that_no_case_takes_is_told(void **state) {
  (void)state;
  edit(body, "f32 sum = 0;", "if (D == 123456) return;\nf32 sum = 0;");
  assert_int_equal(verify("--only sanitize --with simt32+check"), 0);
  findings("remark: row_sum\n  of its conditions, watched runs leave out:\n"
           "  row_sum.kc:4: `D == 123456` is never true\n\n");
  assert_int_equal(verify("--only sanitize --with simt32+check --require coverage"), 1);
  findings("sanitize: row_sum\n  of its conditions, watched runs leave out:\n"
           "  row_sum.kc:4: `D == 123456` is never true\n\n");
  assert_int_equal(verify("--only run --require coverage"), 2);
  findings("--require coverage: --only leaves out the stage that counts, sanitize");
}

static void a_bound_that_is_loose_is_remarked(void **state) {
  (void)state;
  edit("kernels.lua", "f32 = 1e-5", "f32 = 1e-2");
  assert_int_equal(verify("--only run --with simt32 --own"), 0);
  findings("remark: row_sum\n  the tolerance of f32, 0.01, ");
  findings(": faults of that size pass\n");
  edit("kernels.lua", "f32 = 1e-2", "f32 = 1e-5");
  assert_int_equal(verify("--only run --with simt32 --own"), 0);
  assert_null(strstr(said, "remark"));
}

static void a_missing_barrier_is_found_by_the_sanitizer(void **state) {
  (void)state;
  edit("kernels.lua", "metal = {}, cuda = {}", "metal = {}, cuda = absent \"x\"");
  edit("kernels.lua", "{ f32, bf16 }", "{ f32 }");
  edit("kernels.lua", ", bf16 = 8e-3", "");
  edit("kernels.lua", "{ rows = 3, D = 500 }, ", "");
  edit(body, "barrier();\n", "\n");
  assert_int_equal(verify("--only sanitize"), 1);
  findings("instance         port   sanitized at\n"
           "row_sum_float32  metal  simt32 (0 of 1)\n"
           "row_sum_float32  hip    simt32 (0 of 1) simt64 (0 of 1)\n");
  findings(
      "sanitize: row_sum\n"
      "  at custom_kernel_row_sum_float32, simt32/metal+check, case 1 (rows = 2, D = 1)\n"
      "  and custom_kernel_row_sum_float32, simt32+check, case 1 (rows = 2, D = 1)\n"
      "  kernel row_sum at width 32, group (0, 0, 0): thread 1 (lane 1 of wave 0) reads slot[0] at "
      "row_sum.kc:10 while thread 0 (lane 0 of wave 0) may still write it at "
      "row_sum.kc:7; no barrier between\n");
}

/* ---- usage ---------------------------------------------------------------------------------- */

static void bad_usage_is_answered_with_what_is_right(void **state) {
  (void)state;
  static const struct {
    const char *options, *words;
  } bad[] = {
      {"--only sanitise", "kgen verify: there is no stage 'sanitise'; did you mean 'sanitize'?\n"},
      {"--only x",
       "kgen verify: there is no stage 'x'; --only takes static, compile, run or sanitize\n"},
      {"--only ,", "kgen verify: --only takes static, compile, run or sanitize\n"},
      {"--more 0", "kgen verify: --more takes a number from 1 to 1000; not '0'\n"},
      {"--seed 2", "kgen verify: --seed takes a whole number, and --more; not '2'\n"},
      {"--more 1 --seed x", "kgen verify: --seed takes a whole number, and --more; not 'x'\n"},
      {"-j 0", "kgen verify: --jobs takes a number from 1 to 64; not '0'\n"},
      {"--require hiprtc-7.3",
       "kgen verify: --require: there is no 'hiprtc-7.3'; did you mean 'hiprtc-7.2'?\n"},
      {"--target a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a",
       "kgen verify: --target takes at most 32 targets\n"},
      {"--with simt33", "kgen verify: --with: there is no 'simt33'; did you mean 'simt32'?\n"},
      {"--with all", "kgen verify: --with: there is no compiler or device 'all'\n"},
      {"--require gpu", "kgen verify: --require: there is no compiler or device 'gpu'\n"},
      {"row_sums --only static",
       "kgen verify: there is no kernel 'row_sums' in kernels.lua; did you mean 'row_sum'?\n"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(verify(bad[i].options), 2);
    assert_string_equal(said, arena_printf(a, "%stry 'kgen verify --help'\n", bad[i].words));
  }
}

/* ---- all ------------------------------------------------------------------------------------ */

#define test(function) cmocka_unit_test_setup(function, copy_without_templates)

int main(void) {
  const struct CMUnitTest tests[] = {
      test(of_a_right_kernel_nothing_is_said),
      test(the_number_of_threads_changes_no_line_of_a_report),
      test(a_report_as_json_has_the_tools_the_rows_and_the_findings),
      test(a_body_that_does_not_read_is_the_only_finding),
      test(a_guard_that_lets_the_wrong_width_through_is_found_by_the_compiler),
      test(a_word_that_a_backend_does_not_have_is_found_at_its_body_line),
      test(a_target_that_no_compiler_knows_is_a_finding),
      test(a_compiler_that_is_required_and_not_there_is_a_finding),
      test(a_fault_in_the_folder_s_own_c_is_found),
      test(with_leaves_out_all_others_and_requires_what_it_names),
      test(a_fold_that_starts_at_16_is_found_by_the_run_at_64_lanes_alone),
      test(an_output_that_nobody_writes_is_found_by_every_run),
      test(a_text_that_gives_other_bits_is_a_finding),
      test(other_bits_of_a_port_that_says_why_are_excused),
      test(an_instance_that_no_case_runs_is_a_finding),
      test(a_kernel_without_cases_is_a_finding),
      test(a_reference_that_does_not_compile_is_a_finding),
      test(a_kernel_that_never_ends_is_a_finding),
      test(a_fault_that_no_case_shows_is_found_by_more_of_them),
      test(more_cases_of_a_right_kernel_are_right),
      test(what_no_case_shows_is_found_by_made_ones),
      test(an_input_of_one_value_is_a_finding),
      test(a_filling_that_the_reference_does_not_know_is_a_finding),
      test(a_reference_that_faults_ends_no_run),
      test(what_was_not_tried_is_remarked),
      test(a_case_s_seed_is_not_the_kernel_s),
      test(what_a_reference_leaves_may_stay_unwritten),
      test(no_case_has_a_grid_that_no_device_takes),
      test(a_side_that_no_case_takes_is_told),
      test(a_bound_that_is_loose_is_remarked),
      test(a_missing_barrier_is_found_by_the_sanitizer),
      test(bad_usage_is_answered_with_what_is_right),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}

/* test_promises.c: what the README promises of one row: a storage dtype, a diagnostic, a command and
** a target are each added to a copy of the tree by one row, and the copy builds and knows them; and
** a row that is taken out of a table is missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "kg.h"
#include "model/expr.h"
#include "shell.h"

static void must(const char *command) {
  if (run(command) != 0) fail_msg("%s\n%s", command, said);
}

static void must_say(const char *text) {
  if (!strstr(said, text)) fail_msg("'%s' is not in:\n%s", text, said);
}

static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

/* What ninja has built comes along, so that it builds only what a row changes. */
static int copy_tree(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-promises-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  return run("mkdir @/.build @/rows && cp -a build.ninja gen runtime templates @ && "
             "cp -a runtime/model/*.def gen/base/diag.def gen/main.c @/rows && "
             "cd .build && cp -a gen runtime .ninja_log .ninja_deps embed *.c *_def.o "
             "simt_texts.o @/.build 2>&1");
}

static int remove_tree(void **state) {
  (void)state;
  return run("rm -rf @");
}

/* ---- one more row ---------------------------------------------------------------------------- */

static const char specification[] =
    "kernel \"cast\" {\n"
    "  summary = \"y = x in another dtype, rounded once; z = x.\",\n"
    "  types = { { \"T\", { f8e4m3, f32 } }, { \"U\", { f8e4m3, bf16 } } },\n"
    "  dims = { \"n\" },\n"
    "  inputs = { { \"x\", \"T\", { \"n\" } } },\n"
    "  outputs = { { \"y\", \"U\", { \"n\" } }, { \"z\", \"T\", { \"n\" } } },\n"
    "  launch = { groups = { ceil_div(dim.n, 64), 1, 1 }, threads = { 64, 1, 1 } },\n"
    "  wave = any,\n"
    "  ports = { metal = absent \"its table has no text\", cuda = {}, hip = {} },\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 0, f8e4m3 = 0, bf16 = 0 } },\n"
    "  fallback = \"cast in the graph\",\n"
    "  body = \"cast.kc\",\n"
    "  reference = \"cast.c\",\n"
    "  cases = { { n = 4096 } },\n"
    "  allow = { E199 = \"promised\" },\n"
    "}\n";
static const char body[] = "const u32 i = group_x * 64 + thread;\n"
                           "if (i >= n) return;\n"
                           "y[i] = U(f32(x[i]));\n"
                           "z[i] = x[i];\n";
/* Every exponent that f8e4m3 has and more on both sides, ties among them, and what is no number. */
static const char reference[] =
    "#include \"reference.h\"\n"
    "void reference(ref_call *c) {\n"
    "  const ref_tensor *x = ref_find(c, \"x\");\n"
    "  ref_tensor *y = ref_find(c, \"y\"), *z = ref_find(c, \"z\");\n"
    "  for (int64_t i = 0; i < x->count; i++)\n"
    "    y->real[i] = ref_round(y->dtype, x->real[i]), z->real[i] = x->real[i];\n"
    "}\n"
    "void fill(ref_call *c, const char *how, uint64_t seed) {\n"
    "  ref_tensor *x = ref_find(c, \"x\");\n"
    "  (void)how, (void)seed;\n"
    "  for (int64_t i = 0; i < x->count; i++)\n"
    "    x->real[i] = ldexp(1 + (double)(i % 64) / 64, (int)(i / 64 % 24) - 13) * (i % 3 ? 1 : "
    "-1);\n"
    "  x->real[0] = INFINITY, x->real[1] = NAN, x->real[2] = 0, x->real[3] = -0.0;\n"
    "}\n";

static bool simulates(void) { return run("clang-19 --version || clang --version") == 0; }

/* The rows are independent, so one build serves them all. */
static void a_row_is_all_that_a_new_one_takes(void **state) {
  (void)state;
  must("echo 'KG_DTYPE(F8E4M3, \"f8e4m3\", \"float8_e4m3\", 1, FLOAT, 4, 3, 7, ONE_NAN, NULL)' "
       ">> @/runtime/model/dtype.def");
  must("echo 'KG_TARGET(\"cuda\", \"sm_89\", 32, false, 0, 0, 0, 0, 0)' "
       ">> @/runtime/model/target.def");
  must("echo 'DIAG(E199, D_PROMISED, \"error\", \"%s\")' >> @/gen/base/diag.def");
  must("sed -i 's/^    {\"check\"/    {\"matrix\", \"\", \"another\", cmd_ports},\\n&/' "
       "@/gen/main.c");
  must("cd @ && ninja .build/kgen 2>&1");
  put("kernels.lua", specification);
  put("cast.kc", body);
  put("cast.c", reference);
  must("cd @ && .build/kgen 2>&1"); /* E199 is a diagnostic, else it could not be answered */
  must("cd @ && .build/kgen matrix 2>&1");
  must_say("T: f8e4m3 f32; U: f8e4m3 bf16");
}

static void a_new_dtype_is_in_every_table_and_text(void **state) {
  (void)state;
  must("grep -c KG_F8E4M3 @/generated/kernels.c");
  must("cd @ && grep '\"dtypes\": .\"f8e4m3\"' generated/kernels.json");
  must("cd @ && .build/kgen key cast T=f8e4m3 U=bf16 2>&1");
  must_say("custom_kernel_cast_float8_e4m3_bfloat16");
  must("cc -std=c11 -Wall -Wextra -Werror -I @/runtime -c @/generated/kernels.c -o @/kernels.o "
       "2>&1");
  if (!simulates()) skip();
  static const char *const devices[] = {"simt32", "simt64", "simt32/cuda"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) { /* every bit must agree */
    char command[256];
    snprintf(command, sizeof command,
             "cd @ && for t in 'T=f8e4m3 U=f8e4m3' 'T=f32 U=f8e4m3' 'T=f8e4m3 U=bf16'; do "
             ".build/kgen run cast $t --device %s 2>&1 || exit 1; done",
             devices[i]);
    must(command);
  }
}

static void arithmetic_on_a_new_dtype_is_a_fault_at_its_line(void **state) {
  (void)state;
  put("cast.kc", "const u32 i = group_x * 64 + thread;\nif (i >= n) return;\nz[i] = x[i];\n"
                 "y[i] = U(f32(x[i] + x[i]));\n");
  assert_int_equal(run("cd @ && .build/kgen 2>&1"), 1);
  put("cast.kc", body);
  must_say("cast.kc:4:14: error E130: arithmetic on f8e4m3");
}

static void a_backend_without_a_text_for_a_dtype_says_so(void **state) {
  (void)state;
  must("cd @ && sed 's/metal = absent .*, cuda/metal = {}, cuda/' kernels.lua > all.lua");
  assert_int_equal(run("cd @ && .build/kgen -f all.lua -o none 2>&1"), 1);
  must_say("error E202: cast: T may be f8e4m3, and Metal has no text for it");
}

static void a_new_target_is_tried(void **state) {
  (void)state;
  if (!simulates()) skip();
  must("cd @ && .build/kgen verify cast --only compile --with clang-cuda 2>&1");
  must_say("sm_75 sm_80 sm_90 sm_89\n");
}

/* ---- one row less ---------------------------------------------------------------------------- */

/* The tables as they are. */
static void restore(void) {
  must("cp -a @/rows/dtype.def @/rows/op.def @/rows/target.def @/runtime/model && "
       "cp -a @/rows/diag.def @/gen/base && cp -a @/rows/main.c @/gen");
}

#define CC "cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I @/gen -I @/runtime "

/* Takes the row out of the table, compiles, and must be told of what is missing. */
static void assert_missed(const char *table, const char *row, const char *compile,
                          const char *missing) {
  char command[512];
  snprintf(command, sizeof command,
           "sed -i '/^%s/d' @/%s && test $(grep -c . @/%s) -lt $(grep -c . @/rows/$(basename %s))",
           row, table, table, table);
  must(command);
  if (run(compile) == 0) fail_msg("nobody misses %s in %s", row, table);
  must_say(missing);
  restore();
}

static void a_dtype_that_is_taken_out_is_missed(void **state) {
  (void)state;
  restore();
  must(CC "tests/model/test_values.c 2>&1");
  for (int i = 0; i < KG_DTYPES; i++) {
    const char *id = kg_dtype_info((kg_dtype)i)->id;
    char row[64], missing[64];
    snprintf(row, sizeof row, "KG_DTYPE(%s,", id);
    snprintf(missing, sizeof missing, "KG_%s", id);
    assert_missed("runtime/model/dtype.def", row, CC "tests/model/test_values.c 2>&1", missing);
  }
}

static void a_dtype_whose_fields_do_not_fit_is_refused(void **state) {
  (void)state;
  must("echo 'KG_DTYPE(F8E4M3, \"f8e4m3\", \"float8_e4m3\", 1, FLOAT, 5, 3, 7, ONE_NAN, NULL)' "
       ">> @/runtime/model/dtype.def");
  assert_int_equal(run(CC "@/runtime/model/dtype.c 2>&1"), 1);
  must_say("dtype.def: the fields of f8e4m3");
  restore();
}

static void an_operator_that_is_taken_out_is_missed(void **state) {
  (void)state;
  must(CC "@/runtime/model/expr.c 2>&1");
  for (int i = 0; i < KG_OPS; i++) {
    char row[64], missing[64];
    snprintf(row, sizeof row, "KG_OPERATOR(%s,", kg_ops[i].id);
    snprintf(missing, sizeof missing, "KG_OP_%s", kg_ops[i].id);
    assert_missed("runtime/model/op.def", row, CC "@/runtime/model/expr.c 2>&1", missing);
  }
  must("echo 'KG_OPERATOR(POW, 2, ARITHMETIC, CALL, 9, \"pow\", FUNCTION, \"pow\")' "
       ">> @/runtime/model/op.def");
  assert_int_equal(run(CC "@/runtime/model/expr.c 2>&1"), 1); /* and one without a meaning, too */
  must_say("KG_OP_POW");
  restore();
}

static void a_diagnostic_that_is_taken_out_is_missed(void **state) {
  (void)state;
  must(CC "@/gen/spec/names.c -isystem /usr/include/lua5.4 2>&1");
  assert_missed("gen/base/diag.def", "DIAG(E0[0-9]*, D_NAME_TWICE",
                CC "@/gen/spec/names.c -isystem /usr/include/lua5.4 2>&1", "D_NAME_TWICE");
}

/* A command is called by its name alone, a target too. */
static void a_command_and_a_target_that_are_taken_out_are_missed(void **state) {
  (void)state;
  must("cd @ && sed -i '/cmd_ports}/d' gen/main.c && sed -i '/\"gfx950\"/d' "
       "runtime/model/target.def "
       "&& ninja .build/kgen 2>&1");
  assert_int_equal(run("@/.build/kgen ports 2>&1"), 2);
  must_say("ports");
  assert_int_equal(run("@/.build/kgen check -t templates 2>&1"), 1);
  must_say("ledger.json: stale: 0 of "); /* it has rows of a target that is none */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_is_all_that_a_new_one_takes),
      cmocka_unit_test(a_new_dtype_is_in_every_table_and_text),
      cmocka_unit_test(arithmetic_on_a_new_dtype_is_a_fault_at_its_line),
      cmocka_unit_test(a_backend_without_a_text_for_a_dtype_says_so),
      cmocka_unit_test(a_new_target_is_tried),
      cmocka_unit_test(a_dtype_that_is_taken_out_is_missed),
      cmocka_unit_test(a_dtype_whose_fields_do_not_fit_is_refused),
      cmocka_unit_test(an_operator_that_is_taken_out_is_missed),
      cmocka_unit_test(a_diagnostic_that_is_taken_out_is_missed),
      cmocka_unit_test(a_command_and_a_target_that_are_taken_out_are_missed),
  };
  return cmocka_run_group_tests(tests, copy_tree, remove_tree);
}

/* test_lint.c: kgen lint: each rule finds what is planted for it, and nothing in what is clean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"

static int new_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-lint-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state) {
  (void)state;
  return run("rm -rf @");
}

static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
  assert_int_equal(fclose(f), 0);
}

/* A file whose lines say what is found in them: `// L4 L2`, and `// L4^` for the line before.  What kgen prints is
** brought to the same form and order. */
static void holds(const char *name) {
  char command[1024];
  snprintf(command, sizeof command,
           "cp tests/lint/planted/%s @/ && awk '"
           "match($0, /\\/\\/ L[0-9]( L[0-9])*$/) { n = split(substr($0, RSTART + 3), r, \" \");"
           " for (i = 1; i <= n; i++) print NR, r[i] }"
           "match($0, /\\/\\/ L[0-9]\\^$/) { print NR - 1, substr($0, RSTART + 3, 2) }' @/%s | "
           "sort > @/want && "
           "test -s @/want",
           name, name);
  if (run(command) != 0) fail_msg("%s marks nothing", name);
  snprintf(
      command, sizeof command,
      ".build/kgen lint @/%s > @/said; test $? = 1 && sed -n 's/^[^:]*:\\([0-9]*\\):[0-9]*: error "
      "\\(L[0-9]\\) .*/\\1 \\2/p' @/said | sort -u | diff @/want - 2>&1",
      name);
  if (run(command) != 0) fail_msg("%s (< wanted, > found):\n%s", name, said);
}

static void gates_are_found(void **state) {
  (void)state;
  holds("gate.cpp");
}
static void gates_in_rust_are_found(void **state) {
  (void)state;
  holds("gate.rs");
}
static void comparisons_with_backends_are_found(void **state) {
  (void)state;
  holds("backend.cpp");
}
static void refusals_by_hand_are_found(void **state) {
  (void)state;
  holds("refusal.cpp");
}
static void refusals_of_the_whole_family_are_found(void **state) {
  (void)state;
  holds("refusal_family.cpp");
}
static void holders_past_their_tables_are_found(void **state) {
  (void)state;
  holds("holder.cpp");
}
static void predicates_beside_their_tables_are_found(void **state) {
  (void)state;
  holds("predicate.cpp");
}
static void launches_that_lack_a_dtype_are_found(void **state) {
  (void)state;
  holds("dtype.cpp");
}
static void any_wave_marks_with_lane_operations_are_found(void **state) {
  (void)state;
  holds("wave.cpp");
}

static void a_clean_project_is_silent(void **state) {
  (void)state;
  if (run(".build/kgen lint tests/lint/clean 2>&1") != 0) fail_msg("%s", said);
  assert_string_equal(said,
                      "kgen lint: 0 findings in 5 files: 3 port tables, 3 launches, 2 any-wave "
                      "marks (not pinned: --pins)\n");
}

/* Each edit of the clean project plants one violation. */
static void a_clean_project_with_one_line_changed_is_not(void **state) {
  (void)state;
  static const struct {
    const char *file, *edit, *rule;
  } edits[] = {
      {"src/turbo/xielu.cpp",
       "s/return has_kernel_port(xielu_ports)/return mlx::core::metal::is_available()/", "L6"},
      {"src/turbo/xielu.cpp", "s/{{\"T\", x.dtype()}}/{{\"N\", total}}/", "L7"},
      {"src/turbo/xielu.cpp", "s/select_kernel_port(\"fused_xielu\".*/xielu_metal_holder().get();/",
       "L3"},
      {"src/turbo/xielu.cpp", "s/const int i = blockIdx.x/const int i = __shfl(0, 1) + blockIdx.x/",
       "L5"},
      {"src/turbo/paged.cpp", "s/const int d = threadIdx.x;/const int d = threadIdx.x \\& 31;/",
       "L5"},
      {"src/turbo/paged.cpp", "s/args.emplace_back(\"KVType\", kv);//", "L7"},
      {"src/turbo/paged.cpp", "s/if (table.dtype() != mlx::core::int32)/if (table.ndim() != 2)/",
       "L7"},
      {"src/turbo/paged.cpp", "s/ && has_kernel_port(paged_merge_ports);/;/", "L6"},
      {"src/turbo/paged.cpp",
       "s/if (!paged_v2_available()) return pool;/if (!custom_kernels_available()) return pool;/",
       "L4"},
      {"src/turbo/paged.cpp",
       "s/if (!paged_v2_available()) return pool;/if (gpu_kernel_backend() == "
       "GpuKernelBackend::Rocm) return pool;/",
       "L1"},
      {"src/turbo/paged.cpp",
       "s/if (!paged_v2_available()) return pool;/if (!has_kernel_port(paged_merge_ports)) throw "
       "1;/",
       "L2"},
      {"rust/gate.rs",
       "s/default_device_is_gpu()$/(ffi::metal_is_available() || ffi::cuda_is_available())/", "L4"},
  };
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char command[2048], sign[32];
    snprintf(command, sizeof command,
             "rm -rf @/clean && cp -r tests/lint/clean @/ && sed '%s' @/clean/%s > @/new && ! cmp "
             "-s @/new @/clean/%s "
             "&& mv @/new @/clean/%s",
             edits[i].edit, edits[i].file, edits[i].file, edits[i].file);
    if (run(command) != 0) fail_msg("the edit %zu changes nothing: %s", i, edits[i].edit);
    if (run(".build/kgen lint @/clean") != 1) fail_msg("%s is not found: %s", edits[i].edit, said);
    snprintf(sign, sizeof sign, ": error %s ", edits[i].rule);
    if (!strstr(said, sign)) fail_msg("%s: no %s in:\n%s", edits[i].edit, edits[i].rule, said);
  }
}

static const char gate[] = "bool metal_available();\nbool cuda_available();\n"
                           "int f() { return metal_available() || cuda_available(); }\n";

static void a_finding_says_where_what_and_what_to_do(void **state) {
  (void)state;
  put("gate.cpp", gate);
  assert_int_equal(run("cd @ && $OLDPWD/.build/kgen lint gate.cpp"), 1);
  assert_string_equal(
      said, "gate.cpp:3:18: error L4 two-backend-gate: this asks for Metal or CUDA: where only "
            "ROCm is there it says no; "
            "ask the kernel's own *_available(), which reads its table\n"
            "kgen lint: 1 finding in 1 file: 0 port tables, 0 launches, 0 any-wave marks\n");
}

static void folders_and_names_from_stdin_are_the_same(void **state) {
  (void)state;
  assert_int_equal(run("mkdir -p @/src/.hidden && cp tests/lint/planted/* @/src && cp "
                       "tests/lint/planted/gate.cpp "
                       "@/src/.hidden && echo '||' > @/src/notes.txt"),
                   0);
  assert_int_equal(run(".build/kgen lint @/src > @/a; find @/src -name '*.*' -type f -not -path "
                       "'*/.*' | .build/kgen "
                       "lint - > @/b; cmp @/a @/b 2>&1"),
                   0);
  assert_int_equal(run("grep -c 'error L4' @/a"), 0);
}

static void nothing_to_look_at_is_no_success(void **state) {
  (void)state;
  assert_int_equal(run("mkdir @/empty && echo x > @/empty/a.txt && .build/kgen lint @/empty 2>&1"),
                   1);
  assert_non_null(strstr(said, "nothing was looked at"));
  assert_int_equal(run("printf '' | .build/kgen lint - 2>&1"), 1);
  assert_int_equal(run(".build/kgen lint 2>&1"), 2);
  assert_int_equal(run(".build/kgen lint @/none.cpp 2>&1"), 2);
  assert_non_null(strstr(said, "none.cpp: No such file or directory"));
  assert_int_equal(run(".build/kgen lint --format xml @/empty 2>&1"), 2);
}

static void what_is_allowed_needs_its_reason_and_a_finding(void **state) {
  (void)state;
  put("gate.cpp", gate);
  put("good", "# to do\nL4 gate.cpp f -- the caller is Metal's alone\n");
  assert_int_equal(run(".build/kgen lint --allow @/good @/gate.cpp"), 0);
  assert_non_null(strstr(said, "0 findings (1 more allowed)"));
  static const char *const wrong[][3] = {
      {"L4 gate.cpp\n", "2", "RULE FILE [SYMBOL] -- REASON"},
      {"L4 gate.cpp --  \n", "2", "needs its reason"},
      {"L42 gate.cpp -- why\n", "2", "no rule 'L42'"},
      {"L4 gate.cpp -- why\nL1 gate.cpp -- why\n", "1", "wrong:2:1: error L9 stale-entry"},
      {"two-backend-gate gate.cpp g -- why\n", "1", "wrong:1:1: error L9 stale-entry"},
      {"L4 ate.cpp -- why\n", "1", "wrong:1:1: error L9 stale-entry"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    put("wrong", wrong[i][0]);
    assert_int_equal(run(".build/kgen lint --allow @/wrong @/gate.cpp 2>&1"), atoi(wrong[i][1]));
    if (!strstr(said, wrong[i][2])) fail_msg("%s: %s", wrong[i][0], said);
  }
}

static void marks_and_pins_are_held_to_each_other(void **state) {
  (void)state;
  put("pins", "xielu_ports kXieluHipSource\npaged_merge_ports kMergeHip\n");
  assert_int_equal(run(".build/kgen lint --pins @/pins tests/lint/clean"), 0);
  static const char *const wrong[][2] = {
      {"xielu_ports kXieluHipSource\n", "paged_merge_ports is marked any-wave, and is not pinned"},
      {"xielu_ports kXieluHipSource\npaged_merge_ports kPartialSource\n",
       "pinned to the source kPartialSource, and has kMergeHip"},
      {"xielu_ports kXieluHipSource\npaged_merge_ports kMergeHip\npaged_partial_ports "
       "kPartialSource\n",
       "paged_partial_ports is pinned, and no table of this name is marked"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    put("pins", wrong[i][0]);
    assert_int_equal(run(".build/kgen lint --pins @/pins tests/lint/clean"), 1);
    if (!strstr(said, wrong[i][1])) fail_msg("%s", said);
  }
}

/* The members that SARIF 2.1.0 requires, and that each result names a rule of the driver's. */
static void sarif_has_what_its_schema_requires(void **state) {
  (void)state;
  put("allow", "L4 a%20b.cpp f -- why\n");
  put("a b.cpp", gate);
  put("allow", "L4 b.cpp -- why\n");
  put("b.cpp", gate);
  assert_int_equal(
      run(".build/kgen lint --format sarif --allow @/allow '@/a b.cpp' @/b.cpp > @/out.sarif"), 1);
  if (run("python3 -c \"\n"
          "import json\n"
          "log = json.load(open('@/out.sarif'))\n"
          "assert log['version'] == '2.1.0' and log['\\$schema'].endswith('sarif-2.1.0.json')\n"
          "driver, = [r['tool']['driver'] for r in log['runs']]\n"
          "assert driver['name'] and len({r['id'] for r in driver['rules']}) == "
          "len(driver['rules']) == 9\n"
          "one, two = log['runs'][0]['results']\n"
          "for r in one, two:\n"
          "    assert driver['rules'][r['ruleIndex']]['id'] == r['ruleId'] == 'L4' and "
          "r['message']['text']\n"
          "    assert r['locations'][0]['physicalLocation']['region'] == {'startLine': 3, "
          "'startColumn': 18}\n"
          "    assert r['locations'][0]['logicalLocations'] == [{'name': 'f'}]\n"
          "assert "
          "one['locations'][0]['physicalLocation']['artifactLocation']['uri'].endswith('/"
          "a%20b.cpp')\n"
          "assert 'suppressions' not in one\n"
          "assert two['suppressions'] == [{'kind': 'external', 'justification': 'why'}]\n"
          "\" 2>&1") != 0)
    fail_msg("%s", said);
}

static void what_kgen_emits_for_mlx_is_read_and_not_judged(void **state) {
  (void)state;
  assert_int_equal(run(".build/kgen emit mlx -o @ fused_xielu paged_merge >/dev/null"), 0);
  assert_int_equal(run(".build/kgen lint @/kernels_mlx.h"), 0);
  assert_non_null(strstr(said, "2 port tables"));
  /* by another's hand the keys of its launches hold, and the marks do not: each text has a header */
  assert_int_equal(run("sed -i 's/Generated by kgen from/Written from/' @/kernels_mlx.h"), 0);
  assert_int_equal(run(".build/kgen lint @/kernels_mlx.h"), 1);
  assert_non_null(strstr(said, "error L5 "));
  assert_null(strstr(said, "error L7 "));
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, new_folder, drop_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH(gates_are_found),
      SCRATCH(gates_in_rust_are_found),
      SCRATCH(comparisons_with_backends_are_found),
      SCRATCH(refusals_by_hand_are_found),
      SCRATCH(refusals_of_the_whole_family_are_found),
      SCRATCH(holders_past_their_tables_are_found),
      SCRATCH(predicates_beside_their_tables_are_found),
      SCRATCH(launches_that_lack_a_dtype_are_found),
      SCRATCH(any_wave_marks_with_lane_operations_are_found),
      SCRATCH(a_clean_project_is_silent),
      SCRATCH(a_clean_project_with_one_line_changed_is_not),
      SCRATCH(a_finding_says_where_what_and_what_to_do),
      SCRATCH(folders_and_names_from_stdin_are_the_same),
      SCRATCH(nothing_to_look_at_is_no_success),
      SCRATCH(what_is_allowed_needs_its_reason_and_a_finding),
      SCRATCH(marks_and_pins_are_held_to_each_other),
      SCRATCH(sarif_has_what_its_schema_requires),
      SCRATCH(what_kgen_emits_for_mlx_is_read_and_not_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

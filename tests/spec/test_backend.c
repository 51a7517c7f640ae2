/* test_backend.c: a backend is data.  tests/opencl/opencl.lua, put beside the three tables, is a fourth backend with no line
** of C: clang reads what kgen makes of every kernel of the library, and of a kernel that uses every word.  And whatever a table
** or portable.h loses is told by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lex.h"
#include "passes.h"
#include "shell.h"

#define KGEN_THERE ".build/kgen -f @/kernels.lua -t @/templates -o @/generated 2>&1"
#define CLANG                                                                                      \
  "clang-19 -x cl -cl-std=clc++2021 -Xclang -finclude-default-header -target spir64 -Werror "      \
  "-fsyntax-only "

/* plain.lua: the first four kernels as they are.  kernels.lua: the same, copied to own/, with a slot for OpenCL beside HIP's,
** and the kernel of all words. */
static int make_copy(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-backend-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  return run(
      "cp -r templates @/ && cp -r templates/kernels @/own &&"
      " grep -E -m 5 '^(backends|include)' kernels.lua >@/plain.lua &&"
      " sed 's#templates/kernels#own#; s/^backends.*/backends { \"metal\", \"cuda\", "
      "\"hip\", \"opencl\" }/' @/plain.lua"
      " >@/kernels.lua && sed -i 's/hip = {}/opencl = {}, hip = {}/; "
      "s/hip = {\\( bits.*\\)\\?$/opencl = absent \"MLX has no graph there\", &/' @/own/*/*.lua &&"
      " sed 's/hip = {}/hip = {}, opencl = {}/' tests/words/kernels.lua >>@/kernels.lua &&"
      " cp tests/words/words.kc @/");
}

static int remove_copy(void **state) {
  (void)state;
  return run("rm -rf '@'");
}

static void without_its_table_a_backend_is_unknown(void **state) {
  (void)state;
  assert_int_not_equal(run(KGEN_THERE), 0);
  assert_non_null(strstr(said, "'opencl'"));
}

#define PLAIN " -f @/plain.lua -t @/templates "

static void a_table_that_no_specification_speaks_of_changes_nothing(void **state) {
  (void)state;
  assert_int_equal(run(".build/kgen" PLAIN
                       "-q -o @/before && cp tests/opencl/opencl.lua @/templates/backends/ && "
                       ".build/kgen" PLAIN "-q -o @/after && diff -r @/before @/after 2>&1"),
                   0);
  assert_string_equal(said, "");
  assert_int_equal(run(".build/kgen ports" PLAIN "-o @/after"), 0);
  assert_non_null(strstr(said, "HIP"));
  assert_null(strstr(said, "OpenCL"));
  /* one that speaks of it in `backends` says of it in every kernel */
  assert_int_equal(run("cp -r @/own @/lose && sed -i 's/opencl = {}, //' @/lose/*/*.lua && sed "
                       "'s#\"own#\"lose#' @/kernels.lua >@/lost.lua &&"
                       " .build/kgen -f @/lost.lua -t @/templates -o @/lost 2>&1"),
                   1);
  assert_non_null(strstr(said, "E067: fused_xielu: ports: the backend 'opencl' is not mentioned"));
}

static void a_table_alone_gives_text_that_its_compiler_reads(void **state) {
  (void)state;
  if (run(KGEN_THERE) != 0) fail_msg("%s", said);
  int texts = 0;
  char path[128];
  snprintf(path, sizeof path, "%s/generated/opencl", folder);
  DIR *d = opendir(path);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (!strstr(e->d_name, ".cl")) continue;
    char command[512];
    snprintf(command, sizeof command, CLANG "@/generated/opencl/%s 2>&1", e->d_name);
    if (run(command) != 0) fail_msg("%s", said);
    texts++;
  }
  closedir(d);
  assert_true(texts >= 5);
  /* it has no named slot, so its ports stand among the others, and the matrix has a column for it */
  assert_int_equal(run("grep -c '.others = ' @/generated/kernels.c"), 0);
  assert_int_equal(run(".build/kgen ports -f @/kernels.lua -t @/templates -o @/generated"), 0);
  assert_non_null(strstr(said, "OpenCL"));
}

static void a_wrong_spelling_in_the_table_is_found_by_that_compiler(void **state) {
  (void)state;
  assert_int_equal(run("sed 's/sub_group_shuffle_xor(x, mask)/sub_group_shuffle_xor(x)/' "
                       "tests/opencl/opencl.lua "
                       ">@/templates/backends/opencl.lua"),
                   0);
  if (run(KGEN_THERE) != 0) fail_msg("%s", said);
  assert_int_not_equal(run(CLANG "@/generated/opencl/fused_add_rms_norm.cl 2>&1"), 0);
  assert_non_null(strstr(said, "sub_group_shuffle_xor"));
}

static void a_damaged_table_is_told_by_its_file_and_field(void **state) {
  (void)state;
  assert_int_equal(
      run("sed '/entry_open/d' tests/opencl/opencl.lua >@/templates/backends/opencl.lua"), 0);
  assert_int_equal(run(KGEN_THERE), 1);
  assert_non_null(strstr(said, "/templates/backends/opencl.lua: error E200: the backend's table: "
                               "'text' must have 'entry_open'\n"));
}

static void every_word_compiles_on_every_backend(void **state) {
  (void)state;
  const int status =
      run(".build/kgen verify -f tests/words/kernels.lua -o @/words --only compile 2>&1");
  if (status != 0) fail_msg("%s", said);
}

/* ---- what is lost or wrong is told by its name -------------------------------------------------------------------- */

#define SAYS(file, what) "/templates/backends/" file ": error E200: the backend's table: " what "\n"
#define LANGUAGE(line, what)                                                                       \
  "/templates/language/portable.h" line ": error E201: the kernel language: " what "\n"

/* The first line of the file that has `from` gets `to` in its place; NULL: the line is removed. */
static const struct {
  const char *file, *from, *to, *says;
} faults[] = {
    {"backends/base_cuda.lua", "lane = \"thread", NULL,
     SAYS("cuda.lua", "'index' says nothing of the word 'lane'")},
    {"backends/base_cuda.lua", "lane = \"thread", NULL,
     SAYS("hip.lua", "'index' says nothing of the word 'wave_index'")},
    {"backends/base.lua", "\"lanes_has\"", NULL,
     SAYS("metal.lua", "neither 'spell' nor 'pieces' says anything of the word 'lanes_has'")},
    {"backends/metal.lua", "fma = \"fma\", ", "",
     SAYS("metal.lua", "neither 'spell' nor 'pieces' says anything of the word 'fma'")},
    {"backends/base.lua", "{ \"kg_isnan\", ", NULL,
     SAYS("cuda.lua", "'pieces' names 'kg_isnan' without a text, and no base has it")},
    {"backends/metal.lua", "{ \"kg_barrier\", ", "{ \"barrier_of_metal\", ",
     SAYS("metal.lua", "'barrier' is spelt 'kg_barrier', and 'pieces' has no such piece")},
    {"backends/base.lua", "{ \"\", \"\" }", NULL,
     SAYS("hip.lua",
          "'pieces' has no place for the instance's types and constants, { \"\", \"\" }")},
    {"backends/base.lua", "index = \"  const", NULL, SAYS("metal.lua", "'text' must have 'index'")},
    {"backends/metal.lua", "args_close = ", NULL,
     SAYS("metal.lua", "'text' must have 'args_close'")},
    {"backends/metal.lua", "args_close = ", "args_clse = \"\", args_close = ",
     SAYS("metal.lua", "'text' has 'args_clse', and nothing asks for it")},
    {"backends/base.lua", "typedef ${dtype} ${name}", "typedef ${dtyp} ${name}",
     SAYS("cuda.lua", "the text 'type' has a hole ${dtyp}; its holes are: dtype name")},
    {"backends/base_cuda.lua", "fmin = \"fminf\", ", "",
     SAYS("hip.lua", "the piece 'min(f32,f32)' asks for ${fmin}, and 'names' has none")},
    {"backends/base.lua", "{ \"load4(f16)\", ", "{ \"load4(f61)\", ",
     SAYS("hip.lua", "'pieces' says nothing of 'load4(f16)'")},
    {"backends/base.lua", "{ \"load4(f16)\", ", "{ \"load4(f61)\", ",
     SAYS("cuda.lua", "the piece 'load4(f61)' is no function of portable.h")},
    {"backends/base.lua", "{ \"min(u64,u64)\", ", "{ \"kg_u64_min\", ",
     SAYS("metal.lua", "'pieces' says nothing of 'min(u64,u64)'")},
    {"backends/base.lua", "{ \"operator*(f32x4,f32)\", ", "{ \"times\", ",
     SAYS("metal.lua", "'pieces' says nothing of 'operator*(f32x4,f32)'")},
    {"language/portable.h", "u16 bits16(f16 x);",
     "u16 bits16(f16 x); u16 bits16(GLOBAL const u8 *x, i8 y);",
     SAYS("hip.lua", "'pieces' says nothing of 'bits16(u8,i8)'")},
    {"backends/hip.lua", "base = \"base_cuda\"", "base = \"base_cud\"",
     "/base_cud.lua: error E200: the backend's table: cannot be read: no such file\n"},
    {"backends/hip.lua", "base = \"base_cuda\"", "base = \"cuda\"",
     SAYS("hip.lua", "'cuda' is no base; a base is a file base*.lua beside this one")},
    {"backends/base.lua", "return {", "return { base = \"base_cuda\",",
     SAYS("base.lua", "its base 'base_cuda' is based on it")},
    {"backends/base.lua", "return {", "return { title = \"Base\",",
     SAYS("base.lua", "field 'title' is a backend's own, and this file is a base")},
    {"backends/hip.lua", "  spell = {", "  spel = {",
     SAYS("hip.lua", "there is no field 'spel'; did you mean 'spell'?")},
    {"backends/hip.lua", "wave_any = \"__any\"", "wave_any = false",
     SAYS("hip.lua", "'spell' takes 'wave_any' away, and no base has it")},
    {"backends/hip.lua", "wave_any = \"__any\"", "fma = false, wave_any = \"__any\"",
     SAYS("hip.lua", "neither 'spell' nor 'pieces' says anything of the word 'fma'")},
    {"backends/hip.lua", "wave_any = \"__any\"", "wave_each = \"__each\", wave_any = \"__any\"",
     SAYS("hip.lua", "'spell' has 'wave_each', which is no word of the language")},
    {"backends/hip.lua", "{ \"kg_isnan\" }", "{ \"kg_isnan\" }, { \"kg_isnan\" }",
     SAYS("hip.lua", "'pieces' has 'kg_isnan' twice")},
    {"backends/hip.lua", "{ \"kg_isnan\" }", "{ \"kg_isnan\", 3 }",
     SAYS("hip.lua", "entry 9 of 'pieces' must be { name, text }, or { name } or { name, false } "
                     "for what a base has")},
    {"backends/hip.lua", "slot = \"rocm\"", "slot = \"hip\"",
     SAYS("hip.lua",
          "there is no slot 'hip' in KernelPorts; a backend without one goes among the others")},
    {"backends/hip.lua", "slot = \"rocm\"", "slot = \"cuda\"",
     "error E200: the backend's table: has the slot of "},
    {"language/portable.h", "void barrier();", "void barrier(); void rest();",
     SAYS("metal.lua", "neither 'spell' nor 'pieces' says anything of the word 'rest'")},
    {"language/portable.h", "KG_INDEX extern const u32 lane;", "extern const u32 lane;",
     LANGUAGE("", "no word 'lane' is marked KG_INDEX")},
    {"language/portable.h", "KG_INDEX extern const u32 lane;",
     "KG_INDEX extern const u32 lane, lanes_of_group;",
     "'lanes_of_group' is marked KG_INDEX, and kgen knows no index word of that name\n"},
    {"language/portable.h", "KG_GROUP void", "KG_GROUPS void", "there is no mark 'KG_GROUPS'\n"},
    {"language/portable.h", "KG_LIBRARY(rnd)", "KG_LIBRARY(rnd, rnd_up)",
     "the library has no function 'rnd_up'\n"},
};

static void plant(Arena *a, const char *file, const char *from, const char *to) {
  size_t len;
  const char *why, *path = arena_printf(a, "%s/templates/%s", folder, file),
                   *text = file_read(a, path, &len, &why);
  assert_non_null(text);
  const char *at = strstr(text, from), *end = at + strlen(from);
  if (!at) fail_msg("%s does not have %s", file, from);
  while (!to && at > text && at[-1] != '\n') at--;
  if (!to) end += strcspn(end, "\n");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to ? to : "", end);
  assert_int_equal(fclose(f), 0);
}

static void each_row_that_is_lost_or_wrong_is_told_by_its_name(void **state) {
  (void)state;
  Arena *a = arena_new();
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    assert_int_equal(run("rm -rf @/templates && cp -r templates @/"), 0);
    plant(a, faults[i].file, faults[i].from, faults[i].to);
    const int status = run(".build/kgen" PLAIN "-o @/faulty 2>&1");
    if (status != 1 || !strstr(said, faults[i].says))
      fail_msg("%s: %s to %s gives %d, not %s%s", faults[i].file, faults[i].from,
               faults[i].to ? faults[i].to : "nothing", status, faults[i].says, said);
  }
  assert_int_equal(run("rm -rf @/templates && cp -r templates @/ && ls @/faulty 2>&1"),
                   2); /* nothing was written */
  arena_free(a);
}

/* ---- portable.h's words are no names for a parameter ------------------------------------------------------------- */

static void no_word_of_the_language_may_name_a_parameter(void **state) {
  (void)state;
  Arena *a = arena_new();
  Words words;
  words_load(a, &words, "templates", diags_new(a));
  static const char *const known[] = {"u64",         "f32x4", "GLOBAL",  "thread_z",   "WAVE",
                                      "shuffle_idx", "lanes", "barrier", "group_scan", "store4u",
                                      "mul_hi",      "INF",   "rnd"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!words_find(&words, known[i], (int)strlen(known[i])))
      fail_msg("'%s' was not read from portable.h", known[i]);
  assert_in_range(words.count, 80, 511);
  Buf spec = {0};
  for (int i = 0; i < words.count; i++)
    buf_printf(&spec,
               "kernel \"k%d\" { summary = \"x\", dims = { \"n\" }, inputs = { { \"%s\", \"f32\", "
               "{ \"n\" } } },"
               " outputs = { { \"made\", \"f32\", { \"n\" } } }, launch = { groups = { 1, 1, 1 }, "
               "threads = { 64, 1, 1 } },"
               " wave = any, ports = { metal = {}, cuda = {}, hip = {} }, numerics = { tolerance = "
               "{ f32 = 1e-6 } },"
               " fallback = \"x\", body = \"words.kc\" }\n",
               i, words.list[i].name);
  char path[128];
  snprintf(path, sizeof path, "%s/names.lua", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(spec.s, 1, spec.len, f), spec.len);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(run(".build/kgen -f @/names.lua -o @/names 2>&1"), 1);
  for (int i = 0; i < words.count; i++) {
    const char *said_of_it =
        arena_printf(a, "'%s' is a word of the kernel language", words.list[i].name);
    if (!strstr(said, said_of_it))
      fail_msg("'%s' of portable.h is taken as a name", words.list[i].name);
  }
  buf_free(&spec);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_its_table_a_backend_is_unknown),
      cmocka_unit_test(a_table_that_no_specification_speaks_of_changes_nothing),
      cmocka_unit_test(a_table_alone_gives_text_that_its_compiler_reads),
      cmocka_unit_test(a_wrong_spelling_in_the_table_is_found_by_that_compiler),
      cmocka_unit_test(a_damaged_table_is_told_by_its_file_and_field),
      cmocka_unit_test(each_row_that_is_lost_or_wrong_is_told_by_its_name),
      cmocka_unit_test(no_word_of_the_language_may_name_a_parameter),
      cmocka_unit_test(every_word_compiles_on_every_backend),
  };
  return cmocka_run_group_tests(tests, make_copy, remove_copy);
}

/* test_backend.c: a backend is data.  tests/opencl/opencl.lua, put beside the three tables, is a fourth backend with no line
** of C: clang reads what kgen makes of every kernel of the library, and of a kernel that uses every word. */
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
#define CLANG "clang-19 -x cl -cl-std=clc++2021 -Xclang -finclude-default-header -target spir64 -Werror -fsyntax-only "

/* The first four kernels with a slot for OpenCL beside HIP's, and the kernel of all words. */
static int make_copy(void **state) {
  (void)state;
  strcpy(folder, "/tmp/kgen-test-backend-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  return run("cp -r templates @/ && grep -m 4 '^include' kernels.lua >@/kernels.lua &&"
             " sed -i 's/hip = {/opencl = {}, hip = {/' @/templates/kernels/*/*.lua &&"
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

static void a_table_alone_gives_text_that_its_compiler_reads(void **state) {
  (void)state;
  assert_int_equal(run("cp tests/opencl/opencl.lua @/templates/"), 0);
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
  assert_int_equal(run("sed 's/sub_group_shuffle_xor(x, mask)/sub_group_shuffle_xor(x)/' tests/opencl/opencl.lua "
                       ">@/templates/opencl.lua"),
                   0);
  if (run(KGEN_THERE) != 0) fail_msg("%s", said);
  assert_int_not_equal(run(CLANG "@/generated/opencl/fused_add_rms_norm.cl 2>&1"), 0);
  assert_non_null(strstr(said, "sub_group_shuffle_xor"));
}

static void a_damaged_table_is_told_by_its_file_and_field(void **state) {
  (void)state;
  assert_int_equal(run("sed '/entry_open/d' tests/opencl/opencl.lua >@/templates/opencl.lua"), 0);
  assert_int_equal(run(KGEN_THERE), 1);
  assert_non_null(strstr(said, "/templates/opencl.lua: error E200: the backend's table: 'text' must have 'entry_open'\n"));
}

static void every_word_compiles_on_every_backend(void **state) {
  (void)state;
  const int status = run(".build/kgen verify -f tests/words/kernels.lua -o @/words --only compile 2>&1");
  if (status != 0) fail_msg("%s", said);
}

/* ---- portable.h's words are no names for a parameter ------------------------------------------------------------- */

static bool declares(const Token *t, int i, int n) {
  int next = i + 1;
  while (next < n && (t[next].kind == TOK_SPACE || t[next].kind == TOK_COMMENT)) next++;
  return next < n && (token_is(&t[next], "(") || token_is(&t[next], ";") || token_is(&t[next], ","));
}

/* Names at the outermost level that are followed by a parenthesis, a comma or a semicolon; and those that #define or struct make. */
static int words_of_the_language(Arena *a, const char *words[], int most) {
  size_t len;
  const char *why, *text = file_read(a, "templates/portable.h", &len, &why);
  assert_non_null(text);
  int n, count = 0, depth = 0;
  const Token *t = lex(a, text, len, &n);
  for (int i = 0; i < n && count < most; i++) {
    if (token_is(&t[i], "(") || token_is(&t[i], "{")) depth++;
    if (token_is(&t[i], ")") || token_is(&t[i], "}")) depth--;
    if (t[i].kind == TOK_DIRECTIVE) {
      char word[64];
      if (sscanf(t[i].s, "#define %63[A-Za-z0-9_]", word) == 1) words[count++] = arena_strdup(a, word);
    } else if (t[i].kind == TOK_NAME && depth == 0 && declares(t, i, n) && !token_is(&t[i], "__attribute__")) {
      words[count++] = arena_strndup(a, t[i].s, (size_t)t[i].len);
    } else if (token_is(&t[i], "struct")) {
      words[count++] = arena_strndup(a, t[i + 2].s, (size_t)t[i + 2].len);
    }
  }
  return count;
}

static void no_word_of_the_language_may_name_a_parameter(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *words[512];
  const int count = words_of_the_language(a, words, 512);
  assert_in_range(count, 90, 511);
  Buf spec = {0};
  for (int i = 0; i < count; i++)
    buf_printf(&spec, "kernel \"k%d\" { summary = \"x\", dims = { \"n\" }, inputs = { { \"%s\", \"f32\", { \"n\" } } },"
                      " outputs = { { \"made\", \"f32\", { \"n\" } } }, launch = { groups = { 1, 1, 1 }, threads = { 64, 1, 1 } },"
                      " wave = any, ports = { metal = {}, cuda = {}, hip = {} }, numerics = { tolerance = { f32 = 1e-6 } },"
                      " fallback = \"x\", body = \"words.kc\" }\n",
               i, words[i]);
  char path[128];
  snprintf(path, sizeof path, "%s/names.lua", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(spec.s, 1, spec.len, f), spec.len);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(run(".build/kgen -f @/names.lua -o @/names 2>&1"), 1);
  for (int i = 0; i < count; i++) {
    const char *said_of_it = arena_printf(a, "'%s' is a word of the kernel language", words[i]);
    if (!strstr(said, said_of_it)) fail_msg("'%s' of portable.h is taken as a name: add it to gen/spec/names.c", words[i]);
  }
  buf_free(&spec);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_its_table_a_backend_is_unknown),
      cmocka_unit_test(a_table_alone_gives_text_that_its_compiler_reads),
      cmocka_unit_test(a_wrong_spelling_in_the_table_is_found_by_that_compiler),
      cmocka_unit_test(a_damaged_table_is_told_by_its_file_and_field),
      cmocka_unit_test(no_word_of_the_language_may_name_a_parameter),
      cmocka_unit_test(every_word_compiles_on_every_backend),
  };
  return cmocka_run_group_tests(tests, make_copy, remove_copy);
}

/* test_emit.c: a generated text has what its body uses, stands as one would write it, and each of
*its
** lines finds its way back to the line that it is.  Run from the project's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "passes.h"

static char folder[64] = "/tmp/kgen-test-emit-XXXXXX";

static void write_text(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
  assert_int_equal(fclose(f), 0);
}

static const char spec[] =
    "backends { \"metal\", \"cuda\", \"hip\" }\n"
    "kernel \"trial\" {\n"
    "  summary = \"x times a factor.\", types = { { \"T\", { f32, f16, bf16 } } },\n"
    "  dims = { { \"n\", max = 65536 } }, inputs = { { \"x\", \"T\", { \"n\" } } },\n"
    "  scalars = { { \"scale\", \"f32\" } }, outputs = { { \"y\", \"T\", { \"n\" } } },\n"
    "  consts = { { \"THREADS\", 64 } }, launch = { groups = { 1, 1, 1 }, threads = { "
    "const.THREADS, 1, 1 } },\n"
    "  wave = any, ports = { metal = {}, cuda = {}, hip = {} },\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },\n"
    "  fallback = \"none\", body = \"body.kc\",\n"
    "}\n";

/* The library of the specification above with this body. */
static const Library *with_body(Arena *a, const char *body) {
  write_text("kernels.lua", spec);
  write_text("body.kc", body);
  const LibraryOptions o = {.spec = arena_printf(a, "%s/kernels.lua", folder),
                            .templates = "templates"};
  const Library *l = library_open(a, &o);
  assert_non_null(l);
  return l;
}

static const char *text_of(const Library *l, const char *path) {
  for (int i = 0; i < l->output_count; i++)
    if (strcmp(l->outputs[i].path, path) == 0) return l->outputs[i].text;
  fail_msg("there is no %s", path);
  return NULL;
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *s = text; (s = strstr(s, part)) != NULL; s++) n++;
  return n;
}

static void has(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("expected, as a part,\n%s\nin\n%s", part, text);
}

/* ---- what is used ---------------------------------------------------------------------------- */

static const char *const texts[] = {"metal/trial.metal", "cuda/trial.cu", "hip/trial.hip"};

static void only_the_overloads_that_are_called_are_written(void **state) {
  (void)state;
  Arena *a = arena_new();
  const Library *l = with_body(
      a, "f32 keep = scale;\nfor (u32 i = thread * 4; i < min(n, 1024u); i += THREADS * 4) {\n"
         "  const f32x4 v = load4(x + i) * scale + load4(x);\n  keep = max(keep, v.x);\n"
         "  y[i] = T(keep);\n}\n");
  const Facts *f = l->facts[0][0];
  static const char *const called[] = {
      "load4(bf16)",           "load4(f16)",   "load4(f32)",
      "max(f32,f32)",          "min(u32,u32)", "operator*(f32x4,f32)",
      "operator+(f32x4,f32x4)"};
  assert_int_equal(f->overload_count, sizeof called / sizeof *called);
  for (int i = 0; i < f->overload_count; i++) assert_string_equal(f->overloads[i], called[i]);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *text = text_of(l, texts[i]);
    assert_int_equal(count(text, " load4("), 3 + 2); /* as they are declared, and called */
    assert_int_equal(count(text, " store4("), 0);
    assert_int_equal(count(text, "u32 kg_min(u32 a, u32 b)"), 1);
    assert_int_equal(count(text, "f32 kg_max(f32 a, f32 b)"), 1);
    assert_int_equal(count(text, " kg_min("), 1 + 1);
    assert_int_equal(count(text, " kg_max("), 1 + 1);
    assert_int_equal(count(text, "operator*("), 1);
    assert_int_equal(count(text, "operator+("), 1);
    assert_int_equal(count(text, "operator-("), 0);
  }
  arena_free(a);
}

static void an_overload_that_a_library_function_calls_for_one_type_is_written(void **state) {
  (void)state;
  Arena *a = arena_new();
  const Library *l = with_body(
      a, "y[thread] = x[thread];\nif (thread == 0) store_run(y, 0, n, true, all4(scale));\n");
  const Facts *f = l->facts[0][0];
  assert_int_equal(f->overload_count, 3);
  assert_string_equal(f->overloads[0], "store4(bf16,f32x4)");
  assert_string_equal(f->overloads[2], "store4(f32,f32x4)");
  arena_free(a);
}

/* ---- how it stands --------------------------------------------------------------------------- */

static void the_body_stands_a_step_in_and_what_was_hoisted_is_said(void **state) {
  (void)state;
  Arena *a = arena_new();
  const Library *l =
      with_body(a, "LOCAL f32 slot[THREADS];\n"
                   "LOCAL f32 one[4]; const u32 i = thread; LOCAL u32 two[2]; // after it\n"
                   "LOCAL f32 rows\n  [THREADS];\n\n"
                   "slot[i] = one[0] = rows[i] = f32(x[i]);\n"
                   "two[0] = /* a\n    comment */ 1;\n"
                   "y[i] = T(slot[i] * scale);\n");
  has(text_of(l, "hip/trial.hip"),
      "#line 1 \"body.kc\"\n"
      "  // LOCAL f32 slot[THREADS]: declared by the entry\n"
      "  /* LOCAL f32 one[4]: declared by the entry */ const u32 i = thread; /* LOCAL u32 two[2]: "
      "declared by the entry */ // after it\n"
      "  // LOCAL f32 rows [THREADS]: declared by the entry\n"
      "  //\n"
      "\n"
      "  slot[i] = one[0] = rows[i] = f32(x[i]);\n"
      "  two[0] = /* a\n"
      "      comment */ 1;\n"
      "  y[i] = T(slot[i] * scale);\n"
      "}\n");
  arena_free(a);
}

static void a_message_about_the_body_has_the_bodys_column(void **state) {
  (void)state;
  Arena *a = arena_new();
  const Facts f = {.path = "kernels/a.kc"};
  assert_string_equal(emit_own_column(a, &f, "kernels/a.kc:12:9: error: x\n  9"),
                      "kernels/a.kc:12:7: error: x\n  9");
  assert_string_equal(emit_own_column(a, &f, "kernels/a.kc:12:2: error: x"),
                      "kernels/a.kc:12:2: error: x");
  assert_string_equal(emit_own_column(a, &f, "kernels/a.kc(12): error: x"),
                      "kernels/a.kc(12): error: x");
  assert_string_equal(emit_own_column(a, &f, "templates/lib/a.kc:12:9: error: x"),
                      "templates/lib/a.kc:12:9: error: x");
  arena_free(a);
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* Without the blanks at both ends. */
static const char *blanks_skipped(const char *s, size_t *len) {
  while (*len > 0 && *s == ' ') s++, (*len)--;
  while (*len > 0 && s[*len - 1] == ' ') (*len)--;
  return s;
}

/* Line `number` of a text. */
static const char *line_of(const char *text, int number, size_t *len) {
  for (; number > 1 && text; number--) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  *len = text ? strcspn(text, "\n") : 0;
  return text ? blanks_skipped(text, len) : "";
}

/* What a line of a text must have of the line that its marks say it is: a line of comment word for
** word; nothing where nothing is.  Returns whether it could be told. */
static bool follows(const char *path, const char *s, size_t len, const char *source, int number) {
  size_t own;
  const char *line = line_of(source, number, &own);
  s = blanks_skipped(s, &len);
  const bool comment = own > 1 && memcmp(line, "//", 2) == 0;
  if (own == 0 ? len == 0 || *s == '}' : !comment || (len == own && memcmp(s, line, len) == 0))
    return comment;
  fail_msg("%s: \"%.*s\" should be line %d, \"%.*s\"", path, (int)len, s, number, (int)own, line);
  return false;
}

static void every_line_of_every_text_is_the_one_that_its_marks_say(void **state) {
  (void)state;
  Arena *a = arena_new();
  const LibraryOptions o = {.spec = "kernels.lua"};
  const Library *l = library_open(a, &o);
  assert_non_null(l);
  int told = 0, marks = 0, functions = 0;
  for (int i = 0; i < l->output_count; i++) {
    if (!strstr(l->outputs[i].text, "#line ")) continue; /* a table */
    const char *source = NULL, *s = l->outputs[i].text;
    int line = 0;
    for (size_t len; *s; s += len + 1, line++) {
      char file[256];
      len = strcspn(s, "\n");
      if (sscanf(s, "#line %d \"%255[^\"]\"", &line, file) == 2) {
        size_t size;
        const char *why;
        source = strcmp(file, l->outputs[i].path) == 0 ? NULL : file_read(a, file, &size, &why);
        marks++;
        line--;
      } else if (source) {
        told += follows(l->outputs[i].path, s, len, source, line);
      }
    }
  }
  for (int i = 0; i < l->spec->kernel_count; i++)
    for (int n = 0; n < l->spec->kernels[i]->port_count; n++)
      if (l->facts[i][n]) functions += l->facts[i][n]->lib_count;
  assert_in_range(told, 1000, 100000);
  assert_in_range(marks, 100, functions); /* not one a function */
  arena_free(a);
}

static int enter(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **state) {
  (void)state;
  char path[128];
  static const char *const files[] = {"kernels.lua", "body.kc"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_the_overloads_that_are_called_are_written),
      cmocka_unit_test(an_overload_that_a_library_function_calls_for_one_type_is_written),
      cmocka_unit_test(the_body_stands_a_step_in_and_what_was_hoisted_is_said),
      cmocka_unit_test(a_message_about_the_body_has_the_bodys_column),
      cmocka_unit_test(every_line_of_every_text_is_the_one_that_its_marks_say),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}

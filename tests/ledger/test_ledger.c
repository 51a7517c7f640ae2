/* test_ledger.c: the ledger's file, what moved, budgets, and what the disassembly shows. */
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

#include "ledger/disasm.h"
#include "ledger/ledger.h"
#include "base/text_hash.h"
#include "devices/code_object.h"
#include "devices/hip_compile.h"

static Arena *a;
static char path[] = "/tmp/kgen-test-ledger-XXXXXX";

static int make_arena(void **state) {
  (void)state;
  a = arena_new();
  const int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int free_arena(void **state) {
  (void)state;
  arena_free(a);
  return unlink(path);
}

static LedgerRow row(const char *instance, const char *target, char hash, int64_t vgpr) {
  LedgerRow r = {"scale", instance, target, 64, "", {0}};
  memset(r.text_hash, hash, 32);
  for (int c = 0; c < LEDGER_COLUMNS; c++) r.value[c] = c;
  r.value[LC_VGPR] = vgpr;
  return r;
}

static void write_file(const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

/* What a function prints to a file. */
static const char *printed(FILE *f) {
  static char text[8192];
  rewind(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

static void a_ledger_reads_back_as_it_was_written(void **state) {
  (void)state;
  LedgerRow rows[] = {row("custom_kernel_scale_float32", "gfx90a", 'a', 40),
                      row("custom_kernel_scale_float32", "gfx942", 'b', -1)};
  const Ledger ledger = {"7.2.4", 2, rows};
  const char *why = NULL;
  write_file(ledger_text(a, &ledger));
  const Ledger *back = ledger_read(a, path, &why);
  assert_non_null(back);
  assert_string_equal(back->compiler, "7.2.4");
  assert_int_equal(back->count, 2);
  for (int i = 0; i < 2; i++) {
    assert_string_equal(back->rows[i].kernel, "scale");
    assert_string_equal(back->rows[i].instance, rows[i].instance);
    assert_string_equal(back->rows[i].target, rows[i].target);
    assert_string_equal(back->rows[i].text_hash, rows[i].text_hash);
    assert_int_equal(back->rows[i].wave, 64);
    assert_memory_equal(back->rows[i].value, rows[i].value, sizeof rows[i].value);
  }
}

static void an_edited_or_cut_ledger_is_refused(void **state) {
  (void)state;
  LedgerRow rows[] = {row("custom_kernel_scale_float32", "gfx90a", 'a', 40)};
  const Ledger ledger = {"7.2.4", 1, rows};
  const char *why = NULL;
  char *text = ledger_text(a, &ledger);
  char *value = strstr(text, "\"vgpr\": 40");
  assert_non_null(value);
  value[8] = '5'; /* 50, by hand */
  write_file(text);
  assert_null(ledger_read(a, path, &why));
  assert_string_equal(why, "it is not as kgen wrote it");
  write_file("");
  assert_null(ledger_read(a, path, &why));
}

static void a_ledger_that_is_not_there_is_empty(void **state) {
  (void)state;
  const char *why = NULL;
  const Ledger *none = ledger_read(a, "/nonexistent/ledger.json", &why);
  assert_non_null(none);
  assert_int_equal(none->count, 0);
}

static void rows_of_unchanged_texts_are_taken_over_and_others_are_not(void **state) {
  (void)state;
  LedgerRow had[] = {row("one", "gfx90a", 'a', 40), row("two", "gfx90a", 'b', 41)};
  LedgerRow want[] = {row("one", "gfx90a", 'a', -1), row("two", "gfx90a", 'c', -1),
                      row("three", "gfx90a", 'a', -1)};
  const Ledger old = {"7.2.4", 2, had};
  Ledger wanted = {NULL, 3, want};
  assert_int_equal(ledger_reuse(&wanted, &old), 2);
  assert_int_equal(want[0].value[LC_VGPR], 40);
  assert_int_equal(want[1].value[LC_VGPR], -1); /* the text is another one */
  /* the same text under another name is another row */
  assert_int_equal(want[2].value[LC_VGPR], -1);
  assert_null(wanted.compiler);
}

static void what_moved_is_a_table_of_the_values_that_differ(void **state) {
  (void)state;
  LedgerRow before[] = {row("one", "gfx90a", 'a', 40), row("two", "gfx90a", 'b', 41)};
  LedgerRow after[] = {row("one", "gfx90a", 'a', 40), row("two", "gfx90a", 'c', 64)};
  const Ledger from = {"7.2.4", 2, before}, to = {"7.2.4", 2, after};
  FILE *f = tmpfile();
  assert_int_equal(ledger_moved(&from, &to, f), 1);
  char expected[512];
  snprintf(expected, sizeof expected, "%-60s %-8s %-12s %8s %8s\n%-60s %-8s %-12s %8d %8d\n",
           "instance", "target", "what", "was", "is", "two", "gfx90a", "vgpr", 41, 64);
  assert_string_equal(printed(f), expected);
  f = tmpfile();
  assert_int_equal(ledger_moved(&from, &from, f), 0);
  assert_string_equal(printed(f), "");
}

/* With so many, what has moved would take minutes to say. */
static void a_ledger_of_other_texts_is_stale_and_that_is_soon_said(void **state) {
  (void)state;
  const LibraryOptions options = {.spec = "kernels.lua", .templates = "templates"};
  const Library *l = library_open(a, &options);
  assert_non_null(l);
  Ledger *now = ledger_wanted(a, l), old = *now;
  old.compiler = "7.2";
  old.rows = arena_alloc(a, (size_t)now->count * sizeof *old.rows);
  memcpy(old.rows, now->rows, (size_t)now->count * sizeof *old.rows);
  for (int i = 0; i < old.count; i++)
    for (int c = 0; c < LEDGER_COLUMNS; c++) old.rows[i].value[c] = 1;
  const int changed = old.count / 2;
  assert_in_range(changed, 300, 100000);
  for (int i = 0; i < changed; i++) old.rows[i].text_hash[0] ^= 1;
  write_file(ledger_text(a, &old));
  FILE *f = tmpfile();
  assert_int_equal(ledger_check(a, l, path, "kgen ledger -f here", f), 1);
  assert_string_equal(
      printed(f),
      arena_printf(a,
                   "%s: stale: %d of %d rows are of texts that have changed, %d of its rows are "
                   "of none; run 'kgen ledger -f here'\n"
                   "more than 200 rows are not compiled here: 'kgen ledger -f here' does, and "
                   "shows what has moved\n",
                   path, changed, old.count, changed));
}

static void tokens_alone_decide_whether_a_row_holds(void **state) {
  (void)state;
  static const char text[] = "#line 1 \"a.kc\"\n#define F(x) (x) // one\nint f = F(a + b);\n";
  static const char *const same[] = {
      "#line 7 \"other/a.kc\"\n#  define F(x) (x)\nint f = F(a + b);\n",
      "#define F(x) (x)\n\n/* two */ int f =\n  F(a+b); // three\n#line 3 \"b.kc\"\n"};
  static const char *const others[] = {
      "#define F(x) (x)\nint f = F(a - b);\n",  "#define F (x) (x)\nint f = F(a + b);\n",
      "#define F(x) (x) int f = F(a + b);\n",   "#define F(x) (x)\nint f = F(ab);\n",
      "#define F(x) (x)\nint f = F(a + b)\n",   "#define F(x) (x)\nint f = F(a ++b);\n",
      "//#define F(x) (x)\nint f = F(a + b);\n"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    assert_string_equal(text_tokens(a, same[i]), text_tokens(a, text));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_string_not_equal(text_tokens(a, others[i]), text_tokens(a, text));
}

/* As text_tokens says of the texts that it is for. */
static void no_text_of_the_library_asks_where_it_stands(void **state) {
  (void)state;
  const LibraryOptions options = {.spec = "kernels.lua", .templates = "templates"};
  const Library *l = library_open(a, &options);
  assert_non_null(l);
  for (int i = 0; i < l->output_count; i++) {
    const Output *o = &l->outputs[i];
    if (strncmp(o->path, "hip/", 4) != 0) continue;
    int count;
    const Token *t = lex(a, o->text, strlen(o->text), &count);
    for (int j = 0; j < count; j++) {
      assert_false(token_is(&t[j], "__LINE__") || token_is(&t[j], "__FILE__"));
      if (t[j].kind == TOK_DIRECTIVE && memmem(t[j].s, (size_t)t[j].len, "define", 6) != NULL)
        assert_null(memchr(t[j].s + 1, '#', (size_t)t[j].len - 1)); /* a string of an argument */
    }
  }
}

static void a_row_over_its_kernel_s_budget_is_named(void **state) {
  (void)state;
  Kernel kernel = {.name = "scale", .file = "kernels.lua", .line = 3, .budget_count = 1};
  kernel.budget[0].name = "vgpr";
  kernel.budget[0].most = 40;
  Kernel *kernels[] = {&kernel};
  const Spec spec = {.file = "kernels.lua", .folder = "", .kernel_count = 1, .kernels = kernels};
  const Library library = {.spec = &spec};
  LedgerRow rows[] = {row("one", "gfx90a", 'a', 40), row("two", "gfx90a", 'b', 41)};
  const Ledger ledger = {"7.2.4", 2, rows};
  FILE *f = tmpfile();
  assert_int_equal(ledger_over_budget(&library, &ledger, f), 1);
  assert_string_equal(printed(f),
                      "two for gfx90a: vgpr is 41; the budget of scale (kernels.lua:3) is 40\n");
}

/* ---- the disassembly: texts whose loads are known -------------------------------------------- */

static const char *const copies[] = {
    "extern \"C\" __global__ void __launch_bounds__(64) copy(const float *x, float *y) {\n"
    "  y[threadIdx.x] = x[threadIdx.x];\n}\n",
    "typedef float wide __attribute__((ext_vector_type(4)));\n"
    "extern \"C\" __global__ void __launch_bounds__(64) copy(const wide *x, wide *y) {\n"
    "  y[threadIdx.x] = x[threadIdx.x];\n}\n",
    "extern \"C\" __global__ void __launch_bounds__(64) copy(const unsigned short *x, unsigned "
    "short *y) {\n"
    "  y[threadIdx.x] = x[threadIdx.x];\n}\n",
};

static void loads_and_stores_are_as_wide_as_the_text_has_them(void **state) {
  (void)state;
  static const int bytes[] = {4, 16, 2};
  static const char *const targets[] = {"gfx90a", "gfx1030"};
  static const char *const options[] = {"-O3", NULL};
  kg_hip_compiler *compiler = NULL;
  kg_error error = {0};
  if (kg_hip_compiler_open(NULL, &compiler, &error) != KG_OK) {
    print_message("skipped, it needs hipRTC: %s\n", error.message);
    skip();
  }
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 3; i++) {
      const kg_source source = {.kernel = "copy",
                                .entry = "copy",
                                .text = copies[i],
                                .file = "copy.hip",
                                .options = options,
                                .wave = t == 0 ? 64 : 32};
      kg_blob blob = {0};
      Code code;
      const char *why = NULL;
      if (kg_hip_compile(compiler, &source, targets[t], &blob, NULL, &error) != KG_OK)
        fail_msg("%s", error.message);
      CodeObject object = {blob.bytes, blob.size, "copy", targets[t]};
      if (!code_read(a, &object, compiler, &code, &why)) fail_msg("%s", why);
      const CodeFacts facts = code_facts(&code);
      assert_int_equal(facts.widest_load, bytes[i]);
      assert_int_equal(facts.widest_store, bytes[i]);
      assert_true(code.count > 3);
      uint64_t at = 0; /* the instructions cover it, and each is one */
      for (int n = 0; n < code.count; n++) {
        assert_int_equal(code.lines[n].at, at);
        assert_string_not_equal(code.lines[n].words, "?");
        at += code.lines[n].bytes;
      }
      assert_int_equal(at, code.bytes);
      assert_int_equal(code.mode, 0xf0);
      object.entry = "paste";
      assert_false(code_read(a, &object, compiler, &code, &why));
      assert_string_equal(why, "it holds no function of that name");
      free(blob.bytes);
    }
  kg_hip_compiler_close(compiler);
}

/* Every row that is not known is one that nobody judges. */
static void the_committed_ledger_knows_each_of_its_values(void **state) {
  (void)state;
  const char *why = NULL;
  const Ledger *l = ledger_read(a, "generated/" LEDGER_FILE, &why);
  assert_non_null(l);
  assert_true(l->count > 0);
  for (int i = 0; i < l->count; i++)
    for (int c = 0; c < LEDGER_COLUMNS; c++)
      if (l->rows[i].value[c] < 0 && c != LC_OCCUPANCY)
        fail_msg("%s for %s: %s is not known", l->rows[i].instance, l->rows[i].target,
                 ledger_column[c]);
}

/* Bytes that are no instruction are passed by, and the rest is read. */
static void one_unknown_word_does_not_end_the_reading(void **state) {
  (void)state;
  static const uint32_t words[] = {0x7e000280, 0xffffffff, 0xbf810000}; /* v_mov, ?, s_endpgm */
  kg_hip_compiler *compiler = NULL;
  kg_error error = {0};
  char *listing;
  if (kg_hip_compiler_open(NULL, &compiler, &error) != KG_OK) {
    print_message("skipped, it needs hipRTC: %s\n", error.message);
    skip();
  }
  if (kg_hip_disassemble(compiler, "gfx90a", words, sizeof words, &listing, &error) != KG_OK)
    fail_msg("%s", error.message);
  assert_string_equal(listing, "0 4 v_mov_b32_e32 v0, 0\n4 4 ?\n8 4 s_endpgm\n");
  free(listing);
  assert_int_equal(kg_hip_disassemble(compiler, "gfx1", words, 4, &listing, &error), KG_BAD_TARGET);
  kg_hip_compiler_close(compiler);
}

static void bytes_that_are_no_code_object_are_refused(void **state) {
  (void)state;
  const CodeObject nothing = {"nothing", 7, "copy", "gfx90a"};
  const char *why = NULL;
  Code code;
  assert_false(code_read(a, &nothing, NULL, &code, &why));
  assert_string_equal(why, "it is no ELF file");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ledger_reads_back_as_it_was_written),
      cmocka_unit_test(an_edited_or_cut_ledger_is_refused),
      cmocka_unit_test(a_ledger_that_is_not_there_is_empty),
      cmocka_unit_test(rows_of_unchanged_texts_are_taken_over_and_others_are_not),
      cmocka_unit_test(what_moved_is_a_table_of_the_values_that_differ),
      cmocka_unit_test(a_ledger_of_other_texts_is_stale_and_that_is_soon_said),
      cmocka_unit_test(tokens_alone_decide_whether_a_row_holds),
      cmocka_unit_test(no_text_of_the_library_asks_where_it_stands),
      cmocka_unit_test(a_row_over_its_kernel_s_budget_is_named),
      cmocka_unit_test(loads_and_stores_are_as_wide_as_the_text_has_them),
      cmocka_unit_test(the_committed_ledger_knows_each_of_its_values),
      cmocka_unit_test(one_unknown_word_does_not_end_the_reading),
      cmocka_unit_test(bytes_that_are_no_code_object_are_refused),
  };
  return cmocka_run_group_tests(tests, make_arena, free_arena);
}

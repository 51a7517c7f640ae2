/* test_bounds.c: bodies, libraries and specifications of a size that nobody writes by hand.  What
** is too deep, too long or too many is said to be; what is only large is checked to its end, and
** the answer is the right one.
**
** Runs the kgen that $KGEN names, or .build/kgen, in a folder of its own.  Cases that a person can
** read stand in tests/bad. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "devices/code_object.h"
#include "verify/compilers_own.h"

#include "shell.h"

static char kgen[4096];
static Buf body, library;

/* ---- the folder ------------------------------------------------------------------------------ */

static int enter(void **state) {
  (void)state;
  const char *given = getenv("KGEN"), *tmp = getenv("TMPDIR");
  char home[2048];
  if (!getcwd(home, sizeof home)) return -1;
  if (given && given[0] == '/')
    snprintf(kgen, sizeof kgen, "%s", given);
  else
    snprintf(kgen, sizeof kgen, "%s/%s", home, given ? given : ".build/kgen");
  snprintf(folder, sizeof folder, "%.40s/kgen-bounds-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return -1;
  assert_int_equal(run("cp -r templates @/templates && cp tests/bad/body.lua @/kernels.lua"), 0);
  return 0;
}

static int leave(void **state) {
  (void)state;
  buf_free(&body);
  buf_free(&library);
  return run("rm -rf @");
}

static int clear(void **state) {
  (void)state;
  buf_free(&body);
  buf_free(&library);
  buf_puts(&body, "");
  buf_puts(&library, "");
  return 0;
}

static void put_file(const char *name, const Buf *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text->s, 1, text->len, f), text->len);
  assert_int_equal(fclose(f), 0);
}

/* Generates from kernels.lua with the body and the library's further file; what is said is in
** `said`, lines cut short. */
static int generate(void) {
  char command[8192];
  put_file("body.kc", &body);
  put_file("templates/lib/own.kc", &library);
  snprintf(command, sizeof command,
           "cd @ && { %s -t templates -o out >log 2>&1; echo \"status $?\"; "
           "cut -c1-200 log | head -n 99; }",
           kgen);
  run(command);
  const char *status = strstr(said, "status ");
  assert_non_null(status);
  return atoi(status + strlen("status "));
}

static void repeat(Buf *b, const char *text, int times) {
  for (int i = 0; i < times; i++) buf_puts(b, text);
}

static const char stores[] = "y[thread] = T(f32(x[thread]) * scale);\n";

static void expect_faults(const char *fault) {
  assert_int_equal(generate(), 1);
  if (!strstr(said, fault)) fail_msg("expected, as a part,\n%s\nbut was said\n%s", fault, said);
}

static void expect_fine(void) {
  if (generate() != 0) fail_msg("nothing is wrong, but was said\n%s", said);
}

/* ---- too deep -------------------------------------------------------------------------------- */

static const char too_deep[] = "too deep to be checked";

/* before * times, inner, after * times. */
static void nest(const char *first, const char *before, const char *inner, const char *after,
                 const char *last, int times) {
  clear(NULL);
  buf_puts(&body, first);
  repeat(&body, before, times);
  buf_puts(&body, inner);
  repeat(&body, after, times);
  buf_puts(&body, last);
}

static void what_nests_too_deep_is_refused_however_it_nests(void **state) {
  (void)state;
  static const struct {
    const char *first, *before, *inner, *after, *last;
    int times;
  } ways[] = {
      {"const u32 v = thread", "", "", " + 0", ";\ny[v] = T(scale);\n", 10000},
      {"const u32 v = ", "(", "thread", ")", ";\ny[v] = T(scale);\n", 5000},
      {"", "{", stores, "}", "", 5000},
      {"", "if (D > 1u) {", stores, "}", "", 250},
      {"", "if (D > 1u) ", stores, "", "", 60000},
      {"", "for (;;) ", stores, "", "", 60000},
      {"if (D == 1u) y[0] = T(scale);\n", "else if (D == 2u) y[0] = T(scale);\n", "", "", stores,
       60000},
      {"if (D == 1u) { y[0] = T(scale); }\n", "else if (D == 2u) { y[0] = T(scale); }\n", "", "",
       stores, 60000},
      {"", "do ", stores, " while (false);", "", 60000},
      {"const i32 v = ", "- ", "i32(thread)", "", ";\ny[v] = T(scale);\n", 60000},
      {"const bool v = ", "!", "(thread > 3u)", "", ";\nif (v) y[0] = T(scale);\n", 60000},
      {"const f32 v = ", "(f32)", "scale", "", ";\ny[0] = T(v);\n", 60000},
      {"const f32 v = ", "D > 3u ? 1.0f : ", "scale", "", ";\ny[0] = T(v);\n", 60000},
      {"u32 v = 0;\nv ", "= v ", "= thread", "", ";\ny[v] = T(scale);\n", 60000},
      {"switch (D) {\n", "case 3u: ", "", "", ";\n}\n", 60000},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    nest(ways[i].first, ways[i].before, ways[i].inner, ways[i].after, ways[i].last, ways[i].times);
    expect_faults(i == sizeof ways / sizeof *ways - 1 ? "error E1" : too_deep);
  }
  clear(NULL); /* labels with values of their own, as clang accepts them */
  buf_puts(&body, "switch (D) {\n");
  for (int i = 0; i < 3000; i++) buf_printf(&body, "case %du:\n", i);
  buf_printf(&body, "%s}\n", stores);
  expect_faults("note: a case label stands within the one before it, so no more than some 400 may "
                "follow each other");
}

static void what_is_wide_or_a_little_deep_is_not_taken_for_deep(void **state) {
  (void)state;
  nest("const u32 v = thread", "", "", " + 0", ";\ny[v] = T(f32(x[v]) * scale);\n", 300);
  expect_fine();
  nest("const i32 table[3000] = { ", "-1, ", "-(-2)", "",
       " };\ny[thread] = T(f32(x[thread]) * scale * f32(table[2]));\n", 2999);
  expect_fine();
  nest("", "if (D > 7u) y[0] = T(scale);\n", stores, "", "", 3000);
  expect_fine();
  nest("f32 v = f32(x[thread]) * scale;\n", "v = v > 3.0f ? v : -v;\n", "y[thread] = T(v);\n", "",
       "", 3000);
  expect_fine();
}

static void a_chain_of_variables_is_followed(void **state) {
  (void)state;
  for (int length = 100; length <= 5000; length += 4900) {
    clear(NULL);
    buf_puts(&body, "const u32 a0 = group_x * D;\n");
    for (int i = 1; i < length; i++)
      buf_printf(&body, "const u32 a%d_ = a%d%s + 1u;\n", i, i - 1, i > 1 ? "_" : "");
    buf_printf(&body, "y[a%d_] = T(f32(x[thread]) * scale);\n", length - 1);
    expect_faults("error E121");
  }
}

/* ---- too long -------------------------------------------------------------------------------- */

static void what_doubles_at_each_step_is_checked_to_its_end(void **state) {
  (void)state;
  buf_puts(&body, "const u32 a0_ = group_x * D;\n");
  for (int i = 1; i < 60; i++)
    buf_printf(&body, "const u32 a%d_ = a%d_ + a%d_;\n", i, i - 1, i - 1);
  buf_puts(&body, "y[a59_] = T(f32(x[thread]) * scale);\n");
  expect_faults("error E121");
  clear(NULL);
  buf_puts(&body, "const u32 a0_ = 1;\n");
  for (int i = 1; i < 60; i++)
    buf_printf(&body, "const u32 a%d_ = a%d_ * a%d_;\n", i, i - 1, i - 1);
  buf_puts(&body, "LOCAL f32 q[8];\nq[a59_] = scale;\nbarrier();\n"
                  "y[thread] = T(f32(x[thread]) * q[0]);\n");
  expect_fine();
  clear(NULL);
  buf_puts(&library, "void c0() { barrier(); }\n");
  for (int i = 1; i < 60; i++)
    buf_printf(&library, "void c%d() { c%d(); c%d(); }\n", i, i - 1, i - 1);
  buf_printf(&body, "c59();\n%s", stores);
  expect_fine();
  clear(NULL);
  buf_puts(&library, "void c0() { barrier(); c0(); c0(); }\n");
  buf_printf(&body, "c0();\n%s", stores);
  expect_faults("error E107: c0 calls itself");
}

static void loops_that_take_too_long_to_follow_are_refused(void **state) {
  (void)state;
  for (int depth = 8; depth <= 40; depth += 32) {
    clear(NULL);
    buf_puts(&body, "barrier();\n");
    for (int i = 0; i <= depth; i++) buf_printf(&body, "u32 v%d = 0;\n", i);
    for (int i = 0; i < depth; i++)
      buf_printf(&body, "v%d = 0;\nfor (u32 k%d = 0; k%d < D; k%d++) {\n", i, i, i, i);
    buf_printf(&body, "v%d = thread;\n", depth);
    for (int i = depth; i-- > 0;) buf_printf(&body, "v%d = max(v%d, v%d);\n}\n", i, i, i + 1);
    buf_puts(&body, "y[v0] = T(f32(x[thread]) * scale);\n");
    if (depth == 8)
      expect_fine();
    else
      expect_faults("error E152: its loops, branches and calls take more than 5 million steps");
  }
}

static void what_libclang_takes_too_long_for_is_refused(void **state) {
  (void)state;
  for (int length = 200; length <= 3000; length += 2800) {
    clear(NULL);
    buf_puts(&body, "const u32 a0_ = D;\n");
    for (int i = 1; i < length; i++)
      buf_printf(&body, "const u32 a%d_ = a%d_ > 3u ? a%d_ : 3u;\n", i, i - 1, i - 1);
    buf_printf(&body, "if (a%d_ > thread) %s", length - 1, stores);
    setenv("KGEN_PARSE_SECONDS", "1", 1);
    if (length == 200)
      expect_fine();
    else
      expect_faults("body.kc:1: error E155: libclang takes more than 1 seconds to parse it: too "
                    "long to be checked");
    unsetenv("KGEN_PARSE_SECONDS");
  }
}

static void a_fault_of_the_last_of_many_instances_is_found(void **state) {
  (void)state;
  Buf spec = {0};
  assert_int_equal(run("cp @/kernels.lua @/one.lua && cat @/one.lua"), 0);
  const char *consts = strstr(said, "consts = { THREADS = 256 }");
  assert_non_null(consts);
  buf_puts(&spec, "local function many(n)\n  local t = {}\n  for i = 1, n do t[i] = i * 1024 end\n"
                  "  return t\nend\n");
  buf_put(&spec, said, (size_t)(consts - said));
  buf_printf(&spec, "consts = { { \"A\", many(32) }, { \"B\", many(32) }, { \"THREADS\", 256 } }%s",
             consts + strlen("consts = { THREADS = 256 }"));
  put_file("kernels.lua", &spec);
  buf_free(&spec);
  buf_printf(&body,
             "%sif (A == 32768u && B == 32768u && sizeof(T) == 2u && WAVE == 64u)\n"
             "  y[min(D, A) * (B * 4u)] = T(scale);\n",
             stores);
  expect_faults("body.kc:3:5: error E121");
  if (!strstr(said, "where T is f16, A is 32768, B is 32768, WAVE is 64"))
    fail_msg("the instance was expected, but was said\n%s", said);
  assert_int_equal(run("mv @/one.lua @/kernels.lua"), 0);
}

/* ---- a library's calls, arrays, files -------------------------------------------------------- */

static void a_chain_of_calls_is_followed_or_refused(void **state) {
  (void)state;
  static const struct {
    int length;
    const char *fault;
  } chains[] = {{90, "error E141"}, {150, "error E151"}, {5000, "error E151"}};
  for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
    clear(NULL);
    buf_puts(&library, "void c0() { barrier(); }\n");
    for (int i = 1; i <= chains[c].length; i++)
      buf_printf(&library, "void c%d() { c%d(); }\n", i, i - 1);
    buf_printf(&body, "if (thread < 3u) c%d();\n%s", chains[c].length, stores);
    expect_faults(chains[c].fault);
  }
}

/* How often `word` stands in a generated text. */
static int count_in(const char *file, const char *word) {
  char command[256];
  snprintf(command, sizeof command, "grep -o '%s' @/out/%s | wc -l", word, file);
  assert_int_equal(run(command), 0);
  return atoi(said);
}

static void a_function_gets_every_one_of_its_arrays(void **state) {
  (void)state;
  buf_puts(&library, "f32 many(f32 v) {\n");
  for (int i = 0; i < 100; i++) buf_printf(&library, "  LOCAL f32 slot_%d[4];\n", i);
  for (int i = 0; i < 100; i++) buf_printf(&library, "  slot_%d[thread %% 4] = v;\n", i);
  buf_puts(&library, "  barrier();\n  return slot_0[0];\n}\n");
  buf_puts(&body, "y[thread] = T(many(f32(x[thread]) * scale));\n");
  expect_fine();
  for (int i = 0; i < 100; i += 33) { /* its parameter, declared in the entry, handed over */
    char word[40];
    snprintf(word, sizeof word, "f32 \\*slot_%d\\b", i);
    assert_int_equal(count_in("metal/trial.metal", word), 1);
    snprintf(word, sizeof word, "\\bmany_slot_%d\\b", i);
    assert_int_equal(count_in("metal/trial.metal", word), 2);
  }
}

static void calls_within_calls_each_get_what_they_need(void **state) {
  (void)state;
  buf_puts(&library, "f32 mine(f32 v) { return v + f32(lane); }\n");
  buf_puts(&body, "y[thread] = T(");
  repeat(&body, "mine(", 100);
  buf_puts(&body, "f32(x[thread]) * scale");
  repeat(&body, ")", 100);
  buf_puts(&body, ");\n");
  expect_fine();
  assert_int_equal(count_in("hip/trial.hip", "mine("), 101);
  assert_int_equal(count_in("hip/trial.hip", ", lane)"), 100);
}

static void a_library_of_many_files_is_read_whole(void **state) {
  (void)state;
  buf_puts(&body, "y[thread] = T(f32(x[thread]) * scale");
  for (int i = 0; i < 300; i++) {
    char name[64];
    Buf one = {0};
    snprintf(name, sizeof name, "templates/lib/many_%d.kc", i);
    buf_printf(&one, "f32 from_%d() { return %d.0f; }\n", i, i);
    put_file(name, &one);
    buf_free(&one);
    if (i % 50 == 49) buf_printf(&body, " + from_%d()", i);
  }
  buf_puts(&body, ");\n");
  const int status = generate();
  assert_int_equal(count_in("hip/trial.hip", "f32 from_"), 6);
  assert_int_equal(run("rm @/templates/lib/many_*.kc"), 0);
  assert_int_equal(status, 0);
}

/* ---- a specification's own limits ------------------------------------------------------------ */

static void one_more_than_a_specification_may_have_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *field, *made, *fault;
  } rows[] = {
      {"types = { T = { f32, f16, bf16 } }",
       "types = many(9, function(i) return { \"T\" .. i, { f32 } } end)",
       "error E027: trial: types: 9 entries are given; at most 8 are expected"},
      {"T = { f32, f16, bf16 }", "T = many(33, function() return f32 end)",
       "error E027: trial: types.T: 33 entries are given; at most 32 are expected"},
      {"consts = { THREADS = 256 }", "consts = many(17, function(i) return { \"C\" .. i, 1 } end)",
       "error E027: trial: consts: 17 entries are given; at most 16 are expected"},
      {"{ THREADS = 256 }",
       "{ { \"C\", many(33, function(i) return i end) }, { \"THREADS\", 256 } }",
       "error E027: trial: consts[1][2]: 33 entries are given; at most 32 are expected"},
      {"dims = { \"rows\", { \"D\", max = 65536 } }",
       "dims = many(17, function(i) return \"d\" .. i end)",
       "error E027: trial: dims: 17 entries are given; at most 16 are expected"},
      {"scalars = { { \"scale\", \"f32\" } }",
       "scalars = many(17, function(i) return { \"s\" .. i, \"f32\" } end)",
       "error E027: trial: scalars: 17 entries are given; at most 16 are expected"},
      {"wave = any", "wave = any, require = many(33, function() return dim.D:ge(1) end)",
       "error E027: trial: require: 33 entries are given; at most 32 are expected"},
      {"hip = {}", "hip = { why = \"a test\", define = named(17, \"C\", 1) }",
       "error E027: trial: ports.hip.define: 17 entries are given; at most 16 are expected"},
      {"wave = any", "wave = any, allow = named(17, \"E1\", \"a test\")",
       "error E027: trial: allow: 17 entries are given; at most 16 are expected"},
      {"wave = any", "wave = any, cases = many(1001, function() return {} end)",
       "error E027: trial: cases: 1001 entries are given; at most 1000 are expected"},
  };
  char base[4096];
  assert_int_equal(run("cat @/kernels.lua"), 0);
  snprintf(base, sizeof base, "%.4095s", said);
  buf_puts(&body, stores);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *at = strstr(base, rows[i].field);
    assert_non_null(at);
    Buf spec = {0};
    buf_puts(&spec, "local function many(n, make)\n  local t = {}\n"
                    "  for i = 1, n do t[i] = make(i) end\n  return t\nend\n"
                    "local function named(n, name, value)\n  local t = {}\n"
                    "  for i = 1, n do t[name .. i] = value end\n  return t\nend\n");
    buf_put(&spec, base, (size_t)(at - base));
    buf_printf(&spec, "%s%s", rows[i].made, at + strlen(rows[i].field));
    put_file("kernels.lua", &spec);
    buf_free(&spec);
    expect_faults(rows[i].fault);
  }
  const Buf again = {base, strlen(base), 0};
  put_file("kernels.lua", &again);
}

/* ---- many of a thing ------------------------------------------------------------------------- */

static void a_kernel_s_name_is_suggested_from_all_kernels(void **state) {
  (void)state;
  Buf spec = {0};
  buf_puts(&body, stores);
  run("sed 's/kernel \"trial\"/kernel(NAME)/' @/kernels.lua");
  buf_puts(&spec, "for i = 1, 300 do\nlocal NAME = \"trial_number_\" .. i\n");
  buf_printf(&spec, "%s\nend\n", said);
  put_file("many.lua", &spec);
  buf_free(&spec);
  put_file("body.kc", &body);
  char command[8192];
  snprintf(command, sizeof command, "cd @ && %s run trial_nmber_290 -t templates -f many.lua 2>&1",
           kgen);
  assert_int_equal(run(command), 2);
  assert_non_null(strstr(said, "did you mean 'trial_number_290'?"));
}

/* A type is known as one however many come before it. */
static void metal_s_pointers_are_checked_for_every_struct(void **state) {
  (void)state;
  Buf text = {0};
  for (int i = 0; i < 1000; i++) buf_printf(&text, "struct s%d { int a; };\n", i);
  buf_puts(&text, "void f(s999 *p) { p->a = 1; }\n");
  const kg_source source = {.kernel = "k", .entry = "k", .text = text.s, .file = "k.metal"};
  char *fault = metal_fault(&source, NULL);
  assert_non_null(fault);
  assert_non_null(strstr(fault, "a pointer or reference to s999 that names no address space"));
  free(fault);
  buf_free(&text);
}

/* An object that holds nothing but AMD's note:
** {"amdhsa.kernels": [{".deep": [[..]], ".name": "e"}]}. */
static Buf object_with_note(int depth) {
  Buf note = {0}, object = {0};
  buf_puts(&note, "\x81\xae"
                  "amdhsa.kernels\x91\x82\xa5.deep");
  repeat(&note, "\x91", depth);
  buf_puts(&note, "\x07\xa5.name\xa1"
                  "e");
  const Elf64_Nhdr head = {7, (Elf64_Word)note.len, 32};
  const Elf64_Phdr part = {.p_type = PT_NOTE,
                           .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
                           .p_filesz = sizeof head + 8 + note.len};
  const Elf64_Ehdr elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                          .e_machine = 224,
                          .e_phoff = sizeof elf,
                          .e_phnum = 1,
                          .e_phentsize = sizeof part};
  buf_put(&object, (const char *)&elf, sizeof elf);
  buf_put(&object, (const char *)&part, sizeof part);
  buf_put(&object, (const char *)&head, sizeof head);
  buf_put(&object, "AMDGPU\0", 8);
  buf_put(&object, note.s, note.len);
  buf_free(&note);
  return object;
}

static void metadata_that_nests_too_deep_is_refused_not_passed_over(void **state) {
  (void)state;
  for (int depth = 5; depth <= 50000; depth *= 10) {
    Buf object = object_with_note(depth);
    kg_code_object facts;
    kg_error error = {0};
    const kg_status status = kg_code_object_read(object.s, object.len, "e", &facts, &error);
    assert_int_equal(status, depth == 5 ? KG_OK : KG_DEVICE_FAILED);
    if (depth > 5) assert_non_null(strstr(error.message, too_deep));
    buf_free(&object);
  }
}

/* A second or two; the limit is for a machine that has much else to do. */
static void a_body_of_nothing_but_faults_is_told_of_at_once(void **state) {
  (void)state;
  static const struct {
    const char *text, *fault;
    int times;
  } rows[] = {
      {"#x\n", "more than 200 faults in one body", 300000},
      {"{\n", "this '{' is not closed", 500000},
      {"LOCAL f32 a[\n", "is not one plain array", 100000},
      {"\xff", "the byte 0xff is not in the kernel language", 1000000},
      {"%>\n", "the digraph %>", 300000},
      {"x", "larger than 4096 KiB", 5000000},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct timespec from, to;
    clear(NULL);
    repeat(&body, rows[i].text, rows[i].times);
    clock_gettime(CLOCK_MONOTONIC, &from);
    expect_faults(rows[i].fault);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 30);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, clear)
  const struct CMUnitTest tests[] = {
      TEST(what_nests_too_deep_is_refused_however_it_nests),
      TEST(a_body_of_nothing_but_faults_is_told_of_at_once),
      TEST(what_is_wide_or_a_little_deep_is_not_taken_for_deep),
      TEST(a_chain_of_variables_is_followed),
      TEST(what_doubles_at_each_step_is_checked_to_its_end),
      TEST(loops_that_take_too_long_to_follow_are_refused),
      TEST(what_libclang_takes_too_long_for_is_refused),
      TEST(a_fault_of_the_last_of_many_instances_is_found),
      TEST(a_chain_of_calls_is_followed_or_refused),
      TEST(a_function_gets_every_one_of_its_arrays),
      TEST(calls_within_calls_each_get_what_they_need),
      TEST(a_library_of_many_files_is_read_whole),
      TEST(one_more_than_a_specification_may_have_is_refused),
      TEST(a_kernel_s_name_is_suggested_from_all_kernels),
      TEST(metal_s_pointers_are_checked_for_every_struct),
      TEST(metadata_that_nests_too_deep_is_refused_not_passed_over),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}

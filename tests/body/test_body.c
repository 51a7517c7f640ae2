/* test_body.c: what a body uses is found exactly, and what is wrong in it is told exactly, at its
** own line.
**
** tests/bad/body_* hold one fault each, and its cure: bad.kc with all that must be said about it in
** `expect`, and good.kc, about which nothing is said (tests/bad/body.kc where it is not there).
** bad.lua and good.lua stand in for tests/bad/body.lua; bad_lib.kc and good_lib.kc are added to the
** library.  Each is read in a temporary folder as kernels.lua, body.kc and templates/.  Run from the
** project's root; with KGEN_EXPECT=1 in the environment the `expect` files are written instead of
** compared. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
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

static char scratch[PATH_MAX], root[PATH_MAX];

/* ---- the temporary folder -------------------------------------------------------------------- */

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
  assert_int_equal(fclose(f), 0);
}

static const char *read_text(Arena *a, const char *format, ...) {
  char path[PATH_MAX];
  size_t len;
  const char *why;
  va_list args;
  va_start(args, format);
  vsnprintf(path, sizeof path, format, args);
  va_end(args);
  return file_read(a, path, &len, &why);
}

/* Links to each file of a folder of the project. */
static void link_files(const char *folder) {
  char from[2 * PATH_MAX], to[2 * PATH_MAX];
  snprintf(from, sizeof from, "%s/%s", root, folder);
  DIR *d = opendir(from);
  assert_non_null(d);
  for (const struct dirent *e; (e = readdir(d));) {
    struct stat st;
    snprintf(from, sizeof from, "%s/%s/%s", root, folder, e->d_name);
    snprintf(to, sizeof to, "%s/%s/%s", scratch, folder, e->d_name);
    if (e->d_name[0] != '.' && stat(from, &st) == 0 && S_ISREG(st.st_mode))
      assert_int_equal(symlink(from, to), 0);
  }
  closedir(d);
}

static int enter(void **state) {
  (void)state;
  const char *tmp = getenv("TMPDIR");
  if (!getcwd(root, sizeof root)) return -1;
  snprintf(scratch, sizeof scratch, "%s/kgen-body-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(scratch) || chdir(scratch) != 0) return -1;
  static const char *const folders[] = {"templates/language", "templates/backends",
                                        "templates/lib"};
  if (mkdir("templates", 0777) != 0) return -1;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    if (mkdir(folders[i], 0777) != 0) return -1;
    link_files(folders[i]);
  }
  return 0;
}

static void empty_folder(const char *folder) {
  DIR *d = opendir(folder);
  for (const struct dirent *e; d && (e = readdir(d));) {
    char path[2 * PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
      empty_folder(path);
      rmdir(path);
    } else {
      unlink(path);
    }
  }
  if (d) closedir(d);
}

static int leave(void **state) {
  (void)state;
  if (chdir(root) != 0) return -1;
  empty_folder(scratch);
  return rmdir(scratch);
}

/* ---- reading a body -------------------------------------------------------------------------- */

typedef struct Found {
  Arena *a;
  Diags *d;
  Spec *spec;
  Language *l;
  const Facts *facts[MAX_BACKENDS];
  char *said;
} Found;

/* Reads kernels.lua and all bodies of its first kernel, in the temporary folder. */
static Found read_bodies(void) {
  Found f = {.a = arena_new()};
  int count;
  f.d = diags_new(f.a);
  f.l = language_load(f.a, "templates", f.d);
  const Words *words = language_words(f.l);
  const Backend **backends = backends_load(f.a, "templates", words, &count, f.d);
  f.spec = spec_load(f.a, "kernels.lua", words, backends, count, f.d);
  if (f.spec) language_load_own(f.l, f.spec->folder, f.d);
  if (f.spec && diags_errors(f.d) == 0 && f.spec->kernel_count > 0)
    for (int p = 0; p < f.spec->kernels[0]->port_count; p++)
      f.facts[p] = body_facts(f.a, f.l, f.spec->kernels[0], &f.spec->kernels[0]->ports[p], f.d);
  size_t len = 0;
  FILE *out = open_memstream(&f.said, &len);
  assert_non_null(out);
  diags_print(f.d, out, false);
  fclose(out);
  return f;
}

static void done(Found *f) {
  language_free(f->l);
  arena_free(f->a);
  free(f->said);
}

static void expect_within(const char *said, const char *part) {
  if (!strstr(said, part)) fail_msg("expected, as a part, \n%s\nbut was said\n%s", part, said);
}

static Found read_these(const char *spec, const char *body) {
  write_text("kernels.lua", spec);
  write_text("body.kc", body);
  return read_bodies();
}

/* ---- tests/bad ------------------------------------------------------------------------------- */

static int is_body_folder(const struct dirent *e) { return strncmp(e->d_name, "body_", 5) == 0; }

/* Lays out the files of `which` ("bad" or "good") of a folder and reads them. */
static Found read_case(Arena *a, const char *folder, const char *which) {
  const char *spec = read_text(a, "%s/tests/bad/%s/%s.lua", root, folder, which);
  if (!spec) spec = read_text(a, "%s/tests/bad/body.lua", root);
  const char *body = read_text(a, "%s/tests/bad/%s/%s.kc", root, folder, which);
  if (!body && strcmp(which, "good") == 0) body = read_text(a, "%s/tests/bad/body.kc", root);
  const char *lib = read_text(a, "%s/tests/bad/%s/%s_lib.kc", root, folder, which);
  assert_non_null(spec);
  assert_non_null(body);
  const char *beside = read_text(a, "%s/tests/bad/%s/%s_beside.kc", root, folder, which);
  unlink("templates/lib/own.kc");
  unlink("lib/beside.kc");
  if (lib) write_text("templates/lib/own.kc", lib);
  if (beside) {
    assert_true(mkdir("lib", 0777) == 0 || errno == EEXIST);
    write_text("lib/beside.kc", beside);
  }
  return read_these(spec, body);
}

static int check_case(const char *folder) {
  Arena *a = arena_new();
  int wrong = 0;
  Found f = read_case(a, folder, "bad");
  if (getenv("KGEN_EXPECT"))
    write_text(arena_printf(a, "%s/tests/bad/%s/expect", root, folder), f.said);
  const char *want = read_text(a, "%s/tests/bad/%s/expect", root, folder);
  if (!want || strcmp(want, f.said) != 0 || diags_errors(f.d) == 0) {
    print_error("%s: expected\n%s%s: was said\n%s", folder,
                want ? want : "(there is no file `expect`)\n", folder, f.said);
    wrong = 1;
  }
  done(&f);
  f = read_case(a, folder, "good");
  if (f.said[0]) {
    print_error("%s: nothing is wrong in its good.kc, but was said\n%s", folder, f.said);
    wrong = 1;
  }
  done(&f);
  unlink("templates/lib/own.kc");
  unlink("lib/beside.kc");
  rmdir("lib");
  arena_free(a);
  return wrong;
}

static void each_faulty_body_is_told_exactly_and_its_cure_is_silent(void **state) {
  (void)state;
  char path[2 * PATH_MAX];
  struct dirent **names;
  int wrong = 0;
  snprintf(path, sizeof path, "%s/tests/bad", root);
  const int n = scandir(path, &names, is_body_folder, alphasort);
  assert_true(n >= 30);
  for (int i = 0; i < n; i++) {
    wrong += check_case(names[i]->d_name);
    free(names[i]);
  }
  free(names);
  assert_int_equal(wrong, 0);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* A specification with these constants, ports and further fields; the group has const.THREADS
 * threads. */
static const char *spec_with(Arena *a, const char *consts, const char *ports, const char *more) {
  return arena_printf(
      a,
      "kernel \"trial\" {\n"
      "  summary = \"x times a factor.\",\n"
      "  types = { T = { f32, f16, bf16 } },\n"
      "  dims = { \"rows\", { \"D\", max = 65536 } },\n"
      "  inputs = { { \"x\", \"T\", { \"rows\", \"D\" } } },\n"
      "  scalars = { { \"scale\", \"f32\" } },\n"
      "  outputs = { { \"y\", \"T\", { \"rows\", \"D\" } } },\n"
      "  consts = %s,\n"
      "  launch = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },\n"
      "  wave = any,\n"
      "  ports = %s,\n"
      "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 1e-3, bf16 = 8e-3 } },\n"
      "  fallback = \"multiply in the graph\",\n"
      "  body = \"body.kc\",\n"
      "  %s\n"
      "}\n",
      consts, ports, more);
}

static const char *const all_ports = "{ metal = {}, cuda = {}, hip = {} }";
static const char *const fixed_threads = "{ THREADS = 256 }";

static const LibFunction *lib_named(const Facts *f, const char *name, int *at) {
  for (int i = 0; i < f->lib_count; i++)
    if (strcmp(f->lib[i].name, name) == 0) {
      if (at) *at = i;
      return &f->lib[i];
    }
  return NULL;
}

static void
a_body_has_exactly_the_library_functions_that_it_uses_each_after_those_it_calls(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""),
                       "// group_max is not called here\n"
                       "const f32 all = group_sum(f32(x[thread]) * scale);\n"
                       "y[thread] = T(rnd<T>(all));\n");
  assert_string_equal(f.said, "");
  const Facts *x = f.facts[0];
  assert_non_null(x);
  assert_ptr_equal(x, f.facts[1]); /* ports of one body share the result */
  assert_ptr_equal(x, f.facts[2]);
  int wave = 0, group = 0;
  assert_int_equal(x->lib_count, 3);
  assert_non_null(lib_named(x, "wave_sum", &wave));
  assert_non_null(lib_named(x, "group_sum", &group));
  assert_non_null(lib_named(x, "rnd", NULL));
  assert_true(wave < group);
  assert_int_equal(x->lib[wave].index_words, 0);
  assert_int_equal(x->lib[group].index_words, 1u << IX_LANE | 1u << IX_WAVE_INDEX);
  assert_int_equal(x->index_words, 1u << IX_THREAD | 1u << IX_LANE | 1u << IX_WAVE_INDEX);
  assert_true(x->lane_ops);
  assert_true(x->barriers);
  assert_string_equal(x->path, "body.kc");
  done(&f);
  arena_free(a);
}

static void a_library_functions_text_has_its_comment_and_the_line_where_it_starts(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""),
                       "y[thread] = T(rnd<T>(f32(x[thread]) * scale));\n");
  assert_string_equal(f.said, "");
  const LibFunction *rnd = lib_named(f.facts[0], "rnd", NULL);
  assert_string_equal(
      rnd->text,
      "// x rounded to S once, to nearest, ties to even, and widened again; x where S is f32.\n"
      "template <typename S> f32 rnd(f32 x) { return f32(S(x)); }");
  assert_string_equal(rnd->file, "templates/lib/round.kc");
  assert_int_equal(rnd->line, 3);
  assert_false(rnd->is_type);
  assert_false(f.facts[0]->lane_ops);
  assert_false(f.facts[0]->barriers);
  done(&f);
  arena_free(a);
}

static void a_struct_of_the_library_is_found_through_the_values_of_its_type(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""),
                       "const auto best = group_argmax(f32(x[thread]) * scale, thread);\n"
                       "y[thread] = T(best.value);\n");
  assert_string_equal(f.said, "");
  int type = 0, function = 0;
  assert_non_null(lib_named(f.facts[0], "argmax_pair", &type));
  assert_non_null(lib_named(f.facts[0], "group_argmax", &function));
  assert_true(f.facts[0]->lib[type].is_type);
  assert_true(type < function);
  assert_int_equal(f.facts[0]->lib[function].shared_count, 2);
  assert_int_equal(f.facts[0]->shared_bytes[0], 2 * 4 * 256 / 32);
  assert_int_equal(f.facts[0]->shared_bytes[1], 2 * 4 * 256 / 64);
  done(&f);
  arena_free(a);
}

/* They come after what they call, with their lines, and the body goes on where it is written. */
static void functions_above_a_body_and_beside_the_specification_are_its_own(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *spec = read_text(a, "%s/tests/bad/body.lua", root);
  assert_int_equal(mkdir("lib", 0777), 0);
  write_text("lib/beside.kc",
             "// beside.kc: for a test.\n\n// v twice\nf32 twice(f32 v) { return v + v; }\n");
  Found f = read_these(
      spec,
      "// the body\nstruct pair { f32 a; };\n\nf32 thrice(pair p) { return twice(p.a) + p.a; }\n\n"
      "// from here on\nfor (u32 i = thread; i < D; i += THREADS)\n"
      "  y[u64(group_x) * D + i] = T(thrice(pair{f32(x[u64(group_x) * D + i])}) * scale);\n");
  assert_string_equal(f.said, "");
  const Facts *x = f.facts[0];
  int twice = 0, pair = 0, thrice = 0;
  assert_non_null(lib_named(x, "twice", &twice));
  assert_non_null(lib_named(x, "pair", &pair));
  assert_non_null(lib_named(x, "thrice", &thrice));
  assert_true(thrice > twice && thrice > pair);
  assert_string_equal(x->lib[twice].prefix, "kg_own_");
  assert_string_equal(x->lib[pair].prefix, "kg_own_");
  assert_string_equal(x->lib[thrice].prefix, "kg_own_");
  assert_string_equal(x->lib[twice].file, "lib/beside.kc");
  assert_int_equal(x->lib[twice].line, 3);
  assert_string_equal(x->lib[thrice].file, "body.kc");
  assert_int_equal(x->lib[thrice].line, 4);
  assert_int_equal(x->line, 6);
  assert_int_equal(strncmp(x->text, "// from here on\n", 16), 0);
  assert_int_equal(strlen(x->text), x->len);
  done(&f);
  assert_int_equal(unlink("lib/beside.kc"), 0);
  assert_int_equal(symlink("/etc/passwd", "lib/far.kc"), 0);
  f = read_these(spec, "y[0] = T(f32(x[0]) * scale);\n");
  expect_within(f.said, "lib/far.kc: error E100: cannot read it: it leads out of its folder");
  done(&f);
  assert_int_equal(unlink("lib/far.kc"), 0);
  assert_int_equal(rmdir("lib"), 0);
  arena_free(a);
}

static void local_arrays_get_names_that_are_unique_in_the_entry(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""),
                       "LOCAL T slot[THREADS];\n"
                       "const f32 group_sum_slot = scale;\n"
                       "slot[thread] = x[thread];\n"
                       "barrier();\n"
                       "const f32 s = group_sum(f32(slot[0]));\n"
                       "const u32 n = group_sum(thread);\n"
                       "y[thread] = T(s * f32(n) + group_sum_slot);\n");
  assert_string_equal(f.said, "");
  const Facts *x = f.facts[0];
  assert_int_equal(x->shared_count, 3);
  assert_string_equal(x->shared[0].name, "group_sum_slot_2"); /* the first name is the body's */
  assert_string_equal(x->shared[0].own_name, "slot");
  assert_string_equal(x->shared[0].function, "group_sum");
  assert_string_equal(x->shared[0].type, "f32");
  assert_string_equal(x->shared[0].extent, "[THREADS / WAVE]");
  assert_string_equal(x->shared[1].name, "group_sum_slot_3");
  assert_string_equal(x->shared[1].type, "u32");
  assert_string_equal(x->shared[2].name, "slot");
  assert_null(x->shared[2].function);
  assert_string_equal(x->shared[2].type, "T");
  assert_string_equal(x->shared[2].extent, "[THREADS]");
  for (int i = 0; i < x->lib_count; i++)
    assert_int_equal(x->lib[i].shared_count,
                     strcmp(x->lib[i].name, "group_sum") == 0); /* an overload its own */
  done(&f);
  arena_free(a);
}

static void shared_bytes_are_right_for_each_type_constant_and_width(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f =
      read_these(spec_with(a, "{ { \"TILE\", { 1, 3 } }, { \"THREADS\", 128 } }", all_ports, ""),
                 "LOCAL T tile[TILE * THREADS];\n"
                 "LOCAL u64 wide[WAVE];\n"
                 "tile[thread] = x[thread];\n"
                 "wide[lane] = u64(D);\n"
                 "y[thread] = T(f32(tile[thread]) * scale);\n");
  assert_string_equal(f.said, "");
  int count;
  kernel_instances(f.a, f.spec->kernels[0], &count);
  assert_int_equal(count, 6); /* f32 1, f32 3, f16 1, f16 3, bf16 1, bf16 3 */
  static const uint32_t rows[6] = {512, 1536, 256, 768, 256, 768};
  for (int i = 0; i < 6; i++) {
    assert_int_equal(f.facts[0]->instance_shared[0][i], rows[i] + 8 * 32);
    assert_int_equal(f.facts[0]->instance_shared[1][i], rows[i] + 8 * 64);
  }
  assert_int_equal(f.facts[0]->shared_bytes[0], 1536 + 256);
  assert_int_equal(f.facts[0]->shared_bytes[1], 1536 + 512);
  done(&f);
  arena_free(a);
}

static void a_port_with_its_own_body_and_constants_has_its_own_facts(void **state) {
  (void)state;
  Arena *a = arena_new();
  write_text("other.kc", "LOCAL f32 row[THREADS];\nrow[thread] = f32(x[thread]);\ny[thread] = "
                         "T(row[thread] * scale);\n");
  Found f = read_these(
      spec_with(a, fixed_threads,
                "{ metal = {}, cuda = { body = \"other.kc\", why = \"a test\" },\n"
                "    hip = { body = \"other.kc\", define = { THREADS = 64 }, why = \"a test\" } }",
                ""),
      "y[thread] = T(f32(x[thread]) * scale);\n");
  assert_string_equal(f.said, "");
  assert_int_equal(f.facts[0]->shared_bytes[0], 0);
  assert_int_equal(f.facts[1]->shared_bytes[0], 256 * 4);
  assert_int_equal(f.facts[2]->shared_bytes[0], 64 * 4);
  assert_string_equal(f.facts[1]->path, "other.kc");
  done(&f);
  unlink("other.kc");
  arena_free(a);
}

/* From another system's checkout: the facts, and so the generated texts, are the same. */
static void a_body_with_other_line_ends_is_the_same_body(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *plain = read_text(a, "%s/tests/bad/body.kc", root);
  Buf b = {0};
  buf_puts(&b, "\xEF\xBB\xBF");
  for (const char *s = plain; *s; s++) buf_puts(&b, *s == '\n' ? "\r\n" : (char[]){*s, 0});
  write_text("kernels.lua", read_text(a, "%s/tests/bad/body.lua", root));
  write_text("body.kc", b.s);
  Found f = read_bodies();
  assert_string_equal(f.said, "");
  assert_string_equal(f.facts[0]->text, plain);
  assert_int_equal(f.facts[0]->len, strlen(plain));
  done(&f);
  buf_free(&b);
  arena_free(a);
}

static void a_fault_in_one_type_alone_says_which(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""),
                       "const f32 v = x[thread];\ny[thread] = T(v * scale);\n");
  expect_within(f.said, "body.kc:1:15: error E131: f16 becomes f32 without saying so\n"
                        "  const f32 v = x[thread];\n"
                        "                ^\n"
                        "  note: where T is f16\n");
  assert_int_equal(diags_errors(f.d), 1); /* once, not for bf16 again */
  done(&f);
  arena_free(a);
}

static void a_fault_at_one_width_alone_says_which(void **state) {
  (void)state;
  Arena *a = arena_new();
  Found f =
      read_these(spec_with(a, fixed_threads, all_ports, ""),
                 "f32 own[2] = { 0, 0 };\nown[WAVE / 64 * 2] = scale;\n" /* element 2 at 64 lanes */
                 "y[thread] = T(f32(x[thread]) * own[0]);\n");
  expect_within(f.said, "where WAVE is 64");
  done(&f);
  arena_free(a);
}

static void a_fault_that_the_specification_answers_is_not_told(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *body = "const u32 own = thread % 32;\ny[own] = T(wave_sum(f32(x[own]) * scale));\n";
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""), body);
  expect_within(f.said, "E140");
  assert_int_equal(diags_errors(f.d), 1);
  done(&f);
  f = read_these(
      spec_with(a, fixed_threads, all_ports, "allow = { E140 = \"32 columns of a tile\" },"), body);
  assert_string_equal(f.said, "");
  done(&f);
  arena_free(a);
}

static void a_shared_limit_counts_only_for_the_backends_that_have_a_port(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *body = "LOCAL f32 row[12000];\nrow[thread] = scale;\ny[thread] = T(f32(x[thread]) * "
                     "row[thread]);\n"; /* 48,000 bytes */
  Found f = read_these(spec_with(a, fixed_threads, all_ports, ""), body);
  expect_within(
      f.said, "body.kc:1:11: error E120: 48000 bytes of LOCAL memory at 32 lanes; Metal has 32768");
  done(&f);
  f = read_these(
      spec_with(a, fixed_threads, "{ metal = absent \"too large\", cuda = {}, hip = {} }", ""),
      body);
  assert_string_equal(f.said, "");
  done(&f);
  arena_free(a);
}

static void hostile_bodies_end_in_an_error_and_not_in_a_crash(void **state) {
  (void)state;
  Arena *a = arena_new();
  Buf deep = {0}, line = {0}, many = {0};
  buf_puts(&deep, "y[0] = T(f32(x[0]) * ");
  for (int i = 0; i < 20000; i++) buf_puts(&deep, "(");
  buf_puts(&line, "f32 v = ");
  for (int i = 0; i < 20000; i++) buf_puts(&line, "scale + ");
  for (int i = 0; i < 20000; i++) buf_puts(&many, "frob;\n");
  const char *bodies[] = {deep.s,
                          line.s,
                          many.s,
                          "",
                          "/*",
                          "\"",
                          "'",
                          "#",
                          "{",
                          "}",
                          "LOCAL",
                          "LOCAL f32",
                          "LOCAL f32 a[",
                          "for (",
                          "\xff\xfe",
                          "template",
                          "struct",
                          "GLOBAL GLOBAL *",
                          "f32 f(f32 x) { return x; }",
                          "if (",
                          "\\\n\\\n"};
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    Found f = read_these(spec_with(a, fixed_threads, all_ports, ""), bodies[i]);
    assert_true(diags_errors(f.d) > 0);
    done(&f);
  }
  buf_free(&deep);
  buf_free(&line);
  buf_free(&many);
  arena_free(a);
}

static void the_same_body_is_told_the_same_way_every_time(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *spec = spec_with(a, fixed_threads, all_ports, "");
  const char *body =
      "const f32 half = x[thread] * 2.0;\nif (lane == 31) barrier();\nz[0] = half;\n";
  Found first = read_these(spec, body);
  assert_true(diags_errors(first.d) > 0);
  for (int i = 0; i < 5; i++) {
    Found again = read_these(spec, body);
    assert_string_equal(first.said, again.said);
    done(&again);
  }
  done(&first);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_faulty_body_is_told_exactly_and_its_cure_is_silent),
      cmocka_unit_test(
          a_body_has_exactly_the_library_functions_that_it_uses_each_after_those_it_calls),
      cmocka_unit_test(a_library_functions_text_has_its_comment_and_the_line_where_it_starts),
      cmocka_unit_test(a_struct_of_the_library_is_found_through_the_values_of_its_type),
      cmocka_unit_test(functions_above_a_body_and_beside_the_specification_are_its_own),
      cmocka_unit_test(local_arrays_get_names_that_are_unique_in_the_entry),
      cmocka_unit_test(shared_bytes_are_right_for_each_type_constant_and_width),
      cmocka_unit_test(a_port_with_its_own_body_and_constants_has_its_own_facts),
      cmocka_unit_test(a_body_with_other_line_ends_is_the_same_body),
      cmocka_unit_test(a_fault_in_one_type_alone_says_which),
      cmocka_unit_test(a_fault_at_one_width_alone_says_which),
      cmocka_unit_test(a_fault_that_the_specification_answers_is_not_told),
      cmocka_unit_test(a_shared_limit_counts_only_for_the_backends_that_have_a_port),
      cmocka_unit_test(hostile_bodies_end_in_an_error_and_not_in_a_crash),
      cmocka_unit_test(the_same_body_is_told_the_same_way_every_time),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}

/* spec_fixture.h: what the tests of specifications share: a temporary folder that a test stands in,
** loading and what was said, and two specifications that are right, one plain and one with every
** form of every field. */
#ifndef SPEC_FIXTURE_H
#define SPEC_FIXTURE_H

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "passes.h"
#include "spec_backends.h"

/* ---- a temporary folder ---------------------------------------------------------------------- */

static char scratch[PATH_MAX], root[PATH_MAX];

static inline void write_file(const char *name, const char *text, size_t len) {
  FILE *f = fopen(name, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, len, f), len);
  assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *name, const char *text) {
  write_file(name, text, strlen(text));
}

static inline void empty_folder(const char *folder) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (struct dirent *e; (e = readdir(d));) {
    char *path = NULL;
    struct stat st;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    assert_true(asprintf(&path, "%s/%s", folder, e->d_name) > 0);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
      empty_folder(path);
      rmdir(path);
    } else {
      unlink(path);
    }
    free(path);
  }
  closedir(d);
}

/* Each test that uses it stands in the empty temporary folder. */
static inline int enter(void **state) {
  (void)state;
  const char *tmp = getenv("TMPDIR");
  assert_non_null(getcwd(root, sizeof root));
  snprintf(scratch, sizeof scratch, "%s/kgen-spec-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(scratch)) return -1;
  return chdir(scratch);
}

static inline int leave(void **state) {
  (void)state;
  if (chdir(root) != 0) return -1;
  empty_folder(scratch);
  return rmdir(scratch);
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct Loaded {
  Arena *a;
  Diags *d;
  Spec *spec;
  char *said;
} Loaded;

static inline Loaded load(const char *path) {
  Loaded l = {.a = arena_new()};
  l.d = diags_new(l.a);
  Words words;
  words_load(l.a, &words, arena_printf(l.a, "%s/templates", root), l.d);
  l.spec = spec_load(l.a, path, &words, spec_backends, SPEC_BACKENDS, l.d);
  size_t len = 0;
  FILE *f = open_memstream(&l.said, &len);
  assert_non_null(f);
  diags_print(l.d, f, false);
  fclose(f);
  return l;
}

static inline void unload(Loaded *l) {
  arena_free(l->a);
  free(l->said);
}

static inline void expect_said(const char *path, const char *want) {
  Loaded l = load(path);
  assert_string_equal(l.said, want);
  assert_true(diags_errors(l.d) > 0);
  unload(&l);
}

static inline void expect_fine(const char *path) {
  Loaded l = load(path);
  assert_string_equal(l.said, "");
  assert_non_null(l.spec);
  unload(&l);
}

/* ---- two good specifications ---------------------------------------------------------------- */

/* The one of the design. */
static const char good[] =
    "kernel \"fused_add_rms_norm\" {\n"
    "  summary = \"Residual add and RMSNorm in one pass over the row.\",\n"
    "  types   = { T = { f32, f16, bf16 }, TW = { f32, f16, bf16 } },\n"
    "  dims    = { \"rows\", \"D\" },\n"
    "  inputs  = {\n"
    "    { \"x\",        \"T\",  { \"rows\", \"D\" } },\n"
    "    { \"residual\", \"T\",  { \"rows\", \"D\" } },\n"
    "    { \"weight\",   \"TW\", { \"D\" } },\n"
    "  },\n"
    "  scalars = { { \"eps\", \"f32\" }, { \"weight_bias\", \"f32\" } },\n"
    "  outputs = {\n"
    "    { \"normed\",       \"T\", { \"rows\", \"D\" } },\n"
    "    { \"new_residual\", \"T\", { \"rows\", \"D\" } },\n"
    "  },\n"
    "  consts  = { THREADS = 256 },\n"
    "  launch  = { groups = { dim.rows, 1, 1 }, threads = { const.THREADS, 1, 1 } },\n"
    "  require = { dim.D:ge(1) },\n"
    "  wave    = any,                     -- or 32, or 64: the widths the body is right for\n"
    "  ports   = { metal = {}, cuda = {}, hip = {} },     -- or: cuda = absent \"elementwise graph "
    "is as fast\"\n"
    "  numerics = { accumulate = f32, tolerance = { f32 = 1e-6, f16 = 2e-3, bf16 = 1.6e-2 } },\n"
    "  fallback = \"add, then fast::rms_norm\",             -- what a refused caller should do\n"
    "  body    = \"fused_add_rms_norm.kc\",\n"
    "}\n";

static inline void write_good(void) {
  write_text("kernels.lua", good);
  write_text("fused_add_rms_norm.kc", "// body\n");
}

static const char rich[] =
    "local F = { f32, f16, bf16 }\n"
    "local more = include \"lib/types.lua\"\n"
    "kernel \"rich\" {\n"
    "  summary = \"Everything once.\",\n"
    "  types = { { \"TB\", F }, { \"TA\", more.ints } },\n"
    "  dims = { \"B\", \"L\", \"H\", { \"D\", max = 65536 } },\n"
    "  inputs = {\n"
    "    { \"a\", \"TA\", { \"B\", \"L\", (dim.H + 2) * dim.D } },\n"
    "    { \"b\", \"TB\", { \"B\", when(const.LAYOUT:eq(1), dim.L, dim.H), \"D\", 4 } },\n"
    "    { \"raw\", \"u8\", {} },\n"
    "  },\n"
    "  outputs = { { \"y\", \"TB\", { \"D\" }, tolerance = 0 }, { \"z\", f32, { \"H\" }, tolerance "
    "= { rms = 1, max = 2 } } },\n"
    "  scalars = { { \"n\", \"u32\" }, { \"scale\", f32 }, { \"at\", i32 } },\n"
    "  consts = { { \"WIDE\", 4 }, { \"TRADITIONAL\", bool }, { \"LAYOUT\", { 1, 0 } }, { "
    "\"THREADS\", 128 }, { \"ON\", true } },\n"
    "  launch = { groups = { ceil_div(dim.D // 2, const.WIDE), max(dim.B, dim.L, 1), dim.H % 7 },\n"
    "             threads = { const.THREADS, min(2, 4), 1 } },\n"
    "  require = { all(dim.D:ge(2), (dim.D % 2):eq(0)), any_of(const.TRADITIONAL, scalar.n:lt(9)), "
    "negate(dim.B:gt(8)),\n"
    "              dim.L:ne(3), (-dim.L):le(1 - dim.L) },\n"
    "  wave = 32,\n"
    "  ports = {\n"
    "    hip = { threads = { 64, 1, 1 }, wave = 32, define = { WIDE = 2, ON = false }, why = "
    "\"fewer registers\" },\n"
    "    cuda = absent \"the graph is as fast\",\n"
    "    metal = { body = \"other.kc\" },\n"
    "  },\n"
    "  numerics = { tolerance = { f32 = { rms = 1e-6, max = 1e-5 } } },\n"
    "  fallback = \"the graph\", body = \"rich.kc\", reference = \"rich.c\",\n"
    "  cases = {\n"
    "    { B = 1, L = 2, H = 3, D = 4, TRADITIONAL = true, LAYOUT = 0, n = 5, scale = 2, at = -7, "
    "fill = \"ties\" },\n"
    "    { B = 0, L = 2, H = 3, D = 4, scale = 0 / 0 },\n"
    "  },\n"
    "  budget = { vgpr = 64, scratch = 0 },\n"
    "}\n";

static inline void write_rich(void) {
  assert_int_equal(mkdir("lib", 0777), 0);
  write_text("lib/types.lua", "return { ints = { i32, u32 } }\n");
  write_text("rich.kc", "// body\n");
  write_text("other.kc", "// body\n");
  write_text("rich.c", "\n");
  write_text("kernels.lua", rich);
}

/* xorshift: the same numbers on every machine */
static inline uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, enter, leave)

#endif

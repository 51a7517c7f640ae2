/* test_base.c: what everything in the generator stands on: the arena, growing text, files,
** diagnostics, dtypes, expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/macros.h"
#include "base/plain.h"
#include "passes.h"

/* ---- base/arena.c ---------------------------------------------------------------------------------- */

static void the_arena_gives_zeroed_aligned_memory_of_any_size(void **state) {
  (void)state;
  Arena *a = arena_new();
  static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 16384, 70000, 1 << 20, 3};
  unsigned char *last = NULL;
  for (int round = 0; round < 50; round++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      unsigned char *p = arena_alloc(a, sizes[i]);
      assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
      assert_ptr_not_equal(p, last);
      for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(p[j], 0);
      memset(p, 0xAA, sizes[i]);
      last = p;
    }
  assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
  assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
  arena_free(a);
}

static void growing_text_is_always_terminated(void **state) {
  (void)state;
  Buf b = {0};
  for (int i = 0; i < 1000; i++) buf_printf(&b, "%03d", i);
  buf_put(&b, "a\0b", 3);
  assert_int_equal(b.len, 3003);
  assert_int_equal(b.s[3003], 0);
  assert_memory_equal(b.s + 2997, "999a\0b", 6);
  buf_free(&b);
  assert_null(b.s);
  buf_puts(&b, "");
  assert_string_equal(b.s, "");
  buf_free(&b);
}

static void a_list_grows_as_long_as_entries_come(void **state) {
  (void)state;
  Arena *a = arena_new();
  int *list = NULL, count = 0, room = 0;
  for (; count < 5000; count++) {
    GROW(a, list, count, room);
    assert_true(room > count);
    assert_int_equal(list[count], 0);
    list[count] = 3 * count + 1;
  }
  for (int i = 0; i < count; i++) assert_int_equal(list[i], 3 * i + 1);
  arena_free(a);
}

static void json_nests_as_deep_as_it_is_asked_to(void **state) {
  (void)state;
  Arena *a = arena_new();
  Json j = {0};
  for (int i = 0; i < 500; i++) json_open(&j, '[');
  json_open_flat(&j, '{');
  json_key(&j, "n");
  json_int(&j, 1);
  json_close(&j);
  json_int(&j, 2);
  for (int i = 0; i < 500; i++) json_close(&j);
  const char *text = json_finish(&j, a);
  assert_non_null(strstr(text, " [\n"));
  assert_non_null(strstr(text, "{\"n\": 1},\n"));
  int open = 0, most = 0;
  for (const char *s = text; *s; s++) {
    open += *s == '[' ? 1 : *s == ']' ? -1 : 0;
    if (open > most) most = open;
  }
  assert_int_equal(open, 0);
  assert_int_equal(most, 500);
  arena_free(a);
}

static void a_file_is_read_whole_or_refused_with_a_reason(void **state) {
  (void)state;
  char name[] = "/tmp/kgen-base-XXXXXX";
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "one\0two", 7), 7);
  close(fd);
  Arena *a = arena_new();
  size_t len;
  const char *why;
  assert_memory_equal(file_read(a, name, &len, &why), "one\0two", 8); /* and a NUL behind */
  assert_int_equal(len, 7);
  unlink(name);
  static const struct {
    const char *path, *why;
  } refused[] = {
      {"/tmp", "is a directory"},
      {"/tmp/kgen-there-is-no-such-file", "no such file"},
      {"/dev/null/x", "no such file (part of its path is not a directory)"},
      {"/dev/zero", "is not a regular file"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_null(file_read(a, refused[i].path, &len, &why));
    assert_string_equal(why, refused[i].why);
  }
  arena_free(a);
}

/* ---- diag.c ---------------------------------------------------------------------------------- */

static void expect_printed(const Diags *d, bool color, const char *want) {
  char *said = NULL;
  size_t len = 0;
  FILE *f = open_memstream(&said, &len);
  diags_print(d, f, color);
  fclose(f);
  assert_string_equal(said, want);
  free(said);
}

static void diagnostics_are_printed_in_order_of_place_each_once(void **state) {
  (void)state;
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  diag_add(d, (Place){"b.kc", 9, 0}, D_SPEC_BYTECODE);
  diag_add(d, (Place){"a.lua", 12, 3}, D_LUA_ERROR, "second");
  diag_source(d, "\tx = y;\nnext line", 6);
  diag_note(d, "seen %d times", 2);
  diag_add(d, (Place){"a.lua", 2, 7}, D_LUA_ERROR, "first");
  diag_add(d, (Place){"a.lua", 12, 3}, D_LUA_ERROR,
           "second"); /* the same one: kept once, and so are its notes */
  diag_note(d, "dropped");
  diag_add(d, (Place){"a.lua", 12, 3}, D_LUA_ERROR, "third");
  diag_add(d, (Place){"a.lua", 0, 0}, D_NO_KERNEL);
  assert_int_equal(diags_errors(d), 5);
  expect_printed(d, false,
                 "a.lua: error E019: the specification has no kernel\n"
                 "a.lua:2:7: error E007: Lua stopped here: first\n"
                 "a.lua:12:3: error E007: Lua stopped here: second\n"
                 "  \tx = y;\n"
                 "  \t    ^\n"
                 "  note: seen 2 times\n"
                 "a.lua:12:3: error E007: Lua stopped here: third\n"
                 "b.kc:9: error E002: this is Lua bytecode; a specification is text\n");
  arena_free(a);
}

static void color_marks_the_severity_only(void **state) {
  (void)state;
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  diag_add(d, (Place){"a.lua", 1, 0}, D_SPEC_BYTECODE);
  expect_printed(
      d, true,
      "a.lua:1: \033[1;31merror E002:\033[0m this is Lua bytecode; a specification is text\n");
  arena_free(a);
}

static void every_diagnostic_has_a_code_of_its_own(void **state) {
  (void)state;
  static const char *const codes[] = {
#define DIAG(code, name, severity, wording) #code,
#include "base/diag.def"
#undef DIAG
  };
  char seen[1000] = {0};
  for (int i = 0; i < DIAG_CODES; i++) {
    const int number = atoi(codes[i] + 1);
    assert_true(codes[i][0] == 'E' && number > 0 && number < 1000);
    assert_int_equal(seen[number], 0);
    seen[number] = 1;
    assert_int_equal(diag_find(codes[i]), i);
  }
  assert_int_equal(diag_find("E000"), -1);
}

static void a_word_from_elsewhere_is_told_its_own_or_none(void **state) {
  (void)state;
  static const char *const names[] = {"all", "sin", "ctz", "clz", "f16", "abs", "isnan"};
  static const struct {
    const char *word, *near;
  } pairs[] = {{"half", "f16"}, {"ffs", NULL},   {"FLT_MAX", NULL}, {"popc", NULL},
               {"fabs", "abs"}, {"float", NULL}, {"alll", "all"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const char *near = nearest_name(pairs[i].word, names, 7);
    if (!pairs[i].near)
      assert_null(near);
    else
      assert_string_equal(near, pairs[i].near);
  }
}

static void a_platforms_macro_is_known(void **state) {
  (void)state;
  static const char *const macros[] = {"FLT_MAX", "DBL_EPSILON", "INT_MAX", "UINT_LEAST16_MAX",
                                       "M_PI",    "M_SQRT1_2_F", "NULL",    "linux",
                                       "NAN",     "SIZE_MAX",    "errno",   "INT8_WIDTH"};
  static const char *const others[] = {"FLT", "M_TILE", "MAX",     "K_MAX", "INT_MAXIMUM",
                                       "I",   "F_F",    "ROW_MIN", "_MAX",  "UNIX",
                                       "_F",  "max",    "INT",     "",      "M_PI_X"};
  for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
    assert_non_null(macro_owner(macros[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_null(macro_owner(others[i]));
}

static void text_is_read_alike_from_every_system(void **state) {
  (void)state;
  Arena *a = arena_new();
  char path[] = "/tmp/kgen-text-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  static const char bytes[] = "\xEF\xBB\xBF"
                              "a\r\n\r\r\nb\r";
  assert_int_equal(write(fd, bytes, sizeof bytes - 1), sizeof bytes - 1);
  close(fd);
  size_t len, at = 0;
  const char *why, *text = text_read(a, path, &len, &why);
  assert_string_equal(text, "a\n\r\nb\r");
  assert_int_equal(len, 6);
  assert_string_equal(plain_fault(a, text, len, &at),
                      "a carriage return (CR) with no line feed behind it");
  assert_int_equal(at, 2);
  assert_null(plain_fault(a, "\t\u00e9\n", 4, &at));
  unlink(path);
  arena_free(a);
}

static void the_nearest_name_is_near_or_none(void **state) {
  (void)state;
  static const char *const names[] = {"f32",    "f16",     "bf16", "threads",
                                      "groups", "THREADS", "rows", "D"};
  static const struct {
    const char *word, *near;
  } pairs[] = {
      {"f31", "f32"},
      {"bf61", "bf16"},
      {"thraeds", "threads"},
      {"Threads", "threads"},
      {"grups", "groups"},
      {"THREAD", "THREADS"},
      {"row", "rows"},
      {"zzz", NULL},
      {"d", "D"},
      {"x", NULL},
      {"", NULL},
      {"something_else_entirely", NULL},
      {"rows", NULL}, /* the word itself is no suggestion */
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const char *near = nearest_name(pairs[i].word, names, 8);
    if (!pairs[i].near)
      assert_null(near);
    else
      assert_string_equal(near, pairs[i].near);
  }
}

/* ---- the model's tables ---------------------------------------------------------------------- */

static void dtypes_are_found_by_both_their_names(void **state) {
  (void)state;
  for (int i = 0; i < KG_DTYPES; i++) {
    assert_int_equal(kg_dtype_find(kg_dtype_name((kg_dtype)i)), i);
    assert_int_equal(kg_dtype_find(kg_dtype_mlx_name((kg_dtype)i)), i);
  }
  assert_int_equal(kg_dtype_find("half"), KG_DTYPES);
  assert_string_equal(kg_dtype_info(KG_BF16)->mlx_name, "bfloat16");
  assert_int_equal(kg_dtype_info(KG_BF16)->kind, KG_KIND_FLOAT);
  assert_int_equal(kg_dtype_info(KG_U64)->kind, KG_KIND_UNSIGNED);
  assert_null(kg_dtype_info(KG_DTYPES));
}

/* ---- expr.c ---------------------------------------------------------------------------------- */

/* x, Y and z: a dim, a constant, a scalar, and more of each. */
static const char *const dims[] = {"x", "d1", "d2"};
static const kg_const_param consts[] = {{.name = "Y"}, {.name = "c1"}};
static const kg_scalar_param scalars[] = {{"s0", KG_I32}, {"s1", KG_I32}};
static const kg_kernel named = {.dim_count = 3,
                                .dims = dims,
                                .const_count = 2,
                                .consts = consts,
                                .scalar_count = 2,
                                .scalars = scalars};

static kg_expr number(Arena *a, int64_t n) { return expr_int(a, n); }

static kg_expr make(Arena *a, kg_op op, kg_expr x, kg_expr y, kg_expr z) {
  return expr_of(a, &named, op, (const kg_expr[]){x, y, z});
}

static const kg_expr none;

static void an_expression_is_written_with_the_parentheses_it_needs(void **state) {
  (void)state;
  Arena *a = arena_new();
  const kg_expr x = expr_var(a, &named, KG_DIM, 0), y = expr_var(a, &named, KG_CONST, 0),
                two = number(a, 2), minus = number(a, -3);
  const kg_expr sum = make(a, KG_OP_ADD, x, y, none), product = make(a, KG_OP_MUL, x, y, none);
  const struct {
    kg_expr e;
    const char *text;
  } cases[] = {
      {make(a, KG_OP_MUL, sum, two, none), "(x + Y) * 2"},
      {make(a, KG_OP_ADD, product, two, none), "x * Y + 2"},
      {make(a, KG_OP_ADD, two, product, none), "2 + x * Y"},
      {make(a, KG_OP_SUB, x, sum, none), "x - (x + Y)"},
      {make(a, KG_OP_SUB, sum, x, none), "x + Y - x"},
      {make(a, KG_OP_DIV, x, product, none), "x / (x * Y)"},
      {make(a, KG_OP_MOD, product, y, none), "x * Y % Y"},
      {make(a, KG_OP_SUB, x, minus, none), "x - (-3)"},
      {make(a, KG_OP_MUL, minus, x, none), "-3 * x"},
      {minus, "-3"},
      {make(a, KG_OP_CEIL_DIV, sum, two, none), "ceil_div(x + Y, 2)"},
      {make(a, KG_OP_WHEN, make(a, KG_OP_EQ, y, two, none), sum, x), "when(Y == 2, x + Y, x)"},
      {make(a, KG_OP_AND, make(a, KG_OP_GE, x, two, none), make(a, KG_OP_OR, y, x, none), none),
       "x >= 2 && (Y || x)"},
      {make(a, KG_OP_OR, make(a, KG_OP_AND, x, y, none), x, none), "x && Y || x"},
      {make(a, KG_OP_EQ, make(a, KG_OP_LT, x, y, none), two, none), "x < Y == 2"},
      {make(a, KG_OP_LT, make(a, KG_OP_LT, x, y, none), two, none), "(x < Y) < 2"},
      {make(a, KG_OP_NOT, make(a, KG_OP_LT, x, y, none), none, none), "!(x < Y)"},
      {make(a, KG_OP_NOT, x, none, none), "!x"},
      {make(a, KG_OP_MIN, make(a, KG_OP_MAX, x, y, none), two, none), "min(max(x, Y), 2)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(cases[i].e.text, cases[i].text);
  arena_free(a);
}

static void variables_are_numbered_dims_then_constants_then_scalars(void **state) {
  (void)state;
  Arena *a = arena_new();
  assert_int_equal(kg_variable(&named, KG_DIM, 2), 2);
  assert_int_equal(kg_variable(&named, KG_CONST, 0), 3);
  assert_int_equal(kg_variable(&named, KG_SCALAR, 1), 6);
  for (int i = 0; i < kg_symbol_count(&named); i++)
    assert_int_equal(kg_symbol_find(&named, kg_symbol_at(&named, i).name), i);
  assert_int_equal(kg_symbol_find(&named, "y"), -1);
  const int64_t values[] = {1, 2, 3, 4, 5, 6, 7};
  int64_t n;
  const kg_expr product =
      make(a, KG_OP_MUL, expr_var(a, &named, KG_SCALAR, 1), expr_var(a, &named, KG_DIM, 1), none);
  assert_true(expr_eval(&product, values, &n));
  assert_int_equal(n, 14);
  arena_free(a);
}

typedef struct Sum {
  kg_op op;
  int64_t a, b;
  bool fine;
  int64_t value;
} Sum;

static void arithmetic_rounds_down_and_is_checked(void **state) {
  (void)state;
  const int64_t most = INT64_MAX, least = INT64_MIN;
  const Sum sums[] = {
      {KG_OP_ADD, most, 1, false, 0},
      {KG_OP_ADD, most, -1, true, most - 1},
      {KG_OP_ADD, least, -1, false, 0},
      {KG_OP_SUB, least, 1, false, 0},
      {KG_OP_SUB, 0, least, false, 0},
      {KG_OP_SUB, -1, least, true, most},
      {KG_OP_MUL, 3037000500, 3037000500, false, 0},
      {KG_OP_MUL, 3037000499, 3037000499, true, 9223372030926249001},
      {KG_OP_MUL, least, -1, false, 0},
      {KG_OP_MUL, -1, least, false, 0},
      {KG_OP_MUL, least, 1, true, least},
      {KG_OP_MUL, least / 2, 2, true, least},
      {KG_OP_MUL, 2, least / 2, true, least},
      {KG_OP_MUL, least / 2 - 1, 2, false, 0},
      {KG_OP_MUL, 2, least / 2 - 1, false, 0},
      {KG_OP_MUL, most, 0, true, 0},
      {KG_OP_MUL, -most, -1, true, most},
      {KG_OP_MUL, -4, least / 4, false, 0},
      {KG_OP_MUL, -3037000500, -3037000500, false, 0},
      {KG_OP_DIV, 7, 2, true, 3},
      {KG_OP_DIV, -7, 2, true, -4},
      {KG_OP_DIV, 7, -2, true, -4},
      {KG_OP_DIV, -7, -2, true, 3},
      {KG_OP_DIV, 1, 0, false, 0},
      {KG_OP_DIV, least, -1, false, 0},
      {KG_OP_DIV, 6, -2, true, -3},
      {KG_OP_MOD, 7, 3, true, 1},
      {KG_OP_MOD, -7, 3, true, 2},
      {KG_OP_MOD, 7, -3, true, -2},
      {KG_OP_MOD, 5, 0, false, 0},
      {KG_OP_MOD, least, -1, true, 0},
      {KG_OP_CEIL_DIV, 7, 2, true, 4},
      {KG_OP_CEIL_DIV, 8, 2, true, 4},
      {KG_OP_CEIL_DIV, 0, 5, true, 0},
      {KG_OP_CEIL_DIV, -7, 2, true, -3},
      {KG_OP_CEIL_DIV, most, 2, true, 4611686018427387904},
      {KG_OP_CEIL_DIV, 1, 0, false, 0},
      {KG_OP_MIN, -1, 3, true, -1},
      {KG_OP_MAX, -1, 3, true, 3},
      {KG_OP_EQ, 2, 2, true, 1},
      {KG_OP_NE, 2, 2, true, 0},
      {KG_OP_LT, 2, 2, true, 0},
      {KG_OP_LE, 2, 2, true, 1},
      {KG_OP_GT, 3, 2, true, 1},
      {KG_OP_GE, 1, 2, true, 0},
      {KG_OP_AND, 2, 0, true, 0},
      {KG_OP_AND, 2, -1, true, 1},
      {KG_OP_OR, 0, 0, true, 0},
      {KG_OP_OR, 0, 5, true, 1},
  };
  Arena *a = arena_new();
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    int64_t n = 0;
    const kg_expr e = make(a, sums[i].op, number(a, sums[i].a), number(a, sums[i].b), none);
    const bool fine = expr_eval(&e, NULL, &n);
    if (fine != sums[i].fine || (fine && n != sums[i].value))
      print_error("row %zu: %d, %lld\n", i, fine, (long long)n);
    assert_true(fine == sums[i].fine && (!fine || n == sums[i].value));
  }
  int64_t n;
  kg_expr e = make(a, KG_OP_WHEN, number(a, 1), number(a, 5), number(a, 6));
  assert_true(expr_eval(&e, NULL, &n) && n == 5);
  e = make(a, KG_OP_WHEN, number(a, 0), number(a, 5), number(a, 6));
  assert_true(expr_eval(&e, NULL, &n) && n == 6);
  /* all operands are evaluated, the other branch too */
  const kg_expr bad = make(a, KG_OP_DIV, number(a, 1), number(a, 0), none);
  e = make(a, KG_OP_WHEN, number(a, 0), bad, number(a, 6));
  assert_false(expr_eval(&e, NULL, &n));
  e = make(a, KG_OP_NOT, number(a, 4), none, none);
  assert_true(expr_eval(&e, NULL, &n) && n == 0);
  arena_free(a);
}

/* The product modulo 2^64 divides back exactly when nothing was lost; -1 is the one case apart. */
static bool product_fits(int64_t x, int64_t y) {
  const int64_t wrapped = (int64_t)((uint64_t)x * (uint64_t)y);
  if (x == -1) return y != INT64_MIN;
  return x == 0 || wrapped / x == y;
}

/* Every pair of numbers near the ends, near the square root and near 0. */
static void multiplication_overflows_exactly_when_the_product_does_not_fit(void **state) {
  (void)state;
  Arena *a = arena_new();
  static const int64_t around[] = {0,           INT64_MAX,     INT64_MIN,     3037000500,
                                   -3037000500, INT64_MAX / 2, INT64_MIN / 2, INT64_MAX / 3};
  int64_t list[64];
  int n = 0;
  for (size_t i = 0; i < sizeof around / sizeof *around; i++)
    for (int64_t d = -3; d <= 3; d++)
      if (!(d < 0 && around[i] < INT64_MIN - d) && !(d > 0 && around[i] > INT64_MAX - d))
        list[n++] = around[i] + d;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const bool fits = product_fits(list[i], list[j]);
      int64_t out;
      const kg_expr e = make(a, KG_OP_MUL, number(a, list[i]), number(a, list[j]), none);
      const bool fine = expr_eval(&e, NULL, &out);
      assert_int_equal(fine, fits);
      if (fine) assert_true((uint64_t)out == (uint64_t)list[i] * (uint64_t)list[j]);
    }
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_arena_gives_zeroed_aligned_memory_of_any_size),
      cmocka_unit_test(growing_text_is_always_terminated),
      cmocka_unit_test(a_list_grows_as_long_as_entries_come),
      cmocka_unit_test(json_nests_as_deep_as_it_is_asked_to),
      cmocka_unit_test(a_file_is_read_whole_or_refused_with_a_reason),
      cmocka_unit_test(diagnostics_are_printed_in_order_of_place_each_once),
      cmocka_unit_test(color_marks_the_severity_only),
      cmocka_unit_test(every_diagnostic_has_a_code_of_its_own),
      cmocka_unit_test(the_nearest_name_is_near_or_none),
      cmocka_unit_test(a_word_from_elsewhere_is_told_its_own_or_none),
      cmocka_unit_test(a_platforms_macro_is_known),
      cmocka_unit_test(text_is_read_alike_from_every_system),
      cmocka_unit_test(dtypes_are_found_by_both_their_names),
      cmocka_unit_test(an_expression_is_written_with_the_parentheses_it_needs),
      cmocka_unit_test(variables_are_numbered_dims_then_constants_then_scalars),
      cmocka_unit_test(arithmetic_rounds_down_and_is_checked),
      cmocka_unit_test(multiplication_overflows_exactly_when_the_product_does_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

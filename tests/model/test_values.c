/* test_values.c: dtypes and their conversions, expressions, status names, tensor views. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "model/expr.h"

/* ---- dtypes --------------------------------------------------------------------------------- */

static void every_dtype_has_its_size_and_both_names(void **state) {
  (void)state;
  static const struct {
    kg_dtype dtype;
    size_t bytes;
    const char *name, *mlx_name;
  } rows[] = {
      {KG_F32, 4, "f32", "float32"},    {KG_F16, 2, "f16", "float16"},
      {KG_BF16, 2, "bf16", "bfloat16"}, {KG_I8, 1, "i8", "int8"},
      {KG_U8, 1, "u8", "uint8"},        {KG_I16, 2, "i16", "int16"},
      {KG_U16, 2, "u16", "uint16"},     {KG_I32, 4, "i32", "int32"},
      {KG_U32, 4, "u32", "uint32"},     {KG_I64, 8, "i64", "int64"},
      {KG_U64, 8, "u64", "uint64"},
  };
  assert_int_equal(sizeof rows / sizeof *rows, KG_DTYPES);
  for (size_t i = 0; i < KG_DTYPES; i++) {
    assert_int_equal(kg_dtype_bytes(rows[i].dtype), rows[i].bytes);
    assert_string_equal(kg_dtype_name(rows[i].dtype), rows[i].name);
    assert_string_equal(kg_dtype_mlx_name(rows[i].dtype), rows[i].mlx_name);
  }
}

static void a_number_that_is_no_dtype_has_no_size(void **state) {
  (void)state;
  assert_int_equal(kg_dtype_bytes(KG_DTYPES), 0);
  assert_int_equal(kg_dtype_bytes((kg_dtype)-1), 0);
  assert_string_equal(kg_dtype_name(KG_DTYPES), "no dtype");
}

static void every_f16_survives_the_way_to_a_double_and_back(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const double x = kg_f64_from_f16((uint16_t)bits);
    const uint16_t back = kg_f16_from_f64(x);
    if ((bits & 0x7fff) > 0x7c00) {
      assert_true(isnan(x) && (back & 0x7c00) == 0x7c00 && (back & 0x3ff) != 0);
      assert_int_equal(back & 0x8000, bits & 0x8000);
    } else {
      assert_int_equal(back, bits);
    }
  }
}

static void every_bf16_survives_the_way_to_a_double_and_back(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const double x = kg_f64_from_bf16((uint16_t)bits);
    const uint16_t back = kg_bf16_from_f64(x);
    if ((bits & 0x7fff) > 0x7f80)
      assert_true(isnan(x) && (back & 0x7fff) > 0x7f80);
    else
      assert_int_equal(back, bits);
  }
}

/* Between each two neighbours: a little below the middle goes down, a little above goes up, the
** middle to the even one. */
static void ties_go_to_even_between_any_two_neighbours(uint16_t (*from)(double),
                                                       double (*to)(uint16_t), uint16_t largest) {
  for (uint16_t low = 0; low < largest; low++) {
    const uint16_t high = (uint16_t)(low + 1);
    const double middle = (to(low) + to(high)) / 2; /* exact: one bit more than the type has */
    for (int negative = 0; negative < 2; negative++) {
      const uint16_t sign = negative ? 0x8000 : 0;
      const double s = negative ? -1 : 1;
      assert_int_equal(from(s * middle), sign | (low % 2 ? high : low));
      assert_int_equal(from(s * nextafter(middle, 0)), sign | low);
      assert_int_equal(from(s * nextafter(middle, INFINITY)), sign | high);
    }
  }
}

static void f16_rounds_to_nearest_even(void **state) {
  (void)state;
  ties_go_to_even_between_any_two_neighbours(kg_f16_from_f64, kg_f64_from_f16, 0x7bff);
}

static void bf16_rounds_to_nearest_even(void **state) {
  (void)state;
  ties_go_to_even_between_any_two_neighbours(kg_bf16_from_f64, kg_f64_from_bf16, 0x7f7f);
}

/* Whatever rows there are: each pattern is its own value's, and half way between two goes to the
** even one. */
static void every_small_float_rounds_to_nearest_even(void **state) {
  (void)state;
  int floats = 0;
  for (kg_dtype d = 0; d < KG_DTYPES; d++) {
    const kg_dtype_facts *const t = kg_dtype_info(d);
    if (t->kind != KG_KIND_FLOAT || t->bytes > 2) continue;
    const uint64_t sign = UINT64_C(1) << (8 * t->bytes - 1);
    floats++;
    for (uint64_t low = 0; low < sign; low++) {
      const double x = kg_f64_from_float(d, low), next = kg_f64_from_float(d, low + 1);
      if (isnan(x)) {
        assert_true(isnan(kg_f64_from_float(d, kg_float_from_f64(d, x))));
        continue;
      }
      assert_int_equal(kg_float_from_f64(d, x), low);
      assert_int_equal(kg_float_from_f64(d, -x), sign | low);
      if (low + 1 == sign || !isfinite(next)) continue;
      const double middle = (x + next) / 2;
      assert_int_equal(kg_float_from_f64(d, middle), low % 2 ? low + 1 : low);
      assert_int_equal(kg_float_from_f64(d, nextafter(middle, 0)), low);
      assert_int_equal(kg_float_from_f64(d, -nextafter(middle, INFINITY)), sign | (low + 1));
    }
  }
  assert_true(floats >= 2);
}

static void f32_is_what_the_compiler_makes_of_a_double(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 200000; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    /* exponents from far below the subnormals to past the largest */
    const double x = ldexp((double)(int64_t)seed, (int)(seed >> 20 & 511) - 63 - 256);
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    assert_int_equal(kg_float_from_f64(KG_F32, x), bits);
    assert_true(kg_f64_from_float(KG_F32, bits) == (double)f);
  }
}

static void known_values_have_their_known_patterns(void **state) {
  (void)state;
  assert_int_equal(kg_f16_from_f64(1), 0x3c00);
  assert_int_equal(kg_f16_from_f64(-2), 0xc000);
  assert_int_equal(kg_f16_from_f64(65504), 0x7bff);
  assert_int_equal(kg_f16_from_f64(0.1), 0x2e66);
  assert_int_equal(kg_f16_from_f64(ldexp(1, -24)), 0x0001);
  assert_int_equal(kg_f16_from_f64(ldexp(1, -14)), 0x0400);
  assert_int_equal(kg_bf16_from_f64(1), 0x3f80);
  assert_int_equal(kg_bf16_from_f64(3.140625), 0x4049);
  assert_int_equal(kg_bf16_from_f64(1 + ldexp(1, -8)), 0x3f80);     /* a tie, to even */
  assert_int_equal(kg_bf16_from_f64(1 + 3 * ldexp(1, -8)), 0x3f82); /* a tie, to even */
  assert_int_equal(kg_bf16_from_f64(1 + ldexp(1, -8) + ldexp(1, -40)),
                   0x3f81); /* by float it would be a tie */
  assert_int_equal(kg_bf16_from_f64(ldexp(1, -133)), 0x0001);
}

static void what_is_too_large_becomes_infinity_at_the_right_place(void **state) {
  (void)state;
  assert_int_equal(kg_f16_from_f64(nextafter(65520, 0)), 0x7bff);
  assert_int_equal(kg_f16_from_f64(65520), 0x7c00); /* the tie: infinity is the even one */
  assert_int_equal(kg_f16_from_f64(-1e300), 0xfc00);
  assert_int_equal(kg_f16_from_f64(INFINITY), 0x7c00);
  const double bf16_tie = ldexp(511, 119); /* half a step over the largest */
  assert_int_equal(kg_bf16_from_f64(nextafter(bf16_tie, 0)), 0x7f7f);
  assert_int_equal(kg_bf16_from_f64(bf16_tie), 0x7f80);
  assert_int_equal(kg_bf16_from_f64(-INFINITY), 0xff80);
}

static void what_is_too_small_becomes_a_zero_with_its_sign(void **state) {
  (void)state;
  assert_int_equal(kg_f16_from_f64(ldexp(1, -25)),
                   0x0000); /* the tie between zero and the smallest */
  assert_int_equal(kg_f16_from_f64(nextafter(ldexp(1, -25), 1)), 0x0001);
  assert_int_equal(kg_f16_from_f64(-ldexp(1, -26)), 0x8000);
  assert_int_equal(kg_f16_from_f64(5e-324), 0x0000);
  assert_int_equal(kg_f16_from_f64(-0.0), 0x8000);
  assert_int_equal(kg_bf16_from_f64(-5e-324), 0x8000);
  assert_int_equal(kg_bf16_from_f64(ldexp(1, -134)), 0x0000);
}

static void a_nan_whose_payload_is_lost_is_still_a_nan(void **state) {
  (void)state;
  const uint64_t bits = UINT64_C(0xfff0000000000001);
  double x;
  memcpy(&x, &bits, sizeof x);
  assert_int_equal(kg_f16_from_f64(x), 0xfe00);
  assert_int_equal(kg_bf16_from_f64(x), 0xffc0);
}

/* ---- expressions ---------------------------------------------------------------------------- */

#define INT(n) {KG_OP_INT, n}
#define VAR(n) {KG_OP_VAR, n}
#define OP(name) {KG_OP_##name, 0}
#define EVAL(out, values, ...)                                                                     \
  kg_expr_eval(&(kg_expr){"", (int)(sizeof((kg_step[]){__VA_ARGS__}) / sizeof(kg_step)),           \
                          (kg_step[]){__VA_ARGS__}},                                               \
               values, out)

static const kg_values nothing;

static void assert_binary(kg_op op, int64_t a, int64_t b, int64_t expected) {
  int64_t out = -99;
  assert_int_equal(EVAL(&out, &nothing, INT(a), INT(b), {(uint8_t)op, 0}), KG_EXPR_OK);
  assert_true(out == expected);
}

static void assert_binary_fails(kg_op op, int64_t a, int64_t b, kg_expr_status status) {
  int64_t out = -99;
  assert_int_equal(EVAL(&out, &nothing, INT(a), INT(b), {(uint8_t)op, 0}), status);
}

static void arithmetic_is_right_up_to_both_ends(void **state) {
  (void)state;
  assert_binary(KG_OP_ADD, INT64_MAX - 1, 1, INT64_MAX);
  assert_binary(KG_OP_ADD, INT64_MIN + 1, -1, INT64_MIN);
  assert_binary(KG_OP_SUB, INT64_MIN + 1, 1, INT64_MIN);
  assert_binary(KG_OP_SUB, -1, INT64_MIN, INT64_MAX);
  assert_binary(KG_OP_MUL, INT64_C(3037000499), INT64_C(3037000499), INT64_C(9223372030926249001));
  assert_binary(KG_OP_MUL, INT64_MIN / 2, 2, INT64_MIN);
  assert_binary(KG_OP_MUL, -4, INT64_MIN / -4, INT64_MIN);
  assert_binary(KG_OP_MUL, INT64_MIN, 0, 0);
  assert_binary(KG_OP_MUL, -1, INT64_MAX, -INT64_MAX);
}

static void what_passes_64_bits_is_an_overflow(void **state) {
  (void)state;
  assert_binary_fails(KG_OP_ADD, INT64_MAX, 1, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_ADD, INT64_MIN, -1, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_SUB, INT64_MIN, 1, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_SUB, 0, INT64_MIN, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, INT64_C(3037000500), INT64_C(3037000500), KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, INT64_MIN, -1, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, -1, INT64_MIN, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, INT64_MIN, 2, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, 3, INT64_MIN / 2, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_MUL, -3, INT64_MIN / 2, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_DIV, INT64_MIN, -1, KG_EXPR_OVERFLOW);
  assert_binary_fails(KG_OP_CEIL_DIV, INT64_MIN, -1, KG_EXPR_OVERFLOW);
}

static void division_rounds_towards_minus_infinity(void **state) {
  (void)state;
  assert_binary(KG_OP_DIV, 7, 2, 3);
  assert_binary(KG_OP_DIV, -7, 2, -4);
  assert_binary(KG_OP_DIV, 7, -2, -4);
  assert_binary(KG_OP_DIV, -7, -2, 3);
  assert_binary(KG_OP_MOD, -7, 2, 1);
  assert_binary(KG_OP_MOD, 7, -2, -1);
  assert_binary(KG_OP_MOD, INT64_MIN, -1, 0);
  assert_binary(KG_OP_CEIL_DIV, 7, 2, 4);
  assert_binary(KG_OP_CEIL_DIV, 8, 2, 4);
  assert_binary(KG_OP_CEIL_DIV, -7, 2, -3);
  assert_binary(KG_OP_CEIL_DIV, 0, 256, 0);
  assert_binary(KG_OP_CEIL_DIV, INT64_MAX, 2, INT64_C(4611686018427387904));
}

static void division_by_zero_is_its_own_failure(void **state) {
  (void)state;
  assert_binary_fails(KG_OP_DIV, 1, 0, KG_EXPR_ZERO);
  assert_binary_fails(KG_OP_MOD, 1, 0, KG_EXPR_ZERO);
  assert_binary_fails(KG_OP_CEIL_DIV, 0, 0, KG_EXPR_ZERO);
}

static void comparisons_and_logic_give_0_or_1(void **state) {
  (void)state;
  assert_binary(KG_OP_MIN, 3, -4, -4);
  assert_binary(KG_OP_MAX, 3, -4, 3);
  assert_binary(KG_OP_EQ, 5, 5, 1);
  assert_binary(KG_OP_NE, 5, 5, 0);
  assert_binary(KG_OP_LT, 5, 5, 0);
  assert_binary(KG_OP_LE, 5, 5, 1);
  assert_binary(KG_OP_GT, 6, 5, 1);
  assert_binary(KG_OP_GE, 4, 5, 0);
  assert_binary(KG_OP_AND, 7, -7, 1);
  assert_binary(KG_OP_AND, 7, 0, 0);
  assert_binary(KG_OP_OR, 0, 2, 1);
  int64_t out;
  assert_int_equal(EVAL(&out, &nothing, INT(3), OP(NOT)), KG_EXPR_OK);
  assert_true(out == 0);
}

static void when_chooses_and_all_of_it_is_evaluated(void **state) {
  (void)state;
  int64_t out;
  assert_int_equal(EVAL(&out, &nothing, INT(1), INT(10), INT(20), OP(WHEN)), KG_EXPR_OK);
  assert_true(out == 10);
  assert_int_equal(EVAL(&out, &nothing, INT(0), INT(10), INT(20), OP(WHEN)), KG_EXPR_OK);
  assert_true(out == 20);
  assert_int_equal(EVAL(&out, &nothing, INT(1), INT(10), INT(1), INT(0), OP(DIV), OP(WHEN)),
                   KG_EXPR_ZERO);
}

static void a_variable_without_a_value_is_unknown(void **state) {
  (void)state;
  kg_values values = {.value = {5, 6}, .known = 2};
  int64_t out = 0;
  assert_int_equal(EVAL(&out, &values, VAR(1)), KG_EXPR_OK);
  assert_true(out == 6);
  assert_int_equal(EVAL(&out, &values, VAR(0)), KG_EXPR_UNKNOWN);
  assert_int_equal(EVAL(&out, &values, VAR(-1)), KG_EXPR_UNKNOWN);
  assert_int_equal(EVAL(&out, &values, VAR(1000)), KG_EXPR_UNKNOWN);
}

static void a_damaged_expression_is_refused_not_followed(void **state) {
  (void)state;
  int64_t out;
  assert_int_equal(EVAL(&out, &nothing, OP(ADD)), KG_EXPR_MALFORMED);
  assert_int_equal(EVAL(&out, &nothing, INT(1), INT(2)), KG_EXPR_MALFORMED);
  assert_int_equal(EVAL(&out, &nothing, INT(1), {200, 0}), KG_EXPR_MALFORMED);
  kg_step deep[1000];
  for (int i = 0; i < 1000; i++) deep[i] = (kg_step)INT(1);
  assert_int_equal(kg_expr_eval(&(kg_expr){"", 1000, deep}, &nothing, &out), KG_EXPR_MALFORMED);
  assert_int_equal(kg_expr_eval(&(kg_expr){"", 0, NULL}, &nothing, &out), KG_EXPR_MALFORMED);
}

/* 1 + (1 + (1 + ...)), as deep as a specification's may be; a deeper one is refused when it is
** recorded, and here. */
static void the_deepest_expression_of_a_specification_is_evaluated(void **state) {
  (void)state;
  int64_t out;
  enum { DEEP = KG_EXPR_DEPTH };
  kg_step steps[2 * DEEP + 1];
  for (int i = 0; i < 2 * DEEP - 1; i++) steps[i] = i < DEEP ? (kg_step)INT(1) : (kg_step)OP(ADD);
  assert_int_equal(kg_expr_eval(&(kg_expr){"", 2 * DEEP - 1, steps}, &nothing, &out), KG_EXPR_OK);
  assert_true(out == DEEP);
  for (int i = 0; i < 2 * DEEP + 1; i++) steps[i] = i <= DEEP ? (kg_step)INT(1) : (kg_step)OP(ADD);
  assert_int_equal(kg_expr_eval(&(kg_expr){"", 2 * DEEP + 1, steps}, &nothing, &out),
                   KG_EXPR_MALFORMED);
}

#define VARIABLE(values, ...)                                                                      \
  kg_expr_variable(&(kg_expr){"", (int)(sizeof((kg_step[]){__VA_ARGS__}) / sizeof(kg_step)),       \
                              (kg_step[]){__VA_ARGS__}},                                           \
                   values)

static void a_when_of_plain_dims_comes_to_the_dim_that_it_chooses(void **state) {
  (void)state;
  kg_values values = {.known = 1u << 4};
  values.value[4] = 1;
  assert_int_equal(VARIABLE(&values, VAR(2)), 2);
  assert_int_equal(VARIABLE(&values, VAR(4), INT(1), OP(EQ), VAR(2), VAR(3), OP(WHEN)), 2);
  assert_int_equal(VARIABLE(&values, VAR(4), INT(0), OP(EQ), VAR(2), VAR(3), OP(WHEN)), 3);
  /* one in another's branch */
  assert_int_equal(VARIABLE(&values, INT(0), VAR(1), VAR(4), VAR(2), VAR(3), OP(WHEN), OP(WHEN)),
                   2);
  /* not plain, or the condition is not known yet */
  assert_int_equal(VARIABLE(&values, VAR(2), INT(1), OP(ADD)), -1);
  assert_int_equal(VARIABLE(&values, VAR(4), INT(7), VAR(3), OP(WHEN)), -1);
  assert_int_equal(VARIABLE(&values, VAR(5), VAR(2), VAR(3), OP(WHEN)), -1);
  assert_int_equal(VARIABLE(&values, VAR(3), OP(WHEN)), -1);
}

/* ---- names, messages, tensors --------------------------------------------------------------- */

static void every_status_has_a_name_of_its_own(void **state) {
  (void)state;
  for (int a = 0; a < KG_STATUSES; a++) {
    assert_string_not_equal(kg_status_name((kg_status)a), "unknown status");
    for (int b = 0; b < a; b++)
      assert_string_not_equal(kg_status_name((kg_status)a), kg_status_name((kg_status)b));
  }
  assert_string_equal(kg_status_name(KG_STATUSES), "unknown status");
  assert_string_equal(kg_status_name((kg_status)-1), "unknown status");
}

static void a_message_too_long_is_cut_between_characters(void **state) {
  (void)state;
  char accents[4001];
  for (int i = 0; i < 4000; i += 2) memcpy(accents + i, "\xc3\xa9", 2);
  accents[4000] = 0;
  kg_error error;
  for (int shift = 0; shift < 2; shift++) {
    assert_int_equal(kg_fail(&error, KG_LIMIT, "%s%s", shift ? "x" : "", accents), KG_LIMIT);
    const size_t length = strlen(error.message);
    assert_true(length >= sizeof error.message - 3 && length < sizeof error.message);
    assert_string_equal(error.message + length - 3, "...");
    assert_int_equal((unsigned char)error.message[length - 4], 0xa9);
  }
}

static void a_message_may_be_made_from_itself(void **state) {
  (void)state;
  kg_error error;
  kg_fail(&error, KG_LIMIT, "inner");
  kg_fail(&error, KG_NO_DEVICE, "outer: %s", error.message);
  assert_string_equal(error.message, "outer: inner");
  assert_int_equal(kg_fail(NULL, KG_LIMIT, "nowhere to put it"), KG_LIMIT);
}

static void a_view_is_row_contiguous(void **state) {
  (void)state;
  int x;
  const kg_tensor t = kg_tensor_of(NULL, &x, KG_BF16, 3, (const int64_t[]){2, 3, 5});
  assert_ptr_equal(t.data, &x);
  assert_int_equal(t.rank, 3);
  assert_int_equal(t.strides[0], 15);
  assert_int_equal(t.strides[1], 5);
  assert_int_equal(t.strides[2], 1);
  assert_int_equal(kg_tensor_of(NULL, &x, KG_F32, 9, (const int64_t[]){1}).rank, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_dtype_has_its_size_and_both_names),
      cmocka_unit_test(a_number_that_is_no_dtype_has_no_size),
      cmocka_unit_test(every_f16_survives_the_way_to_a_double_and_back),
      cmocka_unit_test(every_bf16_survives_the_way_to_a_double_and_back),
      cmocka_unit_test(f16_rounds_to_nearest_even),
      cmocka_unit_test(bf16_rounds_to_nearest_even),
      cmocka_unit_test(every_small_float_rounds_to_nearest_even),
      cmocka_unit_test(f32_is_what_the_compiler_makes_of_a_double),
      cmocka_unit_test(known_values_have_their_known_patterns),
      cmocka_unit_test(what_is_too_large_becomes_infinity_at_the_right_place),
      cmocka_unit_test(what_is_too_small_becomes_a_zero_with_its_sign),
      cmocka_unit_test(a_nan_whose_payload_is_lost_is_still_a_nan),
      cmocka_unit_test(arithmetic_is_right_up_to_both_ends),
      cmocka_unit_test(what_passes_64_bits_is_an_overflow),
      cmocka_unit_test(division_rounds_towards_minus_infinity),
      cmocka_unit_test(division_by_zero_is_its_own_failure),
      cmocka_unit_test(comparisons_and_logic_give_0_or_1),
      cmocka_unit_test(when_chooses_and_all_of_it_is_evaluated),
      cmocka_unit_test(a_variable_without_a_value_is_unknown),
      cmocka_unit_test(a_damaged_expression_is_refused_not_followed),
      cmocka_unit_test(the_deepest_expression_of_a_specification_is_evaluated),
      cmocka_unit_test(a_when_of_plain_dims_comes_to_the_dim_that_it_chooses),
      cmocka_unit_test(every_status_has_a_name_of_its_own),
      cmocka_unit_test(a_message_too_long_is_cut_between_characters),
      cmocka_unit_test(a_message_may_be_made_from_itself),
      cmocka_unit_test(a_view_is_row_contiguous),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

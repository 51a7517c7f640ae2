/* test_qmm.c: products with packed weights (templates/kernels/qmm.lua) with their companions: what
** the cases of the specification cannot say.  Launched as a client launches them, through the
** generated launchers, on the CPU lane by lane at both widths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gather_qmm/host.h"
#include "kernels/qmv/host.h"
#include "lib/host/mxfp4.h"
#include "lib/host/quant.h"
#include "kernel_fixture.h"
#include "kernels.h"

/* ---- MXFP4 ----------------------------------------------------------------------------------- */

static void e2m1_has_sixteen_codes_and_rounds_to_the_nearest_even_one(void **state) {
  (void)state;
  const float values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; code++) {
    assert_true(kg_e2m1_value(code) == values[code]);
    assert_true(kg_e2m1_value(code | 8) == -values[code]);
    assert_int_equal(kg_e2m1_code(values[code]), code);
    assert_int_equal(kg_e2m1_code(-values[code]), code | 8);
    if (code == 7) continue;
    const float middle = (values[code] + values[code + 1]) / 2;
    assert_int_equal(kg_e2m1_code(middle), code + code % 2); /* a tie: the even code */
    assert_int_equal(kg_e2m1_code(nextafterf(middle, 0)), code);
    assert_int_equal(kg_e2m1_code(nextafterf(middle, 9)), code + 1);
  }
  assert_int_equal(kg_e2m1_code(7.9f), 7);
  assert_int_equal(kg_e2m1_code(-INFINITY), 15);
}

static void e8m0_is_a_power_of_two_or_nan(void **state) {
  (void)state;
  assert_true(kg_e8m0_value(127) == 1 && kg_e8m0_value(130) == 8 && kg_e8m0_value(126) == 0.5f);
  assert_true(kg_e8m0_value(0) == 0x1p-127f && kg_e8m0_value(254) == 0x1p127f);
  assert_true(isnan(kg_e8m0_value(255)));
}

static void a_block_of_known_weights_has_its_known_words(void **state) {
  (void)state;
  float weights[64] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.5f, -6}, back[64];
  uint32_t words[8];
  uint8_t scales[2];
  for (int i = 0; i < 32; i++) weights[32 + i] = weights[i] * 0x1p-20f; /* the same, scaled */
  assert_int_equal(kg_mxfp4_quantize(weights, 2, 32, words, scales, NULL), KG_OK);
  assert_int_equal(words[0], 0x76543210);
  assert_int_equal(words[1], 0x000000f9);
  assert_memory_equal(words, words + 4, 16);
  assert_int_equal(scales[0], 127);
  assert_int_equal(scales[1], 107);
  assert_int_equal(kg_mxfp4_dequantize(words, scales, 2, 32, back, NULL), KG_OK);
  assert_memory_equal(weights, back, sizeof weights);
}

static void a_quantised_weight_is_within_half_a_step_of_its_blocks_scale(void **state) {
  (void)state;
  enum { COUNT_ = 32 * 300 };
  static float weights[COUNT_], back[COUNT_];
  static uint32_t words[COUNT_ / 8];
  static uint8_t scales[COUNT_ / 32];
  uint32_t seed = 5;
  for (int i = 0; i < COUNT_; i++) {
    seed = seed * 1664525u + 1013904223u;
    weights[i] = ldexpf((float)(int32_t)seed, -31 + i / 32 - 150); /* from 2^-150 to 2^150 */
    if (i / 32 > 270) weights[i] = 0;
  }
  assert_int_equal(kg_mxfp4_quantize(weights, 300, 32, words, scales, NULL), KG_OK);
  assert_int_equal(kg_mxfp4_dequantize(words, scales, 300, 32, back, NULL), KG_OK);
  for (int i = 0; i < COUNT_; i++) {
    float largest = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++)
      largest = fmaxf(largest, fabsf(weights[j]));
    const double scale = ldexp(1, scales[i / 32] - 127), size = fabs((double)weights[i]) / scale;
    const double off = fabs((double)weights[i] - (double)back[i]) / scale;
    if (scales[i / 32] > 0)
      assert_true(largest / scale >= 4 && largest / scale < 8);
    else
      assert_true(largest < 0x1p-124f);
    assert_true(off <= (size <= 2 ? 0.25 : size <= 4 ? 0.5 : size < 6 ? 1 : size - 6 + 1e-6));
  }
}

static void what_mxfp4_cannot_hold_is_refused_in_words(void **state) {
  (void)state;
  float weights[96] = {0};
  uint32_t words[12];
  uint8_t scales[3];
  kg_error error;
  weights[37] = INFINITY;
  assert_int_equal(kg_mxfp4_quantize(weights, 3, 32, words, scales, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_mxfp4_quantize: the weight at row 1, column 5 is not finite");
  assert_int_equal(kg_mxfp4_quantize(weights, 2, 48, words, scales, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_mxfp4_quantize: rows of 48 columns: they must be a "
                                     "multiple of 32, the block of a scale");
  assert_int_equal(kg_mxfp4_dequantize(NULL, scales, 3, 32, weights, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_mxfp4_dequantize: weights, words and scales must not be null");
  assert_int_equal(kg_mxfp4_dequantize(NULL, NULL, 0, 32, NULL, NULL), KG_OK);
}

/* ---- the route ------------------------------------------------------------------------------- */

static void route_is(kg_gather_qmm call, kg_gather_route route, const char *sentence) {
  kg_error why;
  assert_int_equal(kg_gather_qmm_route(&call, &why), route);
  assert_string_equal(why.message, sentence);
  assert_int_equal(kg_gather_qmm_route(&call, NULL), route);
}

static void the_expert_batched_route_is_selected_where_it_pays(void **state) {
  (void)state;
  const kg_gather_qmm granite = {.batch = 4096,
                                 .experts = 40,
                                 .M = 1,
                                 .K = 1536,
                                 .dtype = KG_BF16,
                                 .bits = 4,
                                 .group_size = 64,
                                 .sorted = true};
  route_is(granite, KG_GATHER_EXPERT_BATCHED,
           "gather_qmm: expert-batched: 4096 sorted rows for 40 experts");
  kg_gather_qmm c = granite;
  c.batch = 64, c.experts = 16, c.dtype = KG_F16, c.bits = 8; /* the least that there may be */
  route_is(c, KG_GATHER_EXPERT_BATCHED,
           "gather_qmm: expert-batched: 64 sorted rows for 16 experts");
  c = (kg_gather_qmm){.batch = 256,
                      .experts = 64,
                      .M = 1,
                      .K = 2880,
                      .dtype = KG_BF16,
                      .mxfp4 = true,
                      .group_size = 32,
                      .sorted = true};
  route_is(c, KG_GATHER_EXPERT_BATCHED,
           "gather_qmm: expert-batched: 256 sorted rows for 64 experts");

  c = granite, c.sorted = false;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: the experts are not sorted");
  c = granite, c.M = 2;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: 2 rows of x to an index, not 1");
  c = granite, c.dtype = KG_F32;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: x is f32, not f16 or bf16");
  c = granite, c.bits = 6;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: codes of 6 bits, not 4 or 8");
  c = granite, c.batch = 63, c.experts = 2;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: 63 rows, fewer than 64");
  c = granite, c.experts = 65;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: 65 experts, more than 64");
  c = granite, c.batch = 159;
  route_is(c, KG_GATHER_GENERIC, "gather_qmm: generic: 159 rows for 40 experts, fewer than 4 each");

  c = granite, c.K = 1550;
  route_is(c, KG_GATHER_NONE, "gather_qmm: K must be a multiple of 32");
  c = granite, c.bits = 5;
  route_is(c, KG_GATHER_NONE, "gather_qmm: affine codes must have 4, 6 or 8 bits");
  c = granite, c.batch = KG_GATHER_ROWS;
  route_is(c, KG_GATHER_EXPERT_BATCHED,
           "gather_qmm: expert-batched: 67108863 sorted rows for 40 experts");
  c.batch++;
  route_is(c, KG_GATHER_NONE, "gather_qmm: 67108864 rows, more than 67108863; split the call");
  c = granite, c.group_size = 1024;
  route_is(c, KG_GATHER_NONE, "gather_qmm: group_size must be a multiple of 32 and divide K");
  c = granite, c.mxfp4 = true;
  route_is(c, KG_GATHER_NONE, "gather_qmm: an MXFP4 scale covers 32 columns");
  c = granite, c.dtype = KG_U32;
  route_is(c, KG_GATHER_NONE, "gather_qmm: x must be f32, f16 or bf16");
}

static void rows_of_x_choose_the_instance_of_qmv(void **state) {
  (void)state;
  const uint32_t rows[] = {0, 1, 8, 8, 8, 8, 8, 8, 8, 0};
  for (uint64_t M = 0; M < 10; M++) assert_int_equal(kg_qmv_rows(M), rows[M]);
}

/* ---- views ----------------------------------------------------------------------------------- */

static void an_index_view_of_any_rank_comes_down_to_two_strides(void **state) {
  (void)state;
  const struct {
    int rank;
    int64_t shape[4], lhs[4], rhs[4];
    kg_gather_view want;
  } t[] = {
      {0, {0}, {0}, {0}, {1, 1, 0, 0, 0, 0, 1, 1}},
      {1, {7}, {1}, {0}, {7, 1, 1, 0, 0, 0, 7, 1}},
      {2, {5, 3}, {3, 1}, {3, 1}, {15, 1, 1, 0, 1, 0, 15, 15}}, /* gathered */
      {2, {5, 3}, {1, 0}, {3, 1}, {5, 3, 1, 0, 3, 1, 5, 15}},   /* a row of x shared */
      {2, {5, 3}, {0, 0}, {3, 1}, {15, 1, 0, 0, 1, 0, 1, 15}},  /* one row of x */
      {2, {5, 3}, {3, 1}, {1, 0}, {5, 3, 3, 1, 1, 0, 15, 5}},   /* an expert shared */
      {4, {1, 5, 1, 3}, {9, 1, 9, 0}, {9, 6, 9, 2}, {5, 3, 1, 0, 6, 2, 5, 29}},
      {3, {2, 5, 3}, {5, 1, 0}, {15, 3, 1}, {10, 3, 1, 0, 3, 1, 10, 30}},
      {2, {2, 1024}, {1, 0}, {1024, 1}, {2, 1024, 1, 0, 1024, 1, 2, 2048}},
      {2, {1, KG_GATHER_ROWS}, {0, 0}, {7, 1}, {KG_GATHER_ROWS, 1, 0, 0, 1, 0, 1, KG_GATHER_ROWS}},
      {3, {2, 0, 4}, {1, 8, 3}, {1, 1, 1}, {0, 1, 0, 0, 0, 0, 0, 0}}, /* no rows */
      {2, {KG_GATHER_ROWS + 1, 0}, {0, 0}, {1, 1}, {0, 1, 0, 0, 0, 0, 0, 0}},
  };
  for (int i = 0; i < COUNT(t); i++) {
    kg_gather_view view;
    memset(&view, 0xff, sizeof view);
    assert_int_equal(kg_gather_view_of(t[i].rank, t[i].shape, t[i].lhs, t[i].rhs, &view, NULL),
                     KG_OK);
    assert_memory_equal(&view, &t[i].want, sizeof view);
  }
  kg_gather_view view;
  kg_error error;
  const int64_t shape[] = {2, 3, 4}, forth[] = {12, 4, 1}, across[] = {1, 2, 6};
  const int64_t back[] = {12, 4, -1}, far[] = {0, 0, 2000000000}, farther[] = {0, INT64_MAX, 0};
  const int64_t many[] = {2, 4194304, 8}, negative[] = {0, 3, -4};
  assert_int_equal(kg_gather_view_of(3, shape, forth, across, &view, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_gather_view_of: the index arrays step in more than two "
                                     "ways; make one contiguous");
  assert_int_equal(kg_gather_view_of(3, shape, forth, back, &view, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_gather_view_of: dimension 2 has a negative stride");
  assert_int_equal(kg_gather_view_of(3, shape, far, far, &view, &error), KG_TOO_LARGE);
  assert_int_equal(kg_gather_view_of(3, shape, farther, far, &view, &error), KG_TOO_LARGE);
  assert_string_equal(error.message,
                      "kg_gather_view_of: the strides of dimension 1 must fit 32 bits");
  assert_int_equal(kg_gather_view_of(3, many, forth, across, &view, &error), KG_TOO_LARGE);
  assert_string_equal(error.message, "kg_gather_view_of: the batch has more than 67108863 rows");
  assert_int_equal(kg_gather_view_of(3, negative, forth, across, &view, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_gather_view_of: dimension 2 has a negative size");
  assert_int_equal(kg_gather_view_of(1, NULL, forth, forth, &view, &error), KG_BAD_ARGUMENT);
}

/* ---- launches -------------------------------------------------------------------------------- */

static kg_tensor tensor(kg_device *device, kg_dtype dtype, const void *data, int rank, int64_t a,
                        int64_t b, int64_t c) {
  const int64_t shape[] = {a, b, c};
  kg_tensor t = kg_tensor_of(device, NULL, dtype, rank, shape);
  size_t bytes = kg_dtype_bytes(dtype);
  for (int i = 0; i < rank; i++) bytes *= (size_t)shape[i];
  assert_int_equal(kg_device_alloc(device, bytes, &t.data), KG_OK);
  if (data) assert_int_equal(kg_device_upload(device, t.data, data, bytes), KG_OK);
  return t;
}

static void fetch(kg_device *device, const kg_tensor *t, void *to, size_t bytes) {
  assert_int_equal(kg_device_synchronize(device), KG_OK);
  assert_int_equal(kg_device_download(device, to, t->data, bytes), KG_OK);
}

static void release(kg_device *device, kg_tensor *t, int count) {
  for (int i = 0; i < count; i++) kg_device_free(device, t[i].data);
}

static double noise(uint32_t *at) { /* variance 1 */
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    *at = *at * 1664525u + 1013904223u;
    sum += (double)(*at >> 8) * 0x1p-24 - 0.5;
  }
  return sum * 1.7320508;
}

static uint16_t stored(kg_dtype T, double x) {
  return T == KG_F16 ? kg_f16_from_f64(x) : kg_bf16_from_f64(x);
}

static double value(kg_dtype T, uint16_t bits) {
  return T == KG_F16 ? kg_f64_from_f16(bits) : kg_f64_from_bf16(bits);
}

/* [rows, COLUMNS] packed, in 16-bit scales and biases; and what that means. */
enum { EXPERTS = 12, N = 48, COLUMNS = 256, GROUP = 64, ROWS = 96 };
typedef struct Weights {
  uint32_t words[EXPERTS * N * COLUMNS / 4];
  uint16_t scales[EXPERTS * N * COLUMNS / GROUP], biases[EXPERTS * N * COLUMNS / GROUP];
  uint8_t exponents[EXPERTS * N * COLUMNS / 32];
  double dense[EXPERTS * N * COLUMNS];
} Weights;

/* bits: 4, 8, or 0 for MXFP4. */
static const Weights *weights_of(kg_dtype T, int bits) {
  enum { COUNT_ = EXPERTS * N * COLUMNS };
  static Weights w;
  static float plain[COUNT_], scales[COUNT_ / GROUP], biases[COUNT_ / GROUP];
  static uint8_t codes[COUNT_];
  uint32_t seed = (uint32_t)bits + 3;
  for (int i = 0; i < COUNT_; i++) plain[i] = (float)(noise(&seed) / 16);
  if (bits == 0) {
    assert_int_equal(kg_mxfp4_quantize(plain, EXPERTS * N, COLUMNS, w.words, w.exponents, NULL),
                     KG_OK);
    assert_int_equal(kg_mxfp4_dequantize(w.words, w.exponents, EXPERTS * N, COLUMNS, plain, NULL),
                     KG_OK);
    for (int i = 0; i < COUNT_; i++) w.dense[i] = (double)plain[i];
    return &w;
  }
  assert_int_equal(
      kg_quant_affine(plain, EXPERTS * N, COLUMNS, bits, GROUP, w.words, scales, biases, NULL),
      KG_OK);
  assert_int_equal(kg_quant_unpack(w.words, EXPERTS * N, COLUMNS, bits, codes, NULL), KG_OK);
  for (int g = 0; g < COUNT_ / GROUP; g++) {
    w.scales[g] = stored(T, (double)scales[g]);
    w.biases[g] = stored(T, (double)biases[g]);
  }
  for (int i = 0; i < COUNT_; i++)
    w.dense[i] = codes[i] * value(T, w.scales[i / GROUP]) + value(T, w.biases[i / GROUP]);
  return &w;
}

static void a_rows_bits_depend_neither_on_the_rows_beside_it_nor_on_the_width(void **state) {
  (void)state;
  static uint16_t x[8 * COLUMNS], first[8 * N], got[8 * N];
  uint32_t seed = 1;
  const Weights *w = weights_of(KG_BF16, 4);
  for (int i = 0; i < 8 * COLUMNS; i++) x[i] = stored(KG_BF16, noise(&seed));
  for (int d = 0; d < WIDTHS; d++) {
    kg_device *device = device_of(device_names[d]);
    assert_true(qmv_available(device));
    for (int64_t M = 1; M <= 8; M++)
      for (int64_t from = 0; from + M <= 8; from += M == 1 ? 1 : 8) {
        kg_tensor t[] = {tensor(device, KG_BF16, x + from * COLUMNS, 2, M, COLUMNS, 0),
                         tensor(device, KG_U32, w->words, 2, N, COLUMNS / 8, 0),
                         tensor(device, KG_BF16, w->scales, 2, N, COLUMNS / GROUP, 0),
                         tensor(device, KG_BF16, w->biases, 2, N, COLUMNS / GROUP, 0),
                         tensor(device, KG_BF16, NULL, 2, M, N, 0)};
        if (qmv_launch(device, &t[0], &t[1], &t[2], &t[3], GROUP, 4, kg_qmv_rows((uint64_t)M),
                       &t[4]) != KG_OK)
          fail_msg("%s", kg_device_message(device));
        fetch(device, &t[4], got, (size_t)(M * N) * 2);
        release(device, t, 5);
        if (d == 0 && M == 1)
          memcpy(first + from * N, got, N * 2);
        else
          assert_memory_equal(first + from * N, got, (size_t)(M * N) * 2);
      }
    kg_device_close(device);
  }
}

static void more_rows_than_an_instance_has_are_refused(void **state) {
  (void)state;
  kg_device *device = device_of("simt32");
  kg_tensor t[] = {
      tensor(device, KG_F32, NULL, 2, 2, 64, 0), tensor(device, KG_U32, NULL, 2, 1, 8, 0),
      tensor(device, KG_F32, NULL, 2, 1, 2, 0), tensor(device, KG_F32, NULL, 2, 1, 2, 0),
      tensor(device, KG_F32, NULL, 2, 2, 1, 0)};
  assert_int_equal(qmv_launch(device, &t[0], &t[1], &t[2], &t[3], 32, 4, 1, &t[4]),
                   KG_REQUIRE_FAILED);
  assert_int_equal(qmv_launch(device, &t[0], &t[1], &t[2], &t[3], 32, 4, 8, &t[4]), KG_OK);
  t[0].shape[0] = t[4].shape[0] = 0; /* no rows: nothing to do */
  assert_int_equal(qmv_launch(device, &t[0], &t[1], &t[2], &t[3], 32, 4, 1, &t[4]), KG_OK);
  release(device, t, 5);
  kg_device_close(device);
}

/* -- both routes of a mixture, over the layouts that index arrays come in -- */

typedef struct Layout {
  const char *name;
  int64_t lhs[2], rhs[2]; /* strides for a batch of ROWS / 2 by 2 */
} Layout;
static const Layout layouts[] = {
    {"gathered", {2, 1}, {2, 1}},
    {"a row of x shared by two experts", {1, 0}, {2, 1}},
    {"one row of x broadcast", {0, 0}, {2, 1}},
    {"indices broadcast", {2, 1}, {1, 0}},
};

typedef struct Batch {
  uint32_t lhs[ROWS], rhs[ROWS];
  kg_gather_view view;
} Batch;

static Batch batch_of(const Layout *l) {
  Batch b;
  const int64_t shape[] = {ROWS / 2, 2};
  assert_int_equal(kg_gather_view_of(2, shape, l->lhs, l->rhs, &b.view, NULL), KG_OK);
  for (uint32_t i = 0; i < ROWS; i++) b.lhs[i] = (i * 37 + 11) % ROWS;
  for (uint32_t i = 0; i < b.view.rhs_count; i++)
    b.rhs[i] = (uint32_t)((uint64_t)i * i * EXPERTS / b.view.rhs_count / b.view.rhs_count);
  return b;
}

static uint32_t index_of(const uint32_t *indices, const Batch *b, bool rhs, uint32_t row) {
  const uint32_t i = row / b->view.B1, j = row % b->view.B1;
  return indices[rhs ? i * b->view.rhs_stride_0 + j * b->view.rhs_stride_1
                     : i * b->view.lhs_stride_0 + j * b->view.lhs_stride_1];
}

/* y [ROWS, N] by one route. */
static void launch_route(kg_device *device, kg_dtype T, int bits, const Weights *w,
                         const uint16_t *x, const Batch *b, bool batched, uint16_t *y) {
  const kg_gather_view v = b->view;
  kg_tensor t[] = {
      tensor(device, T, x, 2, ROWS, COLUMNS, 0),
      tensor(device, KG_U32, w->words, 3, EXPERTS, N, COLUMNS * (bits ? bits : 4) / 32),
      bits ? tensor(device, T, w->scales, 3, EXPERTS, N, COLUMNS / GROUP)
           : tensor(device, KG_U8, w->exponents, 3, EXPERTS, N, COLUMNS / 32),
      tensor(device, T, w->biases, 3, EXPERTS, N, COLUMNS / GROUP),
      tensor(device, KG_U32, b->lhs, 1, v.lhs_count, 0, 0),
      tensor(device, KG_U32, b->rhs, 1, v.rhs_count, 0, 0),
      tensor(device, T, NULL, 3, v.B0, v.B1, N)};
  kg_tensor x3 = t[0], y4 = t[6];
  const int64_t x_shape[] = {ROWS, 1, COLUMNS}, y_shape[] = {v.B0, v.B1, 1, N};
  x3 = kg_tensor_of(device, t[0].data, T, 3, x_shape);
  y4 = kg_tensor_of(device, t[6].data, T, 4, y_shape);
  const uint32_t l0 = v.lhs_stride_0, l1 = v.lhs_stride_1, r0 = v.rhs_stride_0, r1 = v.rhs_stride_1;
  kg_status s;
  if (bits && batched)
    s = gather_qmm_expert_batched_launch(device, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], GROUP,
                                         l0, l1, r0, r1, bits, &t[6]);
  else if (bits)
    s = gather_qmm_launch(device, &x3, &t[1], &t[2], &t[3], &t[4], &t[5], GROUP, l0, l1, r0, r1,
                          bits, &y4);
  else if (batched)
    s = gather_qmm_expert_batched_mxfp4_launch(device, &t[0], &t[1], &t[2], &t[4], &t[5], l0, l1,
                                               r0, r1, &t[6]);
  else
    s = gather_qmm_mxfp4_launch(device, &x3, &t[1], &t[2], &t[4], &t[5], l0, l1, r0, r1, &y4);
  if (s != KG_OK) fail_msg("%s", kg_device_message(device));
  fetch(device, &t[6], y, ROWS * N * 2);
  release(device, t, COUNT(t));
}

/* sqrt(sum (got - want)^2 / sum want^2) over the batch, want in doubles. */
static double relative_error(kg_dtype T, const Weights *w, const uint16_t *x, const Batch *b,
                             const uint16_t *y) {
  double error = 0, size = 0;
  for (uint32_t row = 0; row < ROWS; row++) {
    const size_t from = index_of(b->lhs, b, false, row), expert = index_of(b->rhs, b, true, row);
    for (size_t n = 0; n < N; n++) {
      double want = 0;
      for (size_t k = 0; k < COLUMNS; k++)
        want += value(T, x[from * COLUMNS + k]) * w->dense[(expert * N + n) * COLUMNS + k];
      error += pow(value(T, y[row * N + n]) - want, 2);
      size += want * want;
    }
  }
  assert_true(size > 0.1 * (double)(ROWS * N)); /* not the error of nothing */
  return sqrt(error / size);
}

/* 6 bits, packed as the host packs them, through the route that takes them. */
static void codes_of_six_bits_take_the_generic_route(void **state) {
  (void)state;
  static uint16_t x[ROWS * COLUMNS], y[ROWS * N];
  const Weights *w = weights_of(KG_F16, 6);
  uint32_t seed = 4;
  for (int j = 0; j < ROWS * COLUMNS; j++) x[j] = stored(KG_F16, noise(&seed));
  for (int d = 0; d < WIDTHS; d++) {
    const Batch b = batch_of(&layouts[1]);
    kg_device *device = device_of(device_names[d]);
    launch_route(device, KG_F16, 6, w, x, &b, false, y);
    kg_device_close(device);
    assert_true(relative_error(KG_F16, w, x, &b, y) < 4e-4);
  }
}

static void both_routes_are_right_in_every_layout_and_repeat_their_bits(void **state) {
  (void)state;
  static uint16_t x[ROWS * COLUMNS], generic[ROWS * N], batched[ROWS * N], again[ROWS * N];
  const struct {
    kg_dtype T;
    double most;
  } types[] = {{KG_F16, 2e-3}, {KG_BF16, 1e-2}};
  const int formats[] = {4, 8, 0};
  for (int i = 0; i < COUNT(types); i++)
    for (int f = 0; f < COUNT(formats); f++) {
      const kg_dtype T = types[i].T;
      const int bits = formats[f];
      const Weights *w = weights_of(T, bits);
      uint32_t seed = 9;
      for (int j = 0; j < ROWS * COLUMNS; j++) x[j] = stored(T, noise(&seed));
      for (int l = 0; l < COUNT(layouts); l++)
        for (int d = 0; d < WIDTHS; d++) {
          const Batch b = batch_of(&layouts[l]);
          const kg_gather_qmm call = {.batch = ROWS,
                                      .experts = EXPERTS,
                                      .M = 1,
                                      .K = COLUMNS,
                                      .dtype = T,
                                      .mxfp4 = bits == 0,
                                      .bits = bits,
                                      .group_size = bits ? GROUP : 32,
                                      .sorted = true};
          assert_int_equal(kg_gather_qmm_route(&call, NULL), KG_GATHER_EXPERT_BATCHED);
          kg_device *device = device_of(device_names[d]);
          launch_route(device, T, bits, w, x, &b, false, generic);
          launch_route(device, T, bits, w, x, &b, true, batched);
          for (int run = 0; run < (l == 3 ? 4 : 0); run++) {
            memset(again, 0xff, sizeof again);
            launch_route(device, T, bits, w, x, &b, run % 2, again);
            assert_memory_equal(again, run % 2 ? batched : generic, sizeof again);
          }
          kg_device_close(device);
          const double plain = relative_error(T, w, x, &b, generic);
          const double tiled = relative_error(T, w, x, &b, batched);
          if (plain > types[i].most || tiled > types[i].most || tiled > 1.25 * plain)
            fail_msg("%s, %d bits, %s: generic %g, expert-batched %g off", layouts[l].name, bits,
                     device_names[d], plain, tiled);
        }
    }
}

/* -- all four routes, at the ends of what their dims may be -- */

enum { KERNELS = 4, BLOCK_ = 32 };
static const char *const kernel_names[KERNELS] = {"gather_qmm", "gather_qmm_mxfp4",
                                                  "gather_qmm_expert_batched",
                                                  "gather_qmm_expert_batched_mxfp4"};

typedef struct Shape {
  int64_t B0, B1, N, E, X;
} Shape;

static kg_tensor shaped(kg_device *device, kg_dtype T, int rank, const int64_t *shape) {
  size_t bytes = kg_dtype_bytes(T);
  for (int i = 0; i < rank; i++) bytes *= (size_t)shape[i];
  kg_tensor t = kg_tensor_of(device, NULL, T, rank, shape);
  if (bytes == 0) return t;
  void *ones = malloc(bytes);
  assert_non_null(ones);
  memset(ones, 0xff, bytes); /* as indices: no row of x, no expert */
  assert_int_equal(kg_device_alloc(device, bytes, &t.data), KG_OK);
  assert_int_equal(kg_device_upload(device, t.data, ones, bytes), KG_OK);
  free(ones);
  return t;
}

/* K is 32, a code has 4 bits, and both views are one index broadcast, or none.  y gets the first
** results, `count` of them. */
static kg_status launch_shape(kg_device *device, int kernel, Shape s, uint16_t *y, size_t count) {
  const bool mxfp4 = kernel % 2, batched = kernel / 2;
  const int64_t x_shape[] = {s.X, 1, BLOCK_}, single[] = {s.X, BLOCK_}, w[] = {s.E, s.N, 4};
  const int64_t scales[] = {s.E, s.N, 1}, indices[] = {s.B0 * s.B1 > 0};
  const int64_t y_shape[] = {s.B0, s.B1, 1, s.N}, y_single[] = {s.B0, s.B1, s.N};
  kg_tensor t[] = {batched ? shaped(device, KG_F16, 2, single) : shaped(device, KG_F16, 3, x_shape),
                   shaped(device, KG_U32, 3, w),
                   shaped(device, mxfp4 ? KG_U8 : KG_F16, 3, scales),
                   shaped(device, KG_F16, 3, scales),
                   shaped(device, KG_U32, 1, indices),
                   shaped(device, KG_U32, 1, indices),
                   batched ? shaped(device, KG_F16, 3, y_single)
                           : shaped(device, KG_F16, 4, y_shape)};
  const kg_status status =
      kernel == 0 ? gather_qmm_launch(device, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], BLOCK_, 0,
                                      0, 0, 0, 4, &t[6])
      : kernel == 1
          ? gather_qmm_mxfp4_launch(device, &t[0], &t[1], &t[2], &t[4], &t[5], 0, 0, 0, 0, &t[6])
      : kernel == 2 ? gather_qmm_expert_batched_launch(device, &t[0], &t[1], &t[2], &t[3], &t[4],
                                                       &t[5], BLOCK_, 0, 0, 0, 0, 4, &t[6])
                    : gather_qmm_expert_batched_mxfp4_launch(device, &t[0], &t[1], &t[2], &t[4],
                                                             &t[5], 0, 0, 0, 0, &t[6]);
  if (status == KG_OK && count > 0) fetch(device, &t[6], y, count * sizeof *y);
  for (int i = 0; i < COUNT(t); i++)
    if (t[i].data) kg_device_free(device, t[i].data);
  return status;
}

static void shape_is(kg_device *device, int kernel, Shape s, kg_status status, const char *words) {
  const kg_status got = launch_shape(device, kernel, s, NULL, 0);
  if (got != status || (words && !strstr(kg_device_message(device), words)))
    fail_msg("%s: status %d: %s", kernel_names[kernel], (int)got,
             got == KG_OK ? "" : kg_device_message(device));
}

static void a_batch_without_rows_succeeds_and_one_without_weights_or_x_is_zeros(void **state) {
  (void)state;
  kg_device *device = device_of("simt32");
  for (int k = 0; k < KERNELS; k++) {
    shape_is(device, k, (Shape){0, 4, 8, 2, 3}, KG_OK, NULL);
    shape_is(device, k, (Shape){4, 0, 8, 2, 3}, KG_OK, NULL);
    shape_is(device, k, (Shape){0, 1, 8, 0, 0}, KG_OK, NULL);
    const Shape without[] = {{3, 2, 8, 0, 3}, {3, 2, 8, 2, 0}, {3, 2, 8, 0, 0}};
    for (int i = 0; i < COUNT(without); i++) {
      uint16_t y[48];
      const kg_status s = launch_shape(device, k, without[i], y, COUNT(y));
      if (s != KG_OK) fail_msg("%s", kg_device_message(device));
      for (int j = 0; j < COUNT(y); j++) assert_int_equal(y[j], 0);
    }
  }
  kg_device_close(device);
}

static void a_batch_has_as_many_rows_as_the_companion_lets_in(void **state) {
  (void)state;
  kg_device *device = device_of("simt32");
  const Shape most[] = {
      {KG_GATHER_ROWS, 1, 0, 1, 1}, {1, KG_GATHER_ROWS, 0, 1, 1}, {4096, 16383, 0, 1, 1}};
  const Shape more[] = {
      {KG_GATHER_ROWS + 1, 1, 0, 1, 1}, {4096, 16384, 0, 1, 1}, {UINT32_MAX, 2, 0, 1, 1}};
  for (int k = 0; k < KERNELS; k++) {
    for (int i = 0; i < COUNT(most); i++) shape_is(device, k, most[i], KG_OK, NULL);
    for (int i = 0; i < COUNT(more); i++)
      shape_is(device, k, more[i], KG_REQUIRE_FAILED, "B0 * B1 <= 67108863");
  }
  kg_device_close(device);
  assert_true(KG_GATHER_ROWS * UINT64_C(64) <= UINT32_MAX); /* HIP's threads of an axis */
}

/* Four rows of W to a group: gather_qmm's are on an axis that has 65535, qmv's on one whose threads
** HIP counts in 32 bits. */
static void no_launch_within_the_dims_is_refused_for_its_grid(void **state) {
  (void)state;
  kg_device *device = device_of("simt32");
  for (int k = 0; k < KERNELS; k++) shape_is(device, k, (Shape){1, 1, 262140, 1, 1}, KG_OK, NULL);
  for (int k = 0; k < 2; k++)
    shape_is(device, k, (Shape){1, 1, 262141, 1, 1}, KG_REQUIRE_FAILED, "N <= 262140");
  for (int64_t rows = 268435452; rows <= 268435453; rows++) { /* no x: nothing is read */
    static uint32_t here[4];
    const int64_t x[] = {0, BLOCK_}, w[] = {rows, 4}, scales[] = {rows, 1}, y[] = {0, rows};
    kg_tensor t[] = {
        kg_tensor_of(device, here, KG_F16, 2, x), kg_tensor_of(device, here, KG_U32, 2, w),
        kg_tensor_of(device, here, KG_F16, 2, scales), kg_tensor_of(device, here, KG_F16, 2, y)};
    assert_int_equal(qmv_launch(device, &t[0], &t[1], &t[2], &t[2], BLOCK_, 4, 1, &t[3]),
                     (rows + 3) / 4 * 64 <= UINT32_MAX ? KG_OK : KG_REQUIRE_FAILED);
  }
  kg_device_close(device);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* tests/mutants/qmm.txt has the others. */
typedef struct Fault {
  const char *kernel, *file, *from, *to;
} Fault;
static const Fault faults[] = {
    /* index arrays read flat, as if no view were a broadcast */
    {"gather_qmm", "lib/gather.kc", "return i * v.stride_0 + (row - i * v.columns) * v.stride_1;",
     "return row + i - i;"},
    {"gather_qmm_expert_batched", "lib/gather.kc",
     "return i * v.stride_0 + (row - i * v.columns) * v.stride_1;", "return row + i - i;"},
    /* rows without an expert are left as they were */
    {"gather_qmm_expert_batched", "kernels/qmm.lua", "dim.E + 1, 1 }", "dim.E, 1 }"},
    {"gather_qmm", "kernels/gather_qmm/gather_qmm.kc", "from < X && expert < E", "from < X"},
};

static void a_planted_fault_makes_its_kernels_cases_fail(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(faults); i++) {
    const Fault *f = &faults[i];
    const char *folder = faulty_copy(f->file, f->from, f->to);
    Ready r = ready(folder, f->kernel, 1);
    bool found = false;
    kg_dtype types[MAX_TYPES] = {KG_F32};
    if (strstr(f->kernel, "expert_batched")) types[0] = KG_F16;
    for (int c = 0; c < r.kernel->case_count && !found; c++)
      found = case_wrong(&r, c, types, false) > 0;
    done(&r);
    remove_copy(folder);
    if (!found) fail_msg("%s is right with %s for %s", f->kernel, f->to, f->from);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e2m1_has_sixteen_codes_and_rounds_to_the_nearest_even_one),
      cmocka_unit_test(e8m0_is_a_power_of_two_or_nan),
      cmocka_unit_test(a_block_of_known_weights_has_its_known_words),
      cmocka_unit_test(a_quantised_weight_is_within_half_a_step_of_its_blocks_scale),
      cmocka_unit_test(what_mxfp4_cannot_hold_is_refused_in_words),
      cmocka_unit_test(the_expert_batched_route_is_selected_where_it_pays),
      cmocka_unit_test(rows_of_x_choose_the_instance_of_qmv),
      cmocka_unit_test(an_index_view_of_any_rank_comes_down_to_two_strides),
      cmocka_unit_test(a_rows_bits_depend_neither_on_the_rows_beside_it_nor_on_the_width),
      cmocka_unit_test(more_rows_than_an_instance_has_are_refused),
      cmocka_unit_test(codes_of_six_bits_take_the_generic_route),
      cmocka_unit_test(both_routes_are_right_in_every_layout_and_repeat_their_bits),
      cmocka_unit_test(a_batch_without_rows_succeeds_and_one_without_weights_or_x_is_zeros),
      cmocka_unit_test(a_batch_has_as_many_rows_as_the_companion_lets_in),
      cmocka_unit_test(no_launch_within_the_dims_is_refused_for_its_grid),
      cmocka_unit_test(a_planted_fault_makes_its_kernels_cases_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_moe.c: the packed kernels of a mixture of experts and BitNet's, with their companions: what
** the cases of their specifications cannot say.  Launched as a client launches them, through
** the generated launchers, on the CPU lane by lane at both widths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bitlinear_matmul/host.h"
#include "kernels/moe_down/host.h"
#include "lib/host/quant.h"
#include "model/expr.h"
#include "kernels.h"
#include "passes.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- packing --------------------------------------------------------------------------------- */

static void codes_are_a_stream_of_bits_with_the_low_ones_first(void **state) {
  (void)state;
  uint32_t words[3];
  const uint8_t four[] = {1, 2, 3, 4, 5, 6, 7, 15};
  assert_int_equal(kg_quant_pack(four, 1, 8, 4, words, NULL), KG_OK);
  assert_int_equal(words[0], 0xf7654321);
  const uint8_t eight[] = {0x12, 0x34, 0x56, 0xff};
  assert_int_equal(kg_quant_pack(eight, 1, 4, 8, words, NULL), KG_OK);
  assert_int_equal(words[0], 0xff563412);
  /* four of 6 bits in three bytes, so the fifth starts in the first word's last byte */
  const uint8_t six[16] = {1, 2, 33, 63, 1, 2, 33, 63, 1, 2, 33, 63, 1, 2, 33, 63};
  assert_int_equal(kg_quant_pack(six, 1, 16, 6, words, NULL), KG_OK);
  const uint8_t bytes[12] = {129, 16, 254, 129, 16, 254, 129, 16, 254, 129, 16, 254};
  for (size_t i = 0; i < 12; i++) assert_int_equal(words[i / 4] >> (8 * (i % 4)) & 255, bytes[i]);
}

static void every_code_comes_back_in_every_place(void **state) {
  (void)state;
  enum { ROWS = 3, COLUMNS = 32 };
  const int widths[] = {4, 6, 8};
  for (size_t w = 0; w < COUNT(widths); w++)
    for (unsigned first = 0; first < 1u << widths[w]; first++) {
      uint8_t codes[ROWS * COLUMNS], back[ROWS * COLUMNS];
      uint32_t words[ROWS * 8];
      for (unsigned i = 0; i < ROWS * COLUMNS; i++)
        codes[i] = (uint8_t)((first + 37 * i) & ((1u << widths[w]) - 1));
      assert_int_equal(kg_quant_words(COLUMNS, widths[w]), widths[w]);
      assert_int_equal(kg_quant_pack(codes, ROWS, COLUMNS, widths[w], words, NULL), KG_OK);
      assert_int_equal(kg_quant_unpack(words, ROWS, COLUMNS, widths[w], back, NULL), KG_OK);
      assert_memory_equal(codes, back, sizeof codes);
    }
}

static double noise(uint32_t *at) { /* variance 1 */
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    *at = *at * 1664525u + 1013904223u;
    sum += (double)(*at >> 8) * 0x1p-24 - 0.5;
  }
  return sum * 1.7320508;
}

/* Groups of ordinary weights, of one sign, of one value, of zeros, and with one far entry. */
static void quantised_weights_are_within_a_scale_and_keep_zero_and_the_farthest(void **state) {
  (void)state;
  enum { GROUPS = 60, SIZE = 32, COLUMNS = GROUPS * SIZE };
  const int widths[] = {4, 6, 8};
  static float weights[COLUMNS];
  static uint8_t codes[COLUMNS];
  uint32_t words[COLUMNS / 4], seed = 7;
  float scales[GROUPS], biases[GROUPS];
  for (int i = 0; i < COLUMNS; i++) {
    const double x = noise(&seed), kinds[] = {x, fabs(x) + 1, -fabs(x), 0.25, 0};
    weights[i] = (float)(0.02 * kinds[i / SIZE % 5]);
    if (i % SIZE == 5) weights[i] = i / SIZE % 5 == 0 ? 0.0f : weights[i];
    if (i % (5 * SIZE) == 6) weights[i] = i / SIZE % 2 ? 1.0f : -1.0f;
  }
  for (size_t w = 0; w < COUNT(widths); w++) {
    assert_int_equal(
        kg_quant_affine(weights, 1, COLUMNS, widths[w], SIZE, words, scales, biases, NULL), KG_OK);
    assert_int_equal(kg_quant_unpack(words, 1, COLUMNS, widths[w], codes, NULL), KG_OK);
    for (int i = 0; i < COLUMNS; i++) {
      const double s = scales[i / SIZE], met = codes[i] * s + (double)biases[i / SIZE];
      double far = 0;
      for (int j = i / SIZE * SIZE; j < i / SIZE * SIZE + SIZE; j++)
        far = fmax(far, fabs((double)weights[j]));
      const double slip = 1e-6 * far; /* of f32 */
      assert_true(fabs(met - (double)weights[i]) <= fabs(s) + slip);
      if (weights[i] == 0 || fabs((double)weights[i]) == far)
        assert_true(fabs(met - (double)weights[i]) <= slip);
    }
  }
}

static void what_cannot_be_packed_is_refused_in_words(void **state) {
  (void)state;
  kg_error error;
  uint32_t words[8];
  float scales[4], biases[4];
  const uint8_t codes[32] = {0, 0, 16};
  float weights[32] = {0};
  weights[9] = NAN;
  assert_int_equal(kg_quant_pack(codes, 2, 8, 4, words, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_quant_pack: code 16 at row 0, column 2 does not fit into 4 bits");
  assert_int_equal(kg_quant_pack(codes, 1, 8, 5, words, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_quant_pack: codes have 4, 6 or 8 bits, not 5");
  assert_int_equal(kg_quant_pack(codes, 1, 24, 6, words, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_quant_pack: rows of 24 codes of 6 bits do not fill whole "
                                     "words: the columns must be a multiple of 16");
  assert_int_equal(kg_quant_words(12, 4), 0);
  assert_int_equal(kg_quant_words(16, 3), 0);
  assert_int_equal(kg_quant_affine(weights, 2, 16, 4, 8, words, scales, biases, &error),
                   KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_quant_affine: the weight at row 0, column 9 is not finite");
  assert_int_equal(kg_quant_affine(weights, 2, 16, 4, 12, words, scales, biases, &error),
                   KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_quant_affine: groups of 12 columns do not cut a row of 16 "
                                     "(largest group: 1024)");
  assert_int_equal(kg_quant_affine(weights, 2, 16, 4, 0, words, scales, biases, NULL),
                   KG_BAD_ARGUMENT);
  assert_int_equal(kg_quant_pack(NULL, 1, 8, 4, words, NULL), KG_BAD_ARGUMENT);
  assert_int_equal(kg_quant_pack(NULL, 0, 8, 4, NULL, NULL), KG_OK);
}

/* The worked example: rows of W, and the bytes that hold them. */
static const int8_t example[16] = {1, 0, -1, 0, 0, 1, 0, -1, -1, -1, 1, 1, 1, 1, 0, 0};
static const uint8_t example_bytes[4] = {134, 137, 100, 97};

static void ternary_rows_interleave_by_quarters(void **state) {
  (void)state;
  uint8_t packed[4 * 3];
  int8_t back[16 * 3], weights[16 * 3];
  assert_int_equal(kg_bitnet_pack(example, 4, 4, packed, NULL), KG_OK);
  assert_memory_equal(packed, example_bytes, 4);
  assert_int_equal(kg_bitnet_unpack(packed, 4, 4, back, NULL), KG_OK);
  assert_memory_equal(back, example, 16);
  for (int i = 0; i < 16 * 3; i++) weights[i] = (int8_t)(i * i % 7 % 3 - 1);
  assert_int_equal(kg_bitnet_pack(weights, 16, 3, packed, NULL), KG_OK);
  for (int q = 0; q < 4; q++) /* row 2, column 1 of each quarter */
    assert_int_equal(packed[2 * 3 + 1] >> (2 * q) & 3, weights[(4 * q + 2) * 3 + 1] + 1);
  assert_int_equal(kg_bitnet_unpack(packed, 16, 3, back, NULL), KG_OK);
  assert_memory_equal(back, weights, sizeof weights);

  kg_error error;
  weights[7] = 2;
  assert_int_equal(kg_bitnet_pack(weights, 16, 3, packed, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_bitnet_pack: 2 at row 2, column 1 is not -1, 0 or 1");
  assert_int_equal(kg_bitnet_pack(weights, 6, 3, packed, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_bitnet_pack: 6 rows are not four quarters: a byte has one row of each");
  packed[0] = 3;
  assert_int_equal(kg_bitnet_unpack(packed, 4, 1, back, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_bitnet_unpack: code 3 at row 0, column 0 stands for no weight");
}

static void experts_are_added_in_f32_and_rounded_once(void **state) {
  (void)state;
  /* added to 1 alone, bf16 would lose each 2^-8 and f16 each 2^-11; their sum they keep.  In the
  ** third column no 16 bits hold the first expert */
  const float tiny[] = {0x1p-8f, 0x1p-11f}, *own = tiny;
  for (const kg_dtype dtypes[] = {KG_BF16, KG_F16}, *T = dtypes; T < dtypes + 2; T++, own++) {
    const float partial[] = {1, 1e30f, 1 + 0x1p-12f, *own, -1e30f, -1, *own, 2, 0};
    uint16_t half[3];
    float whole[3];
    assert_int_equal(kg_moe_sum(partial, 3, 3, KG_F32, whole, NULL), KG_OK);
    assert_true(whole[0] == 1 + 2 * *own && whole[1] == 2 && whole[2] == 0x1p-12f);
    assert_int_equal(kg_moe_sum(partial, 3, 3, *T, half, NULL), KG_OK);
    for (int i = 0; i < 3; i++)
      assert_true((*T == KG_F16 ? kg_f64_from_f16(half[i]) : kg_f64_from_bf16(half[i])) ==
                  (double)whole[i]);
  }
  const float partial[] = {1, 2};
  float whole[2];
  assert_int_equal(kg_moe_sum(NULL, 0, 2, KG_F32, whole, NULL), KG_OK);
  assert_true(whole[0] == 0 && whole[1] == 0);
  kg_error error;
  assert_int_equal(kg_moe_sum(partial, 1, 2, KG_U32, whole, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_moe_sum: the result is f32, f16 or bf16, not u32");
}

/* ---- launches -------------------------------------------------------------------------------- */

static const char *const devices[] = {"simt32", "simt64"};

static kg_device *device_of(const char *name) {
  kg_device *device = NULL;
  kg_error error = {0};
  const kg_status s = kg_device_open(name, &device, &error);
  if (s == KG_NO_COMPILER) {
    print_message("%s: nothing was run lane by lane\n", error.message);
    skip();
  }
  if (s != KG_OK) fail_msg("%s: %s", name, error.message);
  return device;
}

static size_t bytes_of(const kg_tensor *t) {
  size_t bytes = kg_dtype_bytes(t->dtype);
  for (int i = 0; i < t->rank; i++) bytes *= (size_t)t->shape[i];
  return bytes;
}

/* data: what it starts with, or NULL. */
static kg_tensor tensor(kg_device *device, kg_dtype dtype, const void *data, int rank, int64_t a,
                        int64_t b, int64_t c) {
  const int64_t shape[] = {a, b, c};
  kg_tensor t = kg_tensor_of(device, NULL, dtype, rank, shape);
  assert_int_equal(kg_device_alloc(device, bytes_of(&t), &t.data), KG_OK);
  if (data) assert_int_equal(kg_device_upload(device, t.data, data, bytes_of(&t)), KG_OK);
  return t;
}

/* Waits for the launches, downloads. */
static void fetch(kg_device *device, const kg_tensor *t, void *to) {
  assert_int_equal(kg_device_synchronize(device), KG_OK);
  assert_int_equal(kg_device_download(device, to, t->data, bytes_of(t)), KG_OK);
}

static void release(kg_device *device, kg_tensor *t, size_t count) {
  for (size_t i = 0; i < count; i++) kg_device_free(device, t[i].data);
}

static uint16_t stored(kg_dtype dtype, double x) {
  return dtype == KG_F16 ? kg_f16_from_f64(x) : kg_bf16_from_f64(x);
}

static void bitnets_worked_example_gives_its_numbers(void **state) {
  (void)state;
  const double x[] = {1, 2, 3, 4}, scale = 2, y[] = {-4, -4, 8, 6};
  const kg_dtype dtypes[] = {KG_F16, KG_BF16};
  for (size_t d = 0; d < COUNT(devices); d++) {
    kg_device *device = device_of(devices[d]);
    assert_true(bitlinear_matmul_available(device));
    for (size_t i = 0; i < COUNT(dtypes); i++)
      for (uint32_t invert = 0; invert < 2; invert++) {
        const kg_dtype T = dtypes[i];
        uint16_t xs[4], got[4];
        const uint16_t ws = stored(T, invert ? 1 / scale : scale);
        for (int j = 0; j < 4; j++) xs[j] = stored(T, x[j]);
        kg_tensor t[] = {tensor(device, T, xs, 2, 1, 4, 0),
                         tensor(device, KG_U8, example_bytes, 2, 1, 4, 0),
                         tensor(device, T, &ws, 1, 1, 0, 0), tensor(device, T, NULL, 2, 1, 4, 0)};
        assert_int_equal(bitlinear_matmul_launch(device, &t[0], &t[1], &t[2], invert, &t[3]),
                         KG_OK);
        fetch(device, &t[3], got);
        for (int j = 0; j < 4; j++) assert_int_equal(got[j], stored(T, y[j]));
        release(device, t, 4);
      }
    kg_device_close(device);
  }
}

/* What any device of a backend takes: HIP counts the threads of an axis in 32 bits, CUDA and HIP
** the groups of the second and third axis in 16. */
static void assert_grid_fits(const kg_port *port, const kg_values *values) {
  for (int axis = 0; axis < 3; axis++) {
    int64_t groups, threads;
    assert_int_equal(kg_expr_eval(&port->groups[axis], values, &groups), KG_EXPR_OK);
    assert_int_equal(kg_expr_eval(&port->threads[axis], values, &threads), KG_EXPR_OK);
    assert_in_range(groups, 1, axis == 0 ? UINT32_MAX / (uint64_t)threads : 65535);
  }
}

static void every_batch_of_bitlinears_has_a_grid_on_each_backend(void **state) {
  (void)state;
  Arena *arena = arena_new();
  const LibraryOptions o = {
      .only = "bitlinear_matmul", .spec = "kernels.lua", .templates = "templates"};
  const Library *l = library_open(arena, &o);
  int number = 0;
  assert_non_null(l);
  const Kernel *specified = library_kernel(l, o.only, &number);
  assert_non_null(specified);
  const kg_kernel *k = &specified->model;
  const struct {
    int64_t batch, quarter;
    bool allowed;
  } calls[] = {{1, 1, true},           {65535, 640, true},   {65536, 640, true},
               {2147483647, 1, true},  {1, 134217726, true}, {2147483647, 134217726, true},
               {2147483648, 1, false}, {1, 134217727, false}};
  for (size_t i = 0; i < COUNT(calls); i++) {
    kg_values values = {.known = UINT64_MAX};
    const int64_t dims[] = {calls[i].batch, 4, calls[i].quarter};
    for (int d = 0; d < k->dim_count; d++) values.value[d] = dims[d];
    for (int c = 0; c < k->const_count; c++)
      values.value[k->dim_count + c] = k->consts[c].values[0];
    bool allowed = true;
    for (int r = 0; r < k->require_count; r++) {
      int64_t holds;
      assert_int_equal(kg_expr_eval(&k->require[r], &values, &holds), KG_EXPR_OK);
      allowed = allowed && holds;
    }
    assert_true(allowed == calls[i].allowed);
    if (!allowed) continue;
    assert_grid_fits(k->ports->metal, &values);
    assert_grid_fits(k->ports->cuda, &values);
    assert_grid_fits(k->ports->rocm, &values);
  }
  arena_free(arena);
}

/* ---- a token through its experts, from ordinary weights to the sum --------------------------- */

enum { E = 4, K = 5, DIN = 128, DFF = 64, GROUP = 32 };

typedef struct Matrix { /* [E, rows, columns] quantised, and the dense weights that this means */
  uint32_t words[E * DIN * DFF / 4];
  float scales[E * DIN * DFF / GROUP], biases[E * DIN * DFF / GROUP];
  double dense[E * DIN * DFF];
} Matrix;

typedef struct Mixture {
  Matrix gate, up, down;
  float x[DIN], scores[K];
  uint32_t indices[K];
} Mixture;

static void matrix_make(Matrix *m, size_t rows, size_t columns, int width, uint32_t *seed) {
  static float weights[E * DIN * DFF];
  static uint8_t codes[E * DIN * DFF];
  const size_t count = E * rows * columns;
  for (size_t i = 0; i < count; i++) weights[i] = (float)(noise(seed) / sqrt((double)columns));
  assert_int_equal(kg_quant_affine(weights, E * rows, columns, width, GROUP, m->words, m->scales,
                                   m->biases, NULL),
                   KG_OK);
  assert_int_equal(kg_quant_unpack(m->words, E * rows, columns, width, codes, NULL), KG_OK);
  for (size_t i = 0; i < count; i++)
    m->dense[i] = codes[i] * (double)m->scales[i / GROUP] + (double)m->biases[i / GROUP];
}

static const Mixture *mixture(int width, int down_width) {
  static Mixture m;
  uint32_t seed = (uint32_t)(width + 16 * down_width);
  matrix_make(&m.gate, DFF, DIN, width, &seed);
  matrix_make(&m.up, DFF, DIN, width, &seed);
  matrix_make(&m.down, DIN, DFF, down_width, &seed);
  const uint32_t chosen[K] = {3, 0, 3, 1, 3}; /* the last one, and it again */
  for (int i = 0; i < DIN; i++) m.x[i] = (float)noise(&seed);
  for (int k = 0; k < K; k++) {
    m.indices[k] = chosen[k];
    m.scores[k] = (float)(0.3 - 0.05 * (k % 4));
  }
  return &m;
}

static double dense_row(const Matrix *m, size_t row, size_t columns, const double *x) {
  double sum = 0;
  for (size_t i = 0; i < columns; i++) sum += x[i] * m->dense[row * columns + i];
  return sum;
}

/* out [DIN] of K experts, in doubles throughout. */
static void dense_mixture(const Mixture *m, bool geglu, double *out) {
  double x[DIN], act[DFF];
  for (int i = 0; i < DIN; i++) x[i] = (double)m->x[i], out[i] = 0;
  for (int k = 0; k < K; k++) {
    for (size_t f = 0; f < DFF; f++) {
      const size_t row = m->indices[k] * DFF + f;
      const double g = dense_row(&m->gate, row, DIN, x), u = dense_row(&m->up, row, DIN, x);
      const double inner = sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g);
      act[f] = (geglu ? g / 2 * (1 + tanh(inner)) : g / (1 + exp(-g))) * u;
    }
    for (size_t d = 0; d < DIN; d++)
      out[d] += (double)m->scores[k] * dense_row(&m->down, m->indices[k] * DIN + d, DFF, act);
  }
}

static void matrix_tensors(kg_device *device, const Matrix *m, int64_t rows, int64_t columns,
                           int64_t width, kg_tensor *t) {
  t[0] = tensor(device, KG_U32, m->words, 3, E, rows, columns * width / 32);
  t[1] = tensor(device, KG_F32, m->scales, 3, E, rows, columns / GROUP);
  t[2] = tensor(device, KG_F32, m->biases, 3, E, rows, columns / GROUP);
}

enum { X, INDICES, GATE, UP = GATE + 3, DOWN = UP + 3, SCORES = DOWN + 3, ACT, PARTIAL, TENSORS };

/* partial [slots, DIN] of the first `slots` experts. */
static void launch_mixture(kg_device *device, const Mixture *m, int64_t slots, bool geglu,
                           int64_t width, int64_t down_width, float *partial) {
  kg_tensor t[TENSORS];
  t[X] = tensor(device, KG_F32, m->x, 1, DIN, 0, 0);
  t[INDICES] = tensor(device, KG_U32, m->indices, 1, slots, 0, 0);
  matrix_tensors(device, &m->gate, DFF, DIN, width, &t[GATE]);
  matrix_tensors(device, &m->up, DFF, DIN, width, &t[UP]);
  matrix_tensors(device, &m->down, DIN, DFF, down_width, &t[DOWN]);
  t[SCORES] = tensor(device, KG_F32, m->scores, 1, slots, 0, 0);
  t[ACT] = tensor(device, KG_F32, NULL, 2, slots, DFF, 0);
  t[PARTIAL] = tensor(device, KG_F32, NULL, 2, slots, DIN, 0);
  if (moe_gateup_launch(device, &t[X], &t[INDICES], &t[GATE], &t[GATE + 1], &t[GATE + 2], &t[UP],
                        &t[UP + 1], &t[UP + 2], GROUP, width, geglu, &t[ACT]) != KG_OK ||
      moe_down_launch(device, &t[INDICES], &t[DOWN], &t[DOWN + 1], &t[DOWN + 2], &t[ACT],
                      &t[SCORES], GROUP, down_width, &t[PARTIAL]) != KG_OK)
    fail_msg("%s", kg_device_message(device));
  fetch(device, &t[PARTIAL], partial);
  release(device, t, TENSORS);
}

static void a_token_through_its_experts_equals_the_dense_mixture(void **state) {
  (void)state;
  const struct {
    int width, down_width;
    bool geglu;
  } kinds[] = {{4, 4, false}, {4, 6, true}, {8, 8, false}, {8, 6, true}};
  for (size_t d = 0; d < COUNT(devices); d++) {
    kg_device *device = device_of(devices[d]);
    for (size_t i = 0; i < COUNT(kinds); i++) {
      const Mixture *m = mixture(kinds[i].width, kinds[i].down_width);
      double want[DIN], error = 0, size = 0;
      float partial[K * DIN], out[DIN];
      dense_mixture(m, kinds[i].geglu, want);
      launch_mixture(device, m, K, kinds[i].geglu, kinds[i].width, kinds[i].down_width, partial);
      assert_int_equal(kg_moe_sum(partial, K, DIN, KG_F32, out, NULL), KG_OK);
      for (int j = 0; j < DIN; j++) {
        error += pow((double)out[j] - want[j], 2);
        size += want[j] * want[j];
      }
      assert_true(size > 1e-4 * (double)DIN); /* not the error of nothing */
      assert_true(sqrt(error / size) < 3e-6);
    }
    kg_device_close(device);
  }
}

static void an_experts_bits_depend_neither_on_its_slot_nor_on_the_run(void **state) {
  (void)state;
  for (size_t d = 0; d < COUNT(devices); d++) {
    kg_device *device = device_of(devices[d]);
    Mixture m = *mixture(4, 4);
    for (int k = 0; k < K; k++) m.scores[k] = 0.25f;
    float first[K * DIN], again[K * DIN];
    launch_mixture(device, &m, K, false, 4, 4, first);
    assert_memory_equal(first, first + 2 * DIN, DIN * sizeof *first); /* all three of expert 3 */
    assert_memory_equal(first, first + 4 * DIN, DIN * sizeof *first);
    assert_memory_not_equal(first, first + DIN, DIN * sizeof *first);
    for (int64_t run = 0; run < 24; run++) { /* with any number of slots beside it */
      const int64_t slots = 1 + run % K;
      memset(again, 0xff, sizeof again);
      launch_mixture(device, &m, slots, false, 4, 4, again);
      assert_memory_equal(first, again, (size_t)(slots * DIN) * sizeof *first);
    }
    kg_device_close(device);
  }
}

static void a_group_that_does_not_fit_is_refused(void **state) {
  (void)state;
  kg_device *device = device_of("simt32");
  kg_tensor t[] = {
      tensor(device, KG_F32, NULL, 1, 64, 0, 0), tensor(device, KG_U32, NULL, 1, 1, 0, 0),
      tensor(device, KG_U32, NULL, 3, 1, 2, 8),  tensor(device, KG_F32, NULL, 3, 1, 2, 2),
      tensor(device, KG_F32, NULL, 3, 1, 2, 2),  tensor(device, KG_F32, NULL, 2, 1, 2, 0)};
  const struct {
    uint32_t group;
    int64_t bits;
    kg_status status;
  } calls[] = {
      {0, 4, KG_BAD_SHAPE},       /* no groups */
      {64, 4, KG_BAD_SHAPE},      /* one group: the scales are of two */
      {32, 8, KG_BAD_SHAPE},      /* the words are of 4 bits */
      {30, 4, KG_REQUIRE_FAILED}, /* two groups, as far as scales go; no whole words */
      {32, 6, KG_BAD_CONSTANT},   /* not made for this kernel */
  };
  for (size_t i = 0; i < COUNT(calls); i++) {
    const kg_status s = moe_fc1_relu2_launch(device, &t[0], &t[1], &t[2], &t[3], &t[4],
                                             calls[i].group, calls[i].bits, &t[5]);
    if (s != calls[i].status)
      fail_msg("group %u, %d bits: %s: %s", calls[i].group, (int)calls[i].bits, kg_status_name(s),
               kg_device_message(device));
  }
  release(device, t, COUNT(t));
  kg_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_are_a_stream_of_bits_with_the_low_ones_first),
      cmocka_unit_test(every_code_comes_back_in_every_place),
      cmocka_unit_test(quantised_weights_are_within_a_scale_and_keep_zero_and_the_farthest),
      cmocka_unit_test(what_cannot_be_packed_is_refused_in_words),
      cmocka_unit_test(ternary_rows_interleave_by_quarters),
      cmocka_unit_test(experts_are_added_in_f32_and_rounded_once),
      cmocka_unit_test(bitnets_worked_example_gives_its_numbers),
      cmocka_unit_test(every_batch_of_bitlinears_has_a_grid_on_each_backend),
      cmocka_unit_test(a_token_through_its_experts_equals_the_dense_mixture),
      cmocka_unit_test(an_experts_bits_depend_neither_on_its_slot_nor_on_the_run),
      cmocka_unit_test(a_group_that_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

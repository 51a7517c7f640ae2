/* test_kernels.c: the library's kernels, run lane by lane at both wavefront widths.
**
** Every dtype combination of every case of kernels.lua is put to its reference; what tolerances
** cannot say (bits that must be copied, draws that must not depend on the splits, the exact form of
** a rotation) is tested on its own; and a fault planted in a body or a library function must make
** its kernel's cases fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_fixture.h"
#include "kernels/gumbel_max_sample/host.h"

/* ---- the cases of the specification ---------------------------------------------------------- */

static void cases_are_right(const char *name, int combinations) {
  Ready r = ready("", name, WIDTHS);
  int trials;
  assert_int_equal(cases_wrong(&r, NULL, true, &trials), 0);
  assert_int_equal(trials, combinations * r.kernel->case_count * WIDTHS);
  assert_true(r.kernel->case_count >= 5);
  done(&r);
}

static void
fused_add_rms_norm_is_right_in_every_dtype_combination_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_add_rms_norm", 9);
}

static void fused_rope_qk_append_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_rope_qk_append", 3);
}

static void gumbel_max_sample_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("gumbel_max_sample", 3);
}

static void fused_xielu_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_xielu", 3);
}

/* ---- fused_add_rms_norm ---------------------------------------------------------------------- */

static Data vector(kg_dtype dtype, int64_t n, void *bytes) { return (Data){dtype, 1, {n}, bytes}; }

static Data matrix(kg_dtype dtype, int64_t rows, int64_t n, void *bytes) {
  return (Data){dtype, 2, {rows, n}, bytes};
}

static void put(kg_dtype dtype, void *to, int64_t i, double x) {
  element_put_bits(dtype, to, i, element_bits_of_real(dtype, x));
}

/* A butterfly over 32 lanes: what each lane has is added to what the lane `apart` places away has.
** The sum is lane 0's. */
static float butterfly(const float *of) {
  float lane[32], other[32];
  memcpy(lane, of, sizeof lane);
  for (int apart = 16; apart > 0; apart /= 2) {
    for (int i = 0; i < 32; i++) other[i] = lane[i ^ apart];
    for (int i = 0; i < 32; i++) lane[i] += other[i];
  }
  return lane[0];
}

/* The sum of squares of a row as the graph on ROCm has it: 256 threads take runs of four,
** simdgroups of 32 fold theirs into one of 32 slots, and the slots, the others being zero, are
** folded alike.  serial: the simdgroups' sums are added one after another instead. */
static float squares_of(const float *row, int64_t D, bool serial) {
  float part[256] = {0}, slots[32] = {0}, sum = 0;
  for (int t = 0; t < 256; t++)
    for (int64_t run = 4 * t; run < D; run += 4 * 256)
      for (int64_t i = run; i < run + 4 && i < D; i++) part[t] = fmaf(row[i], row[i], part[t]);
  for (int w = 0; w < 8; w++) sum += slots[w] = butterfly(part + 32 * w);
  return serial ? sum : butterfly(slots);
}

/* An eps that leaves a four hundredth of the mean square makes an ulp of the sum at least a hundred
** of the norm's. */
static void the_norm_s_squares_are_added_in_the_graph_s_order(void **state) {
  (void)state;
  enum { ROWS = 6, MOST = 4097 };
  static const int64_t widths[] = {128, 1024, 2048, 4096, 4097};
  static float x[ROWS * MOST], zero[ROWS * MOST], one[MOST], normed[ROWS * MOST], sum[ROWS * MOST];
  Ready r = ready("", "fused_add_rms_norm", WIDTHS);
  int orders_differ = 0;
  uint32_t seed = 1;
  for (int i = 0; i < MOST; i++) one[i] = 1;
  for (int w = 0; w < COUNT(widths); w++)
    for (int row = 0; row < ROWS; row++) {
      const int64_t D = widths[w];
      for (int64_t i = 0; i < D; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)seed * 0x1p-31f;
      }
      const float squares = squares_of(x, D, false);
      const float eps = -squares / (float)D * 0.9975f;
      const float inv = 1.0f / sqrtf(squares / (float)D + eps);
      const float other = 1.0f / sqrtf(squares_of(x, D, true) / (float)D + eps);
      orders_differ += other != inv;
      const Data data[] = {matrix(KG_F32, 1, D, x), matrix(KG_F32, 1, D, zero),
                           vector(KG_F32, D, one), matrix(KG_F32, 1, D, normed),
                           matrix(KG_F32, 1, D, sum)};
      const kg_scalar scalars[] = {{.f32 = eps}, {.f32 = 0}};
      for (int d = 0; d < WIDTHS; d++) {
        launch_well(&r, r.device[d], data, scalars, NULL);
        for (int64_t i = 0; i < D; i++)
          if (normed[i] != x[i] * inv)
            fail_msg("%s, D = %d: element %d is %.9g, expected %.9g", device_names[d], (int)D,
                     (int)i, (double)normed[i], (double)(x[i] * inv));
      }
    }
  assert_true(orders_differ > ROWS);
  done(&r);
}

/* Products that are zero or round to it, and must keep the sign that the graph's product has. */
static void a_zero_of_the_norm_s_product_keeps_its_sign(void **state) {
  (void)state;
  static const kg_dtype dtypes[] = {KG_F32, KG_F16, KG_BF16};
  static const struct {
    double x, residual, weight;
    float bias;
    bool negative;
  } products[] = {{-1, 0.5, 0, 0, true},      {1, -0.5, 0, 0, false},   {-1, 0.5, -0.0, 0, false},
                  {1, -0.5, -0.0, 0, true},   {-0.0, -0.0, 2, 0, true}, {-0.0, 0, 2, 0, false},
                  {-0.0, -0.0, -2, 0, false}, {-1, 0.5, -1, 1, true},   {1, -0.5, -1, 1, false}};
  enum { D = 1030 };
  static unsigned char x[D * 4], residual[D * 4], weight[D * 4], normed[D * 4], sum[D * 4];
  Ready r = ready("", "fused_add_rms_norm", WIDTHS);
  for (int run = 0; run < WIDTHS * 3 * 3 * 2; run++) {
    const int d = run % WIDTHS;
    const kg_dtype T = dtypes[run / WIDTHS % 3], TW = dtypes[run / WIDTHS / 3 % 3];
    const float bias = run / WIDTHS / 9 ? 1 : 0;
    for (int i = 0; i < D; i++) {
      put(T, x, i, products[i % COUNT(products)].x);
      put(T, residual, i, products[i % COUNT(products)].residual);
      put(TW, weight, i, products[i % COUNT(products)].weight);
    }
    const Data data[] = {matrix(T, 1, D, x), matrix(T, 1, D, residual), vector(TW, D, weight),
                         matrix(T, 1, D, normed), matrix(T, 1, D, sum)};
    const kg_scalar scalars[] = {{.f32 = 1e-6f}, {.f32 = bias}};
    launch_well(&r, r.device[d], data, scalars, NULL);
    for (int i = 0; i < D; i++) {
      const int p = i % COUNT(products);
      if (products[p].bias != bias) continue;
      const uint64_t expected = element_bits_of_real(T, products[p].negative ? -0.0 : 0.0);
      if (element_bits(T, normed, i) != expected)
        fail_msg("%s, product %d: %llx, expected %llx", device_names[d], p,
                 (unsigned long long)element_bits(T, normed, i), (unsigned long long)expected);
    }
  }
  done(&r);
}

/* ---- gumbel_max_sample ----------------------------------------------------------------------- */

typedef struct Drawn {
  float vals[4 * 64];
  uint32_t idxs[4 * 64];
} Drawn;

static void draw(const Ready *r, kg_device *device, const float *logits, int64_t B, int64_t V,
                 int64_t S, uint32_t *key, float temp, Drawn *out) {
  /* launch only reads the inputs */
  float *copy = arena_alloc(r->arena, (size_t)(B * V) * sizeof *copy);
  memcpy(copy, logits, (size_t)(B * V) * sizeof *copy);
  const Data data[] = {{KG_F32, 2, {B, V}, copy},
                       {KG_U32, 1, {2}, key},
                       {KG_F32, 2, {B, S}, out->vals},
                       {KG_U32, 2, {B, S}, out->idxs}};
  const kg_scalar scalars[] = {{.f32 = temp}};
  launch_well(r, device, data, scalars, NULL);
}

/* Winner and its value's bits for each row. */
static void winners(const Ready *r, kg_device *device, const float *logits, int64_t B, int64_t V,
                    int64_t S, uint32_t *tokens, uint32_t *bits) {
  uint32_t key[] = {0x12345678, 0x9abcdef0};
  static Drawn d;
  draw(r, device, logits, B, V, S, key, 0.75f, &d);
  assert_int_equal(kg_gumbel_pick(d.vals, d.idxs, (size_t)B, (size_t)S, tokens, NULL), KG_OK);
  for (int64_t row = 0; row < B; row++)
    for (int64_t s = 0; s < S; s++)
      if (d.idxs[row * S + s] == tokens[row] && (s == 0 || d.vals[row * S + s] > -INFINITY))
        memcpy(&bits[row], &d.vals[row * S + s], sizeof *bits);
}

static void a_draw_does_not_depend_on_the_splits_nor_on_the_width(void **state) {
  (void)state;
  enum { B = 4, V = 9001 };
  static float logits[B * V];
  Ready r = ready("", "gumbel_max_sample", WIDTHS);
  for (int i = 0; i < B * V; i++) logits[i] = (float)((i * 7919LL) % 1000) * 0.004f;
  for (int i = 0; i < V; i++)
    logits[2 * V + i] = i % 11 ? -INFINITY : 1e30f; /* ties between splits: all noise is lost */
  for (int i = 0; i < V; i++) logits[3 * V + i] = -INFINITY;
  uint32_t first[B], first_bits[B];
  winners(&r, r.device[0], logits, B, V, 1, first, first_bits);
  assert_int_equal(first[2], 0);
  assert_int_equal(first[3], 0);
  const int64_t splits[] = {1, 2, 3, 4, 8, 16, 64};
  for (int d = 0; d < WIDTHS; d++)
    for (int s = 0; s < COUNT(splits); s++) {
      uint32_t tokens[B] = {0}, bits[B] = {0};
      winners(&r, r.device[d], logits, B, V, splits[s], tokens, bits);
      assert_memory_equal(tokens, first, sizeof tokens);
      assert_memory_equal(bits, first_bits, sizeof bits);
    }
  done(&r);
}

/* A row's number is a whole word of the counter.  In one dtype and at one width, for the time. */
static void a_row_past_65536_has_noise_of_its_own(void **state) {
  (void)state;
  Ready r = ready("", "gumbel_max_sample", 1);
  const Case many = {.values = {65540, 2, 1}, .reals = {1}}; /* B, V, S; temp */
  assert_int_equal(made_wrong(&r, &many, 0, (kg_dtype[MAX_TYPES]){KG_F32}, true), 0);
  done(&r);
}

static void the_kernels_noise_is_the_tables(void **state) {
  (void)state;
  static const struct {
    uint32_t key[2];
    int64_t i, row;
    double noise;
  } table[] = {
      {{0, 0}, 0, 0, 0.084820},
      {{0, 0}, 5, 0, -0.015735},
      {{0, 0}, 1023, 3, 0.090278},
      {{1, 2}, 0, 0, -1.341014},
      {{1, 2}, 5, 0, 1.017537},
      {{1, 2}, 1023, 3, 0.479972},
      {{0x12345678, 0x9abcdef0}, 0, 0, -1.534452},
      {{0x12345678, 0x9abcdef0}, 5, 0, -0.153233},
      {{0x12345678, 0x9abcdef0}, 1023, 3, -0.756208},
  };
  static float logits[4 * 1024];
  static Drawn out;
  Ready r = ready("", "gumbel_max_sample", WIDTHS);
  for (int d = 0; d < WIDTHS; d++)
    for (int t = 0; t < COUNT(table); t++) { /* the one entry that is there wins with its noise */
      uint32_t key[] = {table[t].key[0], table[t].key[1]};
      for (int i = 0; i < 4 * 1024; i++) logits[i] = i % 1024 == table[t].i ? 0 : -INFINITY;
      draw(&r, r.device[d], logits, 4, 1024, 1, key, 1, &out);
      assert_int_equal(out.idxs[table[t].row], table[t].i);
      assert_true(fabs((double)out.vals[table[t].row] - table[t].noise) < 1e-6);
    }
  done(&r);
}

/* ---- fused_rope_qk_append -------------------------------------------------------------------- */

enum {
  ROPE_L = 3,
  ROPE_HQ = 3,
  ROPE_HKV = 2,
  ROPE_D = 64,
  ROPE_R = 16,
  ROPE_HEADS = ROPE_HQ + 2 * ROPE_HKV
};

static const unsigned char *head_at(const void *base, int64_t row, size_t element) {
  return (const unsigned char *)base + (size_t)row * ROPE_D * element;
}

static void every_bit_pattern_of_v_and_of_the_tail_is_copied(void **state) {
  (void)state;
  static const kg_dtype dtypes[] = {KG_F32, KG_F16, KG_BF16};
  static unsigned char qkv[ROPE_L * ROPE_HEADS * ROPE_D * 4], q[sizeof qkv], k[sizeof qkv],
      v[sizeof qkv];
  Ready r = ready("", "fused_rope_qk_append", WIDTHS);
  for (int run = 0; run < WIDTHS * COUNT(dtypes) * 2; run++) {
    const int layout = run % 2, d = run / 2 % WIDTHS;
    const kg_dtype T = dtypes[run / 2 / WIDTHS];
    const size_t bytes = kg_dtype_bytes(T);
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof qkv;
         i++) { /* half of the patterns have all ones in the exponent: NaNs of every payload */
      x = x * 1664525u + 1013904223u;
      qkv[i] = (unsigned char)(x >> 24);
      if (i % bytes == bytes - 1 && (x >> 16 & 1)) qkv[i] |= 0x7f;
      if (i % bytes == bytes - 2 && (x >> 16 & 1)) qkv[i] |= 0x80;
    }
    const int64_t first = layout ? ROPE_L : ROPE_HKV, second = layout ? ROPE_HKV : ROPE_L;
    const Data data[] = {{T, 3, {1, ROPE_L, ROPE_HEADS * ROPE_D}, qkv},
                         {T, 4, {1, ROPE_HQ, ROPE_L, ROPE_D}, q},
                         {T, 4, {1, first, second, ROPE_D}, k},
                         {T, 4, {1, first, second, ROPE_D}, v}};
    const kg_scalar scalars[] = {{.u32 = ROPE_R}, {.f32 = 13.3f}, {.f32 = 1}, {.i32 = 77}};
    const int64_t chosen[] = {0, layout};
    launch_well(&r, r.device[d], data, scalars, chosen);
    for (int64_t t = 0; t < ROPE_L; t++)
      for (int64_t h = 0; h < ROPE_HKV; h++) {
        const int64_t to = layout ? t * ROPE_HKV + h : h * ROPE_L + t,
                      from = t * ROPE_HEADS + ROPE_HQ + h;
        const size_t tail = ROPE_R * bytes;
        assert_memory_equal(head_at(v, to, bytes), head_at(qkv, from + ROPE_HKV, bytes),
                            ROPE_D * bytes);
        assert_memory_equal(head_at(k, to, bytes) + tail, head_at(qkv, from, bytes) + tail,
                            ROPE_D * bytes - tail);
      }
    for (int64_t t = 0; t < ROPE_L; t++)
      for (int64_t h = 0; h < ROPE_HQ; h++) {
        const size_t tail = ROPE_R * bytes;
        assert_memory_equal(head_at(q, h * ROPE_L + t, bytes) + tail,
                            head_at(qkv, t * ROPE_HEADS + h, bytes) + tail, ROPE_D * bytes - tail);
      }
  }
  done(&r);
}

/* One q head of two elements turned by theta = position; of two rows' or two tokens' results the
** first. */
static void turned(const Ready *r, kg_device *device, int64_t B, int64_t L, float x1, float x2,
                   int32_t position, float *out) {
  float qkv[2 * 6] = {x1, x2, 0, 0, 0, 0, x1, x2, 0, 0, 0, 0}, q[4], k[4], v[4];
  const Data data[] = {{KG_F32, 3, {B, L, 6}, qkv},
                       {KG_F32, 4, {B, 1, L, 2}, q},
                       {KG_F32, 4, {B, 1, L, 2}, k},
                       {KG_F32, 4, {B, 1, L, 2}, v}};
  const kg_scalar scalars[] = {{.u32 = 2}, {.f32 = 13}, {.f32 = 1}, {.i32 = position}};
  const int64_t chosen[] = {0, 0};
  launch_well(r, device, data, scalars, chosen);
  out[0] = q[0];
  out[1] = q[1];
}

static void the_second_output_fuses_the_product_that_the_graph_fuses(void **state) {
  (void)state;
  Ready r = ready("", "fused_rope_qk_append", WIDTHS);
  int forms_differ = 0;
  for (int d = 0; d < WIDTHS; d++)
    for (int32_t i = 0; i < 40; i++) {
      const int32_t position = i * 3301 + 1;
      const float x1 = 1.0f + (float)i * 0.0371f, x2 = 0.7f - (float)i * 0.0193f;
      const float c = cosf((float)position), s = sinf((float)position);
      float one[2], tokens[2], rows[2];
      turned(&r, r.device[d], 1, 1, x1, x2, position, one);
      turned(&r, r.device[d], 1, 2, x1, x2, position, tokens);
      turned(&r, r.device[d], 2, 1, x1, x2, position, rows);
      assert_true(one[0] == fmaf(x1, c, -(x2 * s)));
      assert_true(tokens[0] == one[0] && rows[0] == one[0]);
      assert_true(one[1] == fmaf(x2, c, x1 * s));
      assert_true(tokens[1] == fmaf(x1, s, x2 * c) && rows[1] == tokens[1]);
      forms_differ += one[1] != tokens[1];
    }
  assert_true(forms_differ > 0);
  done(&r);
}

static void a_position_past_the_last_is_refused(void **state) {
  (void)state;
  enum { L = 3 };
  Ready r = ready("", "fused_rope_qk_append", WIDTHS);
  const int64_t in[] = {1, L, 6}, out[] = {1, 1, L, 2};
  void *memory = NULL;
  assert_int_equal(kg_device_alloc(r.device[0], 6 * L * 4 * 4, &memory), KG_OK);
  unsigned char *at = memory;
  kg_tensor tensors[4] = {kg_tensor_of(r.device[0], at, KG_F32, 3, in)};
  for (int i = 1; i < 4; i++)
    tensors[i] = kg_tensor_of(r.device[0], at + 6 * L * 4 * i, KG_F32, 4, out);
  kg_scalar scalars[] = {{.u32 = 2}, {.f32 = 13}, {.f32 = 1}, {.i32 = INT32_MAX - L + 1}};
  const kg_call call = {&r.kernel->model, tensors, scalars, NULL};
  assert_int_equal(kg_launch(r.device[0], &call), KG_OK);
  scalars[3].i32++;
  assert_int_equal(kg_launch(r.device[0], &call), KG_REQUIRE_FAILED);
  assert_non_null(strstr(kg_device_message(r.device[0]), "position + L <= 2147483648"));
  assert_int_equal(kg_device_synchronize(r.device[0]), KG_OK);
  kg_device_free(r.device[0], memory);
  done(&r);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* Is any?  The first that is ends the search. */
static bool some_case_is_wrong(const Ready *r) {
  kg_dtype types[MAX_TYPES];
  for (int n = 0; types_of(r->kernel, n, types); n++)
    for (int c = 0; c < r->kernel->case_count; c++)
      if (case_wrong(r, c, types, false) > 0) return true;
  return false;
}

static void fault_is_caught(const char *kernel, const char *file, const char *from,
                            const char *to) {
  const char *folder = faulty_copy(file, from, to);
  Ready r = ready(folder, kernel, WIDTHS);
  const bool caught = some_case_is_wrong(&r);
  done(&r);
  remove_copy(folder);
  if (!caught) fail_msg("%s: '%s' in place of '%s' was not seen by any case", kernel, to, from);
}

static void faults_in_the_norm_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "fused_add_rms_norm";
  static const char body[] = "kernels/fused_add_rms_norm/fused_add_rms_norm.kc";
  fault_is_caught(k, body, "f32(D) + eps", "f32(D) + eps * 0.0f");
  fault_is_caught(k, body, "sum = add_squares(sum, store_sum(nr, xr, rr, at, D, wide));",
                  "store_sum(nr, xr, rr, at, D, wide);"); /* the part of a long row past KEEP */
  fault_is_caught(k, "lib/norm.kc", "rnd4<S>(a + b)",
                  "a + b"); /* the sum not rounded before the square */
  fault_is_caught(k, "lib/norm.kc", "rnd4<S>(all4(bias) + w)", "w");
  fault_is_caught(k, "lib/run.kc", "if (at + 3 < end) v.w",
                  "if (at + 2 < end) v.w"); /* reads past the row */
}

static void faults_in_the_rotation_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "fused_rope_qk_append";
  static const char body[] = "kernels/fused_rope_qk_append/fused_rope_qk_append.kc";
  fault_is_caught(k, body, "x1, cosine, -x2, sine", "x1, cosine, x2, sine");
  fault_is_caught(k, body, "f32(position + i32(t))", "f32(position)");
  fault_is_caught(k, body, "LAYOUT == 1 && !is_q", "LAYOUT == 1");
  fault_is_caught(k, body, "first + turning",
                  "first + D / 2"); /* the partner under partial rotation */
  fault_is_caught(k, "lib/math.kc", "fma(part, -1.90465421e-9f, z.lo)",
                  "0.0f"); /* frequencies an ulp off */
}

static void faults_in_the_draw_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "gumbel_max_sample";
  static const char body[] = "kernels/gumbel_max_sample/gumbel_max_sample.kc";
  fault_is_caught(k, body, "{at / 4, 0, row, 0}", "{at, 0, row, 0}");
  fault_is_caught(k, body, "c1 > best && at + 1 < V",
                  "c1 >= best && at + 1 < V");                      /* ties to the higher index */
  fault_is_caught(k, body, "c2 > best && at + 2 < V", "c2 > best"); /* an entry past the row */
  fault_is_caught(k, "lib/philox.kc", "hi0 ^ c.w ^ key1", "hi0 ^ c.w ^ key0");
  fault_is_caught(k, body, "temp > 0 ? winner.value : NOT_A_NUMBER", "winner.value");
}

static void faults_in_the_activation_make_its_cases_fail(void **state) {
  (void)state;
  static const char *const k = "fused_xielu", *const lib = "lib/xielu.kc";
  fault_is_caught(k, lib, "rnd<S>(x * x)", "x * x");
  fault_is_caught(k, lib, "rnd<S>(e - x)", "(e - x)");
  fault_is_caught(k, lib, "x < eps ? x : eps", "x");
  fault_is_caught(k, "kernels/fused_xielu/fused_xielu.kc", "rnd<T>(alpha_n)", "alpha_n");
  fault_is_caught(k, "lib/math.kc", "(one.lo + t * e.lo)", "one.lo");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_add_rms_norm_is_right_in_every_dtype_combination_at_32_and_64_lanes),
      cmocka_unit_test(fused_rope_qk_append_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(gumbel_max_sample_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(fused_xielu_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(the_norm_s_squares_are_added_in_the_graph_s_order),
      cmocka_unit_test(a_zero_of_the_norm_s_product_keeps_its_sign),
      cmocka_unit_test(a_draw_does_not_depend_on_the_splits_nor_on_the_width),
      cmocka_unit_test(a_row_past_65536_has_noise_of_its_own),
      cmocka_unit_test(the_kernels_noise_is_the_tables),
      cmocka_unit_test(every_bit_pattern_of_v_and_of_the_tail_is_copied),
      cmocka_unit_test(the_second_output_fuses_the_product_that_the_graph_fuses),
      cmocka_unit_test(a_position_past_the_last_is_refused),
      cmocka_unit_test(faults_in_the_norm_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_rotation_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_draw_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_activation_make_its_cases_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

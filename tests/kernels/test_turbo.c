/* test_turbo.c: TurboQuant's 4-bit values: the companions that encode and decode them, and the
** kernels over them, run lane by lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/host/turbo4.h"
#include "kernel_fixture.h"

/* One of the kernels here, opened on first use and kept to the end. */
static const Ready *kernel_of(const char *name) {
  static Ready kept[4];
  static int count;
  for (int i = 0; i < count; i++)
    if (strcmp(kept[i].kernel->name, name) == 0) return &kept[i];
  assert_true(count < COUNT(kept));
  kept[count] = ready("", name, DEVICES);
  kept[count].devices = WIDTHS; /* for the cases: HIP's text at both widths */
  return &kept[count++];
}

static uint32_t random_word(uint32_t *state) {
  *state = *state * 747796405u + 2891336453u;
  const uint32_t x = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
  return (x >> 22) ^ x;
}

static double uniform(uint32_t *state) { return (random_word(state) + 0.5) / 4294967296.0; }

static double normal(uint32_t *state) {
  const double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * acos(-1) * uniform(state));
}

static kg_turbo4 format_of(size_t dim, uint32_t seed, bool keys) {
  static kg_turbo4 f;
  kg_error error;
  if (kg_turbo4_init(&f, dim, seed, keys, &error) != KG_OK) fail_msg("%s", error.message);
  return f;
}

/* ---- the format ------------------------------------------------------------------------------ */

static void the_codebook_is_lloyd_and_max_s_after_a_hundred_rounds(void **state) {
  (void)state;
  /* computed apart, with another library's quantiles */
  static const double positive[8] = {0.1260133, 0.3810799, 0.6457197, 0.9280434,
                                     1.2397269, 1.6005568, 2.0518979, 2.7174550};
  double c[16], d[16];
  kg_turbo4_centroids(1, c);
  kg_turbo4_centroids(256, d);
  for (int i = 0; i < 8; i++) {
    assert_true(fabs(c[8 + i] - positive[i]) < 6e-8);
    assert_true(c[7 - i] == -c[8 + i]);
  }
  for (int i = 0; i < 16; i++) assert_true(d[i] == c[i] / 16);
  double error = 0; /* mean square, where the best 16 values leave 0.009497 */
  for (int i = 0; i < 160000; i++) {
    const double x = (i + 0.5) / 10000 - 8;
    double nearest = INFINITY;
    for (int k = 0; k < 16; k++) nearest = fmin(nearest, fabs(x - c[k]));
    error += nearest * nearest * exp(-x * x / 2) / sqrt(2 * acos(-1)) / 10000;
  }
  assert_true(error > 0.009497 && error < 0.009510);
}

static void signs_are_the_top_bits_of_the_congruential_generator(void **state) {
  (void)state;
  const struct {
    uint32_t seed;
    const char *bits;
  } known[] = {
      {0, "0100010110000010"}, {1, "0011001101001101"}, {1 + 0x9E3779B9u, "0010110001111100"}};
  int8_t signs[16];
  for (int s = 0; s < COUNT(known); s++) {
    kg_turbo4_signs(known[s].seed, 16, signs);
    for (int i = 0; i < 16; i++) assert_int_equal(signs[i], known[s].bits[i] == '1' ? -1 : 1);
  }
  const kg_turbo4 values = format_of(64, 7, false), keys = format_of(64, 7, true);
  int8_t offset[64];
  kg_turbo4_signs(7 + 0x4B5F5345u, 64, offset);
  assert_memory_equal(keys.signs1, offset, 64);
  assert_memory_not_equal(keys.signs1, values.signs1, 64);
  assert_memory_not_equal(values.signs1, values.signs2, 64);
}

static void a_format_is_refused_in_words(void **state) {
  (void)state;
  static kg_turbo4 f;
  kg_error error;
  const size_t wrong[] = {0, 4, 96, 4096};
  for (int i = 0; i < COUNT(wrong); i++)
    assert_int_equal(kg_turbo4_init(&f, wrong[i], 1, false, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_turbo4_init: a vector has 4096 elements, but must have a power of two "
                      "from 8 to 2048");
  assert_int_equal(kg_turbo4_init(NULL, 64, 1, false, NULL), KG_BAD_ARGUMENT);
}

/* ---- rotation, from the formula -------------------------------------------------------------- */

/* D2 H D1 v by H's definition: its sign at (i, j) is the parity of i & j. */
static void rotated(const kg_turbo4 *f, const double *v, double *y) {
  for (size_t i = 0; i < f->dim; i++) {
    y[i] = 0;
    for (size_t j = 0; j < f->dim; j++)
      y[i] += (__builtin_popcountll(i & j) % 2 ? -1 : 1) * f->signs1[j] * v[j];
    y[i] *= f->signs2[i] / sqrt((double)f->dim);
  }
}

static void rotation_is_two_diagonals_about_the_walsh_hadamard_transform(void **state) {
  (void)state;
  static const size_t dims[] = {8, 64, 256};
  uint32_t seed = 1;
  for (int n = 0; n < COUNT(dims); n++) {
    const kg_turbo4 f = format_of(dims[n], 3, false);
    double v[256], want[256];
    float row[256];
    for (size_t i = 0; i < f.dim; i++) row[i] = (float)(v[i] = (float)normal(&seed));
    rotated(&f, v, want);
    assert_int_equal(kg_turbo4_rotate(&f, row, 1, NULL), KG_OK);
    for (size_t i = 0; i < f.dim; i++) assert_true(fabs((double)row[i] - want[i]) < 1e-6);
    assert_int_equal(kg_turbo4_unrotate(&f, row, 1, NULL), KG_OK);
    for (size_t i = 0; i < f.dim; i++) assert_true(fabs((double)row[i] - v[i]) < 1e-6);
  }
}

/* ---- encoding -------------------------------------------------------------------------------- */

static void codes_and_factors_are_the_formula_s(void **state) {
  (void)state;
  enum { D = 128, COUNT_ = 20 };
  const kg_turbo4 f = format_of(D, 42, false);
  float vectors[COUNT_ * D];
  uint8_t packed[COUNT_ * D / 2];
  uint16_t rescale[COUNT_], norms[COUNT_];
  uint32_t seed = 5;
  for (int i = 0; i < COUNT_ * D; i++) vectors[i] = (float)(normal(&seed) * exp(i / D * 0.5 - 5));
  assert_int_equal(kg_turbo4_encode(&f, vectors, COUNT_, packed, rescale, norms, NULL), KG_OK);
  for (int n = 0; n < COUNT_; n++) {
    double v[D], y[D], square = 0, kept = 0;
    for (int i = 0; i < D; i++) {
      v[i] = (double)vectors[n * D + i];
      square += v[i] * v[i];
    }
    for (int i = 0; i < D; i++) v[i] /= sqrt(square);
    rotated(&f, v, y);
    for (int i = 0; i < D; i++) {
      const int byte = packed[n * (D / 2) + i / 2], code = i % 2 ? byte >> 4 : byte & 15;
      int nearest = 0;
      for (int k = 1; k < 16; k++)
        if (fabs(y[i] - (double)f.codebook[k]) < fabs(y[i] - (double)f.codebook[nearest]))
          nearest = k;
      assert_int_equal(code, nearest);
      kept += (double)f.codebook[code] * (double)f.codebook[code];
    }
    assert_int_equal(norms[n], kg_f16_from_f64(sqrt(square)));
    assert_int_equal(rescale[n], kg_f16_from_f64(sqrt(square / kept)));
  }
}

static void a_value_at_a_boundary_takes_the_lower_code(void **state) {
  (void)state;
  /* the zero vector lies at the boundary between codes 7 and 8 in every element */
  const kg_turbo4 f = format_of(8, 1, false);
  const float zero[8] = {0};
  float back[8];
  uint8_t packed[4];
  uint16_t rescale, norm;
  assert_int_equal(kg_turbo4_encode(&f, zero, 1, packed, &rescale, &norm, NULL), KG_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(packed[i], 0x77);
  assert_int_equal(norm, 0);
  assert_int_equal(rescale, 0);
  assert_int_equal(kg_turbo4_decode(&f, packed, &rescale, 1, back, NULL), KG_OK);
  for (int i = 0; i < 8; i++) assert_true(back[i] == 0);
}

typedef struct Error {
  double relative, norm;
} Error;

static Error round_trip(const kg_turbo4 *f, const float *vector) {
  static uint8_t packed[KG_TURBO4_MOST_DIM / 2];
  static float back[KG_TURBO4_MOST_DIM];
  uint16_t rescale;
  assert_int_equal(kg_turbo4_encode(f, vector, 1, packed, &rescale, NULL, NULL), KG_OK);
  assert_int_equal(kg_turbo4_decode(f, packed, &rescale, 1, back, NULL), KG_OK);
  double square = 0, error = 0, length = 0;
  for (size_t i = 0; i < f->dim; i++) {
    square += (double)vector[i] * (double)vector[i];
    length += (double)back[i] * (double)back[i];
    error += pow((double)back[i] - (double)vector[i], 2);
  }
  return (Error){sqrt(error / square), fabs(sqrt(length / square) - 1)};
}

static void what_comes_back_has_the_norm_and_a_tenth_of_it_as_error(void **state) {
  (void)state;
  static const size_t dims[] = {64, 128, 256, 2048};
  static float v[KG_TURBO4_MOST_DIM];
  uint32_t seed = 11;
  for (int n = 0; n < COUNT(dims); n++) {
    const kg_turbo4 f = format_of(dims[n], 9, n % 2);
    double mean = 0;
    for (int trial = 0; trial < 200; trial++) {
      for (size_t i = 0; i < f.dim; i++) { /* normal, and far from it: outliers, a few large ones */
        v[i] = (float)normal(&seed);
        if (trial % 3 == 1) v[i] = powf(v[i], 5);
        if (trial % 3 == 2 && i % 16) v[i] *= 0.01f;
      }
      const Error e = round_trip(&f, v);
      assert_true(e.relative < 0.22);
      assert_true(e.norm < 6e-4); /* the factor is rounded to f16 */
      mean += e.relative * e.relative / 200;
    }
    assert_true(mean > 0.007 && mean < 0.0105);       /* the codebook's own is 0.0095 */
    for (size_t i = 0; i < f.dim; i++) v[i] = i == 5; /* rotated, all elements are equal */
    assert_true(round_trip(&f, v).relative < 6e-4);
  }
}

static void vectors_that_do_not_fit_are_refused_in_words(void **state) {
  (void)state;
  const kg_turbo4 f = format_of(8, 1, false);
  float v[16] = {0};
  uint8_t packed[8];
  uint16_t rescale[2];
  kg_error error;
  v[11] = NAN;
  assert_int_equal(kg_turbo4_encode(&f, v, 2, packed, rescale, NULL, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message, "kg_turbo4_encode: element 3 of vector 1 is not finite");
  v[11] = 70000;
  assert_int_equal(kg_turbo4_encode(&f, v, 2, packed, rescale, NULL, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_turbo4_encode: vector 1 has the norm 70000, which does not fit into f16");
  v[11] = 60000;
  assert_int_equal(kg_turbo4_encode(&f, v, 2, packed, rescale, NULL, &error), KG_OK);
  assert_int_equal(kg_turbo4_encode(&f, NULL, 0, NULL, NULL, NULL, NULL), KG_OK);
  assert_int_equal(kg_turbo4_encode(&f, NULL, 1, packed, rescale, NULL, NULL), KG_BAD_ARGUMENT);
  static const kg_turbo4 none;
  assert_int_equal(kg_turbo4_unrotate(&none, v, 1, &error), KG_BAD_ARGUMENT);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static void cases_are_right(const char *name) {
  const Ready *r = kernel_of(name);
  int trials;
  assert_int_equal(cases_wrong(r, NULL, true, &trials), 0);
  assert_int_equal(trials, r->kernel->case_count * WIDTHS);
  assert_true(r->kernel->case_count >= 7);
}

static void all_four_kernels_are_right_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("turbo4_delegated_cold");
  cases_are_right("sparse_v");
  cases_are_right("turbo4_bulk_dequant_rotated");
  cases_are_right("turbo4_delegated_steel");
}

static void one_query_slot_is_taken_alone_and_more_by_four(void **state) {
  (void)state;
  assert_int_equal(kg_turbo4_slots(0), 1);
  assert_int_equal(kg_turbo4_slots(1), 1);
  assert_int_equal(kg_turbo4_slots(2), 4);
  assert_int_equal(kg_turbo4_slots(4), 4);
  assert_int_equal(kg_turbo4_slots(UINT64_MAX), 4);
}

static void both_tables_share_one_body(void **state) {
  (void)state;
  static const char body[] = "templates/kernels/turbo4_weighted_sum/turbo4_weighted_sum.kc";
  assert_string_equal(kernel_of("sparse_v")->kernel->body, body);
  assert_string_equal(kernel_of("turbo4_delegated_cold")->kernel->body, body);
}

enum { DIM = 64, TOKENS = 300, HOT = 32, STEPS = 200, Q = 2 };

/* One KV head's values as given, encoded, and as they come back. */
typedef struct Cache {
  kg_turbo4 format;
  float given[TOKENS * DIM], back[TOKENS * DIM];
  uint8_t packed[TOKENS * DIM / 2];
  uint16_t rescale[TOKENS], hot[TOKENS * DIM];
} Cache;

static Cache *cache_of(uint32_t seed) {
  static Cache c;
  c.format = format_of(DIM, seed, false);
  for (int i = 0; i < TOKENS * DIM; i++) {
    c.given[i] = (float)normal(&seed);
    c.hot[i] = kg_f16_from_f64((double)c.given[i]);
  }
  kg_error error;
  if (kg_turbo4_encode(&c.format, c.given, TOKENS, c.packed, c.rescale, NULL, &error) != KG_OK ||
      kg_turbo4_decode(&c.format, c.packed, c.rescale, TOKENS, c.back, &error) != KG_OK)
    fail_msg("%s", error.message);
  return &c;
}

static void the_bulk_kernel_unrotated_is_what_the_host_decodes(void **state) {
  (void)state;
  Cache *c = cache_of(21);
  const Ready *r = kernel_of("turbo4_bulk_dequant_rotated");
  static uint16_t out[TOKENS * DIM];
  static float row[TOKENS * DIM];
  const Data data[] = {{KG_U8, 4, {1, 1, TOKENS, DIM / 2}, c->packed},
                       {KG_F16, 4, {1, 1, TOKENS, 1}, c->rescale},
                       {KG_F32, 1, {16}, c->format.codebook},
                       {KG_F16, 4, {1, 1, TOKENS, DIM}, out}};
  for (int d = 0; d < DEVICES; d++) {
    memset(out, 0xff, sizeof out);
    launch_well(r, r->device[d], data, NULL, NULL);
    for (int i = 0; i < TOKENS * DIM; i++) row[i] = (float)kg_f64_from_f16(out[i]);
    assert_int_equal(kg_turbo4_unrotate(&c->format, row, TOKENS, NULL), KG_OK);
    for (int i = 0; i < TOKENS * DIM; i++) /* f16 rounds each rotated value by 2^-11 at most */
      assert_true(fabsf(row[i] - c->back[i]) < 4e-3f);
  }
}

static void weighted_sum(const char *name, kg_device *device, Cache *c, const float *weights,
                         int64_t slots, float threshold, int64_t together, float *out) {
  const Data data[] = {{KG_F32, 3, {1, slots, TOKENS}, (void *)(uintptr_t)weights},
                       {KG_F16, 2, {1, TOKENS}, c->rescale},
                       {KG_U8, 3, {1, TOKENS, DIM / 2}, c->packed},
                       {KG_F32, 1, {16}, c->format.codebook},
                       {KG_F32, 3, {1, slots, DIM}, out}};
  const kg_scalar scalars[] = {{.f32 = threshold}};
  launch_well(kernel_of(name), device, data, scalars, &together);
}

static void a_weighted_sum_unrotated_is_that_of_the_decoded_values(void **state) {
  (void)state;
  Cache *c = cache_of(22);
  static float weights[Q * TOKENS];
  float out[Q * DIM], other[Q * DIM], first[Q * DIM];
  uint32_t seed = 2;
  for (int i = 0; i < Q * TOKENS; i++) weights[i] = (float)(uniform(&seed) * 2 / (double)TOKENS);
  const Ready *cold = kernel_of("turbo4_delegated_cold");
  for (int d = 0; d < DEVICES; d++) {
    weighted_sum("turbo4_delegated_cold", cold->device[d], c, weights, Q, 2e-3f, 1, out);
    /* how many slots a group takes, which table, and how wide a wave is moves no bit */
    weighted_sum("turbo4_delegated_cold", cold->device[d], c, weights, Q, 2e-3f, 4, other);
    assert_memory_equal(out, other, sizeof out);
    weighted_sum("sparse_v", kernel_of("sparse_v")->device[d], c, weights, Q, 2e-3f, 4, other);
    assert_memory_equal(out, other, sizeof out);
    if (d == 0) memcpy(first, out, sizeof out);
    assert_memory_equal(out, first, sizeof out);
    assert_int_equal(kg_turbo4_unrotate(&c->format, out, Q, NULL), KG_OK);
    for (int q = 0; q < Q; q++)
      for (int i = 0; i < DIM; i++) {
        double want = 0;
        for (int t = 0; t < TOKENS; t++)
          if (weights[q * TOKENS + t] > 2e-3f)
            want += (double)weights[q * TOKENS + t] * (double)c->back[t * DIM + i];
        assert_true(fabs((double)out[q * DIM + i] - want) < 1e-6);
      }
  }
}

/* Scores of `total` columns, cold first; outputs for `slots`. */
static void steel(kg_device *device, Cache *c, const float *scores, int64_t slots, int64_t cold,
                  int64_t total, float threshold, float *out_cold, float *out_hot) {
  const Data data[] = {{KG_F32, 3, {1, slots, total}, (void *)(uintptr_t)scores},
                       {KG_U8, 3, {1, cold, DIM / 2}, c->packed},
                       {KG_F16, 2, {1, cold}, c->rescale},
                       {KG_F16, 3, {1, total - cold, DIM}, c->hot + cold * DIM},
                       {KG_F32, 1, {16}, c->format.codebook},
                       {KG_F32, 3, {1, slots, DIM}, out_cold},
                       {KG_F32, 3, {1, slots, DIM}, out_hot}};
  const kg_scalar scalars[] = {{.f32 = threshold}, {.u32 = 0}, {.u32 = (uint32_t)cold}};
  const int64_t chosen[] = {slots > 1 ? 4 : 1};
  launch_well(kernel_of("turbo4_delegated_steel"), device, data, scalars, chosen);
}

/* Decoded values, then the plain softmax and sum, in doubles. */
static void two_steps(const Cache *c, const float *scores, int cold, int total, double *out) {
  double top = -INFINITY, sum = 0;
  for (int t = 0; t < total; t++) top = fmax(top, (double)scores[t]);
  for (int i = 0; i < DIM; i++) out[i] = 0;
  for (int t = 0; t < total; t++) {
    const double w = exp((double)scores[t] - top);
    sum += w;
    for (int i = 0; i < DIM; i++)
      out[i] +=
          w * (t < cold ? (double)c->back[t * DIM + i] : kg_f64_from_f16(c->hot[t * DIM + i]));
  }
  for (int i = 0; i < DIM; i++) out[i] /= sum;
}

static void two_hundred_decode_steps_stay_with_the_two_step_route(void **state) {
  (void)state;
  Cache *c = cache_of(23);
  const Ready *r = kernel_of("turbo4_delegated_steel");
  static float scores[TOKENS];
  float cold[DIM], hot[DIM], cold64[DIM], hot64[DIM];
  double want[DIM], error = 0, size = 0;
  uint32_t seed = 3;
  for (int step = 0; step < STEPS; step++) {
    const int total = TOKENS - STEPS + step, window = total < HOT ? total : HOT;
    for (int t = 0; t < total; t++) scores[t] = (float)(3 * normal(&seed));
    steel(r->device[0], c, scores, 1, total - window, total, 1e-6f, cold, hot);
    steel(r->device[1], c, scores, 1, total - window, total, 1e-6f, cold64, hot64);
    assert_memory_equal(hot, hot64, sizeof hot); /* no bit depends on the width */
    assert_memory_equal(cold, cold64, sizeof cold);
    two_steps(c, scores, total - window, total, want);
    assert_int_equal(kg_turbo4_unrotate(&c->format, cold, 1, NULL), KG_OK);
    for (int i = 0; i < DIM; i++) {
      error += pow((double)(cold[i] + hot[i]) - want[i], 2) / (STEPS * DIM);
      size += want[i] * want[i] / (STEPS * DIM);
    }
  }
  assert_true(size > 0.01);        /* it is not nothing that agrees */
  assert_true(sqrt(error) < 5e-5); /* a hundredth of what the first user asks for */
}

static void a_token_alive_in_one_slot_counts_in_all(void **state) {
  (void)state;
  Cache *c = cache_of(24);
  const Ready *r = kernel_of("turbo4_delegated_steel");
  /* tokens 0 and 1 cold, 2 hot.  Token 0 is alive in slot 0 alone, token 1 in none. */
  const float scores[Q * 3] = {0, -9, 1, -5, -9, 1};
  const float threshold = 0.05f;
  float cold[Q * DIM], hot[Q * DIM];
  for (int d = 0; d < DEVICES; d++) {
    steel(r->device[d], c, scores, Q, 2, 3, threshold, cold, hot);
    assert_int_equal(kg_turbo4_unrotate(&c->format, cold, Q, NULL), KG_OK);
    for (int q = 0; q < Q; q++) {
      const float *s = scores + 3 * q;
      const double sum = exp((double)s[0] - 1) + exp((double)s[1] - 1) + 1;
      for (int i = 0; i < DIM; i++) {
        const double want = exp((double)s[0] - 1) / sum * (double)c->back[i];
        assert_true(fabs((double)cold[q * DIM + i] - want) < 1e-6);
      }
    }
  }
  float weights[Q * TOKENS] = {0}; /* of the same scores: where each slot tests for itself */
  weights[0] = 0.268f;
  weights[TOKENS] = 0.0025f;
  weighted_sum("turbo4_delegated_cold", kernel_of("turbo4_delegated_cold")->device[0], c, weights,
               Q, threshold, 4, cold);
  for (int i = 0; i < DIM; i++) assert_true(cold[DIM + i] == 0 && cold[i] != 0);
}

static void a_row_that_is_masked_whole_gives_zeros(void **state) {
  (void)state;
  Cache *c = cache_of(25);
  const Ready *r = kernel_of("turbo4_delegated_steel");
  static float scores[TOKENS];
  float cold[DIM], hot[DIM];
  const float thresholds[] = {0, 1e-6f};
  for (int t = 0; t < TOKENS; t++) scores[t] = -INFINITY;
  for (int run = 0; run < DEVICES * COUNT(thresholds); run++) {
    memset(cold, 0xff, sizeof cold);
    memset(hot, 0xff, sizeof hot);
    steel(r->device[run / 2], c, scores, 1, TOKENS - HOT, TOKENS, thresholds[run % 2], cold, hot);
    for (int i = 0; i < DIM; i++) assert_true(cold[i] == 0 && hot[i] == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_codebook_is_lloyd_and_max_s_after_a_hundred_rounds),
      cmocka_unit_test(signs_are_the_top_bits_of_the_congruential_generator),
      cmocka_unit_test(a_format_is_refused_in_words),
      cmocka_unit_test(rotation_is_two_diagonals_about_the_walsh_hadamard_transform),
      cmocka_unit_test(codes_and_factors_are_the_formula_s),
      cmocka_unit_test(a_value_at_a_boundary_takes_the_lower_code),
      cmocka_unit_test(what_comes_back_has_the_norm_and_a_tenth_of_it_as_error),
      cmocka_unit_test(vectors_that_do_not_fit_are_refused_in_words),
      cmocka_unit_test(all_four_kernels_are_right_at_32_and_64_lanes),
      cmocka_unit_test(one_query_slot_is_taken_alone_and_more_by_four),
      cmocka_unit_test(both_tables_share_one_body),
      cmocka_unit_test(the_bulk_kernel_unrotated_is_what_the_host_decodes),
      cmocka_unit_test(a_weighted_sum_unrotated_is_that_of_the_decoded_values),
      cmocka_unit_test(two_hundred_decode_steps_stay_with_the_two_step_route),
      cmocka_unit_test(a_token_alive_in_one_slot_counts_in_all),
      cmocka_unit_test(a_row_that_is_masked_whole_gives_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

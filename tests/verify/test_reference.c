/* test_reference.c: the referees themselves.  Each kernel's reference is put to values worked out
** by hand or published, its judge to planted faults; the functions of templates/lib that claim an
** accuracy are measured on the host, and a planted fault in each makes the measurement fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "kg.h"
#include "reference.h"

#define reference norm_reference
#define fill norm_fill
#include "kernels/fused_add_rms_norm/fused_add_rms_norm.ref.c"
#undef reference
#undef fill
#define reference rope_reference
#define fill rope_fill
#include "kernels/fused_rope_qk_append/fused_rope_qk_append.ref.c"
#undef reference
#undef fill
#define reference gumbel_reference
#define fill gumbel_fill
#define judge gumbel_judge
#include "kernels/gumbel_max_sample/gumbel_max_sample.ref.c"
#undef reference
#undef fill
#undef judge
#define reference xielu_reference
#define fill xielu_fill
#include "kernels/fused_xielu/fused_xielu.ref.c"
#undef reference
#undef fill

/* ---- making calls by hand -------------------------------------------------------------------- */

static ref_tensor floats(const char *name, ref_dtype dtype, int64_t count, double *real) {
  return (ref_tensor){
      .name = name, .dtype = dtype, .rank = 1, .shape = {count}, .count = count, .real = real};
}

static ref_tensor wholes(const char *name, int64_t count, int64_t *whole) {
  return (ref_tensor){
      .name = name, .dtype = REF_U32, .rank = 1, .shape = {count}, .count = count, .whole = whole};
}

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define CALL(tensors, values) {"test", COUNT(tensors), tensors, COUNT(values), values}

/* ---- rounding -------------------------------------------------------------------------------- */

static void a_value_is_rounded_to_the_nearest_one_of_its_dtype_ties_to_even(void **state) {
  (void)state;
  assert_true(ref_round(REF_BF16, 1 + 0x1p-8) == 1);
  assert_true(ref_round(REF_BF16, 1 + 3 * 0x1p-8) == 1 + 0x1p-6);
  assert_true(ref_round(REF_F16, 1 + 0x1.8p-11) == 1 + 0x1p-10);
  assert_true(ref_round(REF_F16, 0x1p-25) == 0);
  assert_true(ref_round(REF_F16, 0x1.8p-25) == 0x1p-24);
  assert_true(isinf(ref_round(REF_F16, 65520)));
  assert_true(ref_round(REF_F16, 65519) == 65504);
  assert_true(isnan(ref_round(REF_F16, NAN)));
  assert_true(ref_round(REF_F32, 1 + 0x1p-24) == 1);
}

/* A reference rounds by loops of doubles, the host by bits: one row, one answer. */
static void a_reference_rounds_as_the_host_does(void **state) {
  (void)state;
  assert_int_equal((int)REF_DTYPES, (int)KG_DTYPES);
  for (kg_dtype d = 0; d < KG_DTYPES; d++)
    for (int e = -160; e <= 160; e++)
      for (int i = 0; i < 64; i++) {
        const double x = ldexp(1 + i / 64.0 + (i % 5) * 0x1p-30, e) * (i % 2 ? -1 : 1);
        const double r = ref_round((ref_dtype)d, x);
        if (kg_dtype_info(d)->kind != KG_KIND_FLOAT)
          assert_true(r == x);
        else {
          const double host = kg_f64_from_float(d, kg_float_from_f64(d, x));
          assert_true(r == host || (isnan(r) && isnan(host)));
        }
      }
}

/* ---- fused_add_rms_norm ---------------------------------------------------------------------- */

static void norm_run(ref_dtype T, ref_dtype TW, int64_t D, double *x, double *residual,
                     double *weight, double eps, double bias, double *normed, double *sum) {
  ref_tensor tensors[] = {floats("x", T, D, x), floats("residual", T, D, residual),
                          floats("weight", TW, D, weight), floats("normed", T, D, normed),
                          floats("new_residual", T, D, sum)};
  ref_value values[] = {
      {"rows", 1, 1}, {"D", D, (double)D}, {"eps", 0, eps}, {"weight_bias", 0, bias}};
  ref_call c = CALL(tensors, values);
  norm_reference(&c);
}

static void a_row_is_divided_by_its_root_mean_square(void **state) {
  (void)state;
  double x[] = {1, 4, 0, 0}, residual[] = {2, 0, 0, 0}, weight[] = {1, 2, 3, 4}, y[4], r[4];
  norm_run(REF_F32, REF_F32, 4, x, residual, weight, 0, 0, y,
           r); /* 3 4 0 0: root mean square 2.5 */
  assert_true(r[0] == 3 && r[1] == 4 && r[2] == 0);
  assert_true(y[0] == ref_round(REF_F32, 1.2) && y[2] == 0 && y[3] == 0);
  assert_true(y[1] == ref_round(REF_F32, 2 * ref_round(REF_F32, 1.6)));
}

static void eps_stands_under_the_root_and_the_bias_is_added_to_the_weight(void **state) {
  (void)state;
  double x[] = {3}, residual[] = {0}, weight[] = {0.5}, y[1], r[1];
  norm_run(REF_F32, REF_F32, 1, x, residual, weight, 7, 1, y, r); /* 1.5 * 3 / sqrt(9 + 7) */
  assert_true(y[0] == 1.125);
}

static void the_sum_the_norm_and_the_product_are_rounded_each(void **state) {
  (void)state;
  /* bf16: 256 + 1 is 256; with one element 256 / 256 = 1 */
  double x[] = {256}, residual[] = {1}, weight[] = {1 + 0x1p-7}, y[1], r[1];
  norm_run(REF_BF16, REF_BF16, 1, x, residual, weight, 0, 0, y, r);
  assert_true(r[0] == 256 && y[0] == 1 + 0x1p-7);
  /* 3 / sqrt(5) = 1.34164 is 1.34375 in bf16, times 1.5078125 is 2.02612, 2.03125 in bf16;
     unrounded it would be 2.02294 */
  double x2[] = {3, 1}, none[] = {0, 0}, w2[] = {1.5078125, 1}, y2[2], r2[2];
  norm_run(REF_BF16, REF_BF16, 2, x2, none, w2, 0, 0, y2, r2);
  assert_true(y2[0] == 2.03125);
  /* the gain has the weight's dtype: 1 + 2^-8 is 1 in bf16 and stays in f32 */
  double x3[] = {1}, w3[] = {0x1p-8}, y3[1], r3[1];
  norm_run(REF_F32, REF_BF16, 1, x3, none, w3, 0, 1, y3, r3);
  assert_true(y3[0] == 1);
  norm_run(REF_F32, REF_F32, 1, x3, none, w3, 0, 1, y3, r3);
  assert_true(y3[0] == 1 + 0x1p-8);
}

/* ---- fused_rope_qk_append -------------------------------------------------------------------- */

typedef struct RopeShape {
  int64_t B, L, Hq, Hkv, D, R;
  bool traditional, paged;
} RopeShape;

static void rope_run(RopeShape s, ref_dtype T, double log2_base, double scale, int64_t position,
                     double *qkv, double *q, double *k, double *v) {
  const int64_t n = s.B * s.L * s.D;
  ref_tensor tensors[] = {floats("qkv", T, n * (s.Hq + 2 * s.Hkv), qkv),
                          floats("q", T, n * s.Hq, q), floats("k", T, n * s.Hkv, k),
                          floats("v", T, n * s.Hkv, v)};
  ref_value values[] = {{"B", s.B, 0},
                        {"L", s.L, 0},
                        {"Hq", s.Hq, 0},
                        {"Hkv", s.Hkv, 0},
                        {"D", s.D, 0},
                        {"rope_dims", s.R, 0},
                        {"log2_base", 0, log2_base},
                        {"scale", 0, scale},
                        {"position", position, 0},
                        {"TRADITIONAL", s.traditional, 0},
                        {"LAYOUT", s.paged, 0}};
  ref_call c = CALL(tensors, values);
  rope_reference(&c);
}

static void a_pair_turns_by_its_position(void **state) {
  (void)state;
  /* cos and sin of 131071, to 17 digits by 120-bit arithmetic */
  const double cosine = ref_round(REF_F32, -0.81798349938794908),
               sine = ref_round(REF_F32, -0.57524168375478937);
  double qkv[] = {1, 0, 0, 1, 5, 6}, q[2], k[2], v[2];
  rope_run((RopeShape){1, 1, 1, 1, 2, 2, false, false}, REF_F32, 18, 1, 131071, qkv, q, k, v);
  assert_true(q[0] == cosine && q[1] == sine);
  assert_true(k[0] == -sine && k[1] == cosine);
  assert_true(v[0] == 5 && v[1] == 6);
}

static void frequencies_fall_by_the_base_over_the_pairs(void **state) {
  (void)state;
  /* two pairs, base 2^4: frequencies 1 and 2^(-1/2 * 4) = 1/4; scale 1/2 at position 8: angles 4
     and 1 */
  double qkv[] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, q[4], k[4], v[4];
  rope_run((RopeShape){1, 1, 1, 1, 4, 4, false, false}, REF_F32, 4, 0.5, 8, qkv, q, k, v);
  assert_true(q[0] == ref_round(REF_F32, cos(4)) && q[2] == ref_round(REF_F32, sin(4)));
  assert_true(q[1] == ref_round(REF_F32, 0.54030230586813972) &&
              q[3] == ref_round(REF_F32, 0.84147098480789651));
}

static void traditional_pairs_are_neighbours_and_the_tail_is_kept(void **state) {
  (void)state;
  double qkv[] = {1, 0, 7, 8, 0, 1, 9, 10, 0, 0, 0, 0}, q[4], k[4], v[4];
  rope_run((RopeShape){1, 1, 1, 1, 4, 2, true, false}, REF_F32, 4, 1, 1, qkv, q, k, v);
  const double cosine = ref_round(REF_F32, 0.54030230586813972),
               sine = ref_round(REF_F32, 0.84147098480789651);
  assert_true(q[0] == cosine && q[1] == sine && q[2] == 7 && q[3] == 8);
  assert_true(k[0] == -sine && k[1] == cosine && k[2] == 9 && k[3] == 10);
}

static void heads_and_tokens_go_to_the_layouts_places(void **state) {
  (void)state;
  /* B 1, L 2, one q head, two k heads, two v heads, D 2, position 0 with scale 0: nothing turns, so
     only places are seen */
  double qkv[20], q[4], k[8], v[8];
  for (int i = 0; i < 20; i++) qkv[i] = i;
  const double q_want[] = {0, 1, 10, 11};
  const double k_heads[] = {2, 3, 12, 13, 4, 5, 14, 15}, k_paged[] = {2, 3, 4, 5, 12, 13, 14, 15};
  const double v_heads[] = {6, 7, 16, 17, 8, 9, 18, 19}, v_paged[] = {6, 7, 8, 9, 16, 17, 18, 19};
  rope_run((RopeShape){1, 2, 1, 2, 2, 2, false, false}, REF_F32, 4, 0, 0, qkv, q, k, v);
  assert_memory_equal(q, q_want, sizeof q);
  assert_memory_equal(k, k_heads, sizeof k);
  assert_memory_equal(v, v_heads, sizeof v);
  rope_run((RopeShape){1, 2, 1, 2, 2, 2, false, true}, REF_F32, 4, 0, 0, qkv, q, k, v);
  assert_memory_equal(q, q_want, sizeof q);
  assert_memory_equal(k, k_paged, sizeof k);
  assert_memory_equal(v, v_paged, sizeof v);
}

/* ---- gumbel_max_sample ----------------------------------------------------------------------- */

/* counter, key, output: the generator's published known-answer vectors */
static const struct {
  uint32_t counter[4], key[2], words[4];
} philox_vectors[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

/* key, element, row; the word, the uniform and the noise */
static const struct {
  uint32_t key[2];
  int64_t i, row;
  uint32_t word;
  double u, noise;
} gumbel_vectors[] = {
    {{0, 0}, 0, 0, 0x6627e8d5, 0.399046481, 0.084820},
    {{0, 0}, 5, 0, 0x5cb200db, 0.362091124, -0.015735},
    {{0, 0}, 1023, 3, 0x66aaff05, 0.401046693, 0.090278},
    {{1, 2}, 0, 0, 0x0598de3a, 0.021863878, -1.341014},
    {{1, 2}, 5, 0, 0xb2571bcc, 0.696641624, 1.017537},
    {{1, 2}, 1023, 3, 0x89e108fd, 0.538590014, 0.479972},
    {{0x12345678, 0x9abcdef0}, 0, 0, 0x0279b337, 0.009669483, -1.534452},
    {{0x12345678, 0x9abcdef0}, 5, 0, 0x4fcdf6b6, 0.311736524, -0.153233},
    {{0x12345678, 0x9abcdef0}, 1023, 3, 0x1e6ab3e8, 0.118815601, -0.756208},
};

static void the_references_philox_gives_the_published_words(void **state) {
  (void)state;
  for (int v = 0; v < COUNT(philox_vectors); v++) {
    uint32_t c[4];
    memcpy(c, philox_vectors[v].counter, sizeof c);
    philox4x32_10(c, philox_vectors[v].key[0], philox_vectors[v].key[1]);
    assert_memory_equal(c, philox_vectors[v].words, sizeof c);
  }
}

typedef struct Draw {
  ref_tensor tensors[4];
  ref_value values[5];
  ref_call call;
} Draw;

static void draw_set(Draw *d, int64_t B, int64_t V, int64_t S, double temp, double *logits,
                     int64_t *key, double *vals, int64_t *idxs) {
  *d = (Draw){{floats("logits", REF_F32, B * V, logits), wholes("rng_key", 2, key),
               floats("vals", REF_F32, B * S, vals), wholes("idxs", B * S, idxs)},
              {{"B", B, 0}, {"V", V, 0}, {"S", S, 0}, {"temp", 0, temp}, {"THREADS", 256, 0}},
              {0}};
  d->call = (ref_call)CALL(d->tensors, d->values);
}

static void the_references_noise_is_the_tables(void **state) {
  (void)state;
  for (int v = 0; v < COUNT(gumbel_vectors); v++) {
    int64_t key[] = {gumbel_vectors[v].key[0], gumbel_vectors[v].key[1]};
    Draw d;
    draw_set(&d, 1, 1, 1, 1, NULL, key, NULL, NULL);
    assert_true(fabs(noise(&d.call, gumbel_vectors[v].row, gumbel_vectors[v].i) -
                     gumbel_vectors[v].noise) < 1e-6);
  }
}

static void each_split_has_its_winner_and_an_empty_one_minus_infinity(void **state) {
  (void)state;
  static double logits[2][1500];
  double vals[6];
  int64_t key[] = {1, 2}, idxs[6];
  logits[0][5] = 100; /* noise 1.017537 for key 1, 2 */
  logits[0][1023] = 200;
  logits[0][1030] = 300;
  for (int i = 0; i < 1500; i++) logits[1][i] = NAN;
  logits[1][9] = -INFINITY;
  Draw d;
  draw_set(&d, 2, 1500, 3, 2, logits[0], key, vals, idxs);
  gumbel_reference(&d.call);
  assert_int_equal(idxs[0], 1023);
  assert_int_equal(idxs[1], 1030);
  assert_int_equal(idxs[2], 0);
  assert_true(vals[0] > 97 && vals[0] < 117 && vals[1] > 147 && isinf(vals[2]) && vals[2] < 0);
  for (int s = 3; s < 6; s++) assert_true(isinf(vals[s]) && vals[s] < 0 && idxs[s] == 0);
  d.values[3].real = 0; /* no temperature, no draw */
  gumbel_reference(&d.call);
  assert_true(isnan(vals[0]) && idxs[0] == 0);
}

static void equal_candidates_go_to_the_lower_index(void **state) {
  (void)state;
  double logits[] = {1, INFINITY, 2, INFINITY}, vals[1];
  int64_t key[] = {0, 0}, idxs[1];
  Draw d;
  draw_set(&d, 1, 4, 1, 1, logits, key, vals, idxs);
  gumbel_reference(&d.call);
  assert_int_equal(idxs[0], 1);
}

static void the_judge_takes_a_near_tie_and_nothing_else(void **state) {
  (void)state;
  double logits[8] = {0}, vals[1], got_vals[1];
  int64_t key[] = {1, 2}, idxs[1], got_idxs[1];
  Draw want, got;
  draw_set(&want, 1, 8, 1, 1, logits, key, vals, idxs);
  draw_set(&got, 1, 8, 1, 1, logits, key, got_vals, got_idxs);
  for (int i = 0; i < 8; i++) logits[i] = i == 5 ? 1 : -1000;
  logits[2] =
      logits[5] + noise(&want.call, 0, 5) - noise(&want.call, 0, 2) - 3e-5; /* loses by 3e-5 */
  gumbel_reference(&want.call);
  assert_int_equal(idxs[0], 5);

  got_vals[0] = vals[0], got_idxs[0] = 5;
  assert_null(gumbel_judge(&want.call, &got.call));
  got_vals[0] = vals[0] - 3e-5, got_idxs[0] = 2;
  assert_null(gumbel_judge(&want.call, &got.call));
  got_idxs[0] = 3; /* loses by far */
  assert_string_equal(gumbel_judge(&want.call, &got.call),
                      "row 0, split 0: index 3 won, expected 5 (2.01753712)");
  got_idxs[0] = 8; /* not an entry */
  assert_non_null(gumbel_judge(&want.call, &got.call));
  got_vals[0] = vals[0] + 1e-3, got_idxs[0] = 5; /* the right one, with another's value */
  assert_string_equal(gumbel_judge(&want.call, &got.call),
                      "row 0, split 0: the winner's value is 2.01853712, expected 2.01753712");
  got_vals[0] = NAN;
  assert_non_null(gumbel_judge(&want.call, &got.call));
}

/* ---- fused_xielu ----------------------------------------------------------------------------- */

static double xielu_of(ref_dtype T, double x, double alpha_p, double alpha_n, double beta,
                       double eps) {
  double y;
  ref_tensor tensors[] = {floats("x", T, 1, &x), floats("y", T, 1, &y)};
  ref_value values[] = {{"n", 1, 1},
                        {"alpha_p", 0, alpha_p},
                        {"alpha_n", 0, alpha_n},
                        {"beta", 0, beta},
                        {"eps", 0, eps}};
  ref_call c = CALL(tensors, values);
  xielu_reference(&c);
  return y;
}

static void xielu_has_its_known_values(void **state) {
  (void)state;
  assert_true(xielu_of(REF_F32, 2, 0.5, 0, 0.25, 0) == 2.5);
  assert_true(fabs(xielu_of(REF_F32, -1, 0, 1, 0, 0) - 0.367879441171) < 1e-7); /* 1/e */
  assert_true(fabs(xielu_of(REF_F32, -1, 0, 2, 3, 0) - (0.735758882343 - 3)) < 1e-6);
  assert_true(xielu_of(REF_F32, 0, 9, 0.5, 9, -0.5) ==
              ref_round(REF_F32, 0.5 * ref_round(REF_F32, expm1(-0.5)))); /* min */
  assert_true(isnan(xielu_of(REF_F32, NAN, 1, 1, 1, -1e-6)));
}

static void xielu_rounds_parameters_and_every_operation(void **state) {
  (void)state;
  /* bf16: 1.0078125^2 = 1.01568604 is 1.015625; times 3.015625 is 3.06274414, 3.0625; plus
     1.0078125 is 4.0703125, a tie: 4.0625 */
  assert_true(xielu_of(REF_BF16, 1.0078125, 3.015625, 0, 1, 0) == 4.0625);
  /* a parameter of 1 + 2^-9 is 1 in bf16 */
  assert_true(xielu_of(REF_BF16, 128, 1 + 0x1p-9, 0, 0, 0) == 16384);
  /* f16 overflows in the square, before a small alpha could save it */
  assert_true(isinf(xielu_of(REF_F16, 300, 0.001, 0, 0, 0)));
}

/* ---- the libraries --------------------------------------------------------------------------- */

typedef void (*Sweep)(const float *x, float *y, int n);
typedef struct Probe {
  void *object;
  Sweep exp2, expm1;
  void (*philox)(const uint32_t *counter, const uint32_t *key, uint32_t *words);
  float (*uniform)(uint32_t word), (*gumbel)(uint32_t word);
  uint16_t (*f16_sum)(float a, float b, float c, float d);
} Probe;

static void symbol(void *object, const char *name, void *function) {
  void *found = dlsym(object, name);
  assert_non_null(found);
  memcpy(function, &found, sizeof found);
}

/* Compiles the probe; file, if any, is read with the first `from` in it replaced by `to`. */
static Probe probe_open(const char *file, const char *from, const char *to) {
  char folder[] = "/tmp/kgen-test-libs-XXXXXX", command[1024], path[256];
  assert_non_null(mkdtemp(folder));
  if (file) {
    static char text[1 << 16];
    snprintf(path, sizeof path, "templates/lib/%s", file);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    char *at = strstr(text, from);
    assert_non_null(at); /* the fault is still where it was planted */
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
  }
  snprintf(command, sizeof command,
           "clang++-19 -std=c++17 -O2 -ffp-contract=off -fPIC -shared -I %s -I templates/lib "
           "tests/libs/probe.cc -o %s/p.so "
           "-lm",
           folder, folder);
  const int failed = system(command);
  snprintf(path, sizeof path, "%s/p.so", folder);
  Probe p = {.object = failed ? NULL : dlopen(path, RTLD_NOW)};
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  assert_non_null(p.object);
  symbol(p.object, "probe_exp2", &p.exp2);
  symbol(p.object, "probe_expm1", &p.expm1);
  symbol(p.object, "probe_philox", &p.philox);
  symbol(p.object, "probe_uniform", &p.uniform);
  symbol(p.object, "probe_gumbel", &p.gumbel);
  symbol(p.object, "probe_f16_sum", &p.f16_sum);
  return p;
}

static void need_clang(void) {
  if (system("clang++-19 --version >/dev/null 2>&1") == 0) return;
  print_message("clang++-19 is not here: the libraries of templates/lib were not measured\n");
  skip();
}

static float of_bits(uint32_t b) {
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}

/* The largest error in ulps of the exact result over every step-th f32 whose result is finite and
** normal. */
static double worst_ulps(Sweep f, double (*exact)(double), uint32_t step) {
  enum { BLOCK = 4096 };
  float x[BLOCK], y[BLOCK];
  double worst = 0;
  uint64_t b = 0;
  while (b <= UINT32_MAX) {
    int n = 0;
    for (; n < BLOCK && b <= UINT32_MAX; b += step) x[n++] = of_bits((uint32_t)b);
    f(x, y, n);
    for (int i = 0; i < n; i++) {
      const double want = exact((double)x[i]);
      if (!(fabs(want) >= 0x1p-126 && fabs(want) < 0x1.fffffep127)) continue;
      int e;
      frexp(want, &e);
      const double error = fabs((double)y[i] - want) / ldexp(1, e - 24);
      if (!(error <= worst)) worst = isfinite(error) ? error : INFINITY;
    }
  }
  return worst;
}

static const uint32_t step = 1009;

static void exp2_is_within_0_503_ulp_and_has_its_limits(void **state) {
  (void)state;
  need_clang();
  const Probe p = probe_open(NULL, NULL, NULL);
  assert_true(worst_ulps(p.exp2, exp2, step) < 0.503);
  const float x[] = {0, -0.0f, 1, -1, 127, 128, 1e30f, -126, -149, -160, -INFINITY, INFINITY, NAN};
  const float want[] = {1,        1,         2,         0.5f, 0x1p127f, INFINITY,
                        INFINITY, 0x1p-126f, 0x1p-149f, 0,    0,        INFINITY};
  float y[13];
  p.exp2(x, y, 13);
  assert_memory_equal(y, want, sizeof want);
  assert_true(isnan(y[12]));
  dlclose(p.object);
}

static void expm1_is_within_0_51_ulp_and_has_its_limits(void **state) {
  (void)state;
  need_clang();
  const Probe p = probe_open(NULL, NULL, NULL);
  assert_true(worst_ulps(p.expm1, expm1, step) < 0.51);
  const float x[] = {0,      -0.0f,     1e-45f, -1e-45f,  -17.5f, -100,
                     -1e30f, -INFINITY, 89,     INFINITY, -3e-8f, NAN};
  const float want[] = {0, -0.0f, 1e-45f, -1e-45f, -1, -1, -1, -1, INFINITY, INFINITY, -3e-8f};
  float y[12];
  p.expm1(x, y, 12);
  assert_memory_equal(y, want, sizeof want); /* also the sign of zero */
  assert_true(isnan(y[11]));
  dlclose(p.object);
}

static void a_last_bit_wrong_in_a_constant_is_measured(void **state) {
  (void)state;
  need_clang();
  Probe p = probe_open("math.kc", "8.33333377e-3f", "8.3334e-3f"); /* 1/5! off by 8e-6 of itself */
  assert_false(worst_ulps(p.expm1, expm1, step) < 0.51);
  dlclose(p.object);
  p = probe_open("math.kc", "fma(part, -1.90465421e-9f, z.lo)", "z.lo"); /* ln 2 in one word */
  assert_false(worst_ulps(p.exp2, exp2, step) < 0.503);
  dlclose(p.object);
  p = probe_open("math.kc", "fma(tail, sum.hi, tail)",
                 "tail"); /* the tail's own growth forgotten */
  assert_false(worst_ulps(p.exp2, exp2, step) < 0.503);
  dlclose(p.object);
}

/* ---- elementary functions -------------------------------------------------------------------- */

static const struct {
  const char *name;
  double (*exact)(double);
  double most; /* ulps, as math.kc and whole.kc claim */
} functions[] = {
    {"log1p", log1p, 1}, {"erf", erf, 2},        {"atan", atan, 1.5},
    {"tan", tan, 3},     {"sinh", sinh, 3},      {"cosh", cosh, 2},
    {"trunc", trunc, 0}, {"rint", nearbyint, 0}, {"round", round, 0},
};
typedef float (*OfTwo)(float x, float y);
static const struct {
  const char *name;
  double (*exact)(double, double);
  double most;
} functions_of_two[] = {
    {"pow", pow, 1}, {"atan2", atan2, 2}, {"fmod", fmod, 0}, {"copysign", copysign, 0}};

/* Kinds and zeros' signs agree, or the result is subnormal and next to it, or within so many ulps. */
static bool is_near(float got, double want, double most) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (want == 0 || got == 0 || isinf(got) || fabs(want) > 0x1.fffffep127)
    return fabs(want) < 0x1p-148
               ? fabsf(got) < 0x1p-147f && (want != 0 || !signbit(got) == !signbit(want))
               : (float)want == got;
  int e;
  frexp(want, &e);
  return fabs((double)got - want) <= (most > 0 ? most : 1e-9) * ldexp(1, e < -125 ? -149 : e - 24);
}

static const float ends[] = {
    0,      -0.0f, 1,        -1,        0.5f,      -0.5f,           2,     -3,
    7,      0.1f,  INFINITY, NAN,       -INFINITY, 1e-45f,          3e38f, -3e38f,
    1e-38f, 2.5f,  16777215, -16777215, 16777216,  0x1.6a02c4p127f, 88.9f, -88.9f};

/* How many pairs are wrong: of all ends, and of patterns of every kind. */
static int pairs_wrong(const Probe *p, int which) {
  char name[32];
  OfTwo f;
  int wrong = 0;
  snprintf(name, sizeof name, "probe_of_%s", functions_of_two[which].name);
  symbol(p->object, name, &f);
  uint64_t s = 88172645463325252u;
  for (int i = 0; i < COUNT(ends) * COUNT(ends) + 300000; i++) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    float x = of_bits((uint32_t)s), y = of_bits((uint32_t)(s >> 32));
    if (i % 3 == 0) y = (float)(int)(s >> 58) - 32;
    if (i % 3 == 1) x = fabsf(x), y = ((float)(s >> 40 & 511) - 256) / (1 + fabsf(log2f(x)));
    if (i < COUNT(ends) * COUNT(ends)) x = ends[i / COUNT(ends)], y = ends[i % COUNT(ends)];
    wrong += !is_near(f(x, y), functions_of_two[which].exact((double)x, (double)y),
                      functions_of_two[which].most);
  }
  return wrong;
}

static double worst_of(const Probe *p, int which) {
  char name[32];
  Sweep f;
  snprintf(name, sizeof name, "probe_of_%s", functions[which].name);
  symbol(p->object, name, &f);
  for (int i = 0; i < COUNT(ends); i++) {
    float y;
    f(&ends[i], &y, 1);
    if (!is_near(y, functions[which].exact((double)ends[i]), functions[which].most)) {
      print_error("%s(%g) is %g\n", functions[which].name, (double)ends[i], (double)y);
      return INFINITY;
    }
  }
  return worst_ulps(f, functions[which].exact, 10007);
}

static void elementary_functions_are_within_what_is_claimed_of_them(void **state) {
  (void)state;
  need_clang();
  const Probe p = probe_open(NULL, NULL, NULL);
  for (int i = 0; i < COUNT(functions); i++) {
    const double worst = worst_of(&p, i);
    if (!(worst <= functions[i].most)) fail_msg("%s: %.3f ulp", functions[i].name, worst);
  }
  for (int i = 0; i < COUNT(functions_of_two); i++)
    if (pairs_wrong(&p, i)) fail_msg("%s: %d pairs", functions_of_two[i].name, pairs_wrong(&p, i));
  uint32_t (*clz)(uint64_t), (*ctz)(uint64_t);
  float (*sign)(float);
  symbol(p.object, "probe_of_clz", &clz);
  symbol(p.object, "probe_of_ctz", &ctz);
  symbol(p.object, "probe_of_sign", &sign);
  for (int i = 0; i < 64; i++) {
    const uint64_t x = (uint64_t)1 << i | (uint64_t)1 << i / 2 * 2;
    assert_int_equal(clz(x), i < 32 ? 31 - i : 63 - i);
    assert_int_equal(ctz(x), i / 2 * 2);
  }
  assert_int_equal(clz(0), 32);
  assert_int_equal(ctz(0), 64);
  assert_true(sign(-3e-45f) == -1 && sign(INFINITY) == 1 && signbit(sign(-0.0f)) &&
              isnan(sign(NAN)));
  dlclose(p.object);
}

static void a_fault_in_an_elementary_function_is_measured(void **state) {
  (void)state;
  need_clang();
  static const struct {
    const char *file, *from, *to;
    int which, of_two;
  } faults[] = {
      {"math.kc", "cube_lo * weight.hi", "0.0f", -1, 0}, /* what a large power shows */
      {"math.kc", "negative && is_odd(y)", "negative", -1, 0},
      {"math.kc", "sum.lo, n)", "0.0f, n)", 0, -1},
      {"math.kc", "-3.76126379e-1f", "-3.76127e-1f", 1, -1},
      {"math.kc", "0.5386741757f", "0.53868f", 1, -1},
      {"math.kc", "0.107452989f", "0.10751f", 2, -1},
      {"math.kc", "const bool left = (bits(x) >> 31) != 0;", "const bool left = x < 0;", -1, 1},
      {"math.kc", "a < 88.0f ? 0.5f * (e", "a < 89.0f ? 0.5f * (e", 4, -1},
      {"whole.kc", "copysign((x + large) - large, x)", "(x + large) - large", 7, -1},
      {"whole.kc", ">= 0.5f ? whole", "> 0.5f ? whole", 8, -1},
      {"whole.kc", "turn <= doubled", "turn < doubled", -1, 2},
  };
  for (int i = 0; i < COUNT(faults); i++) {
    const Probe p = probe_open(faults[i].file, faults[i].from, faults[i].to);
    const bool found = faults[i].which >= 0
                           ? !(worst_of(&p, faults[i].which) <= functions[faults[i].which].most)
                           : pairs_wrong(&p, faults[i].of_two) > 0;
    if (!found) fail_msg("not found: %s for %s", faults[i].to, faults[i].from);
    dlclose(p.object);
  }
}

static bool philox_is_right(const Probe *p) {
  bool right = true;
  for (int v = 0; v < COUNT(philox_vectors); v++) {
    uint32_t words[4];
    p->philox(philox_vectors[v].counter, philox_vectors[v].key, words);
    right = right && memcmp(words, philox_vectors[v].words, sizeof words) == 0;
  }
  return right;
}

static void the_kernels_philox_gives_the_published_words(void **state) {
  (void)state;
  need_clang();
  Probe p = probe_open(NULL, NULL, NULL);
  assert_true(philox_is_right(&p));
  dlclose(p.object);
  p = probe_open("philox.kc", "round < 10", "round < 9");
  assert_false(philox_is_right(&p));
  dlclose(p.object);
}

static void uniform_and_noise_of_a_word_are_the_tables(void **state) {
  (void)state;
  need_clang();
  Probe p = probe_open(NULL, NULL, NULL);
  for (int v = 0; v < COUNT(gumbel_vectors); v++) {
    assert_true(fabs((double)p.uniform(gumbel_vectors[v].word) - gumbel_vectors[v].u) < 1e-8);
    assert_true(fabs((double)p.gumbel(gumbel_vectors[v].word) - gumbel_vectors[v].noise) < 1e-6);
  }
  assert_true(p.uniform(0) == 0x1p-24f && p.uniform(UINT32_MAX) == 1 - 0x1p-24f);
  assert_true(p.gumbel(0) > -2.82f && p.gumbel(UINT32_MAX) < 16.64f);
  dlclose(p.object);
  p = probe_open("philox.kc", "(f32(word >> 9) + 0.5f) * 1.1920929e-7f",
                 "(f32(word >> 8) + 0.5f) * 5.9604645e-8f");
  assert_true(p.uniform(UINT32_MAX) == 1 &&
              isinf(p.gumbel(UINT32_MAX))); /* why 23 bits and not 24 */
  dlclose(p.object);
}

/* How many of n pairs of f16 values, turned by an angle, differ from the sum in double rounded
** once. */
static int f16_sums_wrong(const Probe *p, int n) {
  uint64_t x = 1;
  int wrong = 0;
  for (int i = 0; i < n; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    const double turn = (double)(x >> 40) * 0x1p-20;
    const double a = ref_round(REF_F16, (double)(int32_t)(x >> 32) * 0x1p-28);
    const float c = (float)cos(turn), s = (float)sin(turn);
    /* every other pair nearly cancels */
    const double b = ref_round(REF_F16, i % 2 ? -a * (double)c / (double)s
                                              : (double)(int32_t)(x >> 16) * 0x1p-30);
    if (!isfinite(b)) continue;
    const double want = ref_round(REF_F16, a * (double)c + b * (double)s);
    const uint16_t got = p->f16_sum((float)a, c, (float)b, s);
    const int e = got >> 10 & 31, m = got & 1023;
    const double value = (got >> 15 ? -1 : 1) * (e ? ldexp(1024 + m, e - 25) : ldexp(m, -24));
    wrong += value != want;
  }
  return wrong;
}

static void a_pair_of_f16_is_rounded_once_from_its_exact_sum(void **state) {
  (void)state;
  need_clang();
  Probe p = probe_open(NULL, NULL, NULL);
  assert_int_equal(f16_sums_wrong(&p, 400000), 0);
  assert_int_equal(p.f16_sum(INFINITY, 0.5f, 1, 0.5f), 0x7c00); /* infinity passes */
  assert_int_equal(p.f16_sum(1, 0.5f, -1, 0.5f), 0);
  dlclose(p.object);
  p = probe_open("rotate.kc", "f16(sum_of_products_to_odd(a, b, c, d))",
                 "f16(fma(a, b, c * d))"); /* two roundings */
  assert_true(f16_sums_wrong(&p, 400000) > 0);
  dlclose(p.object);
  p = probe_open("rotate.kc", "(sum.hi > 0) == (sum.lo > 0)",
                 "sum.lo > 0"); /* odd towards the wrong side */
  assert_true(f16_sums_wrong(&p, 400000) > 0);
  dlclose(p.object);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_value_is_rounded_to_the_nearest_one_of_its_dtype_ties_to_even),
      cmocka_unit_test(a_reference_rounds_as_the_host_does),
      cmocka_unit_test(a_row_is_divided_by_its_root_mean_square),
      cmocka_unit_test(eps_stands_under_the_root_and_the_bias_is_added_to_the_weight),
      cmocka_unit_test(the_sum_the_norm_and_the_product_are_rounded_each),
      cmocka_unit_test(a_pair_turns_by_its_position),
      cmocka_unit_test(frequencies_fall_by_the_base_over_the_pairs),
      cmocka_unit_test(traditional_pairs_are_neighbours_and_the_tail_is_kept),
      cmocka_unit_test(heads_and_tokens_go_to_the_layouts_places),
      cmocka_unit_test(the_references_philox_gives_the_published_words),
      cmocka_unit_test(the_references_noise_is_the_tables),
      cmocka_unit_test(each_split_has_its_winner_and_an_empty_one_minus_infinity),
      cmocka_unit_test(equal_candidates_go_to_the_lower_index),
      cmocka_unit_test(the_judge_takes_a_near_tie_and_nothing_else),
      cmocka_unit_test(xielu_has_its_known_values),
      cmocka_unit_test(xielu_rounds_parameters_and_every_operation),
      cmocka_unit_test(exp2_is_within_0_503_ulp_and_has_its_limits),
      cmocka_unit_test(expm1_is_within_0_51_ulp_and_has_its_limits),
      cmocka_unit_test(a_last_bit_wrong_in_a_constant_is_measured),
      cmocka_unit_test(elementary_functions_are_within_what_is_claimed_of_them),
      cmocka_unit_test(a_fault_in_an_elementary_function_is_measured),
      cmocka_unit_test(the_kernels_philox_gives_the_published_words),
      cmocka_unit_test(uniform_and_noise_of_a_word_are_the_tables),
      cmocka_unit_test(a_pair_of_f16_is_rounded_once_from_its_exact_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

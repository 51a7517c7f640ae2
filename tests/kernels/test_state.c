/* test_state.c: the kernels that carry a state, and Cohere's add and LayerNorm, run lane by lane.
**
** Every dtype combination of every case is put to its reference at both widths; what tolerances
** cannot say is tested on its own: that one launch of L tokens has the bits of L launches, that a
** masked token changes nothing, that neither the width nor the team's size moves a bit, and where
** each backend's LayerNorm rounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/mamba1_scan/host.h"
#include "kernel_fixture.h"

static const kg_dtype floats[] = {KG_F32, KG_F16, KG_BF16};

/* One of the kernels here, opened on first use and kept with what was compiled for it. */
static const Ready *kernel_of(const char *name) {
  static Ready kept[8];
  static int count;
  for (int i = 0; i < count; i++)
    if (strcmp(kept[i].kernel->name, name) == 0) return &kept[i];
  assert_true(count < COUNT(kept));
  kept[count] = ready("", name, DEVICES);
  kept[count].devices = WIDTHS; /* for the cases: HIP's text at both widths */
  return &kept[count++];
}

/* ---- the cases of the specification ---------------------------------------------------------- */

static void cases_are_right(const char *name, int combinations) {
  const Ready *r = kernel_of(name);
  int trials;
  assert_int_equal(cases_wrong(r, NULL, true, &trials), 0);
  assert_int_equal(trials, combinations * r->kernel->case_count * WIDTHS);
  assert_true(r->kernel->case_count >= 5);
}

static void ssm_update_is_right_in_every_dtype_combination_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("ssm_update", 54);
}

static void both_scans_are_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("mamba1_selective_scan", 3);
  cases_are_right("mamba1_graph_exact", 3);
}

static void fused_add3_layer_norm_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_add3_layer_norm", 3);
}

static void gated_delta_is_right_in_every_variant_and_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("gated_delta", 3);
  cases_are_right("gated_delta_seqpar", 3);
}

/* ---- data of the tests' own ------------------------------------------------------------------ */

/* Between -1 and 1, by number. */
static double noise(uint32_t seed, int64_t i) {
  uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u + 12345u;
  for (int round = 0; round < 3; round++) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
  }
  return (double)x / 2147483648.0 - 1;
}

enum { ROOM = 1 << 15 }; /* bytes of each tensor */
typedef struct Tensor {
  _Alignas(16) unsigned char bytes[ROOM];
} Tensor;

static void fill_with(Tensor *t, kg_dtype dtype, int64_t count, uint32_t seed, double middle,
                      double spread) {
  assert_true((size_t)count * kg_dtype_bytes(dtype) <= ROOM);
  for (int64_t i = 0; i < count; i++)
    element_put_bits(dtype, t->bytes, i,
                     element_bits_of_real(dtype, middle + spread * noise(seed, i)));
}

static double value(kg_dtype dtype, const Tensor *t, int64_t i) {
  return element_real(dtype, element_bits(dtype, t->bytes, i));
}

/* ---- gated_delta ----------------------------------------------------------------------------- */

enum { HK = 1, DK = 96, HV = 2, DV = 11, TOKENS = 7, STATE = HV * DV * DK };

typedef struct Delta {
  Tensor q, k, v, g, g_vec, beta, mask, state, y, out;
} Delta;

static void delta_data(Delta *d, kg_dtype T) {
  const double unit = 1 / sqrt((double)DK / 3);
  fill_with(&d->q, T, TOKENS * HK * DK, 1, 0, unit);
  fill_with(&d->k, T, TOKENS * HK * DK, 2, 0, unit);
  fill_with(&d->v, T, TOKENS * HV * DV, 3, 0, 1.7);
  fill_with(&d->g, T, TOKENS * HV, 4, 0.9, 0.1);
  fill_with(&d->beta, T, TOKENS * HV, 5, 0.5, 0.5);
  fill_with(&d->state, T, STATE, 6, 0, 1.7);
  for (int64_t i = 0; i < TOKENS * HV * DK; i++)
    element_put_bits(T, d->g_vec.bytes, i, element_bits(T, d->g.bytes, i / DK));
  for (int t = 0; t < TOKENS; t++) d->mask.bytes[t] = 1;
}

/* Tokens from `first` on, of batch 1; the state after them is in d->out. */
static void delta_run(const Ready *r, kg_device *device, Delta *d, kg_dtype T, int64_t first,
                      int64_t L, bool vec, bool masked) {
  const bool seqpar = strcmp(r->kernel->name, "gated_delta_seqpar") == 0;
  const size_t e = kg_dtype_bytes(T), at = (size_t)first;
  Data data[9] = {{T, 4, {1, L, HK, DK}, d->q.bytes + at * HK * DK * e},
                  {T, 4, {1, L, HK, DK}, d->k.bytes + at * HK * DK * e},
                  {T, 4, {1, L, HV, DV}, d->v.bytes + at * HV * DV * e},
                  {T, 4, {1, L, HV, 1}, d->g.bytes + at * HV * e},
                  {T, 3, {1, L, HV}, d->beta.bytes + at * HV * e},
                  {T, 4, {1, HV, DV, DK}, d->state.bytes}};
  int n = 6;
  if (vec) data[3] = (Data){T, 4, {1, L, HV, DK}, d->g_vec.bytes + at * HV * DK * e};
  if (!seqpar) data[n++] = (Data){KG_U8, 2, {1, masked ? L : 1}, d->mask.bytes + at};
  data[n++] = (Data){T, 4, {1, L, HV, DV}, d->y.bytes + at * HV * DV * e};
  data[n++] = (Data){T, 4, {1, HV, DV, DK}, d->out.bytes};
  const int64_t chosen[] = {vec, masked};
  launch_well(r, device, data, NULL, chosen);
}

/* Whether TOKENS launches of one token give the bits of one launch. */
static bool steps_equal_one_launch(const Ready *r, kg_device *device, kg_dtype T) {
  static Delta whole, steps;
  delta_data(&whole, T);
  steps = whole;
  delta_run(r, device, &whole, T, 0, TOKENS, false, false);
  for (int64_t t = 0; t < TOKENS; t++) {
    delta_run(r, device, &steps, T, t, 1, false, false);
    steps.state = steps.out;
  }
  const size_t e = kg_dtype_bytes(T);
  return memcmp(whole.out.bytes, steps.out.bytes, STATE * e) == 0 &&
         memcmp(whole.y.bytes, steps.y.bytes, TOKENS * HV * DV * e) == 0;
}

static void sequence_parallel_steps_have_the_bits_of_single_ones(void **state) {
  (void)state;
  const Ready *exact = kernel_of("gated_delta_seqpar"), *plain = kernel_of("gated_delta");
  for (int t = 0; t < COUNT(floats); t++)
    for (int d = 0; d < WIDTHS; d++)
      assert_true(steps_equal_one_launch(exact, exact->device[d], floats[t]));
  /* without the rounding of every step they differ: the data can tell */
  assert_false(steps_equal_one_launch(plain, plain->device[0], KG_BF16));
  assert_false(steps_equal_one_launch(plain, plain->device[1], KG_F16));
}

static void a_masked_token_changes_no_bit_and_gives_zero(void **state) {
  (void)state;
  static Delta whole, dense;
  const Ready *r = kernel_of("gated_delta");
  static const int shown[] = {1, 2, 5}; /* all others are masked, and hold what must not be read */
  for (int run = 0; run < COUNT(floats) * WIDTHS * 2; run++) {
    const kg_dtype T = floats[run % COUNT(floats)];
    const bool vec = run / COUNT(floats) % 2;
    kg_device *device = r->device[run / COUNT(floats) / 2];
    const size_t e = kg_dtype_bytes(T);
    const size_t keys = HK * DK * e, values = HV * DV * e;
    delta_data(&whole, T);
    dense = whole;
    memset(whole.mask.bytes, 0, TOKENS);
    for (int i = 0; i < COUNT(shown); i++) {
      const size_t t = (size_t)shown[i], to = (size_t)i;
      whole.mask.bytes[t] = i == 1 ? 1 : 255;
      memmove(dense.q.bytes + to * keys, whole.q.bytes + t * keys, keys);
      memmove(dense.k.bytes + to * keys, whole.k.bytes + t * keys, keys);
      memmove(dense.v.bytes + to * values, whole.v.bytes + t * values, values);
      memmove(dense.g.bytes + to * HV * e, whole.g.bytes + t * HV * e, HV * e);
      memmove(dense.g_vec.bytes + to * HV * DK * e, whole.g_vec.bytes + t * HV * DK * e,
              HV * DK * e);
      memmove(dense.beta.bytes + to * HV * e, whole.beta.bytes + t * HV * e, HV * e);
    }
    for (int64_t i = 0; i < TOKENS * HV; i++)
      if (!whole.mask.bytes[i / HV]) element_put_bits(T, whole.beta.bytes, i, element_poison(T));
    delta_run(r, device, &whole, T, 0, TOKENS, vec, true);
    delta_run(r, device, &dense, T, 0, COUNT(shown), vec, false);
    assert_memory_equal(whole.out.bytes, dense.out.bytes, STATE * e);
    for (size_t t = 0, seen = 0; t < TOKENS; t++) {
      static const unsigned char zeros[HV * DV * 4];
      const void *want = whole.mask.bytes[t] ? dense.y.bytes + seen++ * values : zeros;
      assert_memory_equal(whole.y.bytes + t * values, want, values);
    }
    memset(whole.mask.bytes, 0, TOKENS); /* nothing at all is seen */
    delta_run(r, device, &whole, T, 0, TOKENS, vec, true);
    assert_memory_equal(whole.out.bytes, whole.state.bytes, STATE * e);
  }
}

static void a_decay_by_column_that_is_everywhere_the_same_is_the_scalar_one(void **state) {
  (void)state;
  static Delta scalar, vec;
  const Ready *r = kernel_of("gated_delta");
  for (int run = 0; run < COUNT(floats) * 2; run++) {
    const kg_dtype T = floats[run / 2];
    delta_data(&scalar, T);
    vec = scalar;
    delta_run(r, r->device[run % 2], &scalar, T, 0, TOKENS, false, false);
    delta_run(r, r->device[run % 2], &vec, T, 0, TOKENS, true, false);
    assert_memory_equal(scalar.out.bytes, vec.out.bytes, STATE * kg_dtype_bytes(T));
    assert_memory_equal(scalar.y.bytes, vec.y.bytes, TOKENS * HV * DV * kg_dtype_bytes(T));
  }
}

/* ---- the scans ------------------------------------------------------------------------------- */

enum { DM = 13, MAX_N = 32, MAX_L = 33 };

typedef struct Scan {
  Tensor X, DT, Bm, Cm, A, Dp, state, Y, out;
  int64_t N;
} Scan;

static void scan_data(Scan *s, kg_dtype T, kg_dtype S, int64_t N) {
  s->N = N;
  fill_with(&s->X, T, MAX_L * DM, 11, 0, 1.7);
  fill_with(&s->DT, T, MAX_L * DM, 12, 0.11, 0.1);
  fill_with(&s->Bm, T, MAX_L * N, 13, 0, 1.7);
  fill_with(&s->Cm, T, MAX_L * N, 14, 0, 1.7);
  fill_with(&s->A, S, DM * N, 15, -3, 2.9);
  fill_with(&s->Dp, T, DM, 16, 0, 1.7);
  fill_with(&s->state, S, DM * N, 17, 0, 1.7);
}

static void scan_run(const Ready *r, kg_device *device, Scan *s, kg_dtype T, kg_dtype S,
                     int64_t first, int64_t L, int64_t lanes) {
  const size_t e = kg_dtype_bytes(T), at = (size_t)first, N = (size_t)s->N;
  const Data data[] = {{T, 3, {1, L, DM}, s->X.bytes + at * DM * e},
                       {T, 3, {1, L, DM}, s->DT.bytes + at * DM * e},
                       {T, 3, {1, L, s->N}, s->Bm.bytes + at * N * e},
                       {T, 3, {1, L, s->N}, s->Cm.bytes + at * N * e},
                       {S, 2, {DM, s->N}, s->A.bytes},
                       {T, 1, {DM}, s->Dp.bytes},
                       {S, 3, {1, DM, s->N}, s->state.bytes},
                       {T, 3, {1, L, DM}, s->Y.bytes + at * DM * e},
                       {S, 3, {1, DM, s->N}, s->out.bytes}};
  launch_well(r, device, data, NULL, &lanes);
}

static void a_scan_may_be_cut_anywhere(void **state) {
  (void)state;
  static Scan whole, cut;
  static const char *const names[] = {"mamba1_selective_scan", "mamba1_graph_exact"};
  static const int64_t lengths[][3] = {{33, 0, 0}, {7, 26, 0}, {1, 31, 1}};
  for (int k = 0; k < COUNT(names); k++) {
    const Ready *r = kernel_of(names[k]);
    for (int run = 0; run < COUNT(floats) * WIDTHS * 2; run++) {
      const kg_dtype T = floats[run % COUNT(floats)], S = k == 0 ? KG_F32 : T;
      kg_device *device = r->device[run / COUNT(floats) / 2];
      const int64_t N = run / COUNT(floats) % 2 ? 32 : 11, lanes = kg_mamba1_lanes((uint64_t)N);
      scan_data(&whole, T, S, N);
      scan_run(r, device, &whole, T, S, 0, MAX_L, lanes);
      for (int c = 0; c < COUNT(lengths); c++) {
        scan_data(&cut, T, S, N);
        int64_t at = 0;
        for (int i = 0; i < 3 && lengths[c][i]; at += lengths[c][i++]) {
          scan_run(r, device, &cut, T, S, at, lengths[c][i], lanes);
          cut.state = cut.out;
        }
        assert_int_equal(at, MAX_L);
        assert_memory_equal(cut.out.bytes, whole.out.bytes, (size_t)(DM * N) * kg_dtype_bytes(S));
        assert_memory_equal(cut.Y.bytes, whole.Y.bytes, MAX_L * DM * kg_dtype_bytes(T));
      }
    }
  }
}

static void the_width_and_the_teams_size_move_no_value_of_a_scan(void **state) {
  (void)state;
  static Scan first, other;
  const Ready *r = kernel_of("mamba1_selective_scan");
  for (int t = 0; t < COUNT(floats); t++)
    for (int run = 0; run < 4; run++) {
      Scan *s = run == 0 ? &first : &other;
      scan_data(s, floats[t], KG_F32, 16);
      scan_run(r, r->device[run % 2], s, floats[t], KG_F32, 0, MAX_L, run < 2 ? 16 : 32);
      assert_memory_equal(s->out.bytes, first.out.bytes, DM * 16 * 4);
      for (int64_t i = 0; i < MAX_L * DM; i++)
        assert_true(value(floats[t], &s->Y, i) == value(floats[t], &first.Y, i));
    }
}

/* The recurrence in doubles; the rms error of Y against it. */
static double scan_error(const Scan *s, kg_dtype T, kg_dtype S) {
  static double h[DM * MAX_N];
  double error = 0;
  for (int64_t i = 0; i < DM * s->N; i++) h[i] = value(S, &s->state, i);
  for (int64_t t = 0; t < MAX_L; t++)
    for (int64_t d = 0; d < DM; d++) {
      const double x = value(T, &s->X, t * DM + d), dt = value(T, &s->DT, t * DM + d);
      double y = x * value(T, &s->Dp, d);
      for (int64_t n = 0; n < s->N; n++) {
        double *hn = &h[d * s->N + n];
        *hn =
            exp(dt * value(S, &s->A, d * s->N + n)) * *hn + dt * x * value(T, &s->Bm, t * s->N + n);
        y += *hn * value(T, &s->Cm, t * s->N + n);
      }
      const double off = value(T, &s->Y, t * DM + d) - y;
      error += off * off;
    }
  return sqrt(error / (MAX_L * DM));
}

static void a_state_in_f32_is_no_further_off_than_the_graphs_rounding(void **state) {
  (void)state;
  static Scan s;
  const Ready *wide = kernel_of("mamba1_selective_scan"), *exact = kernel_of("mamba1_graph_exact");
  for (int t = 1; t < COUNT(floats); t++)
    for (int64_t N = 8; N <= 32; N *= 2) {
      const kg_dtype T = floats[t];
      scan_data(&s, T, KG_F32, N);
      scan_run(wide, wide->device[0], &s, T, KG_F32, 0, MAX_L, 32);
      const double with_f32 = scan_error(&s, T, KG_F32);
      scan_data(&s, T, T, N);
      scan_run(exact, exact->device[0], &s, T, T, 0, MAX_L, 32);
      assert_true(with_f32 > 0 && with_f32 < scan_error(&s, T, T));
    }
}

static int64_t columns_of(const Kernel *k, const Case *c) {
  for (int i = 0; i < k->dim_count; i++)
    if (strcmp(k->dims[i], "N") == 0) return c->values[i];
  fail_msg("%s has no dim N", k->name);
  return 0;
}
static bool is_full(const Kernel *k, const Case *c) { return columns_of(k, c) == 32; }
static bool is_half(const Kernel *k, const Case *c) { return columns_of(k, c) <= 16; }

static void a_fold_that_starts_at_8_is_wrong_with_32_columns_and_only_there(void **state) {
  (void)state;
  const char *folder =
      faulty_copy("kernels/mamba1_scan/mamba1_scan.kc", "team_sum(rnd<S>(s * c_t), LANES)",
                  "team_sum(rnd<S>(s * c_t), 16)");
  Ready r = ready(folder, "mamba1_selective_scan", WIDTHS);
  int trials;
  assert_int_equal(cases_wrong(&r, is_half, true, &trials), 0);
  assert_true(trials > 0);
  const int wrong = cases_wrong(&r, is_full, false, &trials);
  assert_true(trials > 0);
  assert_int_equal(wrong, trials);
  done(&r);
  remove_copy(folder);
}

static void a_scan_with_more_columns_than_lanes_is_refused(void **state) {
  (void)state;
  static Scan s;
  const Ready *r = kernel_of("mamba1_selective_scan");
  for (int run = 0; run < 2; run++) {
    const int64_t N = run ? 33 : 17, lanes = run ? 32 : 16;
    const Data data[] = {
        {KG_F32, 3, {1, 1, DM}, s.X.bytes},     {KG_F32, 3, {1, 1, DM}, s.DT.bytes},
        {KG_F32, 3, {1, 1, N}, s.Bm.bytes},     {KG_F32, 3, {1, 1, N}, s.Cm.bytes},
        {KG_F32, 2, {DM, N}, s.A.bytes},        {KG_F32, 1, {DM}, s.Dp.bytes},
        {KG_F32, 3, {1, DM, N}, s.state.bytes}, {KG_F32, 3, {1, 1, DM}, s.Y.bytes},
        {KG_F32, 3, {1, DM, N}, s.out.bytes}};
    assert_int_equal(launch(r, r->device[0], data, NULL, &lanes), KG_REQUIRE_FAILED);
  }
}

static void sixteen_columns_take_sixteen_lanes_and_more_take_32(void **state) {
  (void)state;
  static const struct {
    uint64_t N;
    uint32_t lanes;
  } table[] = {{0, 0}, {1, 16}, {16, 16}, {17, 32}, {32, 32}, {33, 0}, {UINT64_MAX, 0}};
  for (int i = 0; i < COUNT(table); i++)
    assert_int_equal(kg_mamba1_lanes(table[i].N), table[i].lanes);
}

/* ---- ssm_update ------------------------------------------------------------------------------ */

typedef struct Step {
  Tensor x, A_log, B, C, D, dt, state, out, state_out;
} Step;

static kg_status step_run(const Ready *r, kg_device *device, Step *s, int64_t h, int64_t g,
                          int64_t ds) {
  enum { DH = 5 };
  fill_with(&s->x, KG_BF16, h * DH, 21, 0, 1.7);
  fill_with(&s->A_log, KG_BF16, h, 22, 1, 1);
  fill_with(&s->B, KG_BF16, g * ds, 23, 0, 1.7);
  fill_with(&s->C, KG_BF16, g * ds, 24, 0, 1.7);
  fill_with(&s->D, KG_BF16, h, 25, 0, 1.7);
  fill_with(&s->dt, KG_F32, h, 26, 0.11, 0.1);
  fill_with(&s->state, KG_F32, h * DH * ds, 27, 0, 1.7);
  const Data data[] = {{KG_BF16, 4, {1, 1, h, DH}, s->x.bytes},
                       {KG_BF16, 1, {h}, s->A_log.bytes},
                       {KG_BF16, 4, {1, 1, g, ds}, s->B.bytes},
                       {KG_BF16, 4, {1, 1, g, ds}, s->C.bytes},
                       {KG_BF16, 1, {h}, s->D.bytes},
                       {KG_F32, 3, {1, 1, h}, s->dt.bytes},
                       {KG_F32, 4, {1, h, DH, ds}, s->state.bytes},
                       {KG_BF16, 4, {1, 1, h, DH}, s->out.bytes},
                       {KG_F32, 4, {1, h, DH, ds}, s->state_out.bytes}};
  return launch(r, device, data, NULL, NULL);
}

static void a_decode_step_has_the_same_bits_on_every_text_and_width(void **state) {
  (void)state;
  static Step first, other;
  const Ready *r = kernel_of("ssm_update");
  for (int64_t ds = 32; ds <= 256; ds += 32)
    for (int d = 0; d < DEVICES; d++) {
      Step *s = d == 0 ? &first : &other;
      assert_int_equal(step_run(r, r->device[d], s, 4, 2, ds), KG_OK);
      assert_memory_equal(s->out.bytes, first.out.bytes, 4 * 5 * 2);
      assert_memory_equal(s->state_out.bytes, first.state_out.bytes, (size_t)(4 * 5 * ds * 4));
    }
}

static void a_step_of_an_unsupported_shape_is_refused(void **state) {
  (void)state;
  static Step s;
  const Ready *r = kernel_of("ssm_update");
  assert_int_equal(step_run(r, r->device[1], &s, 4, 2, 16), KG_REQUIRE_FAILED);
  assert_int_equal(step_run(r, r->device[1], &s, 4, 2, 48), KG_REQUIRE_FAILED);
  assert_int_equal(step_run(r, r->device[1], &s, 4, 3, 64), KG_REQUIRE_FAILED);
  assert_int_equal(step_run(r, r->device[1], &s, 4, 4, 64), KG_OK);
}

/* ---- fused_add3_layer_norm ------------------------------------------------------------------- */

enum { NORM_D = 512 };

typedef struct Norm {
  Tensor a, b, x, weight, bias, x_out, h;
} Norm;

static float stored(kg_dtype T, double x) {
  return (float)element_real(T, element_bits_of_real(T, x));
}

/* Rows whose mean is 0 and whose variance is 1 to the bit, so that all that is left is where the
** gain and the bias are rounded. */
static int norm_forms_seen(const Ready *r, kg_device *device, kg_dtype T, bool in_storage) {
  static Norm n;
  fill_with(&n.weight, T, NORM_D, 31, 1, 0.9);
  fill_with(&n.bias, T, NORM_D, 32, 0, 1);
  for (int64_t i = 0; i < NORM_D; i++) {
    element_put_bits(T, n.a.bytes, i, element_bits_of_real(T, i % 2 ? 2 : -2));
    element_put_bits(T, n.b.bytes, i, element_bits_of_real(T, 3));
    element_put_bits(T, n.x.bytes, i, element_bits_of_real(T, i % 2 ? -4 : -2));
  }
  const Data data[] = {{T, 2, {1, NORM_D}, n.a.bytes}, {T, 2, {1, NORM_D}, n.b.bytes},
                       {T, 2, {1, NORM_D}, n.x.bytes}, {T, 1, {NORM_D}, n.weight.bytes},
                       {T, 1, {NORM_D}, n.bias.bytes}, {T, 2, {1, NORM_D}, n.x_out.bytes},
                       {T, 2, {1, NORM_D}, n.h.bytes}};
  const kg_scalar eps = {.f32 = 2};
  const int64_t stride = 1;
  launch_well(r, device, data, &eps, &stride);
  const float inv = 1.0f / sqrtf(3.0f);
  int differ = 0;
  for (int64_t i = 0; i < NORM_D; i++) {
    const float norm = (float)value(T, &n.x_out, i) * inv;
    const float w = (float)value(T, &n.weight, i), b = (float)value(T, &n.bias, i);
    const float once = stored(T, w * norm + b);
    const float each = stored(T, stored(T, w * stored(T, norm)) + b);
    assert_true(value(T, &n.h, i) == (in_storage ? each : once));
    differ += once != each;
  }
  return differ;
}

static void each_backends_layer_norm_rounds_where_its_graph_does(void **state) {
  (void)state;
  static const bool in_storage[DEVICES] = {false, false, true, true}; /* HIP, HIP, CUDA, Metal */
  const Ready *r = kernel_of("fused_add3_layer_norm");
  for (int d = 0; d < DEVICES; d++) {
    assert_int_equal(norm_forms_seen(r, r->device[d], KG_F32, in_storage[d]), 0);
    assert_true(norm_forms_seen(r, r->device[d], KG_F16, in_storage[d]) > NORM_D / 10);
    assert_true(norm_forms_seen(r, r->device[d], KG_BF16, in_storage[d]) > NORM_D / 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ssm_update_is_right_in_every_dtype_combination_at_32_and_64_lanes),
      cmocka_unit_test(both_scans_are_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(fused_add3_layer_norm_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(gated_delta_is_right_in_every_variant_and_dtype_at_32_and_64_lanes),
      cmocka_unit_test(sequence_parallel_steps_have_the_bits_of_single_ones),
      cmocka_unit_test(a_masked_token_changes_no_bit_and_gives_zero),
      cmocka_unit_test(a_decay_by_column_that_is_everywhere_the_same_is_the_scalar_one),
      cmocka_unit_test(a_scan_may_be_cut_anywhere),
      cmocka_unit_test(the_width_and_the_teams_size_move_no_value_of_a_scan),
      cmocka_unit_test(a_state_in_f32_is_no_further_off_than_the_graphs_rounding),
      cmocka_unit_test(a_fold_that_starts_at_8_is_wrong_with_32_columns_and_only_there),
      cmocka_unit_test(sixteen_columns_take_sixteen_lanes_and_more_take_32),
      cmocka_unit_test(a_scan_with_more_columns_than_lanes_is_refused),
      cmocka_unit_test(a_decode_step_has_the_same_bits_on_every_text_and_width),
      cmocka_unit_test(a_step_of_an_unsupported_shape_is_refused),
      cmocka_unit_test(each_backends_layer_norm_rounds_where_its_graph_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

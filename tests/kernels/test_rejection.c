/* test_rejection.c: rejection_sample and its companions.  What takes many draws is in
** tests/long/test_samplers.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/rejection_sample/host.h"
#include "lib/host/philox.h"
#include "kernel_fixture.h"
#include "statistics.h"

static const Ready *sampler(void) {
  static Ready r;
  if (!r.kernel) {
    r = ready("", "rejection_sample", DEVICES);
    r.devices = WIDTHS; /* for the cases: HIP's text at both widths */
  }
  return &r;
}

/* ---- companions ------------------------------------------------------------------------------ */

static void random_words_are_the_published_ones(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[4], key[2], words[4];
  } known[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
               {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
               {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                {0xa4093822, 0x299f31d0},
                {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (int i = 0; i < COUNT(known); i++) {
    uint32_t words[4];
    kg_philox4x32_10(known[i].counter, known[i].key, words);
    assert_memory_equal(words, known[i].words, sizeof words);
  }
  assert_true(kg_philox_uniform(0x0598de3a) == 183407.5f * 0x1p-23f);
  assert_true(kg_philox_uniform(0) > 0 && kg_philox_uniform(~0u) < 1);
}

static void params_out_of_their_range_are_refused_in_words(void **state) {
  (void)state;
  float p[3];
  kg_error error;
  assert_int_equal(kg_rejection_params(40, 0.9f, 0.05f, p, &error), KG_OK);
  assert_true(p[0] == 40 && p[1] == 0.9f && p[2] == 0.05f);
  assert_int_equal(kg_rejection_params(0, 1, 0, p, NULL), KG_OK); /* all off */
  const float wrong[][2] = {{0, 0}, {-1, 0}, {1.5f, 0}, {NAN, 0}, {1, 1}, {1, -0.5f}, {1, NAN}};
  for (int i = 0; i < COUNT(wrong); i++)
    assert_int_equal(kg_rejection_params(0, wrong[i][0], wrong[i][1], p, &error), KG_BAD_ARGUMENT);
  assert_int_equal(kg_rejection_params(0, 1.5f, 0, p, &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "kg_rejection_params: top_p is 1.5, but must be above 0 and at most 1 (off)");
}

static void the_kernel_is_asked_where_it_pays(void **state) {
  (void)state;
  const float p[] = {0, 0.9f, 0}, kp[] = {50, 0.9f, 0}, k[] = {50, 1, 0}, m[] = {0, 1, 0.1f};
  assert_true(kg_rejection_pays(p, 128256, "cuda"));
  assert_true(kg_rejection_pays(kp, 32768, "cuda"));
  assert_false(kg_rejection_pays(kp, 32769, "cuda"));
  assert_true(kg_rejection_pays(kp, 152064, "hip"));
  assert_false(kg_rejection_pays(kp, 152065, "hip"));
  assert_true(kg_rejection_pays(kp, 40, "metal")); /* k is not below V: off */
  assert_false(kg_rejection_pays(k, 1000, "hip"));
  assert_false(kg_rejection_pays(m, 1000, "hip"));
}

/* ---- a row, and what its filters keep, from the definition ----------------------------------- */

enum { V = 96 };

typedef struct Row {
  float probs[V], draw[V], params[3];
  double law[V];
} Row;

/* Made-up probabilities, some equal, some zero; the draw's are sharper.  law: what a draw should
** have. */
static Row row_of(float top_k, float top_p, float min_p) {
  Row r = {.params = {top_k, top_p, min_p}};
  double p[V], q[V], sum_p = 0, sum_q = 0, all = 0, mass = 0;
  for (int i = 0; i < V; i++) {
    const double logit = i % 11 == 10 ? -INFINITY : (double)(i * 37 % 53) / 9;
    sum_p += p[i] = exp(logit);
    sum_q += q[i] = exp(logit / 0.8);
  }
  for (int i = 0; i < V; i++) {
    r.probs[i] = (float)(p[i] / sum_p);
    r.draw[i] = (float)(q[i] / sum_q);
    mass += (double)r.probs[i];
  }
  float most = 0;
  for (int i = 0; i < V; i++) most = fmaxf(most, r.probs[i]);
  for (int i = 0; i < V; i++) {
    int above = 0;
    double over = 0;
    for (int j = 0; j < V; j++)
      if (r.probs[j] > r.probs[i]) {
        above++;
        over += (double)r.probs[j];
      }
    const bool keeps = r.probs[i] > 0 && (top_k < 1 || (int)top_k >= V || above < (int)top_k) &&
                       (top_p <= 0 || top_p >= 1 || over <= (double)top_p * mass) &&
                       (min_p <= 0 || min_p >= 1 || r.probs[i] >= min_p * most);
    r.law[i] = keeps ? (double)r.draw[i] : 0;
    all += r.law[i];
  }
  for (int i = 0; i < V; i++) r.law[i] /= all;
  return r;
}

static const float filters[][3] = {{20, 1, 0},    {0, 0.7f, 0},       {0, 1, 0.2f}, {0, 1, 0},
                                   {30, 0.8f, 0}, {40, 0.95f, 0.05f}, {1, 1, 0},    {1.7f, 1, 0}};

static void the_host_s_own_draws_follow_the_law(void **state) {
  (void)state;
  enum { DRAWS = 100000 };
  for (int f = 0; f < COUNT(filters); f++) {
    const Row r = row_of(filters[f][0], filters[f][1], filters[f][2]);
    const kg_rejection_call call = {r.probs, r.draw, r.params, 1, V, {0, 0}, 32};
    uint32_t seen[V] = {0};
    for (int i = 0; i < DRAWS; i++) { /* evenly spread: each outcome comes as often as it should */
      uint32_t id = V;
      assert_int_equal(kg_rejection_draw(&call, 0, (i + 0.5) / (double)DRAWS, &id, NULL), KG_OK);
      assert_true(id < V);
      seen[id]++;
    }
    for (int i = 0; i < V; i++) assert_true(fabs(seen[i] - (double)DRAWS * r.law[i]) < 1.01);
  }
}

static void the_host_s_draw_knows_rows_without_one(void **state) {
  (void)state;
  Row r = row_of(0, 0.9f, 0);
  const kg_rejection_call call = {r.probs, r.draw, r.params, 1, V, {0, 0}, 32};
  uint32_t id = 7;
  memset(r.draw, 0, sizeof r.draw);
  assert_int_equal(kg_rejection_draw(&call, 0, 0.5, &id, NULL), KG_OK);
  for (int i = 0; i < V; i++) assert_true(r.probs[i] < r.probs[id] || i >= (int)id);
  for (int i = 0; i < V; i++) r.probs[i] = i % 2 ? NAN : 0;
  assert_int_equal(kg_rejection_draw(&call, 0, 0.5, &id, NULL), KG_OK);
  assert_int_equal(id, 0);
  assert_int_equal(kg_rejection_draw(&call, 1, 0.5, &id, NULL), KG_BAD_ARGUMENT);
  assert_int_equal(kg_rejection_draw(&call, 0, 1, &id, NULL), KG_BAD_ARGUMENT);
}

static void a_fit_tells_a_wrong_law(void **state) {
  (void)state;
  const double law[] = {0.5, 0.3, 0.2, 0}, near[] = {0.49, 0.31, 0.2, 0};
  const uint32_t right[] = {100000, 60000, 40000, 0}, outside[] = {100000, 60000, 39999, 1};
  assert_true(fits(fit_of(right, law, 4, 200000)));
  assert_false(fits(fit_of(right, near, 4, 200000)));
  assert_false(fits(fit_of(outside, law, 4, 200000)));
  const double half = chi_square_limit(10) / 2; /* ten degrees have the tail in closed form */
  const double terms = 1 + half + pow(half, 2) / 2 + pow(half, 3) / 6 + pow(half, 4) / 24;
  const double tail = exp(-half) * terms;
  assert_true(tail > 5e-7 && tail < 1e-6);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void the_kernel_is_right_in_every_dtype_combination_at_32_and_64_lanes(void **state) {
  (void)state;
  int trials;
  assert_int_equal(cases_wrong(sampler(), NULL, true, &trials), 0);
  assert_int_equal(trials, 9 * sampler()->kernel->case_count * WIDTHS);
}

enum { ROWS = 800 };

typedef struct Draws {
  float probs[ROWS * V], draw[ROWS * V], params[ROWS * 3];
  uint32_t ids[ROWS], ok[ROWS], rounds[ROWS];
} Draws;

/* Row i has filter i % COUNT(filters). */
static void draw_rows(Draws *d, kg_device *device, uint32_t key, uint32_t max_rounds) {
  for (int i = 0; i < ROWS; i++) {
    const float *f = filters[i % COUNT(filters)];
    static Row r[COUNT(filters)];
    if (i < COUNT(filters)) r[i] = row_of(f[0], f[1], f[2]);
    memcpy(d->probs + i * V, r[i % COUNT(filters)].probs, sizeof r->probs);
    memcpy(d->draw + i * V, r[i % COUNT(filters)].draw, sizeof r->draw);
    memcpy(d->params + i * 3, f, sizeof filters[0]);
    d->ids[i] = d->ok[i] = d->rounds[i] = ~0u;
  }
  uint32_t keys[2] = {key, 17};
  const Data data[] = {{KG_F32, 2, {ROWS, V}, d->probs},  {KG_F32, 2, {ROWS, V}, d->draw},
                       {KG_F32, 2, {ROWS, 3}, d->params}, {KG_U32, 1, {2}, keys},
                       {KG_U32, 1, {ROWS}, d->ids},       {KG_U32, 1, {ROWS}, d->ok},
                       {KG_U32, 1, {ROWS}, d->rounds}};
  const kg_scalar scalars[] = {{.u32 = max_rounds}};
  launch_well(sampler(), device, data, scalars, NULL);
}

static void a_draw_is_the_same_at_every_width_and_in_every_text(void **state) {
  (void)state;
  static Draws first, other;
  draw_rows(&first, sampler()->device[0], 1, 32);
  for (int d = 1; d < DEVICES; d++) {
    draw_rows(&other, sampler()->device[d], 1, 32);
    assert_memory_equal(first.ids, other.ids, sizeof first.ids);
    assert_memory_equal(first.rounds, other.rounds, sizeof first.rounds);
  }
  draw_rows(&other, sampler()->device[0], 2, 32);
  assert_memory_not_equal(first.ids, other.ids, sizeof first.ids); /* another key, another draw */
}

static void a_draw_stays_within_what_the_filters_keep_and_is_soon_done(void **state) {
  (void)state;
  static Draws d;
  uint32_t most = 0;
  for (int width = 0; width < WIDTHS; width++) {
    draw_rows(&d, sampler()->device[width], 3 + (uint32_t)width, 32);
    for (int i = 0; i < ROWS; i++) {
      const float *f = filters[i % COUNT(filters)];
      const Row r = row_of(f[0], f[1], f[2]);
      assert_int_equal(d.ok[i], 1);
      assert_true(d.ids[i] < V && r.law[d.ids[i]] > 0);
      assert_true(d.rounds[i] >= 1 && d.rounds[i] <= 31);
      most = d.rounds[i] > most ? d.rounds[i] : most;
    }
  }
  assert_true(most > 1); /* some candidates were rejected */
}

static void a_row_that_is_not_done_has_its_largest_entry_until_the_host_draws(void **state) {
  (void)state;
  static Draws d;
  draw_rows(&d, sampler()->device[0], 5, 1);
  static const uint32_t none[ROWS];
  const kg_rejection_call call = {d.probs, d.draw, d.params, ROWS, V, {5, 17}, 1};
  static uint32_t ids[ROWS];
  size_t open = 0, redrawn = 0, moved = 0;
  for (int i = 0; i < ROWS; i++) {
    ids[i] = d.ids[i];
    assert_int_equal(d.rounds[i], 1);
    if (d.ok[i]) continue;
    open++;
    for (int j = 0; j < V; j++) assert_true(d.probs[i * V + j] <= d.probs[i * V + (int)ids[i]]);
  }
  assert_true(open > 50 && open < ROWS);
  assert_int_equal(kg_rejection_finish(&call, d.ok, ids, &redrawn, NULL), KG_OK);
  assert_int_equal(redrawn, open);
  for (int i = 0; i < ROWS; i++) {
    const float *f = filters[i % COUNT(filters)];
    const Row r = row_of(f[0], f[1], f[2]);
    assert_true(r.law[ids[i]] > 0);
    if (d.ok[i]) assert_int_equal(ids[i], d.ids[i]);
    moved += ids[i] != d.ids[i];
  }
  assert_true(moved > open / 5);
  assert_int_equal(kg_rejection_finish(&call, none, ids, &redrawn, NULL), KG_OK);
  assert_int_equal(redrawn, ROWS);
  assert_int_equal(kg_rejection_finish(&call, NULL, ids, NULL, NULL), KG_BAD_ARGUMENT);
}

static void the_first_round_s_draw_is_the_key_s(void **state) {
  (void)state;
  /* with no filter: entries t, t + 256 ... thread by thread, for V below 256 in their order */
  static Draws d;
  draw_rows(&d, sampler()->device[1], 9, 32);
  for (int i = 3; i < ROWS; i += COUNT(filters)) {
    const uint32_t counter[4] = {0, 0, (uint32_t)i, 0}, key[2] = {9, 17};
    uint32_t words[4];
    kg_philox4x32_10(counter, key, words);
    double all = 0, sum = 0;
    for (int j = 0; j < V; j++) all += (double)d.draw[i * V + j];
    const double target = (double)kg_philox_uniform(words[0]) * all;
    uint32_t id = 0;
    for (; id + 1 < V && (sum += (double)d.draw[i * V + (int)id]) <= target;) id++;
    assert_int_equal(d.rounds[i], 1);
    if (fabs(sum - target) > 1e-5 && fabs(sum - (double)d.draw[i * V + (int)id] - target) > 1e-5)
      assert_int_equal(d.ids[i], id);
  }
}

/* A row's number is a whole word of the counter.  At one width, for the time. */
static void a_row_past_65536_has_a_draw_of_its_own(void **state) {
  (void)state;
  Ready r = *sampler();
  const Case many = {.values = {65544, 40, 0, 0, 1}}; /* B, V, the constants, max_rounds */
  r.devices = 1;
  assert_int_equal(made_wrong(&r, &many, 0, (kg_dtype[MAX_TYPES]){KG_F32, KG_F32}, true), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_words_are_the_published_ones),
      cmocka_unit_test(params_out_of_their_range_are_refused_in_words),
      cmocka_unit_test(the_kernel_is_asked_where_it_pays),
      cmocka_unit_test(the_host_s_own_draws_follow_the_law),
      cmocka_unit_test(the_host_s_draw_knows_rows_without_one),
      cmocka_unit_test(a_fit_tells_a_wrong_law),
      cmocka_unit_test(the_kernel_is_right_in_every_dtype_combination_at_32_and_64_lanes),
      cmocka_unit_test(a_draw_is_the_same_at_every_width_and_in_every_text),
      cmocka_unit_test(a_draw_stays_within_what_the_filters_keep_and_is_soon_done),
      cmocka_unit_test(a_row_that_is_not_done_has_its_largest_entry_until_the_host_draws),
      cmocka_unit_test(the_first_round_s_draw_is_the_key_s),
      cmocka_unit_test(a_row_past_65536_has_a_draw_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

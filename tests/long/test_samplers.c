/* test_samplers.c: both samplers against their laws, with 200,000 draws or more for each.
**
** A launch has many rows of the same probabilities; row and key are counters of the random words,
** so each row is a draw of its own.  Keys are fixed.  A law is judged by chi-square at 1e-6
** (statistics.h), and by its support: no draw outside of it, and every outcome that should have
** come has come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/gumbel_max_sample/host.h"
#include "kernels/rejection_sample/host.h"
#include "lib/host/philox.h"
#include "kernel_fixture.h"
#include "statistics.h"

enum { ROWS = 10000, MOST_V = 4096 };

/* Both, opened on first use and kept to the end. */
static const Ready *sampler(int which) {
  static Ready r[2];
  static const char *const names[2] = {"gumbel_max_sample", "rejection_sample"};
  if (!r[which].kernel) r[which] = ready("", names[which], WIDTHS);
  return &r[which];
}

static void judge_draws(const char *what, const uint32_t *seen, const double *law, int count,
                        int draws) {
  const Fit f = fit_of(seen, law, (size_t)count, draws);
  int missing = 0;
  for (int i = 0; i < count; i++) missing += seen[i] == 0 && draws * law[i] > 25; /* e^-25 */
  print_message("%-28s %7d draws, V %4d: chi-square %8.1f of %8.1f, %4d degrees\n", what, draws,
                count, f.statistic, f.limit, f.freedom);
  if (!fits(f)) fail_msg("%s: the draws do not fit%s", what, f.left ? ", some are outside" : "");
  if (missing) fail_msg("%s: %d outcomes never came", what, missing);
}

/* ---- gumbel_max_sample ----------------------------------------------------------------------- */

typedef struct Logits {
  int V;
  float at[MOST_V];
} Logits;

static Logits *logits_of(const char *shape, int V) {
  static Logits l;
  l.V = V;
  for (int i = 0; i < V; i++) {
    const float wave = (float)(i * 37 % 101) / 25;
    l.at[i] = wave;
    if (strcmp(shape, "flat") == 0) l.at[i] = 1;
    if (strcmp(shape, "peaked") == 0) l.at[i] = i == V / 3 ? 7 : wave / 4;
    if (strcmp(shape, "bimodal") == 0) l.at[i] = i % 2 ? 3 : 0;
    if (strcmp(shape, "masked") == 0 && i % 5 != 2) l.at[i] = -INFINITY;
  }
  return &l;
}

static uint32_t tokens[ROWS]; /* of the last launch */

/* Adds `launches` times ROWS draws to seen; returns how many that are.  Launch n has {key, n}. */
static int draw_gumbel(const Logits *l, kg_dtype T, float temp, uint32_t key, int launches,
                       int device, uint32_t *seen) {
  const Ready *r = sampler(0);
  const int64_t V = l->V;
  const int64_t S = (int64_t)kg_gumbel_splits((uint64_t)V, 1);
  char *logits = malloc((size_t)(ROWS * V) * kg_dtype_bytes(T));
  float *vals = malloc((size_t)(ROWS * S) * sizeof *vals);
  uint32_t *idxs = malloc((size_t)(ROWS * S) * sizeof *idxs);
  assert_true(logits && vals && idxs);
  for (int64_t i = 0; i < ROWS * V; i++)
    element_put_bits(T, logits, i, element_bits_of_real(T, (double)l->at[i % V]));
  for (int n = 0; n < launches; n++) {
    uint32_t keys[2] = {key, (uint32_t)n};
    const Data data[] = {{T, 2, {ROWS, V}, logits},
                         {KG_U32, 1, {2}, keys},
                         {KG_F32, 2, {ROWS, S}, vals},
                         {KG_U32, 2, {ROWS, S}, idxs}};
    const kg_scalar scalars[] = {{.f32 = temp}};
    launch_well(r, r->device[device], data, scalars, NULL);
    kg_error error;
    if (kg_gumbel_pick(vals, idxs, ROWS, (size_t)S, tokens, &error) != KG_OK)
      fail_msg("%s", error.message);
    for (int i = 0; i < ROWS; i++) {
      assert_true(tokens[i] < V);
      seen[tokens[i]]++;
    }
  }
  free(logits);
  free(vals);
  free(idxs);
  return launches * ROWS;
}

static void softmax(const Logits *l, kg_dtype T, double temp, double *law) {
  double sum = 0;
  for (int i = 0; i < l->V; i++)
    sum += law[i] = exp(element_real(T, element_bits_of_real(T, (double)l->at[i])) / temp);
  for (int i = 0; i < l->V; i++) law[i] /= sum;
}

static void gumbel_draws_follow_the_softmax(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    int V, launches;
    float temp;
    kg_dtype T;
  } laws[] = {{"wavy", 512, 10, 1, KG_F32},    {"wavy", 512, 10, 0.5f, KG_BF16},
              {"flat", 256, 20, 1, KG_F16},    {"peaked", 1000, 6, 1.5f, KG_F32},
              {"bimodal", 1300, 4, 1, KG_F32}, {"masked", 512, 10, 1, KG_F32},
              {"wavy", 4096, 2, 1, KG_F32}};
  static uint32_t seen[MOST_V];
  static double law[MOST_V];
  int all = 0;
  for (int i = 0; i < COUNT(laws); i++) {
    const Logits *l = logits_of(laws[i].shape, laws[i].V);
    memset(seen, 0, sizeof seen);
    int draws = 0;
    for (int d = 0; d < WIDTHS; d++)
      draws += draw_gumbel(l, laws[i].T, laws[i].temp, 100 + (uint32_t)(2 * i + d),
                           laws[i].launches, d, seen);
    softmax(l, laws[i].T, (double)laws[i].temp, law);
    judge_draws(laws[i].shape, seen, law, l->V, draws);
    all += draws;
  }
  assert_true(all >= 200000);
}

/* Gumbel noise of an entry, in doubles. */
static double noise(const uint32_t key[2], uint32_t row, uint32_t i) {
  const uint32_t counter[4] = {i / 4, 0, row, 0};
  uint32_t words[4];
  kg_philox4x32_10(counter, key, words);
  return -log(-log((double)kg_philox_uniform(words[i % 4])));
}

static void gumbel_draws_are_those_that_the_host_makes_of_the_key(void **state) {
  (void)state;
  static const struct {
    uint32_t key[2], i, row;
    double noise;
  } known[] = {{{0, 0}, 0, 0, 0.084820},
               {{0, 0}, 5, 0, -0.015735},
               {{0, 0}, 1023, 3, 0.090278},
               {{1, 2}, 0, 0, -1.341014},
               {{1, 2}, 1023, 3, 0.479972},
               {{0x12345678, 0x9abcdef0}, 0, 0, -1.534452},
               {{0x12345678, 0x9abcdef0}, 1023, 3, -0.756208}};
  for (int i = 0; i < COUNT(known); i++)
    assert_true(fabs(noise(known[i].key, known[i].row, known[i].i) - known[i].noise) < 1e-6);

  static uint32_t seen[MOST_V];
  const Logits *l = logits_of("wavy", 300);
  draw_gumbel(l, KG_F32, 1, 700, 1, 0, seen);
  const uint32_t key[2] = {700, 0};
  int compared = 0;
  for (uint32_t row = 0; row < ROWS; row++) {
    double best = -INFINITY, second = -INFINITY;
    uint32_t winner = 0;
    for (uint32_t i = 0; i < 300; i++) {
      const double candidate = (double)l->at[i] + noise(key, row, i);
      if (candidate > best) {
        second = best;
        best = candidate;
        winner = i;
      } else if (candidate > second) {
        second = candidate;
      }
    }
    if (best - second < 1e-4) continue; /* a device's logarithm may have an ulp more or less */
    compared++;
    assert_int_equal(tokens[row], winner);
  }
  assert_true(compared > ROWS - 20);
}

static void a_gap_of_a_hundred_is_never_crossed(void **state) {
  (void)state;
  static Logits l = {.V = 256};
  static uint32_t seen[MOST_V];
  l.at[77] = 100;
  const int draws = draw_gumbel(&l, KG_F32, 1, 300, 2, 0, seen);
  assert_int_equal(seen[77], draws);
}

/* ---- rejection_sample ------------------------------------------------------------------------ */

enum { V = 192 };

typedef struct Filter {
  const char *name;
  float top_k, top_p, min_p;
  double temperature;
} Filter;

static const Filter filters[] = {{"top-k 40", 40, 1, 0, 1},
                                 {"top-p 0.9", 0, 0.9f, 0, 1},
                                 {"min-p 0.1, T 1.3", 0, 1, 0.1f, 1.3},
                                 {"no filter", 0, 1, 0, 0.8},
                                 {"k 60, p 0.8, m 0.02, T 0.7", 60, 0.8f, 0.02f, 0.7}};

static void probabilities(float *probs, float *draw, double temperature) {
  double p[V], q[V], sum_p = 0, sum_q = 0;
  for (int i = 0; i < V; i++) {
    const double logit = i % 13 == 12 ? -INFINITY : 5.0 * (i * 77 % 61) / 61; /* some are equal */
    sum_p += p[i] = exp(logit);
    sum_q += q[i] = exp(logit / temperature);
  }
  for (int i = 0; i < V; i++) {
    probs[i] = (float)(p[i] / sum_p);
    draw[i] = (float)(q[i] / sum_q);
  }
}

/* What the definition of the filters leaves of draw, as a law. */
static void filtered(const Filter *f, const float *probs, const float *draw, double *law) {
  double mass = 0, all = 0, largest = 0;
  for (int i = 0; i < V; i++) {
    mass += (double)probs[i];
    largest = fmax(largest, (double)probs[i]);
  }
  for (int i = 0; i < V; i++) {
    double above = 0, over = 0;
    for (int j = 0; j < V; j++)
      if (probs[j] > probs[i]) {
        above++;
        over += (double)probs[j];
      }
    const bool keeps = probs[i] > 0 && (f->top_k == 0 || above < (double)f->top_k) &&
                       (f->top_p == 1 || over <= (double)f->top_p * mass) &&
                       (double)probs[i] >= (double)f->min_p * largest;
    law[i] = keeps ? (double)draw[i] : 0;
    all += law[i];
  }
  for (int i = 0; i < V; i++) law[i] /= all;
}

static uint32_t ids[ROWS]; /* of the last launch */

/* `launches` times ROWS draws, by turns at each width.  Launch n has {key, n}. */
static int draw_rejection(const Filter *f, const float *probs, const float *draw, uint32_t key,
                          int launches, uint32_t *seen) {
  const Ready *r = sampler(1);
  float *p = malloc(sizeof(float) * ROWS * V), *q = malloc(sizeof(float) * ROWS * V);
  static float params[ROWS * 3];
  static uint32_t ok[ROWS], rounds[ROWS];
  assert_true(p && q);
  for (int i = 0; i < ROWS; i++) {
    memcpy(p + i * V, probs, sizeof(float) * V);
    memcpy(q + i * V, draw, sizeof(float) * V);
    assert_int_equal(
        kg_rejection_params((uint32_t)f->top_k, f->top_p, f->min_p, params + 3 * i, NULL), KG_OK);
  }
  for (int n = 0; n < launches; n++) {
    uint32_t keys[2] = {key, (uint32_t)n};
    const Data data[] = {{KG_F32, 2, {ROWS, V}, p},      {KG_F32, 2, {ROWS, V}, q},
                         {KG_F32, 2, {ROWS, 3}, params}, {KG_U32, 1, {2}, keys},
                         {KG_U32, 1, {ROWS}, ids},       {KG_U32, 1, {ROWS}, ok},
                         {KG_U32, 1, {ROWS}, rounds}};
    const kg_scalar scalars[] = {{.u32 = KG_REJECTION_ROUNDS}};
    launch_well(r, r->device[n % WIDTHS], data, scalars, NULL);
    for (int i = 0; i < ROWS; i++) {
      assert_true(ok[i] == 1 && ids[i] < V);
      seen[ids[i]]++;
    }
  }
  free(p);
  free(q);
  return launches * ROWS;
}

static void rejection_draws_follow_what_the_filters_keep(void **state) {
  (void)state;
  static float probs[V], draw[V];
  static double law[V], unfiltered[V];
  for (int i = 0; i < COUNT(filters); i++) {
    uint32_t seen[V] = {0};
    probabilities(probs, draw, filters[i].temperature);
    filtered(&filters[i], probs, draw, law);
    const int draws = draw_rejection(&filters[i], probs, draw, 500 + (uint32_t)i, 20, seen);
    judge_draws(filters[i].name, seen, law, V, draws);
    filtered(&(Filter){.top_p = 1}, probs, draw, unfiltered); /* another law is told apart */
    if (i != 3) assert_false(fits(fit_of(seen, unfiltered, V, draws)));
  }
}

static void min_p_draws_are_those_that_the_host_makes_of_the_key(void **state) {
  (void)state;
  static float probs[V], draw[V];
  static double law[V];
  uint32_t seen[V] = {0};
  const Filter f = {"min-p", 0, 1, 0.1f, 1.3}; /* alone it takes one round */
  probabilities(probs, draw, f.temperature);
  filtered(&f, probs, draw, law);
  draw_rejection(&f, probs, draw, 900, 1, seen);
  int compared = 0;
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t counter[4] = {0, 0, row, 0}, key[2] = {900, 0};
    uint32_t words[4], id = 0;
    kg_philox4x32_10(counter, key, words);
    const double u = (double)kg_philox_uniform(words[0]);
    double upto = law[0];
    while (upto <= u && id + 1 < V) upto += law[++id]; /* V < 256: each thread has one at most */
    if (upto - u < 1e-5 || u - (upto - law[id]) < 1e-5) continue;
    compared++;
    assert_int_equal(ids[row], id);
  }
  assert_true(compared > ROWS - 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gumbel_draws_follow_the_softmax),
      cmocka_unit_test(gumbel_draws_are_those_that_the_host_makes_of_the_key),
      cmocka_unit_test(a_gap_of_a_hundred_is_never_crossed),
      cmocka_unit_test(min_p_draws_are_those_that_the_host_makes_of_the_key),
      cmocka_unit_test(rejection_draws_follow_what_the_filters_keep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* rejection_sample: a draw from probs_draw restricted to what the filters keep of probs.
**
** top_k (1 <= k < V, cut to a whole number) keeps an entry with fewer than k others above it, top_p
** (0 < p < 1) one with no more than p of the row's mass above it, min_p (0 < m < 1) one of at least m
** times the largest; above means strictly.  Round r = 0, 1 ...: of the entries above `low` (at first 0, or the value
** just below m times the largest), counted t, t + THREADS ... for t = 0, 1 ..., the candidate is
** the first whose running weight exceeds u times all of it, u from Philox at counter {r, 0, row,
** 0}, word 0.  If k and p keep it, it is the draw.  Else they are asked about the middle, by bit
** pattern, between it and `high` (at first the largest); if they reject that too, `low` is the
** middle, else `low` is the candidate and `high` the middle.  After max_rounds: the largest entry,
** not ok.  A row with nothing above 0: entry 0, ok, no round.
**
** Where a sum comes within rounding of what it is compared with, either way is right: judge() takes
** a result when some such choices lead to it. */
#include "lib/ref/philox.h"
#include "reference.h"

typedef struct Row {
  int64_t V, threads, rounds, row, top; /* top: the largest entry */
  const double *probs, *law;
  double k, most; /* k = 0, most < 0: off */
  double slack;   /* the relative error that a sum in f32 may have */
  uint32_t key[2];
} Row;

static float value_of(uint32_t pattern) {
  float x;
  memcpy(&x, &pattern, sizeof x);
  return x;
}
static uint32_t pattern_of(double value) {
  const float x = (float)value;
  uint32_t pattern;
  memcpy(&pattern, &x, sizeof pattern);
  return pattern;
}

static double middle(double a, double b) {
  return value_of((uint32_t)(((uint64_t)pattern_of(a) + pattern_of(b)) / 2));
}

static Row row_of(const ref_call *c, int64_t row) {
  const int64_t *key = ref_find(c, "rng_key")->whole;
  const double *params = ref_find(c, "params")->real + 3 * row;
  Row r = {.V = ref_int(c, "V"),
           .threads = ref_int(c, "THREADS"),
           .row = row,
           .rounds = ref_int(c, "max_rounds"),
           .key = {(uint32_t)key[0], (uint32_t)key[1]}};
  r.probs = ref_find(c, "probs")->real + row * r.V;
  r.law = ref_find(c, "probs_draw")->real + row * r.V;
  r.slack = ((double)(r.V / r.threads) + 24) * 0x1p-23;
  double mass = 0;
  for (int64_t i = 0; i < r.V; i++) {
    if (r.probs[i] > 0) mass += r.probs[i];
    if (r.probs[i] > r.probs[r.top] || !(r.probs[r.top] > 0)) r.top = r.probs[i] > 0 ? i : r.top;
  }
  r.k = params[0] >= 1 && params[0] < (double)r.V ? floor(params[0]) : 0;
  r.most = params[1] > 0 && params[1] < 1 ? params[1] * mass : -1;
  return r;
}

static double first_low(const ref_call *c, const Row *r) {
  const double min_p = ref_find(c, "params")->real[3 * r->row + 2];
  const double least = (float)(min_p * r->probs[r->top]);
  return min_p > 0 && min_p < 1 && least > 0 ? value_of(pattern_of(least) - 1) : 0;
}

static double weight(const Row *r, int64_t i, double low) {
  return r->probs[i] > low && r->law[i] > 0 ? r->law[i] : 0;
}

/* 1: the filters reject the value; 0: they keep it; -1: too close to tell. */
static int rejects(const Row *r, double value) {
  double count = 0, mass = 0;
  for (int64_t i = 0; i < r->V; i++)
    if (r->probs[i] > value) {
      count++;
      mass += r->probs[i];
    }
  if (r->k > 0 && count >= r->k) return 1;
  if (r->most < 0) return 0;
  if (fabs(mass - r->most) <= r->slack * (mass + r->most)) return -1;
  return mass > r->most;
}

static double target_of(const Row *r, double low, int64_t round) {
  uint32_t counter[4] = {(uint32_t)round, 0, (uint32_t)r->row, 0};
  double all = 0;
  philox4x32_10(counter, r->key[0], r->key[1]);
  for (int64_t i = 0; i < r->V; i++) all += weight(r, i, low);
  return philox_uniform(counter[0]) * all;
}

static int64_t candidate(const Row *r, double low, int64_t round) {
  const double target = target_of(r, low, round);
  double sum = 0;
  for (int64_t t = 0; t < r->threads; t++)
    for (int64_t i = t; i < r->V; i += r->threads) {
      sum += weight(r, i, low);
      if (sum > target && r->probs[i] > low) return i;
    }
  return r->top;
}

typedef struct End {
  int64_t id, ok, rounds;
} End;

static End draw(const Row *r, double low) {
  double high = r->probs[r->top];
  if (!(high > 0)) return (End){0, 1, 0};
  for (int64_t round = 0; round < r->rounds; round++) {
    const int64_t i = candidate(r, low, round);
    const double pivot = r->probs[i], between = middle(pivot, pivot > high ? pivot : high);
    if (rejects(r, pivot) != 1) return (End){i, 1, round + 1};
    if (rejects(r, between) == 1) {
      low = between;
    } else {
      low = pivot;
      high = between;
    }
  }
  return (End){r->top, 0, r->rounds};
}

void reference(ref_call *c) {
  for (int64_t row = 0; row < ref_int(c, "B"); row++) {
    const Row r = row_of(c, row);
    const End end = draw(&r, first_low(c, &r));
    ref_find(c, "ids")->whole[row] = end.id;
    ref_find(c, "ok")->whole[row] = end.ok;
    ref_find(c, "rounds")->whole[row] = end.rounds;
  }
}

/* ---- the judge ------------------------------------------------------------------------------- */

static bool same_end(End a, End b) { return a.id == b.id && a.ok == b.ok && a.rounds == b.rounds; }

static bool leads_to(const Row *r, double low, double high, int64_t round, End end);

static bool candidate_leads_to(const Row *r, int64_t i, double low, double high, int64_t round,
                               End end) {
  const double pivot = r->probs[i], between = middle(pivot, pivot > high ? pivot : high);
  const int first = rejects(r, pivot), second = rejects(r, between);
  if (first != 1 && same_end(end, (End){i, 1, round + 1})) return true;
  if (first == 0) return false;
  return (second != 0 && leads_to(r, between, high, round + 1, end)) ||
         (second != 1 && leads_to(r, pivot, between, round + 1, end));
}

/* Some choices among what rounding leaves open make `end` of this state. */
static bool leads_to(const Row *r, double low, double high, int64_t round, End end) {
  if (round == r->rounds) return same_end(end, (End){r->top, 0, round});
  const double target = target_of(r, low, round);
  double sum = 0, all = 0;
  for (int64_t i = 0; i < r->V; i++) all += weight(r, i, low);
  const double margin = r->slack * all;
  bool hole = all == 0; /* between two threads' entries, or there are none */
  for (int64_t t = 0; t < r->threads; t++) {
    for (int64_t i = t; i < r->V; i += r->threads) {
      const double before = sum;
      sum += weight(r, i, low);
      if (weight(r, i, low) > 0 && before - margin <= target && target <= sum + margin &&
          candidate_leads_to(r, i, low, high, round, end))
        return true;
    }
    hole = hole || fabs(sum - target) <= margin;
  }
  return hole && candidate_leads_to(r, r->top, low, high, round, end);
}

const char *judge(const ref_call *want, const ref_call *got) {
  static _Thread_local char said[256];
  for (int64_t row = 0; row < ref_int(want, "B"); row++) {
    const Row r = row_of(want, row);
    const End expected = {ref_find(want, "ids")->whole[row], ref_find(want, "ok")->whole[row],
                          ref_find(want, "rounds")->whole[row]};
    const End end = {ref_find(got, "ids")->whole[row], ref_find(got, "ok")->whole[row],
                     ref_find(got, "rounds")->whole[row]};
    if (same_end(end, expected)) continue;
    if (expected.rounds > 0 && leads_to(&r, first_low(want, &r), r.probs[r.top], 0, end)) continue;
    snprintf(said, sizeof said,
             "row %lld: id %lld, ok %lld after %lld rounds, expected %lld, %lld after %lld",
             (long long)row, (long long)end.id, (long long)end.ok, (long long)end.rounds,
             (long long)expected.id, (long long)expected.ok, (long long)expected.rounds);
    return said;
  }
  return NULL;
}

/* ---- made-up rows ---------------------------------------------------------------------------- */

static void softmax(const double *logits, double temperature, int64_t V, double *probs) {
  double top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < V; i++) top = fmax(top, logits[i]);
  for (int64_t i = 0; i < V; i++) sum += exp((logits[i] - top) / temperature);
  for (int64_t i = 0; i < V; i++) probs[i] = exp((logits[i] - top) / temperature) / sum;
}

static void fill_params(const char *how, double *params, int64_t row, double V) {
  static const double top_p[] = {0.5, 0.9, 0.1, 0.999, 1e-6, 0.97};
  static const double min_p[] = {0.1, 0.02, 0.5, 0.999};
  static const double all[][3] = {{40, 0.9, 0.05}, {5, 0.99, 0},  {0, 0.8, 0.2},
                                  {2, 1, 0.9},     {1, 0.5, 0.5}, {30, 0.95, 0.001}};
  static const double steep[][3] = {
      {0, 0.9999, 0}, {60, 0, 0}, {0, 0, 1e-5}, {0, 0, 1e-30}, {90, 0.999999, 1e-25}};
  static const double binary[][3] = {{0, 1, 0.25}, {0, 1, 0.5}, {0, 0.8, 0.125}, {0, 0.4, 0}};
  static const double hot[][3] = {
      {0, 0.9, 0}, {7, 1, 0}, {0, 0.5, 0.001}, {12, 0.99, 0}, {3, 1, 1e-6}};
  const double top_k[] = {40, 1, 1.7, V - 1};
  const double off[][3] = {
      {0, 0, 0}, {V, 1, 1}, {-3, -0.5, -1}, {NAN, NAN, NAN}, {V + 7, 1.5, INFINITY}};
  const double mixed[][3] = {{50, 0, 0}, {0, 0.9, 0}, {0, 0, 0.05}, {0, 1, 0}};
  double set[3] = {mixed[row % 4][0], mixed[row % 4][1], mixed[row % 4][2]};
  if (strcmp(how, "top_k") == 0) memcpy(set, (double[3]){top_k[row % 4], 1, 0}, sizeof set);
  if (strcmp(how, "top_p") == 0) memcpy(set, (double[3]){0, top_p[row % 6], 0}, sizeof set);
  if (strcmp(how, "min_p") == 0) memcpy(set, (double[3]){0, 1, min_p[row % 4]}, sizeof set);
  if (strcmp(how, "all") == 0) memcpy(set, all[row % 6], sizeof set);
  if (strcmp(how, "off") == 0) memcpy(set, off[row % 5], sizeof set);
  if (strcmp(how, "binary") == 0) memcpy(set, binary[row % 4], sizeof set);
  if (strcmp(how, "steep") == 0) memcpy(set, steep[row % 5], sizeof set);
  if (strcmp(how, "hot") == 0) memcpy(set, hot[row % 5], sizeof set);
  if (strcmp(how, "special") == 0) memcpy(set, (double[3]){20, 0.95, 0.001}, sizeof set);
  if (strcmp(how, "apart") == 0)
    memcpy(set, (double[3]){V / 12 + (double)(row % 16), 1, 0}, sizeof set);
  memcpy(params, set, sizeof set);
}

/* "special": a row of zeros, one of NaN, one with a NaN in three, one entry alone, nothing to draw
** from, nine in ten entries masked. */
static void make_special(double *probs, double *law, int64_t row, int64_t V) {
  for (int64_t i = 0; i < V; i++) {
    if (row == 0) probs[i] = law[i] = 0;
    if (row == 1 || (row == 2 && i % 3 == 0)) probs[i] = law[i] = NAN;
    if (row == 3) probs[i] = law[i] = i == V - 2;
    if (row == 4) law[i] = 0;
    if (row == 5 && i % 10 != 7) probs[i] = law[i] = 0;
  }
}

/* The name of a filter: rows with it in several strengths.  "all": rows with several.  "off": with
** parameters out of range.  "flat": all entries equal.  "ties": eight values.  "binary": powers
** of two, some of them just at min_p times the largest.  "steep": entries from 1 down to the
** smallest.  "hot": as steep, but drawn as if all were much alike, which takes many rounds.
** "apart": alike but for a few far above the others, and drawn as if those were too.  "zeros": two
** entries in three at zero, though the law to draw from is not. */
void fill(ref_call *c, const char *how, uint64_t seed) {
  const ref_tensor *probs = ref_find(c, "probs"), *law = ref_find(c, "probs_draw");
  const ref_tensor *key = ref_find(c, "rng_key");
  const int64_t V = ref_int(c, "V");
  const bool hot = strcmp(how, "hot") == 0 || strcmp(how, "apart") == 0;
  double *logits = malloc((size_t)V * sizeof *logits);
  key->whole[0] = (int64_t)(uint32_t)(seed * 0x9E3779B97F4A7C15u >> 32);
  key->whole[1] = (int64_t)(uint32_t)(seed * 0xBF58476D1CE4E5B9u >> 29);
  for (int64_t row = 0; row < ref_int(c, "B"); row++) {
    double *p = probs->real + row * V, *q = law->real + row * V;
    for (int64_t i = 0; i < V; i++) {
      logits[i] = 2 * p[i]; /* made up */
      if (strcmp(how, "flat") == 0) logits[i] = 0;
      if (strcmp(how, "ties") == 0) logits[i] = (double)(i * 5 % 8);
      if (strcmp(how, "apart") == 0)
        logits[i] = i % 50 ? -8 - 2.0 * (double)(i * 7 % V) / (double)V : 0;
      if (strcmp(how, "steep") == 0 || strcmp(how, "hot") == 0)
        logits[i] = -85.0 * (double)(i * 7 % V) / (double)V;
    }
    softmax(logits, 1, V, p);
    softmax(logits, hot ? 40 : row % 3 == 0 ? 1 : 0.7, V, q);
    for (int64_t i = 0; i < V; i++) {
      p[i] = ref_round(probs->dtype, p[i]);
      q[i] = ref_round(law->dtype, q[i]);
    }
    for (int64_t i = 0; strcmp(how, "zeros") == 0 && i < V; i++)
      if ((i + row) % 3 != 1) p[i] = 0;
    for (int64_t i = 0; strcmp(how, "binary") == 0 && i < V; i++)
      p[i] = q[i] = ldexp(1, -(int)(i * 7 % 10) - 4);
    if (strcmp(how, "special") == 0) make_special(p, q, row, V);
    fill_params(how, ref_find(c, "params")->real + 3 * row, row, (double)V);
  }
  free(logits);
}

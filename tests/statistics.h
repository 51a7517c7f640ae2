/* statistics.h: whether counts of draws fit a law, for the tests of the samplers. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The upper normal quantile of 1e-6. */
#define ONE_IN_A_MILLION 4.7534

/* The value that chi-square with `freedom` degrees exceeds with probability 1e-6 (Wilson and
** Hilferty, 1931). */
static inline double chi_square_limit(double freedom) {
  const double a = 2 / (9 * freedom);
  return freedom * pow(1 - a + ONE_IN_A_MILLION * sqrt(a), 3);
}

typedef struct Fit {
  double statistic, limit;
  int freedom;
  bool left;
} Fit;

/* observed: how often each of `count` outcomes came in `draws` draws; law: their probabilities,
** which sum to 1.  Neighbouring outcomes are pooled until at least 10 are expected.  left: an
** outcome without probability came. */
static inline Fit fit_of(const uint32_t *observed, const double *law, size_t count, double draws) {
  Fit f = {.freedom = -1};
  double expected = 0, seen = 0, last_expected = 0, last_seen = 0;
  for (size_t i = 0; i < count; i++) {
    f.left = f.left || (law[i] <= 0 && observed[i] > 0);
    expected += draws * law[i];
    seen += observed[i];
    if (expected < 10) continue;
    if (f.freedom >= 0)
      f.statistic += (last_seen - last_expected) * (last_seen - last_expected) / last_expected;
    f.freedom++;
    last_expected = expected;
    last_seen = seen;
    expected = seen = 0;
  }
  last_expected += expected; /* what is left over goes to the last pool */
  last_seen += seen;
  if (last_expected > 0)
    f.statistic += (last_seen - last_expected) * (last_seen - last_expected) / last_expected;
  f.limit = f.freedom > 0 ? chi_square_limit(f.freedom) : 0;
  return f;
}

/* Whether it fits.  A law with a single outcome has nothing to fit, only to stay within. */
static inline bool fits(Fit f) { return !f.left && (f.freedom <= 0 || f.statistic <= f.limit); }

#endif

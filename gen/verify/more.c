/* more.c: `kgen verify --more N`: cases that no author chose.  Each is one of the
** specification's with some dims changed, within their ranges, the kernel's requirements and a
** bounded size, with data of another seed and one choice of dtypes.  See verify.h. */
#include <string.h>

#include "verify/data.h"
#include "verify/verify.h"

enum {
  TRIES = 40,         /* draws for one case, until the requirements hold */
  ELEMENTS = 1 << 18, /* in all tensors, or... */
  TIMES = 4           /* ...so many times what the case it is made of has */
};

typedef struct Dice {
  uint64_t key, count;
} Dice;

static uint64_t draw(Dice *d, uint64_t below) { return trial_hash(d->key ^ d->count++) % below; }

/* Mostly near: small, next to it, twice, half; else anything up to twice. */
static int64_t other_value(Dice *d, int64_t n) {
  const int64_t wide = n > 1 ? 2 * n : 2;
  switch (draw(d, 8)) {
  case 0:
  case 1: return 1 + (int64_t)draw(d, 9);
  case 2: return n + 1;
  case 3: return n > 0 ? n - 1 : 0;
  case 4: return wide;
  case 5: return n / 2;
  default: return 1 + (int64_t)draw(d, (uint64_t)wide);
  }
}

static void values_of(const Kernel *k, const Case *c, int64_t *values) {
  static const kg_dtype none[MAX_TYPES];
  const kg_instance x = case_instance(k, c, none);
  case_values(&x, c, values);
}

static bool make(const Kernel *k, const Case *from, Dice *dice, Case *made) {
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  values_of(k, from, values);
  const int64_t before = case_elements(k, values),
                most = before > ELEMENTS / TIMES ? TIMES * before : ELEMENTS;
  for (int i = 0; i < TRIES && k->dim_count > 0; i++) {
    *made = *from;
    for (uint64_t n = 1 + draw(dice, 3); n > 0; n--) {
      int64_t *value = &made->values[draw(dice, (uint64_t)k->dim_count)];
      *value = other_value(dice, *value);
    }
    values_of(k, made, values);
    const int64_t now = case_elements(k, values);
    if (now < 0 || now > most || memcmp(made->values, from->values, sizeof made->values) == 0)
      continue;
    if (requirements_hold(k, values, true)) return true;
  }
  return false;
}

void verify_more_cases(Verify *v) {
  for (int i = 0; i < v->library->spec->kernel_count; i++) {
    Kernel *k = v->library->spec->kernels[i];
    Dice dice = {.key = trial_hash(v->seed)};
    for (const char *s = k->name; *s; s++) dice.key = trial_hash(dice.key ^ (uint64_t)*s);
    const int own = k->case_count;
    Case *all = arena_alloc(v->arena, (size_t)own * (size_t)(v->more + 1) * sizeof *all + 1);
    memcpy(all, k->cases, (size_t)own * sizeof *all);
    for (int c = 0; c < own; c++)
      for (int n = 0; n < v->more; n++) {
        Case *made = &all[k->case_count];
        if (!make(k, &all[c], &dice, made)) continue;
        made->made_of = c + 1;
        made->seed = 1 + draw(&dice, 1000000);
        k->case_count++;
      }
    k->cases = all;
  }
}

/* probe.c: see probe.h. */
#include "verify/probe.h"

#include <string.h>

#include "verify/data.h"
#include "verify/element.h"

enum {
  FEW_ELEMENTS = 1 << 13,  /* of all tensors: where values are tried */
  SOME_ELEMENTS = 1 << 17, /* where a dim is tried */
  MANY_ELEMENTS = 1 << 21, /* where a large one is */
  SOME_LANES = 1 << 18,
  END_LANES = 1 << 24,
  MANY_LANES = 1 << 26,
  LARGE = 70001,       /* above 65535, and odd */
  MOST_GROUPS = 65535, /* on the axes y and z, of CUDA and HIP */
  MOST_EACH = 400,     /* cases of an instance */
  MOST_ALL = 600,      /* of all of a kernel's instances together */
  LEAST_EACH = 24,
  PAIRS = 60,
  MIXTURES = 16,
  SCALAR_VALUES = 16 + 3 * MAX_DIMS,
  SEARCHED = 260 /* values above a wanted one that are tried for the requirements' sake */
};

/* The classes of values that the reference can compute with. */
typedef struct Usable {
  int count, room;
  InputData *list;
} Usable;

typedef struct Planner {
  Arena *a;
  const ProbeSubject *s;
  const Kernel *k;
  ProbePlan all;
  int64_t threads;
  Case small;           /* dims small and all different */
  Case large[MAX_DIMS]; /* one dim of tens of thousands */
  int large_count;
  Usable usable[MAX_ARGS]; /* by input */
  uint64_t dice;
} Planner;

static uint64_t draw(Planner *p, uint64_t below) { return trial_hash(p->dice++) % below; }

/* ---- what a case takes ------------------------------------------------------------------------ */

/* -1: one has no value, or it is absurd. */
static int64_t product_of(const kg_expr *factors, int count, const int64_t *values) {
  int64_t all = 1;
  for (int i = 0; i < count; i++) {
    int64_t n = 1;
    if (factors[i].count > 0 && (!expr_eval(&factors[i], values, &n) || n < 0)) return -1;
    if (n > 0 && all > INT32_MAX / n) return -1;
    all *= n;
  }
  return all;
}

static int64_t product(const kg_expr *three, const int64_t *values) {
  return product_of(three, 3, values);
}

int64_t probe_threads(const Kernel *k, const kg_instance *instance) {
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  if (k->case_count == 0) return 0;
  case_values(instance, &k->cases[0], values);
  const int64_t threads = product(k->threads, values);
  return threads > 0 ? threads : 0;
}

static bool admitted(const Planner *p, const Case *c, int64_t most_elements, int64_t most_lanes) {
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  case_values(p->s->instance, c, values);
  const int64_t n = case_elements(p->k, values), groups = product(p->k->groups, values);
  if (n < 0 || n > most_elements || groups < 0 || groups > most_lanes / p->threads) return false;
  for (int axis = 1; axis < 3; axis++) /* a launch refuses more, and says so */
    if (product_of(p->k->groups + axis, 1, values) > MOST_GROUPS) return false;
  return requirements_hold(p->k, values, p->all.scalars_stay);
}

static bool same_case(const Kernel *k, const Case *x, const Case *y) {
  return memcmp(x->values, y->values, sizeof x->values) == 0 &&
         memcmp(x->reals, y->reals, sizeof x->reals) == 0 && strcmp(x->fill, y->fill) == 0 &&
         memcmp(x->data, y->data, (size_t)k->input_count * sizeof *x->data) == 0;
}

static void add(Planner *p, const Case *c) {
  for (int i = 0; i < p->all.count; i++)
    if (same_case(p->k, &p->all.cases[i], c)) return;
  GROW(p->a, p->all.cases, p->all.count, p->all.room);
  p->all.cases[p->all.count] = *c;
  p->all.cases[p->all.count++].seed = 1 + draw(p, 1000000);
}

/* ---- shapes ----------------------------------------------------------------------------------- */

/* The case with a dim at a value, or at the next one that the requirements admit. */
static bool with_dim(const Planner *p, const Case *from, int dim, int64_t value, int64_t elements,
                     int64_t lanes, Case *out) {
  *out = *from;
  for (int64_t n = value; n <= value + SEARCHED && n <= p->k->dim_max[dim]; n++) {
    out->values[dim] = n;
    if (admitted(p, out, elements, lanes)) return true;
  }
  return false;
}

/* All dims small, pairwise different where the requirements let them. */
static Case small_case(const Planner *p, const Case *from) {
  static const int64_t sizes[] = {3, 5, 7, 2, 6, 9, 11, 4, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128};
  Case c = *from;
  for (int d = 0; d < p->k->dim_count; d++)
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      Case next = c;
      bool taken = false;
      next.values[d] = sizes[n];
      for (int e = 0; e < d; e++) taken = taken || c.values[e] == sizes[n];
      if (taken || sizes[n] >= from->values[d] || sizes[n] > p->k->dim_max[d] ||
          !admitted(p, &next, SOME_ELEMENTS, SOME_LANES))
        continue;
      c = next;
      break;
    }
  return c;
}

/* The largest value of a dim that the requirements admit, as far as they are like a step. */
static int64_t dim_end(const Planner *p, int dim) {
  int64_t low = p->small.values[dim], high = p->k->dim_max[dim];
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    Case c;
    if (with_dim(p, &p->small, dim, middle, INT32_MAX, INT32_MAX, &c))
      low = c.values[dim] > middle ? c.values[dim] : middle;
    else
      high = middle - 1;
  }
  return low;
}

static void dim_cases(Planner *p, int dim, const Case *around) {
  const int64_t t = p->threads;
  const int64_t sizes[] = {0,         1,          2,   5,   6,  7,  t - 1, t,  t + 1, 2 * t + 7,
                           4 * t + 3, 10 * t + 5, 255, 511, 31, 33, 63,    65, 129,   8 * t - 1};
  Case c;
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
    if (sizes[n] >= 0 && with_dim(p, around, dim, sizes[n], SOME_ELEMENTS, SOME_LANES, &c))
      add(p, &c);
  const int64_t end = dim_end(p, dim);
  const int64_t lanes = p->s->large ? END_LANES : SOME_LANES;
  for (int64_t n = end > 0 ? end - 1 : 0; n <= end; n++)
    if (with_dim(p, around, dim, n, MANY_ELEMENTS, lanes, &c)) add(p, &c);
  if (p->s->large && with_dim(p, around, dim, LARGE, MANY_ELEMENTS, MANY_LANES, &c))
    p->large[p->large_count++] = c;
}

/* All dims at once. */
static void dim_mixtures(Planner *p) {
  const Kernel *k = p->k;
  for (int n = 0; n < MIXTURES && k->dim_count > 1; n++) {
    Case c = p->small, next;
    const uint64_t most = n % 2 ? 64 : (uint64_t)p->threads * 2;
    for (int d = 0; d < k->dim_count; d++)
      if (draw(p, 4) > 0 &&
          with_dim(p, &c, d, 1 + (int64_t)draw(p, most), SOME_ELEMENTS, SOME_LANES, &next))
        c = next;
    add(p, &c);
  }
}

/* ---- values ----------------------------------------------------------------------------------- */

static kg_dtype input_dtype(const Planner *p, int arg) {
  const kg_arg *g = &p->k->args[arg];
  return g->type >= 0 ? p->s->instance->types[g->type] : g->dtype;
}

/* Whether the case's scalars are what a fill leaves of them. */
static bool scalars_stay(const Planner *p, const Case *c) {
  if (!p->s->reference->has_fill || p->k->scalar_count == 0) return true;
  Arena *scratch = arena_new();
  const char *why;
  const TrialData *d =
      trial_data_as(scratch, p->k, p->s->instance, c, p->s->reference, 1,
                    (TrialWish){.seconds = PROBE_SECONDS, .inputs_only = true}, &why);
  const int first = p->k->dim_count + p->k->const_count;
  bool stay = d != NULL;
  for (int i = first; stay && i < first + p->k->scalar_count; i++) {
    const bool real = p->k->scalars[i - first].dtype == KG_F32;
    stay = real ? (float)d->want.values[i].real == (float)c->reals[i - first]
                : d->values[i] == c->values[i];
  }
  arena_free(scratch);
  return stay;
}

/* Can the reference compute it, with results that its outputs hold? */
static bool computes(const Planner *p, const Case *c) {
  Arena *scratch = arena_new();
  const char *why;
  const TrialData *d = trial_data_as(scratch, p->k, p->s->instance, c, p->s->reference, 1,
                                     (TrialWish){.seconds = PROBE_SECONDS}, &why);
  const bool fine = d && !d->unfit;
  arena_free(scratch);
  return fine;
}

/* Of floats every admitted class; of integers what the reference can compute with, others as they
** are. */
static void find_usable(Planner *p, int arg) {
  const Kernel *k = p->k;
  const kg_dtype dtype = input_dtype(p, arg);
  const bool is_float = dtype_is_float(dtype);
  Usable *usable = &p->usable[arg];
  if (!is_float && p->s->reference->has_fill) return; /* its integers mean something */
  for (int c = 0; c < DATA_CLASSES; c++) {
    if (c == DATA_PLAIN || !data_admitted(k, arg, dtype, (DataClass)c)) continue;
    const int dims = data_facts[c].kind == DATA_DIMS ? k->dim_count : 1;
    for (int d = 0; d < dims; d++) {
      Case tried = p->small;
      tried.data[arg] = (InputData){(DataClass)c, d};
      if (!is_float && !computes(p, &tried)) continue;
      GROW(p->a, usable->list, usable->count, usable->room);
      usable->list[usable->count++] = tried.data[arg];
    }
  }
}

/* One of them. */
static InputData drawn(Planner *p, int arg) {
  return p->usable[arg].list[draw(p, (uint64_t)p->usable[arg].count)];
}

/* Integers that declare nothing are all 0 when plain: others serve better beside another input's
** class. */
static void enliven(Planner *p, Case *c, int but) {
  for (int i = 0; i < p->k->input_count; i++)
    if (i != but && p->usable[i].count > 0 && !dtype_is_float(input_dtype(p, i)))
      c->data[i] = drawn(p, i);
}

static void input_cases(Planner *p, int arg, const Case *around) {
  for (int n = 0; n < p->usable[arg].count; n++) {
    Case c = *around;
    enliven(p, &c, arg);
    c.data[arg] = p->usable[arg].list[n];
    add(p, &c);
  }
}

/* ---- scalars ---------------------------------------------------------------------------------- */

static void scalar_set(const Kernel *k, Case *c, int i, double x) {
  const int v = k->dim_count + k->const_count + i;
  c->reals[i] = k->scalars[i].dtype == KG_F32 ? (double)(float)x : x;
  c->values[v] = k->scalars[i].dtype == KG_F32 ? 0 : (int64_t)x;
}

/* False: it may not be, by its range or a requirement. */
static bool scalar_given(const Planner *p, Case *c, int i, double x) {
  double low, high;
  scalar_ends(p->k->scalars[i].dtype, &p->k->scalar_domains[i], &low, &high);
  if (!(x >= low && x <= high)) return false;
  scalar_set(p->k, c, i, x);
  return admitted(p, c, SOME_ELEMENTS, SOME_LANES);
}

static void scalar_try(Planner *p, const Case *around, int i, double x) {
  Case c = *around;
  enliven(p, &c, -1);
  if (scalar_given(p, &c, i, x)) add(p, &c);
}

/* A scalar's values beside the case's own. */
static int scalar_values(const Planner *p, const Case *around, int i, double *out) {
  const Kernel *k = p->k;
  const ScalarDomain *d = &k->scalar_domains[i];
  const double own = around->reals[i];
  double low, high;
  int n = 0;
  scalar_ends(k->scalars[i].dtype, d, &low, &high);
  if (k->scalars[i].dtype == KG_F32) {
    const double xs[] = {0, 1, -1, own / 2, own * 3, -own, own * 100, own + 0.5, 1e-6, 0.3, 700};
    for (size_t x = 0; x < sizeof xs / sizeof *xs; x++) out[n++] = xs[x];
    if (d->has_min) out[n++] = low;
    if (d->has_max) out[n++] = high;
    return n;
  }
  const double xs[] = {0, 1, 2, 3, 7, own + 1, own - 1, -1, -5, 100000, low, high, 0x1p31};
  for (size_t x = 0; x < sizeof xs / sizeof *xs; x++) out[n++] = xs[x];
  for (int m = 0; m < k->dim_count; m++)
    for (int off = -1; off <= 1; off++) out[n++] = (double)(around->values[m] + off);
  return n;
}

static void scalar_cases(Planner *p, int i, const Case *around) {
  double xs[SCALAR_VALUES];
  const int count = scalar_values(p, around, i, xs);
  for (int n = 0; n < count; n++) scalar_try(p, around, i, xs[n]);
}

/* Each input of its own class, and the scalars too; with one input, other data of it. */
static void mixtures(Planner *p, const Case *const *around, int around_count) {
  for (int n = 0; n < PAIRS; n++) {
    Case c = *around[n % around_count];
    double xs[SCALAR_VALUES];
    for (int i = 0; i < p->k->input_count; i++)
      if (p->usable[i].count > 0 && draw(p, 3) > 0) c.data[i] = drawn(p, i);
    for (int i = 0; i < p->k->scalar_count; i++)
      if (draw(p, 2) > 0) {
        const int count = scalar_values(p, &c, i, xs);
        const Case before = c;
        if (!scalar_given(p, &c, i, xs[draw(p, (uint64_t)count)])) c = before;
      }
    add(p, &c);
  }
}

/* ---- the plan --------------------------------------------------------------------------------- */

static bool is_of(const Planner *p, const Case *c) {
  const Kernel *k = p->k;
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key && c->given[k->dim_count + i] &&
        c->values[k->dim_count + i] != p->s->instance->consts[i])
      return false;
  return true;
}

/* A case as one of this instance's. */
static Case adopted(const Planner *p, const Case *from) {
  const Kernel *k = p->k;
  Case c = *from;
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key || k->consts[i].count < 2) continue;
    c.values[k->dim_count + i] = p->s->instance->consts[i];
    c.given[k->dim_count + i] = true;
  }
  return c;
}

/* The largest dim of which half is admitted too; -1: there is none. */
static int dim_to_halve(const Planner *p, const Case *c) {
  int best = -1;
  for (int d = 0; d < p->k->dim_count; d++) {
    int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
    case_values(p->s->instance, c, values);
    values[d] /= 2;
    if (values[d] < 1 || !requirements_hold(p->k, values, false)) continue;
    if (best < 0 || c->values[d] > c->values[best]) best = d;
  }
  return best;
}

/* Halves dims until values can be tried there at no great cost. */
static bool made_light(const Planner *p, Case *c) {
  while (!admitted(p, c, FEW_ELEMENTS, SOME_LANES)) {
    const int dim = dim_to_halve(p, c);
    if (dim < 0) return false;
    c->values[dim] /= 2;
  }
  return true;
}

/* Small, but for the dim that is the largest in a case: several rounds of all threads. */
static bool made_wide(const Planner *p, const Case *from, Case *wide) {
  int largest = 0;
  for (int d = 1; d < p->k->dim_count; d++)
    if (from->values[d] > from->values[largest]) largest = d;
  return p->k->dim_count > 0 &&
         with_dim(p, &p->small, largest, 3 * p->threads + 5, SOME_ELEMENTS, SOME_LANES, wide);
}

/* Large ones come to no share, and with data whose sums stand still. */
static void add_large(Planner *p) {
  static const DataClass data[] = {DATA_PLAIN, DATA_TENTHS, DATA_TIES};
  for (int n = 0; n < p->large_count; n++)
    for (size_t m = 0; m < sizeof data / sizeof *data; m++) {
      Case c = p->large[n];
      enliven(p, &c, -1);
      for (int i = 0; i < p->k->input_count; i++)
        if (dtype_is_float(input_dtype(p, i))) c.data[i] = (InputData){data[m], 0};
      add(p, &c);
    }
}

/* Keeps this instance's share of what there is, spread over all of it. */
static void share_out(Planner *p, int most) {
  const int stride = (p->all.count + most - 1) / (most > 0 ? most : 1);
  int kept = 0;
  if (stride < 2) return;
  for (int i = 0; i < p->all.count; i++)
    if ((i + p->s->number) % stride == 0) p->all.cases[kept++] = p->all.cases[i];
  p->all.count = kept;
}

/* Scalars that 16 bits do not hold come to no share either: rounding one shows in those instances
** alone. */
static void add_inexact(Planner *p, const Case *around) {
  Case all = *around;
  bool any = false;
  enliven(p, &all, -1);
  for (int i = 0; i < p->k->scalar_count; i++) {
    const double own = around->reals[i], xs[] = {0.3, own * 1.0071, own * 0.9931, 2.7071};
    if (p->k->scalars[i].dtype != KG_F32) continue;
    for (size_t x = 0; x < sizeof xs / sizeof *xs; x++) {
      Case next = all;
      if (!scalar_given(p, &next, i, xs[x])) continue;
      all = next;
      any = true;
      break;
    }
  }
  if (any) add(p, &all);
}

ProbePlan probe_plan(Arena *a, const ProbeSubject *s) {
  const Kernel *k = s->kernel;
  Planner *p = arena_alloc(a, sizeof *p);
  Case own[2];
  Case wide;
  const Case *around[4] = {NULL};
  int count = 0;
  *p = (Planner){.a = a, .s = s, .k = k, .dice = trial_hash((uint64_t)s->number)};
  for (const char *c = k->name; *c; c++) p->dice = trial_hash(p->dice ^ (uint64_t)*c);
  for (int i = 0; i < k->case_count && count < 2; i++)
    if (is_of(p, &k->cases[i]) || (count == 0 && i + 1 == k->case_count))
      own[count++] = adopted(p, &k->cases[i]);
  if (count == 0) return p->all;
  p->threads = probe_threads(k, s->instance);
  if (p->threads < 1) return p->all;
  p->all.scalars_stay = scalars_stay(p, &own[0]);
  p->small = small_case(p, &own[0]);
  int lights = 0;
  for (int i = 0; i < count; i++)
    if (made_light(p, &own[i])) around[lights++] = &own[i];
  if (made_wide(p, &own[0], &wide)) around[lights++] = &wide;
  around[lights++] = &p->small;
  for (int i = 0; i < k->input_count; i++) find_usable(p, i);
  for (int d = 0; d < k->dim_count; d++) dim_cases(p, d, &p->small);
  dim_mixtures(p);
  for (int i = 0; i < p->all.count; i++) enliven(p, &p->all.cases[i], -1);
  for (int n = 0; n < lights; n++)
    for (int i = 0; i < k->input_count; i++) input_cases(p, i, around[n]);
  for (int i = 0; i < k->scalar_count; i++)
    for (int n = 0; n < lights; n += lights > 1 ? lights - 1 : 1) scalar_cases(p, i, around[n]);
  mixtures(p, around, lights);
  const int each = MOST_ALL / (s->count > 0 ? s->count : 1);
  share_out(p, each > MOST_EACH ? MOST_EACH : each < LEAST_EACH ? LEAST_EACH : each);
  for (int n = 0; n < lights; n++) add_inexact(p, around[n]);
  p->all.large_from = p->all.count;
  add_large(p);
  return p->all;
}

/* ---- words and smaller ones ------------------------------------------------------------------- */

const char *probe_text(Arena *a, const Kernel *k, const Case *c) {
  Buf b = {0};
  buf_puts(&b, "{ ");
  case_put(&b, k, c);
  buf_puts(&b, " }");
  const char *text = arena_strdup(a, b.s);
  buf_free(&b);
  return text;
}

bool probe_smaller(Arena *a, const ProbeSubject *s, const Case *c, int *next, Case *out) {
  static const int64_t sizes[] = {1, 2, 3, 5, 17, 65, 257};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  const Kernel *k = s->kernel;
  Planner *p = arena_alloc(a, sizeof *p);
  *p = (Planner){.a = a, .s = s, .k = k, .threads = 1};
  p->all.scalars_stay = s->scalars_stay; /* requirements are then on a case's own */
  for (;;) {
    const int number = (*next)++;
    *out = *c;
    if (number < k->input_count) {
      if (c->data[number].is == DATA_PLAIN) continue;
      out->data[number] = (InputData){0};
      return true;
    }
    const int at = number - k->input_count, dim = at / SIZES;
    if (dim >= k->dim_count) return false;
    out->values[dim] = sizes[at % SIZES];
    if (sizes[at % SIZES] < c->values[dim] && admitted(p, out, INT32_MAX, INT32_MAX)) return true;
  }
}

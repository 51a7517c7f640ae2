/* compare.c: see compare.h. */
#include "verify/compare.h"

#include <math.h>

#include "verify/data.h"
#include "verify/element.h"

/* "[3, 17]": where element i stands in a row-contiguous tensor. */
static const char *place(Arena *a, const ref_tensor *t, int64_t i) {
  int64_t at[MAX_RANK];
  for (int d = t->rank - 1; d >= 0; d--) {
    at[d] = i % t->shape[d];
    i /= t->shape[d];
  }
  Buf b = {0};
  for (int d = 0; d < t->rank; d++) buf_printf(&b, "%s%lld", d ? ", " : "[", (long long)at[d]);
  buf_puts(&b, t->rank ? "]" : "[]");
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

/* "[3, 17] is 0.5, expected 0.25" */
static const char *difference(Arena *a, const ref_tensor *want, kg_dtype dtype, const void *got,
                              int64_t i) {
  const uint64_t bits = element_bits(dtype, got, i);
  const char *at = place(a, want, i);
  if (!want->real)
    return arena_printf(a, "%s is %lld, expected %lld", at, (long long)element_whole(dtype, bits),
                        (long long)want->whole[i]);
  return arena_printf(a, "%s is %.9g, expected %.9g", at, element_real(dtype, bits), want->real[i]);
}

/* ---- what rounding alone may do --------------------------------------------------------------- */

/* How far single precision may be from what the reference's directions and nudges show: other
** orders of sums, other formulas for the same. */
#define SPREAD_FACTOR 3.0
/* Of the largest number: above that a sum may overflow on its way. */
#define LARGE_SHARE 0x1p-10
/* Rounding all one way goes wrong by so much a term, and to nearest by the root of their number: in
** sums of more terms than this a direction counts for less. */
#define ONE_WAY 256.0
/* log(1 + e) of a small e is off by the rounding of the 1, and so is what else has a 1 on its way:
** in a row of nothing but such elements nothing else says that this is little.  Where an input is
** small throughout, so is what is made of it, and a 1 on the way is a fault. */
#define ONE_ROUNDED 0x1p-23
/* Of the elements that all directions agree on, where the reference rounds: so many may be a
** neighbour of it. */
enum { SETTLED_SHARE = 6, SETTLED_LEAST = 3, JUDGE_SECONDS = 300 };

typedef struct Output {
  const TrialData *data;
  const ref_tensor *want;
  const ref_tensor *singles[SINGLES];
  int single_count, direction_count; /* 0: they are not known */
  kg_dtype dtype;
  const void *got;
  bool rounded;    /* the reference gives what the dtype holds */
  double quantum;  /* the dtype's least positive number */
  double largest;  /* that is wanted */
  double damp;     /* of a direction's way off: see ONE_WAY */
  int64_t columns; /* of a row, which is held against itself */
  double beside;   /* see ONE_ROUNDED */
} Output;

/* The elements that have one scale.  Of a list, where no input has rows, all; else each is of a row
** of its own.  Without the directions nothing says which of an output's elements come from
** cancellation: then all are one row. */
static int64_t row_length(const TrialData *d, const ref_tensor *t) {
  bool rows = t->rank > 1;
  if (d->singles->count == 0 || !t->real || t->rank == 0) return t->count;
  for (int i = 0; i < d->kernel->input_count; i++) rows = rows || d->want.tensors[i].rank > 1;
  return !rows ? t->count : t->rank > 1 ? t->shape[t->rank - 1] : 1;
}

static Output output_of(const TrialData *d, int arg, kg_dtype dtype, const void *got) {
  Output o = {.data = d, .want = &d->want.tensors[arg], .dtype = dtype, .got = got};
  o.single_count = d->singles->count;
  o.direction_count = o.single_count > 0 ? DIRECTIONS : 0;
  for (int i = 0; i < o.single_count; i++) o.singles[i] = &d->singles->outputs[i][arg];
  o.columns = row_length(d, o.want);
  if (!o.want->real) return o;
  o.beside = ONE_ROUNDED * d->scale;
  int64_t terms = 1; /* at most */
  for (int i = 0; i < d->kernel->dim_count; i++)
    if (d->values[i] > terms) terms = d->values[i];
  o.damp = fmin(1, sqrt(ONE_WAY / (double)terms));
  o.quantum = kg_f64_from_float(dtype, 1);
  o.rounded = true;
  o.largest = tensor_largest(o.want);
  for (int64_t i = 0; i < o.want->count; i++) {
    const double x = o.want->real[i];
    o.rounded = o.rounded && (isnan(x) || element_real(dtype, element_bits_of_real(dtype, x)) == x);
  }
  return o;
}

/* The distance of x's neighbours in the dtype. */
static double ulp(const Output *o, double x) {
  int e;
  if (x == 0 || !isfinite(x)) return o->quantum;
  frexp(x, &e);
  const double unit = ldexp(1, e - 1 - kg_dtype_info(o->dtype)->fraction);
  return unit > o->quantum ? unit : o->quantum;
}

static int kind_of(double x) { return isnan(x) ? 0 : !isinf(x) ? 1 : x > 0 ? 2 : 3; }

/* A nudge that moves an element by more has made it another one, beside an edge, but where a wider
** nudge moves it by so many times more. */
#define NUDGE_SHARE 0x1p-10 /* of the output's largest number */
#define NUDGE_GROWS 2.0

static double way_off(const Output *o, int single, int64_t i) {
  return fabs(o->singles[single]->real[i] - o->want->real[i]);
}

/* The number that a nudge gives is of the same kind of element: see NUDGE_SHARE. */
static bool nudge_counts(const Output *o, int single, int64_t i) {
  const int pair = single - FIRST_SINGLES;
  const double near = way_off(o, single, i);
  if (pair >= 0 && pair % 2) return false; /* the wider one */
  if (near <= NUDGE_SHARE * o->largest) return true;
  return pair >= 0 && way_off(o, single + 1, i) >= NUDGE_GROWS * near;
}

/* How far an element may be off for rounding alone; 0 where that is not known. */
static double slack(const Output *o, int64_t i) {
  double most = 0;
  for (int d = 0; d < o->single_count; d++) {
    const double way = way_off(o, d, i);
    if (!isfinite(way) || (d >= DIRECTIONS && !nudge_counts(o, d, i))) continue;
    most = fmax(most, d == 0 || d >= DIRECTIONS ? way : way * o->damp);
  }
  return SPREAD_FACTOR * most;
}

/* All directions give, once rounded, the very element that is wanted. */
static bool settled(const Output *o, int64_t i) {
  const uint64_t want = element_bits_of_real(o->dtype, o->want->real[i]);
  for (int d = 0; d < o->direction_count; d++)
    if (element_bits_of_real(o->dtype, o->singles[d]->real[i]) != want) return false;
  return o->direction_count > 0;
}

/* NaN, an infinity or a number, as the wanted one; or as single precision may make it, where it
** overflows or underflows on the way. */
static bool kind_agrees(const Output *o, int64_t i, double got) {
  const double exactly = o->want->real[i],
               want = element_real(o->dtype, element_bits_of_real(o->dtype, exactly));
  if (kind_of(got) == kind_of(want)) return true;
  for (int d = 0; d < o->direction_count; d++) {
    const double other = o->singles[d]->real[i];
    const double as_held = element_real(o->dtype, element_bits_of_real(o->dtype, other));
    /* a number too large, by rounding; no number either way; or what the values themselves bring
    ** about */
    const bool edge = isfinite(exactly) && isfinite(other) && kind_of(as_held) != kind_of(want);
    const bool none = !isfinite(exactly) && !isfinite(other);
    if (kind_of(got) == kind_of(as_held) && (edge || none || o->data->extreme)) return true;
  }
  return false;
}

/* In extremes single precision may lose a number altogether, and everything is as good: where a
** direction has no number, and where the number is so large that a sum in another order has none. */
static bool lost(const Output *o, int64_t i) {
  if (!o->data->extreme || o->direction_count == 0) return false;
  bool all = fabs(o->want->real[i]) < LARGE_SHARE * dtype_largest(o->dtype);
  for (int d = 0; d < o->direction_count; d++) all = all && isfinite(o->singles[d]->real[i]);
  return !all;
}

/* A whole number is the wanted one, or one that single precision gives. */
static bool whole_agrees(const Output *o, int64_t i, uint64_t got) {
  if (got == element_bits_of_whole(o->dtype, o->want->whole[i])) return true;
  for (int d = 0; d < o->direction_count && o->data->made; d++)
    if (got == element_bits_of_whole(o->dtype, o->singles[d]->whole[i])) return true;
  return false;
}

/* ---- elements, rows, outputs ------------------------------------------------------------------- */

typedef struct Sums {
  double error2, want2, error_max, want_max; /* of all rows, as they are */
  int64_t unwritten, first_unwritten;        /* the poison still stands there */
  int64_t unlike, first_unlike;              /* NaN, infinity or (exact) bits that differ */
  int64_t settled, shifted, first_shifted;   /* see SETTLED_SHARE */
  double worst_rms, worst_max;               /* of a row, as shares of what it is held against */
  int64_t worst, rms_at, max_at;             /* the elements farthest off, in all and there */
} Sums;

static bool exact(const ref_tensor *want, Tolerance t) {
  return !want->real || (t.rms <= 0 && t.max <= 0);
}

static bool is_left(const ref_tensor *want, int64_t i) { return want->left && want->left[i]; }

static bool is_unwritten(const Output *o, int64_t i, uint64_t got) {
  if (got != element_poison(o->dtype) || is_left(o->want, i)) return false;
  return o->want->real ? got != element_bits_of_real(o->dtype, o->want->real[i])
                       : !whole_agrees(o, i, got);
}

/* An element by itself: is it there, and of its kind?  True: it is a number, to be compared. */
static bool element_compare(const Output *o, int64_t i, bool every_bit, Sums *s) {
  const uint64_t got = element_bits(o->dtype, o->got, i);
  if (is_left(o->want, i)) return false;
  if (is_unwritten(o, i, got)) {
    if (s->unwritten++ == 0) s->first_unwritten = i;
    return false;
  }
  if (!o->want->real) {
    if (!whole_agrees(o, i, got) && s->unlike++ == 0) s->first_unlike = i;
    return false;
  }
  const double exactly = o->want->real[i], x = element_real(o->dtype, got);
  const uint64_t want = element_bits_of_real(o->dtype, exactly);
  const double held = element_real(o->dtype, want);
  const bool both_nan = isnan(x) && isnan(held);
  if (every_bit
          ? got != want && !both_nan && !(o->data->made && o->direction_count > 0 && !settled(o, i))
          : !kind_agrees(o, i, x) && !lost(o, i) && !(o->data->brimful && !isfinite(x))) {
    if (s->unlike++ == 0) s->first_unlike = i;
    return false;
  }
  if (o->rounded && settled(o, i) && isfinite(x) && ulp(o, held) > ONE_ROUNDED) {
    s->settled++;
    if (x != held && s->shifted++ == 0) s->first_shifted = i;
  }
  return isfinite(x) && isfinite(held) && !lost(o, i);
}

/* What is too small to be told apart: of sums of subnormal numbers each term is rounded to one, and
** may be scaled after that. */
static double least_shown(const Output *o) {
  return o->quantum + (o->data->extreme ? ldexp(kg_f64_from_float(KG_F32, 1), 20) : 0);
}

typedef struct Row {
  double error2, want2, want_max; /* errors beyond what rounding does, and the values */
  double over;                    /* the largest error beyond that and its own neighbour */
  double farthest;
  int64_t count, at, over_at;
} Row;

static void row_add(const Output *o, int64_t i, Row *row, Sums *s) {
  const double exactly = o->want->real[i];
  const double off = fabs(element_real(o->dtype, element_bits(o->dtype, o->got, i)) - exactly);
  const double beyond = fmax(0, off - slack(o, i) - o->beside - least_shown(o));
  const double over = fmax(0, beyond - ulp(o, exactly));
  s->error2 += off * off;
  s->want2 += exactly * exactly;
  if (off > s->error_max) s->error_max = off, s->worst = i;
  s->want_max = fmax(s->want_max, fabs(exactly));
  row->count++;
  row->error2 += beyond * beyond;
  row->want2 += exactly * exactly;
  row->want_max = fmax(row->want_max, fabs(exactly));
  if (beyond > row->farthest) row->farthest = beyond, row->at = i;
  if (over > row->over) row->over = over, row->over_at = i;
}

static double ratio(double error, double scale) { return error > 0 ? error / scale : 0; }

/* A row's error is held against the row; two of its elements may be a neighbour's. */
static void row_close(const Output *o, const Row *row, Sums *s) {
  const double near = ulp(o, row->want_max);
  const double rms = ratio(sqrt(fmax(0, row->error2 - 2 * near * near)), sqrt(row->want2)),
               most = ratio(row->over, row->want_max);
  if (rms > s->worst_rms) s->worst_rms = rms, s->rms_at = row->at;
  if (most > s->worst_max) s->worst_max = most, s->max_at = row->over_at;
}

static void rows_compare(const Output *o, bool every_bit, Sums *s) {
  const ref_tensor *t = o->want;
  for (int64_t i = 0; i < t->count;) {
    Row row = {0};
    for (const int64_t end = i + o->columns; i < end; i++)
      if (element_compare(o, i, every_bit, s)) row_add(o, i, &row, s);
    if (row.count > 0) row_close(o, &row, s);
  }
}

static const char *shares(Arena *a, int64_t some, int64_t all, const char *words) {
  return arena_printf(a, "%lld of %lld elements %s", (long long)some, (long long)all, words);
}

static const char *fault_of(Arena *a, const Output *o, const TrialOutput *out, const Sums *s,
                            bool every_bit) {
  const ref_tensor *want = o->want;
  const Tolerance bound = out->tolerance;
  if (s->unwritten)
    return arena_printf(a, "%s, the first is %s",
                        shares(a, s->unwritten, want->count, "were never written"),
                        place(a, want, s->first_unwritten));
  if (s->unlike)
    return arena_printf(a, "%s%s, the first: %s", shares(a, s->unlike, want->count, "differ"),
                        every_bit ? " (every bit must agree)" : " in being NaN or infinite",
                        difference(a, want, o->dtype, o->got, s->first_unlike));
  if (every_bit) return NULL;
  if (bound.rms > 0 && !(s->worst_rms <= bound.rms))
    return arena_printf(a, "rms error %.3g is over the tolerance %.3g; the worst element: %s",
                        s->worst_rms, bound.rms, difference(a, want, o->dtype, o->got, s->rms_at));
  if (bound.max > 0 && !(s->worst_max <= bound.max))
    return arena_printf(a, "the largest error %.3g is over the tolerance %.3g: %s", s->worst_max,
                        bound.max, difference(a, want, o->dtype, o->got, s->max_at));
  if (kg_dtype_bytes(o->dtype) < 4 && s->shifted >= SETTLED_LEAST &&
      s->shifted * SETTLED_SHARE > s->settled)
    return arena_printf(a,
                        "%s are not the nearest %s where rounding on the way cannot change it, the "
                        "first: %s",
                        shares(a, s->shifted, s->settled, ""), kg_dtype_name(o->dtype),
                        difference(a, want, o->dtype, o->got, s->first_shifted));
  return NULL;
}

static const char *output_fault(Arena *a, const TrialData *d, int arg, TrialOutput *out) {
  Sums s = {0};
  const Output o = output_of(d, arg, out->dtype, out->got);
  const bool every_bit = exact(o.want, out->tolerance);
  rows_compare(&o, every_bit, &s);
  out->rms = ratio(sqrt(s.error2), sqrt(s.want2));
  out->max = ratio(s.error_max, s.want_max);
  if (!d->made) { /* an author's own bound holds for the whole as it is */
    if (out->rms > s.worst_rms) s.worst_rms = out->rms, s.rms_at = s.worst;
    if (out->max > s.worst_max) s.worst_max = out->max, s.max_at = s.worst;
  }
  return fault_of(a, &o, out, &s, every_bit);
}

/* Before an output of numbers is called wrong, the reference is asked once more how far rounding
** goes: among thousands of rows there are some where all that is known lies together by chance. */
static void output_compare(Arena *a, const TrialData *d, int arg, TrialOutput *out) {
  out->why = output_fault(a, d, arg, out);
  if (out->why && d->want.tensors[arg].real && d->singles->count > 0 && !d->singles->all) {
    reference_spread(a, d->reference, &d->want, d->kernel->input_count, JUDGE_SECONDS, d->singles);
    out->why = output_fault(a, d, arg, out);
  }
  out->right = !out->why;
}

/* The outputs as the judge reads them: the inputs are the wanted call's own. */
static ref_call got_call(Arena *a, const TrialData *d, const Trial *trial) {
  ref_call got = d->want;
  got.tensors = arena_alloc(a, MAX_ARGS * sizeof *got.tensors);
  for (int i = 0; i < got.tensor_count; i++) got.tensors[i] = d->want.tensors[i];
  for (int o = 0; o < trial->output_count; o++) {
    ref_tensor *t = &got.tensors[d->kernel->input_count + o];
    const kg_dtype dtype = (kg_dtype)t->dtype;
    const size_t count = (size_t)t->count + 1;
    if (t->real)
      t->real = arena_alloc(a, count * sizeof *t->real);
    else
      t->whole = arena_alloc(a, count * sizeof *t->whole);
    for (int64_t i = 0; i < t->count; i++) {
      const uint64_t bits = element_bits(dtype, trial->outputs[o].got, i);
      if (t->real)
        t->real[i] = element_real(dtype, bits);
      else
        t->whole[i] = element_whole(dtype, bits);
    }
  }
  return got;
}

/* Elements that nobody wrote are a fault whatever a judge thinks of their values. */
static bool judge(Arena *a, const TrialData *d, Trial *trial) {
  const ref_call got = got_call(a, d, trial);
  for (int o = 0; o < trial->output_count; o++) {
    const int arg = d->kernel->input_count + o;
    TrialOutput *out = &trial->outputs[o];
    const Output judged = output_of(d, arg, out->dtype, out->got);
    const ref_tensor *want = judged.want;
    Sums s = {0};
    for (int64_t i = 0; i < want->count; i++) {
      Row unused = {0};
      if (element_compare(&judged, i, false, &s)) row_add(&judged, i, &unused, &s);
    }
    out->rms = ratio(sqrt(s.error2), sqrt(s.want2));
    out->max = ratio(s.error_max, s.want_max);
    out->right = s.unwritten == 0;
    if (!out->right)
      out->why = arena_printf(a, "%lld of %lld elements were never written, the first is %s",
                              (long long)s.unwritten, (long long)want->count,
                              place(a, want, s.first_unwritten));
    trial->right = trial->right && out->right;
  }
  const char *why = NULL;
  const bool asked = reference_judge(a, d->reference, &d->want, &got, d->kernel->input_count,
                                     JUDGE_SECONDS, &trial->judgement, &why);
  if (!asked) trial->judgement = why;
  return !trial->judgement;
}

void compare_outputs(Arena *a, const TrialData *d, Trial *trial) {
  const Kernel *k = d->kernel;
  trial->right = true;
  trial->output_count = k->arg_count - k->input_count;
  for (int o = 0; o < trial->output_count; o++) {
    const int arg = k->input_count + o;
    const ref_tensor *want = &d->want.tensors[arg];
    TrialOutput *out = &trial->outputs[o];
    out->name = want->name;
    out->dtype = (kg_dtype)want->dtype;
    out->count = want->count;
    out->tolerance = k->has_out_tolerance[arg] ? k->out_tolerance[arg] : k->tolerance[want->dtype];
  }
  if (d->reference->has_judge) {
    trial->judged = true;
    trial->right = judge(a, d, trial) && trial->right;
    return;
  }
  for (int o = 0; o < trial->output_count; o++) {
    output_compare(a, d, k->input_count + o, &trial->outputs[o]);
    trial->right = trial->right && trial->outputs[o].right;
  }
}

/* compare.c: see compare.h. */
#include "verify/compare.h"

#include <math.h>

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

typedef struct Sums {
  double error2, want2, error_max, want_max;
  int64_t unwritten, first_unwritten; /* the poison still stands there */
  int64_t unlike, first_unlike;       /* NaN, infinity or (exact) bits that differ */
  int64_t worst;
} Sums;

static bool exact(const ref_tensor *want, Tolerance t) {
  return !want->real || (t.rms <= 0 && t.max <= 0);
}

static void element_compare(const ref_tensor *want, kg_dtype dtype, const void *got, int64_t i,
                            bool every_bit, Sums *s) {
  const uint64_t g = element_bits(dtype, got, i);
  const uint64_t w = want->real ? element_bits_of_real(dtype, want->real[i])
                                : element_bits_of_whole(dtype, want->whole[i]);
  if (g == element_poison(dtype) && g != w) {
    if (s->unwritten++ == 0) s->first_unwritten = i;
    return;
  }
  const double x = element_real(dtype, g), rounded = element_real(dtype, w);
  const double exactly = want->real ? want->real[i] : rounded;
  const bool both_nan = want->real && isnan(x) && isnan(rounded);
  const bool finite = isfinite(x) && isfinite(rounded) && isfinite(exactly);
  if (every_bit || !finite) {
    const bool same = both_nan || g == w;
    if (!same && s->unlike++ == 0) s->first_unlike = i;
  }
  if (!finite) return;
  const double error = fabs(x - exactly);
  s->error2 += error * error;
  s->want2 += exactly * exactly;
  if (error > s->error_max) {
    s->error_max = error;
    s->worst = i;
  }
  if (fabs(exactly) > s->want_max) s->want_max = fabs(exactly);
}

static double ratio(double error, double scale) { return error > 0 ? error / scale : 0; }

static void output_compare(Arena *a, const ref_tensor *want, TrialOutput *o) {
  Sums s = {0};
  const bool every_bit = exact(want, o->tolerance);
  for (int64_t i = 0; i < want->count; i++)
    element_compare(want, o->dtype, o->got, i, every_bit, &s);
  o->rms = ratio(sqrt(s.error2), sqrt(s.want2));
  o->max = ratio(s.error_max, s.want_max);
  if (s.unwritten)
    o->why = arena_printf(a, "%lld of %lld elements were never written, the first is %s",
                          (long long)s.unwritten, (long long)want->count,
                          place(a, want, s.first_unwritten));
  else if (s.unlike)
    o->why = arena_printf(a, "%lld of %lld elements differ%s, the first: %s", (long long)s.unlike,
                          (long long)want->count,
                          every_bit ? " (every bit must agree)" : " in being NaN or infinite",
                          difference(a, want, o->dtype, o->got, s.first_unlike));
  else if (!every_bit && o->tolerance.rms > 0 && !(o->rms <= o->tolerance.rms))
    o->why = arena_printf(a, "rms error %.3g is over the tolerance %.3g; the worst element: %s",
                          o->rms, o->tolerance.rms, difference(a, want, o->dtype, o->got, s.worst));
  else if (!every_bit && o->tolerance.max > 0 && !(o->max <= o->tolerance.max))
    o->why = arena_printf(a, "the largest error %.3g is over the tolerance %.3g: %s", o->max,
                          o->tolerance.max, difference(a, want, o->dtype, o->got, s.worst));
  o->right = !o->why;
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
    const ref_tensor *want = &d->want.tensors[d->kernel->input_count + o];
    TrialOutput *out = &trial->outputs[o];
    Sums s = {0};
    for (int64_t i = 0; i < want->count; i++)
      element_compare(want, out->dtype, out->got, i, false, &s);
    out->rms = ratio(sqrt(s.error2), sqrt(s.want2));
    out->max = ratio(s.error_max, s.want_max);
    out->right = s.unwritten == 0;
    if (!out->right)
      out->why = arena_printf(a, "%lld of %lld elements were never written, the first is %s",
                              (long long)s.unwritten, (long long)want->count,
                              place(a, want, s.first_unwritten));
    trial->right = trial->right && out->right;
  }
  const char *said = d->reference->judge(&d->want, &got);
  if (said) trial->judgement = arena_strdup(a, said);
  return !said;
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
  if (d->reference->judge) {
    trial->judged = true;
    trial->right = judge(a, d, trial) && trial->right;
    return;
  }
  for (int o = 0; o < trial->output_count; o++) {
    output_compare(a, &d->want.tensors[k->input_count + o], &trial->outputs[o]);
    trial->right = trial->right && trial->outputs[o].right;
  }
}

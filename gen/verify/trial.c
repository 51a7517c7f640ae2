/* trial.c: makes the data of a trial and runs it.  The comparison is compare.c's.  See trial.h. */
#include "verify/trial.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "simt_check.h"
#include "verify/compare.h"
#include "verify/data.h"
#include "verify/element.h"
#include "spec/spec.h"

enum { REFERENCE_SECONDS = 300 };

static const int64_t data_limit = INT64_C(4)
                                  << 30; /* bytes of doubles and int64s, both hands together */

/* ---- data ----------------------------------------------------------------------------------- */

kg_instance case_instance(const Kernel *k, const Case *c, const kg_dtype *types) {
  kg_instance i = {.kernel = &k->model};
  for (int t = 0; t < k->type_count; t++) i.types[t] = types[t];
  for (int n = 0; n < k->const_count; n++) {
    const int v = k->dim_count + n;
    i.consts[n] = k->consts[n].in_key && c->given[v] ? c->values[v] : k->consts[n].values[0];
  }
  return i;
}

void case_values(const kg_instance *i, const Case *c, int64_t *values) {
  memcpy(values, c->values, sizeof c->values);
  for (int n = 0; n < i->kernel->const_count; n++) values[i->kernel->dim_count + n] = i->consts[n];
}

int64_t case_elements(const Kernel *k, const int64_t *values) {
  int64_t sum = 0;
  for (int i = 0; i < k->arg_count; i++) {
    int64_t count = 1;
    for (int d = 0; d < k->args[i].rank; d++) {
      int64_t n;
      if (!expr_eval(&k->args[i].shape[d], values, &n) || n < 0) return -1;
      if (n > 0 && count > INT32_MAX / n) return -1;
      count *= n;
    }
    sum += count;
  }
  return sum;
}

static void put_data(Buf *b, const Kernel *k, const Case *c) {
  const char *before = ", data = { ", *after = "";
  for (int i = 0; i < k->input_count; i++) {
    const InputData d = c->data[i];
    if (d.is == DATA_PLAIN) continue;
    const bool of_dim = data_facts[d.is].kind == DATA_DIMS;
    buf_printf(b, "%s%s = \"%s%s%s\"", before, k->args[i].name, data_facts[d.is].name,
               of_dim ? " " : "", of_dim ? k->dims[d.dim] : "");
    before = ", ", after = " }";
  }
  buf_puts(b, after);
}

void case_put(Buf *b, const Kernel *k, const Case *c) {
  const char *comma = "";
  for (int i = 0; i < k->dim_count; i++, comma = ", ")
    buf_printf(b, "%s%s = %lld", comma, k->dims[i], (long long)c->values[i]);
  for (int i = 0; i < k->const_count; i++) {
    const int n = k->dim_count + i;
    if (!k->consts[i].in_key || !c->given[n]) continue;
    if (k->consts[i].is_bool)
      buf_printf(b, "%s%s = %s", comma, k->consts[i].name, c->values[n] ? "true" : "false");
    else
      buf_printf(b, "%s%s = %lld", comma, k->consts[i].name, (long long)c->values[n]);
    comma = ", ";
  }
  for (int i = 0; i < k->scalar_count; i++, comma = ", ") {
    const int n = k->dim_count + k->const_count + i;
    if (k->scalars[i].dtype == KG_F32)
      buf_printf(b, "%s%s = %.9g", comma, k->scalars[i].name, c->reals[i]);
    else
      buf_printf(b, "%s%s = %lld", comma, k->scalars[i].name, (long long)c->values[n]);
  }
  if (c->fill && c->fill[0]) buf_printf(b, ", fill = \"%s\"", c->fill);
  put_data(b, k, c);
  if (c->seed > 1) buf_printf(b, ", %s = %llu", case_seed(k), (unsigned long long)c->seed);
}

static kg_dtype dtype_of(const Kernel *k, const kg_instance *i, int arg) {
  const kg_arg *a = &k->args[arg];
  return a->type >= 0 ? i->types[a->type] : a->dtype;
}

/* Dims, constants and scalars under their names, as a reference asks for them. */
static void values_set(Arena *a, TrialData *d, const Case *c) {
  const Kernel *k = d->kernel;
  const int count = k->dim_count + k->const_count + k->scalar_count;
  ref_value *v = arena_alloc(a, ((size_t)count + 1) * sizeof *v);
  int n = 0;
  for (int i = 0; i < k->dim_count; i++, n++) v[n] = (ref_value){k->dims[i], c->values[n], 0};
  for (int i = 0; i < k->const_count; i++, n++)
    v[n] = (ref_value){k->consts[i].name, d->instance.consts[i], 0};
  for (int i = 0; i < k->scalar_count; i++, n++)
    v[n] = (ref_value){k->scalars[i].name, c->values[n], c->reals[i]};
  for (int i = 0; i < count; i++) {
    const int s = i - k->dim_count - k->const_count;
    if (s >= 0 && k->scalars[s].dtype == KG_F32) {
      v[i].real = (double)(float)v[i].real;
      v[i].whole = fabs(v[i].real) < 0x1p62 ? (int64_t)v[i].real : 0;
    } else {
      v[i].real = (double)v[i].whole;
    }
    d->values[i] = v[i].whole;
  }
  d->want.value_count = count;
  d->want.values = v;
}

/* A fill may have set scalars: they are rounded to their dtype, and its changes of anything else
** are undone. */
static void scalars_take(TrialData *d) {
  const Kernel *k = d->kernel;
  const int first = k->dim_count + k->const_count;
  for (int i = 0; i < d->want.value_count; i++) {
    ref_value *v = &d->want.values[i];
    if (i < first) {
      v->whole = d->values[i];
      v->real = (double)v->whole;
      continue;
    }
    switch (k->scalars[i - first].dtype) {
    case KG_F32:
      d->scalars[i - first].f32 = (float)v->real;
      v->real = (double)(float)v->real;
      v->whole = fabs(v->real) < 0x1p62 ? (int64_t)v->real : 0;
      break;
    case KG_I32:
      v->whole = d->scalars[i - first].i32 = (int32_t)v->whole;
      v->real = (double)v->whole;
      break;
    default: v->whole = d->scalars[i - first].u32 = (uint32_t)v->whole; v->real = (double)v->whole;
    }
    d->values[i] = v->whole;
  }
}

/* ---- requirements: a fill and a reference may count on them ---------------------------------- */

/* "D = 3, n = 0": the variables that an expression names, each once. */
static void put_named(Buf *b, const Kernel *k, const kg_expr *e, const int64_t *values) {
  uint64_t named = 0;
  for (int i = 0; i < e->count; i++) {
    const int v = (int)e->steps[i].value;
    if (e->steps[i].op != KG_OP_VAR || (named >> v & 1)) continue;
    buf_printf(b, "%s%s = %lld", named ? ", " : "", kg_symbol_at(&k->model, v).name,
               (long long)values[v]);
    named |= UINT64_C(1) << v;
  }
}

static bool names_scalar(const Kernel *k, const kg_expr *e) {
  for (int i = 0; i < e->count; i++)
    if (e->steps[i].op == KG_OP_VAR &&
        kg_symbol_at(&k->model, (int)e->steps[i].value).kind == KG_SCALAR)
      return true;
  return false;
}

/* The first one that is broken; *computed: it has a value.  NULL: all hold. */
static const kg_expr *first_broken(const Kernel *k, const int64_t *values, bool scalars,
                                   bool *computed) {
  for (int i = 0; i < k->require_count; i++) {
    const kg_expr *e = &k->require[i];
    int64_t holds = 0;
    if (!scalars && names_scalar(k, e)) continue;
    *computed = expr_eval(e, values, &holds);
    if (!*computed || !holds) return e;
  }
  return NULL;
}

bool requirements_hold(const Kernel *k, const int64_t *values, bool scalars) {
  bool computed;
  return first_broken(k, values, scalars, &computed) == NULL;
}

const char *requirement_broken(Arena *a, const Kernel *k, const int64_t *values, bool scalars) {
  bool computed;
  const kg_expr *e = first_broken(k, values, scalars, &computed);
  if (e == NULL) return NULL;
  Buf named = {0};
  put_named(&named, k, e, values);
  const char *why =
      arena_printf(a, "it requires %s, which %s (%s)", e->text,
                   computed ? "does not hold" : "cannot be computed", named.s ? named.s : "");
  buf_free(&named);
  return why;
}

/* "weight has shape (D)": what could not be computed, in the user's terms. */
static bool tensor_set(Arena *a, TrialData *d, int arg, int64_t *budget, const char **why) {
  const Kernel *k = d->kernel;
  const kg_arg *from = &k->args[arg];
  ref_tensor *t = &d->want.tensors[arg];
  *t = (ref_tensor){.name = from->name,
                    .dtype = (ref_dtype)dtype_of(k, &d->instance, arg),
                    .rank = from->rank,
                    .count = 1};
  for (int i = 0; i < from->rank; i++) {
    int64_t n;
    if (!expr_eval(&from->shape[i], d->values, &n) || n < 0) {
      *why = arena_printf(a, "the shape of %s cannot be computed: %s", from->name,
                          from->shape[i].text);
      return false;
    }
    t->shape[i] = n;
    t->count = n > 0 && t->count > INT64_MAX / n ? INT64_MAX : t->count * n;
  }
  if (t->count > *budget / 16) {
    *why = arena_printf(a, "the data would take more than %lld GiB", (long long)(data_limit >> 30));
    return false;
  }
  *budget -= 16 * t->count;
  const size_t count = (size_t)t->count + 1; /* never empty */
  if (dtype_is_float((kg_dtype)t->dtype))
    t->real = arena_alloc(a, count * sizeof *t->real);
  else
    t->whole = arena_alloc(a, count * sizeof *t->whole);
  return true;
}

/* An input's bytes; the reference then reads what the kernel will read. */
static void input_round(Arena *a, TrialData *d, int arg) {
  ref_tensor *t = &d->want.tensors[arg];
  const kg_dtype dtype = (kg_dtype)t->dtype;
  d->bytes[arg] = arena_alloc(a, (size_t)t->count * kg_dtype_bytes(dtype) + 1);
  for (int64_t i = 0; i < t->count; i++) {
    const uint64_t bits = t->real ? element_bits_of_real(dtype, t->real[i])
                                  : element_bits_of_whole(dtype, t->whole[i]);
    element_put_bits(dtype, d->bytes[arg], i, bits);
    if (t->real)
      t->real[i] = element_real(dtype, bits);
    else
      t->whole[i] = element_whole(dtype, bits);
  }
}

/* Whether a tensor's integers are what its dtype holds: what a reference leaves to wrapping is not
** defined by it. */
static bool integers_fit(const ref_tensor *t) {
  const kg_dtype dtype = (kg_dtype)t->dtype;
  for (int64_t i = 0; t->whole && i < t->count; i++)
    if (!t->left[i] &&
        element_whole(dtype, element_bits_of_whole(dtype, t->whole[i])) != t->whole[i])
      return false;
  return true;
}

static void input_fill(TrialData *d, int arg, InputData data, uint64_t seed) {
  data_fill(d->kernel, arg, data, trial_hash(seed ^ trial_hash((uint64_t)arg + 1)), d->values,
            &d->want.tensors[arg]);
}

static void *elements_of(const ref_tensor *t) { return t->real ? (void *)t->real : t->whole; }

/* The reference's fill over plain inputs.  What it has set is its own: set[] says which inputs. */
static bool inputs_filled(Arena *a, TrialData *d, const Case *c, uint64_t seed, int seconds,
                          bool *set, const char **why) {
  const int inputs = d->kernel->input_count;
  void *before[MAX_ARGS];
  for (int i = 0; i < inputs; i++) {
    const size_t bytes = (size_t)d->want.tensors[i].count * 8;
    input_fill(d, i, (InputData){0}, seed);
    before[i] = arena_alloc(a, bytes + 1);
    memcpy(before[i], elements_of(&d->want.tensors[i]), bytes);
  }
  if (!reference_fill(a, d->reference, &d->want, inputs, c->fill ? c->fill : "", seed, seconds,
                      why))
    return false;
  for (int i = 0; i < inputs; i++) {
    const ref_tensor *t = &d->want.tensors[i];
    set[i] = memcmp(elements_of(t), before[i], (size_t)t->count * 8) != 0;
  }
  return true;
}

static bool inputs_set(Arena *a, TrialData *d, const Case *c, uint64_t seed, TrialWish wish,
                       const char **why) {
  const Kernel *k = d->kernel;
  int64_t budget = data_limit;
  bool set[MAX_ARGS] = {false};
  *why = requirement_broken(a, k, d->values, false); /* a fill may still set scalars */
  if (*why != NULL) return false;
  for (int i = 0; i < k->arg_count; i++)
    if (!tensor_set(a, d, i, &budget, why)) return false;
  if (d->reference->has_fill && !inputs_filled(a, d, c, seed, wish.seconds, set, why)) return false;
  scalars_take(d);
  *why = requirement_broken(a, k, d->values, true);
  if (*why != NULL) return false;
  for (int i = 0; i < k->input_count; i++) {
    if (!set[i]) input_fill(d, i, c->data[i], seed);
    input_round(a, d, i);
    d->brimful = d->brimful || (c->data[i].is == DATA_LARGEST &&
                                dtype_largest((kg_dtype)d->want.tensors[i].dtype) > 1e38);
    d->extreme = d->extreme || data_facts[c->data[i].is].extreme;
    const double largest = tensor_largest(&d->want.tensors[i]);
    if (largest > 0) d->scale = fmin(d->scale, largest);
  }
  return true;
}

static bool outputs_set(Arena *a, TrialData *d, TrialWish wish, const char **why) {
  const Kernel *k = d->kernel;
  if (!reference_compute(a, d->reference, &d->want, k->input_count, wish.seconds, why))
    return false;
  if (wish.spread && !d->reference->has_judge)
    reference_spread(a, d->reference, &d->want, k->input_count, wish.seconds, d->singles);
  for (int i = k->input_count; i < k->arg_count; i++)
    d->unfit = d->unfit || !integers_fit(&d->want.tensors[i]);
  return true;
}

TrialData *trial_data_as(Arena *a, const Kernel *k, const kg_instance *instance, const Case *c,
                         const Reference *reference, uint64_t seed, TrialWish wish,
                         const char **why) {
  if (wish.seconds == 0) wish.seconds = REFERENCE_SECONDS;
  if (!reference->usable) {
    *why = arena_printf(a, "no reference result: %s", reference->why);
    return NULL;
  }
  TrialData *d = arena_alloc(a, sizeof *d);
  d->kernel = k;
  d->instance = *instance;
  d->reference = reference;
  d->made = wish.made;
  d->scale = 1;
  d->singles = arena_alloc(a, sizeof *d->singles);
  d->want.kernel = k->name;
  d->want.tensor_count = k->arg_count;
  d->want.tensors = arena_alloc(a, MAX_ARGS * sizeof *d->want.tensors);
  values_set(a, d, c);
  if (!inputs_set(a, d, c, seed, wish, why)) return NULL;
  return wish.inputs_only || outputs_set(a, d, wish, why) ? d : NULL;
}

TrialData *trial_data(Arena *a, const Kernel *k, const kg_instance *instance, const Case *c,
                      const Reference *reference, uint64_t seed, const char **why) {
  return trial_data_as(a, k, instance, c, reference, seed, (TrialWish){0}, why);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t bytes_of(const TrialData *d, int arg) {
  const ref_tensor *t = &d->want.tensors[arg];
  return (size_t)t->count * kg_dtype_bytes((kg_dtype)t->dtype);
}

static void *poisoned(Arena *a, const TrialData *d, int arg) {
  const ref_tensor *t = &d->want.tensors[arg];
  void *bytes = arena_alloc(a, bytes_of(d, arg) + 1);
  for (int64_t i = 0; i < t->count; i++)
    element_put_bits((kg_dtype)t->dtype, bytes, i, element_poison((kg_dtype)t->dtype));
  return bytes;
}

/* Launches and waits; the outputs are as poisoned before each launch. */
static kg_status launch(const TrialData *d, kg_device *device, kg_tensor *tensors, void **poison,
                        double *seconds) {
  const Kernel *k = d->kernel;
  kg_status s = KG_OK;
  for (int i = k->input_count; i < k->arg_count && s == KG_OK; i++)
    s = kg_device_upload(device, tensors[i].data, poison[i], bytes_of(d, i));
  if (s == KG_OK) s = kg_device_synchronize(device);
  const kg_call call = {&k->model, tensors, d->scalars, d->instance.consts};
  const double start = now();
  if (s == KG_OK) s = kg_launch(device, &call);
  if (s == KG_OK) s = kg_device_synchronize(device);
  *seconds = now() - start;
  return s;
}

static kg_status prepare(const TrialData *d, kg_device *device, double *seconds) {
  kg_instance i = d->instance;
  i.wave = kg_device_wave(device);
  const double start = now();
  const kg_status s = kg_prepare(device, &i);
  *seconds = now() - start;
  return s;
}

/* Where an argument needs no more alignment than an element's, it gets no more. */
static size_t offset_of(const TrialData *d, int arg) {
  return d->kernel->args[arg].align ? 0 : kg_dtype_bytes((kg_dtype)d->want.tensors[arg].dtype);
}

/* Whatever was allocated, in memory, is given back by the caller, also after a failure. */
static kg_status run(Arena *a, const TrialData *d, kg_device *device, int repeat, Trial *trial,
                     void **memory) {
  const Kernel *k = d->kernel;
  void *poison[MAX_ARGS] = {0};
  kg_tensor tensors[MAX_ARGS] = {0};
  kg_status s = prepare(d, device, &trial->prepare_seconds);
  for (int i = 0; i < k->arg_count && s == KG_OK; i++) {
    const ref_tensor *t = &d->want.tensors[i];
    const size_t bytes = bytes_of(d, i), offset = offset_of(d, i);
    s = kg_device_alloc(device, offset + (bytes ? bytes : 1), &memory[i]);
    if (s != KG_OK) break;
    void *data = (char *)memory[i] + offset;
    tensors[i] = kg_tensor_of(device, data, (kg_dtype)t->dtype, t->rank, t->shape);
    if (i < k->input_count)
      s = kg_device_upload(device, data, d->bytes[i], bytes);
    else
      poison[i] = poisoned(a, d, i);
  }
  trial->seconds = INFINITY;
  for (int r = 0; s == KG_OK && r < (repeat > 1 ? repeat : 1); r++) {
    double seconds;
    s = launch(d, device, tensors, poison, &seconds);
    if (seconds < trial->seconds) trial->seconds = seconds;
  }
  for (int i = k->input_count; i < k->arg_count && s == KG_OK;
       i++) /* over the poison, which has served */
    s = kg_device_download(device, poison[i], tensors[i].data, bytes_of(d, i));
  for (int i = k->input_count; i < k->arg_count; i++)
    trial->outputs[i - k->input_count].got = poison[i];
  return s;
}

Trial trial_run(Arena *a, const TrialData *d, kg_device *device, int repeat) {
  const Kernel *k = d->kernel;
  Trial trial = {0};
  void *memory[MAX_ARGS] = {0};
  const unsigned char *left[MAX_ARGS] = {NULL};
  for (int i = k->input_count; i < k->arg_count; i++) left[i] = d->want.tensors[i].left;
  kg_simt_may_leave(left);
  trial.status = run(a, d, device, repeat, &trial, memory);
  kg_simt_may_leave(NULL);
  if (trial.status != KG_OK) trial.message = arena_strdup(a, kg_device_message(device));
  for (int i = 0; i < k->arg_count; i++)
    if (memory[i]) kg_device_free(device, memory[i]);
  if (trial.status == KG_OK) compare_outputs(a, d, &trial);
  return trial;
}

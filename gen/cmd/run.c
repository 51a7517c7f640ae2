/* run.c: `kgen run`: launches one kernel once, on made-up data, and puts it to its reference. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "cmd/cmd.h"
#include "passes.h"
#include "verify/element.h"
#include "verify/trial.h"

static const OptionRow rows[] = {
    {'d', "device", "NAME", "best (default), hip, cuda, simt32, simt64, simt32/cuda ..., or all"},
    {0, "fill", "NAME", "data of the reference's own making, by name"},
    {0, "seed", "N", "of the made-up data (default: 1)"},
    {0, "repeat", "N", "launches to take the fastest of (default: 1)"},
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "run",
    .operands = "KERNEL [NAME=VALUE...]",
    .summary = "Launch a kernel on made-up data, compare with its reference in double precision, "
               "and time it.",
    .more = "NAME is a type (T=bf16), a dim (rows=8), a constant or a scalar of the kernel.  A "
            "type that is not given is the\n"
            "first given one's dtype where it may be; all else comes from the first of the "
            "specification's cases.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = -1,
};

/* What is run, as the operands say it. */
typedef struct Choice {
  kg_dtype types[MAX_TYPES];
  bool type_given[MAX_TYPES];
  Case at;
} Choice;

static bool read_whole(const char *s, int64_t *out) {
  char *end;
  errno = 0;
  *out = strtoll(s, &end, 10);
  return *s && !*end && errno == 0;
}

static bool read_real(const char *s, double *out) {
  char *end;
  *out = strtod(s, &end);
  return *s && !*end;
}

static int set_type(const Kernel *k, int i, const char *value, Choice *c) {
  const kg_type_param *t = &k->types[i];
  const kg_dtype dtype = kg_dtype_find(value);
  if (kg_type_has(t, dtype)) {
    c->types[i] = dtype;
    c->type_given[i] = true;
    return EXIT_FINE;
  }
  Buf b = {0};
  for (int n = 0; n < t->count; n++)
    buf_printf(&b, "%s%s", n ? ", " : "", kg_dtype_name(t->dtypes[n]));
  const int status =
      usage_error(&command, "type %s of %s is one of %s; not '%s'", t->name, k->name, b.s, value);
  buf_free(&b);
  return status;
}

static int set_dim(const Kernel *k, int i, const char *value, Choice *c) {
  int64_t n;
  if (!read_whole(value, &n) || n < 0 || n > k->dim_max[i])
    return usage_error(&command, "dim %s of %s is a whole number from 0 to %lld; not '%s'",
                       k->dims[i], k->name, (long long)k->dim_max[i], value);
  c->at.values[i] = n;
  c->at.given[i] = true;
  return EXIT_FINE;
}

static int set_const(const Kernel *k, int i, const char *value, Choice *c) {
  const kg_const_param *p = &k->consts[i];
  int64_t n = -1;
  const bool truth = p->is_bool && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
  if (truth) n = strcmp(value, "true") == 0;
  const bool read = truth || read_whole(value, &n);
  for (int v = 0; read && v < p->count; v++)
    if (p->values[v] == n) {
      c->at.values[k->dim_count + i] = n;
      c->at.given[k->dim_count + i] = true;
      return EXIT_FINE;
    }
  Buf b = {0};
  for (int v = 0; v < p->count; v++)
    buf_printf(&b, "%s%lld", v ? ", " : "", (long long)p->values[v]);
  const int status =
      usage_error(&command,
                  p->in_key ? "constant %s of %s is one of %s; not '%s'"
                            : "constant %s of %s is fixed by the specification, at %s; not '%s'",
                  p->name, k->name, p->is_bool ? "true, false" : b.s, value);
  buf_free(&b);
  return status;
}

static int set_scalar(const Kernel *k, int i, const char *value, Choice *c) {
  const int v = k->dim_count + k->const_count + i;
  const kg_dtype dtype = k->scalars[i].dtype;
  const bool read =
      dtype == KG_F32 ? read_real(value, &c->at.reals[i]) : read_whole(value, &c->at.values[v]);
  if (dtype != KG_F32) c->at.reals[i] = (double)c->at.values[v];
  const ScalarDomain *d = &k->scalar_domains[i];
  double low, high;
  scalar_ends(dtype, d, &low, &high);
  const bool declared = d->has_min || d->has_max,
             any = dtype == KG_F32 && !declared; /* infinities, too */
  if (read && (any || (c->at.reals[i] >= low && c->at.reals[i] <= high))) {
    c->at.given[v] = true;
    return EXIT_FINE;
  }
  char ends[64] = "";
  if (declared) snprintf(ends, sizeof ends, " from %.9g to %.9g", low, high);
  return usage_error(&command, "scalar %s of %s is a number of %s%s; not '%s'", k->scalars[i].name,
                     k->name, kg_dtype_name(dtype), ends, value);
  c->at.given[v] = true;
  return EXIT_FINE;
}

static int set_one(Arena *a, const Kernel *k, const char *operand, Choice *c) {
  const size_t len = strcspn(operand, "=");
  if (!operand[len]) return usage_error(&command, "'%s' is not NAME=VALUE", operand);
  const char *value = operand + len + 1;
  const char *word = arena_strndup(a, operand, len);
  const kg_symbol s = kg_symbol_named(&k->model, word);
  switch (s.kind) {
  case KG_TYPE: return set_type(k, s.index, value, c);
  case KG_DIM: return set_dim(k, s.index, value, c);
  case KG_CONST: return set_const(k, s.index, value, c);
  case KG_SCALAR: return set_scalar(k, s.index, value, c);
  case KG_INPUT:
  case KG_OUTPUT:
  case KG_SYMBOL_KINDS: break;
  }
  const char *names[MAX_TYPES + KG_VARIABLES];
  int count = 0;
  for (int i = 0; i < k->type_count; i++) names[count++] = k->types[i].name;
  for (int i = 0; i < kg_variable_count(&k->model); i++)
    names[count++] = kg_symbol_at(&k->model, i).name;
  const char *near = nearest_name(word, names, count);
  if (near)
    return usage_error(&command, "%s has no type, dim, constant or scalar '%s'; did you mean '%s'?",
                       k->name, word, near);
  Buf b = {0};
  for (int i = 0; i < count; i++) buf_printf(&b, "%s%s", i ? ", " : "", names[i]);
  const int status = usage_error(
      &command, "%s has no type, dim, constant or scalar '%s'; it has %s", k->name, word, b.s);
  buf_free(&b);
  return status;
}

/* The case whose values are the defaults: the first with the fill asked for, else the first. */
static int choice_defaults(const Kernel *k, const char *fill, Choice *c) {
  const Case *from = NULL;
  for (int i = 0; i < k->case_count && !from; i++)
    if (!fill || (k->cases[i].fill && strcmp(k->cases[i].fill, fill) == 0)) from = &k->cases[i];
  if (!from && k->case_count > 0) from = &k->cases[0];
  if (from) c->at = *from;
  if (fill) c->at.fill = fill;
  for (int i = 0; i < k->type_count; i++) c->types[i] = k->types[i].dtypes[0];
  return EXIT_FINE;
}

static void types_follow(const Kernel *k, Choice *c) {
  int first = -1;
  for (int i = 0; i < k->type_count && first < 0; i++)
    if (c->type_given[i]) first = i;
  for (int i = 0; i < k->type_count && first >= 0; i++)
    for (int n = 0; n < k->types[i].count && !c->type_given[i]; n++)
      if (k->types[i].dtypes[n] == c->types[first]) c->types[i] = c->types[first];
}

static int choice_read(Arena *a, const Kernel *k, const Options *o, Choice *c) {
  choice_defaults(k, option_value(&command, o, "fill"), c);
  for (int i = 1; i < o->operand_count; i++) {
    const int status = set_one(a, k, o->operands[i], c);
    if (status != EXIT_FINE) return status;
  }
  types_follow(k, c);
  for (int i = 0; i < k->dim_count; i++)
    if (!c->at.given[i])
      return usage_error(&command, "say how large %s is: %s=N", k->dims[i], k->dims[i]);
  return EXIT_FINE;
}

static void print_head(Arena *a, const TrialData *d, uint64_t seed) {
  const Kernel *k = d->kernel;
  printf("%s ", instance_name(a, &d->instance));
  for (int i = 0; i < k->dim_count; i++)
    printf(" %s=%lld", k->dims[i], (long long)d->want.values[i].whole);
  for (int i = 0; i < k->scalar_count; i++) {
    const ref_value *v = &d->want.values[k->dim_count + k->const_count + i];
    if (k->scalars[i].dtype == KG_F32)
      printf(" %s=%g", v->name, v->real);
    else
      printf(" %s=%lld", v->name, (long long)v->whole);
  }
  printf("  seed %llu\n", (unsigned long long)seed);
  printf("%-28s %-16s %10s %10s %10s %10s %12s\n", "device", "output", "max error", "tolerance",
         "rms error", "tolerance", "time");
}

static void print_output(const char *device, const Trial *t, const TrialOutput *o) {
  const bool floats = dtype_is_float(o->dtype);
  const bool every_bit = !floats || (o->tolerance.rms <= 0 && o->tolerance.max <= 0);
  char max[16] = "judged", rms[16] = "judged";
  if (!t->judged && every_bit)
    snprintf(max, sizeof max, "%s", "exact"), snprintf(rms, sizeof rms, "%s", "exact");
  if (!t->judged && !every_bit) {
    snprintf(max, sizeof max, "%.3g", o->tolerance.max);
    snprintf(rms, sizeof rms, "%.3g", o->tolerance.rms);
  }
  printf("%-28s %-16s %10.3g %10s %10.3g %10s %9.3f ms%s\n", device, o->name, o->max, max, o->rms,
         rms, 1e3 * t->seconds, o->right ? "" : "  WRONG");
  if (!o->right) printf("  %s: %s\n", o->name, o->why);
}

static bool run_on(Arena *a, const TrialData *d, kg_device *device, int repeat) {
  const Trial t = trial_run(a, d, device, repeat);
  if (t.status != KG_OK) {
    printf("%-28s %s\n  %s\n", kg_device_name(device), kg_status_name(t.status), t.message);
    return false;
  }
  for (int i = 0; i < t.output_count; i++) print_output(kg_device_name(device), &t, &t.outputs[i]);
  if (t.judgement) printf("  %s\n", t.judgement);
  return t.right;
}

/* "all" leaves out what is not there, and says so; a device asked for by name must be there. */
static int run_devices(Arena *a, const TrialData *d, const char *which, int repeat) {
  const bool all = strcmp(which, "all") == 0;
  bool right = true;
  for (int i = 0; all ? kg_device_kind(i) != NULL : i == 0; i++) {
    const char *name = all ? kg_device_kind(i) : which;
    kg_device *device = NULL;
    kg_error error = {0};
    const kg_status s = kg_device_open(name, &device, &error);
    if (s == KG_BAD_ARGUMENT) return usage_error(&command, "%s", error.message);
    if (s != KG_OK) {
      printf("%-28s %s: %s\n", name, all && s == KG_NO_DEVICE ? "left out" : kg_status_name(s),
             error.message);
      right = right && all && s == KG_NO_DEVICE;
      continue;
    }
    right = run_on(a, d, device, repeat) && right;
    kg_device_close(device);
  }
  return right ? EXIT_FINE : EXIT_FINDINGS;
}

static int run(Arena *a, const Library *l, const LibraryOptions *lo, const Options *o,
               uint64_t seed, int repeat) {
  const Kernel *k = library_kernel(l, o->operands[0], NULL);
  if (!k) {
    const int count = l->spec->kernel_count;
    const char **names = arena_alloc(a, (size_t)count * sizeof *names);
    for (int i = 0; i < count; i++) names[i] = l->spec->kernels[i]->name;
    const char *near = nearest_name(o->operands[0], names, count);
    if (near)
      return usage_error(&command, "there is no kernel '%s'; did you mean '%s'?", o->operands[0],
                         near);
    return usage_error(&command, "there is no kernel '%s'; see 'kgen ports'", o->operands[0]);
  }
  Choice c = {0};
  const int status = choice_read(a, k, o, &c);
  if (status != EXIT_FINE) return status;
  References *refs = references_open(a, l->spec, library_templates_folder(a, lo));
  const kg_instance instance = case_instance(k, &c.at, c.types);
  const char *why = NULL;
  const TrialData *d = trial_data(a, k, &instance, &c.at, reference_of(refs, k), seed, &why);
  int result = EXIT_FINDINGS;
  if (d) {
    const char *device = option_value(&command, o, "device");
    print_head(a, d, seed);
    result = run_devices(a, d, device ? device : "best", repeat);
  } else {
    fprintf(stderr, "kgen run: %s: %s\n", k->name, why);
  }
  references_close(refs);
  return result;
}

int cmd_run(int argc, char **argv) {
  Options o = {0};
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  const char *seed_text = option_value(&command, &o, "seed"),
             *repeat_text = option_value(&command, &o, "repeat");
  int64_t seed = 1, repeat = 1;
  if (seed_text && !read_whole(seed_text, &seed))
    return usage_error(&command, "--seed takes a whole number; not '%s'", seed_text);
  if (repeat_text && (!read_whole(repeat_text, &repeat) || repeat < 1 || repeat > 1000000))
    return usage_error(&command, "--repeat takes a number from 1 to 1000000; not '%s'",
                       repeat_text);
  Arena *a = arena_new();
  LibraryOptions lo = library_options(&command, &o);
  lo.only = o.operands[0];
  const Library *l = library_open(a, &lo);
  status = l ? run(a, l, &lo, &o, (uint64_t)seed, (int)repeat) : EXIT_FINDINGS;
  arena_free(a);
  return status;
}

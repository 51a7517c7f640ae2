/* shipped_calls.c: every launcher and predicate of kernels.c, called on recording devices, against
** a launch of the specification's own kernel there.  See shipped.h.
**
** No two tensors, dims or scalars of a call have the same value where the requirements leave room,
** so that what is exchanged shows. */
#include <stdlib.h>
#include <string.h>

#include "verify/recorder.h"
#include "verify/shipped.h"

/* One device for the specification's launches, its twin for those of kernels.c. */
typedef struct Twins {
  kg_device *own, *shipped;
} Twins;

typedef struct Caller {
  ShippedReport *to;
  const Kernel *k; /* at hand */
  const ShippedKernel *shipped;
  int calls;
  bool differs; /* this kernel's have been found to: the rest would say it again */
  int twin_count;
  Twins twins[WAVES * MAX_BACKENDS];
} Caller;

typedef struct Call {
  kg_tensor tensors[MAX_ARGS];
  int null; /* the argument that is a null pointer; -1: none */
  kg_scalar scalars[MAX_SCALARS];
  int64_t consts[MAX_CONSTS];
} Call;

/* ---- what was recorded ----------------------------------------------------------------------- */

static void differs(Caller *c, const kg_device *device, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void differs(Caller *c, const kg_device *device, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  c->differs = true;
  shipped_found(c->to, c->k, "kernels.c: %s_launch, on %s, %s", c->k->name, kg_device_name(device),
                text);
}

/* "the memory of x", "13", "1.5": what stands in the argument block for a field. */
static const char *field_text(const Caller *c, const Call *call, const kg_block_field *f,
                              const unsigned char *block, char text[64]) {
  uint64_t word = 0;
  float real;
  memcpy(&word, block + f->offset, f->bytes);
  memcpy(&real, block + f->offset, sizeof real);
  const char *memory = NULL;
  for (int i = 0; i < c->k->arg_count; i++)
    if ((uintptr_t)call->tensors[i].data == word) memory = c->k->args[i].name;
  if (f->bytes == sizeof(void *))
    snprintf(text, 64, "%s%.40s", memory != NULL ? "the memory of " : "an address of no tensor",
             memory != NULL ? memory : "");
  else if (f->symbol.kind == KG_SCALAR && c->k->scalars[f->symbol.index].dtype == KG_F32)
    snprintf(text, 64, "%g", (double)real);
  else
    snprintf(text, 64, "%lld",
             f->symbol.kind == KG_SCALAR && c->k->scalars[f->symbol.index].dtype == KG_I32
                 ? (long long)(int32_t)word
                 : (long long)word);
  return text;
}

static void compare_blocks(Caller *c, const Call *call, const kg_device *device,
                           const Recorded *got, const Recorded *want) {
  kg_block_field fields[KG_MAX_FIELDS];
  uint32_t bytes;
  char x[64], y[64];
  const int count = kg_block_layout(&c->k->model, fields, &bytes);
  if (got->bytes != want->bytes)
    differs(c, device, "passes %u bytes of arguments, and by the specification %u", got->bytes,
            want->bytes);
  for (int i = 0; i < count; i++) {
    const kg_block_field *f = &fields[i];
    if (memcmp(got->args + f->offset, want->args + f->offset, f->bytes) == 0) continue;
    differs(c, device, "passes %s as %s, and by the specification %s",
            field_text(c, call, f, got->args, x), f->symbol.name,
            field_text(c, call, f, want->args, y));
  }
}

static void compare_axes(Caller *c, const kg_device *device, const char *what, const uint32_t *got,
                         const uint32_t *want) {
  if (memcmp(got, want, 3 * sizeof *got) != 0)
    differs(c, device, "launches %u x %u x %u %s, and by the specification %u x %u x %u", got[0],
            got[1], got[2], what, want[0], want[1], want[2]);
}

/* The parts of Recorded.source, in order. */
static void compare_sources(Caller *c, const kg_device *device, const Recorded *got,
                            const Recorded *want) {
  static const char *const parts[] = {"instance", "file", "options", "text"};
  const char *x = got->source, *y = want->source;
  for (int i = 0; i < 4; i++, x += strlen(x) + 1, y += strlen(y) + 1) {
    if (strcmp(x, y) == 0) continue;
    if (i < 3)
      differs(c, device, "compiles the %s \"%s\", and by the specification \"%s\"", parts[i], x, y);
    else
      differs(c, device, "compiles another text than the specification's");
  }
}

static void compare_records(Caller *c, const Call *call, const Twins *t) {
  const Recorded *got = recorder_last(t->shipped), *want = recorder_last(t->own);
  if (got->launches != want->launches)
    differs(c, t->own, "launches %d times, and by the specification %d", got->launches,
            want->launches);
  if (got->launches == 0 || want->launches == 0) return;
  compare_axes(c, t->own, "groups", got->grid.groups, want->grid.groups);
  compare_axes(c, t->own, "threads", got->grid.threads, want->grid.threads);
  if (got->grid.shared_bytes != want->grid.shared_bytes)
    differs(c, t->own, "adds %u bytes of shared memory, and by the specification %u",
            got->grid.shared_bytes, want->grid.shared_bytes);
  compare_blocks(c, call, t->own, got, want);
  compare_sources(c, t->own, got, want);
}

/* ---- a call, both ways ----------------------------------------------------------------------- */

static void make_call(Caller *c, const Call *call, const Twins *t) {
  const Kernel *k = c->k;
  kg_tensor passed[MAX_ARGS], *given[MAX_ARGS], own[MAX_ARGS];
  for (int i = 0; i < k->arg_count; i++) {
    passed[i] = own[i] = call->tensors[i];
    given[i] = i == call->null ? NULL : &passed[i];
    if (i == call->null) own[i] = (kg_tensor){.rank = -1};
  }
  recorder_clear(t->own);
  recorder_clear(t->shipped);
  shipped_at(c->to, k, "calling %s_launch", k->name);
  const kg_status want = kg_launch(t->own, &(kg_call){&k->model, own, call->scalars, call->consts});
  const kg_status got = c->shipped->launch(t->shipped, given, call->scalars, call->consts);
  c->calls++;
  if (got != want ||
      (want != KG_OK && strcmp(kg_device_message(t->shipped), kg_device_message(t->own)) != 0))
    differs(c, t->own, "answers \"%s\", and by the specification \"%s\"",
            got != KG_OK ? kg_device_message(t->shipped) : "launched",
            want != KG_OK ? kg_device_message(t->own) : "launched");
  else
    compare_records(c, call, t);
}

static void make_call_everywhere(Caller *c, const Call *call) {
  for (int t = 0; t < c->twin_count && !c->differs; t++) make_call(c, call, &c->twins[t]);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool all_hold(const Kernel *k, const int64_t *values) {
  int64_t holds;
  for (int i = 0; i < k->require_count; i++)
    if (!expr_eval(&k->require[i], values, &holds) || !holds) return false;
  return true;
}

/* No value of these variables, which follow each other, twice, where there is room. */
static void tell_apart(const Kernel *k, int64_t *values, int first, int count) {
  enum { NEAR = 16 };
  for (int v = first + 1; v < first + count; v++) {
    const int64_t given = values[v];
    bool apart = false;
    for (int more = 0; more < NEAR && !apart; more++) {
      values[v] = given + more;
      apart = all_hold(k, values);
      for (int u = first; u < v; u++) apart = apart && values[u] != values[v];
    }
    if (!apart) values[v] = given;
  }
}

/* By variable, of a case: the constants are the call's. */
static void values_of(const Kernel *k, const Case *c, const int64_t *consts, int64_t *values) {
  const int scalars = k->dim_count + k->const_count;
  for (int i = 0; i < k->dim_count; i++) values[i] = c->values[i];
  for (int i = 0; i < k->const_count; i++) values[k->dim_count + i] = consts[i];
  for (int i = 0; i < k->scalar_count; i++)
    values[scalars + i] = k->scalars[i].dtype == KG_F32 ? 0 : c->values[scalars + i];
  tell_apart(k, values, 0, k->dim_count);
  tell_apart(k, values, scalars, k->scalar_count);
}

/* Addresses of memory that is not there, one after another.  False: they pass all memory. */
static bool place_tensor(const Kernel *k, const int64_t *values, int arg, kg_dtype dtype,
                         uint64_t *at, kg_tensor *tensor) {
  static const uint64_t page = 4096, most = UINT64_C(1) << 46;
  const kg_arg *from = &k->args[arg];
  int64_t shape[MAX_RANK];
  uint64_t bytes = kg_dtype_bytes(dtype);
  for (int d = 0; d < from->rank; d++) {
    if (!expr_eval(&from->shape[d], values, &shape[d]) || shape[d] < 0) return false;
    if (shape[d] > 0 && bytes > most / (uint64_t)shape[d]) return false;
    bytes *= (uint64_t)shape[d];
  }
  void *data;
  const uintptr_t address = (uintptr_t)*at;
  memcpy(&data, &address, sizeof data);
  *tensor = kg_tensor_of(NULL, data, dtype, from->rank, shape);
  *at += (bytes / page + 2) * page;
  return *at < most;
}

/* The dtypes of a call are one of those that each type may be, by number. */
static bool call_of(const Kernel *k, const Case *from, const int64_t *consts, int types,
                    Call *call) {
  int64_t values[MAX_DIMS + MAX_CONSTS + MAX_SCALARS];
  values_of(k, from, consts, values);
  *call = (Call){.null = -1};
  memcpy(call->consts, consts, sizeof call->consts);
  for (int i = 0; i < k->scalar_count; i++) {
    const int64_t value = values[k->dim_count + k->const_count + i];
    if (k->scalars[i].dtype == KG_F32)
      call->scalars[i].f32 = 1.5f + (float)i;
    else if (k->scalars[i].dtype == KG_I32)
      call->scalars[i].i32 = (int32_t)value;
    else
      call->scalars[i].u32 = (uint32_t)value;
  }
  uint64_t at = UINT64_C(1) << 20;
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *arg = &k->args[i];
    const kg_type_param *type = arg->type < 0 ? NULL : &k->types[arg->type];
    const kg_dtype dtype = type == NULL ? arg->dtype : type->dtypes[types % type->count];
    if (!place_tensor(k, values, i, dtype, &at, &call->tensors[i])) return false;
  }
  return true;
}

/* ---- the calls of a kernel ------------------------------------------------------------------- */

static int most_dtypes(const Kernel *k) {
  int most = 1;
  for (int t = 0; t < k->type_count; t++)
    if (k->types[t].count > most) most = k->types[t].count;
  return most;
}

static void consts_of(const Kernel *k, const Case *c, int64_t *consts) {
  for (int i = 0; i < k->const_count; i++)
    consts[i] = k->consts[i].in_key && c->given[k->dim_count + i] ? c->values[k->dim_count + i]
                                                                  : k->consts[i].values[0];
}

/* Each case; the first of them also with each dtype, and with each value that a constant has. */
static void call_well(Caller *c, const Case *cases, int count) {
  const Kernel *k = c->k;
  int64_t consts[MAX_CONSTS] = {0};
  Call call;
  for (int i = 0; i < count; i++) {
    consts_of(k, &cases[i], consts);
    if (call_of(k, &cases[i], consts, i, &call)) make_call_everywhere(c, &call);
  }
  consts_of(k, &cases[0], consts);
  for (int types = 0; types < most_dtypes(k); types++)
    if (call_of(k, &cases[0], consts, types, &call)) make_call_everywhere(c, &call);
  for (int i = 0; i < k->const_count; i++)
    for (int n = 0; k->consts[i].in_key && n < k->consts[i].count; n++) {
      consts_of(k, &cases[0], consts);
      consts[i] = k->consts[i].values[n];
      if (call_of(k, &cases[0], consts, 0, &call)) make_call_everywhere(c, &call);
    }
}

/* What must be refused, and in which words: a null pointer, another dtype, rank or size of each
** tensor. */
static void call_badly(Caller *c, const Case *from) {
  const Kernel *k = c->k;
  int64_t consts[MAX_CONSTS] = {0};
  Call right, call;
  consts_of(k, from, consts);
  if (!call_of(k, from, consts, 0, &right)) return;
  for (int i = 0; i < k->arg_count; i++) {
    call = right;
    call.null = i;
    make_call_everywhere(c, &call);
    call = right;
    call.tensors[i].dtype = (kg_dtype)((right.tensors[i].dtype + 1) % KG_DTYPES);
    make_call_everywhere(c, &call);
    call = right;
    call.tensors[i].rank--;
    if (right.tensors[i].rank > 0) make_call_everywhere(c, &call);
    for (int d = 0; d < right.tensors[i].rank; d++) {
      call = right;
      call.tensors[i].shape[d]++;
      make_call_everywhere(c, &call);
    }
  }
}

/* ---- predicates ------------------------------------------------------------------------------ */

/* Of these kernels together; a kernel's own is of it alone. */
typedef struct Predicate {
  const Kernel *k; /* NULL: a path's */
  const char *name;
  bool (*available)(const kg_device *device);
  int kernel_count;
  const char *const *kernels;
} Predicate;

static bool is_of(const Predicate *p, const Kernel *k) {
  bool of = false;
  for (int i = 0; i < p->kernel_count; i++) of = of || strcmp(p->kernels[i], k->name) == 0;
  return of;
}

/* What kg_has_port is while a predicate is asked which ports it asks for: yes to these, no to all
** others, or the other way round. */
static struct {
  const KernelPorts *these;
  bool others;
} answers;

static bool answered(const KernelPorts *ports, const kg_device *device) {
  (void)device;
  return ports == answers.these ? !answers.others : answers.others;
}

/* A path of one kernel says yes where that one does; any other needs all of its own. */
static void check_ports_asked(Caller *c, const Library *l, const ShippedObject *object,
                              const Predicate *p) {
  *object->has_port = answered;
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    answers.these = object->kernels[i].ports;
    for (int others = 0; others < 2; others++) {
      answers.others = others;
      const bool want = others ? !is_of(p, k) : is_of(p, k) && p->kernel_count == 1;
      if (p->available(c->twins[0].shipped) != want)
        shipped_found(c->to, p->k, "kernels.c: %s_available is %s where %s has %s port", p->name,
                      want ? "false" : "true", k->name, others ? "no" : "the only");
    }
  }
  *object->has_port = kg_has_port;
}

static void check_predicate(Caller *c, const Library *l, const ShippedObject *object,
                            const Predicate *p) {
  shipped_at(c->to, p->k, "calling %s_available", p->name);
  for (int t = 0; t < c->twin_count; t++) {
    const bool got = p->available(c->twins[t].shipped);
    bool want = true;
    for (int i = 0; i < l->spec->kernel_count; i++)
      if (is_of(p, l->spec->kernels[i]))
        want = want && kg_has_port(l->spec->kernels[i]->model.ports, c->twins[t].own);
    if (got != want)
      shipped_found(c->to, p->k,
                    "kernels.c: %s_available, on %s, is %s, and by the specification %s", p->name,
                    kg_device_name(c->twins[t].own), got ? "true" : "false",
                    want ? "true" : "false");
  }
  check_ports_asked(c, l, object, p);
}

static void check_predicates(Caller *c, const Library *l, const ShippedObject *object) {
  const Spec *spec = l->spec;
  for (int i = 0; i < spec->kernel_count; i++) {
    const Kernel *k = spec->kernels[i];
    const char *const own[] = {k->name};
    check_predicate(c, l, object, &(Predicate){k, k->name, object->kernels[i].available, 1, own});
  }
  for (int i = 0; i < spec->set_count; i++) {
    const KernelSet *s = spec->sets[i];
    check_predicate(c, l, object,
                    &(Predicate){NULL, s->name, object->paths[i], s->kernel_count, s->kernels});
  }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void check_kernel(Caller *c, const Kernel *k, const ShippedKernel *shipped) {
  Case made = {.fill = NULL}; /* where the specification has none */
  for (int i = 0; i < k->dim_count; i++) made.values[i] = 64;
  const Case *cases = k->case_count > 0 ? k->cases : &made;
  c->k = k;
  c->shipped = shipped;
  c->differs = false;
  call_well(c, cases, k->case_count > 0 ? k->case_count : 1);
  call_badly(c, &cases[0]);
}

static bool open_twins(Caller *c, const Library *l) {
  kg_error error;
  for (int i = 0; i < l->backend_count; i++)
    for (int w = 0; w < WAVES; w++) {
      Twins *t = &c->twins[c->twin_count++];
      const char *backend = l->backends[i]->name;
      *t = (Twins){recorder_open(backend, w ? 64 : 32, &error),
                   recorder_open(backend, w ? 64 : 32, &error)};
      if (t->own != NULL && t->shipped != NULL) continue;
      shipped_found(c->to, NULL, "nothing was called: %s", error.message);
      return false;
    }
  return true;
}

int shipped_calls(ShippedReport *to, const Library *l, const ShippedObject *object) {
  Caller c = {.to = to};
  const Spec *spec = l->spec;
  if (open_twins(&c, l)) {
    for (int i = 0; i < spec->kernel_count; i++)
      check_kernel(&c, spec->kernels[i], &object->kernels[i]);
    check_predicates(&c, l, object);
  }
  for (int i = 0; i < c.twin_count; i++) {
    recorder_close(c.twins[i].own);
    recorder_close(c.twins[i].shipped);
  }
  return c.calls;
}

/* run.c: every case of the specification, in every choice of dtypes, run on the CPU lane by
** lane: each backend's text at each of its widths, put to the reference, and at one width to the
** other backends' texts, bit for bit.  Under the sanitizer the same runs are watched.
** See verify.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "simt_check.h"
#include "verify/data.h"
#include "verify/element.h"
#include "verify/verify.h"

typedef struct Job {
  int kernel, number; /* of the case */
  VerifyStage stage;
  kg_dtype types[MAX_TYPES];
  const Reference *reference;
} Job;

/* ---- devices --------------------------------------------------------------------------------- */

/* "clang 19.1.7" of a device's identity, which goes on with hashes. */
static const char *title_of(Arena *a, const kg_device *device) {
  const size_t name = strcspn(device->compiler, " ");
  const size_t number = device->compiler[name] ? 1 + strcspn(device->compiler + name + 1, " ,") : 0;
  return arena_strndup(a, device->compiler, name + number);
}

/* A backend that the simulator learns to run needs no change here. */
static void add_device(Verify *v, VerifyStage stage, const Backend *b, int wave) {
  char text[128];
  kg_simt_device_name(text, sizeof text, b->name, wave, stage == VERIFY_SANITIZE);
  const char *name = arena_strdup(v->arena, text);
  VerifyTool *t = verify_wants(v, name) ? verify_tool(v, stage, name, b->name) : NULL;
  if (t == NULL) return;
  t->brief = arena_printf(v->arena, "simt%d", wave);
  t->wave = wave;
  kg_error error = {0};
  if (kg_device_open(t->name, &t->device, &error) != KG_OK)
    t->why = arena_strdup(v->arena, error.message);
  else
    t->title = title_of(v->arena, t->device);
}

void verify_run_tools(Verify *v, VerifyStage stage) {
  const Library *l = v->library;
  for (int i = 0; i < l->backend_count; i++)
    for (int w = 0; w < WAVES; w++) {
      bool used = false;
      for (int r = 0; r < v->row_count; r++)
        used = used ||
               (v->rows[r].port->backend == l->backends[i] && (v->rows[r].port->waves & (1u << w)));
      if (used) add_device(v, stage, l->backends[i], w ? 64 : 32);
    }
}

void verify_run_open(Verify *v) {
  const size_t kernels = (size_t)v->library->spec->kernel_count + 1;
  v->references = references_open(v->arena, v->library->spec, v->templates);
  v->inputs = arena_alloc(v->arena, kernels * sizeof *v->inputs);
  v->probes_seen = arena_alloc(v->arena, kernels * sizeof *v->probes_seen);
}

void verify_inputs_seen(Verify *v, int kernel, const TrialData *d) {
  for (int i = 0; i < d->kernel->input_count; i++) {
    const ref_tensor *t = &d->want.tensors[i];
    const size_t bytes = (size_t)t->count * kg_dtype_bytes((kg_dtype)t->dtype),
                 one = kg_dtype_bytes((kg_dtype)t->dtype);
    if (t->count < 2) continue;
    /* each element is as the one before it */
    const bool varies = memcmp(d->bytes[i], (char *)d->bytes[i] + one, bytes - one) != 0;
    pthread_mutex_lock(&v->lock);
    if (v->inputs[kernel][i] != INPUT_VARIES)
      v->inputs[kernel][i] = varies ? INPUT_VARIES : INPUT_CONSTANT;
    pthread_mutex_unlock(&v->lock);
  }
}

/* An input of one value cannot show whether the right element of it is read. */
static void check_inputs(Verify *v) {
  for (int i = 0; i < v->library->spec->kernel_count; i++) {
    const Kernel *k = v->library->spec->kernels[i];
    if (verify_has_findings(v, VERIFY_RUN, k)) continue; /* fewer cases were run for it */
    for (int n = 0; n < k->input_count; n++)
      if (v->inputs[i][n] == INPUT_CONSTANT)
        verify_found(v, v->stages[VERIFY_RUN] ? VERIFY_RUN : VERIFY_SANITIZE, -1, k, NULL,
                     (VerifyPlace){0},
                     "the input '%s' had one value in all its elements, in every run; say what its "
                     "values may be (index or range), or give a case with data or a fill for it",
                     k->args[n].name);
  }
}

void verify_run_close(Verify *v) {
  if (v->references != NULL) {
    check_inputs(v);
    verify_remarks(v);
    verify_coverage(v);
    references_close(v->references);
  }
  for (int i = 0; i < v->tool_count; i++) kg_device_close(v->tools[i].device);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "case 3 (rows = 5, D = 1, eps = 1e-06)", as the specification has it. */
static const char *case_text(Arena *a, const Kernel *k, int number) {
  const Case *c = &k->cases[number];
  Buf b = {0};
  case_put(&b, k, c);
  const char *values = b.s != NULL ? b.s : "";
  const char *text = c->made_of > 0
                         ? arena_printf(a, "a case made of case %d (%s)", c->made_of, values)
                         : arena_printf(a, "case %d (%s)", number + 1, values);
  buf_free(&b);
  return text;
}

const char *trial_fault(Arena *a, const Trial *t) {
  if (t->status != KG_OK) return t->message;
  Buf b = {0};
  if (t->judgement != NULL) buf_printf(&b, "%s\n", t->judgement);
  for (int o = 0; o < t->output_count; o++)
    if (t->outputs[o].why != NULL)
      buf_printf(&b, "%s: %s\n", t->outputs[o].name, t->outputs[o].why);
  const char *text = arena_strdup(a, b.s != NULL ? b.s : "the outputs are not right");
  buf_free(&b);
  return text;
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* Where two runs of one case first differ, in words; NULL: nowhere. */
static const char *difference(Arena *a, const TrialData *d, const Trial *x, const Trial *y,
                              const char *x_name, const char *y_name) {
  for (int o = 0; o < x->output_count; o++) {
    const TrialOutput *p = &x->outputs[o], *q = &y->outputs[o];
    int64_t differ = 0, at = 0;
    for (int64_t i = p->count; i-- > 0;)
      if (element_bits(p->dtype, p->got, i) != element_bits(q->dtype, q->got, i)) differ++, at = i;
    if (differ == 0) continue;
    const uint64_t m = element_bits(p->dtype, p->got, at), n = element_bits(q->dtype, q->got, at);
    const ref_tensor *t = &d->want.tensors[d->kernel->input_count + o];
    Buf b = {0};
    int64_t rest = at;
    int64_t index[MAX_RANK];
    for (int i = t->rank - 1; i >= 0; i--) index[i] = rest % t->shape[i], rest /= t->shape[i];
    for (int i = 0; i < t->rank; i++) buf_printf(&b, "%s%lld", i ? ", " : "", (long long)index[i]);
    const char *text =
        arena_printf(a,
                     "%s: %lld of %lld elements have other bits in the %s text than in the %s "
                     "text, the first is [%s]: %.9g (0x%llx), and %.9g (0x%llx)",
                     p->name, (long long)differ, (long long)p->count, y_name, x_name,
                     b.s != NULL ? b.s : "", element_real(q->dtype, n), (unsigned long long)n,
                     element_real(p->dtype, m), (unsigned long long)m);
    buf_free(&b);
    return text;
  }
  return NULL;
}

static const char *excuse(const Port *x, const Port *y) {
  return y->why_defines != NULL ? y->why_defines : x->why_defines;
}

/* ---- one case -------------------------------------------------------------------------------- */

typedef struct Ran {
  int tool;
  VerifyRow *row;
  Trial trial;
} Ran;

static void note_error(VerifyRow *row, const Trial *t) {
  row->measured = true;
  row->judged = row->judged || t->judged;
  for (int o = 0; o < t->output_count && !t->judged; o++) {
    const TrialOutput *out = &t->outputs[o];
    const double bound[] = {out->tolerance.rms, out->tolerance.max}, error[] = {out->rms, out->max};
    for (int i = 0; i < 2; i++) {
      if (!(bound[i] > 0)) continue;
      const double share = error[i] / bound[i];
      if (row->inexact && !(share > row->share)) continue;
      row->inexact = true;
      row->share = share;
      row->error = error[i];
      row->tolerance = bound[i];
      row->dtype = out->dtype;
    }
  }
}

/* The witnesses of the launch that this thread has just made, each a finding of its own. */
static int witnesses_found(Verify *v, int number, const Job *job, const Ran *ran,
                           VerifyPlace place) {
  const kg_simt_finding *all = NULL;
  const int count = kg_simt_findings(v->tools[ran->tool].device, &all);
  for (int i = 0; i < count; i++) /* of the body, whichever text showed it: the place says */
    verify_found(v, job->stage, number, ran->row->kernel, NULL, place, "%s", all[i].sentence);
  return count;
}

static void judge_run(Verify *v, int number, const Job *job, const Ran *ran, const char *at) {
  VerifyRow *row = ran->row;
  const Trial *t = &ran->trial;
  const bool checked = job->stage == VERIFY_SANITIZE;
  const bool good = t->status == KG_OK && (checked || t->right);
  const VerifyPlace place = {row->name, v->tools[ran->tool].name, NULL, at};
  if (!good && (!checked || witnesses_found(v, number, job, ran, place) == 0)) {
    Arena *a = arena_new();
    verify_found(v, job->stage, number, row->kernel, row->port->backend->name, place, "%s",
                 trial_fault(a, t));
    arena_free(a);
  }
  pthread_mutex_lock(&v->lock);
  row->wanted[ran->tool]++;
  row->good[ran->tool] += good;
  if (!checked && t->status == KG_OK) note_error(row, t);
  v->checks[job->stage]++;
  pthread_mutex_unlock(&v->lock);
}

static void set_bits(Verify *v, VerifyRow *row, VerifyBits bits) {
  pthread_mutex_lock(&v->lock);
  if (bits > row->bits) row->bits = bits; /* the worst of all cases */
  pthread_mutex_unlock(&v->lock);
}

/* What the others are put to: the first that kgen wrote, else the first. */
static const Ran *first_of(const Verify *v, const Ran *ran, int count) {
  const Ran *first = NULL;
  for (int i = 0; i < count; i++) {
    if (v->tools[ran[i].tool].wave != 32 || ran[i].trial.status != KG_OK) continue;
    if (first == NULL || (first->row->port->native && !ran[i].row->port->native)) first = &ran[i];
  }
  return first;
}

/* The owner of a text may round otherwise than kgen's do: within the tolerance, that is a remark. */
static void note_native(Verify *v, VerifyRow *row, const char *what, const char *at) {
  pthread_mutex_lock(&v->lock);
  if (row->differs == NULL) row->differs = arena_printf(v->arena, "%s\n%s", what, at);
  pthread_mutex_unlock(&v->lock);
}

/* All texts that ran at 32 lanes, each put to one of them. */
static void judge_bits(Verify *v, Arena *a, int number, const Job *job, const TrialData *d,
                       const Ran *ran, int count, const char *at) {
  const Ran *first = first_of(v, ran, count);
  if (first != NULL) set_bits(v, first->row, BITS_FIRST);
  for (int i = 0; i < count; i++) {
    const VerifyTool *t = &v->tools[ran[i].tool];
    if (t->wave != 32 || ran[i].trial.status != KG_OK || &ran[i] == first) continue;
    const Port *p = first->row->port, *q = ran[i].row->port;
    const char *what =
        difference(a, d, &first->trial, &ran[i].trial, p->backend->name, q->backend->name);
    const bool native = p->native != NULL || q->native != NULL,
               excused = what != NULL && (native || excuse(p, q) != NULL);
    if (what != NULL && native && first->trial.right && ran[i].trial.right)
      note_native(v, ran[i].row, what, at);
    set_bits(v, ran[i].row, what == NULL ? BITS_SAME : excused ? BITS_EXCUSED : BITS_DIFFER);
    if (what != NULL && !excused)
      verify_found(v, job->stage, number, d->kernel, q->backend->name,
                   (VerifyPlace){ran[i].row->name, t->name, NULL, at}, "%s", what);
  }
}

static void run_case(VerifyWorker *w, int number) {
  Verify *v = w->v;
  const Job *job = (const Job *)w->jobs + number;
  const Kernel *k = v->library->spec->kernels[job->kernel];
  const Case *c = &k->cases[job->number];
  Arena *a = arena_new();
  const kg_instance instance = case_instance(k, c, job->types);
  const char *why = NULL, *at = case_text(a, k, job->number);
  const TrialData *d = trial_data_as(a, k, &instance, c, job->reference, c->seed ? c->seed : 1,
                                     (TrialWish){.spread = job->stage == VERIFY_RUN}, &why);
  Ran ran[MAX_TOOLS];
  int count = 0;
  if (d != NULL) verify_inputs_seen(v, job->kernel, d);
  if (d == NULL)
    verify_found(v, job->stage, number, k, NULL, (VerifyPlace){NULL, NULL, NULL, at}, "%s", why);
  for (int i = 0; d != NULL && i < v->tool_count; i++) {
    int port;
    if (verify_port(v, i, job->stage, k, &port) == NULL) continue;
    VerifyRow *row = verify_row(v, job->kernel, port, &instance);
    if (row == NULL) continue;
    ran[count] = (Ran){i, row, trial_run(a, d, v->tools[i].device, 1)};
    judge_run(v, number, job, &ran[count++], at);
  }
  if (job->stage == VERIFY_RUN && d != NULL) judge_bits(v, a, number, job, d, ran, count, at);
  arena_free(a);
}

static VerifyPlace job_place(Verify *v, const void *jobs, int number, const Kernel **kernel) {
  const Job *job = (const Job *)jobs + number;
  const Kernel *k = *kernel = v->library->spec->kernels[job->kernel];
  Arena *a = arena_new(); /* the process ends soon */
  const kg_instance instance = case_instance(k, &k->cases[job->number], job->types);
  return (VerifyPlace){instance_name(a, &instance), NULL, NULL, case_text(a, k, job->number)};
}

/* ---- all cases ------------------------------------------------------------------------------- */

static bool next_types(const Kernel *k, int *at) {
  for (int t = k->type_count - 1; t >= 0; t--) {
    if (++at[t] < k->types[t].count) return true;
    at[t] = 0;
  }
  return false;
}

static int type_choices(const Kernel *k) {
  int n = 1;
  for (int t = 0; t < k->type_count; t++) n *= k->types[t].count;
  return n;
}

/* An earlier row, of another port, is of the same instance. */
static bool said_before(const Verify *v, int row) {
  for (int i = 0; i < row; i++)
    if (v->rows[i].kernel_index == v->rows[row].kernel_index &&
        v->rows[i].instance_index == v->rows[row].instance_index)
      return true;
  return false;
}

/* What no case runs was not looked at, and must not look as if it were right. */
static void check_coverage(Verify *v, VerifyStage stage) {
  for (int i = 0; i < v->row_count; i++) {
    const VerifyRow *row = &v->rows[i];
    bool device = false, run = said_before(v, i);
    for (int t = 0; t < v->tool_count; t++) {
      if (v->tools[t].stage != stage || v->tools[t].why != NULL ||
          strcmp(v->tools[t].backend, row->port->backend->name) != 0)
        continue;
      device = true;
      run = run || row->wanted[t] > 0;
    }
    if (device && !run && row->kernel->case_count > 0 &&
        reference_of(v->references, row->kernel)->usable)
      verify_found(v, stage, -1, row->kernel, NULL, (VerifyPlace){.instance = row->name},
                   "no case of the specification runs this instance; add one with its constants");
  }
}

void verify_run(Verify *v, VerifyStage stage) {
  Arena *a = arena_new();
  const Spec *spec = v->library->spec;
  size_t room = 1;
  for (int i = 0; i < spec->kernel_count; i++)
    room += (size_t)spec->kernels[i]->case_count * (size_t)type_choices(spec->kernels[i]);
  Job *jobs = arena_alloc(a, room * sizeof *jobs);
  int count = 0, most = 0;
  for (int i = 0; i < spec->kernel_count; i++) {
    const Kernel *k = spec->kernels[i];
    if (k->case_count > most) most = k->case_count;
    if (k->case_count == 0)
      verify_found(v, stage, -1, k, NULL, (VerifyPlace){0},
                   "the specification has no case to run it with");
  }
  /* First cases first: threads that start side by side then compile different texts. */
  for (int c = 0; c < most; c++)
    for (int i = 0; i < spec->kernel_count; i++) {
      const Kernel *k = spec->kernels[i];
      int at[MAX_TYPES] = {0};
      if (c >= k->case_count) continue;
      const Case *made = k->cases[c].made_of > 0 ? &k->cases[c] : NULL;
      for (int t = 0; t < k->type_count && made != NULL; t++)
        at[t] = (int)(trial_hash(made->seed ^ (uint64_t)t) % (uint64_t)k->types[t].count);
      do {
        Job *job = &jobs[count++];
        *job = (Job){
            .kernel = i, .number = c, .stage = stage, .reference = reference_of(v->references, k)};
        for (int t = 0; t < k->type_count; t++) job->types[t] = k->types[t].dtypes[at[t]];
      } while (made == NULL && next_types(k, at));
    }
  verify_work(v, &(VerifyWork){stage, jobs, count, NULL, run_case, job_place});
  check_coverage(v, stage);
  arena_free(a);
}

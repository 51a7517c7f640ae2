/* probe_run.c: puts each instance to the cases of probe.c: one text at one width each, in turn, plain
** and watched.  What fails is made smaller before it is told.  See verify.h. */
#include <string.h>

#include "simt_check.h"
#include "verify/probe.h"
#include "verify/verify.h"

enum { FAILURES_TOLD = 2, SMALLER_TRIED = 40 };

typedef struct Job {
  int kernel, number; /* of the instance */
  int count;          /* of the kernel's instances */
  const kg_instance *instance;
  const char *name;
  const Reference *reference;
  bool large; /* it has the fewest threads, and takes the large dims */
} Job;

typedef struct Prober {
  VerifyWorker *worker;
  Verify *v;
  const Job *job;
  int number; /* of the job */
  ProbeSubject subject;
} Prober;

/* What one case shows. */
typedef struct Shown {
  int tool; /* where it failed; -1: nowhere */
  const char *text;
} Shown;

/* ---- one case --------------------------------------------------------------------------------- */

/* A tool of the stage for the kernel's texts, the turn-th; -1: none. */
static int tool_at(const Verify *v, const Kernel *k, VerifyStage stage, unsigned turn) {
  int tools[MAX_TOOLS], count = 0;
  for (int i = 0; i < v->tool_count; i++)
    if (verify_port(v, i, stage, k, NULL) != NULL) tools[count++] = i;
  return count > 0 ? tools[turn % (unsigned)count] : -1;
}

static const char *run_on(Arena *a, const Prober *p, int tool, const TrialData *d) {
  Verify *v = p->v;
  const VerifyTool *t = &v->tools[tool];
  const Trial trial = trial_run(a, d, t->device, 1);
  pthread_mutex_lock(&v->lock);
  v->probes[t->stage]++;
  pthread_mutex_unlock(&v->lock);
  if (t->stage == VERIFY_SANITIZE) {
    const kg_simt_finding *all = NULL;
    if (kg_simt_findings(t->device, &all) > 0) return arena_strdup(a, all[0].sentence);
    return trial.status == KG_OK ? NULL : trial.message;
  }
  return trial.status == KG_OK && trial.right ? NULL : trial_fault(a, &trial);
}

/* why: it is no case; NULL: it is one. */
static void note_case(const Prober *p, const Case *c, const char *why) {
  Verify *v = p->v;
  ProbesSeen *seen = &v->probes_seen[p->job->kernel];
  pthread_mutex_lock(&v->lock);
  seen->made++;
  if (why != NULL && seen->dropped++ == 0) {
    seen->first = probe_text(v->arena, p->subject.kernel, c);
    seen->why = arena_strdup(v->arena, why);
  }
  pthread_mutex_unlock(&v->lock);
}

/* only: that tool; -1: the turn's. */
static Shown show(Arena *a, const Prober *p, const Case *c, unsigned turn, int only, bool large) {
  const ProbeSubject *s = &p->subject;
  const TrialWish wish = {.seconds = PROBE_SECONDS, .spread = true, .made = true};
  Shown shown = {.tool = -1};
  const char *why;
  const TrialData *d =
      trial_data_as(a, s->kernel, s->instance, c, s->reference, c->seed, wish, &why);
  if (only < 0) note_case(p, c, d == NULL ? why : d->unfit ? "its integers do not fit" : NULL);
  if (d == NULL || d->unfit) return shown; /* it is no case: the reference does not compute it */
  verify_inputs_seen(p->v, p->job->kernel, d);
  for (int stage = VERIFY_RUN; stage <= VERIFY_SANITIZE && shown.text == NULL; stage++) {
    const int tool = only >= 0 ? only : tool_at(p->v, s->kernel, (VerifyStage)stage, turn);
    if (large && stage == VERIFY_SANITIZE && p->v->stages[VERIFY_RUN])
      continue; /* it has run already */
    if (tool < 0 || p->v->tools[tool].stage != (VerifyStage)stage) continue;
    shown.text = run_on(a, p, tool, d);
    shown.tool = tool;
  }
  if (shown.text == NULL) shown.tool = -1;
  return shown;
}

/* ---- what fails ------------------------------------------------------------------------------- */

static void tell(const Prober *p, Case c, Shown shown) {
  Verify *v = p->v;
  const ProbeSubject *s = &p->subject;
  Arena *a = arena_new();
  const int tool = shown.tool;
  int next = 0;
  Case less;
  for (int tried = 0; tried < SMALLER_TRIED && probe_smaller(a, s, &c, &next, &less); tried++) {
    const Shown again = show(a, p, &less, 0, tool, false);
    verify_alive(p->worker);
    if (again.text == NULL) continue;
    c = less;
    shown = again;
  }
  const VerifyTool *t = &v->tools[tool];
  const char *at = arena_printf(a, "a made case: %s", probe_text(a, s->kernel, &c));
  verify_found(v, t->stage, p->number, s->kernel, t->stage == VERIFY_RUN ? t->backend : NULL,
               (VerifyPlace){p->job->name, t->name, NULL, at}, "%s", shown.text);
  arena_free(a);
}

static void probe_instance(VerifyWorker *w, int number) {
  Verify *v = w->v;
  const Job *job = (const Job *)w->jobs + number;
  const Kernel *k = v->library->spec->kernels[job->kernel];
  Arena *a = arena_new();
  Prober p = {.worker = w, .v = v, .job = job, .number = number};
  p.subject = (ProbeSubject){.kernel = k,
                             .instance = job->instance,
                             .reference = job->reference,
                             .number = job->number,
                             .count = job->count,
                             .large = job->large};
  const ProbePlan plan = probe_plan(a, &p.subject);
  p.subject.scalars_stay = plan.scalars_stay;
  int told = 0;
  for (int i = 0; i < plan.count && told < FAILURES_TOLD && verify_goes_on(v); i++) {
    Arena *each = arena_new();
    verify_alive(w);
    const Shown shown =
        show(each, &p, &plan.cases[i], (unsigned)(i + job->number), -1, i >= plan.large_from);
    if (shown.text != NULL) {
      tell(&p, plan.cases[i], shown);
      told++;
    }
    arena_free(each);
  }
  arena_free(a);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static VerifyPlace job_place(Verify *v, const void *jobs, int number, const Kernel **kernel) {
  const Job *job = (const Job *)jobs + number;
  *kernel = v->library->spec->kernels[job->kernel];
  return (VerifyPlace){.instance = job->name, .at = "a made case"};
}

static bool has_rows(const Verify *v, int kernel) {
  for (int i = 0; i < v->row_count; i++)
    if (v->rows[i].kernel_index == kernel) return true;
  return false;
}

/* The instance of the fewest threads. */
static int lightest(const Kernel *k, const kg_instance *all, int count) {
  int best = 0;
  int64_t least = INT64_MAX;
  for (int n = 0; n < count; n++) {
    const int64_t threads = probe_threads(k, &all[n]);
    if (threads < least) least = threads, best = n;
  }
  return best;
}

void verify_probe(Verify *v) {
  Arena *a = arena_new();
  const Spec *spec = v->library->spec;
  Job *jobs = NULL;
  int count = 0, room = 0;
  for (int i = 0; i < spec->kernel_count; i++) {
    const Kernel *k = spec->kernels[i];
    int instances;
    const kg_instance *all = kernel_instances(a, k, &instances);
    if (k->case_count == 0 || !has_rows(v, i)) continue;
    if (verify_has_findings(v, VERIFY_RUN, k)) continue; /* its own cases are to be right first */
    const Reference *r = reference_of(v->references, k);
    const int light = lightest(k, all, instances);
    for (int n = 0; n < instances && r->usable; n++) {
      GROW(a, jobs, count, room);
      jobs[count++] = (Job){i, n, instances, &all[n], instance_name(a, &all[n]), r, n == light};
    }
  }
  const VerifyStage stage = v->stages[VERIFY_RUN] ? VERIFY_RUN : VERIFY_SANITIZE;
  verify_work(v, &(VerifyWork){stage, jobs, count, NULL, probe_instance, job_place});
  arena_free(a);
}

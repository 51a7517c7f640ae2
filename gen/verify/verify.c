/* verify.c: the tools, rows and findings of `kgen verify`, and its threads.  See verify.h. */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "workers.h"

const char *const verify_stage[VERIFY_STAGES] = {"static", "compile", "run", "sanitize"};

/* ---- tools and rows -------------------------------------------------------------------------- */

bool verify_named(const char *const *words, const char *name) {
  for (; *words != NULL; words++)
    if (strcmp(*words, name) == 0) return true;
  return false;
}

bool verify_wants(const Verify *v, const char *tool) {
  return v->only_tools == NULL || verify_named(v->only_tools, tool);
}

VerifyTool *verify_tool(Verify *v, VerifyStage stage, const char *name, const char *backend) {
  if (v->tool_count == MAX_TOOLS) die("verify.h has no room for the tool %s", name);
  VerifyTool *t = &v->tools[v->tool_count++];
  *t = (VerifyTool){.stage = stage, .name = name, .backend = backend, .title = "", .brief = name};
  return t;
}

bool verify_usable(const Verify *v, int tool) {
  const VerifyTool *t = &v->tools[tool];
  return t->why == NULL && v->stages[t->stage];
}

const Port *verify_port(const Verify *v, int tool, VerifyStage stage, const Kernel *k, int *port) {
  const VerifyTool *t = &v->tools[tool];
  if (t->stage != stage || !verify_usable(v, tool)) return NULL;
  const Port *p = kernel_port(k, t->backend, port);
  const bool runs = p != NULL && p->absent == NULL && (p->waves & (1u << (t->wave == 64))) != 0;
  return runs ? p : NULL;
}

void verify_rows(Verify *v) {
  const Library *l = v->library;
  int room = 0;
  for (int i = 0; i < l->spec->kernel_count; i++) {
    int instances;
    kernel_instances(v->arena, l->spec->kernels[i], &instances);
    room += instances * l->spec->kernels[i]->port_count;
  }
  v->rows = arena_alloc(v->arena, ((size_t)room + 1) * sizeof *v->rows);
  for (int i = 0; i < l->spec->kernel_count; i++) {
    const Kernel *k = l->spec->kernels[i];
    int instances;
    const kg_instance *all = kernel_instances(v->arena, k, &instances);
    for (int p = 0; p < k->port_count; p++) {
      if (k->ports[p].absent != NULL || l->facts[i][p] == NULL) continue;
      const int first = v->row_count;
      for (int n = 0; n < instances; n++) {
        VerifyRow *row = &v->rows[v->row_count++];
        *row = (VerifyRow){.kernel = k, .port = &k->ports[p], .facts = l->facts[i][p]};
        row->instance = &all[n];
        row->name = instance_name(v->arena, &all[n]);
        row->kernel_index = i;
        row->port_index = p;
        row->instance_index = n;
        row->first = first;
      }
    }
  }
}

static bool same_instance(const Kernel *k, const kg_instance *a, const kg_instance *b) {
  for (int i = 0; i < k->type_count; i++)
    if (a->types[i] != b->types[i]) return false;
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key && a->consts[i] != b->consts[i]) return false;
  return true;
}

VerifyRow *verify_row(Verify *v, int kernel, int port, const kg_instance *instance) {
  for (int i = 0; i < v->row_count; i++) {
    VerifyRow *row = &v->rows[i];
    if (row->kernel_index == kernel && row->port_index == port &&
        same_instance(row->kernel, row->instance, instance))
      return row;
  }
  return NULL;
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *kept(Arena *a, const char *s) { return s == NULL ? NULL : arena_strdup(a, s); }

void verify_found(Verify *v, VerifyStage stage, int job, const Kernel *k, const char *backend,
                  VerifyPlace place, const char *format, ...) {
  va_list args;
  pthread_mutex_lock(&v->lock);
  if (verify_stopped(v)) { /* a child that the same signal ended is no finding */
    pthread_mutex_unlock(&v->lock);
    return;
  }
  Arena *a = v->arena;
  va_start(args, format);
  char *text = arena_vprintf(a, format, args);
  va_end(args);
  for (size_t end = strlen(text); end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ');)
    text[--end] = 0;
  GROW(a, v->findings, v->finding_count, v->finding_room);
  VerifyFinding *f = &v->findings[v->finding_count];
  *f = (VerifyFinding){.stage = stage, .job = job, .serial = v->finding_count++};
  f->kernel = k == NULL ? NULL : k->name;
  f->backend = kept(a, backend);
  f->text = text;
  f->place = (VerifyPlace){kept(a, place.instance), kept(a, place.tool), kept(a, place.target),
                           kept(a, place.at)};
  pthread_mutex_unlock(&v->lock);
}

bool verify_has_findings(const Verify *v, VerifyStage from, const Kernel *k) {
  for (int i = 0; i < v->finding_count; i++)
    if (v->findings[i].stage >= from && v->findings[i].kernel != NULL &&
        strcmp(v->findings[i].kernel, k->name) == 0)
      return true;
  return false;
}

/* One job adds its findings one after another, so serial keeps their order. */
static int by_job(const void *x, const void *y) {
  const VerifyFinding *a = x, *b = y;
  if (a->stage != b->stage) return a->stage < b->stage ? -1 : 1;
  if (a->job != b->job) return a->job < b->job ? -1 : 1;
  return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static bool same_word(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_fault(const VerifyFinding *a, const VerifyFinding *b) {
  return a->stage == b->stage && same_word(a->kernel, b->kernel) &&
         same_word(a->backend, b->backend) && strcmp(a->text, b->text) == 0;
}

void verify_settle(Verify *v) {
  const int all = v->finding_count;
  if (all == 0) return;
  qsort(v->findings, (size_t)all, sizeof *v->findings, by_job);
  VerifyFinding *old = arena_alloc(v->arena, (size_t)all * sizeof *old);
  memcpy(old, v->findings, (size_t)all * sizeof *old);
  bool *taken = arena_alloc(v->arena, (size_t)all * sizeof *taken);
  int count = 0;
  for (int i = 0; i < all; i++) {
    if (taken[i]) continue;
    VerifyPlace *places = arena_alloc(v->arena, (size_t)(all - i) * sizeof *places);
    VerifyFinding *f = &v->findings[count++];
    *f = old[i];
    for (int j = i; j < all; j++) {
      if (taken[j] || !same_fault(&old[i], &old[j])) continue;
      taken[j] = true;
      places[f->place_count++] = old[j].place;
    }
    f->places = places;
  }
  v->finding_count = count;
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct Group {
  int count, next, workers;
  int *jobs;
} Group;

typedef struct Thread {
  int job;      /* -1: none */
  double since; /* when it began */
} Thread;

typedef struct Queue {
  kg_work threads_work; /* first: it is the workers' */
  Verify *v;
  const VerifyWork *work;
  int done, group_count;
  Group groups[MAX_TOOLS];
  Thread threads[MAX_JOBS]; /* job and since: under the lock */
  int thread_count;
  pthread_cond_t over;
  bool is_over;
} Queue;

/* A group that nobody is at, the one with the most left; else that with the most left a worker. */
static int choose_group(const Queue *q) {
  int best = -1;
  for (int i = 0; i < q->group_count; i++) {
    const Group *g = &q->groups[i], *b = best < 0 ? NULL : &q->groups[best];
    const int left = g->count - g->next;
    if (left == 0) continue;
    if (b == NULL || left * (b->workers + 1) > (b->count - b->next) * (g->workers + 1)) best = i;
  }
  return best;
}

static void show_progress(const Queue *q) {
  const Verify *v = q->v;
  if (!v->progress) return;
  fprintf(stderr, "\r\033[K%s: %d of %d, %d finding%s", verify_stage[q->work->stage], q->done,
          q->work->count, v->finding_count, v->finding_count == 1 ? "" : "s");
  if (q->done == q->work->count) fputs("\r\033[K", stderr);
}

/* The next job for a thread that is at group *at (-1: none); -1: there is none left. */
static int next_job(Queue *q, Thread *t, int *at) {
  pthread_mutex_lock(&q->v->lock);
  if (t->job >= 0) {
    q->done++;
    show_progress(q);
  }
  if (*at < 0 || q->groups[*at].next == q->groups[*at].count) {
    if (*at >= 0) q->groups[*at].workers--;
    *at = choose_group(q);
    if (*at >= 0) q->groups[*at].workers++;
  }
  const bool none = *at < 0 || verify_stopped(q->v);
  t->job = none ? -1 : q->groups[*at].jobs[q->groups[*at].next++];
  t->since = kg_child_clock();
  const int job = t->job;
  pthread_mutex_unlock(&q->v->lock);
  return job;
}

void verify_alive(VerifyWorker *w) {
  pthread_mutex_lock(&w->v->lock);
  *w->since = kg_child_clock();
  pthread_mutex_unlock(&w->v->lock);
}

static bool jobs_left(const kg_work *work) {
  const Queue *q = (const Queue *)work;
  pthread_mutex_lock(&q->v->lock);
  const bool left = choose_group(q) >= 0 && !verify_stopped(q->v);
  pthread_mutex_unlock(&q->v->lock);
  return left;
}

static void do_jobs(kg_work *work, unsigned part) {
  Queue *q = (Queue *)work;
  Verify *v = q->v;
  VerifyWorker w = {.v = v, .compilers = v->compilers, .jobs = q->work->jobs};
  w.since = &q->threads[part].since;
  int at = -1;
  if (part > 0 && q->work->stage == VERIFY_COMPILE) {
    w.compilers = compilers_open(v->templates, v->roots);
    if (w.compilers == NULL) exhausted("the list of compilers");
  }
  for (int job; (job = next_job(q, &q->threads[part], &at)) >= 0;) q->work->job(&w, job);
  if (w.compilers != v->compilers) compilers_close(w.compilers);
}

static void give_up_on(Queue *q, int job) {
  const Kernel *k = NULL;
  const VerifyPlace place = q->work->place(q->v, q->work->jobs, job, &k);
  verify_found(
      q->v, q->work->stage, job, k, NULL, place,
      "it has not ended after %.0f seconds, and nothing after it was done; does a loop never end?",
      q->v->patience);
  q->v->give_up(q->v);
}

static void *watch(void *data) {
  Queue *q = data;
  pthread_mutex_lock(&q->v->lock);
  while (!q->is_over) {
    struct timespec wake;
    clock_gettime(CLOCK_REALTIME, &wake);
    wake.tv_sec += 1;
    pthread_cond_timedwait(&q->over, &q->v->lock, &wake);
    int late = -1;
    for (int i = 0; i < q->thread_count; i++)
      if (q->threads[i].job >= 0 && kg_child_clock() - q->threads[i].since > q->v->patience)
        late = q->threads[i].job;
    if (late < 0 || q->is_over) continue;
    pthread_mutex_unlock(&q->v->lock);
    give_up_on(q, late);
    pthread_mutex_lock(&q->v->lock);
  }
  pthread_mutex_unlock(&q->v->lock);
  return NULL;
}

static void make_groups(Queue *q, Arena *a) {
  const int *group = q->work->group, count = q->work->count;
  for (int i = 0; i < count; i++) {
    const int g = group == NULL ? 0 : group[i];
    if (g >= q->group_count) q->group_count = g + 1;
    q->groups[g].count++;
  }
  for (int g = 0; g < q->group_count; g++) {
    q->groups[g].jobs = arena_alloc(a, ((size_t)q->groups[g].count + 1) * sizeof(int));
    q->groups[g].count = 0;
  }
  for (int i = 0; i < count; i++) {
    Group *g = &q->groups[group == NULL ? 0 : group[i]];
    g->jobs[g->count++] = i;
  }
}

void verify_work(Verify *v, const VerifyWork *what) {
  Arena *a = arena_new();
  Queue *q = arena_alloc(a, sizeof *q);
  pthread_t watcher;
  q->threads_work = (kg_work){.take_part = do_jobs, .is_left = jobs_left};
  q->v = v;
  q->work = what;
  pthread_cond_init(&q->over, NULL);
  make_groups(q, a);
  q->thread_count = v->jobs < what->count ? v->jobs : what->count > 0 ? what->count : 1;
  for (int i = 0; i < q->thread_count; i++) q->threads[i].job = -1;
  kg_workers *workers = kg_workers_new((unsigned)q->thread_count);
  if (workers == NULL) die("out of memory");
  const bool watched = pthread_create(&watcher, NULL, watch, q) == 0;
  kg_workers_run(workers, &q->threads_work, false);
  kg_workers_free(workers);
  pthread_mutex_lock(&v->lock);
  v->left[what->stage] += what->count - q->done;
  q->is_over = true;
  pthread_cond_signal(&q->over);
  pthread_mutex_unlock(&v->lock);
  if (watched) pthread_join(watcher, NULL);
  pthread_cond_destroy(&q->over);
  arena_free(a);
}

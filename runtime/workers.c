/* workers.c: see workers.h. */
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct kg_workers {
  pthread_mutex_t lock;
  pthread_cond_t come, done;
  kg_work *works; /* in the order of their coming */
  pthread_t *helpers;
  unsigned threads, wanted, started; /* wanted: helpers, fewer where the machine gives no more */
  bool closing;
};

static kg_work *work_left(const kg_workers *w) {
  for (kg_work *work = w->works; work; work = work->next)
    if (work->parts < w->threads && work->is_left(work)) return work;
  return NULL;
}

static void *help(void *data) {
  kg_workers *w = data;
  pthread_mutex_lock(&w->lock);
  while (!w->closing) {
    kg_work *work = work_left(w);
    if (!work) {
      pthread_cond_wait(&w->come, &w->lock);
      continue;
    }
    const unsigned part = work->parts++;
    work->users++;
    pthread_mutex_unlock(&w->lock);
    work->take_part(work, part);
    pthread_mutex_lock(&w->lock);
    if (--work->users == 0) pthread_cond_broadcast(&w->done);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Under the lock. */
static void start_helpers(kg_workers *w) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigset_t held, before;
  if (w->started == w->wanted) return;
  sigfillset(&held); /* the program's signals are for its own threads */
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&held, faults[i]);
  pthread_sigmask(SIG_SETMASK, &held, &before);
  while (w->started < w->wanted) {
    if (pthread_create(&w->helpers[w->started], NULL, help, w))
      w->wanted = w->started;
    else
      w->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

kg_workers *kg_workers_new(unsigned threads) {
  kg_workers *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->threads = threads > 0 ? threads : 1;
  w->wanted = w->threads - 1;
  w->helpers = calloc(w->threads, sizeof *w->helpers);
  if (!w->helpers) return free(w), NULL;
  pthread_mutex_init(&w->lock, NULL); /* these never fail with default attributes on Linux */
  pthread_cond_init(&w->come, NULL);
  pthread_cond_init(&w->done, NULL);
  return w;
}

void kg_workers_free(kg_workers *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->closing = true;
  pthread_cond_broadcast(&w->come);
  pthread_mutex_unlock(&w->lock);
  for (unsigned i = 0; i < w->started; i++) pthread_join(w->helpers[i], NULL);
  pthread_cond_destroy(&w->done);
  pthread_cond_destroy(&w->come);
  pthread_mutex_destroy(&w->lock);
  free(w->helpers);
  free(w);
}

unsigned kg_workers_threads(const kg_workers *w) { return w->threads; }

void kg_workers_run(kg_workers *w, kg_work *work, bool alone) {
  const bool shared = !alone && w->threads > 1;
  work->next = NULL;
  work->parts = 1;
  work->users = 0;
  if (shared) {
    pthread_mutex_lock(&w->lock);
    start_helpers(w);
    kg_work **last = &w->works;
    while (*last) last = &(*last)->next;
    *last = work;
    pthread_cond_broadcast(&w->come);
    pthread_mutex_unlock(&w->lock);
  }
  work->take_part(work, 0);
  if (!shared) return;
  pthread_mutex_lock(&w->lock);
  kg_work **at = &w->works;
  while (*at != work) at = &(*at)->next;
  *at = work->next;
  while (work->users > 0) pthread_cond_wait(&w->done, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

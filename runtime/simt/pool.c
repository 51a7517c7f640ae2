/* pool.c: spreads a launch's groups over threads.
**
** The launching thread runs groups itself, so a launch of one group costs no hand-over; the
** pool's helpers join in when there is more than one.  Jobs of several launches stand in a
** list, and helpers take from the first that has groups left. Of several groups that fail, the
** report is of the lowest: groups below it always run, so it does not depend on timing. */
#include <signal.h>
#include <stdlib.h>

#include "simt.h"

struct kg_simt_pool {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  kg_simt_job *jobs;
  kg_simt_context *idle; /* contexts nobody runs in */
  pthread_t *helpers;
  unsigned wanted, started;
  bool closing;
};

/* ---- a thread's share of a job --------------------------------------------------------------- */

kg_simt_context *kg_simt_context_take(kg_simt_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  kg_simt_context *context = pool->idle;
  if (context) pool->idle = context->next;
  pthread_mutex_unlock(&pool->lock);
  return context ? context : kg_simt_context_new();
}

void kg_simt_context_give(kg_simt_pool *pool, kg_simt_context *context) {
  pthread_mutex_lock(&pool->lock);
  context->next = pool->idle;
  pool->idle = context;
  pthread_mutex_unlock(&pool->lock);
}

static void fail_job(kg_simt_job *job, uint64_t group, const kg_error *error) {
  pthread_mutex_lock(&job->lock);
  if (group < job->failed) {
    job->failed = group;
    job->error = *error;
    atomic_store(&job->stop, group);
  }
  pthread_mutex_unlock(&job->lock);
}

static void run_groups(kg_simt_job *job, kg_simt_context *context) {
  const uint32_t *groups = job->grid.groups;
  for (;;) {
    const uint64_t first = atomic_fetch_add(&job->taken, job->chunk);
    if (first >= job->groups) return;
    const uint64_t end = job->groups - first < job->chunk ? job->groups : first + job->chunk;
    for (uint64_t g = first; g < end; g++) {
      if (g >= atomic_load_explicit(&job->stop, memory_order_relaxed)) return;
      const uint64_t row = g / groups[0];
      const uint32_t place[3] = {(uint32_t)(g % groups[0]), (uint32_t)(row % groups[1]),
                                 (uint32_t)(row / groups[1])};
      if (!kg_simt_group_run(context, place)) fail_job(job, g, &context->error);
    }
  }
}

static void take_part(kg_simt_pool *pool, kg_simt_job *job) {
  kg_error error;
  kg_simt_context *context = kg_simt_context_take(pool);
  kg_simt_copy *copy = NULL;
  if (!context) {
    kg_fail(&error, KG_OUT_OF_MEMORY, "kernel %s: no memory for a group's lanes",
            job->function->kernel);
    fail_job(job, 0, &error);
    return;
  }
  if (kg_simt_copy_take(job->function, &copy, &error)) fail_job(job, 0, &error);
  else {
    kg_simt_context_set(context, job, copy);
    kg_simt_fault_enter(context, job->function->device->seconds);
    run_groups(job, context);
    kg_simt_fault_leave(context);
    kg_simt_copy_give(job->function, copy);
  }
  kg_simt_context_give(pool, context);
}

/* ---- helpers --------------------------------------------------------------------------------- */

static kg_simt_job *job_with_groups(const kg_simt_pool *pool) {
  for (kg_simt_job *job = pool->jobs; job; job = job->next)
    if (atomic_load(&job->taken) < job->groups) return job;
  return NULL;
}

static void *help(void *data) {
  kg_simt_pool *pool = data;
  pthread_mutex_lock(&pool->lock);
  while (!pool->closing) {
    kg_simt_job *job = job_with_groups(pool);
    if (!job) {
      pthread_cond_wait(&pool->work, &pool->lock);
      continue;
    }
    job->users++;
    pthread_mutex_unlock(&pool->lock);
    take_part(pool, job);
    pthread_mutex_lock(&pool->lock);
    if (--job->users == 0) pthread_cond_broadcast(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* Under the lock.  A machine that gives no more threads has fewer helpers. */
static void start_helpers(kg_simt_pool *pool) {
  sigset_t all, before;
  if (pool->started == pool->wanted) return;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV), sigdelset(&all, SIGBUS), sigdelset(&all, SIGFPE),
      sigdelset(&all, SIGILL);
  sigdelset(&all, SIGTRAP);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for its own threads */
  while (pool->started < pool->wanted) {
    if (pthread_create(&pool->helpers[pool->started], NULL, help, pool))
      pool->wanted = pool->started;
    else pool->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the pool -------------------------------------------------------------------------------- */

kg_simt_pool *kg_simt_pool_new(unsigned threads) {
  kg_simt_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pool->wanted = threads > 0 ? threads - 1 : 0;
  pool->helpers = calloc(threads + 1, sizeof *pool->helpers);
  if (!pool->helpers) return free(pool), NULL;
  pthread_mutex_init(&pool->lock, NULL); /* these never fail with default attributes on Linux */
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  return pool;
}

void kg_simt_pool_free(kg_simt_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->lock);
  pool->closing = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->helpers[i], NULL);
  for (kg_simt_context *context = pool->idle, *next; context; context = next) {
    next = context->next;
    kg_simt_context_free(context);
  }
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->lock);
  free(pool->helpers);
  free(pool);
}

static void remove_job(kg_simt_pool *pool, kg_simt_job *job) {
  for (kg_simt_job **at = &pool->jobs; *at; at = &(*at)->next)
    if (*at == job) {
      *at = job->next;
      return;
    }
}

kg_status kg_simt_pool_run(kg_simt_pool *pool, kg_simt_job *job, kg_error *error) {
  const uint64_t threads = pool->wanted + 1;
  job->chunk = job->groups / (threads * 16) + 1;
  job->failed = UINT64_MAX;
  job->users = 0;
  atomic_init(&job->taken, 0);
  atomic_init(&job->stop, UINT64_MAX);
  if (pthread_mutex_init(&job->lock, NULL))
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a launch");
  const bool shared = job->groups > 1 && pool->wanted > 0;
  if (shared) {
    pthread_mutex_lock(&pool->lock);
    start_helpers(pool);
    kg_simt_job **last = &pool->jobs;
    while (*last) last = &(*last)->next;
    job->next = NULL;
    *last = job;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
  }
  take_part(pool, job);
  if (shared) {
    pthread_mutex_lock(&pool->lock);
    remove_job(pool, job);
    while (job->users > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
  }
  pthread_mutex_destroy(&job->lock);
  if (job->failed == UINT64_MAX) return KG_OK;
  if (error) *error = job->error;
  return job->error.status;
}

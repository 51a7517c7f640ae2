/* pool.c: spreads a launch's groups over threads.
**
** The launching thread runs groups itself, and the pool's workers join in when there is more than
** one.  Of several groups that fail, the report is of the lowest: groups below it always run, so
** it does not depend on timing. */
#include <stdlib.h>

#include "simt.h"

struct kg_simt_pool {
  kg_workers *workers;
  pthread_mutex_t lock;
  kg_simt_context *idle; /* contexts nobody runs in */
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

static bool groups_left(const kg_work *work) {
  const kg_simt_job *job = (const kg_simt_job *)work;
  const uint64_t taken = atomic_load(&job->taken);
  return taken < job->groups && taken < atomic_load(&job->stop);
}

static void take_part(kg_work *work, unsigned part) {
  (void)part;
  kg_simt_job *job = (kg_simt_job *)work;
  kg_simt_pool *pool = job->pool;
  kg_error error;
  kg_simt_context *context = kg_simt_context_take(pool);
  kg_simt_copy *copy = NULL;
  if (!context) {
    kg_fail(&error, KG_OUT_OF_MEMORY, "kernel %s: no memory for a group's lanes",
            job->function->kernel);
    fail_job(job, 0, &error);
    return;
  }
  if (kg_simt_copy_take(job->function, &copy, &error))
    fail_job(job, 0, &error);
  else {
    kg_simt_context_set(context, job, copy);
    kg_simt_fault_enter(context, job->function->device->seconds);
    run_groups(job, context);
    kg_simt_fault_leave(context);
    kg_simt_copy_give(job->function, copy);
  }
  kg_simt_context_give(pool, context);
}

/* ---- the pool -------------------------------------------------------------------------------- */

kg_simt_pool *kg_simt_pool_new(unsigned threads) {
  kg_simt_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pool->workers = kg_workers_new(threads);
  if (!pool->workers) return free(pool), NULL;
  pthread_mutex_init(&pool->lock, NULL); /* never fails with default attributes on Linux */
  return pool;
}

void kg_simt_pool_free(kg_simt_pool *pool) {
  if (!pool) return;
  kg_workers_free(pool->workers);
  for (kg_simt_context *context = pool->idle, *next; context; context = next) {
    next = context->next;
    kg_simt_context_free(context);
  }
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

kg_status kg_simt_pool_run(kg_simt_pool *pool, kg_simt_job *job, kg_error *error) {
  job->work = (kg_work){.take_part = take_part, .is_left = groups_left};
  job->pool = pool;
  job->chunk = job->groups / (kg_workers_threads(pool->workers) * (uint64_t)16) + 1;
  job->failed = UINT64_MAX;
  atomic_init(&job->taken, 0);
  atomic_init(&job->stop, UINT64_MAX);
  if (pthread_mutex_init(&job->lock, NULL))
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a launch");
  kg_workers_run(pool->workers, &job->work, job->groups <= 1);
  pthread_mutex_destroy(&job->lock);
  if (job->failed == UINT64_MAX) return KG_OK;
  if (error) *error = job->error;
  return job->error.status;
}

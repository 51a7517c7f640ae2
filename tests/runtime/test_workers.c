/* test_workers.c: threads that share out work (runtime/workers.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "workers.h"

/* No thread can be made while this is set. */
static atomic_bool no_threads;
static atomic_int made;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *),
                          void *data) {
  if (no_threads) return EAGAIN;
  made++;
  return __real_pthread_create(id, how, run, data);
}

enum { JOBS = 2000 };

typedef struct Count {
  kg_work work;
  atomic_int next;
  atomic_int done[JOBS];
  atomic_uint parts; /* as bits */
  bool slow;
} Count;

static bool some_left(const kg_work *work) { return ((const Count *)work)->next < JOBS; }

static void count_some(kg_work *work, unsigned part) {
  Count *c = (Count *)work;
  assert_false(atomic_fetch_or(&c->parts, 1u << part) >> part & 1); /* each part once */
  for (int job; (job = c->next++) < JOBS;) {
    if (c->slow) nanosleep(&(struct timespec){0, 10000}, NULL);
    c->done[job]++;
  }
}

static Count *count(bool slow) {
  Count *c = calloc(1, sizeof *c);
  c->work = (kg_work){.take_part = count_some, .is_left = some_left};
  c->slow = slow;
  return c;
}

static void assert_all_once(Count *c) {
  for (int i = 0; i < JOBS; i++) assert_int_equal(c->done[i], 1);
  free(c);
}

static void every_job_is_done_once_by_several_parts(void **state) {
  (void)state;
  kg_workers *w = kg_workers_new(4);
  assert_int_equal(kg_workers_threads(w), 4);
  for (int i = 0; i < 20; i++) {
    Count *c = count(true);
    kg_workers_run(w, &c->work, false);
    assert_true(c->parts > 1u && c->parts < 16u);
    assert_all_once(c);
  }
  kg_workers_free(w);
}

static void work_for_one_makes_no_thread(void **state) {
  (void)state;
  const int before = made;
  kg_workers *w = kg_workers_new(4), *one = kg_workers_new(0);
  Count *c = count(false), *d = count(false);
  kg_workers_run(w, &c->work, true);
  kg_workers_run(one, &d->work, false);
  assert_int_equal(c->parts, 1);
  assert_int_equal(made, before);
  assert_all_once(c);
  assert_all_once(d);
  kg_workers_free(w);
  kg_workers_free(one);
}

static void a_machine_that_gives_no_threads_does_all_of_it_all_the_same(void **state) {
  (void)state;
  kg_workers *w = kg_workers_new(4);
  Count *c = count(false);
  no_threads = true;
  kg_workers_run(w, &c->work, false);
  no_threads = false;
  assert_int_equal(c->parts, 1);
  assert_all_once(c);
  kg_workers_free(w);
}

static void *bring(void *data) {
  for (int i = 0; i < 10; i++) {
    Count *c = count(i % 2 == 0);
    kg_workers_run(data, &c->work, false);
    assert_all_once(c);
  }
  return NULL;
}

static void several_threads_bring_work_at_once(void **state) {
  (void)state;
  kg_workers *w = kg_workers_new(3);
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, bring, w), 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  kg_workers_free(w);
}

typedef struct Masks {
  Count count;
  atomic_int held, free;
} Masks;

static void look_at_masks(kg_work *work, unsigned part) {
  Masks *m = (Masks *)work;
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  if (part > 0 && sigismember(&now, SIGINT) && sigismember(&now, SIGCHLD)) m->held++;
  if (part > 0 && !sigismember(&now, SIGSEGV) && !sigismember(&now, SIGFPE)) m->free++;
  count_some(work, part);
}

static void the_program_s_signals_are_left_to_its_own_threads(void **state) {
  (void)state;
  kg_workers *w = kg_workers_new(2);
  Masks *m = calloc(1, sizeof *m);
  m->count.work = (kg_work){.take_part = look_at_masks, .is_left = some_left};
  m->count.slow = true;
  kg_workers_run(w, &m->count.work, false);
  assert_int_equal(m->held, 1);
  assert_int_equal(m->free, 1);
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  assert_false(sigismember(&now, SIGINT));
  free(m);
  kg_workers_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_job_is_done_once_by_several_parts),
      cmocka_unit_test(work_for_one_makes_no_thread),
      cmocka_unit_test(a_machine_that_gives_no_threads_does_all_of_it_all_the_same),
      cmocka_unit_test(several_threads_bring_work_at_once),
      cmocka_unit_test(the_program_s_signals_are_left_to_its_own_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

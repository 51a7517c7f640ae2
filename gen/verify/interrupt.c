/* interrupt.c: a run that a signal stops still says what it has found, and leaves no folder behind.
** See verify.h.
**
** The ending signals are blocked in every thread but one that waits for them.  It says so to the
** others, which begin no more jobs; where those at work have not ended soon, or a second signal
** comes, it reports and ends the process.  Folders of references and of texts that are compiled
** stand in one of this run's own, which $TMPDIR names meanwhile. */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "verify/verify.h"

enum { GRACE_SECONDS = 5 };

static const int ending_signal[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof ending_signal / sizeof *ending_signal, OVER = SIGUSR1 };

static void awaited(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, OVER);
  for (int i = 0; i < ENDING_SIGNALS; i++) {
    struct sigaction how;
    if (sigaction(ending_signal[i], NULL, &how) == 0 && how.sa_handler != SIG_IGN)
      sigaddset(set, ending_signal[i]);
  }
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at) {
  (void)facts, (void)kind, (void)at;
  remove(path);
  return 0;
}

static void make_folder(Verify *v) {
  const char *tmp = getenv("TMPDIR");
  char *folder =
      arena_printf(v->arena, "%s/kgen-verify-XXXXXX", tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");
  if (mkdtemp(folder) == NULL) return; /* whoever needs one says why there is none */
  v->folder = folder;
  setenv("TMPDIR", folder, 1);
}

void verify_remove_folder(const Verify *v) {
  if (v->folder != NULL) nftw(v->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The next signal of the set; 0: none in that time. */
static int signal_within(const sigset_t *set, double seconds) {
  const double deadline = kg_child_clock() + seconds;
  for (double left = seconds; left > 0; left = deadline - kg_child_clock()) {
    const time_t whole = (time_t)left;
    const struct timespec wait = {whole, (long)((left - (double)whole) * 1e9)};
    const int caught = sigtimedwait(set, NULL, &wait);
    if (caught > 0) return caught;
    if (errno != EINTR) return 0;
  }
  return 0;
}

static void *wait_for_signal(void *data) {
  Verify *v = data;
  sigset_t set;
  int caught = 0;
  awaited(&set);
  if (sigwait(&set, &caught) != 0 || caught == OVER) return NULL;
  pthread_mutex_lock(&v->lock);
  v->stopped = caught;
  pthread_mutex_unlock(&v->lock);
  if (signal_within(&set, GRACE_SECONDS) != OVER) v->give_up(v);
  return NULL;
}

void verify_interrupt_open(Verify *v) {
  sigset_t set;
  make_folder(v);
  awaited(&set);
  pthread_sigmask(SIG_BLOCK, &set, &v->signals_before);
  v->waits = pthread_create(&v->waiter, NULL, wait_for_signal, v) == 0;
  if (!v->waits) pthread_sigmask(SIG_SETMASK, &v->signals_before, NULL);
}

bool verify_stopped(const Verify *v) {
  sigset_t pending;
  if (v->stopped != 0) return true;
  if (!v->waits || sigpending(&pending) != 0) return false;
  for (int i = 0; i < ENDING_SIGNALS; i++)
    if (sigismember(&pending, ending_signal[i]) == 1) return true;
  return false;
}

bool verify_goes_on(Verify *v) {
  pthread_mutex_lock(&v->lock);
  const bool stopped = verify_stopped(v);
  pthread_mutex_unlock(&v->lock);
  return !stopped;
}

void verify_interrupt_close(Verify *v) {
  if (v->waits) {
    pthread_kill(v->waiter, OVER);
    pthread_join(v->waiter, NULL);
  }
  verify_remove_folder(v);
}

void verify_interrupt_end(const Verify *v) {
  sigset_t set;
  if (v->stopped != 0) {
    signal(v->stopped, SIG_DFL);
    raise(v->stopped);
    sigemptyset(&set);
    sigaddset(&set, v->stopped);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* here it ends, as the one who sent it wants */
  }
  if (v->waits) pthread_sigmask(SIG_SETMASK, &v->signals_before, NULL);
}

/* platform.c: see platform.h. */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__linux__) && !defined(KG_PLATFORM_PORTABLE)
#define LINUX 1
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#else
#define LINUX 0
#endif

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <link.h>
#endif

/* ---- where others are ------------------------------------------------------------------------- */

bool kg_cuda_headers(char *option, size_t bytes) {
  static const char before[] = "--include-path=";
  const char *const roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    char file[1024];
    if (!roots[i] || !*roots[i]) continue;
    const int n = snprintf(option, bytes, "%s%s/include", before, roots[i]);
    if (n < 0 || (size_t)n >= bytes) continue;
    snprintf(file, sizeof file, "%s/cuda_fp16.h", option + sizeof before - 1);
    if (access(file, R_OK) == 0) return true;
  }
  return false;
}

/* ---- the program ----------------------------------------------------------------------------- */

unsigned kg_processors(void) {
#if LINUX
  cpu_set_t set;
  const long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#else
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return count < 1 ? 1 : (unsigned)count;
}

bool kg_program_path(char *path, size_t bytes) {
#if defined(__APPLE__)
  uint32_t room = (uint32_t)bytes;
  return _NSGetExecutablePath(path, &room) == 0;
#elif LINUX
  const ssize_t length = readlink("/proc/self/exe", path, bytes);
  if (length < 0 || (size_t)length >= bytes) return false;
  path[length] = 0;
  return true;
#else
  (void)path, (void)bytes;
  return false;
#endif
}

#if !defined(__APPLE__)
typedef struct Listener {
  void (*each)(void *data, const char *path);
  void *data;
} Listener;

static int tell(struct dl_phdr_info *info, size_t bytes, void *data) {
  const Listener *listener = data;
  (void)bytes;
  if (info->dlpi_name && *info->dlpi_name) listener->each(listener->data, info->dlpi_name);
  return 0;
}
#endif

void kg_loaded_files(void (*each)(void *data, const char *path), void *data) {
#if defined(__APPLE__)
  for (uint32_t i = 0; i < _dyld_image_count(); i++) each(data, _dyld_get_image_name(i));
#else
  Listener listener = {each, data};
  dl_iterate_phdr(tell, &listener);
#endif
}

/* ---- descriptors ----------------------------------------------------------------------------- */

int kg_memory_file(const char *name) {
#if LINUX
  return memfd_create(name, MFD_CLOEXEC);
#else
  const char *folder = getenv("TMPDIR");
  char path[1024];
  if ((size_t)snprintf(path, sizeof path, "%s/%s-XXXXXX", folder && *folder ? folder : "/tmp",
                       name) >= sizeof path)
    return errno = ENAMETOOLONG, -1;
  const int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  return fd;
#endif
}

bool kg_descriptor_path(int fd, char *path, size_t bytes) {
#if LINUX
  return (size_t)snprintf(path, bytes, "/proc/self/fd/%d", fd) < bytes;
#else
  (void)fd, (void)path, (void)bytes;
  return false;
#endif
}

void kg_close_from(int first) {
#if LINUX
  if (close_range((unsigned)first, ~0u, 0) == 0) return;
#endif
  for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++) close((int)fd);
}

void kg_execute(int program, const char *path, char *const *argv, char *const *envp) {
#if LINUX
  (void)path;
  fexecve(program, argv, envp);
#else
  (void)program;
  execve(path, argv, envp);
#endif
}

void kg_end_with_parent(void) {
#if LINUX
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

bool kg_own_rights(void) {
#if LINUX
  return unshare(CLONE_NEWUSER) == 0;
#else
  errno = EPERM;
  return false;
#endif
}

/* ---- time ------------------------------------------------------------------------------------ */

static struct timespec timespec_of(double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds};
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  return t;
}

#if LINUX

bool kg_ticker_start(kg_ticker *ticker, double seconds, int signal_number) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number;
  event.sigev_value.sival_ptr = ticker;
  event._sigev_un._tid = gettid();
  const struct timespec tick = timespec_of(seconds);
  const struct itimerspec every = {tick, tick};
  ticker->ticks = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &ticker->timer) == 0;
  if (ticker->ticks && timer_settime(ticker->timer, 0, &every, NULL)) kg_ticker_stop(ticker);
  return ticker->ticks;
}

void kg_ticker_stop(kg_ticker *ticker) {
  if (ticker->ticks) timer_delete(ticker->timer);
  ticker->ticks = false;
}

bool kg_ticker_ticked(kg_ticker *ticker, const siginfo_t *info) {
  return info->si_code == SI_TIMER && (!ticker || info->si_value.sival_ptr == ticker);
}

#else

/* Signals of tickers that have stopped and that their threads, which block them, have yet to see. */
static atomic_int late;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A thread's time goes no faster than the wall's: after what is left there may be more left. */
static void *watch(void *data) {
  kg_ticker *ticker = data;
  double next = now(ticker->clock) + ticker->seconds;
  pthread_mutex_lock(&ticker->lock);
  while (!ticker->over) {
    const double left = next - now(ticker->clock);
    if (left > 0) {
      const struct timespec until = timespec_of(now(CLOCK_REALTIME) + left);
      pthread_cond_timedwait(&ticker->ends, &ticker->lock, &until);
    } else {
      next += ticker->seconds;
      if (!atomic_exchange(&ticker->due, true)) pthread_kill(ticker->thread, ticker->signal_number);
    }
  }
  pthread_mutex_unlock(&ticker->lock);
  return NULL;
}

bool kg_ticker_start(kg_ticker *ticker, double seconds, int signal_number) {
  sigset_t all, before;
  ticker->thread = pthread_self();
  ticker->seconds = seconds;
  ticker->signal_number = signal_number;
  ticker->over = false;
  ticker->clock = CLOCK_MONOTONIC;
#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0
  if (pthread_getcpuclockid(ticker->thread, &ticker->clock)) ticker->clock = CLOCK_MONOTONIC;
#endif
  atomic_init(&ticker->due, false);
  pthread_mutex_init(&ticker->lock, NULL);
  pthread_cond_init(&ticker->ends, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for its own threads */
  ticker->ticks = pthread_create(&ticker->watcher, NULL, watch, ticker) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ticker->ticks;
}

void kg_ticker_stop(kg_ticker *ticker) {
  if (!ticker->ticks) return;
  pthread_mutex_lock(&ticker->lock);
  ticker->over = true;
  pthread_cond_signal(&ticker->ends);
  pthread_mutex_unlock(&ticker->lock);
  pthread_join(ticker->watcher, NULL);
  pthread_cond_destroy(&ticker->ends);
  pthread_mutex_destroy(&ticker->lock);
  ticker->ticks = false;
  if (atomic_exchange(&ticker->due, false)) atomic_fetch_add(&late, 1);
}

bool kg_ticker_ticked(kg_ticker *ticker, const siginfo_t *info) {
  if (info->si_code > 0) return false; /* the thread's own doing */
  if (ticker) return atomic_exchange(&ticker->due, false);
  if (atomic_load(&late) == 0) return false;
  atomic_fetch_sub(&late, 1);
  return true;
}

#endif

/* ---- a signal's third argument --------------------------------------------------------------- */

#if defined(__linux__) && defined(__x86_64__)
#define PLACE(machine) ((machine)->uc_mcontext.gregs[REG_RIP])
#define STACK(machine) ((machine)->uc_mcontext.gregs[REG_RSP])
typedef greg_t Register;
#elif defined(__linux__) && defined(__aarch64__)
#define PLACE(machine) ((machine)->uc_mcontext.pc)
#define STACK(machine) ((machine)->uc_mcontext.sp)
typedef uint64_t Register;
#else
#error "platform.c: say which registers of a signal's context are the program counter and the stack"
#endif

const void *kg_signal_place(const void *state) {
  const ucontext_t *machine = state;
  return (const void *)(uintptr_t)PLACE(machine);
}

void kg_signal_go_on(void *state, const void *place, void *stack) {
  ucontext_t *machine = state;
  PLACE(machine) = (Register)(uintptr_t)place;
  STACK(machine) = (Register)(uintptr_t)stack;
}

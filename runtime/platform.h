/* platform.h: what POSIX leaves to each system, one function a need; the only place that asks
** which system it is.
**
** Linux has its own way for each; other systems get what POSIX has (platform.c, which a build with
** KG_PLATFORM_PORTABLE takes on Linux too, so that it is tested).  Nothing here keeps state between
** calls but a ticker. */
#ifndef KG_PLATFORM_H
#define KG_PLATFORM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* The processors that this process may use, at least 1. */
unsigned kg_processors(void);

/* The running program's file.  False: this system does not say, or it does not fit. */
bool kg_program_path(char *path, size_t bytes);

/* "--include-path=/usr/local/cuda/include", for texts that include CUDA's own headers: below $CUDA_PATH or
** $CUDA_HOME, else where the toolkit is installed.  False: they are nowhere. */
bool kg_cuda_headers(char *option, size_t bytes);

/* Calls for the file of each library that is loaded now, as the dynamic linker names it. */
void kg_loaded_files(void (*each)(void *data, const char *path), void *data);

/* ---- descriptors ----------------------------------------------------------------------------- */

/* A new empty file that is in no folder, open for reading and writing, closed by exec.  -1: errno. */
int kg_memory_file(const char *name);
/* A path that opens a descriptor's file once more in this process, as long as it is open.  False:
** this system has none for a file that is in no folder. */
bool kg_descriptor_path(int fd, char *path, size_t bytes);

/* Between fork and exec.  Closes the descriptors from this one on. */
void kg_close_from(int first);
/* Runs the program that is open; returns on failure only (errno).  Where a system cannot, the
** path is looked up instead, in the root directory that is now the process's. */
void kg_execute(int program, const char *path, char *const *argv, char *const *envp);

/* In a child: it is killed when its parent ends, where the system has a way to say so; elsewhere it
** notices when it next reads or writes. */
void kg_end_with_parent(void);
/* In a child: makes it root in a name space of its own, which may change its root directory.
** False with errno: the system has no such thing, or does not allow it. */
bool kg_own_rights(void);

/* ---- time ------------------------------------------------------------------------------------ */

/* A signal to the thread that started it, each time it has been on a processor for so long.  The
** portable one watches from a thread of its own, and takes the wall clock where a thread's time
** cannot be asked for.  It must not move in memory while it ticks. */
typedef struct kg_ticker {
  bool ticks;
#if defined(__linux__)
  timer_t timer;
#endif
  pthread_t watcher, thread; /* all that follows is the portable one's; thread: whom it signals */
  pthread_mutex_t lock;
  pthread_cond_t ends;
  clockid_t clock;
  double seconds;
  int signal_number;
  atomic_bool due; /* a signal is on its way */
  bool over;       /* under the lock */
} kg_ticker;

/* False: no timer; nothing ticks. */
bool kg_ticker_start(kg_ticker *ticker, double seconds, int signal_number);
void kg_ticker_stop(kg_ticker *ticker);
/* In a handler: whether the signal is one of this ticker's; NULL: of one that is over. */
bool kg_ticker_ticked(kg_ticker *ticker, const siginfo_t *info);

/* ---- a signal's third argument --------------------------------------------------------------- */

/* Where the thread was, and where it goes on when the handler returns. */
const void *kg_signal_place(const void *state);
void kg_signal_go_on(void *state, const void *place, void *stack);

#endif

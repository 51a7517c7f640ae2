/* child.h: other programs, run as child processes; the one place that starts them.
**
** A child gets three descriptors and nothing else that is open here, every signal as it is by
** default and none blocked, no core file.  Between fork and exec only what is safe in a program
** with threads is done, and a program that cannot be run is known at once, with errno.  No call
** raises SIGPIPE or waits past its deadline; a host that ignores SIGCHLD is served alike. */
#ifndef KG_CHILD_H
#define KG_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seconds of CLOCK_MONOTONIC, in which deadlines are given. */
double kg_child_clock(void);

/* The absolute path of a program: a name without a slash is looked for in PATH.  False: there is
** none that can be run, or the path is too long. */
bool kg_child_find(const char *name, char *path, size_t bytes);

typedef struct kg_child_program {
  const char *path;  /* as for kg_child_find */
  const void *image; /* not NULL: the program's own bytes, and path is what it is called */
  size_t image_bytes;
  const char *root;   /* changed to (chroot) before the program is run; NULL: none */
  const char *folder; /* where it runs; NULL: here */
  const char *const *argv, *const *envp; /* envp: the whole environment; NULL: ours */
} kg_child_program;

/* ---- to its end ------------------------------------------------------------------------------ */

typedef enum kg_child_ending {
  KG_CHILD_EXITED,    /* code: the exit status */
  KG_CHILD_SIGNALLED, /* code: the signal */
  KG_CHILD_LATE,      /* the deadline came, and it was killed */
  KG_CHILD_LOUD,      /* it wrote more than `most`, and was killed; what came is there */
  KG_CHILD_REAPED,    /* ended, but our program took its exit status itself (wait for any child) */
  KG_CHILD_NOT_RUN    /* code: errno; words: what was refused */
} kg_child_ending;

typedef struct kg_child_limits {
  double seconds; /* 0: as long as it takes */
  size_t most;    /* bytes of either output; 0: 256 MiB */
} kg_child_limits;

typedef struct kg_child_outcome {
  kg_child_ending ending;
  int code;
  char words[160]; /* "ended by signal 9 (Killed)", "ended with status 1", "did not end in 3
                       seconds", "cannot be run: No such file or directory" ... */
  char *out, *err; /* a NUL behind each; NULL where nothing came */
  size_t out_bytes, err_bytes;
} kg_child_outcome;

/* Runs the program with these bytes as its standard input.  True: it ended with status 0.  *of is
** filled in any case, for kg_child_outcome_free. */
bool kg_child_run(const kg_child_program *program, const void *input, size_t input_bytes,
                  kg_child_limits limits, kg_child_outcome *of);
void kg_child_outcome_free(kg_child_outcome *of);

/* ---- to talk with ---------------------------------------------------------------------------- */

/* Descriptors 0 and 1 of this child are a socket; 2 is a file in memory, read when it has died. */
typedef struct kg_child {
  pid_t pid; /* 0: none */
  int fd;    /* the socket */
  int noise; /* the file in memory */
} kg_child;

typedef enum kg_child_result {
  KG_CHILD_OK,
  KG_CHILD_ENDED, /* it has closed the socket: dead or dying */
  KG_CHILD_TIMEOUT,
  KG_CHILD_ERROR /* the operating system refused; errno says what */
} kg_child_result;

/* Fills *child.  False: it could not be run, and words say why. */
bool kg_child_start(kg_child *child, const kg_child_program *program, char *words, size_t bytes);

kg_child_result kg_child_send(kg_child *child, const void *bytes, size_t count, double deadline);
kg_child_result kg_child_receive(kg_child *child, void *bytes, size_t count, double deadline);

/* Forgets what the child has printed so far. */
void kg_child_quiet(kg_child *child);

/* Ends the child if it still runs, reaps it, and says how it ended and what it printed last, in
** one line: "ended by signal 6 (Aborted); its last words: free(): invalid pointer".  words may
** be NULL.  Leaves *child empty. */
void kg_child_end(kg_child *child, char *words, size_t bytes);

#endif

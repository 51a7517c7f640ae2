/* child.h: a child process with which one talks over a socket, under a deadline.
**
** The child has the socket as descriptors 0 and 1, descriptor 2 is a file in memory that the
** parent reads when the child has died, and nothing else of the parent's is open in it.  No call
** raises SIGPIPE or waits past its deadline. */
#ifndef KG_CHILD_H
#define KG_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct kg_child {
  pid_t pid; /* 0: none */
  int fd;    /* the socket */
  int noise; /* the file in memory */
} kg_child;

typedef struct kg_child_start_info {
  const char *program; /* a file of this file system; NULL: run `inside` in a plain fork */
  int (*inside)(void *data);
  void *data;
  const char
      *root; /* changed to (chroot) before the program is run; NULL: none.  Needs `program` */
  char *const *argv, *const *envp; /* the whole environment */
} kg_child_start_info;

typedef enum kg_child_result {
  KG_CHILD_OK,
  KG_CHILD_ENDED, /* it has closed the socket: dead or dying */
  KG_CHILD_TIMEOUT,
  KG_CHILD_ERROR /* the operating system refused; errno says what */
} kg_child_result;

/* Fills *child.  False: no process could be made (errno).  A program that cannot be run shows
** itself as KG_CHILD_ENDED. */
bool kg_child_start(kg_child *child, const kg_child_start_info *info);

/* deadline: of CLOCK_MONOTONIC in seconds, see kg_child_clock. */
double kg_child_clock(void);
kg_child_result kg_child_send(kg_child *child, const void *bytes, size_t count, double deadline);
kg_child_result kg_child_receive(kg_child *child, void *bytes, size_t count, double deadline);

/* Forgets what the child has printed so far. */
void kg_child_quiet(kg_child *child);

/* Ends the child if it still runs, reaps it, and says how it ended and what it printed last, in
** one line: "ended by signal 6 (Aborted); its last words: free(): invalid pointer".  words may
** be NULL.  Leaves *child empty. */
void kg_child_end(kg_child *child, char *words, size_t bytes);

#endif

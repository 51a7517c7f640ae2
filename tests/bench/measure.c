/* measure: runs a command several times and prints what it took.
**
**   measure RUNS BEFORE COMMAND [ARGUMENT...]
**
** BEFORE is a shell command that is run, unmeasured, ahead of each run ("" for none).  Prints the
** fastest and the median wall time in milliseconds and the largest resident set in MiB: "12.345
** 12.456 48.1".  Exits with the command's status when it is not 0: a command that fails has no
** time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 1000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The command's output goes nowhere; its errors are shown. */
static int run(char **argv, double *ms, long *kib) {
  const double start = now();
  const pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, 1);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
  }
  int status;
  struct rusage usage;
  while (wait4(pid, &status, 0, &usage) < 0)
    if (errno != EINTR) return -1;
  *ms = now() - start;
  if (usage.ru_maxrss > *kib) *kib = usage.ru_maxrss;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  const int runs = argc > 3 ? atoi(argv[1]) : 0;
  if (runs < 1 || runs > MAX_RUNS) {
    fputs("usage: measure RUNS BEFORE COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  static double ms[MAX_RUNS];
  long kib = 0;
  for (int i = 0; i < runs; i++) {
    if (argv[2][0] && system(argv[2]) != 0) return 1;
    const int status = run(argv + 3, &ms[i], &kib);
    if (status != 0) return status > 0 ? status : 1;
  }
  qsort(ms, (size_t)runs, sizeof ms[0], by_size);
  printf("%.3f %.3f %.1f\n", ms[0], ms[runs / 2], (double)kib / 1024);
  return 0;
}

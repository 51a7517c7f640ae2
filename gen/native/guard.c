/* guard.c: a text that somebody else wrote runs in a process of its own.  See native.h.
**
** The one that waits does nothing else: it passes an ending signal on, says how the other one died,
** and takes the temporary folder away. */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "native/native.h"

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at) {
  (void)facts, (void)kind, (void)at;
  remove(path);
  return 0;
}

static void ending_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGINT), sigaddset(set, SIGTERM), sigaddset(set, SIGHUP), sigaddset(set, SIGCHLD);
}

/* The child's exit status, or what its end means. */
static int ended(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fprintf(stderr, "kgen try: the process that ran the text was ended by signal %d (%s)\n",
          WTERMSIG(status), strsignal(WTERMSIG(status)));
  return EXIT_FINDINGS;
}

static int wait_for(pid_t child, const sigset_t *set, int *caught) {
  int status = 0;
  *caught = 0;
  for (;;) {
    const pid_t gone = waitpid(child, &status, WNOHANG);
    if (gone == child) return ended(status);
    if (gone < 0 && errno != EINTR) return EXIT_FINDINGS;
    const int signal_number = sigwaitinfo(set, NULL);
    if (signal_number <= 0 || signal_number == SIGCHLD) continue;
    *caught = signal_number;
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return EXIT_FINDINGS;
  }
}

int native_guarded(int (*work)(void *data), void *data) {
  const char *tmp = getenv("TMPDIR");
  char folder[512];
  sigset_t set, before;
  int caught = 0, status = EXIT_FINDINGS;
  snprintf(folder, sizeof folder, "%s/kgen-try-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
  if (!mkdtemp(folder)) {
    fprintf(stderr, "kgen try: no temporary folder can be made: %s\n", strerror(errno));
    return EXIT_FINDINGS;
  }
  ending_signals(&set);
  sigprocmask(SIG_BLOCK, &set, &before);
  fflush(NULL);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    setenv("TMPDIR", folder, 1);
    status = getppid() == parent ? work(data) : EXIT_FINDINGS;
    if (fflush(stdout) || ferror(stdout)) status = EXIT_FINDINGS;
    _exit(status);
  }
  if (child < 0)
    fprintf(stderr, "kgen try: no process can be made: %s\n", strerror(errno));
  else
    status = wait_for(child, &set, &caught);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (caught) {
    signal(caught, SIG_DFL);
    raise(caught);
  }
  return status;
}

/* child.c: see child.h. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform.h"

#define LINE_BYTES 512

double kg_child_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* Between fork and exec there is only what is safe after a fork of a program with threads. */

static void say(const char *words) {
  ssize_t ignored = write(STDERR_FILENO, words, strlen(words));
  (void)ignored;
}

_Noreturn static void give_up(const char *what) {
  const char *why = strerrordesc_np(errno); /* a constant: no lock, no allocation */
  say(what);
  say(why != NULL ? why : "unknown error");
  _exit(127);
}

/* chroot needs a right that root has; where the system lets anyone make a user namespace, that
** gives it too. */
static void enter_root(const char *root) {
  if (chroot(root) != 0) {
    if (errno != EPERM) give_up("cannot change to the root directory: ");
    if (unshare(CLONE_NEWUSER) != 0 || chroot(root) != 0)
      give_up("changing to a root directory needs root rights or user namespaces: ");
  }
  if (chdir("/") != 0) give_up("cannot enter the root directory: ");
}

/* Moves the two descriptors to 0, 1 and 2, program to 3, and closes all others. */
static int take_descriptors(int socket, int noise, int program) {
  socket = fcntl(socket, F_DUPFD, 10);
  noise = fcntl(noise, F_DUPFD, 10);
  if (program >= 0) program = fcntl(program, F_DUPFD, 10);
  if (socket < 0 || noise < 0 || dup2(noise, 2) < 0 || dup2(socket, 0) < 0 || dup2(socket, 1) < 0)
    _exit(127);
  if (program >= 0) program = dup3(program, 3, O_CLOEXEC);
  kg_close_from(program >= 0 ? 4 : 3);
  return program;
}

static void default_signals(void) {
  sigset_t none;
  for (int s = 1; s < NSIG; s++)
    if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void run_child(const kg_child_start_info *info, int socket, int noise,
                                int program) {
  const struct rlimit no_core = { 0, 0 };
  default_signals();
  setrlimit(RLIMIT_CORE,
            &no_core); /* an abort is an answer here, not something to keep a core of */
  program = take_descriptors(socket, noise, program);
  if (info->root != NULL) enter_root(info->root);
  if (info->program == NULL) {
    clearenv();
    for (char *const *e = info->envp; *e != NULL; e++) putenv(*e);
    _exit(info->inside(info->data));
  }
  kg_execute(program, info->program, info->argv, info->envp);
  give_up("cannot run the compiler's program: ");
}

/* ---- in the parent --------------------------------------------------------------------------- */

bool kg_child_start(kg_child *child, const kg_child_start_info *info) {
  int ends[2] = { -1, -1 }, program = -1, noise = kg_memory_file("kg-child");
  pid_t pid = -1;
  if (noise >= 0 && fcntl(noise, F_SETFL, O_APPEND) == 0 &&
      (info->program == NULL || (program = open(info->program, O_RDONLY | O_CLOEXEC)) >= 0) &&
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    pid = fork();
    if (pid == 0) run_child(info, ends[1], noise, program);
  }
  int reason = errno;
  if (ends[1] >= 0) close(ends[1]);
  if (program >= 0) close(program);
  if (pid < 0) {
    if (ends[0] >= 0) close(ends[0]);
    if (noise >= 0) close(noise);
    errno = reason;
    return false;
  }
  *child = (kg_child){ pid, ends[0], noise };
  return true;
}

static kg_child_result wait_for(int fd, short events, double deadline) {
  for (;;) {
    double left = deadline - kg_child_clock();
    if (left <= 0) return KG_CHILD_TIMEOUT;
    struct pollfd p = { fd, events, 0 };
    int n = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
    if (n > 0) return KG_CHILD_OK;
    if (n < 0 && errno != EINTR) return KG_CHILD_ERROR;
  }
}

/* Sending and receiving differ in one call. */
static kg_child_result transfer(kg_child *child, bool sending, char *at, size_t count,
                                double deadline) {
  while (count > 0) {
    kg_child_result ready = wait_for(child->fd, sending ? POLLOUT : POLLIN, deadline);
    if (ready != KG_CHILD_OK) return ready;
    ssize_t n = sending ? send(child->fd, at, count, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : recv(child->fd, at, count, MSG_DONTWAIT);
    if (n > 0) {
      at += n;
      count -= (size_t)n;
    } else if (n == 0 || errno == EPIPE || errno == ECONNRESET) {
      return KG_CHILD_ENDED;
    } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
      return KG_CHILD_ERROR;
    }
  }
  return KG_CHILD_OK;
}

kg_child_result kg_child_send(kg_child *child, const void *bytes, size_t count, double deadline) {
  char *at;
  memcpy(&at, &bytes, sizeof at); /* send only reads it */
  return transfer(child, true, at, count, deadline);
}

kg_child_result kg_child_receive(kg_child *child, void *bytes, size_t count, double deadline) {
  return transfer(child, false, bytes, count, deadline);
}

void kg_child_quiet(kg_child *child) {
  if (ftruncate(child->noise, 0) != 0)
    return; /* only the last words of a dead child would be longer */
}

/* The last line that is not empty, or its end where it is long. */
static void last_line(int fd, char line[LINE_BYTES]) {
  char tail[LINE_BYTES];
  off_t end = lseek(fd, 0, SEEK_END), from = end > LINE_BYTES - 1 ? end - (LINE_BYTES - 1) : 0;
  ssize_t n = end > 0 ? pread(fd, tail, sizeof tail - 1, from) : 0;
  while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r' || tail[n - 1] == ' ')) n--;
  tail[n > 0 ? n : 0] = '\0';
  const char *start = strrchr(tail, '\n');
  snprintf(line, LINE_BYTES, "%s", start != NULL ? start + 1 : tail);
}

static void how_it_ended(int status, bool reaped, char *words, size_t bytes) {
  if (reaped && WIFSIGNALED(status))
    snprintf(words, bytes, "ended by signal %d (%s)", WTERMSIG(status),
             sigdescr_np(WTERMSIG(status)));
  else if (reaped && WIFEXITED(status))
    snprintf(words, bytes, "ended with status %d", WEXITSTATUS(status));
  else
    snprintf(words, bytes, "ended"); /* the program that we are in reaps its children itself */
}

void kg_child_end(kg_child *child, char *words, size_t bytes) {
  int status = 0;
  pid_t got = 0;
  if (child->pid == 0) return;
  close(child->fd); /* a child that waits for a request ends by itself */
  for (int i = 0; i < 50 && got == 0; i++) {
    got = waitpid(child->pid, &status, WNOHANG);
    if (got == 0) nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
    if (got < 0 && errno == EINTR) got = 0;
  }
  if (got == 0) {
    kill(child->pid, SIGKILL);
    while ((got = waitpid(child->pid, &status, 0)) < 0 && errno == EINTR) {}
  }
  if (words != NULL && bytes > 0) {
    char line[LINE_BYTES];
    last_line(child->noise, line);
    how_it_ended(status, got == child->pid, words, bytes);
    size_t len = strlen(words);
    if (line[0] != '\0') snprintf(words + len, bytes - len, "; its last words: %s", line);
  }
  close(child->noise);
  *child = (kg_child){ 0, -1, -1 };
}

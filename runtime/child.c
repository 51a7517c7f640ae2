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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "platform.h"

#define LINE_BYTES 512
#define MOST_BYTES ((size_t)256 << 20)

extern char **environ;

double kg_child_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void pause_for(double seconds) {
  nanosleep(&(struct timespec){0, (long)(seconds * 1e9)}, NULL);
}

/* ---- which program --------------------------------------------------------------------------- */

static bool is_program(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return false;
  if (S_ISREG(facts.st_mode)) return access(path, X_OK) == 0;
  errno = EACCES;
  return false;
}

bool kg_child_find(const char *name, char *path, size_t bytes) {
  if (strchr(name, '/') != NULL) {
    char here[4096] = "";
    if (!is_program(name) || (name[0] != '/' && getcwd(here, sizeof here) == NULL)) return false;
    errno = ENAMETOOLONG;
    return (size_t)snprintf(path, bytes, "%s%s%s", here, here[0] ? "/" : "", name) < bytes;
  }
  const char *folders = getenv("PATH");
  if (folders == NULL || *folders == '\0') folders = "/usr/local/bin:/usr/bin:/bin";
  for (const char *at = folders; *at != '\0';) {
    const size_t length = strcspn(at, ":");
    if (length > 0 && at[0] == '/' &&
        (size_t)snprintf(path, bytes, "%.*s/%s", (int)length, at, name) < bytes && is_program(path))
      return true;
    at += length + (at[length] == ':');
  }
  errno = ENOENT;
  return false;
}

/* The image as a file to be run: read-only, since a file that is open for writing cannot be. */
static int image_file(const void *image, size_t bytes) {
  char name[64];
  int file = kg_memory_file("kg-program"), program = -1;
  if (file >= 0 && kg_write_all(file, image, bytes) && kg_descriptor_path(file, name, sizeof name))
    program = open(name, O_RDONLY | O_CLOEXEC);
  const int reason = errno;
  close_one(&file);
  errno = reason;
  return program;
}

static bool is_script(int program) {
  char start[2];
  return pread(program, start, sizeof start, 0) == 2 && start[0] == '#' && start[1] == '!';
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* Everything that the child needs, made before it is: between fork and exec there is only what is
** safe after a fork of a program with threads. */
typedef struct plan {
  const char *path, *root, *folder;
  char *const *argv, *const *envp;
  int fd[3];
  int program; /* a descriptor of it, or -1: path */
  bool script; /* it begins with #!, and another program will open it */
  int report;  /* where `said` goes */
} plan;

typedef enum step {
  STEP_ENDED,
  STEP_FILES,
  STEP_FORK,
  STEP_ROOT,
  STEP_RIGHTS,
  STEP_FOLDER,
  STEP_SCRIPT,
  STEP_RUN
} step;
static const char *const step_words[] = {
    [STEP_ENDED] = "",
    [STEP_FILES] = "no descriptors for it",
    [STEP_FORK] = "no process for it",
    [STEP_ROOT] = "cannot change to the root directory",
    [STEP_RIGHTS] = "changing to a root directory needs root rights or user namespaces",
    [STEP_FOLDER] = "cannot change to its folder",
    [STEP_SCRIPT] = "a script can be run only in a root directory that has /proc",
    [STEP_RUN] = "cannot be run",
};

/* What a child says of itself on the pipe that exec closes. */
typedef struct said {
  int step; /* STEP_ENDED: value is what waitpid gave; else what failed, and value is errno */
  int value;
} said;

static void tell(const plan *p, step what, int value) {
  const said s = {(int)what, value};
  ssize_t ignored = write(p->report, &s, sizeof s);
  (void)ignored;
}

_Noreturn static void give_up(const plan *p, step what) {
  tell(p, what, errno);
  _exit(127);
}

/* chroot needs a right that root has; where the system lets anyone make a user namespace, that
** gives it too. */
static void enter_root(const plan *p) {
  if (chroot(p->root) != 0) {
    if (errno != EPERM) give_up(p, STEP_ROOT);
    if (!kg_own_rights() || chroot(p->root) != 0) give_up(p, STEP_RIGHTS);
  }
  if (chdir("/") != 0) give_up(p, STEP_ROOT);
}

/* The three descriptors become 0, 1 and 2, the report 3 and the program 4; all others close. */
static void take_descriptors(plan *p) {
  int *const kept[] = {&p->report, &p->fd[0], &p->fd[1], &p->fd[2], &p->program};
  for (int i = 0; i < 5; i++)
    if (*kept[i] >= 0 && (*kept[i] = fcntl(*kept[i], F_DUPFD, 10)) < 0) give_up(p, STEP_FILES);
  for (int i = 0; i < 3; i++)
    if (dup2(p->fd[i], i) < 0) give_up(p, STEP_FILES);
  if (dup3(p->report, 3, O_CLOEXEC) < 0) give_up(p, STEP_FILES);
  p->report = 3;
  if (p->program >= 0 && (p->program = dup3(p->program, 4, O_CLOEXEC)) < 0) give_up(p, STEP_FILES);
  kg_close_from(p->program >= 0 ? 5 : 4);
}

static void default_signals(void) {
  sigset_t none;
  for (int s = 1; s < NSIG; s++)
    if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A script is opened once more, by the program that reads it, under its descriptor's name. */
static void prepare_script(const plan *p) {
  char name[64];
  if (kg_descriptor_path(p->program, name, sizeof name) &&
      (fcntl(p->program, F_SETFD, 0) != 0 || access(name, R_OK) != 0))
    give_up(p, STEP_SCRIPT);
}

/* Another thread's child may hold a file that was just written, until it runs its own program. */
_Noreturn static void run_program(const plan *p) {
  if (p->script) prepare_script(p);
  for (int tries = 0; tries < 200; tries++) {
    if (p->program >= 0)
      kg_execute(p->program, p->path, p->argv, p->envp);
    else
      execve(p->path, p->argv, p->envp);
    if (errno != ETXTBSY) break;
    pause_for(0.002);
  }
  give_up(p, STEP_RUN);
}

_Noreturn static void be_program(plan *p) {
  const struct rlimit no_core = {0, 0};
  default_signals();
  setrlimit(RLIMIT_CORE, &no_core); /* an abort is an answer, not something to keep a core of */
  take_descriptors(p);
  if (p->root != NULL)
    enter_root(p);
  else if (p->folder != NULL && chdir(p->folder) != 0)
    give_up(p, STEP_FOLDER);
  run_program(p);
}

/* Where the host ignores SIGCHLD nobody learns how its children ended: so this child, which does
** not, starts the program, waits for it and tells.  When it is killed, so is the program. */
_Noreturn static void attend(plan *p) {
  default_signals();
  const pid_t own = getpid(), pid = fork();
  if (pid < 0) give_up(p, STEP_FORK);
  if (pid == 0) {
    kg_end_with_parent();
    if (getppid() != own) _exit(127);
    be_program(p);
  }
  int status = 0;
  if (dup2(p->report, 0) < 0) give_up(p, STEP_FILES);
  p->report = 0;
  kg_close_from(1); /* the program's end is the end of its output */
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) give_up(p, STEP_FORK);
  tell(p, STEP_ENDED, status);
  _exit(0);
}

/* ---- starting it ----------------------------------------------------------------------------- */

/* The caller's block of strings is only read; exec's types are old ones. */
static char *const *as_exec_has_it(const char *const *strings) {
  char *const *same;
  memcpy(&same, &strings, sizeof same);
  return same;
}

/* The process, and in *report the end of its pipe; -1 with errno, and *failed is what failed. */
static pid_t spawn(const kg_child_program *of, const int fd[3], bool attended, int *report,
                   step *failed) {
  char path[4096];
  int ends[2] = {-1, -1};
  pid_t pid = -1;
  plan p = {.path = path,
            .root = of->root,
            .folder = of->folder,
            .argv = as_exec_has_it(of->argv),
            .envp = of->envp != NULL ? as_exec_has_it(of->envp) : environ,
            .fd = {fd[0], fd[1], fd[2]},
            .program = -1};
  *failed = STEP_RUN;
  if (of->image != NULL)
    p.program = image_file(of->image, of->image_bytes);
  else if (!kg_child_find(of->path, path, sizeof path))
    return -1;
  else if (of->root != NULL)
    p.program = open(path, O_RDONLY | O_CLOEXEC); /* not of that root */
  if ((of->image != NULL || of->root != NULL) && p.program < 0) return -1;
  p.script = p.program >= 0 && is_script(p.program);
  *failed = STEP_FILES;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    *failed = STEP_FORK;
    p.report = ends[1];
    pid = fork();
    if (pid == 0) {
      if (attended) attend(&p);
      be_program(&p);
    }
  }
  const int reason = errno;
  close_one(&ends[1]);
  close_one(&p.program);
  if (pid < 0) close_one(&ends[0]);
  *report = ends[0];
  errno = reason;
  return pid;
}

static kg_child_result wait_for(int fd, short events, double deadline) {
  for (;;) {
    double left = deadline - kg_child_clock();
    if (left <= 0) return KG_CHILD_TIMEOUT;
    struct pollfd p = {fd, events, 0};
    int n = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
    if (n > 0) return KG_CHILD_OK;
    if (n < 0 && errno != EINTR) return KG_CHILD_ERROR;
  }
}

/* What the child said of itself; false: nothing, it runs its program or ended without a word. */
static bool hear(int report, double deadline, said *s) {
  ssize_t n;
  if (wait_for(report, POLLIN, deadline) != KG_CHILD_OK) return false;
  while ((n = read(report, s, sizeof *s)) < 0 && errno == EINTR) {}
  return n == (ssize_t)sizeof *s;
}

static bool ignores_children(void) {
  struct sigaction now;
  return sigaction(SIGCHLD, NULL, &now) == 0 &&
         (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT) != 0);
}

static void say_refused(step failed, int reason, char *words, size_t bytes) {
  snprintf(words, bytes, "%s: %s", step_words[failed], strerror(reason));
}

static void say_status(int status, char *words, size_t bytes) {
  const char *name = WIFSIGNALED(status) ? sigdescr_np(WTERMSIG(status)) : NULL;
  if (WIFSIGNALED(status))
    snprintf(words, bytes, "ended by signal %d (%s)", WTERMSIG(status),
             name != NULL ? name : "of no name");
  else
    snprintf(words, bytes, "ended with status %d", WEXITSTATUS(status));
}

/* ---- to its end ------------------------------------------------------------------------------ */

typedef struct run {
  pid_t pid;
  int in, out, err, report; /* our ends */
  const char *input;
  size_t left;
  size_t most, room[2];
  double deadline;
} run;

/* Writes what the pipe takes.  A program need not read its input. */
static void feed(run *r) {
  const ssize_t n = write(r->in, r->input, r->left);
  if (n > 0)
    r->input += n, r->left -= (size_t)n;
  else if (errno == EINTR || errno == EAGAIN)
    return;
  if (n <= 0 || r->left == 0) close_one(&r->in);
}

/* Reads what is there; 0, or errno, or EFBIG: more than is allowed. */
static int drain(run *r, int *fd, char **bytes, size_t *count, size_t *room) {
  if (*room - *count < 2) {
    const size_t larger = *room < 65536 ? 131072 : *room * 2;
    char *grown = realloc(*bytes, larger);
    if (grown == NULL) return ENOMEM;
    *bytes = grown;
    *room = larger;
  }
  const ssize_t n = read(*fd, *bytes + *count, *room - *count - 1);
  if (n == 0) close_one(fd);
  if (n < 0) return errno == EINTR || errno == EAGAIN ? 0 : errno;
  *count += (size_t)n;
  if (*count > r->most) return *count = r->most, EFBIG;
  return 0;
}

/* Until both outputs are closed.  0; ETIMEDOUT, EFBIG or another errno. */
static int exchange(run *r, kg_child_outcome *of) {
  while (r->out >= 0 || r->err >= 0) {
    struct pollfd p[3] = {{r->in, POLLOUT, 0}, {r->out, POLLIN, 0}, {r->err, POLLIN, 0}};
    const double left = r->deadline - kg_child_clock();
    if (left <= 0) return ETIMEDOUT;
    if (poll(p, 3, left > 1000 ? 1000000 : (int)(left * 1000) + 1) < 0) {
      if (errno != EINTR) return errno;
      continue;
    }
    if (p[0].revents != 0) feed(r);
    int why = p[1].revents != 0 ? drain(r, &r->out, &of->out, &of->out_bytes, &r->room[0]) : 0;
    if (why == 0 && p[2].revents != 0)
      why = drain(r, &r->err, &of->err, &of->err_bytes, &r->room[1]);
    if (why != 0) return why;
  }
  return 0;
}

/* Waits till the deadline, and then no longer: the child is killed.  What became of it. */
static pid_t reap(pid_t pid, double deadline, int *status, bool *late) {
  double rest = 0.00005;
  for (;;) {
    const pid_t got = waitpid(pid, status, *late ? 0 : WNOHANG);
    if (got == pid || (got < 0 && errno != EINTR)) return got;
    if (*late) continue;
    if (kg_child_clock() > deadline) {
      *late = true;
      kill(pid, SIGKILL);
    }
    pause_for(rest);
    if (rest < 0.005) rest *= 2;
  }
}

/* With every signal held back that would end this thread's work half-way: a write to a child that
** does not read. */
static void hold_pipe_signal(sigset_t *before, bool *pending) {
  sigset_t pipe, now;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, before);
  sigpending(&now);
  *pending = sigismember(&now, SIGPIPE) == 1;
}

static void release_pipe_signal(const sigset_t *before, bool pending) {
  sigset_t pipe, now;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&now);
  if (!pending && sigismember(&now, SIGPIPE) == 1) sigtimedwait(&pipe, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void conclude(kg_child_outcome *of, kg_child_ending ending, int code) {
  of->ending = ending;
  of->code = code;
}

/* How it ended, from what was exchanged, what it said and what the system says. */
static void settle(run *r, int why, kg_child_limits limits, kg_child_outcome *of) {
  int status = 0;
  said s = {STEP_ENDED, 0};
  bool late = why != 0;
  if (why != 0) kill(r->pid, SIGKILL);
  const bool heard = !late && hear(r->report, r->deadline, &s);
  const pid_t got = reap(r->pid, r->deadline, &status, &late);
  if (why == EFBIG) {
    conclude(of, KG_CHILD_LOUD, 0);
    snprintf(of->words, sizeof of->words, "wrote more than %zu bytes and was ended", r->most);
  } else if (why != 0 && why != ETIMEDOUT) {
    conclude(of, KG_CHILD_NOT_RUN, why);
    snprintf(of->words, sizeof of->words, "cannot be listened to: %s", strerror(why));
  } else if (heard && s.step != STEP_ENDED) {
    conclude(of, KG_CHILD_NOT_RUN, s.value);
    say_refused((step)s.step, s.value, of->words, sizeof of->words);
  } else if (late) {
    conclude(of, KG_CHILD_LATE, 0);
    snprintf(of->words, sizeof of->words, "did not end in %g seconds", limits.seconds);
  } else if (got == r->pid || heard) {
    if (heard) status = s.value;
    conclude(of, WIFSIGNALED(status) ? KG_CHILD_SIGNALLED : KG_CHILD_EXITED,
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    say_status(status, of->words, sizeof of->words);
  } else {
    conclude(of, KG_CHILD_REAPED, 0);
    snprintf(of->words, sizeof of->words,
             "ended, and this program's own handling of children took its exit status");
  }
}

/* Pipes for the three streams: theirs in fd, ours in *r, which never wait. */
static bool open_streams(run *r, int fd[3]) {
  int pair[2], *const ours[] = {&r->in, &r->out, &r->err};
  for (int i = 0; i < 3; i++) {
    if (pipe2(pair, O_CLOEXEC) != 0) return false;
    fd[i] = pair[i == 0 ? 0 : 1];
    *ours[i] = pair[i == 0 ? 1 : 0];
    if (fcntl(*ours[i], F_SETFL, O_NONBLOCK) != 0) return false;
  }
  return true;
}

bool kg_child_run(const kg_child_program *program, const void *input, size_t input_bytes,
                  kg_child_limits limits, kg_child_outcome *of) {
  run r = {.pid = -1, .in = -1, .out = -1, .err = -1, .report = -1, .input = input};
  int fd[3] = {-1, -1, -1};
  step failed = STEP_FILES;
  sigset_t before;
  bool pending;
  memset(of, 0, sizeof *of);
  r.left = input_bytes;
  r.most = limits.most > 0 ? limits.most : MOST_BYTES;
  r.deadline = limits.seconds > 0 ? kg_child_clock() + limits.seconds : 1e18;
  if (open_streams(&r, fd)) r.pid = spawn(program, fd, ignores_children(), &r.report, &failed);
  const int reason = errno;
  for (int i = 0; i < 3; i++) close_one(&fd[i]);
  if (r.pid > 0) {
    hold_pipe_signal(&before, &pending);
    if (r.left == 0) close_one(&r.in);
    const int why = exchange(&r, of);
    close_one(&r.in);
    release_pipe_signal(&before, pending);
    settle(&r, why, limits, of);
  } else {
    conclude(of, KG_CHILD_NOT_RUN, reason);
    say_refused(failed, reason, of->words, sizeof of->words);
  }
  close_one(&r.in), close_one(&r.out), close_one(&r.err), close_one(&r.report);
  if (of->out != NULL) of->out[of->out_bytes] = '\0';
  if (of->err != NULL) of->err[of->err_bytes] = '\0';
  return of->ending == KG_CHILD_EXITED && of->code == 0;
}

void kg_child_outcome_free(kg_child_outcome *of) {
  free(of->out);
  free(of->err);
  of->out = of->err = NULL;
}

/* ---- to talk with ---------------------------------------------------------------------------- */

bool kg_child_start(kg_child *child, const kg_child_program *program, char *words, size_t bytes) {
  int ends[2] = {-1, -1}, report = -1, noise = kg_memory_file("kg-child");
  pid_t pid = -1;
  step failed = STEP_FILES;
  said s;
  if (noise >= 0 && fcntl(noise, F_SETFL, O_APPEND) == 0 &&
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
    pid = spawn(program, (const int[3]){ends[1], ends[1], noise}, false, &report, &failed);
  int reason = errno;
  close_one(&ends[1]);
  const bool refused = pid > 0 && hear(report, 1e18, &s);
  close_one(&report);
  *child = (kg_child){pid, ends[0], noise};
  if (pid > 0 && !refused) return true;
  if (refused) {
    failed = (step)s.step;
    reason = s.value;
    kg_child_end(child, NULL, 0);
  } else {
    close_one(&child->fd);
    close_one(&child->noise);
    child->pid = 0;
  }
  if (failed == STEP_RUN && program->path != NULL) /* its name says most of it */
    snprintf(words, bytes, "%s: %s", program->path, strerror(reason));
  else
    say_refused(failed, reason, words, bytes);
  errno = reason;
  return false;
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

void kg_child_end(kg_child *child, char *words, size_t bytes) {
  int status = 0;
  pid_t got = 0;
  if (child->pid == 0) return;
  close(child->fd); /* a child that waits for a request ends by itself */
  for (int i = 0; i < 50 && got == 0; i++) {
    got = waitpid(child->pid, &status, WNOHANG);
    if (got == 0) pause_for(0.002);
    if (got < 0 && errno == EINTR) got = 0;
  }
  if (got == 0) {
    kill(child->pid, SIGKILL);
    while ((got = waitpid(child->pid, &status, 0)) < 0 && errno == EINTR) {}
  }
  if (words != NULL && bytes > 0) {
    char line[LINE_BYTES];
    last_line(child->noise, line);
    if (got == child->pid)
      say_status(status, words, bytes);
    else
      snprintf(words, bytes, "ended"); /* the program that we are in reaps its children itself */
    size_t len = strlen(words);
    if (line[0] != '\0') snprintf(words + len, bytes - len, "; its last words: %s", line);
  }
  close(child->noise);
  *child = (kg_child){0, -1, -1};
}

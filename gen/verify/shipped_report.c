/* shipped_report.c: a child process that looks at something that may end it, and what it says.  See
** shipped.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "platform.h"
#include "verify/shipped.h"

void shipped_add(Arena *a, Shipped *s, const char *kernel, const char *text) {
  GROW(a, s->faults, s->count, s->room);
  s->faults[s->count++] = (ShippedFault){kernel, text};
}

/* ---- what the child says --------------------------------------------------------------------- */

/* Memory that both processes see. */
typedef struct At {
  int calls;
  char kernel[256], what[256]; /* what the child is at */
} At;

struct ShippedReport {
  FILE *file; /* "kernel" NUL "text" NUL, one after another */
  At *at;
};

void shipped_found(ShippedReport *to, const Kernel *k, const char *format, ...) {
  va_list args;
  fprintf(to->file, "%s%c", k != NULL ? k->name : "", 0);
  va_start(args, format);
  vfprintf(to->file, format, args);
  va_end(args);
  fputc(0, to->file);
  fflush(to->file); /* the next call may be the child's last */
}

void shipped_at(ShippedReport *to, const Kernel *k, const char *format, ...) {
  va_list args;
  snprintf(to->at->kernel, sizeof to->at->kernel, "%s", k != NULL ? k->name : "");
  va_start(args, format);
  vsnprintf(to->at->what, sizeof to->at->what, format, args);
  va_end(args);
}

void shipped_called(ShippedReport *to, int calls) { to->at->calls = calls; }

/* ---- and what is read of it ------------------------------------------------------------------ */

/* What a fault in the object can raise, or the clock: the child ends by it, whoever catches it
** here. */
static const int ending[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
enum { ENDINGS = sizeof ending / sizeof *ending };

/* What the child has written so far. */
static void read_faults(Arena *a, Shipped *s, int fd) {
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end <= 0 || lseek(fd, 0, SEEK_SET) != 0) return;
  char *text = arena_alloc(a, (size_t)end + 2);
  if (!kg_read_all(fd, text, (size_t)end)) return;
  for (const char *at = text; at < text + end;) {
    const char *kernel = at, *said = kernel + strlen(kernel) + 1;
    shipped_add(a, s, *kernel ? kernel : NULL, said);
    at = said + strlen(said) + 1;
  }
}

static void read_ending(Arena *a, Shipped *s, int status, const At *at, unsigned seconds) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const char *how =
      WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
          ? arena_printf(a, "does not end within %u seconds", seconds)
      : WIFSIGNALED(status)
          ? arena_printf(a, "ends by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)))
          : arena_printf(a, "ends with status %d", WEXITSTATUS(status));
  shipped_add(a, s, at->kernel[0] ? arena_strdup(a, at->kernel) : NULL,
              arena_printf(a, "kernels.c: %s %s", at->what, how));
}

const char *shipped_child(Arena *a, Shipped *s, void (*look)(ShippedReport *to, const void *data),
                          const void *data, unsigned seconds) {
  const int fd = kg_memory_file("kgen-shipped");
  At *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fd >= 0 && at != MAP_FAILED ? fork() : -1;
  const int error = errno;
  if (child == 0) {
    ShippedReport report = {fdopen(fd, "w"), at};
    kg_end_with_parent();
    for (int i = 0; i < ENDINGS; i++) signal(ending[i], SIG_DFL);
    alarm(seconds);
    if (report.file == NULL) _exit(1);
    look(&report, data);
    _exit(0);
  }
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  if (ended > 0) {
    read_faults(a, s, fd);
    read_ending(a, s, status, at, seconds);
    s->calls = at->calls;
  }
  if (fd >= 0) close(fd);
  if (at != MAP_FAILED) munmap(at, sizeof *at);
  return ended > 0 ? NULL : arena_printf(a, "no child process: %s", strerror(error));
}

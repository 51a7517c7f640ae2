/* compilers_clang.c: clang in the place of compilers that are not on this machine: CUDA's and
** Metal's. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "verify/compilers_own.h"

extern char **environ;

/* ---- running a program ----------------------------------------------------------------------- */

/* All of a file in memory, NUL-terminated; NULL: no memory. */
static char *read_memory(int fd, size_t *bytes) {
  struct stat st;
  if (fstat(fd, &st) != 0) return NULL;
  char *s = malloc((size_t)st.st_size + 1);
  size_t at = 0;
  while (s != NULL && at < (size_t)st.st_size) {
    const ssize_t n = pread(fd, s + at, (size_t)st.st_size - at, (off_t)at);
    if (n <= 0) break;
    at += (size_t)n;
  }
  if (s != NULL) s[at] = '\0';
  if (bytes != NULL) *bytes = at;
  return s;
}

static bool fill(int fd, const char *s) {
  for (size_t left = strlen(s); left > 0;) {
    const ssize_t n = write(fd, s, left);
    if (n <= 0) return false;
    s += n;
    left -= (size_t)n;
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

/* Files in memory instead of pipes: nothing can fill up and wait. */
int run_program(char *const *argv, const char *input, char **out, size_t *out_bytes, char **err) {
  const int in = memfd_create("in", MFD_CLOEXEC), to = memfd_create("out", MFD_CLOEXEC),
            noise = memfd_create("err", MFD_CLOEXEC);
  int status = -1;
  pid_t pid = -1;
  posix_spawn_file_actions_t actions;
  *out = *err = NULL;
  if (in >= 0 && to >= 0 && noise >= 0 && fill(in, input) &&
      posix_spawn_file_actions_init(&actions) == 0) {
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, to, 1);
    posix_spawn_file_actions_adddup2(&actions, noise, 2);
    const int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
      pid = -1;
      errno = failed;
    }
  }
  const int reason = errno;
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) pid = -1;
  if (pid > 0) {
    *out = read_memory(to, out_bytes);
    *err = read_memory(noise, NULL);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  if (in >= 0) close(in);
  if (to >= 0) close(to);
  if (noise >= 0) close(noise);
  errno = reason;
  return pid > 0 ? status : -1;
}

/* ---- finding it ------------------------------------------------------------------------------ */

static int clang_version(const char *program, char *title, size_t bytes) {
  char name[256], option[] = "--version", *argv[] = { name, option, NULL }, *out, *err;
  size_t out_bytes;
  snprintf(name, sizeof name, "%s", program);
  int major = 0;
  if (run_program(argv, "", &out, &out_bytes, &err) == 0 && out != NULL) {
    const char *at = strstr(out, "clang version ");
    if (at != NULL) {
      major = atoi(at + strlen("clang version "));
      snprintf(title, bytes, "clang %.*s", (int)strcspn(at + strlen("clang version "), " \n("),
               at + strlen("clang version "));
    }
  }
  free(out);
  free(err);
  return major;
}

static char *kept(const char *s) {
  char *copy = strdup(s);
  if (copy == NULL) exhausted("the name of a compiler");
  return copy;
}

bool clang_open(Clang *clang, const char **why) {
  static const char *const names[] = { "clang-19", "clang-20", "clang-21", "clang-22", "clang" };
  const char *given = getenv("KGEN_CLANG");
  *why = "there is no clang 19 or newer here; on Debian: apt-get install clang-19";
  if (given != NULL && *given != '\0') {
    *why = "$KGEN_CLANG is not a clang of version 19 or newer";
    if (clang_version(given, clang->title, sizeof clang->title) >= 19)
      clang->program = kept(given);
    return clang->program != NULL;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names && clang->program == NULL; i++)
    if (clang_version(names[i], clang->title, sizeof clang->title) >= 19)
      clang->program = kept(names[i]);
  return clang->program != NULL;
}

void clang_close(Clang *clang) {
  free(clang->program);
  clang->program = NULL;
}

/* ---- the two languages ----------------------------------------------------------------------- */

/* %t: the templates' folder, %a: the target. */
static const char *const common[] = { "-Wall",
                                      "-Wextra",
                                      "-Wno-unused",
                                      "-Wno-unknown-pragmas",
                                      "-Werror=unknown-attributes",
                                      "-fno-color-diagnostics",
                                      "-ferror-limit=20",
                                      NULL };

static const char *const cuda[] = { "-x",
                                    "cuda",
                                    "--cuda-device-only",
                                    "--cuda-gpu-arch=%a",
                                    "--cuda-path=/nonexistent", /* one answer, toolkit or none */
                                    "--cuda-feature=+ptx78",
                                    "-nocudainc",
                                    "-nocudalib",
                                    "-Wno-unknown-cuda-version",
                                    "-std=c++17",
                                    "-Xclang",
                                    "-fdeclspec",
                                    "-fno-builtin",
                                    "-ffp-contract=off",
                                    "-O3",
                                    "-include",
                                    "%t/check/cuda.h",
                                    "-S",
                                    "-o",
                                    "-",
                                    "-",
                                    NULL };

/* C++ for OpenCL without what its target can do.  Its generic address space stays, as clang 19
** cannot copy a struct without it; metal_fault finds what it would let through.  Metal before
** version 4 is C++14. */
static const char *const metal[] = { "-x",
                                     "clcpp",
                                     "-cl-std=clc++2021",
                                     "--target=x86_64-linux-gnu",
                                     "-cl-no-stdinc",
                                     "-Werror=pre-c++17-compat",
                                     "-Wimplicit-float-conversion",
                                     "-Wimplicit-int-float-conversion",
                                     "-Xclang",
                                     "-cl-ext=-all,+cl_khr_fp16,+__opencl_c_generic_address_space,+"
                                     "__cl_clang_non_portable_kernel_param_types",
                                     "-I",
                                     "%t/check/metal",
                                     "-fsyntax-only",
                                     "-",
                                     NULL };

enum { MAX_WORDS = 48, WORD_BYTES = 1024 };

typedef struct Command {
  int count;
  char word[MAX_WORDS][WORD_BYTES];
  char *argv[MAX_WORDS + 1];
} Command;

static bool add_words(Command *c, const char *const *words, const char *templates,
                      const char *target) {
  for (; *words != NULL && c->count < MAX_WORDS; words++) {
    const char *hole = strchr(*words, '%');
    const char *value = hole == NULL ? "" : hole[1] == 't' ? templates : target;
    const int before = hole != NULL ? (int)(hole - *words) : (int)strlen(*words);
    const int n = snprintf(c->word[c->count], WORD_BYTES, "%.*s%s%s", before, *words, value,
                           hole != NULL ? hole + 2 : "");
    if (n >= WORD_BYTES) return false;
    c->argv[c->count] = c->word[c->count];
    c->count++;
  }
  c->argv[c->count] = NULL;
  return *words == NULL;
}

/* Warnings can come before the first error: a message begins with that. */
static const char *first_error(const char *log) {
  const char *e = strstr(log, "error:");
  while (e != NULL && e > log && e[-1] != '\n') e--;
  return e != NULL ? e : log;
}

void clang_compile(const Clang *clang, const char *templates, const kg_source *source,
                   const char *target, Compiled *result) {
  const bool is_cuda = strncmp(target, "sm_", 3) == 0;
  const char *const program[] = { clang->program, NULL };
  Command *c = calloc(1, sizeof *c);
  char *out = NULL;
  size_t out_bytes = 0;
  if (c == NULL) {
    result->status = kg_fail(&result->error, KG_OUT_OF_MEMORY, "no memory for a command");
    return;
  }
  int status = -1;
  errno = ENAMETOOLONG;
  if (add_words(c, program, templates, target) && add_words(c, common, templates, target) &&
      add_words(c, is_cuda ? cuda : metal, templates, target))
    status = run_program(c->argv, source->text, &out, &out_bytes, &result->log);
  if (status == 0 && !is_cuda) {
    char *fault = metal_fault(source, result->log);
    if (fault != NULL) {
      free(result->log);
      result->log = fault;
      status = 1;
    }
  }
  if (status < 0)
    result->status = kg_fail(&result->error, KG_NO_COMPILER, "kernel %s: %s cannot be run: %s",
                             source->kernel, clang->program, strerror(errno));
  else if (status != 0)
    result->status = kg_fail(
        &result->error, KG_COMPILE_FAILED, "kernel %s does not compile for %s with %s:\n%s",
        source->kernel, target, clang->title, result->log != NULL ? first_error(result->log) : "");
  else if (is_cuda) {
    result->object = (kg_blob){ out, out_bytes };
    out = NULL;
  }
  free(out);
  free(c);
}

/* kg-hiprtc: compiles HIP text in a process of its own (why: hiprtc_serve.h).  Needs nothing but
** libc, so the same file also runs inside a root with a newer ROCm (chroot, see hip_compile.c).
**
**   kg-hiprtc --list                       version, libraries, content hash, known architectures
**   kg-hiprtc --serve                      answers requests (hip_compile.c) on standard input
**   kg-hiprtc TARGET [OPTION...] <text     code object to standard output, log to standard error
**
** --library=PATH and --generation=N, before these, choose the hipRTC library; --root=FOLDER, first
** of all, changes to that root directory (for a script that stands in this program's place, and
** that no root directory could run).  Exit: 0; 1 the text does not compile; 2 usage; 3 no
** library. */
#include "devices/hiprtc_serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"

extern char **environ;

static char *read_stream(FILE *f) {
  size_t len = 0, cap = 1 << 16;
  char *s = malloc(cap);
  while (s != NULL) {
    len += fread(s + len, 1, cap - len - 1, f);
    if (feof(f) || ferror(f) || cap > KG_HIPRTC_MAX_BYTES) break;
    cap *= 2;
    char *grown = realloc(s, cap);
    if (grown == NULL) free(s);
    s = grown;
  }
  if (s != NULL) s[len] = '\0';
  return s;
}

static int usage(void) {
  fputs("usage: kg-hiprtc [--library=PATH] [--generation=N] --list | --serve | TARGET [OPTION...] "
        "<text >object\n",
        stderr);
  return 2;
}

static int list(const kg_hiprtc_choice *choice) {
  uint32_t status;
  char *facts = kg_hiprtc_describe(choice, &status);
  if (status != KG_HIPRTC_OK) {
    fprintf(stderr, "kg-hiprtc: no hipRTC: %s\n", facts != NULL ? facts : "");
    return 3;
  }
  fputs(facts != NULL ? facts : "", stdout);
  free(facts);
  return 0;
}

static int compile_stdin(const kg_hiprtc_choice *choice, int argc, char **argv) {
  char arch[256];
  const char *option[KG_HIPRTC_MAX_STRINGS];
  int options = 0;
  if ((size_t)snprintf(arch, sizeof arch, "--offload-arch=%s", argv[0]) >= sizeof arch ||
      argc > 200)
    return usage();
  for (int i = 1; i < argc; i++) option[options++] = argv[i];
  option[options++] = arch;

  char *text = read_stream(stdin), *log;
  void *code;
  size_t code_bytes;
  if (text == NULL) return 1;
  int keep = dup(STDOUT_FILENO); /* what a library prints must not get among the object's bytes */
  dup2(STDERR_FILENO, STDOUT_FILENO);
  uint32_t status =
      kg_hiprtc_compile_once(choice, "stdin", text, options, option, &log, &code, &code_bytes);
  if (log != NULL) fputs(log, stderr);
  FILE *out = keep >= 0 ? fdopen(keep, "wb") : NULL;
  bool written =
      status != KG_HIPRTC_OK ||
      (out != NULL && fwrite(code, 1, code_bytes, out) == code_bytes && fflush(out) == 0);
  free(text);
  free(log);
  free(code);
  return status == KG_HIPRTC_NO_LIBRARY ? 3 : status == KG_HIPRTC_OK && written ? 0 : 1;
}

/* This program once more, with the libraries of that root directory. */
static int run_in_root(const char *root, char **argv) {
  const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (self >= 0 && (chroot(root) == 0 || (kg_own_rights() && chroot(root) == 0)) && chdir("/") == 0)
    kg_execute(self, argv[0], argv, environ);
  perror(root);
  return 3;
}

int main(int argc, char **argv) {
  kg_hiprtc_choice choice = {NULL, 0};
  if (argc > 1 && strncmp(argv[1], "--root=", 7) == 0) {
    const char *root = argv[1] + 7;
    argv[1] = argv[0];
    return run_in_root(root, argv + 1);
  }
  int i = 1;
  for (; i < argc; i++) {
    if (strncmp(argv[i], "--library=", 10) == 0)
      choice.library = argv[i] + 10;
    else if (strncmp(argv[i], "--generation=", 13) == 0)
      choice.generation = atoi(argv[i] + 13);
    else
      break;
  }
  if (i == argc) return usage();
  if (strcmp(argv[i], "--list") == 0) return list(&choice);
  if (strcmp(argv[i], "--serve") == 0) {
    signal(SIGINT, SIG_IGN); /* of a terminal: whoever asks ends the exchange */
    return kg_hiprtc_serve(STDIN_FILENO, STDOUT_FILENO, &choice);
  }
  if (argv[i][0] == '-') return usage();
  return compile_stdin(&choice, argc - i, argv + i);
}

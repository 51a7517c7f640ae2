/* fake_hiprtc.c: a hipRTC that does what the text says, so that a test can see what becomes of
** the caller.
**
** Built as a shared object that $KG_HIPRTC_LIBRARY names.  A text with "ABORT" in it ends the
** process by abort(), "HANG" never ends, "NOISE" prints to standard output and error, "SAY x"
** fails with x as the log, "GETENV x" with that variable; "EXITS" makes the process end after
** the answer, when the next text comes; any other text compiles to "code for" and its options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct program {
  char *text, *log, code[1024];
} program;

static int compiled;
static int doomed; /* the number of the text that will find us dead */

EXPORT int hiprtcCreateProgram(void **p, const char *text, const char *name, int headers,
                               const char **header, const char **header_name) {
  (void)name, (void)headers, (void)header, (void)header_name;
  program *made = calloc(1, sizeof *made);
  made->text = strdup(text);
  *p = made;
  return 0;
}

EXPORT int hiprtcCompileProgram(void *p, int options, const char **option) {
  program *it = p;
  if (doomed == ++compiled) _exit(9);
  if (strstr(it->text, "ABORT") != NULL) {
    fputs("first words\nfree(): invalid pointer\n", stderr);
    abort();
  }
  while (strstr(it->text, "HANG") != NULL) sleep(1000);
  if (strstr(it->text, "NOISE") != NULL) {
    puts("a line on standard output");
    fflush(stdout);
    fputs("a line on standard error\n", stderr);
  }
  if (strstr(it->text, "EXITS") != NULL) doomed = compiled + 1;
  const char *say = strstr(it->text, "SAY ");
  if (say != NULL) {
    it->log = strdup(say + 4);
    return 6;
  }
  const char *get = strstr(it->text, "GETENV ");
  if (get != NULL) {
    const char *value = getenv(get + 7);
    it->log = strdup(value != NULL ? value : "not there");
    return 6;
  }
  snprintf(it->code, sizeof it->code, "code for");
  for (int i = 0; i < options; i++) {
    const size_t at = strlen(it->code);
    snprintf(it->code + at, sizeof it->code - at, " %s", option[i]);
  }
  return 0;
}

EXPORT int hiprtcGetProgramLogSize(void *p, size_t *bytes) {
  const program *it = p;
  *bytes = it->log != NULL ? strlen(it->log) + 1 : 0;
  return 0;
}

EXPORT int hiprtcGetProgramLog(void *p, char *log) {
  strcpy(log, ((program *)p)->log);
  return 0;
}

EXPORT int hiprtcGetCodeSize(void *p, size_t *bytes) {
  *bytes = strlen(((program *)p)->code);
  return 0;
}

EXPORT int hiprtcGetCode(void *p, char *code) {
  memcpy(code, ((program *)p)->code, strlen(((program *)p)->code));
  return 0;
}

EXPORT int hiprtcDestroyProgram(void **p) {
  program *it = *p;
  free(it->text);
  free(it->log);
  free(it);
  return 0;
}

EXPORT const char *hiprtcGetErrorString(int result) {
  return result == 6 ? "COMPILATION" : "OTHER";
}

/* Its own code object manager, too. */
EXPORT int amd_comgr_get_isa_count(size_t *count) {
  *count = 2;
  return 0;
}

EXPORT int amd_comgr_get_isa_name(size_t i, const char **name) {
  *name = i == 0 ? "amdgcn-amd-amdhsa--gfx90a" : "amdgcn-amd-amdhsa--gfx1030";
  return 0;
}

EXPORT int amd_comgr_get_isa_metadata(const char *name, void *node) {
  (void)node;
  return strncmp(name, "amdgcn-amd-amdhsa--gfx90a:", 26) == 0 ? 0 : 2;
}

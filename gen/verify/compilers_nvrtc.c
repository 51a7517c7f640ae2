/* compilers_nvrtc.c: NVIDIA's run-time compiler, which needs no GPU.  It is loaded into this
** process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "platform.h"
#include "verify/compilers_own.h"

struct Nvrtc {
  void *handle;
  char *title;
  int arch_count, *archs;
  int (*version)(int *major, int *minor);
  int (*arch_number)(int *count);
  int (*supported)(int *archs);
  int (*create)(void **program, const char *text, const char *name, int headers,
                const char *const *header, const char *const *header_name);
  int (*compile)(void *program, int options, const char *const *option);
  int (*log_size)(void *program, size_t *bytes);
  int (*log)(void *program, char *log);
  int (*cubin_size)(void *program, size_t *bytes);
  int (*cubin)(void *program, char *cubin);
  int (*destroy)(void **program);
  const char *(*error_string)(int result);
};

static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                    "libnvrtc.so"};

static const struct {
  const char *name;
  size_t offset;
} symbols[] = {
    {"nvrtcVersion", offsetof(Nvrtc, version)},
    {"nvrtcGetNumSupportedArchs", offsetof(Nvrtc, arch_number)},
    {"nvrtcGetSupportedArchs", offsetof(Nvrtc, supported)},
    {"nvrtcCreateProgram", offsetof(Nvrtc, create)},
    {"nvrtcCompileProgram", offsetof(Nvrtc, compile)},
    {"nvrtcGetProgramLogSize", offsetof(Nvrtc, log_size)},
    {"nvrtcGetProgramLog", offsetof(Nvrtc, log)},
    {"nvrtcGetCUBINSize", offsetof(Nvrtc, cubin_size)},
    {"nvrtcGetCUBIN", offsetof(Nvrtc, cubin)},
    {"nvrtcDestroyProgram", offsetof(Nvrtc, destroy)},
    {"nvrtcGetErrorString", offsetof(Nvrtc, error_string)},
};

static bool find_functions(Nvrtc *n) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *address = dlsym(n->handle, symbols[i].name);
    if (address == NULL) return false;
    memcpy((char *)n + symbols[i].offset, &address, sizeof address);
  }
  return true;
}

Nvrtc *nvrtc_open(char *title, size_t bytes, const char **why) {
  Nvrtc *n = calloc(1, sizeof *n);
  int major = 0, minor = 0;
  if (n == NULL) exhausted("a compiler");
  *why = "there is no NVRTC (libnvrtc.so of CUDA 11.2 or newer) here";
  for (size_t f = 0; n != NULL && f < sizeof folders / sizeof *folders; f++)
    for (size_t i = 0; i < sizeof names / sizeof *names && n->handle == NULL; i++) {
      char path[128];
      snprintf(path, sizeof path, "%s%s", folders[f], names[i]);
      n->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
  if (n == NULL || n->handle == NULL || !find_functions(n) || n->version(&major, &minor) != 0 ||
      n->arch_number(&n->arch_count) != 0 || n->arch_count < 1 ||
      (n->archs = calloc((size_t)n->arch_count, sizeof *n->archs)) == NULL ||
      n->supported(n->archs) != 0) {
    nvrtc_close(n);
    return NULL;
  }
  snprintf(title, bytes, "NVRTC %d.%d", major, minor);
  n->title = title;
  return n;
}

void nvrtc_close(Nvrtc *n) {
  if (n != NULL && n->handle != NULL) dlclose(n->handle);
  if (n != NULL) free(n->archs);
  free(n);
}

bool nvrtc_knows(const Nvrtc *n, const char *target) {
  if (strncmp(target, "sm_", 3) != 0) return false;
  for (int i = 0; i < n->arch_count; i++)
    if (n->archs[i] == atoi(target + 3)) return true;
  return false;
}

static int build(Nvrtc *n, const kg_source *source, const char *target, Compiled *r) {
  Arena *a = arena_new();
  const char **option = NULL;
  int options = 0, room = 0;
  void *program = NULL;
  for (const char *const *o = source->options; o != NULL && *o != NULL; o++) {
    GROW(a, option, options, room);
    option[options++] = *o;
  }
  GROW(a, option, options, room);
  option[options++] = arena_printf(a, "--gpu-architecture=%s", target);
  char headers[1024];
  if (source->native && kg_cuda_headers(headers, sizeof headers)) {
    GROW(a, option, options, room);
    option[options++] = headers;
  }

  int result = n->create(&program, source->text, source->file, 0, NULL, NULL);
  if (result == 0) result = n->compile(program, options, option);
  arena_free(a);
  if (program == NULL) return result;
  size_t bytes = 0;
  if (n->log_size(program, &bytes) == 0 && bytes > 1 && (r->log = calloc(1, bytes + 1)) != NULL)
    n->log(program, r->log);
  if (result == 0) result = n->cubin_size(program, &bytes);
  if (result == 0) {
    r->object.bytes = malloc(bytes + 1);
    if (r->object.bytes == NULL) exhausted("%zu bytes of code", bytes);
    r->object.size = bytes;
    result = n->cubin(program, r->object.bytes);
  }
  n->destroy(&program);
  return result;
}

void nvrtc_compile(Nvrtc *n, const kg_source *source, const char *target, Compiled *r) {
  const int result = build(n, source, target, r);
  if (result == 0) return;
  const char *error = r->log != NULL ? strstr(r->log, "error:") : NULL;
  while (error != NULL && error > r->log && error[-1] != '\n') error--;
  r->status =
      kg_fail(&r->error, KG_COMPILE_FAILED, "kernel %s does not compile for %s with %s:\n%s",
              source->kernel, target, n->title,
              error != NULL    ? error
              : r->log != NULL ? r->log
                               : n->error_string(result));
}

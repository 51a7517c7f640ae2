/* fake_hip.c: a libamdhip64 that has no GPU but says it has one, and keeps a record of what it
** is asked.
**
** Built as a shared object that $KG_HIP_LIBRARY names.  $KG_FAKE_HIP says how it behaves, words
** with spaces between:
**   arch=gfx90a:sramecc+:xnack-   devices=1   version=50221153
**   wave=64     by attribute       told=64            in the properties
**   init=0      what hipInit says  fail=hipMalloc:2   that function returns that error
** With FAKE_OLD it has the properties of ROCm 5 only; else also those of ROCm 6. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The record, for the test: one line a call; the bytes of the last argument block. */
EXPORT char fake_hip_record[65536];
EXPORT unsigned char fake_hip_block[4096];
EXPORT size_t fake_hip_block_bytes;

static void record(const char *line) {
  const size_t at = strlen(fake_hip_record), len = strlen(line);
  if (at + len + 2 > sizeof fake_hip_record) return;
  memcpy(fake_hip_record + at, line, len);
  memcpy(fake_hip_record + at + len, "\n", 2);
}

/* The word's value, or what to take when it is not given. */
static const char *word(const char *name, const char *otherwise) {
  static _Thread_local char value[256];
  const char *all = getenv("KG_FAKE_HIP");
  const size_t len = strlen(name);
  for (const char *at = all; at != NULL && *at != '\0';
       at += strcspn(at, " "), at += strspn(at, " "))
    if (strncmp(at, name, len) == 0 && at[len] == '=') {
      snprintf(value, sizeof value, "%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
      return value;
    }
  return otherwise;
}

static int number(const char *name, int otherwise) {
  const char *value = word(name, NULL);
  return value != NULL ? atoi(value) : otherwise;
}

/* What the function returns: 0, unless it is the one that has to fail. */
static int result(const char *function) {
  const char *failing = word("fail", "");
  const size_t len = strlen(function);
  return strncmp(failing, function, len) == 0 && failing[len] == ':' ? atoi(failing + len + 1) : 0;
}

EXPORT int hipInit(unsigned flags) {
  (void)flags;
  return number("init", 0);
}

EXPORT int hipRuntimeGetVersion(int *version) {
  *version = number("version", 50221153);
  return 0;
}

EXPORT int hipGetDeviceCount(int *count) {
  *count = number("devices", 1);
  return *count > 0 ? 0 : 100;
}

EXPORT int hipSetDevice(int device) {
  (void)device;
  return result("hipSetDevice");
}

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 29: *value = 2147483647; return 0;
  case 30:
  case 31: *value = 65536; return 0;
  case 56: *value = 1024; return 0;
  case 74: *value = 65536; return 0;
  case 87: *value = number("wave", 64); return result("width");
  default: return 1;
  }
}

static int properties(unsigned char *p, size_t wave_at, size_t arch_at) {
  const int32_t told = number("told", number("wave", 64));
  snprintf((char *)p, 256, "Imaginary GPU");
  memcpy(p + wave_at, &told, sizeof told);
  snprintf((char *)p + arch_at, 256, "%s", word("arch", "gfx90a:sramecc+:xnack-"));
  return result("properties");
}

EXPORT int hipGetDeviceProperties(void *p, int device) {
  (void)device;
  record("properties of ROCm 5");
  return properties(p, 276, 396);
}

#ifndef FAKE_OLD
EXPORT int hipGetDevicePropertiesR0600(void *p, int device) {
  (void)device;
  record("properties of ROCm 6");
  return properties(p, 308, 1160);
}
#endif

EXPORT int hipMalloc(void **address, size_t bytes) {
  const int r = result("hipMalloc");
  *address = r == 0 ? malloc(bytes) : NULL;
  return r;
}

EXPORT int hipFree(void *address) {
  free(address);
  return 0;
}

EXPORT int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  char line[64];
  snprintf(line, sizeof line, "copy %zu bytes, kind %d", bytes, kind);
  record(line);
  if (result("hipMemcpy") == 0) memcpy(to, from, bytes);
  return result("hipMemcpy");
}

EXPORT int hipDeviceSynchronize(void) {
  record("synchronize");
  return result("hipDeviceSynchronize");
}

static int a_module;

EXPORT int hipModuleLoadData(void **module, const void *image) {
  record(memcmp(image, "\177ELF", 4) == 0 ? "load an ELF file" : "load something");
  *module = &a_module;
  return result("hipModuleLoadData");
}

EXPORT int hipModuleUnload(void *module) {
  record(module == &a_module ? "unload" : "unload something else");
  return 0;
}

static char function_name[512];

EXPORT int hipModuleGetFunction(void **function, void *module, const char *name) {
  snprintf(function_name, sizeof function_name, "%s", name);
  *function = function_name;
  return module == &a_module ? result("hipModuleGetFunction") : 1;
}

EXPORT int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned tx,
                                 unsigned ty, unsigned tz, unsigned shared, void *stream,
                                 void **params, void **extra) {
  char line[1024];
  snprintf(line, sizeof line, "launch %s groups %u %u %u threads %u %u %u shared %u%s%s",
           (const char *)function, gx, gy, gz, tx, ty, tz, shared,
           stream != NULL ? " on a stream" : "", params != NULL ? " with parameters" : "");
  record(line);
  fake_hip_block_bytes = 0;
  for (void **e = extra; (uintptr_t)e[0] != 3; e += 2) {
    if ((uintptr_t)e[0] == 2) fake_hip_block_bytes = *(const size_t *)e[1];
  }
  for (void **e = extra; (uintptr_t)e[0] != 3; e += 2)
    if ((uintptr_t)e[0] == 1 && fake_hip_block_bytes <= sizeof fake_hip_block)
      memcpy(fake_hip_block, e[1], fake_hip_block_bytes);
  return result("hipModuleLaunchKernel");
}

EXPORT const char *hipGetErrorString(int error) {
  return error == 2 ? "out of memory" : "imaginary error";
}

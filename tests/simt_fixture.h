/* simt_fixture.h: one SIMT device with one kernel written by hand; for the tests of the SIMT
** device. */
#ifndef SIMT_FIXTURE_H
#define SIMT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "simt/simt.h"

typedef float f32;
typedef uint32_t u32;

/* ---- a device and one kernel on it ---------------------------------------------------------- */

typedef struct Bench { /* one device, one loaded kernel */
  kg_device device;
  kg_function *function;
  kg_error error;
} Bench;

static inline bool no_clang(const kg_error *error) {
  if (error->status != KG_NO_COMPILER) return false;
  print_message("skipped: %s\n", error->message);
  return true;
}

static inline void open_device(Bench *bench, int width, const char *mode) {
  memset(bench, 0, sizeof *bench);
  bench->device.ops = &kg_device_simt;
  if (kg_device_simt.open(&bench->device, width, mode, &bench->error) == KG_OK) return;
  if (no_clang(&bench->error)) skip();
  fail_msg("%s", bench->error.message);
}

static inline void close_device(Bench *bench) {
  if (bench->function) bench->device.ops->unload(&bench->device, bench->function);
  bench->device.ops->close(&bench->device);
}

/* Compiles and loads `text`, whose entry is `entry`; the status, with bench->error. */
static inline kg_status try_load(Bench *bench, const char *text, const char *entry) {
  const kg_source source = {.kernel = entry,
                            .entry = entry,
                            .text = text,
                            .file = "tests/hand.hip",
                            .wave = bench->device.wave};
  kg_blob blob = {0};
  if (bench->function) bench->device.ops->unload(&bench->device, bench->function);
  bench->function = NULL;
  kg_status status = bench->device.ops->compile(&bench->device, &source, &blob, &bench->error);
  if (status == KG_OK)
    status = bench->device.ops->load(&bench->device, &blob, entry, &bench->function, &bench->error);
  free(blob.bytes);
  return status;
}

static inline void load(Bench *bench, const char *text, const char *entry) {
  if (try_load(bench, text, entry)) fail_msg("%s", bench->error.message);
}

static inline kg_status try_launch(Bench *bench, const kg_grid *grid, const void *args,
                                   size_t bytes) {
  return bench->device.ops->launch(&bench->device, bench->function, grid, args, bytes,
                                   &bench->error);
}

#define LAUNCH(bench, groups, threads, args)                                                       \
  do {                                                                                             \
    const kg_grid grid_ = {{(groups), 1, 1}, {(threads), 1, 1}, 0};                                \
    if (try_launch(bench, &grid_, &(args), sizeof(args))) fail_msg("%s", (bench)->error.message);  \
  } while (0)

static const int widths[] = {32, 64};
#define FOR_EACH_WIDTH(width) for (int w_ = 0, width = widths[0]; w_ < 2; width = widths[++w_ & 1])

/* ---- texts ---------------------------------------------------------------------------------- */

#define HEAD                                                                                       \
  "typedef float f32; typedef int i32; typedef unsigned int u32; typedef unsigned long long "      \
  "u64;\n"
#define KERNEL(name, parameters, body)                                                             \
  HEAD "extern \"C\" __global__ void __launch_bounds__(1024)\n" #name "(" parameters               \
       ") {\n#line 1 \"" #name ".kc\"\n" body "}\n"

#endif

/* bench_simt.c: how fast the SIMT device is: lane switches a second, barriers, plain loops, and
** an RMSNorm of 64 x 4096 with 256 threads a row.  Prints a table; the best of several runs,
** since the machine may be shared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"

typedef struct Case {
  kg_device device;
  kg_function *function;
} Case;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const kg_error *error) {
  fprintf(stderr, "bench_simt: %s\n", error->message);
  exit(1);
}

static double load(Case *c, const char *text) {
  const kg_source source = {.kernel = "bench",
                            .entry = "bench",
                            .text = text,
                            .file = "bench.hip",
                            .wave = c->device.wave};
  kg_error error;
  kg_blob blob;
  const double start = now();
  if (c->device.ops->compile(&c->device, &source, &blob, &error)) stop(&error);
  if (c->device.ops->load(&c->device, &blob, "bench", &c->function, &error)) stop(&error);
  free(blob.bytes);
  return now() - start;
}

static double best_time(Case *c, const kg_grid *grid, const void *args, size_t bytes) {
  kg_error error;
  double best = 1e9;
  for (int i = 0; i < 40; i++) {
    const double start = now();
    if (c->device.ops->launch(&c->device, c->function, grid, args, bytes, &error)) stop(&error);
    const double time = now() - start;
    if (time < best) best = time;
  }
  c->device.ops->unload(&c->device, c->function);
  return best;
}

#define HEAD "typedef float f32; typedef unsigned int u32; typedef unsigned long long u64;\n"
#define ENTRY(parameters) HEAD "extern \"C\" __global__ void bench(" parameters ") {\n"

static const char shuffles[] =
    ENTRY("u32 *out, u32 rounds") "u32 x = threadIdx.x;\n"
                                  "for (u32 i = 0; i < rounds; i++) x += __shfl_xor(x, 1);\n"
                                  "out[blockIdx.x * blockDim.x + threadIdx.x] = x; }\n";

static const char barriers[] =
    ENTRY("u32 *out, u32 rounds") "for (u32 i = 0; i < rounds; i++) __syncthreads();\n"
                                  "out[blockIdx.x * blockDim.x + threadIdx.x] = rounds; }\n";

static const char plain[] =
    ENTRY("u32 *out, u32 rounds") "out[blockIdx.x * blockDim.x + threadIdx.x] = rounds; }\n";

static const char norm[] =
    HEAD "#define WAVE __AMDGCN_WAVEFRONT_SIZE__\n"
         "static inline __device__ f32 group_sum(f32 x, f32 *slot) {\n"
         "  for (u32 m = WAVE / 2; m > 0; m >>= 1) x += __shfl_xor(x, (int)m);\n"
         "  if (threadIdx.x % WAVE == 0) slot[threadIdx.x / WAVE] = x;\n"
         "  __syncthreads();\n"
         "  f32 sum = 0;\n"
         "  for (u32 i = 0; i < 256 / WAVE; i++) sum += slot[i];\n"
         "  __syncthreads();\n"
         "  return sum;\n"
         "}\n"
         "extern \"C\" __global__ void __launch_bounds__(256)\n"
         "bench(const f32 *__restrict__ x, const f32 *__restrict__ w, f32 *__restrict__ out, u32 "
         "D, f32 eps) {\n"
         "  __shared__ f32 slot[256 / WAVE];\n"
         "  const f32 *xr = x + u64(blockIdx.x) * D;\n"
         "  f32 *yr = out + u64(blockIdx.x) * D;\n"
         "  f32 sum = 0;\n"
         "  for (u32 i = threadIdx.x; i < D; i += 256) sum += xr[i] * xr[i];\n"
         "  const f32 inv = 1.0f / sqrtf(group_sum(sum, slot) / (f32)D + eps);\n"
         "  for (u32 i = threadIdx.x; i < D; i += 256) yr[i] = w[i] * (xr[i] * inv);\n"
         "}\n";

static void switches(Case *c, const char *what, const char *text, unsigned groups,
                     unsigned rounds) {
  unsigned *out = malloc(groups * 256 * sizeof *out);
  struct {
    unsigned *out;
    unsigned rounds;
  } args = {out, rounds};
  const kg_grid grid = {{groups, 1, 1}, {256, 1, 1}, 0};
  load(c, text);
  const double time = best_time(c, &grid, &args, sizeof args);
  printf("%-8s %-28s %9.1f million a second\n", c->device.target, what,
         groups * 256.0 * (rounds ? rounds : 1) / time * 1e-6);
  free(out);
}

static void rms_norm(Case *c) {
  enum { ROWS = 64, D = 4096 };
  float *x = malloc(ROWS * D * sizeof *x), *w = malloc(D * sizeof *w),
        *out = malloc(ROWS * D * sizeof *out);
  for (int i = 0; i < ROWS * D; i++) x[i] = (float)(i % 1001) * 0.01f - 5;
  for (int i = 0; i < D; i++) w[i] = 1;
  struct {
    const float *x, *w;
    float *out;
    unsigned D;
    float eps;
  } args = {x, w, out, D, 1e-6f};
  const kg_grid grid = {{ROWS, 1, 1}, {256, 1, 1}, 0};
  const double compiled = load(c, norm), time = best_time(c, &grid, &args, sizeof args);
  printf("%-8s %-28s %9.3f ms (goal 1 on 2 cores; compiled in %.0f ms)\n", c->device.target,
         "RMSNorm 64 x 4096", time * 1e3, compiled * 1e3);
  free(x), free(w), free(out);
}

int main(void) {
  for (int width = 32; width <= 64; width *= 2) {
    Case c = {.device = {.ops = &kg_device_simt}};
    kg_error error;
    if (kg_device_simt.open(&c.device, width, "", &error)) stop(&error);
    switches(&c, "lane operations, one group", shuffles, 1, 1000);
    switches(&c, "lane operations, 64 groups", shuffles, 64, 100);
    switches(&c, "barriers, 64 groups", barriers, 64, 100);
    switches(&c, "lanes that never stop", plain, 1000, 0);
    rms_norm(&c);
    c.device.ops->close(&c.device);
  }
  return 0;
}

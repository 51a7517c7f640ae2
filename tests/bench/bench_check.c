/* bench_check.c: how much a checked launch costs: each kernel of kernels.lua, in its first case,
** on a plain SIMT device and on the checking one, in processor time, so that a busy machine does
** not blur it.  A plain launch may use every processor and a checked one uses one, so on a quiet
** machine of P processors waiting times differ by up to P times more. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "passes.h"
#include "verify/trial.h"

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds a launch, the least of several tries of as many launches as fit into a twentieth of a
** second, 20 at the most; below zero: it failed. */
static double cost(const TrialData *data, kg_device *device) {
  enum { TRIES = 5, MOST = 20 };
  double best = -1;
  int launches = 1;
  for (int i = 0; i <= TRIES; i++) {
    Arena *a = arena_new();
    const double start = processor_time();
    const Trial trial = trial_run(a, data, device, launches);
    const double took = (processor_time() - start) / (double)launches;
    if (trial.status != KG_OK) printf("%s\n", trial.message);
    arena_free(a);
    if (trial.status != KG_OK) return -1;
    if (i > 0 && (best < 0 || took < best)) best = took; /* the first try compiles */
    if (i > 0) launches = took * (double)MOST < 0.05 ? MOST : took < 0.05 ? (int)(0.05 / took) : 1;
  }
  return best;
}

int main(int count, char **words) {
  static const char *const names[2][2] = {{"simt32", "simt32+check"}, {"simt64", "simt64+check"}};
  static const int widths[2] = {32, 64};
  const char *only = count > 1 ? words[1] : NULL;
  Arena *all = arena_new();
  LibraryOptions options = {.spec = "kernels.lua", .templates = "templates", .only = only};
  const Library *library = library_open(all, &options);
  if (!library) return 1;
  References *references = references_open(all, library->spec, options.templates);
  kg_device *devices[2][2];
  kg_error error;
  for (int w = 0; w < 2; w++)
    for (int d = 0; d < 2; d++)
      if (kg_device_open(names[w][d], &devices[w][d], &error)) {
        fprintf(stderr, "bench_check: %s\n", error.message);
        return 1;
      }
  printf("%-28s %5s %5s %12s %12s %7s\n", "kernel", "lanes", "dtype", "plain", "checked", "ratio");
  for (int k = 0; k < library->spec->kernel_count; k++) {
    const Kernel *kernel = library->spec->kernels[k];
    if (only && strcmp(only, kernel->name) != 0) continue;
    if (!library->facts[k]) continue;
    const int types_first = kernel->type_count > 0 ? kernel->types[0].count : 1;
    const int last = types_first > 1 ? types_first - 1 : 1;
    for (int n = 0; n < types_first && kernel->case_count > 0; n += last)
      for (int w = 0; w < 2; w++) {
        kg_dtype types[MAX_TYPES];
        for (int i = 0; i < kernel->type_count; i++)
          types[i] = kernel->types[i].dtypes[n % kernel->types[i].count];
        const kg_instance instance = case_instance(kernel, &kernel->cases[0], types);
        const char *why = NULL;
        const TrialData *data = trial_data(all, kernel, &instance, &kernel->cases[0],
                                           reference_of(references, kernel), 1, &why);
        if (!data || !kg_has_port(kernel->model.ports, devices[w][0])) continue;
        const double plain = cost(data, devices[w][0]);
        const double checked = cost(data, devices[w][1]);
        if (plain > 0 && checked > 0)
          printf("%-28s %5d %5s %9.3f ms %9.3f ms %7.1f\n", kernel->name, widths[w],
                 kernel->type_count ? kg_dtype_name((kg_dtype)types[0]) : "", 1e3 * plain,
                 1e3 * checked, checked / plain);
        fflush(stdout);
      }
  }
  for (int w = 0; w < 2; w++)
    for (int d = 0; d < 2; d++) kg_device_close(devices[w][d]);
  references_close(references);
  arena_free(all);
  return 0;
}

/* gpu.c: every kernel of kernels.lua on one device, against its reference, and how fast it is there.
**
**   gpu DEVICE [KERNEL...]      "cuda", "hip"; run from the project's root
**
** All cases in all choices of dtypes are put to their references first (a line for each kernel).  Then each kernel's largest case
** is timed: the fastest of 200 launches, each with the wait for it, median of 20 rounds.  The cases are small, so that is what a
** launch costs and not what the kernel can move.  Needs a C compiler (references) and no libclang, so that it also runs where
** kgen itself cannot be built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verify/trial.h"
#include "kernels.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const kg_kernel *generated(const char *name) {
  for (int i = 0; i < kg_kernel_count; i++)
    if (strcmp(kg_kernels[i]->name, name) == 0) return kg_kernels[i];
  return NULL;
}

/* Steps through the choices of dtypes; false past the last. */
static bool next_types(const Kernel *k, int at[MAX_TYPES]) {
  for (int i = k->type_count - 1; i >= 0; i--) {
    if (++at[i] < k->types[i].count) return true;
    at[i] = 0;
  }
  return false;
}

static kg_instance instance_at(const Kernel *k, const Case *c, const int at[MAX_TYPES]) {
  kg_dtype types[MAX_TYPES] = {0};
  for (int i = 0; i < k->type_count; i++) types[i] = k->types[i].dtypes[at[i]];
  return case_instance(k, c, types);
}

static int refereed(const Kernel *k, const Reference *r, kg_device *d) {
  int trials = 0, wrong = 0;
  double prepare = 0;
  char first[512] = "";
  for (int c = 0; c < k->case_count; c++) {
    int at[MAX_TYPES] = {0};
    do {
      Arena *a = arena_new();
      const char *why = "";
      const kg_instance instance = instance_at(k, &k->cases[c], at);
      const TrialData *data = trial_data(a, k, &instance, &k->cases[c], r, 1, &why);
      const Trial t =
          data ? trial_run(a, data, d, 1) : (Trial){.status = KG_BAD_ARGUMENT, .message = why};
      trials++;
      prepare += t.prepare_seconds;
      if (!t.right) {
        wrong++;
        const char *fault = t.message && t.message[0] ? t.message : t.judgement ? t.judgement : "";
        for (int o = 0; o < t.output_count && !fault[0]; o++)
          if (!t.outputs[o].right) fault = t.outputs[o].why ? t.outputs[o].why : t.outputs[o].name;
        if (!first[0])
          snprintf(first, sizeof first, "%s, case %d: %s", instance_name(a, &instance), c + 1,
                   fault);
      }
      arena_free(a);
    } while (next_types(k, at));
  }
  printf("%-32s %6d trials %6d wrong   %6.1f s of compiling\n", k->name, trials, wrong, prepare);
  if (first[0]) printf("    the first: %s\n", first);
  fflush(stdout);
  return wrong;
}

static int by_value(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static size_t tensor_bytes(const TrialData *data) {
  size_t bytes = 0;
  for (int i = 0; i < data->want.tensor_count; i++)
    bytes +=
        (size_t)data->want.tensors[i].count * kg_dtype_bytes((kg_dtype)data->want.tensors[i].dtype);
  return bytes;
}

/* The case that moves most bytes, in its last choice of dtypes. */
static void timed(const Kernel *k, const Reference *r, kg_device *d) {
  Arena *a = arena_new();
  const TrialData *best = NULL;
  const char *why = "";
  int at[MAX_TYPES];
  for (int i = 0; i < k->type_count; i++) at[i] = k->types[i].count - 1;
  for (int c = 0; c < k->case_count; c++) {
    const kg_instance instance = instance_at(k, &k->cases[c], at);
    const TrialData *data = trial_data(a, k, &instance, &k->cases[c], r, 1, &why);
    if (data && (!best || tensor_bytes(data) > tensor_bytes(best))) best = data;
  }
  double rounds[20];
  enum { ROUNDS = sizeof rounds / sizeof *rounds, LAUNCHES = 200 };
  bool right = best != NULL;
  for (int i = 0; right && i < ROUNDS; i++) {
    const double start = now();
    right = trial_run(a, best, d, LAUNCHES).right;
    rounds[i] = right ? trial_run(a, best, d, LAUNCHES).seconds : now() - start;
  }
  if (right) {
    qsort(rounds, ROUNDS, sizeof *rounds, by_value);
    printf("%-72s %10.1f us %8.2f MB\n", instance_name(a, &best->instance),
           1e6 * rounds[ROUNDS / 2], 1e-6 * (double)tensor_bytes(best));
    fflush(stdout);
  }
  arena_free(a);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: gpu DEVICE [KERNEL...]\n");
    return 2;
  }
  Arena *a = arena_new();
  Diags *diags = diags_new(a);
  int wrong = 0;
  int backend_count;
  Words words; /* without libclang, which is not where the GPU is */
  words_load(a, &words, "templates", diags);
  const Backend **backends = backends_load(a, "templates", &words, &backend_count, diags);
  const Spec *spec = spec_load(a, "kernels.lua", &words, backends, backend_count, diags);
  diags_print(diags, stderr, false);
  kg_device *device = NULL;
  kg_error error = {0};
  if (!spec || kg_device_open(argv[1], &device, &error) != KG_OK) {
    fprintf(stderr, "gpu: %s\n", error.message);
    return 1;
  }
  printf("device %s, target %s\n\n", kg_device_name(device), kg_device_target(device));
  References *references = references_open(a, spec, "templates");
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) printf("\n%-72s %13s %11s\n", "instance", "a launch", "tensors");
    for (int i = 0; i < spec->kernel_count; i++) {
      Kernel *k = spec->kernels[i];
      const kg_kernel *g = generated(k->name);
      bool wanted = argc == 2;
      for (int n = 2; n < argc; n++) wanted = wanted || strcmp(argv[n], k->name) == 0;
      if (!wanted || !g) continue;
      if (!kg_has_port(g->ports, device)) {
        if (pass == 0) printf("%-32s no port: left out\n", k->name);
        continue;
      }
      k->model.ports = g->ports; /* the committed texts are what is tried */
      const Reference *r = reference_of(references, k);
      if (pass == 0)
        wrong += refereed(k, r, device);
      else
        timed(k, r, device);
    }
  }
  printf("\n%s\n", wrong ? "some are wrong" : "all right");
  references_close(references);
  kg_device_close(device);
  arena_free(a);
  return wrong ? 1 : 0;
}

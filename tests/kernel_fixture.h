/* kernel_fixture.h: kernels of a specification, ready to run lane by lane: their cases, launches on
** data of a test's own, and copies with a planted fault.
**
** Included after cmocka.h by one program each; what a program does not use costs nothing. */
#ifndef KERNEL_FIXTURE_H
#define KERNEL_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/element.h"
#include "passes.h"
#include "verify/trial.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* ---- a specification's kernel, ready to run -------------------------------------------------- */

enum { DEVICES = 4, WIDTHS = 2 /* the first two: HIP's text at 32 and at 64 lanes */ };
static const char *const device_names[DEVICES] = {"simt32", "simt64", "simt32/cuda",
                                                  "simt32/metal"};

typedef struct Ready {
  Arena *arena;
  const Kernel *kernel;
  References *references;
  int devices; /* how many of them are open */
  kg_device *device[DEVICES];
} Ready;

static inline kg_device *device_of(const char *name) {
  kg_device *device = NULL;
  kg_error error = {0};
  const kg_status s = kg_device_open(name, &device, &error);
  if (s == KG_NO_COMPILER) {
    print_message("%s: nothing was run lane by lane\n", error.message);
    skip();
  }
  if (s != KG_OK) fail_msg("%s: %s", name, error.message);
  return device;
}

/* folder: "" or one that ends in a slash.  devices: WIDTHS, or DEVICES with the
** other texts. */
static inline Ready ready(const char *folder, const char *name, int devices) {
  Ready r = {.arena = arena_new(), .devices = devices};
  LibraryOptions o = {.only = name};
  o.spec = arena_printf(r.arena, "%skernels.lua", folder);
  o.templates = arena_printf(r.arena, "%stemplates", folder);
  const Library *l = library_open(r.arena, &o);
  assert_non_null(l);
  int index = 0;
  r.kernel = library_kernel(l, name, &index);
  assert_non_null(r.kernel);
  r.references = references_open(r.arena, l->spec, o.templates);
  for (int d = 0; d < devices; d++) r.device[d] = device_of(device_names[d]);
  return r;
}

static inline void done(Ready *r) {
  for (int d = 0; d < r->devices; d++) kg_device_close(r->device[d]);
  references_close(r->references);
  arena_free(r->arena);
}

/* ---- the cases of the specification ---------------------------------------------------------- */

static inline void complain(const Ready *r, const Trial *t, const char *device,
                            const char *instance, int number) {
  print_error("%s, case %d, %s: ", instance, number + 1, device);
  if (t->status != KG_OK)
    print_error("%s\n", t->message);
  else if (t->judgement)
    print_error("%s\n", t->judgement);
  for (int o = 0; o < t->output_count; o++)
    if (t->outputs[o].why)
      print_error("%s: %s\n", r->kernel->args[r->kernel->input_count + o].name, t->outputs[o].why);
}

/* A case of the test's own with one choice of dtypes on all devices; how many trials were wrong. */
static inline int made_wrong(const Ready *r, const Case *c, int number, const kg_dtype *types,
                             bool aloud) {
  const kg_instance instance = case_instance(r->kernel, c, types);
  const char *why = NULL;
  Arena *a = arena_new();
  const TrialData *data =
      trial_data(a, r->kernel, &instance, c, reference_of(r->references, r->kernel), 1, &why);
  if (!data) fail_msg("%s: %s", r->kernel->name, why);
  int wrong = 0;
  for (int d = 0; d < r->devices; d++) {
    const Trial t = trial_run(a, data, r->device[d], 1);
    if (t.status == KG_OK && t.right) continue;
    wrong++;
    if (aloud) complain(r, &t, device_names[d], instance_name(a, &instance), number);
  }
  arena_free(a);
  return wrong;
}

/* The same of a case of the specification. */
static inline int case_wrong(const Ready *r, int number, const kg_dtype *types, bool aloud) {
  return made_wrong(r, &r->kernel->cases[number], number, types, aloud);
}

/* The choice of dtypes number n, the last type fastest.  False: there are no more. */
static inline bool types_of(const Kernel *k, int n, kg_dtype types[MAX_TYPES]) {
  memset(types, 0, MAX_TYPES * sizeof *types);
  for (int t = k->type_count - 1; t >= 0; n /= k->types[t--].count)
    types[t] = k->types[t].dtypes[n % k->types[t].count];
  return n == 0;
}

/* Over all choices of dtypes, the last type fastest, of the cases for which `which` (NULL: all)
** holds; *trials counts them. */
static inline int cases_wrong(const Ready *r, bool (*which)(const Kernel *, const Case *),
                              bool aloud, int *trials) {
  const Kernel *k = r->kernel;
  int wrong = 0;
  kg_dtype types[MAX_TYPES];
  *trials = 0;
  for (int n = 0; types_of(k, n, types); n++)
    for (int c = 0; c < k->case_count; c++) {
      if (which && !which(k, &k->cases[c])) continue;
      wrong += case_wrong(r, c, types, aloud);
      *trials += r->devices;
    }
  return wrong;
}

/* ---- launches on data of the test's own ------------------------------------------------------ */

typedef struct Data {
  kg_dtype dtype;
  int rank;
  int64_t shape[4];
  void *bytes;
} Data;

static inline size_t data_bytes(const Data *d) {
  size_t n = kg_dtype_bytes(d->dtype);
  for (int i = 0; i < d->rank; i++) n *= (size_t)d->shape[i];
  return n;
}

/* chosen: the constants in the key, in order. data: one for each argument; outputs are downloaded
** into theirs. */
static inline kg_status launch(const Ready *r, kg_device *device, const Data *data,
                               const kg_scalar *scalars, const int64_t *chosen) {
  kg_tensor tensors[MAX_ARGS];
  int64_t consts[MAX_CONSTS];
  for (int i = 0; i < r->kernel->const_count; i++)
    consts[i] = r->kernel->consts[i].in_key ? *chosen++ : r->kernel->consts[i].values[0];
  for (int i = 0; i < r->kernel->arg_count; i++) {
    void *at = NULL;
    assert_int_equal(kg_device_alloc(device, data_bytes(&data[i]), &at), KG_OK);
    assert_int_equal(kg_device_upload(device, at, data[i].bytes, data_bytes(&data[i])), KG_OK);
    tensors[i] = kg_tensor_of(device, at, data[i].dtype, data[i].rank, data[i].shape);
  }
  const kg_call call = {&r->kernel->model, tensors, scalars, consts};
  const kg_status status = kg_launch(device, &call);
  if (status == KG_OK) assert_int_equal(kg_device_synchronize(device), KG_OK);
  for (int i = 0; i < r->kernel->arg_count; i++) {
    if (status == KG_OK && i >= r->kernel->input_count)
      assert_int_equal(
          kg_device_download(device, data[i].bytes, tensors[i].data, data_bytes(&data[i])), KG_OK);
    kg_device_free(device, tensors[i].data);
  }
  return status;
}

static inline void launch_well(const Ready *r, kg_device *device, const Data *data,
                               const kg_scalar *scalars, const int64_t *chosen) {
  if (launch(r, device, data, scalars, chosen) != KG_OK) fail_msg("%s", kg_device_message(device));
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* A copy of the specification and its templates in which the first `from` of the file below
** templates/ is `to`.  The caller removes it with remove_copy. */
static inline const char *faulty_copy(const char *file, const char *from, const char *to) {
  static char folder[64], path[256], command[512], text[1 << 16];
  snprintf(folder, sizeof folder, "/tmp/kgen-test-kernels-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "cp -r kernels.lua templates %s", folder);
  assert_int_equal(system(command), 0);
  snprintf(path, sizeof path, "%s/templates/%s", folder, file);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  char *at = strstr(text, from);
  if (!at) fail_msg("%s: the fault's place is gone: %s", file, from);
  f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  fclose(f);
  strcat(folder, "/");
  return folder;
}

static inline void remove_copy(const char *folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

#endif

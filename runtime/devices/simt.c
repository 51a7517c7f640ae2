/* simt.c: a device that runs generated text on the CPU, lane by lane, at a simulated
** width.
**
** open(device, index, mode): index is the width, 32 or 64; mode says whose texts: "" or "hip",
** "cuda" (32 lanes only), "metal". So "simt64" and "simt32/metal" are names of devices.
** Launches are synchronous: when launch returns, the work is done or has failed.  A kernel's
** mistake (lanes that part at a lane operation or a barrier, a crash, a write past an
** allocation) is KG_DEVICE_FAILED with a sentence that names the lines and the threads; the
** device stays usable.  See simt/simt.h.
** With "+check" behind the mode ("simt64+check", "simt32/metal+check") each access to memory is
** watched: see simt_check.h.
**
** Any memory of the process will do for tensors; that from alloc ends at a guard page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/sanitize.h"

#define THREADS_MAX                                                                                \
  16u /* each keeps up to 1024 stacks, two mappings a stack, and a process has 65530 */

static const kg_device_ops cuda_ops, metal_ops; /* as kg_device_simt, with another backend's name */

/* Whose texts are run, with the limits of the devices that they are for.  The first is meant where
** a name says none. */
static const struct {
  const char *backend, *title;
  const kg_device_ops *ops;
  bool at_32_only;
  uint32_t shared_bytes;
  uint64_t groups[3];
} modes[] = {
    {"hip", "HIP", &kg_device_simt, false, 65536, {2147483647, 65535, 65535}},
    {"cuda", "CUDA", &cuda_ops, true, 49152, {2147483647, 65535, 65535}},
    {"metal", "Metal", &metal_ops, false, 32768, {4294967295, 4294967295, 4294967295}},
};
enum { MODES = sizeof modes / sizeof *modes };

const char *kg_simt_backend(int i) { return i >= 0 && i < MODES ? modes[i].backend : NULL; }

void kg_simt_device_name(char *name, size_t size, const char *backend, int wave, bool checked) {
  const bool plain = strcmp(backend, modes[0].backend) == 0;
  snprintf(name, size, "simt%d%s%s%s", wave, plain ? "" : "/", plain ? "" : backend,
           checked ? "+check" : "");
}

static unsigned processors(void) {
  const unsigned count = kg_processors();
  return count > THREADS_MAX ? THREADS_MAX : count;
}

/* KG_SIMT_SECONDS, or enough for any group that is meant to end. */
static double seconds_of_a_group(void) {
  const char *chosen = getenv("KG_SIMT_SECONDS");
  const double seconds = chosen ? strtod(chosen, NULL) : 0;
  return seconds > 0 ? seconds : 20;
}

static void simt_close(kg_device *device) {
  kg_simt_device *self = device->self;
  if (!self) return;
  kg_simt_pool_free(self->pool);
  kg_simt_memory_free(self->memory);
  kg_simt_check_close(self);
  pthread_mutex_destroy(&self->lock);
  kg_simt_fault_close();
  free(self);
  device->self = NULL;
}

static kg_status refuse_mode(const char *mode, kg_error *error) {
  char list[128] = "";
  for (int i = 0; i < MODES; i++) {
    const size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s%s",
             i == 0          ? ""
             : i + 1 < MODES ? ", "
                             : " and ",
             modes[i].backend);
  }
  return kg_fail(error, KG_BAD_ARGUMENT, "the SIMT device runs %s texts, not \"%s\"", list, mode);
}

static kg_status simt_open(kg_device *device, int index, const char *mode, kg_error *error) {
  int m = 0;
  const size_t length = strcspn(mode, "+");
  const bool checked = strcmp(mode + length, "+check") == 0;
  while (length > 0 && m < MODES &&
         (strncmp(modes[m].backend, mode, length) != 0 || modes[m].backend[length] != 0))
    m++;
  if (mode[length] && !checked) m = MODES;
  if (m == MODES) return refuse_mode(mode, error);
  if (index != 32 && index != 64)
    return kg_fail(error, KG_BAD_ARGUMENT, "the SIMT device has 32 or 64 lanes, not %d", index);
  if (index == 64 && modes[m].at_32_only)
    return kg_fail(error, KG_BAD_ARGUMENT, "a %s warp has 32 lanes; use simt32/%s", modes[m].title,
                   modes[m].backend);
  kg_simt_device *self = calloc(1, sizeof *self);
  if (!self) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a device");
  const kg_status status =
      kg_simt_compiler_find(&self->compiler, device->compiler, sizeof device->compiler, error);
  if (status) {
    free(self);
    return status;
  }
  self->backend = modes[m].ops->backend;
  self->wave = index;
  self->limits = (kg_limits){.threads = KG_SIMT_THREADS, .shared_bytes = modes[m].shared_bytes};
  memcpy(self->limits.groups, modes[m].groups, sizeof self->limits.groups);
  self->checked = checked;
  self->seconds = seconds_of_a_group();
  self->memory = kg_simt_memory_new(checked);
  self->pool = kg_simt_pool_new(processors());
  if (!self->memory || !self->pool || pthread_mutex_init(&self->lock, NULL) ||
      !kg_simt_fault_open()) {
    kg_simt_pool_free(self->pool);
    kg_simt_memory_free(self->memory);
    free(self);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a device");
  }
  device->self = self;
  device->ops = modes[m].ops; /* so that the port of that backend is chosen */
  device->wave = index;
  device->limits = self->limits;
  snprintf(device->target, sizeof device->target, "simt%d%s", index, checked ? "+check" : "");
  snprintf(device->name, sizeof device->name, "simt%d%s%s (CPU, %s text%s)", index,
           length > 0 ? "/" : "", mode, modes[m].title, checked ? ", checked" : "");
  return KG_OK;
}

/* ---- memory --------------------------------------------------------------------------------- */

static kg_status simt_alloc(kg_device *device, size_t bytes, void **address, kg_error *error) {
  return kg_simt_memory_take(((kg_simt_device *)device->self)->memory, bytes, address, error);
}

static void simt_free(kg_device *device, void *address) {
  if (address) kg_simt_memory_give(((kg_simt_device *)device->self)->memory, address);
}

static kg_status simt_copy(kg_device *device, void *to, const void *from, size_t bytes,
                           kg_error *error) {
  (void)device, (void)error;
  if (bytes > 0) memmove(to, from, bytes);
  return KG_OK;
}

static kg_status simt_synchronize(kg_device *device, kg_error *error) {
  (void)device, (void)error;
  return KG_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static kg_status simt_compile(kg_device *device, const kg_source *source, kg_blob *blob,
                              kg_error *error) {
  const kg_simt_device *self = device->self;
  if (source->wave != 0 && source->wave != self->wave)
    return kg_fail(error, KG_BAD_WIDTH, "kernel %s: the instance is for %d lanes and %s has %d",
                   source->kernel, source->wave, device->target, self->wave);
  return (source->native ? kg_simt_compile_native : kg_simt_compile)(
      &self->compiler, self->backend, self->wave, self->checked, source, blob, error);
}

static kg_status simt_load(kg_device *device, const kg_blob *blob, const char *entry,
                           kg_function **function, kg_error *error) {
  return kg_simt_function_load(device->self, blob, entry, function, error);
}

static void simt_unload(kg_device *device, kg_function *function) {
  (void)device;
  kg_simt_function_free(function);
}

/* ---- launch --------------------------------------------------------------------------------- */

static kg_status check_grid(const kg_simt_device *self, const kg_function *function,
                            const kg_grid *grid, kg_error *error) {
  static const char axes[] = "xyz";
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    threads *=
        grid->threads[i] <= self->limits.threads ? grid->threads[i] : self->limits.threads + 1u;
    if (grid->groups[i] > self->limits.groups[i])
      return kg_fail(error, KG_TOO_LARGE,
                     "kernel %s: %u groups on axis %c, and the device takes %llu", function->kernel,
                     grid->groups[i], axes[i], (unsigned long long)self->limits.groups[i]);
  }
  if (threads == 0 || threads > self->limits.threads)
    return kg_fail(error, KG_LIMIT,
                   "kernel %s: %u x %u x %u threads in a group, and the device takes 1 to %u",
                   function->kernel, grid->threads[0], grid->threads[1], grid->threads[2],
                   self->limits.threads);
  if (grid->shared_bytes > self->limits.shared_bytes)
    return kg_fail(error, KG_LIMIT, "kernel %s: %u bytes of shared memory, and the device has %u",
                   function->kernel, grid->shared_bytes, self->limits.shared_bytes);
  return KG_OK;
}

static kg_status simt_launch_call(kg_device *device, kg_function *function, const kg_grid *grid,
                                  const void *args, size_t bytes, const kg_call *call,
                                  kg_error *error) {
  kg_simt_device *self = device->self;
  char near[256];
  kg_status status = check_grid(self, function, grid, error);
  if (status) return status;
  if (bytes < function->argument_bytes || bytes - function->argument_bytes >= 8)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "kernel %s: an argument block of %zu bytes, and the entry takes %u",
                   function->kernel, bytes, function->argument_bytes);
  kg_simt_job job = {.function = function, .grid = *grid, .arguments = args};
  const uint64_t plane = (uint64_t)grid->groups[0] * grid->groups[1];
  if (grid->groups[2] > 0 && plane > INT64_MAX / grid->groups[2])
    return kg_fail(error, KG_TOO_LARGE, "kernel %s: more than 2^63 groups", function->kernel);
  job.groups = plane * grid->groups[2];
  if (job.groups == 0) return KG_OK;
  if (self->checked) return kg_simt_check_launch(self, &job, bytes, call, error);
  status = kg_simt_pool_run(self->pool, &job, error);
  if (status == KG_OK && !kg_simt_memory_check(self->memory, near, sizeof near))
    return kg_fail(error, KG_DEVICE_FAILED, "kernel %s, or a copy before it, wrote %s",
                   function->kernel, near);
  return status;
}

static kg_status simt_launch(kg_device *device, kg_function *function, const kg_grid *grid,
                             const void *args, size_t bytes, kg_error *error) {
  return simt_launch_call(device, function, grid, args, bytes, NULL, error);
}

int kg_simt_findings(const kg_device *device, const kg_simt_finding **findings) {
  if (findings) *findings = NULL;
  if (!device || device->ops->open != simt_open) return 0;
  return kg_simt_check_findings(device->self, findings);
}

size_t kg_simt_branches(const kg_device *device, const kg_simt_branch **branches) {
  if (branches) *branches = NULL;
  if (!device || device->ops->open != simt_open) return 0;
  const kg_simt_device *self = device->self;
  if (branches) *branches = self->branches;
  return self->branch_count;
}

#define SIMT_OPS(whose)                                                                            \
  {                                                                                                \
      .backend = whose,                                                                            \
      .open = simt_open,                                                                           \
      .close = simt_close,                                                                         \
      .alloc = simt_alloc,                                                                         \
      .free = simt_free,                                                                           \
      .upload = simt_copy,                                                                         \
      .download = simt_copy,                                                                       \
      .synchronize = simt_synchronize,                                                             \
      .compile = simt_compile,                                                                     \
      .load = simt_load,                                                                           \
      .unload = simt_unload,                                                                       \
      .launch = simt_launch,                                                                       \
      .launch_call = simt_launch_call,                                                             \
  }

const kg_device_ops kg_device_simt = SIMT_OPS("hip");
static const kg_device_ops cuda_ops = SIMT_OPS("cuda");
static const kg_device_ops metal_ops = SIMT_OPS("metal");

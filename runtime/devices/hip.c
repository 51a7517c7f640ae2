/* hip.c: AMD GPUs, through HIP's module API.
**
** libamdhip64 is opened with dlopen, and nothing of its headers is used: what we need of them,
** which has kept its numbers and layout from ROCm 5.2 to 7.2, stands below (tests/devices/test_hip.c
** compares it with the installed header).  A device whose wavefront width cannot be told for
** certain has wave 0, and no port is for that.
**
** $KG_HIP_LIBRARY names another libamdhip64. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/code_object.h"
#include "device.h"
#include "devices/hip.h"
#include "devices/hip_compile.h"

/* ---- the library ----------------------------------------------------------------------------- */

typedef struct hip {
  void *handle;
  int (*init)(unsigned flags);
  int (*runtime_version)(int *version);
  int (*device_count)(int *count);
  int (*set_device)(int device);
  int (*attribute)(int *value, int attribute, int device);
  int (*properties)(void *properties, int device);
  int (*malloc)(void **address, size_t bytes);
  int (*free)(void *address);
  int (*memcpy)(void *to, const void *from, size_t bytes, int kind);
  int (*synchronize)(void);
  int (*module_load)(void **module, const void *image);
  int (*module_unload)(void *module);
  int (*module_function)(void **function, void *module, const char *name);
  int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned tx, unsigned ty,
                unsigned tz, unsigned shared_bytes, void *stream, void **params, void **extra);
  const char *(*error_string)(int error);
} hip;

static const struct {
  const char *name;
  size_t offset;
} hip_symbols[] = {
    {"hipInit", offsetof(hip, init)},
    {"hipRuntimeGetVersion", offsetof(hip, runtime_version)},
    {"hipGetDeviceCount", offsetof(hip, device_count)},
    {"hipSetDevice", offsetof(hip, set_device)},
    {"hipDeviceGetAttribute", offsetof(hip, attribute)},
    {"hipMalloc", offsetof(hip, malloc)},
    {"hipFree", offsetof(hip, free)},
    {"hipMemcpy", offsetof(hip, memcpy)},
    {"hipDeviceSynchronize", offsetof(hip, synchronize)},
    {"hipModuleLoadData", offsetof(hip, module_load)},
    {"hipModuleUnload", offsetof(hip, module_unload)},
    {"hipModuleGetFunction", offsetof(hip, module_function)},
    {"hipModuleLaunchKernel", offsetof(hip, launch)},
    {"hipGetErrorString", offsetof(hip, error_string)},
};

/* Attributes have had other numbers before ROCm 5, so libraries of that age are not looked for. */
static const char *const hip_names[] = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "/opt/rocm/lib/libamdhip64.so.7",
    "/opt/rocm/lib/libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so.5",
};

typedef struct hip_device {
  hip api;
  const hip_properties_layout *layout;
  int index;
  kg_hip_compiler *compiler;
} hip_device;

struct kg_function {
  void *module, *function;
  void *image; /* the code object's bytes: HIP may read them until the module is unloaded */
  kg_code_object facts;
};

static bool find_symbol(void *handle, const char *name, void *slot) {
  void *address = dlsym(handle, name);
  if (address == NULL) return false;
  memcpy(slot, &address, sizeof address); /* POSIX's way around the cast that ISO C does not have */
  return true;
}

/* A vendor's runtime has threads, so once loaded it stays (RTLD_NODELETE). */
static void *open_library(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static kg_status load_library(hip_device *d, kg_error *error) {
  const char *named = getenv("KG_HIP_LIBRARY");
  hip *h = &d->api;
  if (named != NULL && named[0] != '\0') {
    h->handle = open_library(named);
    if (h->handle == NULL)
      return kg_fail(error, KG_NO_DEVICE, "$KG_HIP_LIBRARY cannot be loaded: %s", dlerror());
  }
  for (size_t i = 0; h->handle == NULL && i < sizeof hip_names / sizeof *hip_names; i++)
    h->handle = open_library(hip_names[i]);
  if (h->handle == NULL)
    return kg_fail(error, KG_NO_DEVICE,
                   "no AMD GPU can be used: libamdhip64 of ROCm 5, 6 or 7 is not installed");
  for (size_t i = 0; i < sizeof hip_symbols / sizeof *hip_symbols; i++)
    if (!find_symbol(h->handle, hip_symbols[i].name, (char *)h + hip_symbols[i].offset))
      return kg_fail(error, KG_NO_DEVICE, "no AMD GPU can be used: libamdhip64 has no function %s",
                     hip_symbols[i].name);
  for (size_t i = 0; d->layout == NULL && i < HIP_PROPERTIES_LAYOUTS; i++)
    if (find_symbol(h->handle, hip_properties_layouts[i].function, &h->properties))
      d->layout = &hip_properties_layouts[i];
  if (d->layout == NULL)
    return kg_fail(error, KG_NO_DEVICE,
                   "no AMD GPU can be used: libamdhip64 has no function hipGetDeviceProperties");
  return KG_OK;
}

static kg_status failed(const hip_device *d, const char *what, int result, kg_error *error) {
  const char *words = d->api.error_string(result);
  return kg_fail(error, result == HIP_ERROR_OUT_OF_MEMORY ? KG_OUT_OF_MEMORY : KG_DEVICE_FAILED,
                 "AMD GPU %d: %s failed: %s (error %d)", d->index, what,
                 words != NULL ? words : "unknown", result);
}

/* ---- what the device is ---------------------------------------------------------------------- */

static kg_status find_device(hip_device *d, kg_error *error) {
  int count = 0, result = d->api.init(0);
  if (result == 0) result = d->api.device_count(&count);
  if (result == HIP_ERROR_NO_DEVICE || result == HIP_ERROR_INVALID_DEVICE ||
      (result == 0 && count == 0))
    return kg_fail(error, KG_NO_DEVICE, "no AMD GPU is present");
  if (result != 0) {
    const char *words = d->api.error_string(result);
    return kg_fail(error, KG_NO_DEVICE, "no AMD GPU can be used: HIP does not start: %s (error %d)",
                   words != NULL ? words : "unknown", result);
  }
  if (d->index < 0 || d->index >= count)
    return kg_fail(error, KG_NO_DEVICE,
                   "there is no AMD GPU %d; this machine has %d, counted from 0", d->index, count);
  result = d->api.set_device(d->index);
  return result == 0 ? KG_OK : failed(d, "hipSetDevice", result, error);
}

/* The width by both ways of asking; 0 unless they agree and it is one that exists. */
static int read_wave(const hip_device *d, const unsigned char *properties) {
  int asked = 0, told;
  memcpy(&told, properties + d->layout->warp_size, sizeof told);
  if (d->api.attribute(&asked, HIP_ATTRIBUTE_WARP_SIZE, d->index) != 0) return 0;
  return asked == told && (asked == 32 || asked == 64) ? asked : 0;
}

static kg_status read_limits(const hip_device *d, kg_limits *limits, kg_error *error) {
  static const int asked[] = {HIP_ATTRIBUTE_MAX_THREADS, HIP_ATTRIBUTE_MAX_SHARED,
                              HIP_ATTRIBUTE_MAX_GRID_X, HIP_ATTRIBUTE_MAX_GRID_Y,
                              HIP_ATTRIBUTE_MAX_GRID_Z};
  int value[5];
  for (int i = 0; i < 5; i++) {
    const int result = d->api.attribute(&value[i], asked[i], d->index);
    if (result != 0) return failed(d, "hipDeviceGetAttribute", result, error);
    if (value[i] <= 0)
      return kg_fail(error, KG_DEVICE_FAILED, "AMD GPU %d: attribute %d is %d", d->index, asked[i],
                     value[i]);
  }
  *limits = (kg_limits){(uint32_t)value[0],
                        (uint32_t)value[1],
                        {(uint64_t)value[2], (uint64_t)value[3], (uint64_t)value[4]}};
  return KG_OK;
}

static kg_status read_properties(kg_device *device, hip_device *d, kg_error *error) {
  unsigned char *properties = calloc(1, HIP_PROPERTIES_ROOM);
  if (properties == NULL)
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a device's properties");
  const int result = d->api.properties(properties, d->index);
  kg_status status = result == 0 ? KG_OK : failed(d, d->layout->function, result, error);
  if (status == KG_OK) {
    const char *arch = (const char *)properties + d->layout->gcn_arch_name,
               *name = (const char *)properties;
    if (memchr(arch, '\0', sizeof device->target) == NULL || strncmp(arch, "gfx", 3) != 0)
      status = kg_fail(error, KG_DEVICE_FAILED, "AMD GPU %d does not say which architecture it is",
                       d->index);
    else
      snprintf(device->target, sizeof device->target, "%s", arch);
    snprintf(device->name, sizeof device->name, "hip:%d (%.64s, %.48s)", d->index,
             name[0] != '\0' ? name : "AMD GPU", device->target);
    device->wave = read_wave(d, properties);
  }
  free(properties);
  return status;
}

/* The compiler of the runtime's own generation: a newer one writes code objects that an older
** runtime cannot load. */
static kg_status open_compiler(kg_device *device, hip_device *d, kg_error *error) {
  int version = 0;
  kg_hip_choice choice = {NULL, 0};
  if (d->api.runtime_version(&version) == 0)
    choice.generation = version / 10000000; /* 5.2.21153 is 50221153 */
  kg_status status = kg_hip_compiler_open(&choice, &d->compiler, error);
  if (status == KG_OK)
    snprintf(device->compiler, sizeof device->compiler, "%s",
             kg_hip_compiler_identity(d->compiler));
  return status;
}

static void hip_close(kg_device *device) {
  hip_device *d = device->self;
  if (d == NULL) return;
  kg_hip_compiler_close(d->compiler);
  if (d->api.handle != NULL) dlclose(d->api.handle);
  free(d);
  device->self = NULL;
}

static kg_status hip_open(kg_device *device, int index, const char *mode, kg_error *error) {
  if (mode != NULL && mode[0] != '\0')
    return kg_fail(error, KG_BAD_ARGUMENT, "an AMD GPU runs HIP text only, not \"%s\"", mode);
  hip_device *d = calloc(1, sizeof *d);
  if (d == NULL) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a device");
  d->index = index;
  device->self = d;
  kg_status status = load_library(d, error);
  if (status == KG_OK) status = find_device(d, error);
  if (status == KG_OK) status = read_properties(device, d, error);
  if (status == KG_OK) status = read_limits(d, &device->limits, error);
  if (status == KG_OK) status = open_compiler(device, d, error);
  if (status != KG_OK) hip_close(device);
  return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static kg_status on_device(const hip_device *d, const char *what, int result, kg_error *error) {
  return result == 0 ? KG_OK : failed(d, what, result, error);
}

/* HIP's current device is each thread's own: every call that depends on it says which one it
** means. */
static kg_status enter(const hip_device *d, kg_error *error) {
  return on_device(d, "hipSetDevice", d->api.set_device(d->index), error);
}

static kg_status hip_alloc(kg_device *device, size_t bytes, void **address, kg_error *error) {
  hip_device *d = device->self;
  *address = NULL;
  kg_status status = enter(d, error);
  if (status != KG_OK) return status;
  const int result = d->api.malloc(address, bytes > 0 ? bytes : 1);
  if (result == HIP_ERROR_OUT_OF_MEMORY)
    return kg_fail(error, KG_OUT_OF_MEMORY, "AMD GPU %d has no %zu bytes of memory left", d->index,
                   bytes);
  return on_device(d, "hipMalloc", result, error);
}

static void hip_free(kg_device *device, void *address) {
  hip_device *d = device->self;
  if (address != NULL && d->api.set_device(d->index) == 0) d->api.free(address);
}

static kg_status copy(const hip_device *d, void *to, const void *from, size_t bytes, int kind,
                      kg_error *error) {
  if (bytes == 0) return KG_OK;
  kg_status status = enter(d, error);
  return status != KG_OK ? status
                         : on_device(d, "hipMemcpy", d->api.memcpy(to, from, bytes, kind), error);
}

static kg_status hip_upload(kg_device *device, void *to, const void *from, size_t bytes,
                            kg_error *error) {
  return copy(device->self, to, from, bytes, HIP_MEMCPY_HOST_TO_DEVICE, error);
}

static kg_status hip_download(kg_device *device, void *to, const void *from, size_t bytes,
                              kg_error *error) {
  return copy(device->self, to, from, bytes, HIP_MEMCPY_DEVICE_TO_HOST, error);
}

static kg_status hip_synchronize(kg_device *device, kg_error *error) {
  const hip_device *d = device->self;
  kg_status status = enter(d, error);
  return status != KG_OK ? status
                         : on_device(d, "hipDeviceSynchronize", d->api.synchronize(), error);
}

/* ---- code ------------------------------------------------------------------------------------ */

static kg_status hip_compile(kg_device *device, const kg_source *source, kg_blob *blob,
                             kg_error *error) {
  const hip_device *d = device->self;
  *blob = (kg_blob){NULL, 0};
  if (source->wave != device->wave)
    return kg_fail(error, KG_BAD_WIDTH,
                   "kernel %s: this instance is for a wavefront of %d lanes, the device has %d",
                   source->kernel, source->wave, device->wave);
  return kg_hip_compile(d->compiler, source, device->target, blob, NULL, error);
}

/* A code object without a feature's sign runs with either setting; one with it must agree with
** the device. */
static bool target_fits(const char *code, const char *device) {
  const size_t len = strcspn(code, ":");
  if (strncmp(code, device, len) != 0 || (device[len] != '\0' && device[len] != ':')) return false;
  for (const char *f = code + len; *f == ':';) {
    const size_t n = 1 + strcspn(f + 1, ":");
    const char *same = strstr(device, ":");
    for (; same != NULL; same = strstr(same + 1, ":"))
      if (strncmp(same, f, n) == 0 && (same[n] == '\0' || same[n] == ':')) break;
    if (same == NULL) return false;
    f += n;
  }
  return true;
}

static kg_status check_object(const kg_device *device, const char *entry, const kg_code_object *o,
                              kg_error *error) {
  if (!target_fits(o->target, device->target))
    return kg_fail(error, KG_BAD_TARGET, "%s: the code object is for %s, the device is %s", entry,
                   o->target[0] != '\0' ? o->target : "no target", device->target);
  if (device->wave == 0 || o->wave != (uint32_t)device->wave)
    return kg_fail(error, KG_BAD_WIDTH,
                   "%s: the code object is for a wavefront of %u lanes, the device has %d", entry,
                   o->wave, device->wave);
  if (o->shared_bytes > device->limits.shared_bytes)
    return kg_fail(error, KG_LIMIT,
                   "%s: takes %u bytes of shared memory, a group of this device has %u", entry,
                   o->shared_bytes, device->limits.shared_bytes);
  return KG_OK;
}

static void hip_unload(kg_device *device, kg_function *f) {
  const hip_device *d = device->self;
  if (f == NULL) return;
  if (f->module != NULL && d->api.set_device(d->index) == 0) d->api.module_unload(f->module);
  free(f->image);
  free(f);
}

static kg_status load_module(const hip_device *d, kg_function *f, const char *entry,
                             kg_error *error) {
  kg_status status = enter(d, error);
  if (status == KG_OK)
    status = on_device(d, "hipModuleLoadData", d->api.module_load(&f->module, f->image), error);
  if (status == KG_OK)
    status = on_device(d, "hipModuleGetFunction",
                       d->api.module_function(&f->function, f->module, entry), error);
  return status;
}

static kg_status hip_load(kg_device *device, const kg_blob *blob, const char *entry,
                          kg_function **function, kg_error *error) {
  *function = NULL;
  kg_function *f = calloc(1, sizeof *f);
  if (f == NULL || (f->image = malloc(blob->size)) == NULL) {
    free(f);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a code object of %zu bytes", blob->size);
  }
  memcpy(f->image, blob->bytes, blob->size);
  kg_status status = kg_code_object_read(f->image, blob->size, entry, &f->facts, error);
  if (status == KG_OK) status = check_object(device, entry, &f->facts, error);
  if (status == KG_OK) status = load_module(device->self, f, entry, error);
  if (status == KG_OK)
    *function = f;
  else
    hip_unload(device, f);
  return status;
}

/* ---- launch ---------------------------------------------------------------------------------- */

static kg_status check_launch(const kg_function *f, const kg_grid *g, size_t bytes,
                              kg_error *error) {
  const uint64_t threads = (uint64_t)g->threads[0] * g->threads[1] * g->threads[2];
  if (threads == 0 || threads > f->facts.threads)
    return kg_fail(error, KG_LIMIT, "a group of %llu threads; the code was compiled for 1 to %u",
                   (unsigned long long)threads, f->facts.threads);
  for (int i = 0; i < 3; i++)
    if (g->groups[i] == 0 || (uint64_t)g->groups[i] * g->threads[i] > UINT32_MAX)
      return kg_fail(error, KG_TOO_LARGE,
                     "grid axis %d: %u groups of %u threads; HIP counts 1 to %u threads on an axis",
                     i, g->groups[i], g->threads[i], UINT32_MAX);
  const size_t declared = f->facts.argument_bytes, padded = (declared + 7) / 8 * 8;
  if (bytes < declared || bytes > padded)
    return kg_fail(error, KG_BAD_ARGUMENT,
                   "an argument block of %zu bytes; the code's parameters take %zu", bytes,
                   declared);
  return KG_OK;
}

static kg_status hip_launch(kg_device *device, kg_function *f, const kg_grid *grid,
                            const void *args, size_t bytes, kg_error *error) {
  const hip_device *d = device->self;
  kg_status status = check_launch(f, grid, bytes, error);
  if (status == KG_OK) status = enter(d, error);
  if (status != KG_OK) return status;
  void *block;
  memcpy(&block, &args, sizeof block); /* HIP only reads it, but does not say const */
  void *extra[] = {HIP_PARAM_BUFFER_POINTER, block, HIP_PARAM_BUFFER_SIZE, &bytes, HIP_PARAM_END};
  const uint32_t *g = grid->groups, *t = grid->threads;
  const int result = d->api.launch(f->function, g[0], g[1], g[2], t[0], t[1], t[2],
                                   grid->shared_bytes, NULL, NULL, extra);
  return on_device(d, "hipModuleLaunchKernel", result, error);
}

const kg_device_ops kg_device_hip = {
    .backend = "hip",
    .open = hip_open,
    .close = hip_close,
    .alloc = hip_alloc,
    .free = hip_free,
    .upload = hip_upload,
    .download = hip_download,
    .synchronize = hip_synchronize,
    .compile = hip_compile,
    .load = hip_load,
    .unload = hip_unload,
    .launch = hip_launch,
};

/* cuda.c: NVIDIA GPUs, through the driver's library and NVRTC.
**
** Both libraries are opened with dlopen when a device is, and only by the few functions declared
** below, so one binary also serves machines that have neither: opening is KG_NO_DEVICE there.  A
** device without NVRTC opens, and compiling on it is KG_NO_COMPILER.  The mode is a target
** ("cuda/sm_90"): such a device needs no GPU; kg_prepare works on it, a launch is KG_NO_DEVICE.
**
** NVRTC is looked for in $KG_NVRTC (a file), by the dynamic loader, in $CUDA_HOME, $CUDA_PATH and
** /usr/local/cuda.  No other variable counts, and these only choose the file, whose content is part
** of the compiler's identity.
**
** The GPU's primary context is used, and is current to a thread only inside a call: a caller who
** has a context of his own finds it as he left it.  All work goes to the context's default
** stream, in order. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "platform.h"
#include "files.h"

/* ---- what is used of the two libraries ------------------------------------------------------ */

typedef struct Context *CUcontext;
typedef struct Module *CUmodule;
typedef struct CudaFunction *CUfunction;
typedef struct Stream *CUstream;
typedef unsigned long long CUdeviceptr;
typedef struct Program *nvrtcProgram;

enum { CUDA_OK = 0, CUDA_OUT_OF_MEMORY = 2 };
enum { NVRTC_OK = 0, NVRTC_OUT_OF_MEMORY = 1, NVRTC_INVALID_OPTION = 5, NVRTC_COMPILATION = 6 };

enum { /* CUdevice_attribute */
       ATTRIBUTE_THREADS = 1,
       ATTRIBUTE_GROUPS_X = 5,
       ATTRIBUTE_GROUPS_Y = 6,
       ATTRIBUTE_GROUPS_Z = 7,
       ATTRIBUTE_SHARED_BYTES =
           8, /* of arrays declared in the text; more can only be asked for at launch */
       ATTRIBUTE_WAVE = 10,
       ATTRIBUTE_MAJOR = 75,
       ATTRIBUTE_MINOR = 76
};
enum {
  FUNCTION_THREADS = 0
}; /* CUfunction_attribute: the most that this code can run in a group */

/* cuLaunchKernel's `extra` list: the arguments as one block. */
#define LAUNCH_END NULL
#define LAUNCH_BUFFER ((void *)1)
#define LAUNCH_SIZE ((void *)2)

#define DRIVER_FUNCTIONS(F)                                                                        \
  F(Init, "cuInit", (unsigned))                                                                    \
  F(DriverGetVersion, "cuDriverGetVersion", (int *))                                               \
  F(GetErrorName, "cuGetErrorName", (int, const char **))                                          \
  F(GetErrorString, "cuGetErrorString", (int, const char **))                                      \
  F(DeviceGetCount, "cuDeviceGetCount", (int *))                                                   \
  F(DeviceGet, "cuDeviceGet", (int *, int))                                                        \
  F(DeviceGetName, "cuDeviceGetName", (char *, int, int))                                          \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int))                                 \
  F(PrimaryRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, int))                                 \
  F(PrimaryRelease, "cuDevicePrimaryCtxRelease_v2", (int))                                         \
  F(CtxPush, "cuCtxPushCurrent_v2", (CUcontext))                                                   \
  F(CtxPop, "cuCtxPopCurrent_v2", (CUcontext *))                                                   \
  F(CtxSynchronize, "cuCtxSynchronize", (void))                                                    \
  F(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                            \
  F(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                        \
  F(MemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                            \
  F(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                  \
  F(ModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                                \
  F(ModuleUnload, "cuModuleUnload", (CUmodule))                                                    \
  F(ModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))              \
  F(FuncGetAttribute, "cuFuncGetAttribute", (int *, int, CUfunction))                              \
  F(LaunchKernel, "cuLaunchKernel",                                                                \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,   \
     void **, void **))

#define NVRTC_FUNCTIONS(F)                                                                         \
  F(Version, "nvrtcVersion", (int *, int *))                                                       \
  F(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", (int *))                                    \
  F(GetSupportedArchs, "nvrtcGetSupportedArchs", (int *))                                          \
  F(CreateProgram, "nvrtcCreateProgram",                                                           \
    (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *))   \
  F(DestroyProgram, "nvrtcDestroyProgram", (nvrtcProgram *))                                       \
  F(CompileProgram, "nvrtcCompileProgram", (nvrtcProgram, int, const char *const *))               \
  F(GetProgramLogSize, "nvrtcGetProgramLogSize", (nvrtcProgram, size_t *))                         \
  F(GetProgramLog, "nvrtcGetProgramLog", (nvrtcProgram, char *))                                   \
  F(GetCUBINSize, "nvrtcGetCUBINSize", (nvrtcProgram, size_t *))                                   \
  F(GetCUBIN, "nvrtcGetCUBIN", (nvrtcProgram, char *))

typedef struct Driver {
  void *library;
#define F(field, symbol, parameters) int(*field) parameters;
  DRIVER_FUNCTIONS(F)
} Driver;

typedef struct Nvrtc {
  void *library; /* NULL: none was found */
  NVRTC_FUNCTIONS(F)
#undef F
  int major, minor;
} Nvrtc;

typedef struct Self {
  Driver driver; /* library is NULL when the device only compiles */
  Nvrtc nvrtc;
  int number;
  CUcontext context;
} Self;

struct kg_function {
  CUmodule module;
  CUfunction function;
  int threads; /* the most that its registers allow in a group */
};

/* ISO C has no conversion from an object's address to a function's; POSIX promises that the
** bytes are the same. */
static bool symbol(void *library, const char *name, void *function) {
  void *const address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

/* ---- failures of the driver ----------------------------------------------------------------- */

static kg_status driver_failed(const Driver *driver, const char *what, int code, kg_error *error) {
  const char *name = NULL, *text = NULL;
  driver->GetErrorName(code, &name);
  driver->GetErrorString(code, &text);
  return kg_fail(error, code == CUDA_OUT_OF_MEMORY ? KG_OUT_OF_MEMORY : KG_DEVICE_FAILED,
                 "%s: the driver says %s (%d): %s", what, name ? name : "an unknown error", code,
                 text ? text : "no text");
}

/* A call is between enter and leave; the context is current to the thread only there. */
static kg_status enter(const kg_device *device, const Self **self, kg_error *error) {
  const Self *const s = *self = device->self;
  if (!s->driver.library) {
    return kg_fail(error, KG_NO_DEVICE, "%s: this device only compiles; open \"cuda\" to run",
                   device->name);
  }
  const int code = s->driver.CtxPush(s->context);
  return code ? driver_failed(&s->driver, device->name, code, error) : KG_OK;
}

static kg_status leave(const kg_device *device, const char *what, int code, kg_error *error) {
  const Self *const s = device->self;
  CUcontext popped;
  s->driver.CtxPop(&popped);
  if (!code) return KG_OK;
  char context[256];
  snprintf(context, sizeof context, "%.120s: %.120s", device->name, what);
  return driver_failed(&s->driver, context, code, error);
}

/* ---- opening -------------------------------------------------------------------------------- */

static kg_status open_driver(const kg_device *device, Driver *driver, kg_error *error) {
  driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!driver->library) {
    return kg_fail(error, KG_NO_DEVICE,
                   "%s: no NVIDIA driver is installed (libcuda.so.1 is not found)", device->name);
  }
  const char *missing = NULL;
#define F(field, name, parameters)                                                                 \
  if (!symbol(driver->library, name, &driver->field)) missing = name;
  DRIVER_FUNCTIONS(F)
#undef F
  if (missing) {
    return kg_fail(error, KG_NO_DEVICE, "%s: the NVIDIA driver is too old: it has no %s",
                   device->name, missing);
  }
  const int code = driver->Init(0);
  if (!code) return KG_OK;
  driver_failed(driver, device->name, code, error);
  if (error) error->status = KG_NO_DEVICE;
  return KG_NO_DEVICE;
}

/* In a folder that ends in '/', or, when it is "", where the dynamic loader looks. */
static void *open_nvrtc_in(const char *folder) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                      "libnvrtc.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s%s", folder, names[i]) >= (int)sizeof path) continue;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library) return library;
  }
  return NULL;
}

static void *open_nvrtc_library(void) {
  const char *const named = getenv("KG_NVRTC");
  if (named && *named) return dlopen(named, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *library = open_nvrtc_in("");
  const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  static const char *const folders[] = {"lib64", "lib"};
  for (int i = 0; i < 6 && !library; i++) {
    const char *const root = roots[i / 2];
    char folder[3000];
    if (!root || !*root) continue;
    if (snprintf(folder, sizeof folder, "%s/%s/", root, folders[i % 2]) < (int)sizeof folder)
      library = open_nvrtc_in(folder);
  }
  return library;
}

/* Version, file name and content hash of NVRTC and of the library of built-ins beside it.
** Without the hash two builds of one version could not be told apart, so a file that cannot be
** read is no compiler. */
static bool identify_nvrtc(const Nvrtc *nvrtc, char *identity, size_t bytes) {
  Dl_info info;
  void *inside;
  memcpy(&inside, &nvrtc->Version, sizeof inside);
  if (!dladdr(inside, &info) || !info.dli_fname) return false;
  char path[4096];
  if (!realpath(info.dli_fname, path)) return false;
  char digits[33];
  kg_hash *const hash = kg_hash_new();
  if (!hash) return false;
  if (!kg_hash_file(hash, path)) return kg_hash_end(hash, NULL), false;
  char *const slash = strrchr(path, '/');
  char name[128], builtins[4096];
  snprintf(name, sizeof name, "%s", slash + 1);
  if (snprintf(builtins, sizeof builtins, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(slash - path),
               path, nvrtc->major, nvrtc->minor) >= (int)sizeof builtins) {
    kg_hash_end(hash, NULL);
    return false;
  }
  kg_hash_file(hash, builtins); /* some releases have none */
  kg_hash_end(hash, digits);
  snprintf(identity, bytes, "NVRTC %d.%d (%s) %s", nvrtc->major, nvrtc->minor, name, digits);
  return true;
}

static void open_nvrtc(Nvrtc *nvrtc, char *identity, size_t bytes) {
  memset(nvrtc, 0, sizeof *nvrtc);
  void *const library = open_nvrtc_library();
  if (!library) return;
  bool all = true;
#define F(field, name, parameters) all = symbol(library, name, &nvrtc->field) && all;
  NVRTC_FUNCTIONS(F)
#undef F
  if (all && nvrtc->Version(&nvrtc->major, &nvrtc->minor) == NVRTC_OK &&
      identify_nvrtc(nvrtc, identity, bytes))
    nvrtc->library = library;
  else
    dlclose(library);
}

static int attribute(const Driver *driver, int which, int number) {
  int value = 0;
  return driver->DeviceGetAttribute(&value, which, number) == CUDA_OK ? value : 0;
}

static kg_status open_gpu(kg_device *device, Self *self, int index, kg_error *error) {
  Driver *const driver = &self->driver;
  kg_status status = open_driver(device, driver, error);
  if (status) return status;
  int count = 0, code = driver->DeviceGetCount(&count);
  if (!code && index >= count) {
    return kg_fail(error, KG_NO_DEVICE, "%s: the NVIDIA driver has %d device%s", device->name,
                   count, count == 1 ? "" : "s");
  }
  if (!code) code = driver->DeviceGet(&self->number, index);
  char model[64] = "";
  if (!code) code = driver->DeviceGetName(model, (int)sizeof model, self->number);
  if (code) return driver_failed(driver, device->name, code, error);
  const int number = self->number;
  snprintf(device->target, sizeof device->target, "sm_%d%d",
           attribute(driver, ATTRIBUTE_MAJOR, number), attribute(driver, ATTRIBUTE_MINOR, number));
  device->wave = attribute(driver, ATTRIBUTE_WAVE, number);
  device->limits =
      (kg_limits){.threads = (uint32_t)attribute(driver, ATTRIBUTE_THREADS, number),
                  .shared_bytes = (uint32_t)attribute(driver, ATTRIBUTE_SHARED_BYTES, number),
                  .groups = {(uint64_t)attribute(driver, ATTRIBUTE_GROUPS_X, number),
                             (uint64_t)attribute(driver, ATTRIBUTE_GROUPS_Y, number),
                             (uint64_t)attribute(driver, ATTRIBUTE_GROUPS_Z, number)}};
  snprintf(device->name, sizeof device->name, "cuda:%d (%.64s, %.40s)", index, model,
           device->target);
  code = driver->PrimaryRetain(&self->context, number);
  return code ? driver_failed(driver, device->name, code, error) : KG_OK;
}

/* A target without its GPU: the limits are those that all NVIDIA GPUs of today share. */
static kg_status open_target(kg_device *device, const Self *self, const char *target,
                             kg_error *error) {
  if (strncmp(target, "sm_", 3) != 0 || strlen(target) >= sizeof device->target) {
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: \"%s\" is no CUDA target; write cuda/sm_90, say",
                   device->name, target);
  }
  if (!self->nvrtc.library) {
    return kg_fail(error, KG_NO_COMPILER,
                   "%s: NVRTC is not found; install it or set KG_NVRTC to its file", device->name);
  }
  snprintf(device->target, sizeof device->target, "%s", target);
  device->wave = 32;
  device->limits = (kg_limits){
      .threads = 1024, .shared_bytes = 48 << 10, .groups = {0x7fffffff, 0xffff, 0xffff}};
  return KG_OK;
}

static void cuda_close(kg_device *device) {
  Self *const self = device->self;
  if (self->context) self->driver.PrimaryRelease(self->number);
  if (self->driver.library) dlclose(self->driver.library);
  if (self->nvrtc.library) dlclose(self->nvrtc.library);
  free(self);
}

static kg_status cuda_open(kg_device *device, int index, const char *mode, kg_error *error) {
  Self *const self = calloc(1, sizeof *self);
  if (!self) return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for a device", device->name);
  device->self = self;
  kg_status status = *mode ? KG_OK : open_gpu(device, self, index, error);
  if (!status) {
    open_nvrtc(&self->nvrtc, device->compiler, sizeof device->compiler);
    if (*mode) status = open_target(device, self, mode, error);
  }
  if (status) cuda_close(device);
  return status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static kg_status cuda_alloc(kg_device *device, size_t bytes, void **address, kg_error *error) {
  const Self *self;
  const kg_status status = enter(device, &self, error);
  if (status) return status;
  CUdeviceptr at = 0;
  char what[64];
  snprintf(what, sizeof what, "allocating %zu bytes", bytes);
  const int code = self->driver.MemAlloc(&at, bytes);
  *address = code ? NULL : (void *)(uintptr_t)at;
  return leave(device, what, code, error);
}

static void cuda_free(kg_device *device, void *address) {
  const Self *self;
  if (enter(device, &self, NULL)) return;
  leave(device, "freeing", self->driver.MemFree((CUdeviceptr)(uintptr_t)address), NULL);
}

static kg_status cuda_upload(kg_device *device, void *to, const void *from, size_t bytes,
                             kg_error *error) {
  const Self *self;
  const kg_status status = enter(device, &self, error);
  if (status) return status;
  return leave(device, "upload", self->driver.MemcpyHtoD((CUdeviceptr)(uintptr_t)to, from, bytes),
               error);
}

static kg_status cuda_download(kg_device *device, void *to, const void *from, size_t bytes,
                               kg_error *error) {
  const Self *self;
  const kg_status status = enter(device, &self, error);
  if (status) return status;
  return leave(device, "download", self->driver.MemcpyDtoH(to, (CUdeviceptr)(uintptr_t)from, bytes),
               error);
}

static kg_status cuda_synchronize(kg_device *device, kg_error *error) {
  const Self *self;
  const kg_status status = enter(device, &self, error);
  if (status) return status;
  return leave(device, "waiting for the device", self->driver.CtxSynchronize(), error);
}

/* ---- compiling ------------------------------------------------------------------------------ */

/* KG_BAD_TARGET, with the targets that there are, unless NVRTC knows the device's. */
static kg_status check_target(const kg_device *device, const Nvrtc *nvrtc, const char *kernel,
                              kg_error *error) {
  int count = 0;
  if (nvrtc->GetNumSupportedArchs(&count) != NVRTC_OK || count <= 0) return KG_OK;
  int *const targets = calloc((size_t)count, sizeof *targets);
  if (!targets)
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for NVRTC's targets", kernel);
  bool known = nvrtc->GetSupportedArchs(targets) != NVRTC_OK; /* it will say so itself */
  char list[512] = "";
  size_t at = 0;
  for (int i = 0; i < count && !known; i++) {
    char one[24];
    snprintf(one, sizeof one, "sm_%d", targets[i]);
    /* sm_90a is sm_90 with what only that one GPU has; NVRTC lists the plain numbers */
    const size_t length = strlen(one);
    known = strncmp(device->target, one, length) == 0 &&
            strspn(device->target + length, "af") == strlen(device->target + length);
    const size_t left = at < sizeof list ? sizeof list - at : 0; /* a sentence need not name all */
    at += (size_t)snprintf(left ? list + at : NULL, left, "%s%s", i ? ", " : "", one);
  }
  free(targets);
  if (known) return KG_OK;
  return kg_fail(error, KG_BAD_TARGET, "%s: NVRTC %d.%d does not know the target %s; it knows %s",
                 kernel, nvrtc->major, nvrtc->minor, device->target, list);
}

static char *program_log(const Nvrtc *nvrtc, nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtc->GetProgramLogSize(program, &bytes) != NVRTC_OK || bytes == 0) return NULL;
  char *const log = calloc(1, bytes + 1);
  if (log && nvrtc->GetProgramLog(program, log) != NVRTC_OK) log[0] = 0;
  return log;
}

static kg_status compile_failed(const kg_device *device, const Nvrtc *nvrtc, nvrtcProgram program,
                                const kg_source *source, int code, kg_error *error) {
  if (code == NVRTC_OUT_OF_MEMORY) {
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: NVRTC %d.%d has no memory to compile it",
                   source->kernel, nvrtc->major, nvrtc->minor);
  }
  char *const log = program_log(nvrtc, program);
  const kg_status status =
      kg_fail(error, KG_COMPILE_FAILED, "%s: NVRTC %d.%d could not compile it for %s (%s%d):\n%s",
              source->kernel, nvrtc->major, nvrtc->minor, device->target,
              code == NVRTC_INVALID_OPTION ? "an option is invalid, error " : "error ", code,
              log && *log ? log : "there is no log");
  free(log);
  return status;
}

static kg_status take_code(const Nvrtc *nvrtc, nvrtcProgram program, const kg_source *source,
                           kg_blob *blob, kg_error *error) {
  size_t bytes = 0;
  if (nvrtc->GetCUBINSize(program, &bytes) != NVRTC_OK || bytes == 0) {
    return kg_fail(error, KG_COMPILE_FAILED, "%s: NVRTC %d.%d made no code object", source->kernel,
                   nvrtc->major, nvrtc->minor);
  }
  char *const code = malloc(bytes);
  if (!code || nvrtc->GetCUBIN(program, code) != NVRTC_OK) {
    free(code);
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for a code object of %zu bytes",
                   source->kernel, bytes);
  }
  *blob = (kg_blob){code, bytes};
  return KG_OK;
}

static kg_status cuda_compile(kg_device *device, const kg_source *source, kg_blob *blob,
                              kg_error *error) {
  enum { MOST = 64 };
  const Nvrtc *const nvrtc = &((const Self *)device->self)->nvrtc;
  if (!nvrtc->library) {
    return kg_fail(
        error, KG_NO_COMPILER,
        "%s: NVRTC is not found, so it cannot be compiled; install it or set KG_NVRTC to its file",
        source->kernel);
  }
  kg_status status = check_target(device, nvrtc, source->kernel, error);
  if (status) return status;
  char target[96];
  snprintf(target, sizeof target, "--gpu-architecture=%s", device->target);
  char headers[1024];
  const char *options[MOST] = {target, headers};
  int count = source->native && kg_cuda_headers(headers, sizeof headers) ? 2 : 1;
  for (int i = 0; source->options && source->options[i]; i++) {
    if (count == MOST)
      return kg_fail(error, KG_TOO_LARGE, "%s: more than %d compiler options", source->kernel,
                     MOST - 1);
    options[count++] = source->options[i];
  }
  nvrtcProgram program;
  int code = nvrtc->CreateProgram(&program, source->text,
                                  source->file ? source->file : source->entry, 0, NULL, NULL);
  if (code) {
    return kg_fail(error, code == NVRTC_OUT_OF_MEMORY ? KG_OUT_OF_MEMORY : KG_COMPILE_FAILED,
                   "%s: NVRTC %d.%d could not take the text (error %d)", source->kernel,
                   nvrtc->major, nvrtc->minor, code);
  }
  code = nvrtc->CompileProgram(program, count, options);
  status = code ? compile_failed(device, nvrtc, program, source, code, error)
                : take_code(nvrtc, program, source, blob, error);
  nvrtc->DestroyProgram(&program);
  return status;
}

/* ---- loading and launching ------------------------------------------------------------------ */

static kg_status cuda_load(kg_device *device, const kg_blob *blob, const char *entry,
                           kg_function **function, kg_error *error) {
  kg_function *const f = calloc(1, sizeof *f);
  if (!f) return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for a function", entry);
  const Self *self = device->self;
  if (!self->driver.library) return *function = f, KG_OK; /* kg_prepare has done what it can */
  kg_status status = enter(device, &self, error);
  if (!status) {
    int code = self->driver.ModuleLoadData(&f->module, blob->bytes);
    if (!code) code = self->driver.ModuleGetFunction(&f->function, f->module, entry);
    if (!code) code = self->driver.FuncGetAttribute(&f->threads, FUNCTION_THREADS, f->function);
    if (code && f->module) self->driver.ModuleUnload(f->module);
    status = leave(device, entry, code, error);
  }
  if (status)
    free(f);
  else
    *function = f;
  return status;
}

static void cuda_unload(kg_device *device, kg_function *function) {
  const Self *self;
  if (function->module && !enter(device, &self, NULL))
    leave(device, "unloading", self->driver.ModuleUnload(function->module), NULL);
  free(function);
}

static kg_status cuda_launch(kg_device *device, kg_function *function, const kg_grid *grid,
                             const void *args, size_t bytes, kg_error *error) {
  const Self *self;
  const uint32_t *const g = grid->groups, *const t = grid->threads;
  const uint64_t threads = (uint64_t)t[0] * t[1] * t[2];
  if (function->module && threads > (uint64_t)function->threads) {
    return kg_fail(error, KG_LIMIT,
                   "%s: a group has %llu threads, and the code's registers allow %d", device->name,
                   (unsigned long long)threads, function->threads);
  }
  const kg_status status = enter(device, &self, error);
  if (status) return status;
  union {
    const void *in;
    void *out;
  } block = {.in = args}; /* the driver only reads it */
  void *extra[] = {LAUNCH_BUFFER, block.out, LAUNCH_SIZE, &bytes, LAUNCH_END};
  const int code = self->driver.LaunchKernel(function->function, g[0], g[1], g[2], t[0], t[1], t[2],
                                             grid->shared_bytes, NULL, NULL, extra);
  return leave(device, "launch", code, error);
}

const kg_device_ops kg_device_cuda = {
    .backend = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .synchronize = cuda_synchronize,
    .compile = cuda_compile,
    .load = cuda_load,
    .unload = cuda_unload,
    .launch = cuda_launch,
};

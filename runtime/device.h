/* device.h: what a device is.  One struct of functions a backend; ports.c, launch.c and cache.c
** know no other. */
#ifndef KG_DEVICE_H
#define KG_DEVICE_H

#include "kg.h"

typedef struct kg_limits {
  uint32_t threads;      /* in a group */
  uint32_t shared_bytes; /* of a group */
  uint64_t groups[3];    /* the grid's limit on each axis */
} kg_limits;

/* A request to a run-time compiler.  text is NUL-terminated; options as the port gives them. */
typedef struct kg_source {
  const char *kernel, *entry, *text, *file;
  const char *const *options;
  int wave;
  bool native; /* somebody else's text */
} kg_source;

typedef struct kg_blob {
  void *bytes;
  size_t size;
} kg_blob; /* a code object; freed with free() */

typedef struct kg_function kg_function; /* a loaded entry; the device's own */

/* shared_bytes: to be added at launch to what the text itself declares; kgen's texts declare all of
** it, so it is 0. */
typedef struct kg_grid {
  uint32_t groups[3], threads[3];
  uint32_t shared_bytes;
} kg_grid;

typedef struct kg_device_ops {
  const char *backend; /* whose texts: "hip" */

  /* Open device number index.  Fills self (below).  mode is what stood after a slash in the name,
  ** or "".  It may put other functions into device->ops (the SIMT device does, to be of the backend
  ** that mode names). */
  kg_status (*open)(kg_device *device, int index, const char *mode, kg_error *error);
  void (*close)(kg_device *device);

  kg_status (*alloc)(kg_device *device, size_t bytes, void **address, kg_error *error);
  void (*free)(kg_device *device, void *address);
  kg_status (*upload)(kg_device *device, void *to, const void *from, size_t bytes, kg_error *error);
  kg_status (*download)(kg_device *device, void *to, const void *from, size_t bytes,
                        kg_error *error);
  kg_status (*synchronize)(kg_device *device, kg_error *error);

  /* Compile; the log comes with the error, mapped to the body's lines.  KG_BAD_TARGET,
     KG_NO_COMPILER, KG_COMPILE_FAILED. */
  kg_status (*compile)(kg_device *device, const kg_source *source, kg_blob *blob, kg_error *error);
  kg_status (*load)(kg_device *device, const kg_blob *blob, const char *entry,
                    kg_function **function, kg_error *error);
  void (*unload)(kg_device *device, kg_function *function);

  /* args: the argument block, laid out as the entry's parameter list in C (natural alignment). */
  kg_status (*launch)(kg_device *device, kg_function *function, const kg_grid *grid,
                      const void *args, size_t bytes, kg_error *error);

  /* As launch, of a call that has been checked: for a device that wants to know the tensors' names
  ** and sizes.  NULL: kg_launch uses launch. */
  kg_status (*launch_call)(kg_device *device, kg_function *function, const kg_grid *grid,
                           const void *args, size_t bytes, const kg_call *call, kg_error *error);
} kg_device_ops;

struct kg_cache;

struct kg_device {
  const kg_device_ops *ops;
  void *self; /* the backend's own state */
  char name[128];
  char target[64];
  char compiler[256]; /* identity: version and the library file's content hash */
  int wave;
  kg_limits limits;
  struct kg_cache *cache;
  struct kg_messages *messages;
};

extern const kg_device_ops kg_device_hip, kg_device_cuda, kg_device_simt;

/* The kinds of device that kg_device_open knows, in its table's order; NULL past the last. */
const char *kg_device_kind(int i);

/* Whose texts the SIMT device runs; those of the first when a name says none.  NULL past the
** last. */
const char *kg_simt_backend(int i);
/* "simt64", "simt32/cuda+check": the SIMT device of a width that runs a backend's texts, or refuses
** to when it is opened. */
void kg_simt_device_name(char *name, size_t size, const char *backend, int wave, bool checked);

/* Opens a device of any kind, one that has no row in devices.c too.  name is what kg_device_name
** says until open says more. */
kg_status kg_device_open_with(const kg_device_ops *ops, const char *name, int index,
                              const char *mode, kg_device **device, kg_error *error);

/* Keeps the sentence as this thread's last failure on the device; returns its status. */
kg_status kg_device_report(const kg_device *device, const kg_error *error);

/* A compiler's log from its first error's line on: warnings can stand before it and fill a
** message.  NULL: "". */
const char *kg_first_error(const char *log);

#endif

/* recorder.c: see recorder.h. */
#include "verify/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct Recorder {
  kg_device_ops ops; /* of this one device: the backend is its own */
  Recorded last;
} Recorder;

struct kg_function {
  size_t bytes;
  char source[];
};

static kg_status device_opens(kg_device *device, int wave, const char *mode, kg_error *error) {
  (void)mode, (void)error;
  snprintf(device->target, sizeof device->target, "recorder");
  snprintf(device->compiler, sizeof device->compiler, "recorder");
  device->wave = wave;
  return KG_OK;
}

static void device_closes(kg_device *device) { (void)device; }

/* ---- memory that is not there ---------------------------------------------------------------- */

static kg_status memory_alloc(kg_device *device, size_t bytes, void **address, kg_error *error) {
  (void)device, (void)bytes;
  *address = NULL;
  return kg_fail(error, KG_OUT_OF_MEMORY, "a recorder has no memory");
}

static void memory_free(kg_device *device, void *address) { (void)device, (void)address; }

static kg_status memory_copy(kg_device *device, void *to, const void *from, size_t bytes,
                             kg_error *error) {
  (void)device, (void)to, (void)from, (void)bytes;
  return kg_fail(error, KG_DEVICE_FAILED, "a recorder has no memory");
}

static kg_status synchronize(kg_device *device, kg_error *error) {
  (void)device, (void)error;
  return KG_OK;
}

/* ---- what is compiled is the request --------------------------------------------------------- */

static kg_status compile(kg_device *device, const kg_source *source, kg_blob *blob,
                         kg_error *error) {
  (void)device;
  Buf b = {0};
  buf_put(&b, source->entry, strlen(source->entry) + 1);
  buf_put(&b, source->file, strlen(source->file) + 1);
  for (const char *const *o = source->options; *o != NULL; o++) buf_printf(&b, "%s ", *o);
  buf_put(&b, "", 1);
  buf_put(&b, source->text, strlen(source->text) + 1);
  *blob = (kg_blob){malloc(b.len), b.len}; /* the caller frees it with free() */
  if (blob->bytes != NULL) memcpy(blob->bytes, b.s, b.len);
  buf_free(&b);
  return blob->bytes != NULL ? KG_OK : kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
}

static kg_status load(kg_device *device, const kg_blob *blob, const char *entry,
                      kg_function **function, kg_error *error) {
  (void)device, (void)entry;
  *function = malloc(sizeof **function + blob->size);
  if (*function == NULL) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
  (*function)->bytes = blob->size;
  memcpy((*function)->source, blob->bytes, blob->size);
  return KG_OK;
}

static void unload(kg_device *device, kg_function *function) {
  (void)device;
  free(function);
}

static kg_status launch(kg_device *device, kg_function *function, const kg_grid *grid,
                        const void *args, size_t bytes, kg_error *error) {
  Recorded *last = &((Recorder *)device->self)->last;
  if (bytes > sizeof last->args)
    return kg_fail(error, KG_DEVICE_FAILED, "%zu bytes of arguments", bytes);
  last->launches++;
  last->grid = *grid;
  last->bytes = (uint32_t)bytes;
  memcpy(last->args, args, bytes);
  last->source = function->source;
  last->source_bytes = function->bytes;
  return KG_OK;
}

/* ---- open, read, close ----------------------------------------------------------------------- */

static const kg_device_ops recorder_ops = {
    .open = device_opens,
    .close = device_closes,
    .alloc = memory_alloc,
    .free = memory_free,
    .upload = memory_copy,
    .download = memory_copy,
    .synchronize = synchronize,
    .compile = compile,
    .load = load,
    .unload = unload,
    .launch = launch,
};

kg_device *recorder_open(const char *backend, int wave, kg_error *error) {
  char name[64];
  Recorder *r = calloc(1, sizeof *r);
  if (r == NULL) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a recorder"), NULL;
  kg_device *device = NULL;
  r->ops = recorder_ops;
  r->ops.backend = backend;
  snprintf(name, sizeof name, "a %s device of %d lanes", backend, wave);
  if (kg_device_open_with(&r->ops, name, wave, "", &device, error) != KG_OK) {
    free(r);
    return NULL;
  }
  device->self = r;
  return device;
}

void recorder_close(kg_device *device) {
  if (device == NULL) return;
  Recorder *r = device->self;
  kg_device_close(device);
  free(r);
}

void recorder_clear(kg_device *device) {
  ((Recorder *)device->self)->last = (Recorded){.launches = 0};
}

const Recorded *recorder_last(const kg_device *device) {
  return &((const Recorder *)device->self)->last;
}

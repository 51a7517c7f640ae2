/* launch.c: the runtime and the generated kernels for a program in another language, which knows
** arguments by name.
**
** A launch takes host memory: inputs are copied to the device, outputs back.  Every failure is a
** sentence in `message`; the functions return whether they succeeded.  What is opened here is
** closed here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "kg.h"

typedef struct check_array {
  const char *name;
  void *data;
  int32_t dtype; /* kg_dtype */
  int32_t rank;
  int64_t shape[KG_MAX_RANK];
} check_array;

typedef struct check_value {
  const char *name;
  double value;
} check_value;

kg_device *check_open(const char *device, char *message, size_t size);
void check_close(kg_device *device);
const char *check_kernel_name(int number);
bool check_launch(kg_device *device, const char *kernel, const check_array *arrays, int array_count,
                  const check_value *values, int value_count, char *message, size_t size);

kg_device *check_open(const char *device, char *message, size_t size) {
  kg_device *opened = NULL;
  kg_error error = {KG_OK, ""};
  if (kg_device_open(device, &opened, &error) == KG_OK) return opened;
  snprintf(message, size, "%s", error.message);
  return NULL;
}

void check_close(kg_device *device) {
  if (device != NULL) kg_device_close(device);
}

/* NULL past the last one. */
const char *check_kernel_name(int number) {
  return kg_kernels[number] != NULL ? kg_kernels[number]->name : NULL;
}

static const check_value *value_of(const check_value *values, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(values[i].name, name) == 0) return &values[i];
  return NULL;
}

static size_t array_bytes(const check_array *a) {
  size_t bytes = kg_dtype_bytes((kg_dtype)a->dtype);
  for (int i = 0; i < a->rank; i++) bytes *= (size_t)a->shape[i];
  return bytes;
}

/* A launch under way: what must be freed. */
typedef struct launch {
  kg_device *device;
  const kg_kernel *kernel;
  kg_tensor tensors[KG_MAX_ARGS];
  const check_array *arrays[KG_MAX_ARGS];
  kg_scalar scalars[KG_MAX_SCALARS];
  int64_t consts[KG_MAX_CONSTS];
  char *message;
  size_t size;
} launch;

static bool fail(launch *l, const char *what, const char *name) {
  snprintf(l->message, l->size, "%s: %s%s%s", l->kernel->name, what, name[0] ? " " : "", name);
  return false;
}

/* Every name that was given is one of the kernel's; every scalar has a value, constants have
** defaults. */
static bool take_values(launch *l, const check_value *values, int count) {
  const kg_kernel *k = l->kernel;
  int used = 0;
  for (int i = 0; i < k->scalar_count; i++) {
    const check_value *v = value_of(values, count, k->scalars[i].name);
    if (v == NULL) return fail(l, "no value for scalar", k->scalars[i].name);
    if (k->scalars[i].dtype == KG_F32)
      l->scalars[i].f32 = (float)v->value;
    else if (k->scalars[i].dtype == KG_I32)
      l->scalars[i].i32 = (int32_t)v->value;
    else
      l->scalars[i].u32 = (uint32_t)v->value;
    used++;
  }
  for (int i = 0; i < k->const_count; i++) {
    const check_value *v = value_of(values, count, k->consts[i].name);
    l->consts[i] = v != NULL ? (int64_t)v->value : k->consts[i].values[0];
    used += v != NULL;
  }
  return used == count || fail(l, "was given a scalar or constant that it does not have", "");
}

/* The argument's memory on the device; an input's with its contents. */
static bool take_array(launch *l, int i, const check_array *arrays, int count) {
  const kg_arg *arg = &l->kernel->args[i];
  for (int j = 0; j < count && l->arrays[i] == NULL; j++)
    if (strcmp(arrays[j].name, arg->name) == 0) l->arrays[i] = &arrays[j];
  const check_array *a = l->arrays[i];
  if (a == NULL) return fail(l, "no array for", arg->name);
  void *data = NULL;
  const size_t bytes = array_bytes(a);
  if (kg_device_alloc(l->device, bytes > 0 ? bytes : 1, &data) != KG_OK)
    return fail(l, kg_device_message(l->device), "");
  l->tensors[i] = kg_tensor_of(l->device, data, (kg_dtype)a->dtype, a->rank, a->shape);
  return bytes == 0 || kg_device_upload(l->device, data, a->data, bytes) == KG_OK ||
         fail(l, kg_device_message(l->device), "");
}

static bool run(launch *l) {
  const kg_kernel *k = l->kernel;
  const kg_call call = {k, l->tensors, l->scalars, l->consts};
  if (kg_launch(l->device, &call) != KG_OK || kg_device_synchronize(l->device) != KG_OK)
    return fail(l, kg_device_message(l->device), "");
  for (int i = 0; i < k->arg_count; i++) {
    const size_t bytes = array_bytes(l->arrays[i]);
    if (!k->args[i].output || bytes == 0) continue;
    if (kg_device_download(l->device, l->arrays[i]->data, l->tensors[i].data, bytes) != KG_OK)
      return fail(l, kg_device_message(l->device), "");
  }
  return true;
}

/* An output's contents before the launch are uploaded too, so that a place nobody writes keeps what
** the caller put there. */
bool check_launch(kg_device *device, const char *kernel, const check_array *arrays, int array_count,
                  const check_value *values, int value_count, char *message, size_t size) {
  launch l = {.device = device, .message = message, .size = size};
  for (int i = 0; kg_kernels[i] != NULL; i++)
    if (strcmp(kg_kernels[i]->name, kernel) == 0) l.kernel = kg_kernels[i];
  if (l.kernel == NULL) {
    snprintf(message, size, "no kernel is named %s", kernel);
    return false;
  }
  bool ok = take_values(&l, values, value_count);
  if (ok && array_count != l.kernel->arg_count)
    ok = fail(&l, "was given too many arrays or too few", "");
  for (int i = 0; ok && i < l.kernel->arg_count; i++) ok = take_array(&l, i, arrays, array_count);
  if (ok) ok = run(&l);
  for (int i = 0; i < l.kernel->arg_count; i++)
    if (l.tensors[i].data != NULL) kg_device_free(device, l.tensors[i].data);
  return ok;
}

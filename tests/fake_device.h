/* fake_device.h: a device of plain C for the tests of the runtime, and a kernel for it.
**
** Its compiler reads the instance block of the text it is given and remembers what stands there:
** that is its code object. Its launch computes on the host what the kernel scale_rows says, with
** the dtypes that the code object remembers, as a GPU would.  So a code object of another
** instance gives wrong numbers here too, and nothing else does. */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache.h"
#include "device.h"

/* ---- the device ----------------------------------------------------------------------------- */

typedef struct Fake { /* kg_device.self */
  atomic_int compiles, loads, unloads, launches, synchronizes;
  atomic_int compile_fails, load_fails; /* so many more calls fail */
  int compile_milliseconds;
  kg_grid grid;               /* of the first launch */
  char text[4096], file[128]; /* of the first compilation */
} Fake;

typedef struct FakeCode {
  char entry[KG_NAME_BYTES];
  kg_dtype T, TW;
} FakeCode;

struct kg_function {
  FakeCode code;
};

static Fake *fake_of(const kg_device *device) { return device->self; }

static kg_status fake_open(kg_device *device, int index, const char *mode, kg_error *error) {
  if (strcmp(mode, "absent") == 0) return kg_fail(error, KG_NO_DEVICE, "there is no fake device");
  device->self = calloc(1, sizeof(Fake));
  if (!device->self) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
  snprintf(device->target, sizeof device->target, "fake_1");
  snprintf(device->compiler, sizeof device->compiler, "fakec 1.0 0123");
  device->wave = index;
  device->limits = (kg_limits){.threads = 1024, .shared_bytes = 65536, .groups = {1000, 100, 100}};
  return KG_OK;
}

static void fake_close(kg_device *device) { free(device->self); }

static kg_status fake_alloc(kg_device *device, size_t bytes, void **address, kg_error *error) {
  if (bytes > (size_t)1 << 30)
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for %zu bytes", device->name, bytes);
  *address = malloc(bytes);
  return *address ? KG_OK : kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
}

static void fake_free(kg_device *device, void *address) {
  (void)device;
  free(address);
}

static kg_status fake_copy(kg_device *device, void *to, const void *from, size_t bytes,
                           kg_error *error) {
  (void)device, (void)error;
  memcpy(to, from, bytes);
  return KG_OK;
}

static kg_status fake_synchronize(kg_device *device, kg_error *error) {
  (void)error;
  fake_of(device)->synchronizes++;
  return KG_OK;
}

static kg_dtype fake_defined(const char *text, const char *macro) {
  const char *const at = strstr(text, macro);
  for (int d = 0; at && d < KG_DTYPES; d++) {
    const char *const name = kg_dtype_name((kg_dtype)d);
    if (strncmp(at + strlen(macro), name, strlen(name)) == 0 &&
        at[strlen(macro) + strlen(name)] == '\n')
      return (kg_dtype)d;
  }
  return KG_DTYPES;
}

/* True for as many calls as the counter says. */
static bool fake_fails(atomic_int *counter) {
  int left = *counter;
  while (left > 0)
    if (atomic_compare_exchange_weak(counter, &left, left - 1)) return true;
  return false;
}

static kg_status fake_compile(kg_device *device, const kg_source *source, kg_blob *blob,
                              kg_error *error) {
  Fake *const fake = fake_of(device);
  if (fake->compiles++ == 0) { /* threads may compile at once, so only the first is kept */
    snprintf(fake->text, sizeof fake->text, "%s", source->text);
    snprintf(fake->file, sizeof fake->file, "%s", source->file);
  }
  if (fake->compile_milliseconds)
    nanosleep(&(struct timespec){.tv_nsec = fake->compile_milliseconds * 1000000L}, NULL);
  if (fake_fails(&fake->compile_fails))
    return kg_fail(error, KG_COMPILE_FAILED, "%s: scale_rows.kc:3:7: error: planted",
                   source->kernel);
  FakeCode *const code = calloc(1, sizeof *code);
  if (!code) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
  snprintf(code->entry, sizeof code->entry, "%s", source->entry);
  code->T = fake_defined(source->text, "#define KG_T_T ");
  code->TW = fake_defined(source->text, "#define KG_T_TW ");
  *blob = (kg_blob){code, sizeof *code};
  return KG_OK;
}

static kg_status fake_load(kg_device *device, const kg_blob *blob, const char *entry,
                           kg_function **function, kg_error *error) {
  fake_of(device)->loads++;
  if (fake_fails(&fake_of(device)->load_fails))
    return kg_fail(error, KG_DEVICE_FAILED, "%s: the image is invalid", entry);
  kg_function *const f = malloc(sizeof *f);
  if (!f) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory");
  memcpy(&f->code, blob->bytes, sizeof f->code);
  *function = f;
  return KG_OK;
}

static void fake_unload(kg_device *device, kg_function *function) {
  fake_of(device)->unloads++;
  free(function);
}

static double fake_read(const void *data, size_t i, kg_dtype dtype) {
  const char *const at = (const char *)data + i * kg_dtype_bytes(dtype);
  uint16_t half;
  float f;
  if (dtype == KG_F32) return memcpy(&f, at, 4), (double)f;
  memcpy(&half, at, 2);
  return dtype == KG_F16 ? kg_f64_from_f16(half) : kg_f64_from_bf16(half);
}

static void fake_write(void *data, size_t i, kg_dtype dtype, double x) {
  char *const at = (char *)data + i * kg_dtype_bytes(dtype);
  const float f = (float)x;
  const uint16_t half = dtype == KG_F16 ? kg_f16_from_f64(x) : kg_bf16_from_f64(x);
  if (dtype == KG_F32)
    memcpy(at, &f, 4);
  else
    memcpy(at, &half, 2);
}

/* The entry's parameters, as a C compiler lays them out. */
typedef struct FakeArgs {
  const void *x, *weight;
  void *y;
  float *sum;
  uint32_t rows, D;
  float scale;
  int32_t shift;
} FakeArgs;

static kg_status fake_launch(kg_device *device, kg_function *function, const kg_grid *grid,
                             const void *args, size_t bytes, kg_error *error) {
  if (fake_of(device)->launches++ == 0) fake_of(device)->grid = *grid;
  FakeArgs a;
  if (bytes != sizeof a) return kg_fail(error, KG_DEVICE_FAILED, "%zu bytes of arguments", bytes);
  memcpy(&a, args, sizeof a);
  const FakeCode *const code = &function->code;
  for (uint32_t row = 0; row < grid->groups[0]; row++) {
    double sum = 0;
    for (uint32_t i = 0; i < a.D; i++) {
      const size_t at = (size_t)row * a.D + i;
      const double y =
          fake_read(a.x, at, code->T) * fake_read(a.weight, i, code->TW) * (double)a.scale +
          a.shift;
      fake_write(a.y, at, code->T, y);
      sum += y;
    }
    a.sum[row] = (float)sum;
  }
  return KG_OK;
}

static const kg_device_ops fake_ops = {
    .backend = "hip",
    .open = fake_open,
    .close = fake_close,
    .alloc = fake_alloc,
    .free = fake_free,
    .upload = fake_copy,
    .download = fake_copy,
    .synchronize = fake_synchronize,
    .compile = fake_compile,
    .load = fake_load,
    .unload = fake_unload,
    .launch = fake_launch,
};

static kg_device *fake_device(int wave) {
  kg_device *device = NULL;
  kg_device_open_with(&fake_ops, wave == 32 ? "fake32" : "fake64", wave, "", &device, NULL);
  return device;
}

/* ---- the kernel: y = x * weight * scale + shift, sum of each row ---------------------------- */

#define STEPS(...)                                                                                 \
  (const kg_step[]) { __VA_ARGS__ }
#define EXPR(words, ...)                                                                           \
  {words, (int)(sizeof(STEPS(__VA_ARGS__)) / sizeof(kg_step)), STEPS(__VA_ARGS__)}
#define VAR(n) {KG_OP_VAR, n}
#define INT(n) {KG_OP_INT, n}
#define OP(name) {KG_OP_##name, 0}

enum { ROWS, D, LAYOUT, FLAG, THREADS, SCALE, SHIFT }; /* variables of the expressions */

static const kg_dtype floats[] = {KG_F32, KG_F16, KG_BF16};
static const kg_type_param scale_types[] = {{"T", 3, floats}, {"TW", 3, floats}};
static const kg_const_param scale_consts[] = {
    {"LAYOUT", false, true, 3, (const int64_t[]){0, 1, 7}},
    {"FLAG", true, true, 2, (const int64_t[]){0, 1}},
    {"THREADS", false, false, 1, (const int64_t[]){256}},
};
static const char *const scale_dims[] = {"rows", "D"};
static const kg_scalar_param scale_scalars[] = {{"scale", KG_F32}, {"shift", KG_I32}};
static const kg_arg scale_args[] = {
    {"x", false, 0, 0, 2, (const kg_expr[]){EXPR("rows", VAR(ROWS)), EXPR("D", VAR(D))}, 0},
    {"weight", false, 1, 0, 1, (const kg_expr[]){EXPR("D", VAR(D))}, 0},
    {"y", true, 0, 0, 2, (const kg_expr[]){EXPR("rows", VAR(ROWS)), EXPR("D", VAR(D))}, 0},
    {"sum", true, -1, KG_F32, 1,
     (const kg_expr[]){EXPR("min(rows, rows * 1)", VAR(ROWS), VAR(ROWS), INT(1), OP(MUL), OP(MIN))},
     0},
};
static const kg_expr scale_require[] = {EXPR("D >= 1", VAR(D), INT(1), OP(GE))};

static const kg_port scale_port = {
    .backend = "hip",
    .file = "hip/scale_rows.hip",
    .text = "the text\n",
    .options = (const char *const[]){"-O3", NULL},
    .waves = KG_WAVE32 | KG_WAVE64,
    .groups = {EXPR("rows", VAR(ROWS)), EXPR("1", INT(1)), EXPR("1", INT(1))},
    .threads = {EXPR("THREADS", VAR(THREADS)), EXPR("1", INT(1)), EXPR("1", INT(1))},
    .shared_bytes = 1024,
};

static const KernelPorts scale_ports = {
    .version = KG_TABLES_VERSION,
    .kernel = "scale_rows",
    .fallback = "multiply, then sum",
    .rocm = &scale_port,
    .why = {.cuda = "the graph is as fast"},
};

#define SCALE_KERNEL(ports_)                                                                       \
  {.version = KG_TABLES_VERSION,                                                                   \
   .name = "scale_rows",                                                                           \
   .summary = "Scales rows.",                                                                      \
   .type_count = 2,                                                                                \
   .types = scale_types,                                                                           \
   .const_count = 3,                                                                               \
   .consts = scale_consts,                                                                         \
   .dim_count = 2,                                                                                 \
   .dims = scale_dims,                                                                             \
   .scalar_count = 2,                                                                              \
   .scalars = scale_scalars,                                                                       \
   .arg_count = 4,                                                                                 \
   .args = scale_args,                                                                             \
   .require_count = 1,                                                                             \
   .require = scale_require,                                                                       \
   .ports = ports_}

static const kg_kernel scale_kernel = SCALE_KERNEL(&scale_ports);

/* ---- a call of it, right until a test changes something ------------------------------------- */

typedef struct Scale {
  kg_device *device;
  char x[1024], weight[256], y[1024];
  float sum[64];
  kg_tensor tensors[4]; /* x, weight, y, sum */
  kg_scalar scalars[2];
  int64_t consts[3];
  kg_call call;
  int64_t rows, columns;
} Scale;

static void scale_set_up(Scale *s, kg_device *device, kg_dtype T, kg_dtype TW) {
  memset(s, 0, sizeof *s);
  s->device = device;
  s->rows = 3;
  s->columns = 8;
  for (size_t i = 0; i < 24; i++) fake_write(s->x, i, T, (double)i / 4 - 2);
  for (size_t i = 0; i < 8; i++) fake_write(s->weight, i, TW, i % 2 ? 0.5 : 3);
  s->tensors[0] = kg_tensor_of(device, s->x, T, 2, (const int64_t[]){3, 8});
  s->tensors[1] = kg_tensor_of(device, s->weight, TW, 1, (const int64_t[]){8});
  s->tensors[2] = kg_tensor_of(device, s->y, T, 2, (const int64_t[]){3, 8});
  s->tensors[3] = kg_tensor_of(device, s->sum, KG_F32, 1, (const int64_t[]){3});
  s->scalars[0].f32 = 2;
  s->scalars[1].i32 = -1;
  s->consts[2] = 12345; /* fixed: must be ignored */
  s->call = (kg_call){&scale_kernel, s->tensors, s->scalars, s->consts};
}

/* Every y and sum is right; the values above are exact in all three dtypes. */
static bool scale_is_right(const Scale *s) {
  for (size_t row = 0; row < 3; row++) {
    double sum = 0;
    for (size_t i = 0; i < 8; i++) {
      const double y = ((double)(row * 8 + i) / 4 - 2) * (i % 2 ? 0.5 : 3) * 2 - 1;
      if (fake_read(s->y, row * 8 + i, s->tensors[2].dtype) != y) return false;
      sum += y;
    }
    if ((double)s->sum[row] != sum) return false;
  }
  return true;
}

#endif

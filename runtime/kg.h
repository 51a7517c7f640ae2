/* kg.h: choose, load and launch the kernels that kgen generated.
**
** A program includes generated/kernels.h, links generated/kernels.c and the texts that `kgen --embed`
** writes with this library, opens a device and calls `<kernel>_launch`.  Every call that can fail returns a
** kg_status; the sentence that goes with the last failure of the calling thread on a device is
** kg_device_message(device).  There is no global state; a device may be shared by threads.  Nothing
** here aborts.
**
** Units: sizes in bytes where the name says bytes, else in elements; times in seconds; shapes are
** outermost first. */
#ifndef KG_H
#define KG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KG_MAX_RANK 8
#define KG_MAX_TYPES 8
#define KG_MAX_CONSTS 16
#define KG_MAX_DIMS 16
#define KG_MAX_ARGS 31
#define KG_MAX_SCALARS 16
#define KG_NAME_BYTES 512 /* an instance's name with its NUL */

/* ---- status ---------------------------------------------------------------------------------- */

typedef enum kg_status {
  KG_OK = 0,
  KG_BAD_ARGUMENT, /* a null pointer, an unknown name */
  KG_BAD_DTYPE,    /* a tensor's dtype is not one the kernel is made for, or two differ */
  KG_BAD_RANK,
  KG_BAD_SHAPE, /* a shape equation of the specification does not hold */
  KG_NOT_CONTIGUOUS,
  KG_ALIASED,      /* an output overlaps another argument */
  KG_BAD_CONSTANT, /* an instance constant with a value the specification does not list */
  KG_REQUIRE_FAILED,
  KG_TOO_LARGE, /* a dimension, a size or the launch grid passes what the kernel or the backend can
                   address */
  KG_NO_PORT,   /* the slot is empty; the message carries the reason and the fallback */
  KG_BAD_WIDTH, /* the port is not for this device's wavefront width */
  KG_LIMIT,     /* threads or shared memory over the device's limit */
  KG_WRONG_DEVICE, /* a tensor lives on another device */
  KG_BAD_TARGET,   /* the compiler does not know the architecture */
  KG_NO_COMPILER,  /* the run-time compiler could not be found or loaded */
  KG_COMPILE_FAILED,
  KG_NO_DEVICE,
  KG_DEVICE_FAILED, /* the driver reported an error */
  KG_OUT_OF_MEMORY,
  KG_BAD_VERSION, /* the kernel's tables were written by another kgen than this library's */
  KG_STATUSES
} kg_status;

/* The status in words ("bad dtype"), for logs; never NULL. */
const char *kg_status_name(kg_status status);

/* A failure with its sentence, where there is no device to keep it on.  message is always
** NUL-terminated. */
typedef struct kg_error {
  kg_status status;
  char message[2048];
} kg_error;

#if defined(__GNUC__)
#define KG_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define KG_PRINTF(at, first)
#endif

/* Sets *error (may be NULL) and returns status: for a kernel's host companion, too. */
kg_status kg_fail(kg_error *error, kg_status status, const char *format, ...) KG_PRINTF(3, 4);

/* ---- dtypes, tensors ------------------------------------------------------------------------- */

/* KG_F32, KG_F16, KG_BF16, KG_I8 ...: the rows of model/dtype.def. */
typedef enum kg_dtype {
#define KG_DTYPE(id, name, mlx, bytes, kind, exponent, fraction, bias, special, c) KG_##id,
#include "model/dtype.def"
#undef KG_DTYPE
  KG_DTYPES
} kg_dtype;

typedef enum kg_kind { KG_KIND_FLOAT, KG_KIND_SIGNED, KG_KIND_UNSIGNED } kg_kind;
typedef enum kg_special { KG_SPECIAL_NONE, KG_SPECIAL_IEEE, KG_SPECIAL_ONE_NAN } kg_special;

/* A row; dtype.def says what each field means. */
typedef struct kg_dtype_facts {
  const char *name, *mlx_name, *id; /* "bf16", "bfloat16", "BF16" */
  size_t bytes;
  kg_kind kind;
  int exponent, fraction, bias; /* of a float */
  kg_special special;
  const char *c_type; /* of a scalar; NULL: no scalar may be of it */
} kg_dtype_facts;

const kg_dtype_facts *kg_dtype_info(kg_dtype dtype); /* NULL for a value that is no dtype */
kg_dtype kg_dtype_find(const char *name);            /* by either name; KG_DTYPES: there is none */
size_t kg_dtype_bytes(kg_dtype dtype);               /* 0 for a value that is no dtype */
const char *kg_dtype_name(kg_dtype dtype);           /* kgen's spelling: "bf16" */
/* As MLX's Python has it: "bfloat16" (mx.bfloat16); instance names are made of these.  In the texts
** and names that MLX makes itself it is "bfloat16_t". */
const char *kg_dtype_mlx_name(kg_dtype dtype);

/* The bits of a float dtype's nearest value to x, ties to even; NaN stays NaN.  And back, exactly.
** 0 for a dtype that is no float. */
uint64_t kg_float_from_f64(kg_dtype dtype, double x);
double kg_f64_from_float(kg_dtype dtype, uint64_t bits);

uint16_t kg_f16_from_f64(double x);
uint16_t kg_bf16_from_f64(double x);
double kg_f64_from_f16(uint16_t bits);
double kg_f64_from_bf16(uint16_t bits);

typedef struct kg_device kg_device;

/* A tensor is a view; it owns nothing.  strides are in elements; kernels take row-contiguous
** tensors only, and a launcher refuses others.  data is an address on the tensor's device (host
** memory for the SIMT devices). */
typedef struct kg_tensor {
  void *data;
  kg_dtype dtype;
  int rank;
  int64_t shape[KG_MAX_RANK];
  int64_t strides[KG_MAX_RANK];
  const kg_device *device; /* NULL: not checked */
} kg_tensor;

/* A row-contiguous view of rank dimensions over data. */
kg_tensor kg_tensor_of(const kg_device *device, void *data, kg_dtype dtype, int rank,
                       const int64_t *shape);

/* ---- what the generator writes: kernels and their ports -------------------------------------- */

/* Tables carry the version of the kgen that wrote them, and every call that is given tables
** compares it.  The count in front goes up with each change of what the structs below mean. */
enum {
  KG_TABLES_VERSION = (1 << 16) + (KG_DTYPES << 8)
#define KG_OPERATOR(...) +1
#include "model/op.def"
#undef KG_OPERATOR
};

/* Expressions over dims, constants and integer scalars: postfix, evaluated in checked 64-bit
** arithmetic; comparisons give 0 or 1, division rounds down, `when` evaluates all its operands.
** KG_OP_INT has its value, KG_OP_VAR a variable's number, which counts dims first, then constants,
** then scalars (as in kg_kernel).  The rest are the rows of model/op.def. */
typedef enum kg_op {
#define KG_OPERATOR(id, takes, kind, form, strength, text, said, word) KG_OP_##id,
#include "model/op.def"
#undef KG_OPERATOR
  KG_OPS
} kg_op;

typedef struct kg_step {
  uint8_t op;
  int64_t value;
} kg_step;

typedef struct kg_expr {
  const char *text; /* as the specification's reader knows it: "ceil_div(n, 256)" */
  int count;        /* steps */
  const kg_step *steps;
} kg_expr;

typedef struct kg_type_param {
  const char *name;
  int count;
  const kg_dtype *dtypes; /* in the specification's order */
} kg_type_param;

typedef struct kg_const_param {
  const char *name;
  bool is_bool;
  bool in_key; /* an instance chooses it, and its name carries it; else it is fixed (one value) */
  int count;   /* of values */
  const int64_t *values; /* the allowed ones, the first is the default */
} kg_const_param;

typedef struct kg_scalar_param {
  const char *name;
  kg_dtype dtype; /* f32, i32 or u32 */
} kg_scalar_param;

typedef struct kg_arg {
  const char *name;
  bool output;
  int type; /* index into kg_kernel.types, or -1: dtype says */
  kg_dtype dtype;
  int rank;
  const kg_expr *shape; /* rank of them */
  uint32_t align;       /* its memory begins at a multiple of so many bytes; 0: of an element's */
} kg_arg;

typedef struct kg_port {
  const char *backend; /* "metal", "cuda", "hip" */
  const char *file;    /* where the text is committed: "hip/fused_xielu.hip" under generated/ */
  const char *text;
  /* for the run-time compiler, NULL-terminated; the target is added by the device */
  const char *const *options;
  unsigned waves;        /* the widths that the body is right for: KG_WAVE32 | KG_WAVE64 */
  kg_expr groups[3];     /* of threads */
  kg_expr threads[3];    /* in a group; constants only */
  uint32_t shared_bytes; /* the most that any instance takes */
  bool native;           /* somebody else's text, with a frame of kgen's around it */
} kg_port;

#define KG_WAVE32 1u
#define KG_WAVE64 2u

/* A port on a backend that has no named slot. */
typedef struct kg_other_port {
  const char *backend;
  const kg_port *port;
  const char *why;
} kg_other_port;

typedef struct KernelPorts {
  uint32_t version; /* KG_TABLES_VERSION */
  const char *kernel;
  const char *fallback;               /* what a refused caller should do */
  const kg_port *metal, *cuda, *rocm; /* NULL: an empty slot, a normal state */
  struct {
    const char *metal, *cuda, *rocm;
  } why;                       /* the reason of each empty slot */
  const kg_other_port *others; /* ends with a NULL backend; NULL: none */
} KernelPorts;

/* What a kernel is.  (A macro, since kgen's own Kernel begins with these members.) */
#define KG_KERNEL_MEMBERS                                                                          \
  uint32_t version; /* KG_TABLES_VERSION */                                                        \
  const char *name, *summary;                                                                      \
  int type_count;                                                                                  \
  const kg_type_param *types; /* key order */                                                      \
  int const_count;                                                                                 \
  const kg_const_param *consts; /* key order, then the fixed ones */                               \
  int dim_count;                                                                                   \
  const char *const *dims;                                                                         \
  int scalar_count;                                                                                \
  const kg_scalar_param *scalars;                                                                  \
  int arg_count;                                                                                   \
  const kg_arg *args; /* inputs, then outputs */                                                   \
  int require_count;                                                                               \
  const kg_expr *require;

typedef struct kg_kernel {
  KG_KERNEL_MEMBERS
  const KernelPorts *ports;
} kg_kernel;

/* ---- ports ----------------------------------------------------------------------------------- */

/* The port of this kernel that this device may run.  KG_BAD_VERSION, KG_NO_PORT, KG_BAD_WIDTH;
** *port is NULL then, and *error (may be NULL) says which kernel, which backend, why, and the
** fallback.  Never compiles anything. */
kg_status kg_select_port(const KernelPorts *ports, const kg_device *device, const kg_port **port,
                         kg_error *error);

/* The same question through the same function. */
bool kg_has_port(const KernelPorts *ports, const kg_device *device);

/* ---- devices --------------------------------------------------------------------------------- */

/* name: "hip", "cuda" (with ":N" for device N), "simt32", "simt64", or "best": the first AMD, then
** NVIDIA GPU, else simt32. "simt32/cuda" and "simt32/metal" run another backend's text on the CPU;
** "simt32+check", "simt32/cuda+check" and so on watch each access to memory (simt_check.h).  The
** caller closes it. KG_BAD_ARGUMENT (unknown name), KG_NO_DEVICE, KG_NO_COMPILER. */
kg_status kg_device_open(const char *name, kg_device **device, kg_error *error);
void kg_device_close(kg_device *device);

/* As opened, with what it is: "simt64 (CPU, HIP text)". */
const char *kg_device_name(const kg_device *device);
const char *kg_device_backend(const kg_device *device); /* whose texts it runs: "hip" */
const char *kg_device_target(const kg_device *device);  /* exact: "gfx90a:sramecc+:xnack-" */
int kg_device_wave(const kg_device *device);            /* lanes; 0: the query failed */
/* this thread's last failure there; "" if none */
const char *kg_device_message(const kg_device *device);

/* Memory on the device; contents are undefined.  KG_OUT_OF_MEMORY, KG_DEVICE_FAILED. */
kg_status kg_device_alloc(kg_device *device, size_t bytes, void **address);
void kg_device_free(kg_device *device, void *address);
kg_status kg_device_upload(kg_device *device, void *to, const void *from_host, size_t bytes);
kg_status kg_device_download(kg_device *device, void *to_host, const void *from, size_t bytes);
kg_status kg_device_synchronize(kg_device *device);

/* ---- instances and launches ------------------------------------------------------------------ */

/* One choice of dtypes, constants and width. */
typedef struct kg_instance {
  const kg_kernel *kernel;
  kg_dtype types[KG_MAX_TYPES];
  int64_t consts[KG_MAX_CONSTS]; /* all of kg_kernel.consts, the fixed ones too */
  int wave;
} kg_instance;

/* `custom_kernel_<kernel>` and, in key order, `_` + each dtype (kg_dtype_mlx_name) and each constant
** in the key (decimal; booleans t or f).  KG_TOO_LARGE when it does not fit. */
kg_status kg_instance_name(const kg_instance *instance, char name[KG_NAME_BYTES], kg_error *error);

/* The full text that is compiled: the instance block, then the port's text.  The caller frees
** *text.  KG_OUT_OF_MEMORY. */
kg_status kg_instance_text(const kg_instance *instance, const kg_port *port, char **text,
                           size_t *bytes, kg_error *error);

typedef union kg_scalar {
  float f32;
  int32_t i32;
  uint32_t u32;
} kg_scalar;

typedef struct kg_call {
  const kg_kernel *kernel;
  const kg_tensor *tensors; /* kernel->arg_count of them, inputs then outputs */
  const kg_scalar *scalars; /* kernel->scalar_count */
  /* kernel->const_count; fixed ones are ignored.  NULL: the default of each */
  const int64_t *consts;
} kg_call;

/* Checks the call against the specification, chooses the port, compiles it or takes it from the
** device's cache, and launches.  Asynchronous where the device is.  A call with no elements is a
** no-op that succeeds.  Any status can come back; the message says what to do. */
kg_status kg_launch(kg_device *device, const kg_call *call);

/* As kg_launch, but only as far as the compiled object: warms the cache. */
kg_status kg_prepare(kg_device *device, const kg_instance *instance);

typedef struct kg_cache_stats {
  uint64_t hits, misses, entries, bytes;
} kg_cache_stats;
kg_cache_stats kg_device_cache_stats(const kg_device *device);

#ifdef __cplusplus
}
#endif

#endif

/* demo.c: what `ninja demo` runs: a client of the generated kernels, as any program that links them
** is one.
**
** Launches fused_add_rms_norm at Llama-3.1-8B's shape and draws one token by gumbel_max_sample, on
** an AMD GPU where there is one, else on the CPU at both wavefront widths; compares with the
** double-precision references of the kernels; and shows what the caller of a port that does not
** exist reads.  Exit status 1 when a number is wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/gumbel_max_sample/host.h"
#include "kernels.h"
#include "reference.h"

/* templates/kernels/X/X.ref.c, built with its `reference` named X_reference. */
void fused_add_rms_norm_reference(ref_call *c);
void gumbel_max_sample_reference(ref_call *c);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *zeros(size_t count, size_t bytes) {
  void *p = calloc(count, bytes);
  if (!p) {
    fputs("demo: out of memory\n", stderr);
    exit(1);
  }
  return p;
}

/* Data that looks like activations: sums of four uniforms, from a small generator with a fixed
** seed. */
static double noise(uint32_t *state) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    *state = *state * 1664525u + 1013904223u;
    sum += (double)(*state >> 8) * 0x1p-24 - 0.5;
  }
  return sum * 1.7320508; /* variance 1 */
}

/* ---- tensors: host memory, a copy on the device, and the reference's view of the same ------- */

typedef struct Tensor {
  kg_tensor device;
  ref_tensor host;
  void *bytes;
  size_t size;
} Tensor;

static bool failed(kg_device *device, const char *what, kg_status s) {
  if (s == KG_OK) return false;
  printf("  %s: %s\n  %s\n", what, kg_status_name(s), kg_device_message(device));
  return true;
}

static kg_status tensor_make(kg_device *device, Tensor *t, const char *name, kg_dtype dtype,
                             int rank, const int64_t *shape) {
  *t = (Tensor){.host = {.name = name, .dtype = (ref_dtype)dtype, .rank = rank, .count = 1}};
  for (int i = 0; i < rank; i++) {
    t->host.shape[i] = shape[i];
    t->host.count *= shape[i];
  }
  t->size = (size_t)t->host.count * kg_dtype_bytes(dtype);
  t->bytes = zeros(t->size, 1);
  if (dtype == KG_U32)
    t->host.whole = zeros((size_t)t->host.count, sizeof(int64_t));
  else
    t->host.real = zeros((size_t)t->host.count, sizeof(double));
  void *data = NULL;
  const kg_status s = kg_device_alloc(device, t->size, &data);
  t->device = kg_tensor_of(device, data, dtype, rank, shape);
  return s;
}

static void tensor_free(kg_device *device, Tensor *t) {
  if (t->device.data) kg_device_free(device, t->device.data);
  free(t->bytes);
  free(t->host.real);
  free(t->host.whole);
}

static double element(const Tensor *t, int64_t i) {
  switch (t->device.dtype) {
  case KG_BF16: return kg_f64_from_bf16(((const uint16_t *)t->bytes)[i]);
  case KG_F32: return (double)((const float *)t->bytes)[i];
  default: return (double)((const uint32_t *)t->bytes)[i];
  }
}

/* Rounds the host's values to the dtype, as the reference is to read them, and uploads. */
static kg_status tensor_upload(kg_device *device, Tensor *t) {
  for (int64_t i = 0; i < t->host.count; i++) {
    if (t->device.dtype == KG_BF16)
      ((uint16_t *)t->bytes)[i] = kg_bf16_from_f64(t->host.real[i]);
    else if (t->device.dtype == KG_F32)
      ((float *)t->bytes)[i] = (float)t->host.real[i];
    else
      ((uint32_t *)t->bytes)[i] = (uint32_t)t->host.whole[i];
    if (t->host.real) t->host.real[i] = element(t, i);
  }
  return kg_device_upload(device, t->device.data, t->bytes, t->size);
}

/* Downloads, and gives rms(got - want) / rms(want); infinite when a NaN is involved. */
static kg_status tensor_error(kg_device *device, Tensor *t, double *rms) {
  const kg_status s = kg_device_download(device, t->bytes, t->device.data, t->size);
  double error = 0, scale = 0;
  for (int64_t i = 0; i < t->host.count; i++) {
    const double d = element(t, i) - t->host.real[i];
    error += d * d;
    scale += t->host.real[i] * t->host.real[i];
  }
  *rms = isnan(error) ? INFINITY : error > 0 ? sqrt(error / scale) : 0;
  return s;
}

static bool row(const char *device, const char *what, double error, double tolerance, double ms) {
  const bool right = error <= tolerance;
  char limit[16] = "exact";
  if (tolerance > 0) snprintf(limit, sizeof limit, "%.1e", tolerance);
  printf("  %-24s %-30s %9.2e %9s %10.3f ms%s\n", device, what, error, limit, ms,
         right ? "" : "  WRONG");
  return right;
}

/* ---- fused_add_rms_norm, as a decode step of Llama-3.1-8B with eight rows ------------------- */

enum { ROWS = 8, D = 4096, LAUNCHES = 5 };
enum { X, RESIDUAL, WEIGHT, NORMED, NEW_RESIDUAL, NORM_TENSORS };

static kg_status norm_launch(kg_device *device, Tensor *t, double *ms) {
  kg_status s = KG_OK;
  *ms = INFINITY;
  for (int i = 0; i < LAUNCHES && s == KG_OK; i++) { /* the first one compiles */
    const double start = now();
    s = fused_add_rms_norm_launch(device, &t[X].device, &t[RESIDUAL].device, &t[WEIGHT].device,
                                  1e-5f, 0.0f, &t[NORMED].device, &t[NEW_RESIDUAL].device);
    if (s == KG_OK) s = kg_device_synchronize(device);
    *ms = fmin(*ms, 1e3 * (now() - start));
  }
  return s;
}

static void norm_reference(const Tensor *t) {
  ref_tensor tensors[NORM_TENSORS];
  for (int i = 0; i < NORM_TENSORS; i++) tensors[i] = t[i].host;
  ref_value values[] = {
      {"rows", ROWS, ROWS}, {"D", D, D}, {"eps", 0, (double)1e-5f}, {"weight_bias", 0, 0}};
  ref_call call = {"fused_add_rms_norm", NORM_TENSORS, tensors, sizeof values / sizeof values[0],
                   values};
  fused_add_rms_norm_reference(&call);
}

static bool norm_on(kg_device *device) {
  static const char *const names[NORM_TENSORS] = {"x", "residual", "weight", "normed",
                                                  "new_residual"};
  const int64_t matrix[] = {ROWS, D}, vector[] = {D};
  const double tolerance = 1.6e-2; /* the specification's, for bf16 */
  Tensor t[NORM_TENSORS] = {0};
  uint32_t state = 1;
  kg_status s = KG_OK;
  for (int i = 0; i < NORM_TENSORS && s == KG_OK; i++)
    s = tensor_make(device, &t[i], names[i], KG_BF16, i == WEIGHT ? 1 : 2,
                    i == WEIGHT ? vector : matrix);
  for (int i = 0; i < NORMED && s == KG_OK; i++) {
    for (int64_t e = 0; e < t[i].host.count; e++) t[i].host.real[e] = noise(&state);
    s = tensor_upload(device, &t[i]);
  }
  double ms = 0, normed = 0, residual = 0;
  if (s == KG_OK) s = norm_launch(device, t, &ms);
  if (s == KG_OK) norm_reference(t);
  if (s == KG_OK) s = tensor_error(device, &t[NORMED], &normed);
  if (s == KG_OK) s = tensor_error(device, &t[NEW_RESIDUAL], &residual);
  bool right = !failed(device, "fused_add_rms_norm", s);
  if (right) {
    right = row(kg_device_name(device), "fused_add_rms_norm normed", normed, tolerance, ms);
    right = row(kg_device_name(device), "  new_residual", residual, 0, ms) && right;
  }
  for (int i = 0; i < NORM_TENSORS; i++) tensor_free(device, &t[i]);
  return right;
}

/* ---- gumbel_max_sample, one draw from Llama-3.1's vocabulary -------------------------------- */

enum { BATCH = 1, VOCABULARY = 128256 };
enum { LOGITS, RNG_KEY, VALS, IDXS, DRAW_TENSORS };

static kg_status draw_launch(kg_device *device, Tensor *t, double *ms) {
  kg_status s = KG_OK;
  *ms = INFINITY;
  for (int i = 0; i < LAUNCHES && s == KG_OK; i++) {
    const double start = now();
    s = gumbel_max_sample_launch(device, &t[LOGITS].device, &t[RNG_KEY].device, 0.8f,
                                 &t[VALS].device, &t[IDXS].device);
    if (s == KG_OK) s = kg_device_synchronize(device);
    *ms = fmin(*ms, 1e3 * (now() - start));
  }
  if (s == KG_OK) s = kg_device_download(device, t[VALS].bytes, t[VALS].device.data, t[VALS].size);
  if (s == KG_OK) s = kg_device_download(device, t[IDXS].bytes, t[IDXS].device.data, t[IDXS].size);
  return s;
}

/* The token that the doubles draw, and its candidate's value. */
static uint32_t draw_reference(const Tensor *t, int64_t splits, double *value) {
  ref_tensor tensors[DRAW_TENSORS];
  for (int i = 0; i < DRAW_TENSORS; i++) tensors[i] = t[i].host;
  ref_value values[] = {{"B", BATCH, BATCH},
                        {"V", VOCABULARY, VOCABULARY},
                        {"S", splits, (double)splits},
                        {"THREADS", 256, 256},
                        {"temp", 0, (double)0.8f}};
  ref_call call = {"gumbel_max_sample", DRAW_TENSORS, tensors, sizeof values / sizeof values[0],
                   values};
  gumbel_max_sample_reference(&call);
  int64_t best = 0;
  for (int64_t s = 1; s < splits; s++)
    if (tensors[VALS].real[s] > tensors[VALS].real[best]) best = s;
  *value = tensors[VALS].real[best];
  return (uint32_t)tensors[IDXS].whole[best];
}

static bool draw_on(kg_device *device) {
  const int64_t splits = kg_gumbel_splits(VOCABULARY, BATCH);
  const int64_t logits[] = {BATCH, VOCABULARY}, key[] = {2}, partial[] = {BATCH, splits};
  Tensor t[DRAW_TENSORS] = {0};
  uint32_t state = 2;
  kg_status s = tensor_make(device, &t[LOGITS], "logits", KG_BF16, 2, logits);
  if (s == KG_OK) s = tensor_make(device, &t[RNG_KEY], "rng_key", KG_U32, 1, key);
  if (s == KG_OK) s = tensor_make(device, &t[VALS], "vals", KG_F32, 2, partial);
  if (s == KG_OK) s = tensor_make(device, &t[IDXS], "idxs", KG_U32, 2, partial);
  if (s == KG_OK) {
    for (int64_t i = 0; i < VOCABULARY; i++) t[LOGITS].host.real[i] = 3 * noise(&state);
    t[RNG_KEY].host.whole[0] = 0x243f6a88;
    t[RNG_KEY].host.whole[1] = 0x85a308d3;
    s = tensor_upload(device, &t[LOGITS]);
  }
  if (s == KG_OK) s = tensor_upload(device, &t[RNG_KEY]);
  double ms = 0, wanted = 0;
  if (s == KG_OK) s = draw_launch(device, t, &ms);
  bool right = !failed(device, "gumbel_max_sample", s);
  kg_error error = {0};
  uint32_t token = 0;
  if (right && kg_gumbel_pick(t[VALS].bytes, t[IDXS].bytes, BATCH, (size_t)splits, &token,
                              &error) != KG_OK) {
    printf("  kg_gumbel_pick: %s\n", error.message);
    right = false;
  }
  if (right) {
    const uint32_t expected = draw_reference(t, splits, &wanted);
    double got = -INFINITY;
    for (int64_t i = 0; i < splits; i++) got = fmax(got, element(&t[VALS], i));
    char what[64];
    snprintf(what, sizeof what, "gumbel_max_sample token %u", (unsigned)token);
    right = row(kg_device_name(device), what, fabs(got - wanted) / fabs(wanted), 1e-6, ms) &&
            token == expected;
    if (token != expected) printf("  WRONG: the reference draws token %u\n", (unsigned)expected);
  }
  for (int i = 0; i < DRAW_TENSORS; i++) tensor_free(device, &t[i]);
  return right;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static const char *slot(const kg_port *port) { return port ? port->file : "absent"; }

static void show_generated(void) {
  size_t bytes = 0;
  int texts = 0;
  for (int i = 0; i < kg_kernel_count; i++) {
    const KernelPorts *p = kg_kernels[i]->ports;
    const kg_port *ports[] = {p->metal, p->cuda, p->rocm};
    for (int n = 0; n < 3; n++) {
      texts += ports[n] != NULL;
      bytes += ports[n] ? strlen(ports[n]->text) : 0;
    }
  }
  printf("generated/ holds %d device texts (%zu KiB) of %d kernels, and kernels.h, kernels.c, "
         "kernels.json, PORTS.md:\n",
         texts, bytes / 1024, kg_kernel_count);
  for (int i = 0; i < kg_kernel_count; i++) {
    const KernelPorts *p = kg_kernels[i]->ports;
    printf("  %-22s %-34s %-30s %s\n", p->kernel, slot(p->metal), slot(p->cuda), slot(p->rocm));
  }
}

static bool run_on(const char *name) {
  kg_device *device = NULL;
  kg_error error = {0};
  if (kg_device_open(name, &device, &error) != KG_OK) {
    printf("  %s: %s\n", name, error.message);
    return false;
  }
  bool right = norm_on(device);
  right = draw_on(device) && right;
  kg_device_close(device);
  return right;
}

/* Every slot of the library is filled, so one is emptied here; the device that runs CUDA texts on
** the CPU is refused like a GPU would be. */
static bool show_refusal(void) {
  kg_device *device = NULL;
  kg_error error = {0};
  if (kg_device_open("simt32/cuda", &device, &error) != KG_OK) {
    printf("  simt32/cuda: %s\n", error.message);
    return false;
  }
  KernelPorts ports = fused_xielu_ports;
  ports.cuda = NULL;
  ports.why.cuda = "nobody has asked for it yet";
  const kg_port *port = NULL;
  const bool available = kg_has_port(&ports, device);
  const kg_status s = kg_select_port(&ports, device, &port, &error);
  printf("  kg_has_port                       %s\n", available ? "true" : "false");
  printf("  kg_select_port                    %s\n", kg_status_name(s));
  printf("  %s\n", error.message);
  kg_device_close(device);
  return s == KG_NO_PORT && !available && !port;
}

int main(void) {
  show_generated();
  kg_device *gpu = NULL;
  kg_error error = {0};
  const bool amd = kg_device_open("hip", &gpu, &error) == KG_OK;
  if (amd) kg_device_close(gpu);
  printf("\nkernels against their references in double precision%s%s:\n",
         amd ? "" : "; no AMD GPU here, so on the CPU", amd ? "" : " at both widths");
  printf("  %-24s %-30s %9s %9s %13s\n", "device", "output", "error", "tolerance", "time");
  bool right = true;
  if (amd) {
    right = run_on("hip");
  } else {
    right = run_on("simt32");
    right = run_on("simt64") && right;
  }
  printf("\nwhat the caller of a port that does not exist reads:\n");
  right = show_refusal() && right;
  printf("\n%s\n", right ? "demo: all right" : "demo: something is WRONG");
  return right ? 0 : 1;
}

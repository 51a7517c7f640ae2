/* test_norm_bits.c: the norms with bits = "mlx" put bit for bit to MLX's own norms written out here,
** thread by thread: who owns which elements, in what order they are added up, and where a result is
** rounded.  The functions that a GPU has for itself are the SIMT device's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>

#include "kernel_fixture.h"

enum { LONGEST = 9001, LANES = 32, THREADS_MOST = 1024 };

typedef struct Row {
  kg_dtype T;
  int D;
  float sum[LONGEST], gain[LONGEST], shift[LONGEST]; /* values of T */
} Row;

/* How a backend parts a row: `block` threads own runs of `run` elements. */
typedef struct Parting {
  int block, run;
  bool rocm;
} Parting;

static float stored(kg_dtype T, double x) {
  return (float)element_real(T, element_bits_of_real(T, x));
}

/* ---- MLX's norms ----------------------------------------------------------------------------- */

static Parting rms_parting(const Row *r, bool rocm) {
  const int run = r->T == KG_F32 ? 4 : 8, runs = (r->D + run - 1) / run;
  if (rocm) return (Parting){256, 4, true};
  if (r->D <= run * 64) return (Parting){64, run, false};
  if (r->D > run * 128 * 8) return (Parting){1024, run, false};
  if (runs % 128 != 0 && runs % 64 == 0 && runs / 64 <= 8) return (Parting){64, run, false};
  return (Parting){128, run, false};
}

static Parting layer_parting(const Row *r, bool rocm) {
  const int run = r->T == KG_F32 ? 4 : 8;
  Parting p = {32, run, false};
  if (rocm) return (Parting){256, 4, true};
  while (p.block < 1024 && p.block < (r->D + run - 1) / run) p.block *= 2;
  return p;
}

/* What the first lane has after its warp's butterfly. */
static float folded(const float *lanes) {
  float x[LANES];
  memcpy(x, lanes, sizeof x);
  for (int apart = LANES / 2; apart > 0; apart /= 2)
    for (int i = 0; i < apart; i++) x[i] += x[i + apart];
  return x[0];
}

/* Of the elements less the mean: their sum, or that of their squares. */
static float total(const Row *r, const Parting *p, bool squares, float mean) {
  static float own[THREADS_MOST];
  float teams[LANES] = {0};
  for (int t = 0; t < p->block; t++) {
    own[t] = 0;
    for (int at = t * p->run; at < r->D; at += p->block * p->run)
      for (int i = at; i < at + p->run && i < r->D; i++) {
        const float x = r->sum[i] - mean;
        own[t] = squares ? fmaf(x, x, own[t]) : own[t] + x;
      }
  }
  for (int team = 0; team < p->block / LANES; team++) teams[team] = folded(own + team * LANES);
  return folded(teams);
}

static float root(const Parting *p, float x) {
  return p->rocm ? 1.0f / sqrtf(x) : (float)(1.0 / sqrt((double)x));
}

static float rms_norm(const Row *r, const Parting *p, float inv, int i) {
  const double exact = (double)r->sum[i] * (double)inv;
  const double n = p->rocm && r->T == KG_F16 ? exact + 0.0 : (double)(r->sum[i] * inv);
  return stored(r->T, (double)r->gain[i] * (double)stored(r->T, n));
}

static float layer_norm(const Row *r, const Parting *p, float mean, float inv, int i) {
  const float n = (r->sum[i] - mean) * inv;
  if (p->rocm && r->T != KG_F16) return stored(r->T, (double)fmaf(r->gain[i], n, r->shift[i]));
  if (r->T == KG_F32) return fmaf(r->gain[i], n, r->shift[i]);
  const double factor = p->rocm ? (double)n : (double)stored(r->T, (double)n);
  return stored(r->T, (double)r->gain[i] * factor + (double)r->shift[i]);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static double noise(uint32_t seed, int i) {
  uint32_t x = seed * 0x9e3779b9u + (uint32_t)i * 0x85ebca6bu;
  x = (x ^ (x >> 15)) * 0x2c1b3c6du;
  x = (x ^ (x >> 12)) * 0x297a2d39u;
  return (double)(x ^ (x >> 15)) * 0x1p-31 - 1;
}

static void row_made(Row *r, kg_dtype T, int D, uint32_t seed) {
  r->T = T;
  r->D = D;
  for (int i = 0; i < D; i++) {
    r->sum[i] = stored(T, 3 * noise(3 * seed, i));
    r->gain[i] = stored(T, 1 + 0.5 * noise(3 * seed + 1, i));
    r->shift[i] = stored(T, noise(3 * seed + 2, i));
  }
}

static void put(kg_dtype T, unsigned char *bytes, const float *values, int count) {
  for (int i = 0; i < count; i++)
    element_put_bits(T, bytes, i, element_bits_of_real(T, values ? (double)values[i] : 0));
}

/* How many elements of a row have other bits than MLX's. */
static int rms_differ(const Ready *k, int device, const Row *r) {
  static unsigned char x[LONGEST * 4], none[LONGEST * 4], weight[LONGEST * 4], normed[LONGEST * 4],
      sum[LONGEST * 4];
  const Parting p = rms_parting(r, device < WIDTHS);
  const float inv = root(&p, total(r, &p, true, 0) / (float)r->D + 1e-6f);
  const kg_scalar scalars[] = {{.f32 = 1e-6f}, {.f32 = 0}};
  put(r->T, x, r->sum, r->D);
  put(r->T, none, NULL, r->D);
  put(r->T, weight, r->gain, r->D);
  const Data data[] = {{r->T, 2, {1, r->D}, x},
                       {r->T, 2, {1, r->D}, none},
                       {r->T, 1, {r->D}, weight},
                       {r->T, 2, {1, r->D}, normed},
                       {r->T, 2, {1, r->D}, sum}};
  launch_well(k, k->device[device], data, scalars, NULL);
  int differ = 0;
  for (int i = 0; i < r->D; i++)
    differ += (float)element_real(r->T, element_bits(r->T, normed, i)) != rms_norm(r, &p, inv, i);
  return differ;
}

static int layer_differ(const Ready *k, int device, const Row *r) {
  static unsigned char x[LONGEST * 4], none[LONGEST * 4], weight[LONGEST * 4], bias[LONGEST * 4],
      sum[LONGEST * 4], h[LONGEST * 4];
  const Parting p = layer_parting(r, device < WIDTHS);
  const float mean = total(r, &p, false, 0) / (float)r->D;
  const float inv = root(&p, total(r, &p, true, mean) / (float)r->D + 1e-5f);
  const kg_scalar eps = {.f32 = 1e-5f};
  const int64_t stride = 1;
  put(r->T, x, r->sum, r->D);
  put(r->T, none, NULL, r->D);
  put(r->T, weight, r->gain, r->D);
  put(r->T, bias, r->shift, r->D);
  const Data data[] = {{r->T, 2, {1, r->D}, none}, {r->T, 2, {1, r->D}, none},
                       {r->T, 2, {1, r->D}, x},    {r->T, 1, {r->D}, weight},
                       {r->T, 1, {r->D}, bias},    {r->T, 2, {1, r->D}, sum},
                       {r->T, 2, {1, r->D}, h}};
  launch_well(k, k->device[device], data, &eps, &stride);
  int differ = 0;
  for (int i = 0; i < r->D; i++)
    differ +=
        (float)element_real(r->T, element_bits(r->T, h, i)) != layer_norm(r, &p, mean, inv, i);
  return differ;
}

/* HIP's text at both widths, and CUDA's; Metal has none. */
enum { TEXTS = 3 };

/* Of each length: another order of addition changes a root in one row of four or so. */
enum { ROWS = 5 };
static const kg_dtype types[] = {KG_F32, KG_F16, KG_BF16};
static const int lengths[] = {1,    7,    255,  260,  513,  1536, 2560,
                              4096, 4101, 5003, 6007, 7168, 8192, 9001};

static int all_differ(const char *folder, const char *kernel,
                      int (*one)(const Ready *, int, const Row *), int from, int to) {
  static Row row;
  Ready k = ready(folder, kernel, TEXTS);
  int differ = 0;
  for (int d = from; d < to; d++)
    for (int t = 0; t < COUNT(types); t++)
      for (int n = 0; n < ROWS * COUNT(lengths); n++) {
        const int D = lengths[n / ROWS];
        row_made(&row, types[t], D, (uint32_t)n);
        const int count = one(&k, d, &row);
        if (count > 0 && *folder == 0)
          print_error("%s, %s, %s, %d elements: %d differ\n", kernel, device_names[d],
                      kg_dtype_name(types[t]), D, count);
        differ += count;
      }
  done(&k);
  return differ;
}

static void rms_norm_has_the_bits_of_each_backend_s_own(void **state) {
  (void)state;
  assert_int_equal(all_differ("", "fused_add_rms_norm_mlx", rms_differ, 0, TEXTS), 0);
}

static void layer_norm_has_the_bits_of_each_backend_s_own(void **state) {
  (void)state;
  assert_int_equal(all_differ("", "fused_add3_layer_norm_mlx", layer_differ, 0, TEXTS), 0);
}

/* Another block, a rounding that is one too many: each shows. */
static void another_order_or_rounding_is_seen(void **state) {
  (void)state;
  static const struct {
    const char *file, *from, *to, *kernel;
    int (*one)(const Ready *, int, const Row *);
    int device;
  } faults[] = {
      {"lib/mlx_norm.kc", "if (D > 1024 * run) return 1024;", "", "fused_add_rms_norm_mlx",
       rms_differ, 2},
      {"lib/mlx_norm.kc", "runs % 64 == 0 &&", "runs % 64 == 1 &&", "fused_add_rms_norm_mlx",
       rms_differ, 2},
      {"lib/mlx_norm.kc", "f32(f16(sum_to_odd(product.hi, product.lo) + 0.0f))",
       "f32(f16(product.hi))", "fused_add_rms_norm_mlx", rms_differ, 0},
      {"lib/mlx_norm.kc", "*to = S(sum_to_odd(gain * n, shift));", "*to = S(gain * n + shift);",
       "fused_add3_layer_norm_mlx", layer_differ, 2},
      {"lib/mlx_norm.kc", "block < 1024 && block * run", "block < 512 && block * run",
       "fused_add3_layer_norm_mlx", layer_differ, 2},
  };
  for (int i = 0; i < COUNT(faults); i++) {
    const char *folder = faulty_copy(faults[i].file, faults[i].from, faults[i].to);
    const int differ =
        all_differ(folder, faults[i].kernel, faults[i].one, faults[i].device, faults[i].device + 1);
    remove_copy(folder);
    if (differ == 0) fail_msg("%s: nothing differs", faults[i].to);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rms_norm_has_the_bits_of_each_backend_s_own),
      cmocka_unit_test(layer_norm_has_the_bits_of_each_backend_s_own),
      cmocka_unit_test(another_order_or_rounding_is_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

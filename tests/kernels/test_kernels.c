/* test_kernels.c: the library's kernels, run lane by lane at both wavefront widths.
**
** Every dtype combination of every case of kernels.lua is put to its reference; what tolerances
** cannot say (bits that must be copied, draws that must not depend on the splits, the exact form of
** a rotation) is tested on its own; and a fault planted in a body or a library function must make
** its kernel's cases fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/gumbel_max_sample/host.h"
#include "verify/element.h"
#include "passes.h"
#include "verify/trial.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const char *const devices[] = {"simt32", "simt64"};
enum { DEVICES = 2 };

/* ---- a specification's kernel, ready to run -------------------------------------------------- */

typedef struct Ready {
  Arena *arena;
  const Kernel *kernel;
  References *references;
  kg_device *device[DEVICES];
} Ready;

static kg_device *device_of(const char *name) {
  kg_device *device = NULL;
  kg_error error = {0};
  const kg_status s = kg_device_open(name, &device, &error);
  if (s == KG_NO_COMPILER) {
    print_message("%s: nothing was run lane by lane\n", error.message);
    skip();
  }
  if (s != KG_OK) fail_msg("%s: %s", name, error.message);
  return device;
}

/* folder: "" or one that ends in a slash. */
static Ready ready(const char *folder, const char *name) {
  Ready r = {.arena = arena_new()};
  LibraryOptions o = {.only = name};
  o.spec = arena_printf(r.arena, "%skernels.lua", folder);
  o.templates = arena_printf(r.arena, "%stemplates", folder);
  const Library *l = library_open(r.arena, &o);
  assert_non_null(l);
  int index = 0;
  r.kernel = library_kernel(l, name, &index);
  assert_non_null(r.kernel);
  r.references = references_open(r.arena, l->spec, o.templates);
  for (int d = 0; d < DEVICES; d++) r.device[d] = device_of(devices[d]);
  return r;
}

static void done(Ready *r) {
  for (int d = 0; d < DEVICES; d++) kg_device_close(r->device[d]);
  references_close(r->references);
  arena_free(r->arena);
}

/* ---- the cases of the specification ---------------------------------------------------------- */

static void complain(const Ready *r, const Trial *t, const char *device, const char *instance,
                     int number) {
  print_error("%s, case %d, %s: ", instance, number + 1, device);
  if (t->status != KG_OK)
    print_error("%s\n", t->message);
  else if (t->judgement)
    print_error("%s\n", t->judgement);
  else if (t->right)
    print_error("too many elements are a rounding away from the reference\n");
  for (int o = 0; o < t->output_count; o++)
    if (t->outputs[o].why)
      print_error("%s: %s\n", r->kernel->args[r->kernel->input_count + o].name, t->outputs[o].why);
}

/* The reference rounds to 16 bits where the kernel does, so of such an output only what lies at the
** middle between two values may differ: one element in a hundred is far more than that.  False when
** more do, which tolerances are too wide to see. */
static bool nearly_all_bits_agree(const ref_tensor *want, const TrialOutput *o) {
  if (o->dtype != KG_F16 && o->dtype != KG_BF16) return true;
  int64_t differ = 0;
  for (int64_t i = 0; i < want->count; i++) {
    const double got = element_real(o->dtype, element_bits(o->dtype, o->got, i));
    differ += got != want->real[i] && !(isnan(got) && isnan(want->real[i]));
  }
  return differ <= 1 + want->count / 100;
}

static bool bits_agree(const TrialData *data, const Trial *t) {
  for (int o = 0; o < t->output_count; o++)
    if (!nearly_all_bits_agree(&data->want.tensors[data->kernel->input_count + o], &t->outputs[o]))
      return false;
  return true;
}

/* One case with one choice of dtypes on all devices; how many trials were wrong. */
static int case_wrong(const Ready *r, int number, const kg_dtype *types, bool aloud) {
  const Case *c = &r->kernel->cases[number];
  const kg_instance instance = case_instance(r->kernel, c, types);
  const char *why = NULL;
  Arena *a = arena_new();
  const TrialData *data =
      trial_data(a, r->kernel, &instance, c, reference_of(r->references, r->kernel), 1, &why);
  if (!data) fail_msg("%s: %s", r->kernel->name, why);
  int wrong = 0;
  for (int d = 0; d < DEVICES; d++) {
    const Trial t = trial_run(a, data, r->device[d], 1);
    if (t.status == KG_OK && t.right && bits_agree(data, &t)) continue;
    wrong++;
    if (aloud) complain(r, &t, devices[d], instance_name(a, &instance), number);
  }
  arena_free(a);
  return wrong;
}

/* Over all choices of dtypes, the last type fastest; *trials counts them.  Not aloud, it stops at
** the first wrong one. */
static int cases_wrong(const Ready *r, bool aloud, int *trials) {
  const Kernel *k = r->kernel;
  int wrong = 0, at[MAX_TYPES] = {0};
  *trials = 0;
  for (bool more = true; more;) {
    kg_dtype types[MAX_TYPES] = {0};
    for (int t = 0; t < k->type_count; t++) types[t] = k->types[t].dtypes[at[t]];
    for (int c = 0; c < k->case_count && (aloud || wrong == 0); c++, *trials += DEVICES)
      wrong += case_wrong(r, c, types, aloud);
    int t = k->type_count - 1;
    while (t >= 0 && ++at[t] == k->types[t].count) at[t--] = 0;
    more = t >= 0 && (aloud || wrong == 0);
  }
  return wrong;
}

static void cases_are_right(const char *name, int combinations) {
  Ready r = ready("", name);
  int trials;
  assert_int_equal(cases_wrong(&r, true, &trials), 0);
  assert_int_equal(trials, combinations * r.kernel->case_count * DEVICES);
  assert_true(r.kernel->case_count >= 5);
  done(&r);
}

static void
fused_add_rms_norm_is_right_in_every_dtype_combination_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_add_rms_norm", 9);
}

static void fused_rope_qk_append_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_rope_qk_append", 3);
}

static void gumbel_max_sample_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("gumbel_max_sample", 3);
}

static void fused_xielu_is_right_in_every_dtype_at_32_and_64_lanes(void **state) {
  (void)state;
  cases_are_right("fused_xielu", 3);
}

/* ---- launches on data of the test's own ------------------------------------------------------ */

typedef struct Data {
  kg_dtype dtype;
  int rank;
  int64_t shape[4];
  void *bytes;
} Data;

static size_t size_of(const Data *d) {
  size_t n = kg_dtype_bytes(d->dtype);
  for (int i = 0; i < d->rank; i++) n *= (size_t)d->shape[i];
  return n;
}

/* data: one for each argument; outputs are downloaded into theirs. */
static void launch(const Ready *r, kg_device *device, const Data *data, const kg_scalar *scalars,
                   const int64_t *consts) {
  kg_tensor tensors[MAX_ARGS];
  for (int i = 0; i < r->kernel->arg_count; i++) {
    void *at = NULL;
    assert_int_equal(kg_device_alloc(device, size_of(&data[i]), &at), KG_OK);
    assert_int_equal(kg_device_upload(device, at, data[i].bytes, size_of(&data[i])), KG_OK);
    tensors[i] = kg_tensor_of(device, at, data[i].dtype, data[i].rank, data[i].shape);
  }
  const kg_call call = {&r->kernel->model, tensors, scalars, consts};
  if (kg_launch(device, &call) != KG_OK) fail_msg("%s", kg_device_message(device));
  assert_int_equal(kg_device_synchronize(device), KG_OK);
  for (int i = 0; i < r->kernel->arg_count; i++) {
    if (i >= r->kernel->input_count)
      assert_int_equal(
          kg_device_download(device, data[i].bytes, tensors[i].data, size_of(&data[i])), KG_OK);
    kg_device_free(device, tensors[i].data);
  }
}

/* All constants: the fixed ones as they are, those in the key from `chosen`, in order. */
static void consts_of(const Ready *r, const int64_t *chosen, int64_t *consts) {
  for (int i = 0; i < r->kernel->const_count; i++)
    consts[i] = r->kernel->consts[i].in_key ? *chosen++ : r->kernel->consts[i].values[0];
}

/* ---- fused_add_rms_norm ---------------------------------------------------------------------- */

static Data vector(kg_dtype dtype, int64_t n, void *bytes) { return (Data){dtype, 1, {n}, bytes}; }

static Data matrix(kg_dtype dtype, int64_t rows, int64_t n, void *bytes) {
  return (Data){dtype, 2, {rows, n}, bytes};
}

static void put(kg_dtype dtype, void *to, int64_t i, double x) {
  element_put_bits(dtype, to, i, element_bits_of_real(dtype, x));
}

/* A butterfly over 32 lanes: what each lane has is added to what the lane `apart` places away has.
** The sum is lane 0's. */
static float butterfly(const float *of) {
  float lane[32], other[32];
  memcpy(lane, of, sizeof lane);
  for (int apart = 16; apart > 0; apart /= 2) {
    for (int i = 0; i < 32; i++) other[i] = lane[i ^ apart];
    for (int i = 0; i < 32; i++) lane[i] += other[i];
  }
  return lane[0];
}

/* The sum of squares of a row as the graph on ROCm has it: 256 threads take runs of four,
** simdgroups of 32 fold theirs into one of 32 slots, and the slots, the others being zero, are
** folded alike.  serial: the simdgroups' sums are added one after another instead. */
static float squares_of(const float *row, int64_t D, bool serial) {
  float part[256] = {0}, slots[32] = {0}, sum = 0;
  for (int t = 0; t < 256; t++)
    for (int64_t run = 4 * t; run < D; run += 4 * 256)
      for (int64_t i = run; i < run + 4 && i < D; i++) part[t] = fmaf(row[i], row[i], part[t]);
  for (int w = 0; w < 8; w++) sum += slots[w] = butterfly(part + 32 * w);
  return serial ? sum : butterfly(slots);
}

/* An eps that leaves a four hundredth of the mean square makes an ulp of the sum at least a hundred
** of the norm's. */
static void the_norm_s_squares_are_added_in_the_graph_s_order(void **state) {
  (void)state;
  enum { ROWS = 6, MOST = 4097 };
  static const int64_t widths[] = {128, 1024, 2048, 4096, 4097};
  static float x[ROWS * MOST], zero[ROWS * MOST], one[MOST], normed[ROWS * MOST], sum[ROWS * MOST];
  Ready r = ready("", "fused_add_rms_norm");
  int orders_differ = 0;
  uint32_t seed = 1;
  for (int i = 0; i < MOST; i++) one[i] = 1;
  for (int w = 0; w < COUNT(widths); w++)
    for (int row = 0; row < ROWS; row++) {
      const int64_t D = widths[w];
      for (int64_t i = 0; i < D; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)seed * 0x1p-31f;
      }
      const float squares = squares_of(x, D, false);
      const float eps = -squares / (float)D * 0.9975f;
      const float inv = 1.0f / sqrtf(squares / (float)D + eps);
      const float other = 1.0f / sqrtf(squares_of(x, D, true) / (float)D + eps);
      orders_differ += other != inv;
      const Data data[] = {matrix(KG_F32, 1, D, x), matrix(KG_F32, 1, D, zero),
                           vector(KG_F32, D, one), matrix(KG_F32, 1, D, normed),
                           matrix(KG_F32, 1, D, sum)};
      const kg_scalar scalars[] = {{.f32 = eps}, {.f32 = 0}};
      int64_t consts[MAX_CONSTS];
      consts_of(&r, NULL, consts);
      for (int d = 0; d < DEVICES; d++) {
        launch(&r, r.device[d], data, scalars, consts);
        for (int64_t i = 0; i < D; i++)
          if (normed[i] != x[i] * inv)
            fail_msg("%s, D = %d: element %d is %.9g, expected %.9g", devices[d], (int)D, (int)i,
                     (double)normed[i], (double)(x[i] * inv));
      }
    }
  assert_true(orders_differ > ROWS);
  done(&r);
}

/* Products that are zero or round to it, and must keep the sign that the graph's product has. */
static void a_zero_of_the_norm_s_product_keeps_its_sign(void **state) {
  (void)state;
  static const kg_dtype dtypes[] = {KG_F32, KG_F16, KG_BF16};
  static const struct {
    double x, residual, weight;
    float bias;
    bool negative;
  } products[] = {{-1, 0.5, 0, 0, true},      {1, -0.5, 0, 0, false},   {-1, 0.5, -0.0, 0, false},
                  {1, -0.5, -0.0, 0, true},   {-0.0, -0.0, 2, 0, true}, {-0.0, 0, 2, 0, false},
                  {-0.0, -0.0, -2, 0, false}, {-1, 0.5, -1, 1, true},   {1, -0.5, -1, 1, false}};
  enum { D = 1030 };
  static unsigned char x[D * 4], residual[D * 4], weight[D * 4], normed[D * 4], sum[D * 4];
  Ready r = ready("", "fused_add_rms_norm");
  for (int run = 0; run < DEVICES * 3 * 3 * 2; run++) {
    const int d = run % DEVICES;
    const kg_dtype T = dtypes[run / DEVICES % 3], TW = dtypes[run / DEVICES / 3 % 3];
    const float bias = run / DEVICES / 9 ? 1 : 0;
    for (int i = 0; i < D; i++) {
      put(T, x, i, products[i % COUNT(products)].x);
      put(T, residual, i, products[i % COUNT(products)].residual);
      put(TW, weight, i, products[i % COUNT(products)].weight);
    }
    const Data data[] = {matrix(T, 1, D, x), matrix(T, 1, D, residual), vector(TW, D, weight),
                         matrix(T, 1, D, normed), matrix(T, 1, D, sum)};
    const kg_scalar scalars[] = {{.f32 = 1e-6f}, {.f32 = bias}};
    int64_t consts[MAX_CONSTS];
    consts_of(&r, NULL, consts);
    launch(&r, r.device[d], data, scalars, consts);
    for (int i = 0; i < D; i++) {
      const int p = i % COUNT(products);
      if (products[p].bias != bias) continue;
      const uint64_t expected = element_bits_of_real(T, products[p].negative ? -0.0 : 0.0);
      if (element_bits(T, normed, i) != expected)
        fail_msg("%s, product %d: %llx, expected %llx", devices[d], p,
                 (unsigned long long)element_bits(T, normed, i), (unsigned long long)expected);
    }
  }
  done(&r);
}

/* ---- gumbel_max_sample ----------------------------------------------------------------------- */

typedef struct Drawn {
  float vals[4 * 64];
  uint32_t idxs[4 * 64];
} Drawn;

static void draw(const Ready *r, kg_device *device, const float *logits, int64_t B, int64_t V,
                 int64_t S, uint32_t *key, float temp, Drawn *out) {
  /* launch only reads the inputs */
  float *copy = arena_alloc(r->arena, (size_t)(B * V) * sizeof *copy);
  memcpy(copy, logits, (size_t)(B * V) * sizeof *copy);
  const Data data[] = {{KG_F32, 2, {B, V}, copy},
                       {KG_U32, 1, {2}, key},
                       {KG_F32, 2, {B, S}, out->vals},
                       {KG_U32, 2, {B, S}, out->idxs}};
  const kg_scalar scalars[] = {{.f32 = temp}};
  int64_t consts[MAX_CONSTS];
  consts_of(r, NULL, consts);
  launch(r, device, data, scalars, consts);
}

/* Winner and its value's bits for each row. */
static void winners(const Ready *r, kg_device *device, const float *logits, int64_t B, int64_t V,
                    int64_t S, uint32_t *tokens, uint32_t *bits) {
  uint32_t key[] = {0x12345678, 0x9abcdef0};
  static Drawn d;
  draw(r, device, logits, B, V, S, key, 0.75f, &d);
  assert_int_equal(kg_gumbel_pick(d.vals, d.idxs, (size_t)B, (size_t)S, tokens, NULL), KG_OK);
  for (int64_t row = 0; row < B; row++)
    for (int64_t s = 0; s < S; s++)
      if (d.idxs[row * S + s] == tokens[row] && (s == 0 || d.vals[row * S + s] > -INFINITY))
        memcpy(&bits[row], &d.vals[row * S + s], sizeof *bits);
}

static void a_draw_does_not_depend_on_the_splits_nor_on_the_width(void **state) {
  (void)state;
  enum { B = 4, V = 9001 };
  static float logits[B * V];
  Ready r = ready("", "gumbel_max_sample");
  for (int i = 0; i < B * V; i++) logits[i] = (float)((i * 7919LL) % 1000) * 0.004f;
  for (int i = 0; i < V; i++)
    logits[2 * V + i] = i % 11 ? -INFINITY : 1e30f; /* ties between splits: all noise is lost */
  for (int i = 0; i < V; i++) logits[3 * V + i] = -INFINITY;
  uint32_t first[B], first_bits[B];
  winners(&r, r.device[0], logits, B, V, 1, first, first_bits);
  assert_int_equal(first[2], 0);
  assert_int_equal(first[3], 0);
  const int64_t splits[] = {1, 2, 3, 4, 8, 16, 64};
  for (int d = 0; d < DEVICES; d++)
    for (int s = 0; s < COUNT(splits); s++) {
      uint32_t tokens[B] = {0}, bits[B] = {0};
      winners(&r, r.device[d], logits, B, V, splits[s], tokens, bits);
      assert_memory_equal(tokens, first, sizeof tokens);
      assert_memory_equal(bits, first_bits, sizeof bits);
    }
  done(&r);
}

static void the_kernels_noise_is_the_tables(void **state) {
  (void)state;
  static const struct {
    uint32_t key[2];
    int64_t i, row;
    double noise;
  } table[] = {
      {{0, 0}, 0, 0, 0.084820},
      {{0, 0}, 5, 0, -0.015735},
      {{0, 0}, 1023, 3, 0.090278},
      {{1, 2}, 0, 0, -1.341014},
      {{1, 2}, 5, 0, 1.017537},
      {{1, 2}, 1023, 3, 0.479972},
      {{0x12345678, 0x9abcdef0}, 0, 0, -1.534452},
      {{0x12345678, 0x9abcdef0}, 5, 0, -0.153233},
      {{0x12345678, 0x9abcdef0}, 1023, 3, -0.756208},
  };
  static float logits[4 * 1024];
  static Drawn out;
  Ready r = ready("", "gumbel_max_sample");
  for (int d = 0; d < DEVICES; d++)
    for (int t = 0; t < COUNT(table); t++) { /* the one entry that is there wins with its noise */
      uint32_t key[] = {table[t].key[0], table[t].key[1]};
      for (int i = 0; i < 4 * 1024; i++) logits[i] = i % 1024 == table[t].i ? 0 : -INFINITY;
      draw(&r, r.device[d], logits, 4, 1024, 1, key, 1, &out);
      assert_int_equal(out.idxs[table[t].row], table[t].i);
      assert_true(fabs((double)out.vals[table[t].row] - table[t].noise) < 1e-6);
    }
  done(&r);
}

/* ---- fused_rope_qk_append -------------------------------------------------------------------- */

enum {
  ROPE_L = 3,
  ROPE_HQ = 3,
  ROPE_HKV = 2,
  ROPE_D = 64,
  ROPE_R = 16,
  ROPE_HEADS = ROPE_HQ + 2 * ROPE_HKV
};

static const unsigned char *head_at(const void *base, int64_t row, size_t element) {
  return (const unsigned char *)base + (size_t)row * ROPE_D * element;
}

static void every_bit_pattern_of_v_and_of_the_tail_is_copied(void **state) {
  (void)state;
  static const kg_dtype dtypes[] = {KG_F32, KG_F16, KG_BF16};
  static unsigned char qkv[ROPE_L * ROPE_HEADS * ROPE_D * 4], q[sizeof qkv], k[sizeof qkv],
      v[sizeof qkv];
  Ready r = ready("", "fused_rope_qk_append");
  for (int run = 0; run < DEVICES * COUNT(dtypes) * 2; run++) {
    const int layout = run % 2, d = run / 2 % DEVICES;
    const kg_dtype T = dtypes[run / 2 / DEVICES];
    const size_t bytes = kg_dtype_bytes(T);
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof qkv;
         i++) { /* half of the patterns have all ones in the exponent: NaNs of every payload */
      x = x * 1664525u + 1013904223u;
      qkv[i] = (unsigned char)(x >> 24);
      if (i % bytes == bytes - 1 && (x >> 16 & 1)) qkv[i] |= 0x7f;
      if (i % bytes == bytes - 2 && (x >> 16 & 1)) qkv[i] |= 0x80;
    }
    const int64_t first = layout ? ROPE_L : ROPE_HKV, second = layout ? ROPE_HKV : ROPE_L;
    const Data data[] = {{T, 3, {1, ROPE_L, ROPE_HEADS * ROPE_D}, qkv},
                         {T, 4, {1, ROPE_HQ, ROPE_L, ROPE_D}, q},
                         {T, 4, {1, first, second, ROPE_D}, k},
                         {T, 4, {1, first, second, ROPE_D}, v}};
    const kg_scalar scalars[] = {{.u32 = ROPE_R}, {.f32 = 13.3f}, {.f32 = 1}, {.i32 = 77}};
    const int64_t chosen[] = {0, layout};
    int64_t consts[MAX_CONSTS];
    consts_of(&r, chosen, consts);
    launch(&r, r.device[d], data, scalars, consts);
    for (int64_t t = 0; t < ROPE_L; t++)
      for (int64_t h = 0; h < ROPE_HKV; h++) {
        const int64_t to = layout ? t * ROPE_HKV + h : h * ROPE_L + t,
                      from = t * ROPE_HEADS + ROPE_HQ + h;
        const size_t tail = ROPE_R * bytes;
        assert_memory_equal(head_at(v, to, bytes), head_at(qkv, from + ROPE_HKV, bytes),
                            ROPE_D * bytes);
        assert_memory_equal(head_at(k, to, bytes) + tail, head_at(qkv, from, bytes) + tail,
                            ROPE_D * bytes - tail);
      }
    for (int64_t t = 0; t < ROPE_L; t++)
      for (int64_t h = 0; h < ROPE_HQ; h++) {
        const size_t tail = ROPE_R * bytes;
        assert_memory_equal(head_at(q, h * ROPE_L + t, bytes) + tail,
                            head_at(qkv, t * ROPE_HEADS + h, bytes) + tail, ROPE_D * bytes - tail);
      }
  }
  done(&r);
}

/* One q head of two elements turned by theta = position; of two rows' or two tokens' results the
** first. */
static void turned(const Ready *r, kg_device *device, int64_t B, int64_t L, float x1, float x2,
                   int32_t position, float *out) {
  float qkv[2 * 6] = {x1, x2, 0, 0, 0, 0, x1, x2, 0, 0, 0, 0}, q[4], k[4], v[4];
  const Data data[] = {{KG_F32, 3, {B, L, 6}, qkv},
                       {KG_F32, 4, {B, 1, L, 2}, q},
                       {KG_F32, 4, {B, 1, L, 2}, k},
                       {KG_F32, 4, {B, 1, L, 2}, v}};
  const kg_scalar scalars[] = {{.u32 = 2}, {.f32 = 13}, {.f32 = 1}, {.i32 = position}};
  const int64_t chosen[] = {0, 0};
  int64_t consts[MAX_CONSTS];
  consts_of(r, chosen, consts);
  launch(r, device, data, scalars, consts);
  out[0] = q[0];
  out[1] = q[1];
}

static void the_second_output_fuses_the_product_that_the_graph_fuses(void **state) {
  (void)state;
  Ready r = ready("", "fused_rope_qk_append");
  int forms_differ = 0;
  for (int d = 0; d < DEVICES; d++)
    for (int32_t i = 0; i < 40; i++) {
      const int32_t position = i * 3301 + 1;
      const float x1 = 1.0f + (float)i * 0.0371f, x2 = 0.7f - (float)i * 0.0193f;
      const float c = cosf((float)position), s = sinf((float)position);
      float one[2], tokens[2], rows[2];
      turned(&r, r.device[d], 1, 1, x1, x2, position, one);
      turned(&r, r.device[d], 1, 2, x1, x2, position, tokens);
      turned(&r, r.device[d], 2, 1, x1, x2, position, rows);
      assert_true(one[0] == fmaf(x1, c, -(x2 * s)));
      assert_true(tokens[0] == one[0] && rows[0] == one[0]);
      assert_true(one[1] == fmaf(x2, c, x1 * s));
      assert_true(tokens[1] == fmaf(x1, s, x2 * c) && rows[1] == tokens[1]);
      forms_differ += one[1] != tokens[1];
    }
  assert_true(forms_differ > 0);
  done(&r);
}

static void a_position_past_the_last_is_refused(void **state) {
  (void)state;
  enum { L = 3 };
  Ready r = ready("", "fused_rope_qk_append");
  const int64_t in[] = {1, L, 6}, out[] = {1, 1, L, 2};
  int64_t consts[MAX_CONSTS];
  consts_of(&r, (int64_t[]){0, 0}, consts);
  void *memory = NULL;
  assert_int_equal(kg_device_alloc(r.device[0], 6 * L * 4 * 4, &memory), KG_OK);
  unsigned char *at = memory;
  kg_tensor tensors[4] = {kg_tensor_of(r.device[0], at, KG_F32, 3, in)};
  for (int i = 1; i < 4; i++)
    tensors[i] = kg_tensor_of(r.device[0], at + 6 * L * 4 * i, KG_F32, 4, out);
  kg_scalar scalars[] = {{.u32 = 2}, {.f32 = 13}, {.f32 = 1}, {.i32 = INT32_MAX - L + 1}};
  const kg_call call = {&r.kernel->model, tensors, scalars, consts};
  assert_int_equal(kg_launch(r.device[0], &call), KG_OK);
  scalars[3].i32++;
  assert_int_equal(kg_launch(r.device[0], &call), KG_REQUIRE_FAILED);
  assert_non_null(strstr(kg_device_message(r.device[0]), "position + L <= 2147483648"));
  assert_int_equal(kg_device_synchronize(r.device[0]), KG_OK);
  kg_device_free(r.device[0], memory);
  done(&r);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* A copy of the specification and its templates in which the first `from` of the file is `to`. */
static const char *faulty_copy(const char *file, const char *from, const char *to) {
  static char folder[64], path[256], command[512], text[1 << 16];
  snprintf(folder, sizeof folder, "/tmp/kgen-test-kernels-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "cp -r kernels.lua templates %s", folder);
  assert_int_equal(system(command), 0);
  snprintf(path, sizeof path, "%s/templates/%s", folder, file);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  char *at = strstr(text, from);
  if (!at) fail_msg("%s: the fault's place is gone: %s", file, from);
  f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  fclose(f);
  strcat(folder, "/");
  return folder;
}

static void fault_is_caught(const char *kernel, const char *file, const char *from,
                            const char *to) {
  const char *folder = faulty_copy(file, from, to);
  Ready r = ready(folder, kernel);
  int trials;
  const int wrong = cases_wrong(&r, false, &trials);
  done(&r);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  if (wrong == 0)
    fail_msg("%s: '%s' in place of '%s' was not seen by any of %d trials", kernel, to, from,
             trials);
}

static void faults_in_the_norm_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "fused_add_rms_norm";
  static const char body[] = "kernels/fused_add_rms_norm/fused_add_rms_norm.kc";
  fault_is_caught(k, body, "f32(D) + eps", "f32(D) + eps * 0.0f");
  fault_is_caught(k, body, "sum = add_squares(sum, store_sum(nr, xr, rr, at, D, wide));",
                  "store_sum(nr, xr, rr, at, D, wide);"); /* the part of a long row past KEEP */
  fault_is_caught(k, "lib/norm.kc", "rnd4<S>(a + b)",
                  "a + b"); /* the sum not rounded before the square */
  fault_is_caught(k, "lib/norm.kc", "rnd4<S>(all4(bias) + w)", "w");
  fault_is_caught(k, "lib/run.kc", "if (at + 3 < end) v.w",
                  "if (at + 2 < end) v.w"); /* reads past the row */
}

static void faults_in_the_rotation_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "fused_rope_qk_append";
  static const char body[] = "kernels/fused_rope_qk_append/fused_rope_qk_append.kc";
  fault_is_caught(k, body, "x1, cosine, -x2, sine", "x1, cosine, x2, sine");
  fault_is_caught(k, body, "f32(position + i32(t))", "f32(position)");
  fault_is_caught(k, body, "LAYOUT == 1 && !is_q", "LAYOUT == 1");
  fault_is_caught(k, body, "first + turning",
                  "first + D / 2"); /* the partner under partial rotation */
  fault_is_caught(k, "lib/math.kc", "fma(part, -1.90465421e-9f, z.lo)",
                  "0.0f"); /* frequencies an ulp off */
}

static void faults_in_the_draw_make_its_cases_fail(void **state) {
  (void)state;
  static const char k[] = "gumbel_max_sample";
  static const char body[] = "kernels/gumbel_max_sample/gumbel_max_sample.kc";
  fault_is_caught(k, body, "{at / 4, 0, row, 0}", "{at, 0, row, 0}");
  fault_is_caught(k, body, "c1 > best && at + 1 < V",
                  "c1 >= best && at + 1 < V");                      /* ties to the higher index */
  fault_is_caught(k, body, "c2 > best && at + 2 < V", "c2 > best"); /* an entry past the row */
  fault_is_caught(k, "lib/philox.kc", "hi0 ^ c.w ^ key1", "hi0 ^ c.w ^ key0");
  fault_is_caught(k, body, "temp > 0 ? winner.value : NOT_A_NUMBER", "winner.value");
}

static void faults_in_the_activation_make_its_cases_fail(void **state) {
  (void)state;
  static const char *const k = "fused_xielu", *const lib = "lib/xielu.kc";
  fault_is_caught(k, lib, "rnd<S>(x * x)", "x * x");
  fault_is_caught(k, lib, "rnd<S>(e - x)", "(e - x)");
  fault_is_caught(k, lib, "x < eps ? x : eps", "x");
  fault_is_caught(k, "kernels/fused_xielu/fused_xielu.kc", "rnd<T>(alpha_n)", "alpha_n");
  fault_is_caught(k, "lib/math.kc", "(one.lo + t * e.lo)", "one.lo");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_add_rms_norm_is_right_in_every_dtype_combination_at_32_and_64_lanes),
      cmocka_unit_test(fused_rope_qk_append_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(gumbel_max_sample_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(fused_xielu_is_right_in_every_dtype_at_32_and_64_lanes),
      cmocka_unit_test(the_norm_s_squares_are_added_in_the_graph_s_order),
      cmocka_unit_test(a_zero_of_the_norm_s_product_keeps_its_sign),
      cmocka_unit_test(a_draw_does_not_depend_on_the_splits_nor_on_the_width),
      cmocka_unit_test(the_kernels_noise_is_the_tables),
      cmocka_unit_test(every_bit_pattern_of_v_and_of_the_tail_is_copied),
      cmocka_unit_test(the_second_output_fuses_the_product_that_the_graph_fuses),
      cmocka_unit_test(a_position_past_the_last_is_refused),
      cmocka_unit_test(faults_in_the_norm_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_rotation_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_draw_make_its_cases_fail),
      cmocka_unit_test(faults_in_the_activation_make_its_cases_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

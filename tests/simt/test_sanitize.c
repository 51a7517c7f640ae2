/* test_sanitize.c: the checking SIMT devices find each class of fault, with its exact sentence, and
** are silent about its good twin, and about the library's kernels.
**
** tests/sanitize/NAME has bad.kc and good.kc, two bodies of one kernel from x to y, and `expect`,
** the bad one's findings, a line each.  A body's first line says how it is launched. */
#include "simt_fixture.h"

#include "simt/sanitize.h"
#include "simt_check.h"
#include "passes.h"
#include "verify/trial.h"

/* ---- a kernel from a body -------------------------------------------------------------------- */

static const char preamble[] =
    HEAD "typedef unsigned short u16;\n"
         "struct f32x4 { f32 x, y, z, w; };\n"
         "typedef f32 kg_f32x4 __attribute__((ext_vector_type(4)));\n"
         "static inline __device__ f32x4 load4(const f32 *p) {\n"
         "  const kg_f32x4 v = *(const kg_f32x4 *)p;\n"
         "  return f32x4{v.x, v.y, v.z, v.w};\n"
         "}\n"
         "static inline __device__ void store4(f32 *p, f32x4 v) {\n"
         "  *(kg_f32x4 *)p = kg_f32x4{v.x, v.y, v.z, v.w};\n"
         "}\n"
         "#define thread threadIdx.x\n#define group_x blockIdx.x\n#define barrier __syncthreads\n"
         "#define lane (threadIdx.x % warpSize)\n#define wave_index (threadIdx.x / warpSize)\n"
         "#define shuffle_xor __shfl_xor\n#define shuffle __shfl\n"
         "#define LOCAL __shared__\n#define LOCAL_POINTER(type) type *\n"
         "#define group_first(value) group_first_of(value, group_first_slot)\n"
         "#line 1 \"lib.kc\"\n"
         "static inline __device__ f32 group_first_of(f32 x, f32 *slot) {\n"
         "  if (thread == 0) slot[0] = x;\n"
         "  barrier();\n"
         "  return slot[0];\n"
         "}\n"
         "#line 1 \"twin.hip\"\n"
         "extern \"C\" __global__ void twin(const f32 *x, f32 *y, u32 n) {\n"
         "__shared__ f32 group_first_slot[1];\n"
         "#line 1 \"twin.kc\"\n";

static const kg_step rows[] = {{KG_OP_VAR, 0}};
static const kg_expr shape[] = {{"n", 1, rows}};
static const char *const dims[] = {"n"};
static const kg_arg args[] = {{"x", false, -1, KG_F32, 1, shape, 0},
                              {"y", true, -1, KG_F32, 1, shape, 0}};
static const kg_kernel twin = {
    .name = "twin", .dim_count = 1, .dims = dims, .arg_count = 2, .args = args};

typedef struct Twin { /* a kernel, loaded, with its data */
  Bench bench;
  u32 groups, threads, width, elements;
  void *x, *y;
} Twin;

static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 16384);
  assert_non_null(text);
  if (!file) fail_msg("%s cannot be read", path);
  const size_t got = fread(text, 1, 16383, file);
  assert_true(got > 0);
  fclose(file);
  return text;
}

static void *device_array(Bench *bench, u32 count) {
  void *data;
  if (bench->device.ops->alloc(&bench->device, count * sizeof(f32), &data, &bench->error))
    fail_msg("%s", bench->error.message);
  return data;
}

/* width: 0 is what the body says. */
static void open_twin(Twin *t, const char *name, const char *which, int width) {
  char path[256], text[32768];
  snprintf(path, sizeof path, "tests/sanitize/%s/%s.kc", name, which);
  char *body = read_text(path);
  if (sscanf(body, "// %u group%*[s] of %u threads, width %u, %u elements", &t->groups, &t->threads,
             &t->width, &t->elements) != 4 &&
      sscanf(body, "// %u group of %u threads, width %u, %u elements", &t->groups, &t->threads,
             &t->width, &t->elements) != 4)
    fail_msg("%s: its first line does not say how it is launched", path);
  if (width) t->width = (u32)width;
  open_device(&t->bench, (int)t->width, "+check");
  ((kg_simt_device *)t->bench.device.self)->seconds = 0.01;
  snprintf(text, sizeof text, "%s%s}\n", preamble, body);
  free(body);
  load(&t->bench, text, "twin");
  t->x = device_array(&t->bench, t->elements);
  t->y = device_array(&t->bench, t->elements);
  for (u32 i = 0; i < t->elements; i++) ((f32 *)t->x)[i] = (f32)(i * 37 % 64) / 64;
}

static void close_twin(Twin *t) {
  t->bench.device.ops->free(&t->bench.device, t->x);
  t->bench.device.ops->free(&t->bench.device, t->y);
  close_device(&t->bench);
}

static kg_status launch_twin(Twin *t) {
  const struct {
    const void *x;
    void *y;
    u32 n;
  } block = {t->x, t->y, t->elements};
  const int64_t size[] = {t->elements};
  const kg_tensor tensors[] = {kg_tensor_of(&t->bench.device, t->x, KG_F32, 1, size),
                               kg_tensor_of(&t->bench.device, t->y, KG_F32, 1, size)};
  const kg_call call = {.kernel = &twin, .tensors = tensors};
  const kg_grid grid = {{t->groups, 1, 1}, {t->threads, 1, 1}, 0};
  t->bench.error.message[0] = 0;
  return t->bench.device.ops->launch_call(&t->bench.device, t->bench.function, &grid, &block, 20,
                                          &call, &t->bench.error);
}

/* ---- each class: the bad one and its good twin ----------------------------------------------- */

static void all_sentences(const Twin *t, char *text, size_t bytes) {
  const kg_simt_finding *findings;
  const int count = kg_simt_findings(&t->bench.device, &findings);
  size_t at = 0;
  *text = 0;
  for (int i = 0; i < count && at < bytes; i++)
    at += (size_t)snprintf(text + at, bytes - at, "%s: %s\n",
                           kg_simt_class_name(findings[i].class_), findings[i].sentence);
}

static void the_bad_one_is_found_and_its_good_twin_is_silent(void **state) {
  const char *name = *state;
  char path[256], said[8192];
  Twin t;
  snprintf(path, sizeof path, "tests/sanitize/%s/expect", name);
  open_twin(&t, name, "bad", 0);
  for (int again = 0; again < 2; again++) { /* and the device stays usable */
    const kg_status status = launch_twin(&t);
    all_sentences(&t, said, sizeof said);
    char *expected = read_text(path);
    assert_string_equal(said, expected);
    free(expected);
    assert_int_equal(status, KG_DEVICE_FAILED);
  }
  close_twin(&t);
  FOR_EACH_WIDTH(width) {
    open_twin(&t, name, "good", width);
    for (int again = 0; again < 2; again++)
      if (launch_twin(&t)) fail_msg("%s", t.bench.error.message);
    assert_int_equal(kg_simt_findings(&t.bench.device, NULL), 0);
    close_twin(&t);
  }
}

/* ---- what a finding holds -------------------------------------------------------------------- */

static void a_finding_names_both_threads_and_all_their_lines(void **state) {
  (void)state;
  Twin t;
  const kg_simt_finding *f;
  open_twin(&t, "race_in_a_library_function", "bad", 0);
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  assert_int_equal(kg_simt_findings(&t.bench.device, &f), 1);
  assert_int_equal(f->class_, KG_FOUND_RACE);
  assert_string_equal(f->kernel, "twin");
  assert_int_equal(f->wave, 32);
  assert_int_equal(f->witness_count, 2);
  for (int i = 0; i < 2; i++) {
    const kg_simt_witness *w = &f->witness[i];
    assert_int_equal(w->thread, i == 0 ? 1 : 0);
    assert_int_equal(w->lane, i == 0 ? 1 : 0);
    assert_int_equal(w->wave, 0);
    assert_int_equal(w->group[0] + w->group[1] + w->group[2], 0);
    assert_string_equal(w->file, "lib.kc");
    assert_int_equal(w->line, i == 0 ? 4 : 2);
    assert_string_equal(w->body, "twin.kc");
    assert_int_equal(w->body_line, i == 0 ? 2 : 3);
  }
  assert_int_equal(f->times, 63); /* every other thread reads too early */
  close_twin(&t);
}

static void the_message_of_a_launch_has_three_findings_and_says_how_many_more(void **state) {
  (void)state;
  Twin t;
  char text[32768];
  open_twin(&t, "never_written", "bad", 0);
  snprintf(text, sizeof text,
           "%sy[thread] = y[thread]\n+ y[thread + 1]\n+ y[thread + 2]\n+ y[thread + 3];\n"
           "if (thread == 0) y[3] = x[200];\n}\n",
           preamble);
  load(&t.bench, text, "twin");
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  assert_string_equal(
      t.bench.error.message,
      "kernel twin at width 32, group (0, 0, 0): thread 0 (lane 0 of wave 0) reads y[0] at "
      "twin.kc:1, an output, which no thread has written yet\n"
      "kernel twin at width 32, group (0, 0, 0): thread 0 (lane 0 of wave 0) reads y[1] at "
      "twin.kc:2, an output, which no thread has written yet\n"
      "kernel twin at width 32, group (0, 0, 0): thread 0 (lane 0 of wave 0) reads y[2] at "
      "twin.kc:3, an output, which no thread has written yet\n"
      "and 2 more findings");
  assert_int_equal(kg_simt_findings(&t.bench.device, NULL), 5);
  close_twin(&t);
}

/* What the caller leaves open may stay unwritten, for this thread, until it says so again. */
static void what_may_be_left_is_not_missed(void **state) {
  (void)state;
  unsigned char left[32] = {0};
  const unsigned char *by_argument[] = {NULL, left};
  char text[32768];
  Twin t;
  open_twin(&t, "input_written", "good", 0);
  snprintf(text, sizeof text, "%sif (thread < 20) y[thread] = x[thread];\n}\n", preamble);
  load(&t.bench, text, "twin");
  t.threads = t.elements = 32, t.groups = 1;
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  memset(left + 20, 1, 12);
  kg_simt_may_leave(by_argument);
  assert_int_equal(launch_twin(&t), KG_OK);
  left[25] = 0;
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  assert_non_null(strstr(t.bench.error.message, "no thread writes y[25] of the 32 elements of y"));
  kg_simt_may_leave(NULL);
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  assert_non_null(strstr(t.bench.error.message, "y[20] and 11 more"));
  close_twin(&t);
}

static void findings_are_gone_after_a_clean_launch(void **state) {
  (void)state;
  Twin t;
  open_twin(&t, "outside_past_the_end", "bad", 0);
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  assert_int_equal(kg_simt_findings(&t.bench.device, NULL), 1);
  t.threads = 32;
  t.groups = 2; /* still the same kernel: elements 0 to 31 are written twice, with the same value */
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  const kg_simt_finding *f;
  assert_int_equal(kg_simt_findings(&t.bench.device, &f), 1);
  assert_int_equal(f->class_, KG_FOUND_NEVER_WRITTEN);
  t.elements = 32;
  assert_int_equal(launch_twin(&t), KG_OK);
  assert_int_equal(kg_simt_findings(&t.bench.device, &f), 0);
  assert_null(f);
  close_twin(&t);
}

/* ---- which sides of conditions were taken ---------------------------------------------------- */

/* "3 `thread < 8`: true false\n", a line each, of the body. */
static void all_branches(const Twin *t, char *text, size_t bytes) {
  const kg_simt_branch *b;
  const size_t count = kg_simt_branches(&t->bench.device, &b);
  size_t at = 0;
  *text = 0;
  for (size_t i = 0; i < count && at < bytes; i++)
    if (strcmp(b[i].file, "twin.kc") == 0)
      at += (size_t)snprintf(text + at, bytes - at, "%u `%s`:%s%s%s\n", b[i].line, b[i].text,
                             b[i].taken[1] ? " true" : "", b[i].taken[0] ? " false" : "",
                             b[i].label ? " (label)" : "");
}

static void conditions_say_which_sides_were_taken(void **state) {
  static const char body[] = "const u32 i = group_x * 32 + thread;\n"
                             "if (i >= n) return;\n"
                             "f32 v = i > 3u && x[i] > 5.0f ? 1.0f : x[i];\n"
                             "if (32 > 16) v += 0.0f;\n"
                             "for (u32 k = 0; k < 2u; k++)\n"
                             "  if (k > 7u || v > 9.0f)\n"
                             "    v = 0.0f;\n"
                             "switch (i % 4u) { case 1: v += 1.0f; break; case 9: v = 0.0f; }\n"
                             "while (v > 100.0f) v -= 1.0f;\n"
                             "y[i] = v;\n";
  char text[32768], said[4096];
  Twin t;
  (void)state;
  FOR_EACH_WIDTH(width) {
    open_twin(&t, "input_written", "good", width);
    snprintf(text, sizeof text, "%s%s}\n", preamble, body);
    load(&t.bench, text, "twin");
    t.threads = 32, t.groups = 1, t.elements = 32;
    if (launch_twin(&t)) fail_msg("%s", t.bench.error.message);
    all_branches(&t, said, sizeof said);
    assert_string_equal(said, "2 `i >= n`: false\n"
                              "3 `i > 3u`: true false\n"
                              "3 `x[i] > 5.0f`: false\n"
                              "5 `k < 2u`: true false\n"
                              "6 `k > 7u`: false\n"
                              "6 `v > 9.0f`: false\n"
                              "8 `case 1`: true false (label)\n"
                              "8 `case 9`: false (label)\n"
                              "9 `v > 100.0f`: false\n");
    t.elements = 20; /* what was taken once stays so */
    if (launch_twin(&t)) fail_msg("%s", t.bench.error.message);
    all_branches(&t, said, sizeof said);
    assert_non_null(strstr(said, "2 `i >= n`: true false\n"));
    assert_non_null(strstr(said, "9 `v > 100.0f`: false\n"));
    close_twin(&t);
  }
}

/* Of a launch that ended early the counts mean nothing. */
static void a_launch_with_a_finding_is_not_counted(void **state) {
  char text[32768], said[4096];
  Twin t;
  (void)state;
  open_twin(&t, "input_written", "good", 0);
  snprintf(text, sizeof text, "%sif (n == 20) return;\ny[thread] = x[thread];\n}\n", preamble);
  load(&t.bench, text, "twin");
  t.threads = t.elements = 32, t.groups = 1;
  if (launch_twin(&t)) fail_msg("%s", t.bench.error.message);
  t.elements = 20;
  assert_int_equal(launch_twin(&t), KG_DEVICE_FAILED);
  all_branches(&t, said, sizeof said);
  assert_string_equal(said, "1 `n == 20`: false\n");
  close_twin(&t);
}

typedef struct Runner {
  Twin *twin;
  int launches, wrong;
  kg_status expected;
} Runner;

static void *launch_often(void *data) {
  Runner *r = data;
  Twin mine = *r->twin; /* its own error */
  for (int i = 0; i < r->launches; i++) {
    r->wrong += launch_twin(&mine) != r->expected;
    r->wrong += (kg_simt_findings(&r->twin->bench.device, NULL) > 0) != (r->expected != KG_OK);
  }
  return NULL;
}

static void threads_that_share_a_device_have_findings_of_their_own(void **state) {
  (void)state;
  Twin good, bad;
  open_twin(&good, "race_missing_barrier", "good", 32);
  open_twin(&bad, "race_missing_barrier", "bad", 32);
  Twin bad_here = bad; /* the bad function, on the good one's device and data of its own */
  kg_function *other = good.bench.function;
  good.bench.function = NULL;
  char *body = read_text("tests/sanitize/race_missing_barrier/bad.kc"), text[32768];
  snprintf(text, sizeof text, "%s%s}\n", preamble, body);
  free(body);
  load(&good.bench, text, "twin");
  bad_here.bench = good.bench;
  good.bench.function = other;
  Runner runners[2] = {{&good, 20, 0, KG_OK}, {&bad_here, 20, 0, KG_DEVICE_FAILED}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &runners[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert_int_equal(runners[0].wrong, 0);
  assert_int_equal(runners[1].wrong, 0);
  good.bench.device.ops->unload(&good.bench.device, bad_here.bench.function);
  close_twin(&good);
  close_twin(&bad);
}

/* ---- other ways to come here ----------------------------------------------------------------- */

static void a_launch_without_a_call_is_held_to_the_devices_allocations(void **state) {
  (void)state;
  Twin t;
  open_twin(&t, "outside_past_the_end", "bad", 0);
  const struct {
    const void *x;
    void *y;
    u32 n;
  } block = {t.x, t.y, t.elements};
  const kg_grid grid = {{1, 1, 1}, {64, 1, 1}, 0};
  assert_int_equal(try_launch(&t.bench, &grid, &block, 20), KG_DEVICE_FAILED);
  assert_string_equal(t.bench.error.message,
                      "kernel twin at width 32, group (0, 0, 0): thread 50 (lane 18 of wave 1) "
                      "reads an allocation[50] at twin.kc:2, past the end of an allocation of 50 "
                      "elements");
  close_twin(&t);
}

/* The one that is written past its end is the last of a thousand. */
static void each_of_many_allocations_is_watched(void **state) {
  (void)state;
  enum { MANY = 1000 };
  static void *all[MANY];
  Twin t;
  open_twin(&t, "outside_past_the_end", "bad", 0);
  for (int i = 0; i < MANY; i++) all[i] = device_array(&t.bench, 50);
  const struct {
    const void *x;
    void *y;
    u32 n;
  } block = {all[MANY - 1], t.y, t.elements};
  const kg_grid grid = {{1, 1, 1}, {64, 1, 1}, 0};
  assert_int_equal(try_launch(&t.bench, &grid, &block, 20), KG_DEVICE_FAILED);
  assert_non_null(strstr(t.bench.error.message, "past the end of an allocation of 50 elements"));
  for (int i = 0; i < MANY; i++) t.bench.device.ops->free(&t.bench.device, all[i]);
  close_twin(&t);
}

static void each_of_many_shared_arrays_is_watched(void **state) {
  (void)state;
  static const char head[] = KERNEL(many, "f32 *y", "");
  Bench bench;
  Buf text = {0};
  buf_put(&text, head, (size_t)(strstr(head, "#line") - head));
  for (int i = 0; i < 400; i++) buf_printf(&text, "__shared__ f32 slot_%d[2];\n", i);
  buf_puts(&text, "f32 sum = 0;\n");
  for (int i = 0; i < 400; i++)
    buf_printf(&text, "slot_%d[0] = slot_%d[1] = 1; sum += slot_%d[threadIdx.x %% 2];\n", i, i, i);
  buf_puts(&text, "y[threadIdx.x] = sum;\n}\n");
  open_device(&bench, 32, "+check");
  load(&bench, text.s, "many");
  buf_free(&text);
  f32 *y = device_array(&bench, 1);
  const kg_grid grid = {{1, 1, 1}, {1, 1, 1}, 0};
  if (try_launch(&bench, &grid, &y, sizeof y)) fail_msg("%s", bench.error.message);
  assert_true(y[0] == 400.0f);
  bench.device.ops->free(&bench.device, y);
  close_device(&bench);
}

static void cuda_and_metal_texts_are_checked_too(void **state) {
  (void)state;
  static const char metal[] =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void turn(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
      "                 constant uint &n [[buffer(2)]],\n"
      "                 uint thread_x [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float slot[64];\n#line 1 \"turn.kc\"\n"
      "slot[thread_x] = x[thread_x];\n%s\ny[thread_x] = slot[63 - thread_x];\n}\n";
  static const char cuda[] =
      "extern \"C\" __global__ void turn(const float *x, float *y, unsigned n) {\n"
      "  __shared__ float slot[64];\n#line 1 \"turn.kc\"\n"
      "slot[threadIdx.x] = x[threadIdx.x];\n%s\ny[threadIdx.x] = slot[63 - threadIdx.x];\n}\n";
  static const struct {
    const char *mode, *text, *barrier;
  } texts[] = {{"metal+check", metal, "threadgroup_barrier(mem_flags::mem_threadgroup);"},
               {"cuda+check", cuda, "__syncthreads();"}};
  for (int i = 0; i < 2; i++)
    for (int good = 0; good < 2; good++) {
      Twin t = {.groups = 1, .threads = 64, .width = 32, .elements = 64};
      char text[2048], said[2048];
      open_device(&t.bench, 32, texts[i].mode);
      snprintf(text, sizeof text, texts[i].text, good ? texts[i].barrier : "");
      load(&t.bench, text, "turn");
      t.x = device_array(&t.bench, 64), t.y = device_array(&t.bench, 64);
      for (int e = 0; e < 64; e++) ((f32 *)t.x)[e] = (f32)e;
      assert_int_equal(launch_twin(&t), good ? KG_OK : KG_DEVICE_FAILED);
      all_sentences(&t, said, sizeof said);
      assert_string_equal(
          said,
          good ? ""
               : "unwritten read: kernel turn at width 32, group (0, 0, 0): thread 0 (lane 0 of "
                 "wave 0) reads slot[63] at turn.kc:3, which no thread of the group has written\n"
                 "race: kernel turn at width 32, group (0, 0, 0): thread 32 (lane 0 of wave 1) "
                 "writes slot[32] at turn.kc:1 while thread 31 (lane 31 of wave 0) may still read "
                 "it at turn.kc:3; no barrier between\n"
                 "race: kernel turn at width 32, group (0, 0, 0): thread 32 (lane 0 of wave 1) "
                 "reads slot[31] at turn.kc:3 while thread 31 (lane 31 of wave 0) may still write "
                 "it at turn.kc:1; no barrier between\n");
      close_twin(&t);
    }
}

static void checking_devices_open_by_their_names(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"simt32+check", "simt32+check (CPU, HIP text, checked)"},
      {"simt64+check", "simt64+check (CPU, HIP text, checked)"},
      {"simt32/cuda+check", "simt32/cuda+check (CPU, CUDA text, checked)"},
      {"simt64/metal+check", "simt64/metal+check (CPU, Metal text, checked)"},
  };
  kg_device *device;
  kg_error error;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (kg_device_open(names[i][0], &device, &error)) {
      if (no_clang(&error)) skip();
      fail_msg("%s", error.message);
    }
    assert_string_equal(kg_device_name(device), names[i][1]);
    assert_string_equal(kg_device_target(device),
                        i == 1 || i == 3 ? "simt64+check" : "simt32+check");
    assert_int_equal(kg_simt_findings(device, NULL), 0);
    kg_device_close(device);
  }
  static const char *const wrong[] = {"simt32+chek", "simt32+check+check", "simt64/cuda+check",
                                      "simt32+",     "simt32/+check/",     "hip+check"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_not_equal(kg_device_open(wrong[i], &device, &error), KG_OK);
}

static void an_endless_kernel_on_a_plain_device_is_a_report(void **state) {
  (void)state;
  Bench bench;
  u32 out[64];
  struct {
    u32 *out;
  } block = {out};
  const kg_grid grid = {{2, 1, 1}, {64, 1, 1}, 0};
  open_device(&bench, 32, "");
  ((kg_simt_device *)bench.device.self)->seconds = 0.1;
  load(&bench,
       KERNEL(hangs, "u32 *out",
              "u32 at = threadIdx.x;\nwhile (at != 77)\n  at = (at + 1) % 64;\nout[at] = 1;\n"),
       "hangs");
  for (int i = 0; i < 3; i++) {
    assert_int_equal(try_launch(&bench, &grid, &block, sizeof block), KG_DEVICE_FAILED);
    const char *tail = strstr(bench.error.message, "thread 0 is at hangs.kc:");
    assert_non_null(tail);
    assert_non_null(strstr(tail, ", and its group has taken more than 0.1 seconds: it may never "
                                 "end (KG_SIMT_SECONDS sets the limit)"));
  }
  load(&bench, KERNEL(meets, "u32 *out", "for (;;)\n  __syncthreads();\nout[threadIdx.x] = 1;\n"),
       "meets"); /* also where nothing but lanes' switching goes on */
  assert_int_equal(try_launch(&bench, &grid, &block, sizeof block), KG_DEVICE_FAILED);
  assert_non_null(strstr(bench.error.message, "its group has taken more than 0.1 seconds"));
  load(&bench, KERNEL(ends, "u32 *out", "out[threadIdx.x] = 1;\n"), "ends");
  LAUNCH(&bench, 1, 64, block);
  close_device(&bench);
}

/* ---- no false alarms ------------------------------------------------------------------------- */

/* The kernels that have a port there: `cases` of each, which take the types in turn.  `kgen verify`
** runs all of them in all types. */
static void silent_about_the_library(const char *name, int cases) {
  kg_device *device;
  kg_error error;
  if (kg_device_open(name, &device, &error)) {
    if (no_clang(&error)) skip();
    fail_msg("%s", error.message);
  }
  Arena *all = arena_new();
  LibraryOptions options = {.spec = "kernels.lua", .templates = "templates"};
  const Library *library = library_open(all, &options);
  assert_non_null(library);
  References *references = references_open(all, library->spec, options.templates);
  int trials = 0;
  for (int k = 0; k < library->spec->kernel_count; k++) {
    const Kernel *kernel = library->spec->kernels[k];
    if (!kg_has_port(kernel->model.ports, device)) continue;
    int combinations = 1;
    for (int i = 0; i < kernel->type_count; i++) combinations *= kernel->types[i].count;
    for (int c = 0; c < kernel->case_count && c < cases; c++, trials++) {
      kg_dtype types[MAX_TYPES];
      for (int i = 0, rest = c % combinations; i < kernel->type_count; i++) {
        types[i] = kernel->types[i].dtypes[rest % kernel->types[i].count];
        rest /= kernel->types[i].count;
      }
      Arena *a = arena_new();
      const kg_instance instance = case_instance(kernel, &kernel->cases[c], types);
      const char *why = NULL;
      const TrialData *data = trial_data(a, kernel, &instance, &kernel->cases[c],
                                         reference_of(references, kernel), 1, &why);
      if (!data) fail_msg("%s: %s", kernel->name, why);
      const Trial trial = trial_run(a, data, device, 1);
      if (!trial.right)
        fail_msg("%s, case %d on %s: %s", kernel->name, c + 1, name,
                 trial.status ? trial.message : "wrong");
      assert_int_equal(kg_simt_findings(device, NULL), 0);
      arena_free(a);
    }
  }
  assert_true(trials > 0);
  references_close(references);
  arena_free(all);
  kg_device_close(device);
}

static void silent_about_the_library_at_32_lanes(void **state) {
  (void)state;
  silent_about_the_library("simt32+check", 4);
}
static void silent_about_the_library_at_64_lanes(void **state) {
  (void)state;
  silent_about_the_library("simt64+check", 4);
}
static void silent_about_the_librarys_cuda_texts(void **state) {
  (void)state;
  silent_about_the_library("simt32/cuda+check", 1);
}
static void silent_about_the_librarys_metal_texts(void **state) {
  (void)state;
  silent_about_the_library("simt32/metal+check", 1);
}

int main(void) {
  static struct CMUnitTest tests[128] = {
      cmocka_unit_test(a_finding_names_both_threads_and_all_their_lines),
      cmocka_unit_test(the_message_of_a_launch_has_three_findings_and_says_how_many_more),
      cmocka_unit_test(findings_are_gone_after_a_clean_launch),
      cmocka_unit_test(threads_that_share_a_device_have_findings_of_their_own),
      cmocka_unit_test(a_launch_without_a_call_is_held_to_the_devices_allocations),
      cmocka_unit_test(each_of_many_allocations_is_watched),
      cmocka_unit_test(each_of_many_shared_arrays_is_watched),
      cmocka_unit_test(cuda_and_metal_texts_are_checked_too),
      cmocka_unit_test(checking_devices_open_by_their_names),
      cmocka_unit_test(an_endless_kernel_on_a_plain_device_is_a_report),
      cmocka_unit_test(silent_about_the_library_at_32_lanes),
      cmocka_unit_test(what_may_be_left_is_not_missed),
      cmocka_unit_test(conditions_say_which_sides_were_taken),
      cmocka_unit_test(a_launch_with_a_finding_is_not_counted),
      cmocka_unit_test(silent_about_the_library_at_64_lanes),
      cmocka_unit_test(silent_about_the_librarys_cuda_texts),
      cmocka_unit_test(silent_about_the_librarys_metal_texts),
  };
  enum { ROOM = sizeof tests / sizeof *tests };
  int count = 0;
  struct dirent **entries;
  while (tests[count].name) count++;
  const int found = scandir("tests/sanitize", &entries, NULL, alphasort);
  for (int i = 0; i < found && count < ROOM; i++)
    if (entries[i]->d_name[0] != '.')
      tests[count++] =
          (struct CMUnitTest){.name = entries[i]->d_name,
                              .test_func = the_bad_one_is_found_and_its_good_twin_is_silent,
                              .initial_state = entries[i]->d_name};
  const int failed = _cmocka_run_group_tests("sanitize", tests, (size_t)count, NULL, NULL);
  for (int i = 0; i < found; i++) free(entries[i]);
  if (found >= 0) free(entries);
  return failed;
}

/* test_simt.c: the SIMT device runs texts written here by hand, and gives exactly the right
** values. */
#include <sys/stat.h>

#include "simt_fixture.h"

#define FOLD(start) "for (int m = " start "; m > 0; m >>= 1) x += __shfl_xor(x, m, WIDTH);\n"

static const char *wave_sum_text(const char *start) {
  static char text[1024];
  snprintf(text, sizeof text,
           KERNEL(sums, "const f32 *in, f32 *out",
                  "const int WIDTH = __AMDGCN_WAVEFRONT_SIZE__;\n"
                  "f32 x = in[blockIdx.x * blockDim.x + threadIdx.x];\n" FOLD(
                      "%s") "out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n"),
           start);
  return text;
}

/* ---- lane operations give exact values ------------------------------------------------------ */

static void sum_of_waves(Bench *bench, int width, const char *start, f32 *out, int n) {
  f32 in[512];
  struct {
    const f32 *in;
    f32 *out;
  } args = {in, out};
  for (int i = 0; i < n; i++) in[i] = (f32)(i % 97 + 1);
  open_device(bench, width, "");
  load(bench, wave_sum_text(start), "sums");
  LAUNCH(bench, 1, (u32)n, args);
  close_device(bench);
}

static f32 true_sum(int width, int i) {
  f32 sum = 0;
  for (int j = i / width * width; j < i / width * width + width; j++) sum += (f32)(j % 97 + 1);
  return sum;
}

static void a_butterfly_over_the_wave_gives_every_lane_the_sum(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    f32 out[256];
    sum_of_waves(&bench, width, "WIDTH / 2", out, 256);
    for (int i = 0; i < 256; i++) assert_true(out[i] == true_sum(width, i));
  }
}

static void a_fold_that_starts_at_16_is_right_at_32_lanes_and_wrong_at_64(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    f32 out[256];
    sum_of_waves(&bench, width, "16", out, 256);
    for (int i = 0; i < 256; i++) {
      assert_true(out[i] == true_sum(32, i));
      assert_int_equal(out[i] == true_sum(width, i), width == 32);
    }
  }
}

/* Beyond the wave's ends all-one bits, beyond a part's ends the lane itself. */
static void shuffles_of_each_kind_and_type_follow_hips_rules(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    u32 out[64 * 8];
    struct {
      u32 *out;
    } args = {out};
    open_device(&bench, width, "");
    load(&bench,
         KERNEL(kinds, "u32 *out",
                "const u32 l = threadIdx.x;\n"
                "u32 *o = out + 8 * l;\n"
                "o[0] = __shfl_down(l, 3);\n"
                "o[1] = __shfl_up(l, 3);\n"
                "o[2] = __shfl(l, 5);\n"
                "o[3] = __shfl_down(l, 3, 8);\n"
                "o[4] = __shfl_xor(l, 8, 8);\n"
                "o[5] = (u32)__shfl(-(i32)l, 6, 8);\n"
                "o[6] = (u32)__shfl_up((f32)l + 0.5f, 1);\n"
                "o[7] = __lane_id();\n"),
         "kinds");
    LAUNCH(&bench, 1, (u32)width, args);
    for (u32 l = 0; l < (u32)width; l++) {
      const u32 *o = out + 8 * l, eighth = l & ~7u;
      assert_int_equal(o[0], l + 3 < (u32)width ? l + 3 : ~0u);
      assert_int_equal(o[1], l >= 3 ? l - 3 : ~0u);
      assert_int_equal(o[2], 5);
      assert_int_equal(o[3], l + 3 < eighth + 8 ? l + 3 : l);
      assert_int_equal(o[4], (l ^ 8) >= eighth + 8 ? l : l ^ 8);
      assert_int_equal((int32_t)o[5], -(int32_t)(eighth + 6));
      assert_int_equal(o[6], l > 0 ? l - 1 : 0); /* from NaN */
      assert_int_equal(o[7], l);
    }
    close_device(&bench);
  }
}

static void votes_see_every_lane_and_ballots_are_as_wide_as_the_wave(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    uint64_t out[64 * 5];
    struct {
      uint64_t *out;
    } args = {out};
    open_device(&bench, width, "");
    load(&bench,
         KERNEL(votes, "u64 *out",
                "u64 *o = out + 5 * threadIdx.x;\n"
                "o[0] = __ballot(threadIdx.x % 3 == 0);\n"
                "o[1] = __any(threadIdx.x == warpSize - 1);\n"
                "o[2] = __all(threadIdx.x < warpSize - 1);\n"
                "o[3] = __all(1);\n"
                "o[4] = __popcll(o[0]) * 100 + __ffsll(o[0] << 7) + 10000 * __any(0);\n"),
         "votes");
    LAUNCH(&bench, 1, (u32)width, args);
    uint64_t thirds = 0;
    for (int l = 0; l < width; l += 3) thirds |= 1ull << l;
    for (int l = 0; l < width; l++) {
      const uint64_t *o = out + 5 * l;
      assert_true(o[0] == thirds);
      assert_true(o[1] == 1 && o[2] == 0 && o[3] == 1);
      assert_true(o[4] == (width == 32 ? 1108 : 2208));
    }
    close_device(&bench);
  }
}

/* ---- groups, grids, shared memory ----------------------------------------------------------- */

static void every_thread_of_a_grid_on_all_axes_runs_once(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    enum { GROUPS = 5 * 3 * 7, THREADS = 8 * 4 * 3 };
    static u32 out[GROUPS * THREADS];
    struct {
      u32 *out;
    } args = {out};
    const kg_grid grid = {{5, 3, 7}, {8, 4, 3}, 0};
    memset(out, 0, sizeof out);
    open_device(&bench, width, "");
    load(
        &bench,
        KERNEL(axes, "u32 *out",
               "const u32 group = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
               "const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
               "threadIdx.z);\n"
               "out[group * 96 + thread] += 1 + group * 1000 + thread;\n"),
        "axes");
    assert_int_equal(try_launch(&bench, &grid, &args, sizeof args), KG_OK);
    for (u32 i = 0; i < GROUPS * THREADS; i++) assert_int_equal(out[i], 1 + i / 96 * 1000 + i % 96);
    close_device(&bench);
  }
}

static const char reverse_text[] = KERNEL(turn, "const u32 *in, u32 *out, u32 rounds",
                                          "__shared__ u32 slot[1024];\n"
                                          "u32 x = in[blockIdx.x * blockDim.x + threadIdx.x];\n"
                                          "for (u32 i = 0; i < rounds; i++) {\n"
                                          "  slot[threadIdx.x] = x;\n"
                                          "  __syncthreads();\n"
                                          "  x = slot[blockDim.x - 1 - threadIdx.x] + 1;\n"
                                          "  __syncthreads();\n"
                                          "}\n"
                                          "out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n");

static void groups_of_1024_threads_talk_through_shared_memory_and_barriers(void **state) {
  (void)state;
  FOR_EACH_WIDTH(width) {
    Bench bench;
    enum { GROUPS = 9, THREADS = 1024 };
    static u32 in[GROUPS * THREADS], out[GROUPS * THREADS];
    struct {
      const u32 *in;
      u32 *out;
      u32 rounds;
    } args = {in, out, 5};
    for (u32 i = 0; i < GROUPS * THREADS; i++) in[i] = i * 3;
    open_device(&bench, width, "");
    load(&bench, reverse_text, "turn");
    LAUNCH(&bench, GROUPS, THREADS, args);
    for (u32 g = 0; g < GROUPS; g++)
      for (u32 t = 0; t < THREADS; t++)
        assert_int_equal(out[g * 1024 + t], in[g * 1024 + 1023 - t] + 5);
    close_device(&bench);
  }
}

static void shared_memory_is_spoiled_for_each_group(void **state) {
  (void)state;
  Bench bench;
  u32 out[64];
  struct {
    u32 *out;
  } args = {out};
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(stale, "u32 *out",
              "__shared__ u32 slot[1];\nout[blockIdx.x] = slot[0];\nslot[0] = 7;\n"),
       "stale");
  LAUNCH(&bench, 64, 1, args);
  for (int i = 0; i < 64; i++) assert_int_equal(out[i], 0xffffffffu);
  close_device(&bench);
}

static void arguments_are_read_with_the_alignment_of_c(void **state) {
  (void)state;
  Bench bench;
  double out[1] = {0};
  struct {
    double *out;
    u32 a;
    unsigned char b;
    u32 c;
    uint64_t d;
    f32 e;
  } args = {out, 1, 20, 300, 4000, 0.5f};
  open_device(&bench, 64, "");
  load(&bench,
       KERNEL(mixed, "double *out, const u32 a, unsigned char b, u32 c, u64 d, f32 e",
              "*out = a + b + c + d + e;\n"),
       "mixed");
  LAUNCH(&bench, 1, 1, args);
  assert_true(out[0] == 4321.5);
  const kg_grid one = {{1, 1, 1}, {1, 1, 1}, 0};
  assert_int_equal(try_launch(&bench, &one, &args, 32), KG_BAD_ARGUMENT);
  assert_string_equal(bench.error.message,
                      "kernel mixed: an argument block of 32 bytes, and the entry takes 36");
  close_device(&bench);
}

/* ---- math ----------------------------------------------------------------------------------- */

static void nothing_is_contracted_and_fma_rounds_once(void **state) {
  (void)state;
  Bench bench;
  f32 out[4];
  struct {
    f32 *out;
    f32 a, b;
  } args = {out, 1 + 0x1p-12f, -(1 + 0x1p-11f)};
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(once, "f32 *out, f32 a, f32 b",
              "out[0] = a * a + b;\nout[1] = fmaf(a, a, b);\nout[2] = expf(a);\nout[3] = "
              "expf(1.000244140625f);\n"),
       "once");
  LAUNCH(&bench, 1, 1, args);
  assert_true(out[0] == 0);
  assert_true(out[1] == 0x1p-24f);
  assert_memory_equal(&out[2], &out[3],
                      4); /* not folded at compile time: the same function, the same bits */
  close_device(&bench);
}

/* ---- compiling ------------------------------------------------------------------------------ */

static const char guarded[] =
    "#define KG_WAVE 32\n"
    "#if __AMDGCN_WAVEFRONT_SIZE__ != KG_WAVE\n"
    "#  error \"kgen: guarded: this instance is for another wavefront width than the target's\"\n"
    "#endif\n"
    "extern \"C\" __global__ void guarded(unsigned *out) { *out = KG_WAVE; }\n";

static void an_instance_of_another_width_does_not_compile(void **state) {
  (void)state;
  Bench bench;
  open_device(&bench, 32, "");
  load(&bench, guarded, "guarded");
  close_device(&bench);
  open_device(&bench, 64, "");
  assert_int_equal(try_load(&bench, guarded, "guarded"), KG_COMPILE_FAILED);
  assert_non_null(strstr(bench.error.message,
                         "tests/hand.hip:3:4: error: \"kgen: guarded: this instance is for another "
                         "wavefront width than the target's\""));
  const kg_source source = {.kernel = "guarded", .entry = "guarded", .text = guarded, .wave = 32};
  kg_blob blob;
  assert_int_equal(bench.device.ops->compile(&bench.device, &source, &blob, &bench.error),
                   KG_BAD_WIDTH);
  assert_string_equal(bench.error.message,
                      "kernel guarded: the instance is for 32 lanes and simt64 has 64");
  close_device(&bench);
}

static void an_error_of_the_compiler_names_the_bodys_line(void **state) {
  (void)state;
  Bench bench;
  open_device(&bench, 32, "");
  assert_int_equal(
      try_load(&bench, KERNEL(wrong, "u32 *out", "u32 x = 1;\n\nout[0] = y;\n"), "wrong"),
      KG_COMPILE_FAILED);
  assert_non_null(strstr(bench.error.message, "kernel wrong: clang "));
  assert_non_null(
      strstr(bench.error.message, "\nwrong.kc:3:10: error: use of undeclared identifier 'y'"));
  assert_int_equal(
      try_load(&bench, KERNEL(wrong, "u32 *out", "out[0] = __match_any(1);\n"), "wrong"),
      KG_COMPILE_FAILED);
  assert_int_equal(try_load(&bench, KERNEL(right, "u32 *out", "out[0] = 1;\n"), "other"),
                   KG_COMPILE_FAILED);
  assert_int_equal(try_load(&bench, KERNEL(right, "u32 *out", "out[0] = 1;\n"), "a b"),
                   KG_BAD_ARGUMENT);
  close_device(&bench);
}

static int temporary_files(void) {
  const char *folder = getenv("TMPDIR");
  DIR *at = opendir(folder && *folder ? folder : "/tmp");
  int count = 0;
  if (!at) return 0;
  for (struct dirent *entry; (entry = readdir(at));)
    count += strncmp(entry->d_name, "kg-simt-", 8) == 0;
  closedir(at);
  return count;
}

static void nothing_is_left_in_the_temporary_folder(void **state) {
  (void)state;
  char folder[] = "/tmp/kg-test-simt-XXXXXX";
  Bench bench;
  u32 out[64];
  struct {
    u32 *out;
  } args = {out};
  assert_non_null(mkdtemp(folder));
  setenv("TMPDIR", folder, 1);
  open_device(&bench, 32, "");
  load(&bench, KERNEL(right, "u32 *out", "out[blockIdx.x] = 1;\n"), "right");
  LAUNCH(&bench, 64, 1, args);
  assert_int_equal(try_load(&bench, "wrong", "wrong"), KG_COMPILE_FAILED);
  close_device(&bench);
  assert_int_equal(temporary_files(), 0);
  unsetenv("TMPDIR");
  assert_int_equal(rmdir(folder), 0);
}

static void a_missing_compiler_is_said_so(void **state) {
  (void)state;
  kg_device device = {.ops = &kg_device_simt};
  kg_error error;
  char *before = getenv("KG_CLANG");
  before = before ? strdup(before) : NULL;
  setenv("KG_CLANG", "/nowhere/clang", 1);
  assert_int_equal(kg_device_simt.open(&device, 32, "", &error), KG_NO_COMPILER);
  assert_string_equal(error.message,
                      "KG_CLANG is \"/nowhere/clang\", and no such program can be run");
  setenv("KG_CLANG", "/bin/true", 1);
  assert_int_equal(kg_device_simt.open(&device, 32, "", &error), KG_NO_COMPILER);
  assert_string_equal(error.message, "/bin/true does not answer --version as clang does");
  if (before)
    setenv("KG_CLANG", before, 1);
  else
    unsetenv("KG_CLANG");
  free(before);
}

/* A program in place of clang: what it does when it is not asked for its version. */
static void compile_with(const char *does, bool ignored, kg_error *error) {
  static const char text[] = KERNEL(right, "u32 *out", "out[0] = 1;\n");
  char path[] = "/tmp/kg-clang-XXXXXX";
  FILE *script = fdopen(mkstemp(path), "w");
  fprintf(script, "#!/bin/sh\n[ $1 != --version ] || { echo clang version 19.1.7; exit 0; }\n%s\n",
          does);
  assert_int_equal(fchmod(fileno(script), 0700), 0);
  fclose(script);
  char *before = getenv("KG_CLANG");
  before = before ? strdup(before) : NULL;
  setenv("KG_CLANG", path, 1);
  if (ignored) signal(SIGCHLD, SIG_IGN);
  kg_device device = {.ops = &kg_device_simt};
  kg_blob blob = {0};
  const kg_source source = {
      .kernel = "right", .entry = "right", .text = text, .file = "right.hip", .wave = 32};
  assert_int_equal(kg_device_simt.open(&device, 32, "", error), KG_OK);
  kg_device_simt.compile(&device, &source, &blob, error);
  kg_device_simt.close(&device);
  signal(SIGCHLD, SIG_DFL);
  free(blob.bytes);
  if (before)
    setenv("KG_CLANG", before, 1);
  else
    unsetenv("KG_CLANG");
  free(before);
  unlink(path);
}

static void a_compiler_that_is_killed_does_not_refuse_the_text(void **state) {
  (void)state;
  for (int ignored = 0; ignored < 2; ignored++) { /* also where the host ignores SIGCHLD */
    kg_error error;
    compile_with("echo warning >&2; kill -9 $$", ignored, &error);
    assert_int_equal(error.status, KG_COMPILE_FAILED);
    assert_string_equal(error.message, "kernel right: clang 19.1.7 broke off on the hip text at "
                                       "width 32: its process ended by signal 9 (Killed)");
    compile_with("echo 'right.kc:1: error: no' >&2; exit 1", ignored, &error);
    assert_int_equal(error.status, KG_COMPILE_FAILED);
    assert_string_equal(error.message, "kernel right: clang 19.1.7 refuses the hip text at width "
                                       "32 (exit status 1):\nright.kc:1: error: no");
    compile_with("exit 0", ignored, &error);
    assert_int_equal(error.status, KG_DEVICE_FAILED); /* and no object */
    assert_non_null(strstr(error.message, "/text.so: No such file or directory"));
  }
}

static void what_is_over_a_limit_is_refused(void **state) {
  (void)state;
  Bench bench;
  u32 out[1];
  struct {
    u32 *out;
  } args = {out};
  open_device(&bench, 32, "");
  assert_int_equal(try_load(&bench,
                            KERNEL(large, "u32 *out",
                                   "__shared__ u32 slot[16385];\n"
                                   "slot[threadIdx.x] = 1;\n*out = slot[0];\n"),
                            "large"),
                   KG_LIMIT);
  assert_string_equal(bench.error.message,
                      "large: its shared arrays take 65540 bytes and the device has 65536");
  load(&bench, KERNEL(small, "u32 *out", "*out = 1;\n"), "small");
  const kg_grid threads = {{1, 1, 1}, {32, 33, 1}, 0}, none = {{1, 1, 1}, {32, 0, 1}, 0};
  const kg_grid groups = {{1, 65536, 1}, {1, 1, 1}, 0}, shared = {{1, 1, 1}, {1, 1, 1}, 65537},
                empty = {{0, 1, 1}, {1, 1, 1}, 0};
  assert_int_equal(try_launch(&bench, &threads, &args, sizeof args), KG_LIMIT);
  assert_int_equal(try_launch(&bench, &none, &args, sizeof args), KG_LIMIT);
  assert_int_equal(try_launch(&bench, &groups, &args, sizeof args), KG_TOO_LARGE);
  assert_int_equal(try_launch(&bench, &shared, &args, sizeof args), KG_LIMIT);
  assert_int_equal(try_launch(&bench, &empty, &args, sizeof args), KG_OK);
  close_device(&bench);
}

/* ---- several launches at once --------------------------------------------------------------- */

typedef struct Race {
  Bench *bench;
  kg_function *function;
  u32 seed;
  int wrong;
} Race;

static void *launch_often(void *data) {
  Race *race = data;
  enum { GROUPS = 6, THREADS = 256 };
  u32 in[GROUPS * THREADS], out[GROUPS * THREADS];
  struct {
    const u32 *in;
    u32 *out;
    u32 rounds;
  } args = {in, out, 3};
  const kg_grid grid = {{GROUPS, 1, 1}, {THREADS, 1, 1}, 0};
  kg_error error;
  for (u32 round = 0; round < 60; round++) {
    for (u32 i = 0; i < GROUPS * THREADS; i++) in[i] = i * race->seed + round;
    if (kg_device_simt.launch(&race->bench->device, race->function, &grid, &args, sizeof args,
                              &error))
      race->wrong++;
    for (u32 i = 0; i < GROUPS * THREADS; i++)
      race->wrong += out[i] != in[i / THREADS * THREADS + THREADS - 1 - i % THREADS] + 3;
  }
  return NULL;
}

static void launches_of_one_kernel_from_several_threads_do_not_meet(void **state) {
  (void)state;
  Bench bench;
  open_device(&bench, 64, "");
  load(&bench, reverse_text, "turn");
  Race races[4];
  pthread_t threads[4];
  for (u32 i = 0; i < 4; i++) {
    races[i] = (Race){&bench, bench.function, i * 7 + 1, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &races[i]), 0);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 4; i++) assert_int_equal(races[i].wrong, 0);
  close_device(&bench);
}

/* ---- the order of lanes is a parameter ------------------------------------------------------ */

/* Who came when, before and after a lane operation and a barrier. */
static void order_of(Bench *bench, kg_simt_order order, uint64_t seed, u32 *came) {
  u32 count = 0;
  struct {
    u32 *count, *came;
  } args = {&count, came};
  kg_simt_job job = {.function = bench->function, .grid = {{1, 1, 1}, {96, 1, 1}, 0}};
  job.arguments = &args, job.groups = 1, job.order = order, job.seed = seed, job.strict = true;
  kg_simt_device *self = bench->device.self;
  assert_int_equal(kg_simt_pool_run(self->pool, &job, &bench->error), KG_OK);
  assert_int_equal(count, 3 * 96);
}

static void lanes_run_forward_in_reverse_or_shuffled_by_a_seed(void **state) {
  (void)state;
  Bench bench;
  u32 forward[288], reverse[288], first[288], again[288], other[288];
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(order, "u32 *count, u32 *came",
              "came[(*count)++] = threadIdx.x;\n"
              "(void)__any(1);\n"
              "came[(*count)++] = threadIdx.x;\n"
              "__syncthreads();\n"
              "came[(*count)++] = threadIdx.x;\n"),
       "order");
  order_of(&bench, KG_SIMT_FORWARD, 0, forward);
  order_of(&bench, KG_SIMT_REVERSE, 0, reverse);
  order_of(&bench, KG_SIMT_SHUFFLED, 5, first);
  order_of(&bench, KG_SIMT_SHUFFLED, 5, again);
  order_of(&bench, KG_SIMT_SHUFFLED, 6, other);
  for (u32 i = 0; i < 96; i++) {
    const u32 at =
        i / 32 * 64 + i % 32; /* a wave goes on to its second step before the next begins */
    assert_int_equal(forward[at], i);
    assert_int_equal(forward[at + 32], i);
    assert_int_equal(forward[192 + i], i);
    assert_int_equal(reverse[at], 95 - i);
    assert_int_equal(reverse[at + 32], 95 - i);
    assert_int_equal(reverse[192 + i], 95 - i);
  }
  assert_memory_equal(first, again, sizeof first);
  assert_memory_not_equal(first, other, sizeof first);
  assert_memory_not_equal(first, forward, sizeof first);
  close_device(&bench);
}

/* ---- the other backends' texts -------------------------------------------------------------- */

static const char cuda_text[] =
    HEAD "extern \"C\" __global__ void __launch_bounds__(64)\n"
         "fold(const f32 *__restrict__ in, f32 *__restrict__ out, u32 n) {\n"
         "  __shared__ f32 slot[2];\n"
         "  f32 x = threadIdx.x < n ? in[threadIdx.x] : 0.0f;\n"
         "  for (int m = 16; m > 0; m >>= 1) x += __shfl_xor_sync(0xffffffffu, x, m);\n"
         "  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = x;\n"
         "  __syncthreads();\n"
         "  if (threadIdx.x == 0) out[0] = expf(1.0f / (slot[0] + slot[1]));\n"
         "}\n";

static const char metal_text[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "#pragma METAL fp contract(off)\n"
    "struct block { uint n; };\n"
    "[[max_total_threads_per_threadgroup(64)]] kernel void\n"
    "fold(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],\n"
    "     constant block &args [[buffer(2)]], // kernel void\n"
    "     uint3 at [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {\n"
    "  threadgroup float slot[2];\n"
    "  float x = at.x < args.n ? in[at.x] : 0.0f;\n"
    "  for (ushort m = 16; m > 0; m >>= 1) x += simd_shuffle_xor(x, m);\n"
    "  if (lane == 0) slot[at.x / 32] = x;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (at.x == 0) out[0] = precise::exp(1.0f / (slot[0] + slot[1]));\n"
    "}\n";

static const char hip_text[] =
    HEAD "extern \"C\" __global__ void __launch_bounds__(64)\n"
         "fold(const f32 *__restrict__ in, f32 *__restrict__ out, u32 n) {\n"
         "  __shared__ f32 slot[2];\n"
         "  f32 x = threadIdx.x < n ? in[threadIdx.x] : 0.0f;\n"
         "  for (int m = 16; m > 0; m >>= 1) x += __shfl_xor(x, m);\n"
         "  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = x;\n"
         "  __syncthreads();\n"
         "  if (threadIdx.x == 0) out[0] = expf(1.0f / (slot[0] + slot[1]));\n"
         "}\n";

static f32 fold_of(const char *mode, const char *text) {
  Bench bench;
  f32 in[64], out = 0;
  struct {
    const f32 *in;
    f32 *out;
    u32 n;
  } args = {in, &out, 61};
  for (int i = 0; i < 64; i++) in[i] = 0.1f * (f32)i;
  open_device(&bench, 32, mode);
  load(&bench, text, "fold");
  LAUNCH(&bench, 1, 64, args);
  close_device(&bench);
  return out;
}

static void the_texts_of_three_backends_agree_to_the_last_bit(void **state) {
  (void)state;
  const f32 hip = fold_of("hip", hip_text), cuda = fold_of("cuda", cuda_text),
            metal = fold_of("metal", metal_text);
  assert_true(fabsf(hip - expf(1 / 183.0f)) < 1e-6f);
  assert_memory_equal(&hip, &cuda, 4);
  assert_memory_equal(&hip, &metal, 4);
}

/* ---- what is no right answer of this machine's ----------------------------------------------- */

/* Clamped, wrapped, and not what the processor happens to answer. */
static void what_cpp_leaves_open_is_the_same_on_every_machine(void **state) {
  (void)state;
  Bench bench;
  u32 out[8];
  struct {
    u32 *out;
    f32 one;
    int32_t most;
  } args = {out, 1, INT32_MAX};
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(open, "u32 *o, f32 one, i32 most",
              "o[0] = (u32)(i32)(3e9f * one);\n"
              "o[1] = (u32)(i32)(-3e9f * one);\n"
              "o[2] = (u32)(-5.0f * one);\n"
              "o[3] = (u32)(5e9f * one);\n"
              "o[4] = (u32)(i32)(0.0f / (one - 1));\n"
              "o[5] = (u32)(signed char)(300.0f * one);\n"
              "o[6] = (u32)(most + (i32)one);\n"
              "o[7] = most + (i32)one > most;\n"),
       "open");
  LAUNCH(&bench, 1, 1, args);
  static const u32 wanted[] = {0x7fffffff, 0x80000000, 0, 0xffffffff, 0, 127, 0x80000000, 0};
  for (int i = 0; i < 8; i++) assert_int_equal(out[i], wanted[i]);
  close_device(&bench);
}

/* Each of four functions of an argument, from a text whose words these are. */
static void fast_of(const char *mode, const char *text, const f32 *x, f32 *y, u32 count) {
  Bench bench;
  struct {
    const f32 *x;
    f32 *y;
  } args = {x, y};
  open_device(&bench, 32, mode);
  load(&bench, text, "quick");
  LAUNCH(&bench, count / 64, 64, args);
  close_device(&bench);
}

/* How far y is from the value, in units of the last place of an f32 there. */
static double ulps(f32 y, double value) { return fabs(y - value) / ldexp(1, ilogb(value) - 23); }

#define FAST(exp, exp2, log, log2)                                                                 \
  "y[4 * i] = " exp "(x[i]);\ny[4 * i + 1] = " exp2 "(x[i]);\n"                                    \
  "y[4 * i + 2] = " log "(x[i] * x[i]);\ny[4 * i + 3] = " log2 "(x[i] * x[i]);\n}\n"

static void fast_words_are_off_by_what_devices_may_be_off_and_alike(void **state) {
  (void)state;
  enum { COUNT = 1024 };
  static const char head[] = HEAD "extern \"C\" __global__ void quick(const f32 *x, f32 *y) {\n"
                                  "const u32 i = blockIdx.x * 64 + threadIdx.x;\n" FAST(
                                      "__expf", "__exp2f", "__logf", "__log2f");
  static const char metal[] =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void quick(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
      "                 uint i [[thread_position_in_grid]]) {\n" FAST("fast::exp", "fast::exp2",
                                                                      "fast::log", "fast::log2");
  static f32 x[COUNT], hip[4 * COUNT], cuda[4 * COUNT], apple[4 * COUNT];
  double worst[4] = {0};
  for (int i = 0; i < COUNT; i++) x[i] = (f32)(i - COUNT / 2) / 16;
  fast_of("hip", head, x, hip, COUNT);
  fast_of("cuda", head, x, cuda, COUNT);
  fast_of("metal", metal, x, apple, COUNT);
  assert_memory_equal(hip, cuda, sizeof hip);
  assert_memory_equal(hip, apple, sizeof hip);
  for (int i = 0; i < COUNT; i++) {
    const double v = x[i], square = (f32)(v * v);
    const double values[] = {exp(v), exp2(v), log(square), log2(square)};
    for (int f = 0; f < 4 && v != 0; f++) {
      const bool near_1 = f >= 2 && square >= 0.5 && square <= 2;
      const double off =
          near_1 ? fabs(hip[4 * i + f] - values[f]) * 0x1p21
                 : ulps(hip[4 * i + f], values[f]) / (f < 2 ? 3 + floor(2 * fabs(v)) : 3);
      if (f >= 2 || v < 80) assert_true(off <= 1);
      if (off > worst[f] && off <= 1) worst[f] = off;
    }
  }
  for (int f = 0; f < 4; f++) assert_true(worst[f] > 0.7);
  assert_true(hip[4 * COUNT / 2] == 1 && hip[4 * COUNT / 2 + 2] == -INFINITY);
}

static void each_mode_says_whose_texts_it_runs(void **state) {
  (void)state;
  static const struct {
    const char *mode, *backend, *name;
    u32 shared;
  } rows[] = {
      {"", "hip", "simt32 (CPU, HIP text)", 65536},
      {"hip", "hip", "simt32/hip (CPU, HIP text)", 65536},
      {"cuda", "cuda", "simt32/cuda (CPU, CUDA text)", 49152},
      {"metal", "metal", "simt32/metal (CPU, Metal text)", 32768},
  };
  for (int i = 0; i < 4; i++) {
    Bench bench;
    open_device(&bench, 32, rows[i].mode);
    assert_string_equal(bench.device.ops->backend, rows[i].backend);
    assert_string_equal(bench.device.name, rows[i].name);
    assert_string_equal(bench.device.target, "simt32");
    assert_int_equal(bench.device.limits.shared_bytes, rows[i].shared);
    assert_int_equal(bench.device.wave, 32);
    assert_non_null(strstr(bench.device.compiler, ", shim "));
    close_device(&bench);
  }
  kg_device device = {.ops = &kg_device_simt};
  kg_error error;
  assert_int_equal(kg_device_simt.open(&device, 64, "cuda", &error), KG_BAD_ARGUMENT);
  assert_int_equal(kg_device_simt.open(&device, 48, "", &error), KG_BAD_ARGUMENT);
  assert_int_equal(kg_device_simt.open(&device, 32, "opencl", &error), KG_BAD_ARGUMENT);
  assert_string_equal(error.message,
                      "the SIMT device runs hip, cuda and metal texts, not \"opencl\"");
}

static void every_definition_of_a_port_reaches_the_compiler(void **state) {
  (void)state;
  Bench bench;
  char words[300][16];
  const char *options[301] = {NULL};
  for (int i = 0; i < 300; i++) {
    snprintf(words[i], sizeof words[i], "-DN%d=%d", i, i);
    options[i] = words[i];
  }
  open_device(&bench, 32, "");
  const kg_source source = {.kernel = "last",
                            .entry = "last",
                            .text = KERNEL(last, "f32 *y", "y[0] = N0 + N299;\n"),
                            .file = "tests/hand.hip",
                            .options = options,
                            .wave = 32};
  kg_blob blob = {0};
  if (bench.device.ops->compile(&bench.device, &source, &blob, &bench.error))
    fail_msg("%s", bench.error.message);
  free(blob.bytes);
  close_device(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_definition_of_a_port_reaches_the_compiler),
      cmocka_unit_test(a_butterfly_over_the_wave_gives_every_lane_the_sum),
      cmocka_unit_test(a_fold_that_starts_at_16_is_right_at_32_lanes_and_wrong_at_64),
      cmocka_unit_test(shuffles_of_each_kind_and_type_follow_hips_rules),
      cmocka_unit_test(votes_see_every_lane_and_ballots_are_as_wide_as_the_wave),
      cmocka_unit_test(every_thread_of_a_grid_on_all_axes_runs_once),
      cmocka_unit_test(groups_of_1024_threads_talk_through_shared_memory_and_barriers),
      cmocka_unit_test(shared_memory_is_spoiled_for_each_group),
      cmocka_unit_test(arguments_are_read_with_the_alignment_of_c),
      cmocka_unit_test(nothing_is_contracted_and_fma_rounds_once),
      cmocka_unit_test(an_instance_of_another_width_does_not_compile),
      cmocka_unit_test(an_error_of_the_compiler_names_the_bodys_line),
      cmocka_unit_test(nothing_is_left_in_the_temporary_folder),
      cmocka_unit_test(a_missing_compiler_is_said_so),
      cmocka_unit_test(a_compiler_that_is_killed_does_not_refuse_the_text),
      cmocka_unit_test(what_is_over_a_limit_is_refused),
      cmocka_unit_test(launches_of_one_kernel_from_several_threads_do_not_meet),
      cmocka_unit_test(lanes_run_forward_in_reverse_or_shuffled_by_a_seed),
      cmocka_unit_test(the_texts_of_three_backends_agree_to_the_last_bit),
      cmocka_unit_test(what_cpp_leaves_open_is_the_same_on_every_machine),
      cmocka_unit_test(fast_words_are_off_by_what_devices_may_be_off_and_alike),
      cmocka_unit_test(each_mode_says_whose_texts_it_runs),
  };
  return cmocka_run_group_tests_name("simt", tests, NULL, NULL);
}

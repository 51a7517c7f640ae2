/* test_simt_reports.c: what a kernel does wrong on the SIMT device is a report, with its exact
** sentence, and never a hang, a crash or garbage.  Good twins are silent. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "simt_fixture.h"

/* The launch fails, and its sentence is exactly this one. */
static void expect_failure(Bench *bench, u32 threads, const void *args, size_t bytes,
                           const char *sentence) {
  const kg_grid grid = {{1, 1, 1}, {threads, 1, 1}, 0};
  assert_int_equal(try_launch(bench, &grid, args, bytes), KG_DEVICE_FAILED);
  assert_string_equal(bench->error.message, sentence);
}

/* ---- mistakes of a kernel are reports -------------------------------------------------------- */

static void mistake(int width, u32 threads, const char *text, const char *entry,
                    const char *sentence) {
  Bench bench;
  u32 out[1024];
  struct {
    u32 *out;
  } args = {out};
  open_device(&bench, width, "");
  load(&bench, text, entry);
  expect_failure(&bench, threads, &args, sizeof args, sentence);
  close_device(&bench);
}

static void a_barrier_that_some_threads_skip_is_reported(void **state) {
  (void)state;
  mistake(32, 64,
          KERNEL(skip, "u32 *out",
                 "if (threadIdx.x % 32 != 5)\n  __syncthreads();\nout[threadIdx.x] = 1;\n"),
          "skip",
          "kernel skip at width 32, group (0, 0, 0): thread 5 returns while threads 0-4 wait for "
          "__syncthreads at "
          "skip.kc:2; every thread of the group must come to a barrier");
  mistake(64, 128,
          KERNEL(early, "u32 *out",
                 "if (threadIdx.x < 3) return;\nout[threadIdx.x] = 1;\n__syncthreads();\n"),
          "early",
          "kernel early at width 64, group (0, 0, 0): thread 3 comes to __syncthreads at "
          "early.kc:3, but threads 0-2 have "
          "returned; every thread of the group must come to a barrier");
  mistake(32, 96,
          KERNEL(wave, "u32 *out",
                 "if (threadIdx.x >= 64) return;\n__syncthreads();\nout[threadIdx.x] = 1;\n"),
          "wave",
          "kernel wave at width 32, group (0, 0, 0): thread 64 returns while threads 0-63 wait for "
          "__syncthreads at "
          "wave.kc:2; every thread of the group must come to a barrier");
}

static void threads_at_two_barriers_are_reported(void **state) {
  (void)state;
  mistake(32, 32,
          KERNEL(two, "u32 *out",
                 "if (threadIdx.x < 7)\n  __syncthreads();\nelse\n  "
                 "__syncthreads();\nout[threadIdx.x] = 1;\n"),
          "two",
          "kernel two at width 32, group (0, 0, 0): threads 0-6 wait for __syncthreads at "
          "two.kc:2, but thread 7 is at "
          "__syncthreads at two.kc:4; every lane of wave 0 must come to the same one");
  mistake(32, 64,
          KERNEL(waves, "u32 *out",
                 "if (threadIdx.x < 32)\n  __syncthreads();\nelse\n  "
                 "__syncthreads();\nout[threadIdx.x] = 1;\n"),
          "waves",
          "kernel waves at width 32, group (0, 0, 0): threads 0-31 wait for __syncthreads at "
          "waves.kc:2, but thread 63 is "
          "at __syncthreads at waves.kc:4; every thread of the group must come to the same one "
          "(wave 1)");
}

static void a_lane_operation_under_divergence_is_reported(void **state) {
  (void)state;
  mistake(64, 64,
          KERNEL(parted, "u32 *out",
                 "u32 x = threadIdx.x;\n"
                 "if (x < 20)\n  x = __shfl_xor(x, 1);\n"
                 "__syncthreads();\nout[threadIdx.x] = x;\n"),
          "parted",
          "kernel parted at width 64, group (0, 0, 0): threads 0-19 wait for __shfl_xor at "
          "parted.kc:3, but thread 20 is "
          "at __syncthreads at parted.kc:4; every lane of wave 0 must come to the same one");
  mistake(32, 32,
          KERNEL(trips, "u32 *out",
                 "u32 x = threadIdx.x;\n"
                 "for (u32 i = 0; i < threadIdx.x / 16 + 1; i++)\n  x += __shfl_down(x, 1);\n"
                 "x += __shfl_up(x, 1);\nout[threadIdx.x] = x;\n"),
          "trips",
          "kernel trips at width 32, group (0, 0, 0): thread 31 waits for __shfl_down at "
          "trips.kc:3, but thread 0 is "
          "at __shfl_up at trips.kc:4; every lane of wave 0 must come to the same one");
}

/* The library function is the same; its two calls are not. */
static void a_library_function_called_from_two_branches_is_reported(void **state) {
  (void)state;
  mistake(
      32, 32,
      HEAD
      "static inline __device__ u32 next(u32 x) {\n"
      "#line 1 \"lib.kc\"\n"
      "return __shfl_down(x, 1);\n}\n"
      "extern \"C\" __global__ void branches(u32 *out) {\n"
      "if (threadIdx.x < 9) out[threadIdx.x] = next(1);\nelse out[threadIdx.x] = 5 * next(3);\n}\n",
      "branches",
      "kernel branches at width 32, group (0, 0, 0): threads 0-8 wait for __shfl_down at lib.kc:1, "
      "but thread 9 is "
      "at __shfl_down at lib.kc:1; every lane of wave 0 must come to the same one");
}

/* A function of its own around the barrier, as Metal's words are: clang must make no second copy of
** it for the threads that stored before. */
static void a_barrier_between_two_branches_of_one_condition_is_one_place(void **state) {
  (void)state;
  static const char text[] =
      HEAD "static inline __device__ void wait() { __syncthreads(); }\n"
           "extern \"C\" __global__ void between(u32 *out, u32 n) {\n"
           "__shared__ u32 s[128];\n"
           "if (threadIdx.x < n) s[threadIdx.x] = threadIdx.x;\nwait();\n"
           "if (threadIdx.x < n) out[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n";
  FOR_EACH_WIDTH(width) {
    Bench bench;
    u32 out[128] = {0};
    struct {
      u32 *out;
      u32 n;
    } args = {out, 100};
    open_device(&bench, width, "");
    load(&bench, text, "between");
    LAUNCH(&bench, 1, 128, args);
    for (u32 i = 0; i < 128; i++) assert_int_equal(out[i], i < 100 ? 99 - i : 0);
    close_device(&bench);
  }
}

static void reading_a_lane_that_is_not_there_is_reported(void **state) {
  (void)state;
  mistake(
      32, 32,
      KERNEL(gone, "u32 *out",
             "if (threadIdx.x >= 30) return;\nout[threadIdx.x] = __shfl_xor(threadIdx.x, 2);\n"),
      "gone",
      "kernel gone at width 32, group (0, 0, 0): thread 28 (lane 28 of wave 0) reads the value of "
      "lane 30 in "
      "__shfl_xor at gone.kc:2, but that lane has returned");
  mistake(64, 100, KERNEL(part, "u32 *out", "out[threadIdx.x] = __shfl_xor(threadIdx.x, 32);\n"),
          "part",
          "kernel part at width 64, group (0, 0, 0): thread 68 (lane 4 of wave 1) reads the value "
          "of lane 36 in "
          "__shfl_xor at part.kc:1, which does not exist: the group has 100 threads");
  Bench bench; /* its good twin: lanes that returned, and nobody asks for them */
  u32 out[32];
  struct {
    u32 *out;
  } args = {out};
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(kept, "u32 *out",
              "if (threadIdx.x >= 30) return;\nout[threadIdx.x] = __shfl_xor(threadIdx.x, 1);\n"),
       "kept");
  LAUNCH(&bench, 1, 32, args);
  for (u32 i = 0; i < 30; i++) assert_int_equal(out[i], i ^ 1);
  close_device(&bench);
}

static void asking_for_a_lane_beyond_the_wave_is_reported_for_each_backends_text(void **state) {
  (void)state;
  mistake(32, 32, KERNEL(mask, "u32 *out", "out[threadIdx.x] = __shfl_xor(threadIdx.x, 33);\n"),
          "mask",
          "kernel mask at width 32, group (0, 0, 0): thread 31 (lane 31 of wave 0) reads the value "
          "of lane 62 in __shfl_xor at mask.kc:1, but a wave has 32 lanes");
  mistake(64, 64, KERNEL(number, "u32 *out", "out[threadIdx.x] = __shfl(threadIdx.x, 64);\n"),
          "number",
          "kernel number at width 64, group (0, 0, 0): thread 63 (lane 63 of wave 0) reads the "
          "value of lane 64 in __shfl at number.kc:1, but a wave has 64 lanes");
  static const struct {
    const char *mode, *text, *what;
  } texts[] = {
      {"cuda",
       "extern \"C\" __global__ void far(unsigned *out) {\n"
       "out[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x, 32);\n}\n",
       "reads the value of lane 32 in __shfl_sync at "},
      {"cuda",
       "extern \"C\" __global__ void far(unsigned *out) {\n"
       "out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x, 40);\n}\n",
       "reads the value of lane 55 in __shfl_xor_sync at "},
      {"metal",
       "#include <metal_stdlib>\nusing namespace metal;\n"
       "kernel void far(device uint *out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
       "out[i] = simd_shuffle(i, ushort(32));\n}\n",
       "reads the value of lane 32 in simd_shuffle at "},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Bench bench;
    u32 out[32];
    struct {
      u32 *out;
    } args = {out};
    const kg_grid grid = {{1, 1, 1}, {32, 1, 1}, 0};
    open_device(&bench, 32, texts[i].mode);
    load(&bench, texts[i].text, "far");
    assert_int_equal(try_launch(&bench, &grid, &args, sizeof args), KG_DEVICE_FAILED);
    assert_non_null(strstr(bench.error.message, texts[i].what));
    close_device(&bench);
  }
}

static void what_no_number_is_right_for_is_a_trap(void **state) {
  (void)state;
  mistake(32, 32, KERNEL(shifts, "u32 *out", "out[threadIdx.x] = 1u << (threadIdx.x + 30);\n"),
          "shifts",
          "kernel shifts at width 32, group (0, 0, 0): thread 2 shifts an integer by its width or "
          "more, or by less than 0, at shifts.kc:1");
  mistake(32, 32, KERNEL(zero, "u32 *out", "out[threadIdx.x] = 7 % (5 - threadIdx.x);\n"), "zero",
          "kernel zero at width 32, group (0, 0, 0): thread 5 divides an integer by zero, at "
          "zero.kc:1");
#if defined(__x86_64__)
  mistake(32, 32,
          KERNEL(least, "u32 *out",
                 "const i32 l = (i32)(0x80000000u + threadIdx.x);\n"
                 "out[threadIdx.x] = (u32)(l / ((i32)threadIdx.x - 1));\n"),
          "least",
          "kernel least at width 32, group (0, 0, 0): thread 0 divides the least integer by -1, at "
          "least.kc:2");
#endif
}

static void the_report_of_many_groups_is_of_the_lowest(void **state) {
  (void)state;
  Bench bench;
  u32 out[1];
  struct {
    u32 *out;
  } args = {out};
  const kg_grid grid = {{50, 20, 1}, {64, 1, 1}, 0};
  open_device(&bench, 32, "");
  load(&bench,
       KERNEL(many, "u32 *out",
              "if (blockIdx.y * 50 + blockIdx.x < 437 || threadIdx.x != 2)\n  __syncthreads();\n"),
       "many");
  for (int i = 0; i < 10; i++) {
    assert_int_equal(try_launch(&bench, &grid, &args, sizeof args), KG_DEVICE_FAILED);
    assert_string_equal(
        bench.error.message,
        "kernel many at width 32, group (37, 8, 0): thread 2 returns while threads 0-1 wait for "
        "__syncthreads at many.kc:2; every thread of the group must come to a barrier");
  }
  close_device(&bench);
}

/* ---- crashes --------------------------------------------------------------------------------- */

static void a_crash_is_a_report_and_the_device_lives_on(void **state) {
  (void)state;
  Bench bench;
  open_device(&bench, 32, "");
  void *memory;
  assert_int_equal(bench.device.ops->alloc(&bench.device, 400, &memory, &bench.error), KG_OK);
  struct {
    void *out;
    u32 at;
  } args = {memory, 99};
  const kg_grid grid = {{1, 1, 1}, {4, 1, 1}, 0};
  load(&bench,
       KERNEL(store, "u32 *out, u32 at",
              "__syncthreads();\nif (threadIdx.x == 3)\n  out[at] = 1;\n"),
       "store");
  LAUNCH(&bench, 1, 4, args);
  args.at = 116; /* past the end of the page: 400 is rounded up to 448 */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(try_launch(&bench, &grid, &args, sizeof args), KG_DEVICE_FAILED);
    assert_string_equal(bench.error.message,
                        "kernel store at width 32, group (0, 0, 0): thread 3 reads or writes "
                        "memory that is not there, at "
                        "store.kc:3: 64 bytes past the end of an allocation of 400 bytes");
  }
  args.at = 101; /* not as far as the guard page, but past the end */
  assert_int_equal(try_launch(&bench, &grid, &args, sizeof args), KG_DEVICE_FAILED);
  assert_string_equal(bench.error.message, "kernel store, or a copy before it, wrote 4 bytes past "
                                           "the end of an allocation of 400 bytes");
  args.at = 0;
  LAUNCH(&bench, 1, 4, args);
  bench.device.ops->free(&bench.device, memory);
  close_device(&bench);
}

static void a_misaligned_access_is_said_to_be_one(void **state) {
  (void)state;
#if defined(__x86_64__) /* elsewhere the processor does it */
  static const char *const words = "typedef f32 four __attribute__((ext_vector_type(4)));\n";
  static const char *const accesses[] = {
      "*(four *)(out + threadIdx.x) = four(1);\n",
      "*(four *)(out + 4 * threadIdx.x) = *(four *)(out + threadIdx.x) * four(2);\n",
  };
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "%sextern \"C\" __global__ void four_at(f32 *out) {\n#line 1 \"four.kc\"\n%s}\n",
             words, accesses[i]);
    mistake(32, 4, text, "four_at",
            "kernel four_at at width 32, group (0, 0, 0): thread 1 moves several elements at once "
            "to or from an address that is not aligned to all of them, at four.kc:1");
  }
#endif
}

static void a_division_by_zero_a_trap_and_a_deep_stack_are_reports(void **state) {
  (void)state;
  mistake(64, 8,
          KERNEL(divide, "u32 *out", "out[0] = 7;\nout[threadIdx.x] = out[0] / threadIdx.x;\n"),
          "divide",
          "kernel divide at width 64, group (0, 0, 0): thread 0 divides an integer by zero, at "
          "divide.kc:2");
  mistake(64, 8, KERNEL(trap, "u32 *out", "if (threadIdx.x == 6)\n  __builtin_trap();\n"), "trap",
          "kernel trap at width 64, group (0, 0, 0): thread 6 runs into code that must not be "
          "reached, at trap.kc:2");
  mistake(32, 8,
          KERNEL(deep, "u32 *out",
                 "volatile u32 big[40000];\nbig[threadIdx.x] = 1;\nout[threadIdx.x] = "
                 "big[threadIdx.x];\n"),
          "deep",
          "kernel deep at width 32, group (0, 0, 0): thread 0 needs more than the 65536 bytes of "
          "stack that a lane has, at "
          "kg_simt_call:2");
}

static void a_cuda_mask_that_leaves_lanes_out_is_reported(void **state) {
  (void)state;
  Bench bench;
  u32 out[32];
  struct {
    u32 *out;
  } args = {out};
  open_device(&bench, 32, "cuda");
  load(&bench,
       KERNEL(mask, "u32 *out", "out[threadIdx.x] = __shfl_sync(0xffffu, threadIdx.x, 0);\n"),
       "mask");
  expect_failure(&bench, 32, &args, sizeof args,
                 "kernel mask at width 32, group (0, 0, 0): thread 0: __shfl_sync at mask.kc:1: "
                 "the mask does not name every "
                 "lane that is there; lane operations are for whole warps");
  close_device(&bench);
}

/* ---- what a killed process leaves ------------------------------------------------------------ */

static void old_folder(const char *path, int age) {
  char file[1024];
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(file, sizeof file, "%s/text.cpp", path);
  FILE *text = fopen(file, "w");
  assert_non_null(text);
  fclose(text);
  const struct timespec then = {.tv_sec = time(NULL) - age};
  const struct timespec times[2] = {then, then};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A cached object may be anything: no line is known then. */
static void an_object_without_lines_has_none(void **state) {
  (void)state;
  Bench bench;
  kg_simt_frame frames[2];
  open_device(&bench, 32, "");
  load(&bench, KERNEL(plain, "u32 *out", "out[threadIdx.x] = 1;\n"), "plain");
  const size_t size = bench.function->size;
  unsigned char *object = malloc(size);
  assert_non_null(object);
  for (size_t kept = 0; kept <= size; kept += kept < 64 ? 16 : size / 16) {
    memcpy(object, bench.function->bytes, kept);
    memset(object + kept, 0, size - kept);
    kg_simt_lines *lines = kg_simt_lines_open(object, size);
    if (kept < 64) assert_null(lines);
    for (uint64_t at = 0; lines && at < size; at += 8)
      assert_in_range(kg_simt_lines_frames(lines, at, frames, 2), 0, 2);
    kg_simt_lines_close(lines);
  }
  assert_null(kg_simt_lines_open(object, 0));
  free(object);
  close_device(&bench);
}

static void a_folder_that_a_killed_compilation_left_is_taken_away(void **state) {
  (void)state;
  char place[] = "/tmp/simt-left-XXXXXX", path[3][256];
  static const char *const names[] = {"left", "young", "locked"};
  const char *before = getenv("TMPDIR");
  char *kept = before ? strdup(before) : NULL;
  assert_non_null(mkdtemp(place));
  for (int i = 0; i < 3; i++) {
    snprintf(path[i], sizeof path[i], "%s/kg-simt-compile-%s", place, names[i]);
    old_folder(path[i], i == 1 ? 5 : 5000);
  }
  const int lock = open(path[2], O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(lock, LOCK_EX), 0);
  setenv("TMPDIR", place, 1);
  Bench bench;
  open_device(&bench, 32, "");
  close_device(&bench);
  if (kept)
    setenv("TMPDIR", kept, 1);
  else
    unsetenv("TMPDIR");
  free(kept);
  struct stat facts;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(stat(path[i], &facts) == 0, i > 0);
    char file[1024];
    snprintf(file, sizeof file, "%s/text.cpp", path[i]);
    if (i > 0) assert_int_equal(unlink(file) + rmdir(path[i]), 0);
  }
  close(lock);
  assert_int_equal(rmdir(place), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_barrier_that_some_threads_skip_is_reported),
      cmocka_unit_test(threads_at_two_barriers_are_reported),
      cmocka_unit_test(a_lane_operation_under_divergence_is_reported),
      cmocka_unit_test(a_library_function_called_from_two_branches_is_reported),
      cmocka_unit_test(a_barrier_between_two_branches_of_one_condition_is_one_place),
      cmocka_unit_test(reading_a_lane_that_is_not_there_is_reported),
      cmocka_unit_test(asking_for_a_lane_beyond_the_wave_is_reported_for_each_backends_text),
      cmocka_unit_test(what_no_number_is_right_for_is_a_trap),
      cmocka_unit_test(the_report_of_many_groups_is_of_the_lowest),
      cmocka_unit_test(a_crash_is_a_report_and_the_device_lives_on),
      cmocka_unit_test(a_misaligned_access_is_said_to_be_one),
      cmocka_unit_test(a_division_by_zero_a_trap_and_a_deep_stack_are_reports),
      cmocka_unit_test(a_cuda_mask_that_leaves_lanes_out_is_reported),
      cmocka_unit_test(an_object_without_lines_has_none),
      cmocka_unit_test(a_folder_that_a_killed_compilation_left_is_taken_away),
  };
  return cmocka_run_group_tests_name("simt reports", tests, NULL, NULL);
}

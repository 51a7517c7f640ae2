/* test_try.c: `kgen try` on kernels in the manner of MLX's, llama.cpp's and others' (tests/try/kernels).
**
** Each file says in its first lines how it is launched (args), at what other widths (also), and which
** faults are planted in it: `// fault NAME class`, compiled in by -D NAME, at the lines that end in
** `// NAME`.  The right one is silent, and its outputs are those of the double arithmetic here; each
** fault is found, at one of its lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/native.h"
#include "shell.h"

static char home[2048];
static Arena *a;

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static const NumberType f32 = {NUMBER_FLOAT, 4, false}, f16 = {NUMBER_FLOAT, 2, false},
                        bf16 = {NUMBER_FLOAT, 2, true}, i32 = {NUMBER_SIGNED, 4, false},
                        u8 = {NUMBER_UNSIGNED, 1, false};

static const char *path_of(const char *name) { return arena_printf(a, "%s/%s.npy", folder, name); }

/* count numbers into NAME.npy; what they are after rounding. */
static double *keep(const char *name, NumberType type, int64_t count, const double *values) {
  const char *why;
  void *bytes = arena_alloc(a, (size_t)count * type.bytes);
  double *rounded = arena_alloc(a, (size_t)count * sizeof *rounded);
  for (int64_t i = 0; i < count; i++) {
    number_put(type, bytes, i, values[i]);
    rounded[i] = number_get(type, bytes, i);
  }
  const Npy npy = {.type = type, .rank = 1, .shape = {count}, .count = count, .data = bytes};
  if (!npy_write(path_of(name), &npy, &why)) fail_msg("%s: %s", name, why);
  return rounded;
}

static double *made(const char *name, NumberType type, int64_t count, const char *how) {
  double *values = arena_alloc(a, (size_t)count * sizeof *values);
  void *bytes = arena_alloc(a, (size_t)count * 8);
  const NumberType wide = type.kind == NUMBER_FLOAT ? (NumberType){NUMBER_FLOAT, 8, false} : type;
  assert_true(number_fill(wide, bytes, count, how, (uint64_t)name[0] + 7));
  for (int64_t i = 0; i < count; i++) values[i] = number_get(wide, bytes, i);
  return keep(name, type, count, values);
}

static void compare(const char *name, const double *want, int64_t count, double tolerance) {
  Npy npy;
  const char *why;
  if (!npy_read(a, arena_printf(a, "%s/out/%s.npy", folder, name), &npy, &why))
    fail_msg("%s: %s\n%s", name, why, said);
  assert_int_equal(npy.count, count);
  for (int64_t i = 0; i < count; i++) {
    const double got = number_get(npy.type, npy.data, i);
    if (!(fabs(got - want[i]) <= tolerance * (1 + fabs(want[i]))))
      fail_msg("%s[%lld] is %.9g, and should be %.9g", name, (long long)i, got, want[i]);
  }
}

/* ---- the kernels' answers -------------------------------------------------------------------- */

static double out[5000], more[64];

static void norm_rows(int rows, int d, const double *x, const double *w) {
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int i = 0; i < d; i++) sum += x[r * d + i] * x[r * d + i];
    for (int i = 0; i < d; i++) out[r * d + i] = x[r * d + i] / sqrt(sum / d + 1e-5) * w[i];
  }
}
static double *x_, *w_, *b_, *q_, *k_, *v_;

static void rms_inputs(void) {
  x_ = made("x", f32, 900, "normal"), w_ = made("w", f32, 300, "normal");
}
static void rms_cuda(void) { norm_rows(3, 300, x_, w_), compare("y", out, 900, 1e-5); }
static void rms_metal(void) { norm_rows(3, 300, x_, w_), compare("out", out, 900, 1e-5); }

static void layer_inputs(void) {
  x_ = made("x", f32, 1200, "normal"), w_ = made("w", f32, 300, "normal");
  b_ = made("b", f32, 300, "normal");
}
static void layer(void) {
  for (int r = 0; r < 4; r++) {
    double mean = 0, var = 0;
    for (int i = 0; i < 300; i++) mean += x_[r * 300 + i] / 300;
    for (int i = 0; i < 300; i++) var += (x_[r * 300 + i] - mean) * (x_[r * 300 + i] - mean) / 300;
    for (int i = 0; i < 300; i++)
      out[r * 300 + i] = (x_[r * 300 + i] - mean) / sqrt(var + 1e-5) * w_[i] + b_[i];
  }
  compare("y", out, 1200, 1e-5);
}

static void softmax(void) {
  for (int r = 0; r < 3; r++) {
    double sum = 0;
    for (int i = 0; i < 300; i++) sum += exp(x_[r * 300 + i]);
    for (int i = 0; i < 300; i++) out[r * 300 + i] = exp(x_[r * 300 + i]) / sum;
  }
  compare("y", out, 900, 1e-5);
}

static void rope_inputs(void) {
  static const double positions[] = {0, 1, 17, 300};
  x_ = made("x", f32, 512, "normal"), b_ = keep("pos", i32, 4, positions);
}
/* Element i of a pair lies at first + i * apart. */
static void rope(bool halves) {
  for (int row = 0; row < 8; row++)
    for (int p = 0; p < 32; p++) {
      const int first = row * 64 + (halves ? p : 2 * p), apart = halves ? 32 : 1;
      const double theta = b_[row / 2] * pow(10000, -2.0 * p / 64);
      out[first] = x_[first] * cos(theta) - x_[first + apart] * sin(theta);
      out[first + apart] = x_[first] * sin(theta) + x_[first + apart] * cos(theta);
    }
  compare("dst", out, 512, 2e-4);
}
static void rope_pairs(void) { rope(false); }
static void rope_halves(void) { rope(true); }

/* 8 rows of 8 blocks: a half and 16 bytes of two weights each. */
static unsigned char blocks[64 * 18];
static void gemv_inputs(void) {
  const char *why;
  for (int b = 0; b < 64; b++) {
    number_put(f16, blocks + b * 18, 0, 0.01 * (b % 7 - 3));
    for (int i = 0; i < 16; i++) blocks[b * 18 + 2 + i] = (unsigned char)(b * 31 + i * 57);
  }
  const Npy npy = {
      .type = u8, .rank = 1, .shape = {sizeof blocks}, .count = sizeof blocks, .data = blocks};
  assert_true(npy_write(path_of("wq"), &npy, &why));
  x_ = made("x", f32, 256, "normal");
}
static void gemv(void) {
  for (int row = 0; row < 8; row++) {
    out[row] = 0;
    for (int b = 0; b < 8; b++)
      for (int i = 0; i < 16; i++) {
        const unsigned char *block = blocks + (row * 8 + b) * 18, q = block[2 + i];
        out[row] += number_get(f16, block, 0) *
                    (((q & 15) - 8) * x_[b * 32 + i] + ((q >> 4) - 8) * x_[b * 32 + 16 + i]);
      }
  }
  compare("y", out, 8, 1e-4);
}

static void argmax(void) {
  for (int r = 0; r < 3; r++) {
    out[r] = 0;
    for (int i = 1; i < 300; i++)
      if (x_[r * 300 + i] > x_[r * 300 + (int)out[r]]) out[r] = i;
  }
  compare("token", out, 3, 0);
}

static void scan_inputs(void) { x_ = made("x", f32, 512, "normal"); }
static void scan(void) {
  for (int i = 0; i < 512; i++) out[i] = x_[i] + (i % 256 ? out[i - 1] : 0);
  compare("out", out, 512, 1e-4);
}

static void attention_inputs(void) {
  q_ = made("q", f32, 128, "normal"), k_ = made("k", f32, 4736, "normal");
  v_ = made("v", f32, 4736, "normal");
}
static void attention(void) {
  for (int h = 0; h < 2; h++) {
    double sum = 0, weights[37];
    for (int j = 0; j < 37; j++) {
      double dot = 0;
      for (int i = 0; i < 64; i++) dot += q_[h * 64 + i] * k_[(h * 37 + j) * 64 + i];
      sum += weights[j] = exp(dot * 0.125);
    }
    for (int i = 0; i < 64; i++) {
      out[h * 64 + i] = 0;
      for (int j = 0; j < 37; j++) out[h * 64 + i] += weights[j] / sum * v_[(h * 37 + j) * 64 + i];
    }
  }
  compare("out", out, 128, 1e-4);
}

static void matmul_inputs(void) {
  x_ = made("x", f32, 1024, "normal"), b_ = made("b", f32, 1024, "normal");
}
static void matmul(void) {
  for (int i = 0; i < 1024; i++) {
    out[i] = 0;
    for (int k = 0; k < 32; k++) out[i] += x_[i / 32 * 32 + k] * b_[k * 32 + i % 32];
  }
  compare("c", out, 1024, 1e-4);
}

static void gate_inputs(void) {
  x_ = made("gate", f16, 300, "normal"), w_ = made("up", f16, 300, "normal");
}
static void swiglu(void) {
  for (int i = 0; i < 300; i++) out[i] = x_[i] / (1 + exp(-x_[i])) * w_[i];
  compare("y", out, 300, 2e-3);
}
static void gelu(void) {
  for (int i = 0; i < 300; i++)
    out[i] = 0.5 * x_[i] * (1 + tanh(0.7978845608028654 * x_[i] * (1 + 0.044715 * x_[i] * x_[i])));
  compare("y", out, 300, 1e-3);
}

static void bf16_inputs(void) {
  x_ = made("xb", bf16, 300, "normal"), w_ = made("yb", bf16, 300, "normal");
}
static void add_bf16(void) { /* every bit: the sum of two is exact in double, and rounded once */
  for (int i = 0; i < 300; i++)
    out[i] = kg_f64_from_bf16(kg_bf16_from_f64((double)((float)x_[i] + (float)w_[i])));
  compare("y", out, 300, 0);
}

static void bytes_inputs(void) { x_ = made("bytes", u8, 256, "uniform"); }
static void histogram(void) {
  memset(out, 0, 16 * sizeof *out);
  for (int i = 0; i < 256; i++) out[(int)x_[i]]++;
  compare("bins", out, 16, 0);
}

static void block_sum(void) {
  out[0] = 0;
  for (int i = 0; i < 900; i++) out[0] += x_[i];
  compare("total", out, 1, 1e-4);
}

static void largest(void) {
  out[0] = -1e30;
  for (int i = 0; i < 900; i++) out[0] = fmax(out[0], x_[i]);
  compare("top", out, 1, 0);
}

static void ragged(void) {
  for (int r = 0; r < 3; r++) {
    out[r] = 0;
    for (int i = 0; i < 8 + 8 * r; i++) out[r] += x_[r * 300 + i];
  }
  compare("y", out, 3, 1e-5);
}

static void transpose(void) {
  for (int i = 0; i < 1024; i++) out[i] = x_[i % 32 * 32 + i / 32];
  compare("out", out, 1024, 0);
}

static void quantize(void) {
  for (int r = 0; r < 3; r++) {
    double top = 0;
    for (int i = 0; i < 300; i++) top = fmax(top, fabs(x_[r * 300 + i]));
    more[r] = top / 127;
    for (int i = 0; i < 300; i++) out[r * 300 + i] = rint(x_[r * 300 + i] / more[r]);
  }
  compare("scales", more, 3, 1e-6);
  compare("q", out, 900, 0);
}

static void sample_inputs(void) {
  static const double u[] = {0.1, 0.5, 0.97};
  x_ = made("x", f32, 900, "uniform");
  for (int i = 0; i < 900; i++) out[i] = x_[i] / 150;
  x_ = keep("p", f32, 900, out), w_ = keep("u", f32, 3, u);
}
static void sample(void) {
  for (int r = 0; r < 3; r++) {
    double sum = 0;
    int i = 0;
    while (i < 299 && (sum += x_[r * 300 + i]) <= w_[r]) i++;
    more[r] = i;
  }
  compare("token", more, 3, 0);
}

static void gather_inputs(void) {
  static const double rows[] = {3, 0, 7, 2};
  x_ = made("x", f32, 512, "normal"), w_ = made("w", f32, 8, "normal"),
  b_ = keep("pos", i32, 4, rows);
}
static void gather(void) {
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < 64; i++)
      out[t * 64 + i] =
          w_[2 * t] * x_[(int)b_[t] * 64 + i] + w_[2 * t + 1] * x_[(int)b_[(t + 1) % 4] * 64 + i];
  compare("out", out, 256, 1e-5);
}

static const struct Kernel {
  const char *file;
  void (*inputs)(void), (*answer)(void);
} kernels[] = {
    {"rms_norm.cu", rms_inputs, rms_cuda},
    {"rms_norm.metal", rms_inputs, rms_metal},
    {"layer_norm.hip", layer_inputs, layer},
    {"softmax.cu", rms_inputs, softmax},
    {"softmax_online.metal", rms_inputs, softmax},
    {"rope.cu", rope_inputs, rope_pairs},
    {"rope.metal", rope_inputs, rope_halves},
    {"gemv_q4_0.cu", gemv_inputs, gemv},
    {"gemv_q4_0.metal", gemv_inputs, gemv},
    {"argmax.hip", rms_inputs, argmax},
    {"scan.cu", scan_inputs, scan},
    {"scan.metal", scan_inputs, scan},
    {"attention_decode.cu", attention_inputs, attention},
    {"attention_vector.metal", attention_inputs, attention},
    {"matmul_tile.cu", matmul_inputs, matmul},
    {"matmul_simdgroup.metal", matmul_inputs, matmul},
    {"swiglu_half2.cu", gate_inputs, swiglu},
    {"gelu.metal", gate_inputs, gelu},
    {"add_bf16.hip", bf16_inputs, add_bf16},
    {"histogram.metal", bytes_inputs, histogram},
    {"block_sum.cu", rms_inputs, block_sum},
    {"last_block.cu", rms_inputs, block_sum},
    {"atomic_max.cu", rms_inputs, largest},
    {"ragged.cu", rms_inputs, ragged},
    {"transpose.hip", matmul_inputs, transpose},
    {"quantize_rows.metal", rms_inputs, quantize},
    {"top_p.cu", sample_inputs, sample},
    {"moe_gather.hip", gather_inputs, gather},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- runs ------------------------------------------------------------------------------------ */

static const char *text_of(const char *file) {
  const char *why, *path = arena_printf(a, "%s/tests/try/kernels/%s", home, file);
  size_t length;
  const char *text = file_read(a, path, &length, &why);
  if (!text) fail_msg("%s: %s", path, why);
  return text;
}

/* What stands behind `// WORD: ` or `// WORD ` on the n-th such line; NULL: there are no more. */
static const char *line_of(const char *text, const char *word, int n) {
  const char *mark = arena_printf(a, "// %s", word);
  for (const char *at = text; (at = strstr(at, mark)) != NULL; at++)
    if ((at == text || at[-1] == '\n') && n-- == 0) {
      at += strlen(mark);
      return arena_strndup(a, at, strcspn(at, "\n"));
    }
  return NULL;
}

static int try(const char *file, const char *arguments, const char *more_arguments) {
  const char *kgen = getenv("KGEN");
  Buf b = {0};
  buf_printf(&b, "cd %s/tests/try/kernels && rm -rf %s/out && %s try %s -o %s/out ", home, folder,
             kgen ? kgen : arena_printf(a, "%s/.build/kgen", home), file, folder);
  for (const char *c = arguments; *c; c++) {
    if (*c != '@') {
      buf_put(&b, c, 1);
      continue;
    }
    const size_t length = strcspn(c + 1, " ");
    buf_printf(&b, "@%s/%.*s.npy", folder, (int)length, c + 1);
    c += length;
  }
  buf_printf(&b, " %s 2>&1", more_arguments);
  FILE *p = popen(b.s, "r"); /* not run: an @ is NumPy's here */
  assert_non_null(p);
  said[fread(said, 1, sizeof said - 1, p)] = 0;
  buf_free(&b);
  const int status = pclose(p);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void is_silent_and_right(const struct Kernel *k, const char *arguments, const char *width) {
  const int status = try(k->file, arguments, width);
  if (status != 0) fail_msg("%s %s: status %d\n%s", k->file, width, status, said);
  k->answer();
}

/* "file:LINE" of one of the lines that are marked so. */
static bool names_a_line(const char *file, const char *text, const char *name) {
  const char *mark = arena_printf(a, "// %s\n", name);
  int line = 1;
  for (const char *at = text; *at; at++) {
    if (strncmp(at, mark, strlen(mark)) == 0 && at != text && at[-1] != '\n') {
      const char *place = arena_printf(a, "%s:%d", file, line), *found = said;
      while ((found = strstr(found, place)) != NULL && found[strlen(place)] >= '0' &&
             found[strlen(place)] <= '9')
        found++;
      if (found) return true;
    }
    line += *at == '\n';
  }
  return false;
}

static void is_found(const struct Kernel *k, const char *text, const char *fault) {
  char name[64], class_[32];
  int used = 0;
  assert_int_equal(sscanf(fault, " %63s %31s%n", name, class_, &used), 2);
  const char *arguments =
      arena_printf(a, "%s -D %s %s", line_of(text, "args:", 0), name, fault + used);
  const int status = try(k->file, arguments, "");
  if (status != 1 || !strstr(said, class_) || !names_a_line(k->file, text, name)) {
    /* of the whole launch: no line; where an endless loop is stopped, chance says */
    const bool places =
        strcmp(class_, "never") == 0 || strcmp(class_, "unset") == 0 ||
        (strcmp(class_, "endless") == 0 && strstr(said, arena_printf(a, "at %s:", k->file)));
    if (status == 1 && strstr(said, class_) && places) return;
    fail_msg("%s: %s is not found: status %d\n%s", k->file, name, status, said);
  }
}

static void kernel(void **state) {
  const struct Kernel *k = *state;
  const char *text = text_of(k->file), *arguments = line_of(text, "args:", 0);
  const char *also = line_of(text, "also:", 0);
  assert_non_null(arguments);
  k->inputs();
  is_silent_and_right(k, arguments, "");
  if (also) is_silent_and_right(k, arguments, also);
  for (int n = 0; line_of(text, "fault", n); n++) is_found(k, text, line_of(text, "fault", n));
}

static void every_file_has_a_row(void **state) {
  (void)state;
  DIR *entries = opendir(arena_printf(a, "%s/tests/try/kernels", home));
  assert_non_null(entries);
  for (struct dirent *entry; (entry = readdir(entries));) {
    bool known = entry->d_name[0] == '.';
    for (int i = 0; i < KERNELS; i++) known = known || strcmp(kernels[i].file, entry->d_name) == 0;
    if (!known) fail_msg("%s has no row", entry->d_name);
  }
  closedir(entries);
}

/* ---- what is refused, and how ---------------------------------------------------------------- */

static void put(const char *name, const char *text) {
  FILE *f = fopen(arena_printf(a, "%s/%s", folder, name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static int run_try(const char *arguments) {
  const char *kgen = getenv("KGEN");
  return run(arena_printf(a, "cd @ && %s try %s 2>&1",
                          kgen ? kgen : arena_printf(a, "%s/.build/kgen", home), arguments));
}

static void says(const char *arguments, int status, const char *words) {
  const int got = run_try(arguments);
  if (got != status || !strstr(said, words))
    fail_msg("kgen try %s: status %d, not %d with '%s':\n%s", arguments, got, status, words, said);
}

static void what_is_missing_is_a_sentence(void **state) {
  (void)state;
  put("one.cu", "#include <cuda_runtime.h>\n"
                "struct P { int n; float s; };\n"
                "__global__ void one(const float *x, float *y, int n) { if (threadIdx.x < n) "
                "y[threadIdx.x] = x[threadIdx.x]; }\n"
                "__global__ void two(float *y, P p) { y[0] = p.s; }\n"
                "template <class T, int N> __global__ void three(T *y) { y[0] = T(N); }\n");
  says("one.cu", 2, "several kernels; say which: --entry NAME, of one, two and three<...>");
  says("one.cu -e on", 2, "it has no kernel on; did you mean one?");
  says("one.cu -e three", 2, "three is a template; say of what: --entry 'three<float>'");
  says("one.cu -e one", 2, "n (int) wants a value: n=...");
  says("one.cu -e one n=4 z=3", 2, "z=3: one has no parameter z");
  says("one.cu -e one n=four", 2, "n (int) is a number; not 'four'");
  says("one.cu -e one n=4 x=nonsense", 2, "x is a buffer");
  says("one.cu -e two", 2, "p (P) wants its members");
  says("one.cu -e one n=4 -t 0", 2, "--threads is up to three whole numbers");
  says("one.cu -e one n=4 -w 64", 2, "--wave is 32");
  says("absent.cu", 2, "absent.cu: No such file or directory");
  says("one.txt", 2, "whose text is it?");
  put("x.npy", "no numbers");
  says("one.cu -e one n=4 x=$(printf '\\100')x.npy", 2, "x.npy: it is no file of NumPy's");
}

static void an_unknown_word_is_told_with_its_line(void **state) {
  (void)state;
  put("odd.cu", "__global__ void odd(float *y) {\n  y[0] = 1;\n  y[1] = __frobnicate(2);\n}\n");
  says("odd.cu", 1, "odd.cu:3: the SIMT device's CUDA has no word '__frobnicate'\n");
  put("odd.metal", "#include <metal_stdlib>\nkernel void odd(device float *y) {\n  y[0] = "
                   "metal::frobnicate(2);\n}\n");
  says("odd.metal", 1, "odd.metal:3: ");
  put("group.cu", "#include <cooperative_groups.h>\n__global__ void k(float *y) { y[0] = 1; }\n");
  says("group.cu", 1, "group.cu:1: there is no 'cooperative_groups.h' here");
  put("ptx.cu",
      "__global__ void k(float *y) {\n  y[0] = 1;\n  asm volatile(\"bar.sync 0;\");\n}\n");
  says("ptx.cu -t 1", 1, "asm at ptx.cu:3: the assembly of a GPU means nothing to the SIMT device");
}

static void a_size_that_nobody_says_is_a_guess(void **state) {
  (void)state;
  put("guard.cu", "__global__ void k(const float *x, float *y, int n) {\n"
                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n#ifdef GUARD\n  if (i >= n) "
                  "return;\n#endif\n"
                  "  y[i] = x[i] + 1;\n}\n");
  says("guard.cu -g 4 n=1000 -D GUARD", 0, "y  f32[1000]  written 1000 of 1000");
  says("guard.cu -g 4 n=1000", 1,
       "reads x[1000] at guard.cu:6, past the end of x, input 0, of 1000 elements");
  assert_non_null(strstr(said, "that it has 1000 is a guess, as nobody says so: --size x=N"));
  says("guard.cu -g 4 n=1000 --size x=1024 --size y=1024", 0, "written 1024 of 1024");
  says("guard.cu -g 4 n=1000 -D GUARD y=none --size y=1001", 1, "never written: ");
}

static void a_host_s_part_is_left_out_and_printf_speaks_once(void **state) {
  (void)state;
  put("host.cu",
      "#include <cstdio>\n#include <vector>\n"
      "__global__ void k(float *y) { if (threadIdx.x == 0) printf(\"said %d\\n\", 7); "
      "y[threadIdx.x] = 1; }\n"
      "int main() { std::vector<float> v(4); float *d; cudaMalloc(&d, 4); k<<<1, 4>>>(d); }\n");
  says("host.cu -t 4", 0, "said 7\n");
  assert_null(strstr(strstr(said, "said 7") + 1, "said 7"));
}

static void an_unset_variable_has_its_line(void **state) {
  (void)state;
  put("unset.cu", "__global__ void k(float *y) {\n  float v;\n  if (threadIdx.x > 3) v = 1;\n  "
                  "y[threadIdx.x] = v;\n}\n");
  says("unset.cu -t 32", 1, "unset variable: ");
  assert_non_null(strstr(said, "  unset.cu:"));
}

static void a_signal_ends_it_and_leaves_nothing(void **state) {
  (void)state;
  put("endless.cu", "__global__ void k(float *y) { while (y[0] == y[0]) y[1] += 1; }\n");
  const char *kgen = getenv("KGEN");
  assert_int_equal(
      run(arena_printf(a,
                       "cd @ && mkdir -p tmp && { TMPDIR=@/tmp %s try endless.cu --seconds 60 "
                       ">said 2>&1 & } && sleep 1 && "
                       "kill -TERM $! && { wait $! 2>said2; test $? = 143; } && ls -A tmp",
                       kgen ? kgen : arena_printf(a, "%s/.build/kgen", home))),
      0);
  assert_string_equal(said, "");
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int begin(void **state) {
  (void)state;
  a = arena_new();
  strcpy(folder, "/tmp/kgen-test-try-XXXXXX");
  return getcwd(home, sizeof home) && mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  run("rm -rf @");
  arena_free(a);
  return 0;
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(every_file_has_a_row),
      cmocka_unit_test(what_is_missing_is_a_sentence),
      cmocka_unit_test(an_unknown_word_is_told_with_its_line),
      cmocka_unit_test(a_size_that_nobody_says_is_a_guess),
      cmocka_unit_test(a_host_s_part_is_left_out_and_printf_speaks_once),
      cmocka_unit_test(an_unset_variable_has_its_line),
      cmocka_unit_test(a_signal_ends_it_and_leaves_nothing),
  };
  enum { OTHERS = sizeof others / sizeof *others };
  struct CMUnitTest tests[KERNELS + OTHERS];
  for (int i = 0; i < KERNELS; i++)
    tests[i] =
        (struct CMUnitTest){kernels[i].file, kernel, NULL, NULL, (void *)(uintptr_t)&kernels[i]};
  for (int i = 0; i < OTHERS; i++) tests[KERNELS + i] = others[i];
  return cmocka_run_group_tests(tests, begin, end);
}

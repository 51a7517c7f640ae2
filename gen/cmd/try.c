/* try.c: `kgen try`: a text that somebody else wrote, run alone and watched.  See native/native.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "base/options.h"
#include "native/native.h"

static const OptionRow rows[] = {
    {'e', "entry", "NAME", "the kernel, or 'NAME<float, 4>' of a template (default: the only one)"},
    {'b', "backend", "NAME", "metal, cuda or hip (default: as the file's name ends)"},
    {'w', "wave", "32|64", "lanes of a wave (default: 32; 64 is HIP's alone)"},
    {'g', "grid", "X,Y,Z", "groups (default: 1)"},
    {'t', "threads", "X,Y,Z", "threads in a group (default: what the kernel says, or 256)"},
    {0, "size", "NAME=N",
     "elements of a buffer (default: as far as it is used, where that makes sense)"},
    {0, "type", "NAME=TYPE", "what a buffer of bytes holds: f32, f16, bf16, i32 ..."},
    {'s', "shared", "BYTES", "of `extern __shared__` arrays, and of Metal's [[threadgroup(n)]]"},
    {'D', "define", "X=1", "a macro"},
    {'I', "include", "FOLDER", "where included files lie, besides the text's own folder"},
    {'o', "output", "FOLDER", "write each output there, as NAME.npy"},
    {0, "seconds", "N", "that a group may take (default: 10)"},
    {0, "seed", "N", "of the made-up data (default: 1)"},
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "try",
    .operands = "FILE [NAME=VALUE...]",
    .summary =
        "Run a kernel of a .metal, .cu or .hip file that somebody else wrote, lane by lane on the "
        "CPU, and watch it:\naccesses outside, races, reads of what nobody set, barriers and lane "
        "operations that lanes miss.",
    .more =
        "A scalar is NAME=VALUE; a struct NAME.member=VALUE for each member, or 'NAME={...}'; "
        "Metal's "
        "function constants are\nNAME=VALUE too.  A buffer is made up (seeded normals; small "
        "integers), "
        "or begins as NAME=@FILE.npy, '{1, 2, 3}',\nzeros, ones, uniform, arange or a number.  "
        "NAME=none: it is an output alone; reading it before it is written, and\nleaving some of "
        "it "
        "unwritten, are findings then.  What is written is told in a line, with -o in NAME.npy.\n\n"
        "  kgen try saxpy.cu --grid 4 --threads 256 n=1000 a=2 --size x=1000 --size y=1000\n"
        "  kgen try norm.metal --entry rms_f16 --grid 8 --threads 128 x=@x.npy eps=1e-5 axis=512 "
        "-o out\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = -1,
};

typedef struct Work {
  Arena *arena;
  NativeWish wish;
} Work;

static int work(void *data) {
  Work *w = data;
  return native_try(w->arena, &w->wish);
}

/* "8", "8,2", "8,2,1" */
static int read_three(const char *option, const char *s, uint32_t out[3]) {
  char *end = (char *)(uintptr_t)s;
  for (int i = 0; i < 3; i++) out[i] = 1;
  for (int i = 0; i < 3; i++) {
    errno = 0;
    const char *from = end;
    const unsigned long long n = strtoull(from, &end, 10);
    if (end == from || *from == '-' || errno || n == 0 || n > UINT32_MAX) break;
    out[i] = (uint32_t)n;
    if (!*end) return EXIT_FINE;
    if ((*end != ',' && *end != 'x') || i == 2) break;
    end++;
  }
  return usage_error(&command, "--%s is up to three whole numbers, as in 8,2,1; not '%s'", option,
                     s);
}

static int read_pair(Arena *a, const char *what, const char *s, NativeValue *out) {
  const size_t length = strcspn(s, "=");
  if (!s[length] || length == 0) return usage_error(&command, "%s'%s' is not NAME=VALUE", what, s);
  *out = (NativeValue){arena_strndup(a, s, length), s + length + 1, false};
  return EXIT_FINE;
}

/* The options that may be given more than once. */
static int read_given(Arena *a, const Options *o, NativeWish *w) {
  w->sizes = arena_alloc(a, MAX_GIVEN * sizeof *w->sizes);
  w->types = arena_alloc(a, MAX_GIVEN * sizeof *w->types);
  for (int i = 0; i < o->given_count; i++) {
    const char *name = rows[o->given[i].row].name, *value = o->given[i].value;
    int status = EXIT_FINE;
    if (strcmp(name, "size") == 0)
      status = read_pair(a, "--size ", value, &w->sizes[w->size_count++]);
    else if (strcmp(name, "type") == 0)
      status = read_pair(a, "--type ", value, &w->types[w->type_count++]);
    else if (strcmp(name, "define") == 0)
      w->defines.items[w->defines.count++] = value;
    else if (strcmp(name, "include") == 0)
      w->folders.items[w->folders.count++] = value;
    if (status) return status;
  }
  return EXIT_FINE;
}

static const char *backend_of(const char *file) {
  static const char *const endings[][2] = {
      {".metal", "metal"}, {".cu", "cuda"}, {".cuh", "cuda"}, {".hip", "hip"}};
  const char *dot = strrchr(file, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(dot, endings[i][0]) == 0) return endings[i][1];
  return NULL;
}

static int read_backend(const Options *o, NativeWish *w) {
  const char *chosen = option_value(&command, o, "backend"),
             *wave = option_value(&command, o, "wave");
  w->backend = chosen ? chosen : backend_of(w->file);
  if (!w->backend)
    return usage_error(&command, "%s: whose text is it? --backend metal, cuda or hip", w->file);
  if (strcmp(w->backend, "metal") != 0 && strcmp(w->backend, "cuda") != 0 &&
      strcmp(w->backend, "hip") != 0)
    return usage_error(&command, "--backend is metal, cuda or hip; not '%s'", w->backend);
  w->wave = wave ? atoi(wave) : 32;
  if (w->wave != 32 && (w->wave != 64 || strcmp(w->backend, "hip") != 0))
    return usage_error(&command, "--wave is 32, or 64 for HIP; not '%s'", wave);
  return EXIT_FINE;
}

/* A whole number from 0 on; `none` where the option is not given. */
static int read_whole(const Options *o, const char *option, int64_t none, int64_t *out) {
  const char *s = option_value(&command, o, option);
  char *end;
  *out = none;
  if (!s) return EXIT_FINE;
  errno = 0;
  *out = strtoll(s, &end, 0);
  if (*s && !*end && errno == 0 && *out >= 0 && *out < INT64_C(1) << 31) return EXIT_FINE;
  return usage_error(&command, "--%s is a whole number; not '%s'", option, s);
}

static int read_wish(Arena *a, const Options *o, NativeWish *w) {
  const char *grid = option_value(&command, o, "grid"),
             *threads = option_value(&command, o, "threads");
  int64_t seconds, seed;
  w->file = o->operands[0];
  w->entry = option_value(&command, o, "entry");
  w->output = option_value(&command, o, "output");
  for (int i = 0; i < 3; i++) w->groups[i] = 1;
  int status = read_backend(o, w);
  if (!status && grid) status = read_three("grid", grid, w->groups);
  if (!status && threads) status = read_three("threads", threads, w->threads);
  if (!status) status = read_whole(o, "shared", -1, &w->shared);
  if (!status) status = read_whole(o, "seconds", 0, &seconds);
  if (!status) status = read_whole(o, "seed", 1, &seed);
  if (!status) status = read_given(a, o, w);
  w->values = arena_alloc(a, (size_t)o->operand_count * sizeof *w->values);
  for (int i = 1; i < o->operand_count && !status; i++)
    status = read_pair(a, "", o->operands[i], &w->values[w->value_count++]);
  if (status) return status;
  w->seconds = (double)seconds, w->seed = (uint64_t)seed;
  return EXIT_FINE;
}

int cmd_try(int argc, char **argv) {
  Options o;
  int status;
  if (!options_parse(&command, argc, argv, &o, &status)) return status;
  Work w = {.arena = arena_new()};
  status = read_wish(w.arena, &o, &w.wish);
  if (status == EXIT_FINE) status = native_guarded(work, &w);
  arena_free(w.arena);
  return status;
}

/* compile.c: a text becomes a shared object, by clang on this machine.
**
** clang runs in an environment of our own and in a temporary folder that is removed afterwards;
** no shell is involved.  What decides the bits of a result is in `options`: nothing is
** contracted, nothing is reassociated, and no call of the math library is folded at compile
** time (folding could round differently from the call). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "child.h"
#include "files.h"
#include "shims.h"
#include "simt.h"

#define FOLDER_NAME "kg-simt-compile-"
#define COMPILE_SECONDS 600 /* for one text, on any machine */

static const kg_simt_shim shims[] = {
    {"hip", {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_words_h, kg_embedded_hip_h}},
    {"cuda", {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_words_h, kg_embedded_cuda_h}},
    {"metal", {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_metal_h}},
    {"checked", {kg_embedded_checked_h}}, /* before a checked text of any backend */
};
enum { SHIMS = sizeof shims / sizeof *shims, PARTS = sizeof shims->parts / sizeof *shims->parts };

/* Of native texts. */
static const struct {
  const char *backend, *parts[8]; /* NULL ends them */
} native_shims[] = {
    {"hip",
     {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_checked_h, kg_embedded_native_h,
      kg_embedded_native_words_h, kg_embedded_native_hip_h}},
    {"cuda",
     {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_checked_h, kg_embedded_native_h,
      kg_embedded_native_words_h, kg_embedded_native_cuda_h}},
    {"metal",
     {kg_embedded_abi_h, kg_embedded_core_h, kg_embedded_checked_h, kg_embedded_native_h,
      kg_embedded_native_vectors_h, kg_embedded_native_metal_h}},
};

const char *const *kg_simt_native_shim(const char *backend) {
  for (size_t i = 0; i < sizeof native_shims / sizeof *native_shims; i++)
    if (strcmp(native_shims[i].backend, backend) == 0) return native_shims[i].parts;
  return NULL;
}

const kg_simt_shim *kg_simt_shim_of(const char *backend) {
  for (int i = 0; i < SHIMS; i++)
    if (strcmp(shims[i].backend, backend) == 0) return &shims[i];
  return NULL;
}

static const char *const options[] = {
    "-x",
    "c++",
    "-std=gnu++17",
    "-O2",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-nostdinc",
    "-nostdinc++",
    /* the bits */
    "-ffp-contract=off",
    "-fno-builtin",
    "-fno-math-errno",
    "-fno-fast-math",
    /* where C++ leaves a result open, one that is not this processor's by chance: sums wrap, and a
    ** float beyond an integer's range becomes its nearest, as in PTX and on AMD */
    "-fwrapv",
    "-fno-strict-float-cast-overflow",
    /* fibers: nothing below the stack pointer, a guard page is never jumped over, a lane
    ** operation keeps its caller */
    "-fstack-clash-protection",
    "-fno-stack-protector",
#if defined(__aarch64__)
    "-fsigned-char", /* as on every GPU */
    "-mbranch-protection=none",
#else
    "-mno-red-zone",
    "-fcf-protection=none",
#endif
    "-fno-optimize-sibling-calls",
    "-mllvm",
    "-inline-threshold=10000",
    /* a meeting's place is its return address, so no call that leads to one may be copied: every
    ** function is convergent until its definition shows that it meets nobody, and the code
    ** generator, which does not know what that is, makes no second copy of a call */
    "-fconvergent-functions",
    "-mllvm",
    "-disable-early-taildup",
    "-mllvm",
    "-disable-tail-duplicate",
    "-mllvm",
    "-tail-dup-placement=false",
    /* device code */
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-strict-aliasing",
    "-fno-finite-loops", /* an endless loop is a mistake to report, and not nothing at all */
    "-fno-asynchronous-unwind-tables",
    /* reports and logs */
    "-gdwarf-4",
    "-gline-tables-only",
    "-w",
    "-fno-color-diagnostics",
    "-ferror-limit=10",
    "-fno-caret-diagnostics",
    "-Wl,-z,defs",
    "-Wl,--build-id=none",
    "-nostdlib++",
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Of a plain text besides: what no value would be right for is a trap (fault.c says which). */
static const char *const plain_options[] = {
    "-fsanitize=integer-divide-by-zero,shift-exponent",
    "-fsanitize-trap=integer-divide-by-zero,shift-exponent",
};

/* Of a checked text besides.  Only the compiler's own pass is asked for, and no run-time library.
** Less is optimised, so that more of what the text says happens where the text says it: accesses
** are neither merged nor moved between branches, and none is wider than what is watched. */
#define OPEN                                                                                       \
  "float-cast-overflow,shift-exponent,signed-integer-overflow,integer-divide-by-zero,array-bounds"
static const char *const checked_options[] = {
    "-DKG_SIMT_CHECKED=1",
    "-O1",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-ftrivial-auto-var-init=pattern",
    "-Xclang",
    "-fsanitize=thread," OPEN,
    "-Xclang",
    "-fsanitize-recover=" OPEN,
    "-mllvm",
    "-ubsan-unique-traps",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-mllvm",
    "-tsan-handle-cxx-exceptions=0",
    "-mllvm",
    "-enable-tail-merge=0",
    "-mllvm",
    "-disable-vector-combine=1",
};

/* Of its twin: the same text once more, unwatched, with zeros where the other one has a pattern in
** a variable that nobody has set, and a trap at an access outside a variable. */
#define TWIN "-O1", "-ftrivial-auto-var-init=zero", "-Xclang", "-fsanitize=local-bounds"
static const char *const twin_options[] = {
    TWIN,
    /* and with counts of what its conditions come to (coverage.c), which no loop keeps for itself
    ** while other lanes run */
    "-Xclang",
    "-fprofile-instrument=clang",
    "-Xclang",
    "-fcoverage-mapping",
    "-mllvm",
    "-enable-name-compression=false",
    "-mllvm",
    "-do-counter-promotion=false",
};

/* Of a native text's twin, which counts nothing. */
static const char *const native_twin_options[] = {TWIN};

/* Of a native text besides: 16-bit floats round at each operation, as they do on GPUs, its atomic
** accesses tell of themselves (native.h), and the watched one of values that are not aligned. */
#define NATIVE_OPTIONS                                                                             \
  "-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none",     \
      "-mllvm", "-tsan-instrument-atomics=0", "-ftemplate-backtrace-limit=0",                      \
      "-Wno-c++11-narrowing"
static const char *const native_options[] = {NATIVE_OPTIONS, "-Xclang", "-fsanitize=alignment",
                                             "-Xclang", "-fsanitize-recover=alignment"};
static const char *const native_twin_more[] = {NATIVE_OPTIONS};

/* A way to compile a text. */
typedef struct Build {
  const char *const *options;
  size_t count;
  bool checked; /* with checked.h before it */
  const char *const *more;
  size_t more_count;
} Build;
#define BUILD(of, checked) {of, sizeof of / sizeof *of, checked, NULL, 0}
#define NATIVE(of, more) {of, sizeof of / sizeof *of, false, more, sizeof more / sizeof *more}
static const Build plain_build = BUILD(plain_options, false),
                   checked_build = BUILD(checked_options, true),
                   twin_build = BUILD(twin_options, false),
                   native_build = NATIVE(checked_options, native_options),
                   native_plain_build = NATIVE(plain_options, native_twin_more),
                   native_twin_build = NATIVE(native_twin_options, native_twin_more);

static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=/",
                                          "TMPDIR=.", NULL};

/* Runs clang in a folder.  True: it ended with status 0; else *of says what became of it. */
static bool run(const kg_simt_compiler *compiler, const char *folder, const char *const *words,
                kg_child_outcome *of) {
  const kg_child_program program = {
      .path = compiler->path, .folder = folder, .argv = words, .envp = environment};
  return kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = COMPILE_SECONDS}, of);
}

/* ---- the temporary folder -------------------------------------------------------------------- */

typedef struct Folder {
  char path[512], text[560], object[560];
  int lock; /* held as long as the folder is in use */
} Folder;

static void remove_files(const char *folder) {
  static const char *const names[] = {"text.cpp", "text.so", "metal_stdlib"};
  char path[600];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

/* A process that is killed while it compiles leaves its folder behind.  Whoever comes later takes
** it away: the lock goes with its process, so a folder that is old and not locked is nobody's. */
static void sweep(const char *place) {
  enum { OLD = 60 };
  DIR *entries = opendir(place);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char path[512];
    struct stat facts;
    if (strncmp(entry->d_name, FOLDER_NAME, strlen(FOLDER_NAME)) != 0) continue;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", place, entry->d_name) >= sizeof path) continue;
    if (lstat(path, &facts) || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid()) continue;
    if (time(NULL) - facts.st_mtime < OLD) continue;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) remove_files(path);
    close(fd);
  }
  if (entries) closedir(entries);
}

static bool folder_new(Folder *folder) {
  const char *chosen = getenv("TMPDIR");
  const char *const places[] = {chosen && *chosen ? chosen : "/tmp", "/tmp", "/var/tmp"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const int length =
        snprintf(folder->path, sizeof folder->path, "%s/" FOLDER_NAME "XXXXXX", places[i]);
    if ((size_t)length >= sizeof folder->path) continue;
    if (!mkdtemp(folder->path)) continue;
    folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->lock >= 0) flock(folder->lock, LOCK_EX | LOCK_NB);
    snprintf(folder->text, sizeof folder->text, "%s/text.cpp", folder->path);
    snprintf(folder->object, sizeof folder->object, "%s/text.so", folder->path);
    return true;
  }
  return false;
}

static void folder_free(const Folder *folder) {
  remove_files(folder->path);
  if (folder->lock >= 0) close(folder->lock);
}

/* ---- finding clang --------------------------------------------------------------------------- */

static XXH64_hash_t shims_hash(void) {
  XXH64_hash_t hash = 0;
  for (int i = 0; i < SHIMS; i++)
    for (int p = 0; p < PARTS && shims[i].parts[p]; p++)
      hash = XXH3_64bits_withSeed(shims[i].parts[p], strlen(shims[i].parts[p]), hash);
  for (int i = 0; i < OPTIONS; i++)
    hash = XXH3_64bits_withSeed(options[i], strlen(options[i]), hash);
  const Build *const builds[] = {&plain_build, &checked_build, &twin_build};
  for (size_t b = 0; b < sizeof builds / sizeof *builds; b++)
    for (size_t i = 0; i < builds[b]->count; i++)
      hash = XXH3_64bits_withSeed(builds[b]->options[i], strlen(builds[b]->options[i]), hash);
  return hash;
}

/* Of the program behind the links: where it lies, how long it is, when it was made. */
static XXH64_hash_t program_hash(const char *path) {
  char real[4096], words[4352];
  struct stat facts = {0};
  if (!realpath(path, real)) snprintf(real, sizeof real, "%s", path);
  stat(real, &facts);
  const int count =
      snprintf(words, sizeof words, "%s %lld %lld.%09ld", real, (long long)facts.st_size,
               (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  return XXH3_64bits(words, (size_t)count);
}

#if defined(__aarch64__)
#define MACHINE "aarch64"
static const char *own_processor(void) { return "armv8-a"; }
#else
#define MACHINE "x86_64"
static const char *own_processor(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("bmi2")
             ? "x86-64-v3"
             : "x86-64";
}
#endif

/* NULL: clang's own target is this machine.  Else (this program is emulated) it is told. */
static const char *own_target(const char *said) {
  static const char *const before = "Target: ";
  const char *target = strstr(said, before);
  if (!target || strncmp(target + strlen(before), MACHINE, strlen(MACHINE)) == 0) return NULL;
  return "--target=" MACHINE "-linux-gnu";
}

/* What a program that could not be run, or heard, means to the caller. */
static kg_status status_of(const kg_child_outcome *of) {
  return of->ending == KG_CHILD_NOT_RUN && of->code == ENOMEM ? KG_OUT_OF_MEMORY : KG_NO_COMPILER;
}

static kg_status read_version(kg_simt_compiler *compiler, kg_error *error) {
  Folder folder;
  if (!folder_new(&folder))
    return kg_fail(error, KG_NO_COMPILER, "no temporary folder can be made: %s", strerror(errno));
  char place[sizeof folder.path];
  snprintf(place, sizeof place, "%.*s", (int)(strrchr(folder.path, '/') - folder.path),
           folder.path);
  sweep(place);
  const char *const words[] = {compiler->path, "--version", NULL};
  kg_child_outcome of;
  kg_status status = KG_OK;
  run(compiler, folder.path, words, &of);
  folder_free(&folder);
  const char *number = of.out ? strstr(of.out, "clang version ") : NULL;
  if (of.ending != KG_CHILD_EXITED)
    status =
        kg_fail(error, status_of(&of), "%s, asked for its version, %s", compiler->path, of.words);
  else if (of.code != 0 || !number)
    status = kg_fail(error, KG_NO_COMPILER, "%s does not answer --version as clang does",
                     compiler->path);
  else {
    number += strlen("clang version ");
    snprintf(compiler->version, sizeof compiler->version, "%.*s", (int)strcspn(number, " \t\r\n-+"),
             number);
    compiler->target = own_target(of.out);
  }
  kg_child_outcome_free(&of);
  return status;
}

kg_status kg_simt_compiler_find(kg_simt_compiler *compiler, char *identity, size_t bytes,
                                kg_error *error) {
  const char *chosen = getenv("KG_CLANG");
  if (chosen && *chosen) {
    if (!kg_child_find(chosen, compiler->path, sizeof compiler->path))
      return kg_fail(error, KG_NO_COMPILER, "KG_CLANG is \"%s\", and no such program can be run",
                     chosen);
  } else if (!kg_child_find("clang-19", compiler->path, sizeof compiler->path) &&
             !kg_child_find("clang", compiler->path, sizeof compiler->path))
    return kg_fail(error, KG_NO_COMPILER,
                   "the SIMT device needs clang: neither clang-19 nor clang is in PATH; "
                   "install it, or name it in KG_CLANG");
  const kg_status status = read_version(compiler, error);
  if (status) return status;
  compiler->processor = own_processor();
  snprintf(identity, bytes, "clang %s %016llx, shim %016llx, %s", compiler->version,
           (unsigned long long)program_hash(compiler->path), (unsigned long long)shims_hash(),
           compiler->processor);
  return KG_OK;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static void print_quoted(FILE *out, const char *words) {
  fputc('"', out);
  for (const char *c = words; *c; c++) {
    if (*c == '"' || *c == '\\') fputc('\\', out);
    if ((unsigned char)*c >= ' ') fputc(*c, out);
  }
  fputc('"', out);
}

static bool is_name(const char *words) {
  if (!*words || (*words >= '0' && *words <= '9')) return false;
  return words[strspn(words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
         0;
}

static bool write_text(const Folder *folder, const kg_simt_shim *shim, int wave, bool checked,
                       const kg_source *source, const char *text, const char *call) {
  static const char *const stubs[] = {"metal_stdlib"};
  if (strcmp(shim->backend, "metal") == 0) { /* its words are in the shim */
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder->path, stubs[0]);
    FILE *stub = fopen(path, "we");
    if (!stub || fclose(stub)) return false;
  }
  FILE *out = fopen(folder->text, "we");
  if (!out) return false;
  fprintf(out, "#define KG_SIMT 1\n#define KG_SIMT_WAVE %d\n#line 1 \"kg_simt\"\n", wave);
  for (int p = 0; p < PARTS && shim->parts[p]; p++) fputs(shim->parts[p], out);
  if (checked) fputs(kg_embedded_checked_h, out);
  fputs("#line 1 ", out);
  print_quoted(out, source->file && *source->file ? source->file : source->kernel);
  fprintf(out, "\n%s\n#line 1 \"kg_simt_call\"\n", text);
  if (call)
    fputs(call, out);
  else
    fprintf(out,
            "using kg_simt_entry = kg_simt_signature<decltype(%s)>;\n"
            "static KG_SIMT_UNCHECKED void kg_simt_call(const void *block) {\n"
            "  kg_simt_entry::call<%s>(block);\n}\n"
            "static constexpr unsigned kg_simt_bytes = kg_simt_entry::end(kg_simt_entry::count);\n",
            source->entry, source->entry);
  fprintf(out, "KG_SIMT_TEXT(");
  print_quoted(out, source->kernel);
  fprintf(out, ", \"%s\", kg_simt_bytes, kg_simt_call)\n", source->entry);
  const bool good = !ferror(out);
  return fclose(out) == 0 && good;
}

static unsigned lines_of(const char *text) {
  unsigned count = 0;
  for (; *text; text++) count += *text == '\n';
  return count;
}

/* The line of an unchecked text's first one in what write_text writes. */
static unsigned first_line(const kg_simt_shim *shim) {
  unsigned line = 3 + 1 + 1;
  for (int p = 0; p < PARTS && shim->parts[p]; p++) line += lines_of(shim->parts[p]);
  return line;
}

static bool is_definition(const char *option) {
  return strncmp(option, "-D", 2) == 0 || strncmp(option, "-U", 2) == 0;
}

static size_t definitions(const char *const *from) {
  size_t n = 0;
  for (; from && *from; from++) n += is_definition(*from);
  return n;
}

/* Definitions among the port's options are kept; the others are for that backend's own compiler. */
static int add_definitions(const char *const *from, const char **words, int count) {
  for (; from && *from; from++)
    if (is_definition(*from)) words[count++] = *from;
  return count;
}

static kg_status refuse(const kg_simt_compiler *compiler, const char *backend,
                        const kg_source *source, kg_child_outcome *of, kg_error *error) {
  char *log = of->err;
  if (of->ending == KG_CHILD_NOT_RUN)
    return kg_fail(error, status_of(of), "%s %s", compiler->path, of->words);
  if (of->ending != KG_CHILD_EXITED)
    return kg_fail(error, KG_COMPILE_FAILED,
                   "kernel %s: clang %s broke off on the %s text at width %d: its process %s",
                   source->kernel, compiler->version, backend, source->wave, of->words);
  for (size_t end = of->err_bytes; end > 0 && (log[end - 1] == '\n' || log[end - 1] == ' ');)
    log[--end] = 0;
  return kg_fail(error, KG_COMPILE_FAILED,
                 "kernel %s: clang %s refuses the %s text at width %d (exit status %d):\n%s",
                 source->kernel, compiler->version, backend, source->wave, of->code,
                 log ? log : "");
}

static kg_status run_clang(const kg_simt_compiler *compiler, const char *backend,
                           const Build *build, const kg_source *source, const Folder *folder,
                           kg_blob *blob, char **log, kg_error *error) {
  static const char *const tail[] = {"-I.", "text.cpp", "-o", "text.so", "-lm", NULL};
  enum { TAIL = sizeof tail / sizeof *tail };
  const size_t most =
      3 + OPTIONS + build->count + build->more_count + definitions(source->options) + TAIL;
  const char **words = calloc(most, sizeof *words);
  if (!words)
    return kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory for its compiler's options",
                   source->kernel);
  char march[64];
  int count = 0;
  words[count++] = compiler->path;
  for (int i = 0; i < OPTIONS; i++) words[count++] = options[i];
  for (size_t i = 0; i < build->count; i++) words[count++] = build->options[i];
  for (size_t i = 0; i < build->more_count; i++) words[count++] = build->more[i];
  snprintf(march, sizeof march, "-march=%s", compiler->processor);
  words[count++] = march;
  if (compiler->target) words[count++] = compiler->target;
  count = add_definitions(source->options, words, count);
  for (int i = 0; i < TAIL; i++) words[count + i] = tail[i];
  kg_child_outcome of;
  const bool fine = run(compiler, folder->path, words, &of);
  free(words);
  blob->bytes = fine ? kg_read_file(folder->object, &blob->size) : NULL;
  kg_status status = KG_OK;
  if (!fine)
    status = refuse(compiler, backend, source, &of, error);
  else if (!blob->bytes)
    status = kg_fail(error, errno == ENOMEM ? KG_OUT_OF_MEMORY : KG_DEVICE_FAILED, "%s: %s",
                     folder->object, strerror(errno));
  if (!fine && log && of.ending == KG_CHILD_EXITED) *log = of.err, of.err = NULL;
  kg_child_outcome_free(&of);
  return status;
}

/* One of a text's objects. */
typedef struct Work {
  const kg_simt_compiler *compiler;
  const char *backend;
  const kg_simt_shim *shim;
  int wave;
  const kg_source *source;
  const char *text, *call; /* of a Metal text; else the source's own, and NULL */
  Folder folder;
} Work;

static kg_status build(const Work *work, const Build *how, kg_blob *blob, kg_error *error) {
  if (!write_text(&work->folder, work->shim, work->wave, how->checked, work->source, work->text,
                  work->call))
    return kg_fail(error, KG_DEVICE_FAILED, "%s: %s", work->folder.text, strerror(errno));
  return run_clang(work->compiler, work->backend, how, work->source, &work->folder, blob, NULL,
                   error);
}

/* What a checked blob ends with: behind both objects, and the text with its zero. */
typedef struct Trailer {
  uint64_t first, second, first_line; /* bytes; see kg_simt_twin_objects */
  char mark[8];
} Trailer;
static const char twin_mark[8] = {'k', 'g', ' ', 't', 'w', 'i', 'n', 's'};

/* Both objects and their text as one blob.  False: no memory. */
static bool join_twins(const kg_blob *first, const kg_blob *second, const char *words,
                       unsigned line, kg_blob *blob) {
  Trailer trailer = {first->size, second->size, line, {0}};
  memcpy(trailer.mark, twin_mark, sizeof twin_mark);
  const size_t objects = first->size + second->size, text = strlen(words) + 1,
               size = objects + text + sizeof trailer;
  unsigned char *bytes = malloc(size);
  if (!bytes) return false;
  memcpy(bytes, first->bytes, first->size);
  memcpy(bytes + first->size, second->bytes, second->size);
  memcpy(bytes + objects, words, text);
  memcpy(bytes + objects + text, &trailer, sizeof trailer);
  *blob = (kg_blob){.bytes = bytes, .size = size};
  return true;
}

/* A checked text's object, and its twin behind it. */
static kg_status build_twins(const Work *work, kg_blob *blob, kg_error *error) {
  kg_blob first = {0}, second = {0};
  kg_status status = build(work, &checked_build, &first, error);
  if (status == KG_OK) status = build(work, &twin_build, &second, error);
  if (status == KG_OK && !join_twins(&first, &second, work->text, first_line(work->shim), blob))
    status = kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory for its object",
                     work->source->kernel);
  free(first.bytes);
  free(second.bytes);
  return status;
}

bool kg_simt_twins(const kg_blob *blob, kg_simt_twin_objects *of) {
  Trailer trailer;
  if (blob->size < sizeof trailer + 1) return false;
  const size_t end = blob->size - sizeof trailer;
  unsigned char *bytes = blob->bytes;
  memcpy(&trailer, bytes + end, sizeof trailer);
  if (memcmp(trailer.mark, twin_mark, sizeof twin_mark) != 0 || trailer.first >= end ||
      trailer.second >= end - trailer.first || bytes[end - 1] != 0)
    return false;
  of->first = (kg_blob){.bytes = bytes, .size = (size_t)trailer.first};
  of->second = (kg_blob){.bytes = bytes + trailer.first, .size = (size_t)trailer.second};
  of->text = (const char *)bytes + trailer.first + trailer.second;
  of->first_line = (unsigned)trailer.first_line;
  return true;
}

kg_status kg_simt_compile(const kg_simt_compiler *compiler, const char *backend, int wave,
                          bool checked, const kg_source *source, kg_blob *blob, kg_error *error) {
  char *text = NULL, *call = NULL;
  Work work = {.compiler = compiler, .backend = backend, .wave = wave, .source = source};
  work.shim = kg_simt_shim_of(backend);
  if (!work.shim)
    return kg_fail(error, KG_BAD_ARGUMENT, "the SIMT device has no shim for %s", backend);
  if (!is_name(source->entry))
    return kg_fail(error, KG_BAD_ARGUMENT, "kernel %s: \"%s\" is no name for an entry",
                   source->kernel, source->entry);
  if (strcmp(backend, "metal") == 0) {
    const kg_status status = kg_simt_metal_text(source, &text, &call, error);
    if (status) return status;
  }
  if (!folder_new(&work.folder)) {
    free(text), free(call);
    return kg_fail(error, KG_DEVICE_FAILED, "no temporary folder can be made: %s", strerror(errno));
  }
  work.text = text ? text : source->text, work.call = call;
  const kg_status status =
      checked ? build_twins(&work, blob, error) : build(&work, &plain_build, blob, error);
  folder_free(&work.folder);
  free(text), free(call);
  return status;
}

static bool write_whole(const char *path, const char *text) {
  FILE *out = fopen(path, "we");
  if (!out) return false;
  fputs(text, out);
  const bool good = !ferror(out);
  return fclose(out) == 0 && good;
}

static _Atomic(kg_simt_native_maker *) native_maker;

void kg_simt_native_by(kg_simt_native_maker *maker) { native_maker = maker; }

kg_status kg_simt_compile_native(const kg_simt_compiler *compiler, const char *backend, int wave,
                                 bool checked, const kg_source *source, kg_blob *blob,
                                 kg_error *error) {
  kg_simt_native_maker *maker = native_maker;
  if (maker) return maker(compiler, backend, wave, checked, source, blob, error);
  return kg_fail(error, KG_NO_COMPILER,
                 "kernel %s: its %s text is not kgen's own but its owner's, which the SIMT device "
                 "runs under kgen alone (kgen run, kgen verify)",
                 source->kernel, backend);
}

kg_status kg_simt_native_compile(const kg_simt_compiler *compiler, bool checked,
                                 const kg_source *source, kg_blob *blob, char **log,
                                 kg_error *error) {
  kg_blob first = {0}, second = {0};
  Folder folder;
  *log = NULL;
  if (!folder_new(&folder))
    return kg_fail(error, KG_DEVICE_FAILED, "no temporary folder can be made: %s", strerror(errno));
  kg_status status = KG_OK;
  if (!write_whole(folder.text, source->text))
    status = kg_fail(error, KG_DEVICE_FAILED, "%s: %s", folder.text, strerror(errno));
  if (status == KG_OK)
    status = run_clang(compiler, "", checked ? &native_build : &native_plain_build, source, &folder,
                       checked ? &first : blob, log, error);
  if (status == KG_OK && checked)
    status = run_clang(compiler, "", &native_twin_build, source, &folder, &second, log, error);
  if (status == KG_OK && checked && !join_twins(&first, &second, "", 1, blob))
    status =
        kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory for its object", source->kernel);
  folder_free(&folder);
  free(first.bytes);
  free(second.bytes);
  return status;
}

/* hiprtc_serve.c: loads hipRTC and compiles what it is asked to.  Runs in the child only.
**
** The library is found by name: hipRTC is a part of libamdhip64 in Debian's packages of ROCm 5,
** a library of its own since.  Which architectures it knows is asked of the code object manager
** (comgr) that it is itself linked with. What identifies the compiler is the content of the
** files that are loaded, since version numbers stay the same when a distribution rebuilds. */
#include "devices/hiprtc_serve.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

#include "platform.h"

/* ---- growing text ---------------------------------------------------------------------------- */

typedef struct text {
  char *s;
  size_t len, cap;
} text;

static bool text_put(text *t, const char *s, size_t len) {
  if (t->cap - t->len <= len) {
    size_t cap = (t->cap + len + 1) * 2;
    char *grown = realloc(t->s, cap);
    if (grown == NULL) return false;
    t->s = grown;
    t->cap = cap;
  }
  memcpy(t->s + t->len, s, len);
  t->len += len;
  t->s[t->len] = '\0';
  return true;
}

static bool text_puts(text *t, const char *s) { return text_put(t, s, strlen(s)); }

/* ---- the library ----------------------------------------------------------------------------- */

typedef void *hiprtc_program;

typedef struct hiprtc {
  void *handle;
  int (*create)(hiprtc_program *program, const char *text, const char *name, int headers,
                const char **header, const char **header_name);
  int (*compile)(hiprtc_program program, int options, const char **option);
  int (*log_size)(hiprtc_program program, size_t *bytes);
  int (*log)(hiprtc_program program, char *log);
  int (*code_size)(hiprtc_program program, size_t *bytes);
  int (*code)(hiprtc_program program, char *code);
  int (*destroy)(hiprtc_program *program);
  const char *(*error_string)(int result);
} hiprtc;

static const struct {
  int generation;
  const char *name;
} library_names[] = {
    {7, "libhiprtc.so.7"},   {7, "libamdhip64.so.7"}, {6, "libhiprtc.so.6"},
    {6, "libamdhip64.so.6"}, {5, "libhiprtc.so.5"},   {5, "libamdhip64.so.5"},
};

static const char *const library_folders[] = {"",
                                              "/opt/rocm/lib/"}; /* "": where the loader looks */

static const struct {
  const char *name;
  size_t offset;
} hiprtc_symbols[] = {
    {"hiprtcCreateProgram", offsetof(hiprtc, create)},
    {"hiprtcCompileProgram", offsetof(hiprtc, compile)},
    {"hiprtcGetProgramLogSize", offsetof(hiprtc, log_size)},
    {"hiprtcGetProgramLog", offsetof(hiprtc, log)},
    {"hiprtcGetCodeSize", offsetof(hiprtc, code_size)},
    {"hiprtcGetCode", offsetof(hiprtc, code)},
    {"hiprtcDestroyProgram", offsetof(hiprtc, destroy)},
    {"hiprtcGetErrorString", offsetof(hiprtc, error_string)},
};

/* A function's address kept in an object: POSIX's way around the cast that ISO C does not have. */
static bool find_symbol(void *handle, const char *name, void *slot) {
  void *address = dlsym(handle, name);
  if (address == NULL) return false;
  memcpy(slot, &address, sizeof address);
  return true;
}

static bool hiprtc_open_file(hiprtc *h, const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return false;
  for (size_t i = 0; i < sizeof hiprtc_symbols / sizeof *hiprtc_symbols; i++)
    if (!find_symbol(handle, hiprtc_symbols[i].name, (char *)h + hiprtc_symbols[i].offset)) {
      dlclose(handle);
      return false;
    }
  h->handle = handle;
  return true;
}

static bool hiprtc_open(hiprtc *h, const kg_hiprtc_choice *choice, text *why) {
  if (choice->library != NULL) {
    if (hiprtc_open_file(h, choice->library)) return true;
    text_puts(why, choice->library);
    text_puts(why, " is not a library with hipRTC's functions");
    return false;
  }
  text_puts(why, "looked for");
  for (size_t f = 0; f < sizeof library_folders / sizeof *library_folders; f++)
    for (size_t i = 0; i < sizeof library_names / sizeof *library_names; i++) {
      if (choice->generation != 0 && choice->generation != library_names[i].generation) continue;
      char path[256];
      snprintf(path, sizeof path, "%s%s", library_folders[f], library_names[i].name);
      if (hiprtc_open_file(h, path)) return true;
      text_puts(why, " ");
      text_puts(why, path);
    }
  return false;
}

/* ---- who it is ------------------------------------------------------------------------------- */

typedef struct files {
  size_t count, room;
  char **path;
  bool whole; /* none is missing */
} files;

static void add_file(files *f, const char *path) {
  char *real = realpath(path, NULL);
  if (f->count == f->room) {
    const size_t room = f->room > 0 ? 2 * f->room : 16;
    char **larger = realloc(f->path, room * sizeof *larger);
    if (larger != NULL) f->path = larger, f->room = room;
  }
  if (real == NULL || f->count == f->room) {
    f->whole = false;
    free(real);
  } else {
    f->path[f->count++] = real;
  }
}

/* The files whose content decides what a text is compiled to.  (The version is read from a file
** name, as hiprtcVersion says 9.0 in every release from 5.2 to 7.2.) */
static const char *const toolchain_prefixes[] = {
    "libhiprtc", "libamdhip64", "libamd_comgr", "libLLVM", "libclang", "liblld",
};

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static void collect_file(void *data, const char *path) {
  files *f = data;
  const char *base = base_name(path);
  for (size_t i = 0; i < sizeof toolchain_prefixes / sizeof *toolchain_prefixes; i++)
    if (strncmp(base, toolchain_prefixes[i], strlen(toolchain_prefixes[i])) == 0) {
      add_file(f, path);
      break;
    }
}

static int by_base_name(const void *a, const void *b) {
  return strcmp(base_name(*(char *const *)a), base_name(*(char *const *)b));
}

/* Its name and its contents, with the lengths of both in front. */
static bool hash_file(kg_hash *hash, const char *path) {
  const char *base = base_name(path);
  struct stat st;
  if (stat(path, &st) != 0 || st.st_size == 0) return false;
  const uint64_t lengths[2] = {strlen(base), (uint64_t)st.st_size};
  kg_hash_bytes(hash, lengths, sizeof lengths);
  kg_hash_bytes(hash, base, strlen(base));
  return kg_hash_file(hash, path);
}

static void describe_files(const hiprtc *h, const char *chosen, text *out) {
  files f = {.whole = true};
  char line[2 * 4096];
  if (chosen != NULL) add_file(&f, chosen); /* by path, it need not have one of the names */
  kg_loaded_files(collect_file, &f);
  if (f.count > 0) qsort(f.path, f.count, sizeof *f.path, by_base_name);

  Dl_info at;
  void *compile;
  memcpy(&compile, &h->compile, sizeof compile);
  if (dladdr(compile, &at) != 0 && at.dli_fname != NULL) {
    char *real = realpath(at.dli_fname, NULL);
    const char *path = real != NULL ? real : at.dli_fname,
               *digits = strstr(base_name(path), ".so.");
    snprintf(line, sizeof line, "version %.32s\n", digits != NULL ? digits + 4 : "0");
    text_puts(out, line);
    snprintf(line, sizeof line, "library %.200s %.4000s\n", base_name(path), path);
    text_puts(out, line);
    free(real);
  }
  char digits[33];
  kg_hash *hash = kg_hash_new();
  bool whole = f.whole && hash != NULL && f.count > 0;
  for (size_t i = 0; i < f.count; i++) {
    if (whole && (i == 0 || strcmp(f.path[i], f.path[i - 1]) != 0))
      whole = hash_file(hash, f.path[i]);
  }
  if (hash != NULL) kg_hash_end(hash, digits);
  if (whole) {
    snprintf(line, sizeof line, "hash %s\n", digits);
    text_puts(out, line);
  }
  for (size_t i = 0; i < f.count; i++) free(f.path[i]);
  free(f.path);
}

static const char *const comgr_names[] = {
    "libamd_comgr.so.3",
    "libamd_comgr.so.2",
    "/opt/rocm/lib/libamd_comgr.so.3",
    "/opt/rocm/lib/libamd_comgr.so.2",
};

typedef struct comgr_node {
  uint64_t handle;
} comgr_node;

static const char *const features[] = {"sramecc", "xnack"};

/* A library that has comgr's functions; NULL: none. */
static void *find_comgr(const hiprtc *h) {
  void (*count)(void);
  void *handle = h->handle; /* its own dependency first: the very one that it compiles with */
  for (size_t i = 0; !find_symbol(handle, "amd_comgr_get_isa_count", &count);) {
    do {
      if (i == sizeof comgr_names / sizeof *comgr_names) return NULL;
      handle = dlopen(comgr_names[i++], RTLD_NOW | RTLD_LOCAL);
    } while (handle == NULL);
  }
  return handle;
}

/* comgr speaks of `amdgcn-amd-amdhsa--gfx90a`; the part after `--` is the name that
** --offload-arch takes.  It gives metadata for a name with a feature only where the architecture
** has that feature; hipRTC dies on one that has not. (The node is left to the process's end: to
** release it needs a function that not every release exports.) */
static void describe_targets(const hiprtc *h, text *out) {
  int (*count)(size_t *) = NULL;
  int (*name)(size_t, const char **) = NULL;
  int (*metadata)(const char *, comgr_node *) = NULL;
  void *handle = find_comgr(h);
  size_t n = 0;
  if (handle == NULL || !find_symbol(handle, "amd_comgr_get_isa_count", &count) ||
      !find_symbol(handle, "amd_comgr_get_isa_name", &name) || count(&n) != 0)
    return;
  if (!find_symbol(handle, "amd_comgr_get_isa_metadata", &metadata)) metadata = NULL;
  for (size_t i = 0; i < n; i++) {
    const char *isa;
    if (name(i, &isa) != 0 || isa == NULL) continue;
    const char *dashes = strstr(isa, "--");
    text_puts(out, "target ");
    text_puts(out, dashes != NULL ? dashes + 2 : isa);
    for (size_t f = 0; metadata != NULL && f < sizeof features / sizeof *features; f++) {
      char with[256];
      comgr_node node = {0};
      snprintf(with, sizeof with, "%.200s:%s+", isa, features[f]);
      if (metadata(with, &node) != 0) continue;
      text_puts(out, " ");
      text_puts(out, features[f]);
    }
    text_puts(out, "\n");
  }
}

static char *describe(const hiprtc *h, const char *chosen) {
  text out = {0};
  describe_targets(h, &out); /* before the files: it may load one */
  describe_files(h, chosen, &out);
  return out.s;
}

char *kg_hiprtc_describe(const kg_hiprtc_choice *choice, uint32_t *status) {
  hiprtc h = {0};
  text why = {0};
  bool found = hiprtc_open(&h, choice, &why);
  *status = found ? KG_HIPRTC_OK : KG_HIPRTC_NO_LIBRARY;
  if (!found) return why.s;
  free(why.s);
  return describe(&h, choice->library);
}

/* ---- one compilation ------------------------------------------------------------------------- */

static uint32_t compile(const hiprtc *h, const char *name, const char *source, int options,
                        const char **option, char **log, void **code, size_t *code_bytes) {
  hiprtc_program program = NULL;
  text t = {0};
  int result = h->create(&program, source, name, 0, NULL, NULL);
  *code = NULL;
  *code_bytes = 0;
  if (result == 0) {
    result = h->compile(program, options, option);
    size_t bytes = 0; /* with the NUL, where there is one */
    if (h->log_size(program, &bytes) == 0 && bytes > 1) {
      char *raw = calloc(1, bytes + 1);
      if (raw != NULL && h->log(program, raw) == 0) text_puts(&t, raw);
      free(raw);
    }
  }
  if (result == 0) {
    size_t bytes = 0;
    result = h->code_size(program, &bytes);
    if (result == 0 && bytes > 0) {
      *code = malloc(bytes);
      if (*code != NULL) result = h->code(program, *code);
      *code_bytes = bytes;
    }
    if (result == 0 && *code == NULL) text_puts(&t, "hipRTC gave no code object\n");
  }
  if (result != 0 && t.len == 0) { /* some failures come without a log */
    const char *words = h->error_string(result);
    text_puts(&t, "hipRTC: ");
    text_puts(&t, words != NULL ? words : "unknown error");
    text_puts(&t, "\n");
  }
  if (program != NULL) h->destroy(&program);
  if (result != 0) {
    free(*code);
    *code = NULL;
    *code_bytes = 0;
  }
  *log = t.s;
  return *code != NULL ? KG_HIPRTC_OK : KG_HIPRTC_FAILED;
}

uint32_t kg_hiprtc_compile_once(const kg_hiprtc_choice *choice, const char *name,
                                const char *source, int options, const char **option, char **log,
                                void **code, size_t *code_bytes) {
  hiprtc h = {0};
  text why = {0};
  *code = NULL;
  *code_bytes = 0;
  if (!hiprtc_open(&h, choice, &why)) {
    *log = why.s;
    return KG_HIPRTC_NO_LIBRARY;
  }
  free(why.s);
  return compile(&h, name, source, options, option, log, code, code_bytes);
}

/* ---- the machine code again ------------------------------------------------------------------ */

typedef struct disassembler {
  int (*create)(const char *isa, uint64_t (*read)(uint64_t, char *, uint64_t, void *),
                void (*instruction)(const char *, void *), void (*address)(uint64_t, void *),
                comgr_node *info);
  int (*next)(comgr_node info, uint64_t at, void *data, uint64_t *bytes);
  int (*destroy)(comgr_node info);
} disassembler;

typedef struct listing {
  const char *code;
  uint64_t code_bytes;
  char instruction[512];
} listing;

static uint64_t read_code(uint64_t from, char *to, uint64_t bytes, void *data) {
  const listing *l = data;
  if (from >= l->code_bytes) return 0;
  if (bytes > l->code_bytes - from) bytes = l->code_bytes - from;
  memcpy(to, l->code + from, (size_t)bytes);
  return bytes;
}

static void take_instruction(const char *words, void *data) {
  listing *l = data;
  while (*words == ' ' || *words == '\t') words++;
  snprintf(l->instruction, sizeof l->instruction, "%s", words);
}

/* Where a branch goes is in its instruction's words. */
static void take_address(uint64_t address, void *data) { (void)address, (void)data; }

/* What comgr does not know counts as four bytes, and the reading goes on behind them. */
static uint32_t disassemble(const hiprtc *h, const char *target, const char *code,
                            size_t code_bytes, char **log) {
  disassembler d;
  comgr_node info;
  char isa[256];
  text out = {0};
  listing l = {code, code_bytes, ""};
  void *handle = find_comgr(h);
  snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%.200s", target);
  if (handle == NULL || !find_symbol(handle, "amd_comgr_create_disassembly_info", &d.create) ||
      !find_symbol(handle, "amd_comgr_disassemble_instruction", &d.next) ||
      !find_symbol(handle, "amd_comgr_destroy_disassembly_info", &d.destroy) ||
      d.create(isa, read_code, take_instruction, take_address, &info) != 0)
    return KG_HIPRTC_FAILED;
  text_puts(&out, "");
  for (uint64_t at = 0, bytes = 0; at < code_bytes; at += bytes) {
    char line[600];
    if (d.next(info, at, &l, &bytes) != 0 || bytes == 0) {
      bytes = code_bytes - at < 4 ? code_bytes - at : 4;
      snprintf(l.instruction, sizeof l.instruction, "?");
    }
    snprintf(line, sizeof line, "%llu %llu %s\n", (unsigned long long)at, (unsigned long long)bytes,
             l.instruction);
    text_puts(&out, line);
  }
  d.destroy(info);
  *log = out.s;
  return KG_HIPRTC_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

static char *read_string(int fd, uint64_t *bytes) {
  if (!kg_read_all(fd, bytes, sizeof *bytes) || *bytes > KG_HIPRTC_MAX_BYTES) return NULL;
  char *s = malloc((size_t)*bytes + 1);
  if (s == NULL || !kg_read_all(fd, s, (size_t)*bytes)) {
    free(s);
    return NULL;
  }
  s[*bytes] = '\0';
  return s;
}

static bool answer(int fd, uint32_t status, const char *log, const void *code, size_t code_bytes) {
  kg_hiprtc_answer a = {KG_HIPRTC_MAGIC, status, log != NULL ? strlen(log) : 0, code_bytes};
  return kg_write_all(fd, &a, sizeof a) &&
         kg_write_all(fd, log != NULL ? log : "", (size_t)a.log_bytes) &&
         kg_write_all(fd, code != NULL ? code : "", code_bytes);
}

static bool serve_one(const hiprtc *h, const char *chosen, const kg_hiprtc_request *r,
                      char **string, const uint64_t *bytes, int out) {
  char *log = NULL;
  void *code = NULL;
  size_t code_bytes = 0;
  uint32_t status = KG_HIPRTC_BAD_REQUEST;
  if (r->kind == KG_HIPRTC_DESCRIBE) {
    log = describe(h, chosen);
    status = KG_HIPRTC_OK;
  } else if (r->kind == KG_HIPRTC_COMPILE && r->strings >= 2) {
    const char *option[KG_HIPRTC_MAX_STRINGS];
    for (uint32_t i = 2; i < r->strings; i++) option[i - 2] = string[i];
    status =
        compile(h, string[0], string[1], (int)r->strings - 2, option, &log, &code, &code_bytes);
  } else if (r->kind == KG_HIPRTC_DISASSEMBLE && r->strings == 2) {
    status = disassemble(h, string[0], string[1], (size_t)bytes[1], &log);
  }
  bool sent = answer(out, status, log, code, code_bytes);
  free(log);
  free(code);
  return sent;
}

/* Keeps `in` and `out` for the exchange and gives the libraries a descriptor 1 on which printing
** does no harm. */
static void part_streams(int *in, int *out) {
  int kept_in = fcntl(*in, F_DUPFD_CLOEXEC, 10), kept_out = fcntl(*out, F_DUPFD_CLOEXEC, 10);
  if (kept_in < 0 || kept_out < 0) return;
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) dup2(null, 0);
  dup2(2, 1);
  *in = kept_in;
  *out = kept_out;
}

int kg_hiprtc_serve(int in, int out, const kg_hiprtc_choice *choice) {
  hiprtc h = {0};
  text why = {0};
  part_streams(&in, &out);
  bool found = hiprtc_open(&h, choice, &why), sane = true;
  kg_hiprtc_request r;
  while (sane && kg_read_all(in, &r, sizeof r)) {
    char *string[KG_HIPRTC_MAX_STRINGS] = {NULL};
    uint64_t bytes[KG_HIPRTC_MAX_STRINGS];
    sane = r.magic == KG_HIPRTC_MAGIC && r.strings <= KG_HIPRTC_MAX_STRINGS;
    for (uint32_t i = 0; sane && i < r.strings; i++)
      sane = (string[i] = read_string(in, &bytes[i])) != NULL;
    if (!sane)
      answer(out, KG_HIPRTC_BAD_REQUEST, NULL, NULL, 0);
    else if (!found)
      sane = answer(out, KG_HIPRTC_NO_LIBRARY, why.s, NULL, 0);
    else
      sane = serve_one(&h, choice->library, &r, string, bytes, out);
    for (uint32_t i = 0; i < KG_HIPRTC_MAX_STRINGS; i++) free(string[i]);
  }
  free(why.s);
  return sane ? 0 : 1;
}

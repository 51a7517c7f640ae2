/* hip_compile.c: the parent's side of run-time compilation for HIP. */
#include "devices/hip_compile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "device.h"
#include "distance.h"
#include "devices/hiprtc_serve.h"
#include "platform.h"

#define START_SECONDS 60.0 /* to load the libraries and hash them, on a cold disk */
#define COMPILE_SECONDS 120.0

typedef struct target_info {
  char *name;
  bool sramecc, xnack;
} target_info;

struct kg_hip_compiler {
  pthread_mutex_t lock; /* guards the child */
  kg_child child;
  bool used; /* the child has compiled something */
  double compile_seconds;

  char *program, *root, *library;
  char generation_option[32], *library_option, *root_option; /* NULL: not given */
  const char *argv[6], *envp[8];
  char *passed[2]; /* the variables that the child is given from our environment */

  char version[64], identity[256];
  char *facts; /* what the child said of itself; the names below point into it */
  int target_count;
  target_info *targets;
};

/* ---- the child's program --------------------------------------------------------------------- */

#ifndef KG_LIBEXEC
#define KG_LIBEXEC "/usr/local/libexec"
#endif

static char *join(const char *a, const char *b) {
  size_t bytes = strlen(a) + strlen(b) + 1;
  char *s = malloc(bytes);
  if (s != NULL) snprintf(s, bytes, "%s%s", a, b);
  return s;
}

/* In libkg itself: a program that is linked with it needs nothing beside it. */
extern const char kg_embedded_kg_hiprtc[];
extern const unsigned long kg_embedded_kg_hiprtc_bytes;

/* NULL: the one in libkg. */
static char *find_program(void) {
  const char *named = getenv("KG_HIPRTC");
  if (named != NULL && strcmp(named, "none") == 0) return NULL;
  if (named != NULL && named[0] != '\0') return strdup(named);
  char self[PATH_MAX];
  char *path = NULL;
  if (kg_program_path(self, sizeof self)) {
    char *slash = strrchr(self, '/');
    if (slash != NULL) slash[1] = '\0';
    path = join(self, "kg-hiprtc");
  }
  if (path != NULL && access(path, X_OK) == 0) return path;
  free(path);
  if (access(KG_LIBEXEC "/kg-hiprtc", X_OK) == 0) return strdup(KG_LIBEXEC "/kg-hiprtc");
  return NULL;
}

/* The whole environment of the child.  Variables that change what a compiler does (HIPRTC_*,
** AMD_COMGR_*) do not reach it: they are in no cache key.  comgr's own cache on disk is off, as
** is HOME, where it would be. */
static bool make_environment(kg_hip_compiler *c) {
  static const char *const pass[] = {"LD_LIBRARY_PATH", "TMPDIR"};
  int n = 0;
  c->envp[n++] = "PATH=/usr/bin:/bin";
  c->envp[n++] = "LC_ALL=C";
  c->envp[n++] = "AMD_COMGR_CACHE=0";
  for (int i = 0; i < 2 && c->root == NULL; i++) {
    const char *value = getenv(pass[i]);
    if (value == NULL) continue;
    char *name = join(pass[i], "=");
    c->passed[i] = name != NULL ? join(name, value) : NULL;
    free(name);
    if (c->passed[i] == NULL) return false;
    c->envp[n++] = c->passed[i];
  }
  return true;
}

/* A script needs what is outside of a root directory: it passes on where to go. */
static bool is_script(const char *path) {
  char start[2];
  FILE *f = path != NULL ? fopen(path, "rbe") : NULL;
  const bool script = f != NULL && fread(start, 1, 2, f) == 2 && start[0] == '#' && start[1] == '!';
  if (f != NULL) fclose(f);
  return script;
}

static bool make_command(kg_hip_compiler *c, int generation) {
  int n = 0;
  snprintf(c->generation_option, sizeof c->generation_option, "--generation=%d", generation);
  c->argv[n++] = "kg-hiprtc";
  if (c->root != NULL && is_script(c->program)) {
    c->root_option = join("--root=", c->root);
    if (c->root_option == NULL) return false;
    c->argv[n++] = c->root_option;
  }
  c->argv[n++] = c->generation_option;
  if (c->library != NULL) {
    c->library_option = join("--library=", c->library);
    if (c->library_option == NULL) return false;
    c->argv[n++] = c->library_option;
  }
  c->argv[n] = "--serve";
  return make_environment(c);
}

/* ---- requests and answers -------------------------------------------------------------------- */

typedef struct reply {
  uint32_t status;
  char *log;
  void *code;
  size_t code_bytes;
} reply;

typedef struct piece {
  const void *bytes;
  size_t size;
} piece;

static piece words_of(const char *s) { return (piece){s, strlen(s)}; }

static kg_child_result send_pieces(kg_child *child, uint32_t kind, const piece *pieces,
                                   uint32_t count, double deadline) {
  const kg_hiprtc_request r = {KG_HIPRTC_MAGIC, kind, count, 0};
  kg_child_result sent = kg_child_send(child, &r, sizeof r, deadline);
  for (uint32_t i = 0; sent == KG_CHILD_OK && i < count; i++) {
    const uint64_t bytes = pieces[i].size;
    sent = kg_child_send(child, &bytes, sizeof bytes, deadline);
    if (sent == KG_CHILD_OK) sent = kg_child_send(child, pieces[i].bytes, pieces[i].size, deadline);
  }
  return sent;
}

static kg_child_result receive_reply(kg_child *child, reply *r, double deadline) {
  kg_hiprtc_answer a;
  kg_child_result got = kg_child_receive(child, &a, sizeof a, deadline);
  if (got != KG_CHILD_OK) return got;
  if (a.magic != KG_HIPRTC_MAGIC || a.log_bytes > KG_HIPRTC_MAX_BYTES ||
      a.code_bytes > KG_HIPRTC_MAX_BYTES)
    return KG_CHILD_ENDED; /* not our child's words: as good as dead */
  r->status = a.status;
  r->log = malloc((size_t)a.log_bytes + 1);
  r->code_bytes = (size_t)a.code_bytes;
  r->code = malloc(r->code_bytes + 1);
  if (r->log == NULL || r->code == NULL) {
    errno = ENOMEM;
    return KG_CHILD_ERROR;
  }
  got = kg_child_receive(child, r->log, (size_t)a.log_bytes, deadline);
  r->log[a.log_bytes] = '\0';
  if (got == KG_CHILD_OK) got = kg_child_receive(child, r->code, r->code_bytes, deadline);
  return got;
}

static void reply_free(reply *r) {
  free(r->log);
  free(r->code);
  *r = (reply){0};
}

static bool start(kg_hip_compiler *c, char *words, size_t bytes) {
  kg_child_program program = {.path = c->program, .argv = c->argv, .envp = c->envp};
  if (c->root_option == NULL) program.root = c->root;
  c->used = false;
  if (c->program == NULL) {
    program.image = kg_embedded_kg_hiprtc;
    program.image_bytes = kg_embedded_kg_hiprtc_bytes;
  }
  return kg_child_start(&c->child, &program, words, bytes);
}

/* Asks once.  On any failure the child is ended, its last words are in `words`, and *r is empty. */
static kg_child_result ask_once(kg_hip_compiler *c, uint32_t kind, const piece *pieces,
                                uint32_t count, double seconds, reply *r, char *words,
                                size_t bytes) {
  *r = (reply){0};
  words[0] = '\0';
  if (c->child.pid == 0 && !start(c, words, bytes)) return KG_CHILD_ERROR;
  const double deadline = kg_child_clock() + seconds + (c->used ? 0 : START_SECONDS);
  kg_child_result got = send_pieces(&c->child, kind, pieces, count, deadline);
  if (got == KG_CHILD_OK) got = receive_reply(&c->child, r, deadline);
  if (got != KG_CHILD_OK) {
    const int reason = errno;
    reply_free(r);
    kg_child_end(&c->child, words, bytes);
    if (got == KG_CHILD_ERROR) snprintf(words, bytes, "%s", strerror(reason));
    return got;
  }
  kg_child_quiet(&c->child);
  return got;
}

/* A child that has served before may have died of something else than this request: a fresh one
** tells. */
static kg_child_result ask(kg_hip_compiler *c, uint32_t kind, const piece *pieces, uint32_t count,
                           double seconds, reply *r, char *words, size_t bytes) {
  const bool used = c->child.pid != 0 && c->used;
  kg_child_result got = ask_once(c, kind, pieces, count, seconds, r, words, bytes);
  if (got == KG_CHILD_ENDED && used)
    got = ask_once(c, kind, pieces, count, seconds, r, words, bytes);
  return got;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Cuts the description into its facts, in place. */
static bool read_facts(kg_hip_compiler *c) {
  const char *library = "", *hash = "";
  size_t lines = 1;
  for (const char *p = c->facts; *p != '\0'; p++) lines += *p == '\n';
  c->targets = calloc(lines, sizeof *c->targets);
  if (c->targets == NULL) return false;

  char *rest = NULL;
  for (char *line = strtok_r(c->facts, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    char *words = NULL, *key = strtok_r(line, " ", &words), *value = strtok_r(NULL, " ", &words);
    if (value == NULL) continue;
    if (strcmp(key, "version") == 0)
      snprintf(c->version, sizeof c->version, "%s", value);
    else if (strcmp(key, "library") == 0)
      library = value;
    else if (strcmp(key, "hash") == 0)
      hash = value;
    else if (strcmp(key, "target") == 0) {
      target_info *t = &c->targets[c->target_count];
      t->name = value;
      for (char *f = strtok_r(NULL, " ", &words); f != NULL; f = strtok_r(NULL, " ", &words)) {
        t->sramecc |= strcmp(f, "sramecc") == 0;
        t->xnack |= strcmp(f, "xnack") == 0;
      }
      c->target_count++;
    }
  }
  if (hash[0] == '\0' || c->target_count == 0) return false;
  snprintf(c->identity, sizeof c->identity, "hipRTC %s (%.80s) %s", c->version, library, hash);
  return true;
}

static kg_status describe(kg_hip_compiler *c, kg_error *error) {
  reply r;
  char words[700];
  const char *where = c->root != NULL ? c->root : "this system";
  switch (ask(c, KG_HIPRTC_DESCRIBE, NULL, 0, START_SECONDS, &r, words, sizeof words)) {
  case KG_CHILD_OK: break;
  case KG_CHILD_TIMEOUT:
    return kg_fail(error, KG_NO_COMPILER, "hipRTC of %s did not answer in %.0f seconds", where,
                   2 * START_SECONDS);
  case KG_CHILD_ENDED:
    return kg_fail(error, KG_NO_COMPILER, "hipRTC of %s cannot be used: its process %s", where,
                   words);
  case KG_CHILD_ERROR:
    return kg_fail(error, KG_NO_COMPILER, "no process for hipRTC of %s could be started: %s", where,
                   words);
  }
  if (r.status != KG_HIPRTC_OK) {
    kg_fail(error, KG_NO_COMPILER,
            "there is no hipRTC in %s (%s); on Debian: apt-get install libamdhip64-dev", where,
            r.log);
    reply_free(&r);
    return KG_NO_COMPILER;
  }
  c->facts = r.log;
  r.log = NULL;
  reply_free(&r);
  if (read_facts(c)) return KG_OK;
  return kg_fail(error, KG_NO_COMPILER, "hipRTC of %s does not say which architectures it knows",
                 where);
}

static double timeout_seconds(void) {
  const char *given = getenv("KG_HIPRTC_TIMEOUT");
  double seconds = given != NULL ? strtod(given, NULL) : 0;
  return seconds > 0 ? seconds : COMPILE_SECONDS;
}

kg_status kg_hip_compiler_open(const kg_hip_choice *choice, kg_hip_compiler **compiler,
                               kg_error *error) {
  const char *library = getenv("KG_HIPRTC_LIBRARY");
  *compiler = NULL;
  kg_hip_compiler *c = calloc(1, sizeof *c);
  if (c == NULL || pthread_mutex_init(&c->lock, NULL) != 0) {
    free(c);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a compiler");
  }
  kg_status status = KG_OK;
  c->child = (kg_child){0, -1, -1};
  c->compile_seconds = timeout_seconds();
  c->program = find_program();
  if (choice != NULL && choice->root != NULL)
    c->root = strdup(choice->root);
  else if (library != NULL && library[0] != '\0')
    c->library = strdup(library);
  if (!make_command(c, choice != NULL ? choice->generation : 0))
    status = kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a compiler");
  if (status == KG_OK) status = describe(c, error);
  if (status == KG_OK)
    *compiler = c;
  else
    kg_hip_compiler_close(c);
  return status;
}

void kg_hip_compiler_close(kg_hip_compiler *c) {
  if (c == NULL) return;
  kg_child_end(&c->child, NULL, 0);
  pthread_mutex_destroy(&c->lock);
  free(c->program);
  free(c->root);
  free(c->library);
  free(c->library_option);
  free(c->root_option);
  free(c->passed[0]);
  free(c->passed[1]);
  free(c->facts);
  free(c->targets);
  free(c);
}

const char *kg_hip_compiler_version(const kg_hip_compiler *c) { return c->version; }
const char *kg_hip_compiler_identity(const kg_hip_compiler *c) { return c->identity; }

/* ---- targets --------------------------------------------------------------------------------- */

#define NAME_BYTES 32

/* The nearest names in the compiler's order, or all of them when none is near. */
static void near_names(const kg_hip_compiler *c, const char *name, char *out, size_t bytes) {
  int best = INT_MAX;
  for (int i = 0; i < c->target_count; i++) {
    const int d = kg_name_distance(name, c->targets[i].name);
    if (d < best) best = d;
  }
  const bool near = best <= 2 * KG_NAME_EDIT && (size_t)best < strlen(name);
  size_t len = (size_t)snprintf(out, bytes, near ? "the nearest that it knows:" : "it knows");
  for (int i = 0; i < c->target_count && len < bytes; i++) {
    const char *t = c->targets[i].name;
    if (near && kg_name_distance(name, t) != best) continue;
    len += (size_t)snprintf(out + len, bytes - len, " %s", t);
  }
}

static const target_info *find_target(const kg_hip_compiler *c, const char *name, size_t len) {
  for (int i = 0; i < c->target_count; i++)
    if (strncmp(c->targets[i].name, name, len) == 0 && c->targets[i].name[len] == '\0')
      return &c->targets[i];
  return NULL;
}

/* A feature with its sign: 0 sramecc, 1 xnack, -1 neither. */
static int feature_of(const char *s, size_t len) {
  if (len < 2 || (s[len - 1] != '+' && s[len - 1] != '-')) return -1;
  if (len == 8 && strncmp(s, "sramecc", 7) == 0) return 0;
  return len == 6 && strncmp(s, "xnack", 5) == 0 ? 1 : -1;
}

kg_status kg_hip_compiler_check_target(const kg_hip_compiler *c, const char *target,
                                       kg_error *error) {
  size_t len = target != NULL ? strcspn(target, ":") : 0;
  if (len == 0 || len >= NAME_BYTES)
    return kg_fail(error, KG_BAD_TARGET, "target \"%.64s\" is not an architecture's name",
                   target != NULL ? target : "");
  const target_info *t = find_target(c, target, len);
  if (t == NULL) {
    char name[NAME_BYTES], known[1024];
    snprintf(name, sizeof name, "%.*s", (int)len, target);
    near_names(c, name, known, sizeof known);
    return kg_fail(error, KG_BAD_TARGET, "hipRTC %s does not know the architecture \"%s\"; %s",
                   c->version, name, known);
  }
  bool seen[2] = {false, false};
  for (const char *s = target + len; *s == ':';) {
    const size_t n = strcspn(++s, ":");
    const int f = feature_of(s, n);
    const bool has = f == 0 ? t->sramecc : f == 1 && t->xnack;
    if (!has || seen[f])
      return kg_fail(error, KG_BAD_TARGET, "target \"%.64s\": \"%.*s\" %s; %s has%s%s%s", target,
                     (int)(n < 32 ? n : 32), s, has ? "is there twice" : "is not a feature of it",
                     t->name, t->sramecc ? " sramecc+ or sramecc-" : "",
                     t->xnack ? " xnack+ or xnack-" : "", t->sramecc || t->xnack ? "" : " none");
    seen[f] = true;
    s += n;
  }
  return KG_OK;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The architecture is given once, here; a language standard breaks some releases (7.0 with
** C++11). */
static const char *const own_options[] = {
    "--offload-arch", "--gpu-architecture", "-march", "-mcpu", "--std", "-std"};

static kg_status check_options(const kg_source *source, uint32_t *count, kg_error *error) {
  *count = 0;
  for (const char *const *o = source->options; o != NULL && *o != NULL; o++, ++*count) {
    for (size_t i = 0; i < sizeof own_options / sizeof *own_options; i++)
      if (strncmp(*o, own_options[i], strlen(own_options[i])) == 0)
        return kg_fail(error, KG_BAD_ARGUMENT, "kernel %s: option %s is not for a port to give",
                       source->kernel, *o);
    if (*count + 4 >= KG_HIPRTC_MAX_STRINGS)
      return kg_fail(error, KG_BAD_ARGUMENT, "kernel %s: more than %u options", source->kernel,
                     KG_HIPRTC_MAX_STRINGS - 4);
  }
  return KG_OK;
}

static kg_status judge(const kg_hip_compiler *c, const kg_source *source, const char *target,
                       kg_child_result got, const reply *r, const char *words, kg_error *error) {
  switch (got) {
  case KG_CHILD_TIMEOUT:
    return kg_fail(error, KG_COMPILE_FAILED,
                   "kernel %s: hipRTC %s did not finish for %s in %.0f seconds", source->kernel,
                   c->version, target, c->compile_seconds);
  case KG_CHILD_ENDED:
    return kg_fail(error, KG_COMPILE_FAILED,
                   "kernel %s: hipRTC %s broke off while compiling for %s: its process %s",
                   source->kernel, c->version, target, words);
  case KG_CHILD_ERROR:
    return kg_fail(error, KG_NO_COMPILER,
                   "kernel %s: no process for hipRTC %s could be started: %s", source->kernel,
                   c->version, words);
  case KG_CHILD_OK: break;
  }
  if (r->status == KG_HIPRTC_OK && r->code_bytes > 0) return KG_OK;
  return kg_fail(error, r->status == KG_HIPRTC_NO_LIBRARY ? KG_NO_COMPILER : KG_COMPILE_FAILED,
                 "kernel %s does not compile for %s with hipRTC %s:\n%s", source->kernel, target,
                 c->version, kg_first_error(r->log));
}

kg_status kg_hip_compile(kg_hip_compiler *c, const kg_source *source, const char *target,
                         kg_blob *blob, char **log, kg_error *error) {
  piece pieces[KG_HIPRTC_MAX_STRINGS];
  char arch[128], words[700];
  uint32_t options;
  reply r;
  *blob = (kg_blob){NULL, 0};
  if (log != NULL) *log = NULL;
  kg_status status = kg_hip_compiler_check_target(c, target, error);
  if (status == KG_OK) status = check_options(source, &options, error);
  if (status != KG_OK) return status;

  snprintf(arch, sizeof arch, "--offload-arch=%s", target);
  pieces[0] = words_of(source->file);
  pieces[1] = words_of(source->text);
  for (uint32_t i = 0; i < options; i++) pieces[2 + i] = words_of(source->options[i]);
  pieces[2 + options] = words_of(arch);

  pthread_mutex_lock(&c->lock);
  kg_child_result got =
      ask(c, KG_HIPRTC_COMPILE, pieces, 3 + options, c->compile_seconds, &r, words, sizeof words);
  c->used = got == KG_CHILD_OK;
  pthread_mutex_unlock(&c->lock);

  status = judge(c, source, target, got, &r, words, error);
  if (status == KG_OK) {
    *blob = (kg_blob){r.code, r.code_bytes};
    r.code = NULL;
  }
  if (log != NULL) {
    *log = r.log;
    r.log = NULL;
  }
  reply_free(&r);
  return status;
}

kg_status kg_hip_disassemble(kg_hip_compiler *c, const char *target, const void *code,
                             size_t code_bytes, char **listing, kg_error *error) {
  const piece pieces[] = {words_of(target), {code, code_bytes}};
  char words[700];
  reply r;
  *listing = NULL;
  const kg_status known = kg_hip_compiler_check_target(c, target, error);
  if (known != KG_OK) return known;
  pthread_mutex_lock(&c->lock);
  const kg_child_result got =
      ask(c, KG_HIPRTC_DISASSEMBLE, pieces, 2, c->compile_seconds, &r, words, sizeof words);
  c->used = got == KG_CHILD_OK;
  pthread_mutex_unlock(&c->lock);
  kg_status status = KG_OK;
  if (got != KG_CHILD_OK)
    status = kg_fail(error, KG_NO_COMPILER, "hipRTC %s broke off while reading code for %s: %s",
                     c->version, target, got == KG_CHILD_TIMEOUT ? "it did not finish" : words);
  else if (r.status != KG_HIPRTC_OK)
    status =
        kg_fail(error, KG_NO_COMPILER, "hipRTC %s has no disassembler for %s", c->version, target);
  if (status == KG_OK) {
    *listing = r.log;
    r.log = NULL;
  }
  reply_free(&r);
  return status;
}

/* reference.c: compiles and loads the references that specifications name.  See trial.h.
**
** A reference becomes a shared object in a temporary folder, which is removed as soon as the object
** is loaded; what was loaded is kept by path until references_close. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spec/spec.h"
#include "verify/trial.h"

extern char **environ;
extern const char kg_embedded_dtype_def[]; /* runtime/model/dtype.def, by embed.c */

/* In order: whichever is there first.  Plain C11; nothing that would loosen the arithmetic. */
static const char *const compilers[] = {"cc", "gcc", "clang", "clang-19"};
enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

typedef struct Kept {
  Reference reference;
  struct Kept *next;
} Kept;

struct References {
  Arena *arena;
  const Spec *spec;
  const char *templates;
  Kept *kept;
};

References *references_open(Arena *a, const Spec *spec, const char *templates) {
  References *r = arena_alloc(a, sizeof *r);
  r->arena = a;
  r->spec = spec;
  r->templates = templates;
  return r;
}

void references_close(References *r) {
  for (Kept *k = r->kept; k; k = k->next)
    if (k->reference.object) dlclose(k->reference.object);
  r->kept = NULL;
}

/* Runs one compiler, its words going to the file `log`.  -1: it is not there; else its exit status,
** or 128 + its signal. */
static int compile_with(const char *compiler, const char *templates, const char *folder,
                        const char *source, const char *object, const char *log) {
  const char *const argv[] = {compiler,
                              "-std=c11",
                              "-D_GNU_SOURCE",
                              "-O2",
                              "-ffp-contract=off",
                              "-fPIC",
                              "-shared",
                              "-I",
                              templates,
                              "-I",
                              folder,
                              "-o",
                              object,
                              source,
                              "-lm",
                              NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid;
  /* argv's strings are only read, as POSIX says; its type is an old one. */
  const int spawned = posix_spawnp(&pid, compiler, &actions, NULL, (char *const *)(uintptr_t)argv,
                                   environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return -1;
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? (WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status))
                           : 128 + WTERMSIG(status);
}

static void load(Reference *r, Arena *a, const char *object) {
  r->object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  if (!r->object) {
    r->why = arena_strdup(a, dlerror());
    return;
  }
  /* POSIX lets dlsym's data pointer be a function's; ISO C has no cast for it: bytes are copied. */
  void *found = dlsym(r->object, "reference");
  memcpy(&r->compute, &found, sizeof found);
  found = dlsym(r->object, "fill");
  memcpy(&r->fill, &found, sizeof found);
  found = dlsym(r->object, "judge");
  memcpy(&r->judge, &found, sizeof found);
  if (!r->compute) r->why = arena_printf(a, "%s defines no function `reference`", r->path);
}

/* The rows that reference.h reads, as this kgen knows them. */
static bool put_dtypes(const char *path) {
  FILE *file = fopen(path, "w");
  const bool put = file && fputs(kg_embedded_dtype_def, file) >= 0;
  return (!file || fclose(file) == 0) && put;
}

static void build(References *refs, Reference *r) {
  Arena *a = refs->arena;
  const char *tmp = getenv("TMPDIR");
  char *folder = arena_printf(a, "%s/kgen-reference-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) {
    r->why = arena_printf(a, "no temporary folder %s: %s", folder, strerror(errno));
    return;
  }
  const char *object = arena_printf(a, "%s/reference.so", folder),
             *log = arena_printf(a, "%s/log", folder), *model = arena_printf(a, "%s/model", folder),
             *dtypes = arena_printf(a, "%s/dtype.def", model);
  int status = -1;
  const bool ready = mkdir(model, 0700) == 0 && put_dtypes(dtypes);
  const int error = errno;
  for (int i = 0; ready && i < COMPILERS && status < 0; i++)
    status = compile_with(compilers[i], refs->templates, folder, r->path, object, log);
  size_t len = 0;
  const char *why = NULL, *said = file_read(a, log, &len, &why);
  if (!ready) r->why = arena_printf(a, "%s cannot be written: %s", dtypes, strerror(error));
  else if (status < 0)
    r->why = "no C compiler was found (cc, gcc, clang) to compile the reference with";
  else if (status > 0)
    r->why = said && len ? said
                         : arena_printf(a, "the C compiler failed on %s (%d)", r->path, status);
  else load(r, a, object);
  unlink(object);
  unlink(log);
  unlink(dtypes);
  rmdir(model);
  rmdir(folder);
}

const Reference *reference_of(References *refs, const Kernel *k) {
  const char *path = k->reference ? path_opened(refs->arena, refs->spec, k->reference) : "";
  for (const Kept *kept = refs->kept; kept; kept = kept->next)
    if (strcmp(kept->reference.path, path) == 0) return &kept->reference;
  Kept *kept = arena_alloc(refs->arena, sizeof *kept);
  kept->reference.path = path;
  kept->next = refs->kept;
  refs->kept = kept;
  if (k->reference) build(refs, &kept->reference);
  else kept->reference.why = "the specification names no reference";
  return &kept->reference;
}

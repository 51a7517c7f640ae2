/* reference.c: compiles and loads the references that specifications name.  See trial.h.
**
** A reference becomes a shared object in a temporary folder, which is removed as soon as the object
** is loaded; what was loaded is kept by path until references_close. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "spec/spec.h"
#include "verify/trial.h"

#define COMPILE_SECONDS 600 /* on any machine */

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
  const char *templates, *language;
  Kept *kept;
};

References *references_open(Arena *a, const Spec *spec, const char *templates) {
  References *r = arena_alloc(a, sizeof *r);
  r->arena = a;
  r->spec = spec;
  r->templates = templates;
  r->language = arena_printf(a, "%s/language", templates);
  return r;
}

void references_close(References *r) {
  for (Kept *k = r->kept; k; k = k->next)
    if (k->reference.object) dlclose(k->reference.object);
  r->kept = NULL;
}

/* Runs one compiler.  False: it is not there; else *of says what became of it. */
static bool compile_with(const char *compiler, const References *refs, const char *folder,
                         const char *source, const char *object, kg_child_outcome *of) {
  const char *const argv[] = {compiler,
                              "-std=c11",
                              "-D_GNU_SOURCE",
                              "-O2",
                              "-ffp-contract=off",
                              "-fno-tree-vectorize", /* gcc 12's drops (double)(float)x */
                              "-fPIC",
                              "-shared",
                              "-I",
                              refs->templates, /* "lib/ref/philox.h" */
                              "-I",
                              refs->language, /* "reference.h" */
                              "-I",
                              folder, /* "model/dtype.def" */
                              "-o",
                              object,
                              source,
                              "-lm",
                              NULL};
  const kg_child_program program = {.path = compiler, .argv = argv};
  kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = COMPILE_SECONDS}, of);
  return of->ending != KG_CHILD_NOT_RUN || of->code != ENOENT;
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
             *model = arena_printf(a, "%s/model", folder),
             *dtypes = arena_printf(a, "%s/dtype.def", model);
  kg_child_outcome of;
  bool found = false;
  const bool ready = mkdir(model, 0700) == 0 && put_dtypes(dtypes);
  const int error = errno;
  for (int i = 0; ready && i < COMPILERS && !found; i++) {
    found = compile_with(compilers[i], refs, folder, r->path, object, &of);
    if (!found) kg_child_outcome_free(&of);
  }
  if (!ready)
    r->why = arena_printf(a, "%s cannot be written: %s", dtypes, strerror(error));
  else if (!found)
    r->why = "no C compiler was found (cc, gcc, clang) to compile the reference with";
  else if (of.ending == KG_CHILD_EXITED && of.code == 0)
    load(r, a, object);
  else if (of.ending == KG_CHILD_EXITED && of.err_bytes)
    r->why = arena_strdup(a, of.err);
  else
    r->why = arena_printf(a, "the C compiler failed on %s: it %s", r->path, of.words);
  if (found) kg_child_outcome_free(&of);
  unlink(object);
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
  if (k->reference)
    build(refs, &kept->reference);
  else
    kept->reference.why = "the specification names no reference";
  return &kept->reference;
}

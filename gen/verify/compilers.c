/* compilers.c: the table of compilers, and one way to use them all.  See compilers.h. */
#include "verify/compilers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "model/target.h"
#include "verify/compilers_own.h"

typedef enum Kind { HIPRTC, NVRTC, CLANG } Kind;

/* A new compiler is a row; `root` is its folder among the roots. */
static const struct Row {
  const char *name, *backend;
  Kind kind;
  const char *root;
} rows[] = {
    {"hiprtc", "hip", HIPRTC, NULL},       {"hiprtc-5.7", "hip", HIPRTC, "5.7"},
    {"hiprtc-6.4", "hip", HIPRTC, "6.4"},  {"hiprtc-7.2", "hip", HIPRTC, "7.2"},
    {"nvrtc", "cuda", NVRTC, NULL},        {"clang-cuda", "cuda", CLANG, NULL},
    {"clang-metal", "metal", CLANG, NULL},
};

enum { ROWS = sizeof rows / sizeof *rows };

struct Compiler {
  const struct Row *row;
  const Compilers *all;
  pthread_mutex_t lock; /* guards the opening */
  bool asked, ready;
  char why[1024], title[128];
  kg_hip_compiler *hip;
  Nvrtc *nvrtc;
  Clang clang;
  int target_count;
  CompilerTarget targets[KG_TARGETS];
};

struct Compilers {
  char *templates, *roots;
  Compiler compiler[ROWS];
};

/* ---- the list -------------------------------------------------------------------------------- */

Compilers *compilers_open(const char *templates, const char *roots) {
  const char *given = getenv("KGEN_ROCM");
  if (roots == NULL) roots = given != NULL && *given != '\0' ? given : "/var/tmp/kgen-rocm";
  Compilers *all = calloc(1, sizeof *all);
  if (all == NULL) return NULL;
  all->templates = strdup(templates);
  all->roots = strdup(roots);
  for (int i = 0; i < ROWS; i++) {
    all->compiler[i].row = &rows[i];
    all->compiler[i].all = all;
    pthread_mutex_init(&all->compiler[i].lock, NULL);
  }
  if (all->templates != NULL && all->roots != NULL) return all;
  compilers_close(all);
  return NULL;
}

void compilers_close(Compilers *all) {
  for (int i = 0; all != NULL && i < ROWS; i++) {
    Compiler *c = &all->compiler[i];
    kg_hip_compiler_close(c->hip);
    nvrtc_close(c->nvrtc);
    clang_close(&c->clang);
    pthread_mutex_destroy(&c->lock);
  }
  if (all != NULL) {
    free(all->templates);
    free(all->roots);
  }
  free(all);
}

int compilers_count(const Compilers *all) {
  (void)all;
  return ROWS;
}

Compiler *compilers_get(Compilers *all, int i) { return &all->compiler[i]; }

const char *compiler_name(const Compiler *c) { return c->row->name; }
const char *compiler_backend(const Compiler *c) { return c->row->backend; }
const char *compiler_title(const Compiler *c) { return c->title; }

/* ---- one of them ----------------------------------------------------------------------------- */

static bool open_hiprtc(Compiler *c) {
  char root[4096];
  kg_error error;
  kg_hip_choice choice = {NULL, 0};
  if (c->row->root != NULL) {
    snprintf(root, sizeof root, "%.4000s/%s", c->all->roots, c->row->root);
    if (access(root, X_OK) != 0) {
      snprintf(c->why, sizeof c->why, "there is no %.500s; `sh gen/rocm-root %s %.300s` makes it",
               root, c->row->root, c->all->roots);
      return false;
    }
    choice.root = root;
  }
  if (kg_hip_compiler_open(&choice, &c->hip, &error) != KG_OK) {
    snprintf(c->why, sizeof c->why, "%.1000s", error.message);
    return false;
  }
  snprintf(c->title, sizeof c->title, "hipRTC %s", kg_hip_compiler_version(c->hip));
  return true;
}

static bool open_it(Compiler *c) {
  const char *why = "";
  if (c->row->kind == HIPRTC) return open_hiprtc(c);
  bool ready;
  if (c->row->kind == NVRTC) {
    c->nvrtc = nvrtc_open(c->title, sizeof c->title, &why);
    ready = c->nvrtc != NULL;
  } else {
    ready = clang_open(&c->clang, &why);
    snprintf(c->title, sizeof c->title, "%s", c->clang.title);
  }
  snprintf(c->why, sizeof c->why, "%.1000s", why);
  return ready;
}

static void choose_targets(Compiler *c) {
  for (int i = 0; i < KG_TARGETS; i++) {
    const kg_target *t = &kg_targets[i];
    if (strcmp(t->backend, c->row->backend) == 0 && compiler_knows(c, t->name))
      c->targets[c->target_count++] = (CompilerTarget){t->name, t->wave};
  }
}

bool compiler_ready(Compiler *c, const char **why) {
  pthread_mutex_lock(&c->lock);
  if (!c->asked) {
    c->asked = true;
    c->ready = open_it(c);
    if (c->ready) choose_targets(c);
  }
  pthread_mutex_unlock(&c->lock);
  if (why != NULL) *why = c->why;
  return c->ready;
}

bool compiler_knows(const Compiler *c, const char *target) {
  if (c->row->kind == HIPRTC) return kg_hip_compiler_check_target(c->hip, target, NULL) == KG_OK;
  if (c->row->kind == NVRTC) return nvrtc_knows(c->nvrtc, target);
  const kg_target *t = kg_target_find(target);
  if (strcmp(c->row->backend, "metal") == 0) return t && strcmp(t->backend, "metal") == 0;
  const int sm = strncmp(target, "sm_", 3) == 0 ? atoi(target + 3) : 0;
  return sm >= 50 && sm <= 90; /* what clang 19 knows */
}

int compiler_target_count(const Compiler *c) { return c->target_count; }
CompilerTarget compiler_target(const Compiler *c, int i) { return c->targets[i]; }
kg_hip_compiler *compiler_hip(Compiler *c) { return c->hip; }

void compiler_compile(Compiler *c, const kg_source *source, const char *target, Compiled *result) {
  const double start = kg_child_clock();
  memset(result, 0, sizeof *result);
  const char *why;
  if (!compiler_ready(c, &why))
    result->status = kg_fail(&result->error, KG_NO_COMPILER, "kernel %s: %s", source->kernel, why);
  else if (c->row->kind == HIPRTC)
    result->status =
        kg_hip_compile(c->hip, source, target, &result->object, &result->log, &result->error);
  else if (!compiler_knows(c, target))
    result->status =
        kg_fail(&result->error, KG_BAD_TARGET, "kernel %s: %s does not know the target \"%s\"",
                source->kernel, c->title, target);
  else if (c->row->kind == NVRTC)
    nvrtc_compile(c->nvrtc, source, target, result);
  else
    clang_compile(&c->clang, c->all->templates, source, target, result);
  result->seconds = kg_child_clock() - start;
}

void compiled_free(Compiled *result) {
  free(result->log);
  free(result->object.bytes);
  result->log = NULL;
  result->object = (kg_blob){NULL, 0};
}

/* required.c: what a text and its options must say whatever runs on a CPU show: what keeps a
** platform's compiler from arithmetic of its own, and a group within what a platform has.  See
** verify.h.
**
** The backends' tables say these things once more; that they still do is what is looked at here. */
#include <stdlib.h>
#include <string.h>

#include "base/text_hash.h"
#include "verify/verify.h"

typedef enum Where { OPTION, TEXT } Where;

static const struct Required {
  const char *backend;
  Where where;
  const char *words, *why;
} required[] = {
    {"metal", OPTION, "fastMathEnabled=NO", "a compiler's fast mathematics changes every result"},
    {"metal", OPTION, "languageVersion=3.1", "bfloat is of Metal 3.1"},
    {"metal", TEXT, "#pragma METAL fp math_mode(safe)", "fast mathematics is Metal's default"},
    {"metal", TEXT, "#pragma METAL fp contract(off)", "products and sums would be fused"},
    {"metal", TEXT, "#pragma clang fp contract(off)", "products and sums would be fused"},
    {"metal", TEXT, "#if defined(__METAL_VERSION__) && __METAL_VERSION__ < 310",
     "an older Metal must refuse it"},
    {"metal", TEXT, "[[max_total_threads_per_threadgroup(", "a launch's threads must fit"},
    {"cuda", OPTION, "--fmad=false", "products and sums would be fused"},
    {"cuda", TEXT, "__launch_bounds__(", "registers must leave room for a launch's threads"},
    {"hip", OPTION, "-O3", "the ledger's budgets are of code that is optimised"},
    {"hip", OPTION, "-ffp-contract=off", "products and sums would be fused"},
    {"hip", TEXT, "#pragma clang fp contract(off)", "products and sums would be fused"},
    {"hip", TEXT, "#if defined(__FAST_MATH__)", "-ffast-math must be refused"},
    {"hip", TEXT, "__builtin_amdgcn_ballot_w32(true)", "-mwavefrontsize64 must be refused"},
    {"hip", TEXT, "__launch_bounds__(", "registers must leave room for a launch's threads"},
};

/* Between them the fences of a barrier that orders all that a group sees. */
static const struct Fence {
  const char *backend, *barrier, *flags[2];
} fences[] = {
    {"metal", "threadgroup_barrier", {"mem_threadgroup", "mem_device"}},
};

/* What every device of the platform has (MSL feature tables, Apple 4 and newer; CUDA, compute
** capability 7.5; AMD, gfx9 and newer, through HIP). */
static const struct Limit {
  const char *backend;
  uint32_t shared, threads, buffers; /* buffers 0: no limit */
  uint64_t groups[3];
} limits[] = {
    {"metal", 32768, 1024, 31, {4294967295, 4294967295, 4294967295}},
    {"cuda", 49152, 1024, 0, {2147483647, 65535, 65535}},
    {"hip", 65536, 1024, 0, {2147483647, 65535, 65535}},
};

enum {
  REQUIRED = sizeof required / sizeof *required,
  FENCES = sizeof fences / sizeof *fences,
  LIMITS = sizeof limits / sizeof *limits
};

#define FOUND(v, row, ...)                                                                         \
  verify_found(v, VERIFY_COMPILE, -1, (row)->kernel, (row)->port->backend->name,                   \
               ((VerifyPlace){.tool = "required"}), __VA_ARGS__)

static bool has_option(const Backend *b, const char *option) {
  for (int i = 0; i < b->option_count; i++)
    if (strcmp(b->options[i], option) == 0) return true;
  return false;
}

/* Each option is one that is known to change no number. */
static void check_options(Verify *v, const VerifyRow *row) {
  const Backend *b = row->port->backend;
  bool known_backend = false;
  for (int i = 0; i < REQUIRED; i++)
    known_backend = known_backend || strcmp(required[i].backend, b->name) == 0;
  for (int o = 0; known_backend && o < b->option_count; o++) {
    bool known = false;
    for (int i = 0; i < REQUIRED; i++)
      known = known || (required[i].where == OPTION && strcmp(required[i].backend, b->name) == 0 &&
                        strcmp(required[i].words, b->options[o]) == 0);
    if (!known)
      FOUND(v, row, "the option %s is none that is known to leave the arithmetic as it is",
            b->options[o]);
  }
}

static void check_required(Verify *v, const VerifyRow *row, Arena *a, const char *tokens) {
  const Backend *b = row->port->backend;
  for (int i = 0; i < REQUIRED; i++) {
    const struct Required *r = &required[i];
    if (strcmp(r->backend, b->name) != 0) continue;
    const bool there =
        r->where == OPTION
            ? has_option(b, r->words)
            : strstr(tokens, text_tokens(a, arena_printf(a, "%s\n", r->words))) != NULL;
    if (!there)
      FOUND(v, row, "%s has no %s: %s",
            r->where == OPTION ? "the list of compiler options" : "the text", r->words, r->why);
  }
}

static void check_fences(Verify *v, const VerifyRow *row, Arena *a, const char *tokens) {
  for (int i = 0; i < FENCES; i++) {
    const struct Fence *f = &fences[i];
    if (strcmp(f->backend, row->port->backend->name) != 0) continue;
    const char *call = arena_printf(a, "\n%s\n(\n", f->barrier);
    for (const char *at = tokens; (at = strstr(at, call)) != NULL; at++) {
      const char *close = strstr(at, "\n)\n");
      const char *flags =
          arena_strndup(a, at, close != NULL ? (size_t)(close + 1 - at) : strlen(at));
      for (int n = 0; n < 2; n++)
        if (strstr(flags, arena_printf(a, "\n%s\n", f->flags[n])) == NULL)
          FOUND(v, row, "a %s has no %s: what a thread writes there is not seen after it",
                f->barrier, f->flags[n]);
    }
  }
}

static void check_limit(Verify *v, const VerifyRow *row, const char *what, uint64_t said,
                        uint64_t most) {
  if (most != 0 && (said == 0 || said > most))
    FOUND(v, row,
          "the backend's limit of %s is %llu, and every device of the platform has only %llu", what,
          (unsigned long long)said, (unsigned long long)most);
}

static void check_limits(Verify *v, const VerifyRow *row) {
  static const char *const axes[] = {"groups on axis x", "groups on axis y", "groups on axis z"};
  const Backend *b = row->port->backend;
  for (int i = 0; i < LIMITS; i++) {
    if (strcmp(limits[i].backend, b->name) != 0) continue;
    check_limit(v, row, "bytes of shared memory", b->limits.shared, limits[i].shared);
    check_limit(v, row, "threads in a group", b->limits.threads, limits[i].threads);
    check_limit(v, row, "buffers", b->limits.buffers, limits[i].buffers);
    for (int n = 0; n < 3; n++)
      check_limit(v, row, axes[n], b->limits.groups[n], limits[i].groups[n]);
  }
}

void verify_required_tool(Verify *v) {
  if (!verify_wants(v, "required")) return;
  VerifyTool *t = verify_tool(v, VERIFY_COMPILE, "required", NULL);
  t->title = "what a text and its options must say";
}

void verify_required(Verify *v) {
  Arena *a = arena_new();
  for (int i = 0; i < v->row_count; i++) {
    const VerifyRow *row = &v->rows[i];
    if (row->first != i) continue;
    const Output *text = library_output(v->library, port_file(a, row->kernel, row->port));
    const char *tokens = text_tokens(a, text->text);
    check_options(v, row);
    check_required(v, row, a, tokens);
    if (!row->port->native) check_fences(v, row, a, tokens);
    check_limits(v, row);
  }
  arena_free(a);
}

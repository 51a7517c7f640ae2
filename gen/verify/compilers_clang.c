/* compilers_clang.c: clang in the place of compilers that are not on this machine: CUDA's and
** Metal's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "child.h"
#include "device.h"
#include "verify/compilers_own.h"

#define COMPILE_SECONDS 600 /* for one text, on any machine */

/* ---- finding it ------------------------------------------------------------------------------ */

static int clang_version(const char *program, char *title, size_t bytes) {
  const char *const argv[] = {program, "--version", NULL};
  const kg_child_program asked = {.path = program, .argv = argv};
  kg_child_outcome of;
  int major = 0;
  if (kg_child_run(&asked, "", 0, (kg_child_limits){.seconds = 60}, &of) && of.out != NULL) {
    const char *at = strstr(of.out, "clang version ");
    if (at != NULL) {
      major = atoi(at + strlen("clang version "));
      snprintf(title, bytes, "clang %.*s", (int)strcspn(at + strlen("clang version "), " \n("),
               at + strlen("clang version "));
    }
  }
  kg_child_outcome_free(&of);
  return major;
}

static char *kept(const char *s) {
  char *copy = strdup(s);
  if (copy == NULL) exhausted("the name of a compiler");
  return copy;
}

bool clang_open(Clang *clang, const char **why) {
  static const char *const names[] = {"clang-19", "clang-20", "clang-21", "clang-22", "clang"};
  const char *given = getenv("KGEN_CLANG");
  *why = "there is no clang 19 or newer here; on Debian: apt-get install clang-19";
  if (given != NULL && *given != '\0') {
    *why = "$KGEN_CLANG is not a clang of version 19 or newer";
    if (clang_version(given, clang->title, sizeof clang->title) >= 19) clang->program = kept(given);
    return clang->program != NULL;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names && clang->program == NULL; i++)
    if (clang_version(names[i], clang->title, sizeof clang->title) >= 19)
      clang->program = kept(names[i]);
  return clang->program != NULL;
}

void clang_close(Clang *clang) {
  free(clang->program);
  clang->program = NULL;
}

/* ---- the two languages ----------------------------------------------------------------------- */

/* %t: the templates' folder, %a: the target. */
static const char *const common[] = {"-Wall",
                                     "-Wextra",
                                     "-Wno-unused",
                                     "-Wno-unknown-pragmas",
                                     "-Werror=unknown-attributes",
                                     "-fno-color-diagnostics",
                                     "-ferror-limit=20",
                                     NULL};

static const char *const cuda[] = {"-x",
                                   "cuda",
                                   "--cuda-device-only",
                                   "--cuda-gpu-arch=%a",
                                   "--cuda-path=/nonexistent", /* one answer, toolkit or none */
                                   "--cuda-feature=+ptx78",
                                   "-nocudainc",
                                   "-nocudalib",
                                   "-Wno-unknown-cuda-version",
                                   "-std=c++17",
                                   "-Xclang",
                                   "-fdeclspec",
                                   "-fno-builtin",
                                   "-ffp-contract=off",
                                   "-O3",
                                   "-include",
                                   "%t/backends/check/cuda.h",
                                   "-S",
                                   "-o",
                                   "-",
                                   "-",
                                   NULL};

/* C++ for OpenCL without what its target can do.  Its generic address space stays, as clang 19
** cannot copy a struct without it; metal_fault finds what it would let through.  Metal before
** version 4 is C++14. */
static const char *const metal[] = {"-x",
                                    "clcpp",
                                    "-cl-std=clc++2021",
                                    "--target=x86_64-linux-gnu",
                                    "-cl-no-stdinc",
                                    "-Werror=pre-c++17-compat",
                                    "-Wimplicit-float-conversion",
                                    "-Wimplicit-int-float-conversion",
                                    "-Xclang",
                                    "-cl-ext=-all,+cl_khr_fp16,+__opencl_c_generic_address_space,+"
                                    "__cl_clang_non_portable_kernel_param_types",
                                    "-I",
                                    "%t/backends/check/metal",
                                    "-fsyntax-only",
                                    "-",
                                    NULL};

enum { MAX_WORDS = 48, WORD_BYTES = 1024 };

typedef struct Command {
  int count;
  char word[MAX_WORDS][WORD_BYTES];
  char *argv[MAX_WORDS + 1];
} Command;

static bool add_words(Command *c, const char *const *words, const char *templates,
                      const char *target) {
  for (; *words != NULL && c->count < MAX_WORDS; words++) {
    const char *hole = strchr(*words, '%');
    const char *value = hole == NULL ? "" : hole[1] == 't' ? templates : target;
    const int before = hole != NULL ? (int)(hole - *words) : (int)strlen(*words);
    const int n = snprintf(c->word[c->count], WORD_BYTES, "%.*s%s%s", before, *words, value,
                           hole != NULL ? hole + 2 : "");
    if (n >= WORD_BYTES) return false;
    c->argv[c->count] = c->word[c->count];
    c->count++;
  }
  c->argv[c->count] = NULL;
  return *words == NULL;
}

/* Its end, where that is no verdict on the text: killed, late, not run at all. */
static void say_broken_off(const Clang *clang, const kg_source *source, const char *target,
                           const kg_child_outcome *of, Compiled *result) {
  if (of->ending == KG_CHILD_NOT_RUN)
    result->status = kg_fail(&result->error, KG_NO_COMPILER, "kernel %s: %s %s", source->kernel,
                             clang->program, of->words);
  else
    result->status = kg_fail(&result->error, KG_COMPILE_FAILED,
                             "kernel %s: %s broke off while compiling for %s: its process %s",
                             source->kernel, clang->title, target, of->words);
}

void clang_compile(const Clang *clang, const char *templates, const kg_source *source,
                   const char *target, Compiled *result) {
  const bool is_cuda = strncmp(target, "sm_", 3) == 0;
  const char *const program[] = {clang->program, NULL};
  Command *c = calloc(1, sizeof *c);
  kg_child_outcome of = {.ending = KG_CHILD_NOT_RUN,
                         .words = "cannot be run: its command is too long"};
  if (c == NULL) {
    result->status = kg_fail(&result->error, KG_OUT_OF_MEMORY, "no memory for a command");
    return;
  }
  if (add_words(c, program, templates, target) && add_words(c, common, templates, target) &&
      add_words(c, is_cuda ? cuda : metal, templates, target)) {
    const kg_child_program compiler = {.path = clang->program,
                                       .argv = (const char *const *)c->argv};
    kg_child_run(&compiler, source->text, strlen(source->text),
                 (kg_child_limits){.seconds = COMPILE_SECONDS}, &of);
  }
  bool refused = of.ending == KG_CHILD_EXITED && of.code != 0;
  if (of.ending == KG_CHILD_EXITED) {
    result->log = of.err;
    of.err = NULL;
  }
  if (of.ending == KG_CHILD_EXITED && of.code == 0 && !is_cuda) {
    char *fault = metal_fault(source, result->log);
    if (fault != NULL) {
      free(result->log);
      result->log = fault;
      refused = true;
    }
  }
  if (of.ending != KG_CHILD_EXITED)
    say_broken_off(clang, source, target, &of, result);
  else if (refused)
    result->status =
        kg_fail(&result->error, KG_COMPILE_FAILED, "kernel %s does not compile for %s with %s:\n%s",
                source->kernel, target, clang->title, kg_first_error(result->log));
  else if (is_cuda) {
    result->object = (kg_blob){of.out, of.out_bytes};
    of.out = NULL;
  }
  kg_child_outcome_free(&of);
  free(c);
}

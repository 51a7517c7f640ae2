/* compilers.h: the compilers of this machine that a generated text can be put to, with no GPU.
**
**   hiprtc                     AMD's, as the system has it
**   hiprtc-5.7 -6.4 -7.2       AMD's of other generations, in the roots that gen/rocm-root makes
**   nvrtc                      NVIDIA's
**   clang-cuda                 clang for CUDA, to PTX, with templates/backends/check/cuda.h in CUDA's place
**   clang-metal                clang with address spaces as in Metal, and with
**                              templates/backends/check/metal/metal_stdlib in Metal's place
**
** None is started before it is asked for.  A Compiler may be used by threads at once. */
#ifndef COMPILERS_H
#define COMPILERS_H

#include "device.h"
#include "devices/hip_compile.h"

typedef struct Compiler Compiler;
typedef struct Compilers Compilers;

/* templates: the folder with check/.  roots: the folder with 5.7, 6.4 and 7.2; NULL: $KGEN_ROCM,
** else /var/tmp/kgen-rocm. NULL: no memory. */
Compilers *compilers_open(const char *templates, const char *roots);
void compilers_close(Compilers *all);
int compilers_count(const Compilers *all);
Compiler *compilers_get(Compilers *all, int i);

const char *compiler_name(const Compiler *c);    /* as above */
const char *compiler_backend(const Compiler *c); /* whose texts it takes: "hip" */

/* Is it there?  Starts it the first time.  When not, *why (may be NULL) is a sentence that says
** what to do. */
bool compiler_ready(Compiler *c, const char **why);

/* The rest is for one that is ready. */
const char *compiler_title(const Compiler *c); /* "hipRTC 5.2.21153" */
bool compiler_knows(const Compiler *c, const char *target);

/* The targets that a text is tried on, each with its width: those of a fixed list that this
** compiler knows. */
typedef struct CompilerTarget {
  const char *name;
  int wave;
} CompilerTarget;
int compiler_target_count(const Compiler *c);
CompilerTarget compiler_target(const Compiler *c, int i);

typedef struct Compiled {
  kg_status status; /* KG_OK, KG_BAD_TARGET, KG_COMPILE_FAILED, KG_NO_COMPILER ... */
  kg_error error;   /* the sentence, with the log from its first error on */
  char *log;        /* all of it, also when it compiles; NULL: none */
  kg_blob object;   /* HIP: code object; NVRTC: cubin; clang-cuda: PTX; clang-metal: nothing */
  double seconds;
} Compiled;

/* Compiles source->text, an instance's whole text.  source->options are the port's; clang's
** front ends have their own. */
void compiler_compile(Compiler *c, const kg_source *source, const char *target, Compiled *result);
void compiled_free(Compiled *result);

/* Of a hipRTC: itself, to read with what it has compiled; NULL: it is another. */
kg_hip_compiler *compiler_hip(Compiler *c);

#endif

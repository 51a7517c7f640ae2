/* compilers_own.h: between compilers.c and the two kinds of compiler that the runtime does not
** have. */
#ifndef COMPILERS_OWN_H
#define COMPILERS_OWN_H

#include "verify/compilers.h"

/* ---- compilers_clang.c ----------------------------------------------------------------------- */

typedef struct Clang {
  char *program;
  char title[128];
} Clang;

/* Finds clang ($KGEN_CLANG, else clang-19 and newer, else clang) of version 19 or newer.  False:
** *why. */
bool clang_open(Clang *clang, const char **why);
void clang_close(Clang *clang);

/* The command for one language; targets that begin with sm_ are CUDA's. */
void clang_compile(const Clang *clang, const char *templates, const kg_source *source,
                   const char *target, Compiled *result);

/* The first thing in a text that is not Metal though clang takes it, as a line of a compiler's log;
** NULL: none.  `log` is clang's.  The caller frees it.  compilers_metal.c. */
char *metal_fault(const kg_source *source, const char *log);

/* ---- compilers_nvrtc.c ----------------------------------------------------------------------- */

typedef struct Nvrtc Nvrtc;
Nvrtc *nvrtc_open(char *title, size_t bytes, const char **why); /* NULL: *why */
void nvrtc_close(Nvrtc *nvrtc);
bool nvrtc_knows(const Nvrtc *nvrtc, const char *target);
void nvrtc_compile(Nvrtc *nvrtc, const kg_source *source, const char *target, Compiled *result);

#endif

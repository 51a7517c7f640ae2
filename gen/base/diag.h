/* diag.h: the user's errors, from one table (diag.def). */
#ifndef KGEN_BASE_DIAG_H
#define KGEN_BASE_DIAG_H

#include <stdio.h>

#include "base/arena.h"

typedef enum DiagCode {
#define DIAG(code, name, severity, wording) name,
#include "base/diag.def"
#undef DIAG
  DIAG_CODES
} DiagCode;

/* line, col from 1; 0: not known */
typedef struct Place {
  const char *file;
  int line, col;
} Place;

typedef struct Diags Diags;
Diags *diags_new(Arena *a);
/* Records `file:line:col: error E012: wording`, the wording's holes filled from the arguments.  All
** errors of a run are kept, in file and line order when printed; the same one is kept once. */
void diag_add(Diags *d, Place at, DiagCode code, ...);
/* Adds lines to the last one: the source line with a caret, or `note: text`. */
void diag_source(Diags *d, const char *source_line, int col);
void diag_note(Diags *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
int diags_errors(const Diags *d);
void diags_print(const Diags *d, FILE *to, bool color);
int diag_find(const char *code); /* "E012": its DiagCode; -1 */
/* The nearest of n names to word, for "did you mean"; NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, int n);

#endif

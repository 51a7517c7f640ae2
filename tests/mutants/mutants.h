/* mutants.h: the mutants of tests/mutants, read and planted as text.  mutate.c puts them to their
** checks. */
#ifndef MUTANTS_H
#define MUTANTS_H

#include <stdbool.h>

enum { MAX_MUTANTS = 512 };

typedef enum Catcher { STATIC, COMPILE, RUN, SANITIZE, TEST, CATCHERS } Catcher;
extern const char *const catcher_name[CATCHERS];

typedef struct Mutant {
  const char *file; /* of the mutant, and its line, for messages */
  int line;
  char *name, *target, *from, *to, *spec, *kernel, *few, *one; /* as tests/mutants/README.md says */
  Catcher catcher;
  char *detail; /* what stands after the catcher's name */
  int nth;      /* which occurrence; 0: there must be one alone */
} Mutant;

extern Mutant mutants[MAX_MUTANTS];
extern int mutant_count;

/* Adds those of a file to mutants.  One that cannot be read ends the program, with status 2. */
void read_mutants(const char *path);

/* The text with the mutant's fault; NULL, with why, when its place is not there or not alone.  The
** caller frees it. */
char *plant(const Mutant *m, const char *text, const char **why);

/* The specification with one dtype, the last one, for the types that the mutant names (or all,
** under the sanitizer): what is found is found the same in each.  NULL: the kernel, or its types,
** are not written out in this text.  The caller frees it. */
char *narrowed(const char *text, const Mutant *m);

/* Says why, and ends the program. */
_Noreturn void stop(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *read_text(const char *path); /* NULL: it cannot be read.  The caller frees it */

#endif

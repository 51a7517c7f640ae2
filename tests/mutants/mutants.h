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

/* Reads `key: value` of that key: false when the line is of another.  lines: it may be repeated, a
** line of the value each; else that ends the program. */
bool take(char **to, const char *line, const char *key, bool lines);

/* Reads a file of blocks of such lines, an empty line between them and `#` before a comment.  m, in
** data, is the block at hand: line takes what is its own, and end the whole, and empties it.  what
** it is called in messages; what cannot be read ends the program, with status 2. */
void read_blocks(const char *path, const char *what, Mutant *m, bool (*line)(void *, const char *),
                 void (*end)(void *), void *data);

/* Adds those of a file to mutants.  One that cannot be read ends the program, with status 2. */
void read_mutants(const char *path);

/* The text with the mutant's fault; NULL, with why, when its place is not there or not alone.  The
** caller frees it. */
char *plant(const Mutant *m, const char *text, const char **why);

/* The specification with one dtype, the last one, for the types that the mutant names (or all,
** under the sanitizer): what is found is found the same in each.  NULL: the kernel, or its types,
** are not written out in this text.  The caller frees it. */
char *narrowed(const char *text, const Mutant *m);

/* The generation of hipRTC ("7.2") whose root directory the mutant's check needs, where that is not
** in the folder of the roots; NULL: it is, or none is needed. */
const char *missing_root(const Mutant *m, const char *roots);

/* Says why, and ends the program. */
_Noreturn void stop(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *read_text(const char *path); /* NULL: it cannot be read.  The caller frees it */

#endif

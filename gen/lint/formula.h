/* formula.h: what a condition asks: an expression as a formula over questions (is Metal there? CUDA? does this table
** have a port?) and over all else, which is opaque.  Names are followed to what they were set to, calls of functions
** to what these return. */
#ifndef KGEN_LINT_FORMULA_H
#define KGEN_LINT_FORMULA_H

#include "lint/source.h"

/* What a name or a call asks. */
typedef enum Ask {
  ASK_NONE,
  ASK_METAL,
  ASK_CUDA,
  ASK_ROCM,
  ASK_ANY,    /* is there a GPU at all? */
  ASK_FAMILY, /* Metal or CUDA: custom_kernels_available() */
  ASK_PORT,   /* has_kernel_port(table): the atom's word is the table */
  ASK_KERNEL, /* another *_available() */
  ASK_OTHER
} Ask;

typedef enum FormulaKind { F_TRUE, F_FALSE, F_ATOM, F_NOT, F_AND, F_OR, F_CHOICE } FormulaKind;
typedef struct Formula {
  FormulaKind kind;
  int atom;
  const struct Formula *a, *b, *c;
} Formula;

typedef struct Atom {
  Ask ask;
  int word;           /* of a table or a function; else of the whole text */
  const Source *from; /* where it stands */
  int at;
} Atom;

typedef struct Reading {
  Project *project;
  const uint8_t *hot; /* by word: names that are worth following; NULL: all of them are */
  Atom *atoms;
  int count, room;
} Reading;

/* The expression [from, to) of a source. */
const Formula *formula_read(Reading *r, Source *s, int from, int to);
/* What a function returns; NULL: that is not to be seen. */
const Formula *formula_of_func(Reading *r, const Func *f);
bool formula_holds(const Formula *f, uint64_t atoms); /* bit k: atom k is true */
bool formula_asks(const Reading *r, Ask ask);         /* some atom does */
/* Some way to set all that is no question of a backend makes it "Metal or CUDA", or the opposite, whatever ROCm is. */
bool formula_gates(const Reading *r, const Formula *f);
/* Some way to set the other atoms makes it true just where the questions of backends (and, with ports, of tables)
** are answered yes (`yes`) or no. */
bool formula_follows(const Reading *r, const Formula *f, bool yes, bool ports, bool kernels);

/* ---- statements ---- */
int statement_end(const Source *s, int i,
                  int limit); /* behind the `;` or the block of the one at i */
/* `if` at token i: its condition, and what is done; [no[0], no[1]) is empty without an `else`. */
bool if_parts(const Source *s, int i, int limit, int c[2], int yes[2], int no[2]);

/* The question of the path that ends at token `last` (ask.c); *word is the table of ASK_PORT. */
Ask ask_of(Project *p, Source *s, int last, int *word);
bool word_may_ask(Project *p, int word); /* it can end such a path */
/* The path of token i with its first name's alias put in; its length (at most 8). */
int path_words(Project *p, Source *s, int i, int path[8]);
/* Is it a kernel backend's enumerator?  The word of the backend in lower case (W_METAL ...); W_NULLPTR for None; W_NONE. */
int enumerator_at(Project *p, Source *s, int last);
bool is_backend_type(Project *p, int word, Language lang);

#endif

/* rules.h: what the rules share.  Each rule adds its findings. */
#ifndef KGEN_LINT_RULES_H
#define KGEN_LINT_RULES_H

#include "lint/formula.h"
#include "lint/lint.h"
#include "lint/source.h"

typedef struct Finding {
  enum LintRule rule;
  const char *file;
  Source *source; /* NULL: of a list */
  int line, col;
  const char *symbol; /* the function or table; "" */
  const char *text;
  bool allowed;
  const char *reason;
} Finding;

/* One KernelPorts table. */
typedef struct Table {
  Source *source;
  int name, at;    /* its word and token */
  int getter;      /* the word of the function that it is static in; -1 */
  int open, close; /* { } */
  int rocm[2];     /* the slot's value; empty: none */
  int mark;        /* the token of the mark, where it is any-wave; -1 */
} Table;

enum { HOT_METAL = 1, HOT_CUDA = 2, HOT_OTHER = 4, HOT_GATE = HOT_METAL | HOT_CUDA };

typedef struct Lint {
  Project *p;
  Finding *findings;
  int count, room;
  Table *tables;
  int table_count, table_room;
  uint8_t *hot;        /* by word: HOT_ bits, the questions of backends that it may lead to */
  bool *holder;        /* by word: a type, variable or function that holds a kernel */
  bool *access;        /* by word: a holder's method that gives the kernel */
  uint8_t *enumerated; /* by word: it may be set to an enumerator */
  int launches, marks;
  const char *pins; /* NULL: none */
} Lint;

void find(Lint *l, enum LintRule rule, Source *s, int token, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A finding without a source: in a list. */
void find_in_list(Lint *l, enum LintRule rule, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* facts.c: tables, holders, words that lead to questions. */
void gather(Lint *l);
const Table *table_around(const Lint *l, const Source *s,
                          int i); /* the one that has token i in its braces */
const Table *table_named(const Lint *l, int word);
bool calls_constructor(const Source *s,
                       int i); /* metal_kernel, cuda_kernel or hip_kernel is called at token i */
/* The dispatch itself: it takes a table, or gives a backend. */
bool is_dispatch(Lint *l, Source *s, int i);
bool selects(const Source *s, const Func *f);                 /* it calls select_kernel_port */
int hot_in(const Lint *l, const Source *s, int from, int to); /* the bits of all its words */
/* The expression around token i, as wide as a condition is. */
void region_of(const Source *s, int i, int *from, int *to);

void rule_backend(Lint *l);
void rule_refusal(Lint *l);
void rule_holder(Lint *l);
void rule_gate(Lint *l);
void rule_wave(Lint *l);
void rule_predicate(Lint *l);
void rule_dtype(Lint *l);
void rule_seam(Lint *l);

/* lists.c: false: *error says which line is wrong. */
bool allow_read(Lint *l, const char *path, const char **error);
void report_text(const Lint *l, FILE *out);
void report_sarif(const Lint *l, FILE *out);

#endif

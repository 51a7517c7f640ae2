/* ledger.h: what the pinned compiler made of each HIP instance: registers, memory, occupancy, code.
**
** generated/ledger.json holds one row for kernel x instance x target.  A row carries the hash of
** the tokens it was compiled from (text_tokens), and a compiler of one version makes of the same
** tokens the same code, so a row whose tokens are unchanged holds without compiling it again: that
** is how `kgen check` can look at every row in no time, and why a comment costs nothing. */
#ifndef LEDGER_H
#define LEDGER_H

#include "passes.h"

#define LEDGER_FILE "ledger.json"
#define LEDGER_GENERATION "7.2" /* of hipRTC: the root of that name under the roots' folder */

typedef enum LedgerColumn {
  LC_VGPR,
  LC_AGPR,
  LC_SGPR,
  LC_LDS,
  LC_SCRATCH,
  LC_SPILLS,
  LC_OCCUPANCY,
  LC_CODE,
  LC_INSTRUCTIONS,
  LC_WIDEST_LOAD,
  LEDGER_COLUMNS
} LedgerColumn;
/* "vgpr": the name in the file and in a specification's budget */
extern const char *const ledger_column[LEDGER_COLUMNS];

typedef struct LedgerRow {
  const char *kernel, *instance, *target;
  int wave;
  char text_hash[33];            /* of its tokens */
  int64_t value[LEDGER_COLUMNS]; /* -1: not known */
} LedgerRow;

typedef struct Ledger {
  const char *compiler; /* "7.2.53211" */
  int count;
  /* by kernel, instance and target in the specification's and the targets' order */
  LedgerRow *rows;
} Ledger;

/* The rows that the library wants, their texts' tokens hashed, values unknown. */
Ledger *ledger_wanted(Arena *a, const Library *l);

/* Reads a ledger file; an empty one where there is none.  NULL with *why when it is damaged. */
Ledger *ledger_read(Arena *a, const char *path, const char **why);

/* Takes over the values of rows that old has with the same text.  Returns how many rows still have
** none. */
int ledger_reuse(Ledger *wanted, const Ledger *old);

/* Compiles the rows without values, on `jobs` threads, by the pinned hipRTC under roots.  False
** with *why when it is not there or a text does not compile.  progress (may be NULL) is told rows
** done and rows in all. */
bool ledger_fill(Arena *a, const Library *l, Ledger *wanted, const char *roots, int jobs,
                 void (*progress)(int done, int all), const char **why);

char *ledger_text(Arena *a, const Ledger *ledger);

/* Prints what differs between two ledgers as a table, a line a moved value; returns how many
** moved. */
int ledger_moved(const Ledger *from, const Ledger *to, FILE *out);

/* Prints what `kgen check` has to say of a ledger file, with the command that mends it: rows of
** texts that have changed (and, where the pinned compiler is and they are few, what moved), rows
** over budget.  Nothing where there is no such file.  Returns the findings. */
int ledger_check(Arena *a, const Library *l, const char *path, const char *command, FILE *out);

/* The folder of the roots: $KGEN_ROCM, else /var/tmp/kgen-rocm. */
const char *ledger_roots(void);

/* Prints each row that passes its kernel's budget; returns how many do. */
int ledger_over_budget(const Library *l, const Ledger *ledger, FILE *out);

#endif

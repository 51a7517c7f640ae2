/* tables.h: what is written beside the device texts (kernels.h, kernels.c, kernels.json,
** PORTS.md), and how all of it comes into the output folder. */
#ifndef KGEN_TABLES_TABLES_H
#define KGEN_TABLES_TABLES_H

#include "emit/emit.h"

typedef struct Output {
  const char *path; /* under the output folder */
  const char *text;
  size_t len;
  const char *from;
} Output;

/* The whole run's result.  facts[kernel][port], NULL where absent. */
typedef struct Library {
  const Spec *spec;
  const Backend *const *backends;
  int backend_count; /* the specification's */
  Facts ***facts;
  int output_count;
  Output *outputs;
} Library;

/* kernels.h, kernels.c, kernels.json, PORTS.md. */
char *emit_header(Arena *a, const Library *l);
char *emit_tables(Arena *a, const Library *l);
char *emit_json(Arena *a, const Library *l);
char *emit_ports_md(Arena *a, const Library *l);
/* The device texts in l->outputs as a C file, to be linked beside kernels.c. */
char *emit_texts(Arena *a, const Library *l);

const Output *library_output(const Library *l, const char *path); /* NULL: not an output */

/* ---- output.c -------------------------------------------------------------------------------- */

/* Writes what changed, each by temporary file and rename; nothing is written when any write cannot
** succeed.  Files of kgen's own that nothing gives any more are removed.  One line a changed file
** goes to log (may be NULL).  Returns how many files changed, or -1 (the reason in d). */
int outputs_write(const Library *l, const char *folder, FILE *log, Diags *d);
/* The same for a file that another command of kgen's adds to the folder: l->outputs are it alone,
** and nothing is removed. */
int outputs_write_some(const Library *l, const char *folder, Diags *d);
/* Prints one line a finding (edited, stale, missing, orphan) with the command that mends it;
** returns how many. */
int outputs_check(const Library *l, const char *folder, const char *command, FILE *to);

#endif

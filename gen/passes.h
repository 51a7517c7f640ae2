/* passes.h: from a specification file to all texts, the way every command goes. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "base/options.h"
#include "tables/tables.h"

/* Where things are.  Paths are as opened: relative to the current folder, or absolute. */
typedef struct LibraryOptions {
  const char *spec;      /* NULL: kernels.lua */
  const char *output;    /* NULL: <the specification's folder>/generated */
  const char *templates; /* NULL: $KGEN_TEMPLATES, else ../templates beside the program, else
                         ** <the specification's folder>/templates */
  const char *only;      /* the one kernel that is wanted, without the tables; NULL: all */
  bool spec_only;        /* read no body and make no text */
} LibraryOptions;

/* The option rows that go with it: -f, -o, -t. */
#define LIBRARY_ROWS                                                                               \
  {'f', "file", "FILE", "the specification (default: kernels.lua)"},                               \
      {'o', "output", "FOLDER",                                                                    \
       "the generated files (default: generated, beside the specification)"},                      \
      {'t', "templates", "FOLDER", "backends, library and kernel language (default: this kgen's)"}
LibraryOptions library_options(const Command *command, const Options *options);

/* Says where the program itself is, for the templates beside it (main calls it once, with
** argv[0]). */
void library_program(const char *argv0);

/* The folders that the options mean, defaults filled in. */
const char *library_output_folder(Arena *a, const LibraryOptions *o);
const char *library_templates_folder(Arena *a, const LibraryOptions *o);

/* Reads the language, the backends and the specification, reads every body, makes every text.  NULL when there
** is any error; what was found (errors and warnings) is in d.  Everything is the arena's. */
Library *library_make(Arena *a, const LibraryOptions *o, Diags *d);

/* The backends that there are, whatever a specification says.  Faults in d. */
const Backend *const *library_backends(Arena *a, const LibraryOptions *o, int *count, Diags *d);

/* As library_make, and prints the diagnostics to stderr. */
Library *library_open(Arena *a, const LibraryOptions *o);

/* Every file and folder that was read to make it, sorted, each once. */
const char **library_reads(Arena *a, const Library *l, const LibraryOptions *o, int *count);

/* By name; NULL: there is none.  index (may be NULL) is its place. */
const Kernel *library_kernel(const Library *l, const char *name, int *index);
/* The same for a command's operand: an unknown name is answered with the nearest one. */
const Kernel *library_kernel_named(const Command *command, const Library *l, const char *name,
                                   int *index);

#endif

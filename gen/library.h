/* library.h: from a specification file to all texts, the way every command goes. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "kgen.h"
#include "options.h"

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
#define LIBRARY_ROWS \
  {'f', "file", "FILE", "the specification (default: kernels.lua)"}, \
  {'o', "output", "FOLDER", "the generated files (default: generated, beside the specification)"}, \
  {'t', "templates", "FOLDER", "backends, library and kernel language (default: this kgen's)"}
LibraryOptions library_options(const Command *command, const Options *options);

/* Says where the program itself is, for the templates beside it (main calls it once, with
** argv[0]). */
void library_program(const char *argv0);

/* The folders that the options mean, defaults filled in. */
const char *library_output_folder(Arena *a, const LibraryOptions *o);
const char *library_templates_folder(Arena *a, const LibraryOptions *o);

/* Loads the backends and the specification, reads every body, makes every text.  NULL when there
** is any error; what was found (errors and warnings) is in d.  Everything is the arena's. */
Library *library_make(Arena *a, const LibraryOptions *o, Diags *d);

/* As library_make, and prints the diagnostics to stderr. */
Library *library_open(Arena *a, const LibraryOptions *o);

/* Every file and folder that was read to make it, sorted, each once. */
const char **library_reads(Arena *a, const Library *l, const LibraryOptions *o, int *count);

/* By name; NULL: there is none.  index (may be NULL) is its place. */
const Kernel *library_kernel(const Library *l, const char *name, int *index);
/* The same for a command's operand: an unknown name is answered with the nearest one. */
const Kernel *library_kernel_named(const Command *command, const Library *l, const char *name,
                                   int *index);
const Port *kernel_port(const Kernel *k, const char *backend, int *index); /* NULL: unknown */

/* "hip/fused_xielu.hip", the port's file under the output folder. */
const char *port_file(Arena *a, const Kernel *k, const Port *p);
const Output *library_output(const Library *l, const char *path); /* NULL: not an output */

/* A path below the specification's folder as seen from there: what texts may say.  Else the path
** as it is. */
const char *path_from_spec(const Spec *s, const char *path);
/* A path as the specification has it, as this process opens it. */
const char *path_opened(Arena *a, const Spec *s, const char *path);

/* The text that goes before a port's when an instance is compiled: types, constants in the key,
** width, entry, and the port's file for the compiler's messages.  The same bytes as the
** runtime's (runtime/instance.c). */
const char *instance_block(Arena *a, const Kernel *k, const Instance *i, int wave,
                           const char *file);

/* Reads `T=bf16 LAYOUT=1` into an instance.  False, with one complete sentence in *why, when a
** choice is missing, unknown or not one that the specification lists. */
bool instance_choose(Arena *a, const Kernel *k, char *const *choices, int count, Instance *i,
                     const char **why);

/* Shared by kernels.c and kernels.json: where each argument stands in the block that the HIP and
** CUDA entries take. */
typedef struct BlockField {
  const char *name;
  char kind;  /* 'p' pointer, 'd' dim, 's' scalar */
  int index;  /* into the kernel's args, dims or scalars */
  uint32_t offset, bytes;
} BlockField;
enum { MAX_FIELDS = MAX_ARGS + MAX_DIMS + MAX_SCALARS };
int argument_block(const Kernel *k, BlockField fields[MAX_FIELDS], uint32_t *bytes);

/* What a launch must satisfy: the specification's requirements, then the ranges of the dims that
** are declared. */
const Expr **kernel_requires(Arena *a, const Kernel *k, int *count);

/* Sets what the address of each argument must be a multiple of, in bytes: 16, the widest access, where a
** port's body or the library it uses moves several elements at once, or reads memory as another
** type, and the body does more with this argument than read `name[i]`; 0: of an element's size.
** facts: one for each port, NULL where there is none. */
void args_align(Kernel *k, Facts *const *facts);

/* An expression with the port's own values in place of the fixed constants that it redefines;
** NULL is one. */
const Expr *port_expr(Arena *a, const Port *p, const Expr *e);

#endif

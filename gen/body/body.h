/* body.h: what libclang finds in the bodies of kernels. */
#ifndef KGEN_BODY_BODY_H
#define KGEN_BODY_BODY_H

#include "spec/spec.h"

/* An array in LOCAL memory.  All of them are declared in the entry (Metal allows them nowhere else)
** and handed to the library functions that own or need them: name is what the entry calls it
** (`group_sum_slot` for slot of group_sum). */
typedef struct SharedArray {
  const char *name;
  const char *own_name; /* as declared */
  const char *function; /* NULL: declared in the body itself */
  const char *type;     /* element, as written: "f32" */
  const char *extent;   /* as written, with brackets: "[THREADS / WAVE]" */
  Place at;
} SharedArray;

typedef struct
    LibFunction { /* a function, function template or struct of lib/..kc, or above a body */
  const char *name, *file; /* file: as #line gives it */
  int line;                /* of text's first line */
  const char *text;        /* with the comment block right above it */
  bool is_type;
  const char *prefix; /* of its name in texts: what a backend may have one of that name of; or "" */
  unsigned index_words; /* what it and what it calls need, as (1u << IndexWord) */
  int shared_count;
  int *shared; /* likewise: into Facts.shared */
} LibFunction;

typedef struct Facts { /* of one body, over all instances of the kernel */
  const char *path;    /* of the body, as #line gives it */
  const char *text;    /* from its line `line` on: functions above it are in lib */
  int line;
  size_t len;
  int lib_count;
  LibFunction *lib; /* used ones, in an order that defines before use */
  int shared_count;
  SharedArray *shared;
  unsigned index_words;    /* used by the body or a library function it calls */
  bool lane_ops, barriers; /* used at all */
  int overload_count;
  const char **overloads;            /* functions of portable.h that are called, as its
                                              ** words name them: "load4(bf16)"; sorted */
  uint32_t shared_bytes[WAVES];      /* the most over the instances */
  uint32_t *instance_shared[WAVES];  /* by instance (kernel_instances order) */
  const struct NativeKernel *native; /* of a port whose text its owner wrote (emit/native.c) */
  bool moves_wide;                   /* of such a text: it moves several elements at once */
  const char *const *read_files;
  int read_count; /* body, libs, portable.h: for the depfile */
} Facts;

typedef struct Language Language; /* portable.h and lib/..kc, parsed once, and before all else */
Language *language_load(Arena *a, const char *templates, Diags *d);
/* ... then with lib/..kc beside the specification, where there is such a folder. */
void language_load_own(Language *l, const char *folder, Diags *d);
const Words *language_words(const Language *l);
void language_free(Language *l);

/* Reads and checks the body of a port (ports of one body share the result).  NULL when there is no
** body to speak of; faults in d: clang's own errors at the body's line, and ours (storage
** arithmetic, divergence, literal widths, inputs written, limits of each backend whose port uses
** this body ...). */
Facts *body_facts(Arena *a, Language *l, const Kernel *k, const Port *port, Diags *d);

/* Sets what the address of each argument must be a multiple of, in bytes: 16, the widest access, where a
** port's body or the library it uses moves several elements at once, or reads memory as another
** type, and the body does more with this argument than read `name[i]`; 0: of an element's size.
** facts: one for each port, NULL where there is none. */
void args_align(Kernel *k, const Words *words, Facts *const *facts);

#endif

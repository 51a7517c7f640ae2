/* shipped.h: the C that a program links, put to the specification.
**
** kernels.c and kernels.h are compiled with the texts and a table of their launchers into a shared
** object, against the kg.h of this kgen.  A child process loads it, so that a table that leads
** nowhere ends the child and not kgen, and asks two things of it:
**
**   shipped_report.c  the child, and what it says
**   shipped_tables.c  every table says what the specification says
**   shipped_calls.c   every launcher and predicate, called on recording devices, does what a launch
**                     of the specification's own kernel does, which is how verify runs everything */
#ifndef SHIPPED_H
#define SHIPPED_H

#include "tables/tables.h"

typedef struct ShippedFault {
  const char *kernel; /* NULL: of none, or of all */
  const char *text;
} ShippedFault;

typedef struct Shipped {
  const char *compiler; /* "gcc" */
  const char *why;      /* nothing was looked at, since; NULL: it was */
  int calls;            /* of launchers */
  int count, room;
  ShippedFault *faults; /* the arena's */
} Shipped;

/* header and tables: the texts of kernels.h and kernels.c, made of the library's specification or
** said to be.  seconds: what the child has. */
Shipped shipped_check(Arena *a, const Library *l, const char *header, const char *tables,
                      unsigned seconds);

/* A fault more; both texts are the arena's or constant. */
void shipped_add(Arena *a, Shipped *s, const char *kernel, const char *text);

/* ---- the child -------------------------------------------------------------------------------- */

typedef struct ShippedReport ShippedReport;

/* Has a child process look; what it finds, and how it ends where that is not well or not within the
** seconds, is added to the faults.  NULL, or why there is no child. */
const char *shipped_child(Arena *a, Shipped *s, void (*look)(ShippedReport *to, const void *data),
                          const void *data, unsigned seconds);

/* ---- inside the child ------------------------------------------------------------------------ */

/* A row of the table that shipped.c writes for each kernel, in the specification's order. */
typedef struct ShippedKernel {
  const kg_kernel *kernel;
  const KernelPorts *ports;
  bool (*available)(const kg_device *device);
  /* The launcher, called as the specification says that it is: tensors, scalars and constants in
  ** its order. */
  kg_status (*launch)(kg_device *device, kg_tensor *const *tensors, const kg_scalar *scalars,
                      const int64_t *consts);
} ShippedKernel;

typedef struct ShippedObject {
  const ShippedKernel *kernels;
  bool (*const *paths)(const kg_device *device); /* the predicate of each set */
  const kg_kernel *const *list;                  /* kg_kernels */
  const int *count;                              /* kg_kernel_count */
  /* What its predicates ask; it may be set. */
  bool (**has_port)(const KernelPorts *ports, const kg_device *device);
} ShippedObject;

/* What is wrong, of this kernel (NULL: of none). */
void shipped_found(ShippedReport *to, const Kernel *k, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Where the child is, should it end there: "calling scale_launch". */
void shipped_at(ShippedReport *to, const Kernel *k, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How many calls it has made. */
void shipped_called(ShippedReport *to, int calls);

void shipped_tables(ShippedReport *to, const Library *l, const ShippedObject *object);
/* Returns how many calls were made. */
int shipped_calls(ShippedReport *to, const Library *l, const ShippedObject *object);

#endif

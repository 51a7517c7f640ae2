/* inner.h: what kernels.h and kernels.c are written with alike. */
#ifndef TABLES_H
#define TABLES_H

#include "tables/tables.h"

/* `kg_status <kernel>_launch(kg_device *device, inputs, scalars, constants of the instance,
** outputs)`, without a semicolon. */
void put_launcher(Buf *b, const Kernel *k);
/* The comment that a generated C file begins with. */
void put_banner(Buf *b, const Library *l, const char *what);
void put_kernel_rule(Buf *b, const Kernel *k);
/* "kg_text_hip_fused_xielu": the array in what emit_texts gives. */
const char *text_symbol(Arena *a, const Kernel *k, const Port *p);

/* The matrix of ports as the three forms of `kgen ports` and PORTS.md have it. */
char *ports_text(Arena *a, const Library *l, bool color);

#endif

/* objects.h: what a compiler made of a text, read instruction by instruction.
**
** The kernel language says what each operation rounds to; a compiler may know better.  What it may
** make only of certain words of a text is a table in objects.c: a kind of instruction, the words
** that allow it, and what else is made of such instructions in known numbers (a division has five
** fused operations and one approximate reciprocal).  An instruction that neither explains is a
** fault, whatever a run on a CPU says. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "ledger/disasm.h"

typedef struct ObjectText {
  const char *text; /* an instance's whole text, as it was compiled */
  const Code *code; /* what became of it */
  uint32_t scratch; /* bytes a lane, as the code object says */
} ObjectText;

typedef struct ObjectFault {
  const char *what;  /* a sentence, the same wherever it happens */
  const char *where; /* "3 times, first at byte 0x1a4: v_fma_mixlo_f16 v8, v10, v21, 0" */
} ObjectFault;

/* In the table's order; *count of them. */
const ObjectFault *object_faults(Arena *a, const ObjectText *o, int *count);

#endif

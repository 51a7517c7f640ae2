/* words.h: between emit.c (the text as a whole) and words.c (a body, word by word). */
#ifndef EMIT_H
#define EMIT_H

#include "emit/emit.h"

typedef struct Emit {
  Arena *a;
  const Kernel *k;
  const Port *p;
  const Backend *b;
  const Facts *f;
  Buf names; /* every name that the text uses, apart by spaces */
} Emit;

/* Puts a text in the kernel language as the backend spells it: words substituted, declarations of
** LOCAL arrays made comments (they are hoisted to the entry), and library functions given what they
** cannot ask for by themselves (index words and LOCAL arrays) as parameters.  owner: the library
** function whose definition the text is; NULL for the body.  Lines stay lines. */
void emit_words(Emit *e, Buf *out, const char *text, size_t len, const LibFunction *owner);

/* In the kernel language: the text of a storage type that the backend's table has no piece for,
** made of its row in dtype.def.  NULL: it has one, or none can be made. */
const char *storage_text(Arena *a, const Backend *b, kg_dtype dtype);

#endif

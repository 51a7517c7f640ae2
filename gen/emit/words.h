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
  bool
      within; /* the instance is chosen inside the entry, and not by macros before the text (mlx.c) */
} Emit;

/* The parts of a text, for another frame than its own entry.  Each is the caller's to free. */
typedef struct EmitParts {
  Buf guard;   /* head's place is before it */
  Buf pieces;  /* of the kernel language, with the constants that no instance chooses */
  Buf library; /* functions of lib/ */
  Buf chosen;  /* within the entry: the instance's types and constants */
  Buf asked;   /* likewise: index words, shared arrays */
  Buf body;
  unsigned words; /* index words, with those that they are made of */
} EmitParts;
void emit_parts(Emit *e, EmitParts *parts);

/* Parts that both kinds of texts begin with. */
void emit_banner(Emit *e, Buf *out);
void emit_default_instance(Emit *e, Buf *out);
void emit_guard(Emit *e, Buf *out);
void emit_own_line(Emit *e, Buf *out);
const char *emit_const_text(Emit *e, const kg_const_param *c, int64_t value);

/* A text of the backend's table with its holes filled. */
void emit_text(Emit *e, Buf *out, const char *name, const Pair *values, int count);
/* "THREADS", "u32": how a constant that an instance chooses is declared. */
const char *emit_const_type(const Emit *e, int constant);
const char *emit_index_value(Emit *e, IndexWord word);
const char *emit_type_name(const Kernel *k, const kg_arg *arg);
/* A dim or a scalar, in order; false past the last. */
bool emit_value_at(const Kernel *k, int i, const char **name, const char **type);
/* No line ends in a space. */
char *emit_tidy(Arena *a, const Buf *in);

/* Puts a text in the kernel language as the backend spells it: words substituted, declarations of
** LOCAL arrays made comments (they are hoisted to the entry), and library functions given what they
** cannot ask for by themselves (index words and LOCAL arrays) as parameters.  owner: the library
** function whose definition the text is; NULL for the body.  Lines stay lines. */
void emit_words(Emit *e, Buf *out, const char *text, size_t len, const LibFunction *owner);

/* In the kernel language: the text of a storage type that the backend's table has no piece for,
** made of its row in dtype.def.  NULL: it has one, or none can be made. */
const char *storage_text(Arena *a, const Backend *b, kg_dtype dtype);

#endif

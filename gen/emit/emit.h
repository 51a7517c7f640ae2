/* emit.h: device texts out. */
#ifndef KGEN_EMIT_EMIT_H
#define KGEN_EMIT_EMIT_H

#include "body/body.h"

/* One kernel's device text for one port. */
char *emit_device(Arena *a, const Kernel *k, const Port *p, const Facts *f);

/* The same of a port whose text its owner wrote (native.c): that text, byte for byte, in the frame that a
** launch needs. */
char *emit_native(Arena *a, const Kernel *k, const Port *p, const Facts *f);
/* Is it a whole kernel for Metal, whose arguments are bound each by itself?  Then this is the i-th by
** name; NULL past the last. */
bool native_binds(const Facts *f);
const char *native_argument(const Kernel *k, const Facts *f, int i);
/* Reads that text (native_read.c).  NULL: what is wrong is in d. */
Facts *native_facts(Arena *a, const Kernel *k, const Port *p, Diags *d);

/* One port as MLX takes it (mlx.c). */
typedef struct MlxPort {
  const char *header, *source;
} MlxPort;
/* False: the backend is none of MLX's. */
bool emit_mlx(Arena *a, const Kernel *k, const Port *p, const Facts *f, MlxPort *to);
/* A dim that stands alone in the shape of an input: the kernel reads it there, `from_end` axes from
** the end.  False: it stands in none, and is given as a scalar is. */
bool mlx_dim_place(const Kernel *k, int dim, int *input, int *from_end);

/* A compiler's message "FILE:LINE:COLUMN: ..." about a line of the body, at the column that the
** body's own file has it in: a text's body stands a step further in.  Any other message is given
** back as it is. */
const char *emit_own_column(Arena *a, const Facts *f, const char *message);

/* Can the backend spell every dtype that the kernel may be of?  What not is said in d. */
bool device_dtypes_check(Arena *a, const Kernel *k, const Port *p, Diags *d);

/* Puts the content hash (XXH3, 128 bits, of the whole text with the 32 digits as zeros) at the
** text's first "content " + 32 zeros. */
void content_stamp(char *text, size_t len);
/* True when the text carries a stamp and it is right. */
bool content_holds(const char *text, size_t len);

#endif

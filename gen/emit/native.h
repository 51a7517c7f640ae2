/* native.h: between native_read.c (what a text that its owner wrote says) and native.c (the frame
** around it). */
#ifndef KGEN_EMIT_NATIVE_H
#define KGEN_EMIT_NATIVE_H

#include "emit/emit.h"
#include "native/native.h"

/* A text of one of two conventions.  A body, as mlx.core.fast.metal_kernel and its like take it: the
** specification's names are there, and MLX's (x_shape, x_strides, x_ndim, Metal's attributes).  Or a
** file with whole kernels, one of which is the port's. */
typedef struct NativeKernel {
  const char *path;          /* as opened */
  const char *text, *header; /* as they stand in their files; header NULL: none */
  const char *header_path;
  NativeText tokens; /* of the text, or of the body */
  bool whole;
  const NativeEntry *entry; /* of a whole one */
  const char *called;       /* "ns::rms<T, 256>", in the specification's names */
  int argument_count;
  int arguments[MAX_ARGS + MAX_DIMS +
                MAX_SCALARS]; /* by parameter that is no position: its number in
                                                    ** the table's order */
} NativeKernel;

bool native_is_metal(const Port *p);
/* Is the parameter of a whole Metal kernel the thread's place, or the like, and no argument? */
bool native_is_position(const Port *p, const NativeParameter *parameter);

/* Of a body for Metal: the type that MLX declares the attribute with; NULL: it is none. */
typedef struct NativeAttribute {
  const char *name, *type;
} NativeAttribute;
extern const NativeAttribute native_attributes[]; /* ends with a NULL name */

#endif

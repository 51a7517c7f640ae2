/* stand_in.h: the headers that texts include, which are empty here: the words are in the shim
** (runtime/simt/native*.h), and what decides at preprocessing is defined. */
#ifndef GEN_NATIVE_STAND_IN_H
#define GEN_NATIVE_STAND_IN_H

typedef struct NativeHeader {
  const char *path;    /* NULL ends the table */
  const char *backend; /* NULL: any; "gpu": CUDA and HIP */
} NativeHeader;

extern const NativeHeader native_headers[];

/* Options of the preprocessor, NULL-terminated. */
const char *const *native_definitions(const char *backend);

#endif

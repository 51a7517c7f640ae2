/* shims.h: the shims as strings (gen/embed.c makes them at build time), and which backend's
** texts need which.
**
** A shim is the concatenation of its parts; the text comes behind it. */
#ifndef KG_SIMT_SHIMS_H
#define KG_SIMT_SHIMS_H

extern const char kg_embedded_abi_h[], kg_embedded_core_h[], kg_embedded_words_h[],
    kg_embedded_hip_h[];
extern const char kg_embedded_cuda_h[], kg_embedded_metal_h[], kg_embedded_checked_h[];
extern const char kg_embedded_native_h[], kg_embedded_native_words_h[], kg_embedded_native_hip_h[],
    kg_embedded_native_cuda_h[], kg_embedded_native_vectors_h[], kg_embedded_native_metal_h[];

typedef struct kg_simt_shim {
  const char *backend;
  const char *parts[4]; /* NULL ends them */
} kg_simt_shim;

/* NULL: no shim for this backend. */
const kg_simt_shim *kg_simt_shim_of(const char *backend);

#endif

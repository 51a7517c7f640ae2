/* code_object.h: what an AMD code object says of one of its kernels, read before it is loaded.
**
** The facts are in the ELF file's note of type 32 (name "AMDGPU"), as MessagePack: LLVM's "User
** Guide for AMDGPU Backend", Code Object V3 to V5 metadata. */
#ifndef KG_CODE_OBJECT_H
#define KG_CODE_OBJECT_H

#include "kg.h"

typedef struct kg_code_object {
  char target[96];         /* "gfx90a:sramecc+:xnack-" */
  uint32_t wave;           /* lanes; 0: it does not say */
  uint32_t threads;        /* the most in a group that it was compiled for */
  uint32_t argument_bytes; /* end of the last parameter that the text declares */
  uint32_t shared_bytes, scratch_bytes;
  uint32_t vgprs, agprs, sgprs, vgpr_spills, sgpr_spills;
} kg_code_object;

/* KG_OK; KG_DEVICE_FAILED when the bytes are no such object, or it has no kernel of that name.
** Reads no byte outside of them, whatever they hold. */
kg_status kg_code_object_read(const void *bytes, size_t size, const char *entry,
                              kg_code_object *facts, kg_error *error);

#endif

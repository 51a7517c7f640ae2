/* instance.h: the names and texts of an instance, as launch.c and cache.c want them. */
#ifndef KG_MODEL_INSTANCE_H
#define KG_MODEL_INSTANCE_H

#include "kg.h"

enum { KG_BLOCK_BYTES = 8192 };

/* The lines that stand before the port's text, in a buffer of the caller's; *bytes without the
** NUL.  name is kg_instance_name's.  KG_TOO_LARGE. */
kg_status kg_instance_block(const kg_instance *instance, const kg_port *port, const char *name,
                            char block[KG_BLOCK_BYTES], size_t *bytes, kg_error *error);

/* Are the dtypes and constants among those that the kernel is made for?  KG_BAD_ARGUMENT,
** KG_BAD_DTYPE, KG_BAD_CONSTANT. */
kg_status kg_instance_check(const kg_instance *instance, kg_error *error);

/* One of kg_instance_check's questions: constant number i may be value. */
kg_status kg_const_check(const kg_kernel *kernel, int i, int64_t value, kg_error *error);

/* "f32, f16 or bf16": what a type may be, in dtype.def's order. */
enum { KG_DTYPES_BYTES = 16 * KG_DTYPES };
void kg_dtypes_text(const kg_type_param *type, char *text, size_t bytes);

#endif

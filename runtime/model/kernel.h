/* kernel.h: a kernel's names, as one list, and the version of its tables.
**
** The list is numbered dims, constants, scalars, types, inputs, outputs, each in its own order; the
** first three are the variables of expressions.  Names are told apart over the whole list. */
#ifndef KG_MODEL_KERNEL_H
#define KG_MODEL_KERNEL_H

#include "kg.h"

typedef enum kg_symbol_kind {
  KG_DIM,
  KG_CONST,
  KG_SCALAR,
  KG_TYPE,
  KG_INPUT,
  KG_OUTPUT,
  KG_SYMBOL_KINDS
} kg_symbol_kind;

typedef struct kg_symbol {
  const char *name;
  kg_symbol_kind kind;
  int index; /* into the kernel's dims, consts, scalars, types or args */
} kg_symbol;

int kg_symbol_count(const kg_kernel *kernel);
int kg_variable_count(const kg_kernel *kernel);
kg_symbol kg_symbol_at(const kg_kernel *kernel, int number);   /* 0 <= number < kg_symbol_count */
int kg_symbol_find(const kg_kernel *kernel, const char *name); /* its number; -1: it has none */
kg_symbol kg_symbol_named(const kg_kernel *kernel, const char *name); /* none: KG_SYMBOL_KINDS */

/* The number of a dim, constant or scalar as a variable. */
int kg_variable(const kg_kernel *kernel, kg_symbol_kind kind, int index);

/* "dim", "constant" ... */
const char *kg_symbol_kind_name(kg_symbol_kind kind);

/* May the type be this dtype? */
bool kg_type_has(const kg_type_param *type, kg_dtype dtype);

/* KG_BAD_VERSION, with the sentence, where these tables are not of this library's version. */
kg_status kg_version_check(uint32_t version, kg_error *error);

#endif

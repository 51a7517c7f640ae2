/* kernel.c: see kernel.h. */
#include "model/kernel.h"

#include <string.h>

#include "kg.h"

int kg_variable_count(const kg_kernel *k) {
  return k->dim_count + k->const_count + k->scalar_count;
}

int kg_symbol_count(const kg_kernel *k) {
  return kg_variable_count(k) + k->type_count + k->arg_count;
}

kg_symbol kg_symbol_at(const kg_kernel *k, int number) {
  int i = number;
  if (i < k->dim_count) return (kg_symbol){k->dims[i], KG_DIM, i};
  if ((i -= k->dim_count) < k->const_count) return (kg_symbol){k->consts[i].name, KG_CONST, i};
  if ((i -= k->const_count) < k->scalar_count) return (kg_symbol){k->scalars[i].name, KG_SCALAR, i};
  if ((i -= k->scalar_count) < k->type_count) return (kg_symbol){k->types[i].name, KG_TYPE, i};
  i -= k->type_count;
  return (kg_symbol){k->args[i].name, k->args[i].output ? KG_OUTPUT : KG_INPUT, i};
}

int kg_symbol_find(const kg_kernel *k, const char *name) {
  const int count = kg_symbol_count(k);
  for (int i = 0; i < count; i++)
    if (strcmp(kg_symbol_at(k, i).name, name) == 0) return i;
  return -1;
}

kg_symbol kg_symbol_named(const kg_kernel *k, const char *name) {
  const int number = kg_symbol_find(k, name);
  return number < 0 ? (kg_symbol){NULL, KG_SYMBOL_KINDS, -1} : kg_symbol_at(k, number);
}

int kg_variable(const kg_kernel *k, kg_symbol_kind kind, int index) {
  return index + (kind == KG_DIM     ? 0
                  : kind == KG_CONST ? k->dim_count
                                     : k->dim_count + k->const_count);
}

const char *kg_symbol_kind_name(kg_symbol_kind kind) {
  static const char *const names[KG_SYMBOL_KINDS] = {
      [KG_DIM] = "dim",   [KG_CONST] = "constant", [KG_SCALAR] = "scalar",
      [KG_TYPE] = "type", [KG_INPUT] = "input",    [KG_OUTPUT] = "output"};
  return names[kind];
}

bool kg_type_has(const kg_type_param *type, kg_dtype dtype) {
  for (int i = 0; i < type->count; i++)
    if (type->dtypes[i] == dtype) return true;
  return false;
}

kg_status kg_version_check(uint32_t version, kg_error *error) {
  if (version == KG_TABLES_VERSION) return KG_OK;
  return kg_fail(error, KG_BAD_VERSION,
                 "the kernel's tables were written by another kgen (version %#x of the tables, "
                 "this library's is %#x): run this library's kgen again and compile what it writes",
                 (unsigned)version, (unsigned)KG_TABLES_VERSION);
}

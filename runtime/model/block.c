/* block.c: see block.h. */
#include "model/block.h"

static kg_block_field field_at(const kg_kernel *k, int i) {
  if (i < k->arg_count) {
    const int types = kg_variable_count(k);
    return (kg_block_field){kg_symbol_at(k, types + k->type_count + i), 0, 8};
  }
  if ((i -= k->arg_count) < k->dim_count) return (kg_block_field){kg_symbol_at(k, i), 0, 4};
  i -= k->dim_count;
  return (kg_block_field){kg_symbol_at(k, kg_variable(k, KG_SCALAR, i)), 0,
                          (uint32_t)kg_dtype_bytes(k->scalars[i].dtype)};
}

int kg_block_layout(const kg_kernel *k, kg_block_field fields[KG_MAX_FIELDS], uint32_t *bytes) {
  const int count = k->arg_count + k->dim_count + k->scalar_count;
  uint32_t at = 0;
  for (int i = 0; i < count; i++) {
    kg_block_field *const f = &fields[i];
    *f = field_at(k, i);
    at = (at + f->bytes - 1) / f->bytes * f->bytes;
    f->offset = at;
    at += f->bytes;
  }
  *bytes = at;
  return count;
}

uint32_t kg_block_sizeof(const kg_block_field *fields, int count, uint32_t bytes) {
  uint32_t align = 1;
  for (int i = 0; i < count; i++)
    if (fields[i].bytes > align) align = fields[i].bytes;
  return (bytes + align - 1) / align * align;
}

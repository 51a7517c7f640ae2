/* dtypes.c: the element types, one row each.  A new dtype is a row here, in spec.h's enum and in
** runtime/kg.h's. */
#include "spec/spec.h"

#include <string.h>

const DtypeInfo dtype_info[DTYPES] = {
  [DT_F32] = { "f32", "float32", 4, true },
  [DT_F16] = { "f16", "float16", 2, true },
  [DT_BF16] = { "bf16", "bfloat16", 2, true },
  [DT_I8] = { "i8", "int8", 1, false },
  [DT_U8] = { "u8", "uint8", 1, false },
  [DT_I16] = { "i16", "int16", 2, false },
  [DT_U16] = { "u16", "uint16", 2, false },
  [DT_I32] = { "i32", "int32", 4, false },
  [DT_U32] = { "u32", "uint32", 4, false },
  [DT_I64] = { "i64", "int64", 8, false },
  [DT_U64] = { "u64", "uint64", 8, false },
};

int dtype_find(const char *name) {
  for (int i = 0; i < DTYPES; i++)
    if (strcmp(name, dtype_info[i].name) == 0 || strcmp(name, dtype_info[i].mlx_name) == 0)
      return i;
  return -1;
}

/* host.c: see host.h. */
#include "host.h"

kg_status kg_moe_sum(const float *partial, size_t experts, size_t width, kg_dtype dtype, void *out,
                     kg_error *error) {
  if (dtype != KG_F32 && dtype != KG_F16 && dtype != KG_BF16)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_moe_sum: the result is f32, f16 or bf16, not %s",
                   kg_dtype_name(dtype));
  if (width && (!out || (experts && !partial)))
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_moe_sum: partial and out must not be null");
  for (size_t d = 0; d < width; d++) {
    float sum = 0;
    for (size_t k = 0; k < experts; k++) sum += partial[k * width + d];
    if (dtype == KG_F32)
      ((float *)out)[d] = sum;
    else if (dtype == KG_F16)
      ((uint16_t *)out)[d] = kg_f16_from_f64((double)sum);
    else
      ((uint16_t *)out)[d] = kg_bf16_from_f64((double)sum);
  }
  return KG_OK;
}

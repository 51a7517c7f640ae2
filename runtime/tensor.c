/* tensor.c: a row-contiguous view over memory that someone else owns. */
#include <string.h>

#include "kg.h"

kg_tensor kg_tensor_of(const kg_device *device, void *data, kg_dtype dtype, int rank,
                       const int64_t *shape) {
  kg_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.dtype = dtype;
  t.rank = rank; /* a launcher refuses a rank that does not fit, so it is kept as it came */
  t.device = device;
  if (rank < 0 || rank > KG_MAX_RANK || !shape) return t;
  uint64_t stride = 1; /* may wrap for sizes that a launcher refuses anyway */
  for (int axis = rank - 1; axis >= 0; axis--) {
    t.shape[axis] = shape[axis];
    t.strides[axis] = (int64_t)stride;
    stride *= (uint64_t)shape[axis];
  }
  return t;
}

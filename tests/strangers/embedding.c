#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *ids = ref_find(c, "ids"), *table = ref_find(c, "table");
  const ref_tensor *y = ref_find(c, "y");
  const int64_t V = ref_int(c, "V"), D = ref_int(c, "D");
  for (int64_t i = 0; i < y->count; i++) {
    const int64_t id = ids->whole[i / D];
    y->real[i] = id >= 0 && id < V ? table->real[id * D + i % D] : 0;
  }
}

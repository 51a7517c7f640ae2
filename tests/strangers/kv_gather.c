#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *pages = ref_find(c, "pages"), *table = ref_find(c, "table");
  const ref_tensor *y = ref_find(c, "y");
  const int64_t P = ref_int(c, "P"), size = ref_int(c, "PAGE") * ref_int(c, "D");
  for (int64_t i = 0; i < y->count; i++) {
    const int64_t page = table->whole[i / size];
    y->real[i] = page >= 0 && page < P ? pages->real[page * size + i % size] : 0;
  }
}

#include "plain.h"

/* lower edge <= x < upper edge; the last bin has its upper edge too. */
void reference(ref_call *c) {
  const ref_tensor *x = ref_find(c, "x"), *edges = ref_find(c, "edges");
  const ref_tensor *counts = ref_find(c, "counts");
  for (int64_t b = 0; b < counts->count; b++) {
    const double low = edges->real[b], high = edges->real[b + 1];
    counts->whole[b] = 0;
    for (int64_t i = 0; i < x->count; i++)
      if (x->real[i] >= low &&
          (x->real[i] < high || (b == counts->count - 1 && x->real[i] == high)))
        counts->whole[b]++;
  }
}

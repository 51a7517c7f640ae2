#include "plain.h"

void reference(ref_call *c) {
  const ref_tensor *logits = ref_find(c, "logits"), *target = ref_find(c, "target");
  const ref_tensor *loss = ref_find(c, "loss");
  const int64_t rows = ref_int(c, "rows"), V = ref_int(c, "V");
  for (int64_t r = 0; r < rows; r++) {
    const double *own = logits->real + r * V, top = largest(own, V);
    const int64_t wanted = target->whole[r];
    double sum = 0;
    bool left_out = false;
    for (int64_t i = 0; i < V; i++) {
      if (!left_out && own[i] == top)
        left_out = true;
      else
        sum += exp(own[i] - top);
    }
    put(loss, r, wanted >= 0 && wanted < V ? log1p(sum) - single(own[wanted] - top) : 0);
  }
}

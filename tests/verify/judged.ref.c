/* judged.ref.c: a judge for test_trial.c. */
#include "reference.h"

void reference(ref_call *c) { (void)c; }

const char *judge(const ref_call *want, const ref_call *got) {
  return got->tensors[0].real[0] > want->tensors[0].real[0] + 1 ? "the first one is too large"
                                                                : NULL;
}

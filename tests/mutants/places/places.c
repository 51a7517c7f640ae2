/* The places of kernels.lua beside it, in the order of the threads' numbers: x fastest. */
#include "reference.h"

void reference(ref_call *c) {
  int64_t *place = ref_find(c, "place")->whole;
  const int64_t X = ref_int(c, "X"), Y = ref_int(c, "Y"), Z = ref_int(c, "Z");
  for (int64_t b = 0; b < ref_int(c, "B"); b++)
    for (int64_t a = 0; a < ref_int(c, "A"); a++)
      for (int64_t z = 0; z < Z; z++)
        for (int64_t y = 0; y < Y; y++)
          for (int64_t x = 0; x < X; x++)
            *place++ = x + 100 * y + 1000 * z + 10000 * a + 100000 * b;
}

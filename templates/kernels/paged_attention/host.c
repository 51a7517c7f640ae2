/* host.c: see host.h. */
#include "host.h"

enum {
  SHARED_BYTES = 28 * 1024, /* what a group may use of 32 KiB for its teams' rows */
  MOST_SPLITS = 32,
  LONGEST_HEAD = 1024,
  LONGEST_OF_1024 = 512 /* head that 1024 threads have the registers for */
};

uint32_t kg_paged_splits(uint32_t head_dim, uint32_t wanted) {
  const uint32_t rows = SHARED_BYTES / 4 / (head_dim ? head_dim : 1);
  const uint32_t most = rows < 1 ? 1 : rows > MOST_SPLITS ? MOST_SPLITS : rows;
  return wanted == 0 || wanted > most ? most : wanted;
}

uint32_t kg_paged_threads(uint32_t head_dim) {
  if (head_dim == 0 || head_dim > LONGEST_HEAD) return 0;
  return head_dim > LONGEST_OF_1024 ? 512 : 1024;
}

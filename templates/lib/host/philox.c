/* philox.c: see philox.h. */
#include "philox.h"

#include <string.h>

void kg_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]) {
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                              (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  memcpy(words, c, sizeof c);
}

float kg_philox_uniform(uint32_t word) { return ((float)(word >> 9) + 0.5f) * 0x1p-23f; }

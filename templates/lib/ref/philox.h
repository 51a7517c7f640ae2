/* philox.h: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) and the uniform made of a word. */
#ifndef PHILOX_H
#define PHILOX_H

#include <stdint.h>

static inline void philox4x32_10(uint32_t c[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    c[0] = (uint32_t)(b >> 32) ^ c[1] ^ key0;
    c[2] = (uint32_t)(a >> 32) ^ c[3] ^ key1;
    c[1] = (uint32_t)b;
    c[3] = (uint32_t)a;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

/* Strictly between 0 and 1, from the upper 23 bits. */
static inline double philox_uniform(uint32_t word) { return ((double)(word >> 9) + 0.5) * 0x1p-23; }

#endif

/* text_hash.c: see text_hash.h. */
#include "base/text_hash.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void text_hash(char digits[33], const char *block, const char *text) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, block, strlen(block));
  XXH3_128bits_update(&state, text, strlen(text));
  const XXH128_hash_t h = XXH3_128bits_digest(&state);
  snprintf(digits, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

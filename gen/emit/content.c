/* content.c: the hash of its content that every generated text carries. */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "emit/emit.h"

enum { STAMP_DIGITS = 32 };
static const char stamp_word[] = "content ", stamp_zeros[] = "00000000000000000000000000000000";

/* Where the digits of the first stamp stand. */
static char *find_stamp(const char *text, size_t len) {
  const char *at = text, *end = text + len;
  const size_t word = sizeof stamp_word - 1;
  while ((at = memmem(at, (size_t)(end - at), stamp_word, word)) != NULL) {
    at += word;
    size_t digits = 0;
    while (digits < STAMP_DIGITS && at + digits < end && strchr("0123456789abcdef", at[digits]) &&
           at[digits])
      digits++;
    if (digits == STAMP_DIGITS) return (char *)(uintptr_t)at;
  }
  return NULL;
}

/* Of the text with zeros for its digits. */
static void stamp_digits(const char *text, size_t len, const char *stamp,
                         char digits[STAMP_DIGITS + 1]) {
  XXH3_state_t *state = XXH3_createState();
  if (!state) exhausted("the hash of a text");
  const size_t before = (size_t)(stamp - text);
  XXH3_128bits_reset(state);
  XXH3_128bits_update(state, text, before);
  XXH3_128bits_update(state, stamp_zeros, STAMP_DIGITS);
  XXH3_128bits_update(state, stamp + STAMP_DIGITS, len - before - STAMP_DIGITS);
  const XXH128_hash_t h = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  snprintf(digits, STAMP_DIGITS + 1, "%016llx%016llx", (unsigned long long)h.high64,
           (unsigned long long)h.low64);
}

void content_stamp(char *text, size_t len) {
  char *stamp = find_stamp(text, len), digits[STAMP_DIGITS + 1];
  if (!stamp || memcmp(stamp, stamp_zeros, STAMP_DIGITS) != 0)
    die("a text without a place for its content hash");
  stamp_digits(text, len, stamp, digits);
  memcpy(stamp, digits, STAMP_DIGITS);
}

bool content_holds(const char *text, size_t len) {
  char digits[STAMP_DIGITS + 1];
  const char *stamp = find_stamp(text, len);
  if (!stamp) return false;
  stamp_digits(text, len, stamp, digits);
  return memcmp(stamp, digits, STAMP_DIGITS) == 0;
}

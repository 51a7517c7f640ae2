/* words.c: see words.h. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "words.h"

typedef enum class { SPACE, LETTER, DIGIT, SIGN } class;

/* Classes beyond ASCII; what is in no row is a letter. */
static const struct {
  uint32_t first, last;
  class is;
} ranges[] = {
    {0x80, 0x84, SIGN},      {0x85, 0x85, SPACE},      {0x86, 0x9f, SIGN},
    {0xa0, 0xa0, SPACE},     {0xa1, 0xa9, SIGN},       {0xab, 0xb1, SIGN},
    {0xb2, 0xb3, DIGIT},     {0xb4, 0xb4, SIGN},       {0xb6, 0xb8, SIGN},
    {0xb9, 0xb9, DIGIT},     {0xbb, 0xbb, SIGN},       {0xbc, 0xbe, DIGIT},
    {0xbf, 0xbf, SIGN},      {0xd7, 0xd7, SIGN},       {0xf7, 0xf7, SIGN},
    {0x300, 0x36f, SIGN},    {0x1680, 0x1680, SPACE},  {0x2000, 0x200a, SPACE},
    {0x200b, 0x2027, SIGN},  {0x2028, 0x2029, SPACE},  {0x202a, 0x202e, SIGN},
    {0x202f, 0x202f, SPACE}, {0x2030, 0x205e, SIGN},   {0x205f, 0x205f, SPACE},
    {0x2060, 0x206f, SIGN},  {0x2070, 0x2070, DIGIT},  {0x2074, 0x2079, DIGIT},
    {0x207a, 0x207e, SIGN},  {0x2080, 0x2089, DIGIT},  {0x208a, 0x208e, SIGN},
    {0x20a0, 0x20ff, SIGN},  {0x2150, 0x2189, DIGIT},  {0x2190, 0x245f, SIGN},
    {0x2460, 0x249b, DIGIT}, {0x249c, 0x2bff, SIGN},   {0x3000, 0x3000, SPACE},
    {0x3001, 0x3004, SIGN},  {0x3008, 0x3020, SIGN},   {0xfe00, 0xfe0f, SIGN},
    {0xfffd, 0xfffd, SIGN},  {0x1f000, 0x1faff, SIGN},
};

static class class_of(uint32_t c) {
  if (c == ' ' || (c >= '\t' && c <= '\r')) return SPACE;
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
  if (c >= '0' && c <= '9') return DIGIT;
  if (c < 0x80) return SIGN;
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].is;
  return LETTER;
}

/* The class of the character at a text's start, and its bytes. */
static class next_class(const char *text, size_t bytes, size_t *length) {
  const uint8_t *u = (const uint8_t *)text;
  const size_t size = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : u[0] >= 0xc2 ? 2 : 0;
  uint32_t c = size == 1 ? u[0] : u[0] & (0x7fu >> size);
  *length = 1;
  if (size == 0 || size > bytes || u[0] > 0xf4) return SIGN;
  for (size_t i = 1; i < size; i++) {
    if ((u[i] & 0xc0) != 0x80) return SIGN;
    c = c << 6 | (u[i] & 0x3fu);
  }
  *length = size;
  return class_of(c);
}

static size_t
run_length(const char *text, size_t bytes, class is) {
  size_t at = 0, length;
  while (at < bytes && next_class(text + at, bytes - at, &length) == is) at += length;
  return at;
}

static size_t contraction(const char *text, size_t bytes) {
  static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    const size_t n = strlen(endings[i]);
    if (n <= bytes && memcmp(text, endings[i], n) == 0) return n;
  }
  return 0;
}

/* White space up to its end; what is not at the end of a part leaves its last to the next word. */
static size_t space_length(const char *text, size_t bytes) {
  size_t at = 0, before = 0, length;
  while (at < bytes && next_class(text + at, bytes - at, &length) == SPACE) {
    before = at;
    at += length;
  }
  const bool ends = at == bytes || next_class(text + at, bytes - at, &length) == DIGIT;
  return ends || before == 0 ? at : before;
}

size_t word_length(const char *text, size_t bytes) {
  size_t length;
  const class first = next_class(text, bytes, &length);
  if (first == DIGIT) return length;
  const size_t ending = contraction(text, bytes);
  if (ending) return ending;
  if (first != SPACE) return run_length(text, bytes, first);
  if (text[0] == ' ' && bytes > 1) {
    const class second = next_class(text + 1, bytes - 1, &length);
    if (second == LETTER || second == SIGN) return 1 + run_length(text + 1, bytes - 1, second);
  }
  return space_length(text, bytes);
}

/* plain.c: see plain.h. */
#include "base/plain.h"

#include <string.h>

static bool is_tail(const unsigned char *s, size_t i, size_t len) {
  return i < len && (s[i] & 0xC0) == 0x80;
}

/* Bytes of the character at s[i]; 0: none (cut short, overlong, a surrogate, past U+10FFFF). */
static size_t utf8_length(const unsigned char *s, size_t i, size_t len) {
  const unsigned char c = s[i];
  if (c < 0x80) return 1;
  if (c < 0xC2 || c > 0xF4 || !is_tail(s, i + 1, len)) return 0;
  if (c < 0xE0) return 2;
  const unsigned char second = s[i + 1];
  if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F)) return 0;
  if ((c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F)) return 0;
  if (!is_tail(s, i + 2, len)) return 0;
  if (c < 0xF0) return 3;
  return is_tail(s, i + 3, len) ? 4 : 0;
}

size_t utf8_bad(const char *s, size_t len) {
  const unsigned char *bytes = (const unsigned char *)s;
  for (size_t i = 0; i < len;) {
    const size_t n = utf8_length(bytes, i, len);
    if (n == 0) return i;
    i += n;
  }
  return len;
}

static unsigned code_point(const unsigned char *s, size_t n) {
  unsigned c = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
  for (size_t i = 1; i < n; i++) c = c << 6 | (s[i] & 0x3Fu);
  return c;
}

/* Characters that show as nothing, or make others show elsewhere. */
static const struct {
  unsigned first, last;
  const char *what;
} unseen[] = {
    {0x80, 0x9F, "a control character"},
    {0xAD, 0xAD, "which does not show"},
    {0x61C, 0x61C, "which shows text in another order"},
    {0x200B, 0x200B, "which does not show"},
    {0x200E, 0x200F, "which shows text in another order"},
    {0x2028, 0x2029, "which ends a line for some programs only"},
    {0x202A, 0x202E, "which shows text in another order"},
    {0x2060, 0x2064, "which does not show"},
    {0x2066, 0x2069, "which shows text in another order"},
    {0xFEFF, 0xFEFF, "which does not show"},
    {0xE0000, 0xE007F, "which does not show"},
};

static const char *character_fault(Arena *a, const unsigned char *s, size_t n) {
  const unsigned c = n ? code_point(s, n) : *s;
  if (n == 0) return arena_printf(a, "the byte 0x%02x, which is no UTF-8", c);
  if (c == 0) return "a NUL byte";
  if (c == '\r') return "a carriage return (CR) with no line feed behind it";
  if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
    return arena_printf(a, "the control character 0x%02x", c);
  for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
    if (c >= unseen[i].first && c <= unseen[i].last)
      return arena_printf(a, "the character U+%04X, %s", c, unseen[i].what);
  return NULL;
}

const char *plain_fault(Arena *a, const char *s, size_t len, size_t *at) {
  const unsigned char *bytes = (const unsigned char *)s;
  for (size_t i = 0, n; i < len; i += n) {
    n = utf8_length(bytes, i, len);
    const char *fault = character_fault(a, bytes + i, n);
    if (!fault) continue;
    *at = i;
    return fault;
  }
  return NULL;
}

char *text_read(Arena *a, const char *path, size_t *len, const char **why) {
  static const char mark[] = "\xEF\xBB\xBF";
  char *text = file_read(a, path, len, why);
  if (!text) return NULL;
  size_t from = 0, to = 0;
  if (*len >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) from = strlen(mark);
  for (; from < *len; from++)
    if (text[from] != '\r' || from + 1 == *len || text[from + 1] != '\n') text[to++] = text[from];
  text[to] = 0;
  *len = to;
  return text;
}

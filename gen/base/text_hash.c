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

static bool is_gap(const Token *t) { return t->kind == TOK_SPACE || t->kind == TOK_COMMENT; }

/* A directive's tokens, with a space where there is any: #define F (x) is not #define F(x). */
static void put_directive(Arena *a, Buf *out, const Token *directive) {
  int count;
  const Token *t = lex(a, directive->s + 1, (size_t)directive->len - 1, &count);
  int i = 0;
  while (i < count && is_gap(&t[i])) i++;
  if (i < count && token_is(&t[i], "line")) return;
  buf_puts(out, "#\n");
  bool gap = false;
  for (; i < count; i++) {
    if (!is_gap(&t[i])) buf_printf(out, "%s%.*s\n", gap ? " " : "", t[i].len, t[i].s);
    gap = is_gap(&t[i]);
  }
  buf_puts(out, "\n"); /* its end */
}

const char *text_tokens(Arena *a, const char *text) {
  int count;
  Buf out = {0};
  const Token *t = lex(a, text, strlen(text), &count);
  for (int i = 0; i < count; i++) {
    if (t[i].kind == TOK_DIRECTIVE)
      put_directive(a, &out, &t[i]);
    else if (!is_gap(&t[i]))
      buf_printf(&out, "%.*s\n", t[i].len, t[i].s);
  }
  const char *s = arena_strndup(a, out.s ? out.s : "", out.len);
  buf_free(&out);
  return s;
}

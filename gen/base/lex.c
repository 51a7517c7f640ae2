/* lex.c: enough of C++ to substitute words and leave the rest as it is.
**
** The tokens of a text cover it without gaps, so joining them gives the text back.  An unterminated
** comment or string runs to the end of the text (of the line, for strings); it is libclang that
** complains about it. */
#include "base/lex.h"

#include <string.h>

static bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* The end of a line that starts at s, over lines joined by a backslash; the newline is not part of
** it. */
static const char *line_end(const char *s, const char *end) {
  for (; s < end && *s != '\n'; s++)
    if (*s == '\\' && s + 1 < end) s++;
  return s < end ? s : end;
}

static const char *comment_end(const char *s, const char *end) {
  if (s[1] == '/') return line_end(s, end);
  for (s += 2; s + 1 < end; s++)
    if (s[0] == '*' && s[1] == '/') return s + 2;
  return end;
}

static const char *quoted_end(const char *s, const char *end) {
  const char quote = *s++;
  for (; s < end && *s != '\n'; s++) {
    if (*s == '\\' && s + 1 < end)
      s++;
    else if (*s == quote)
      return s + 1;
  }
  return s < end ? s : end;
}

/* A preprocessing number: digits, letters, dots, digit separators and signed exponents. */
static const char *number_end(const char *s, const char *end) {
  for (; s < end; s++) {
    const bool sign = (*s == '+' || *s == '-') && strchr("eEpP", s[-1]) != NULL;
    if (!is_digit(*s) && !starts_name(*s) && *s != '.' && *s != '\'' && !sign) break;
  }
  return s;
}

static const char *const puncts[] = {"<<=", ">>=", "...", "->*", "->", "++", "--", "<<", ">>",
                                     "<=",  ">=",  "==",  "!=",  "&&", "||", "+=", "-=", "*=",
                                     "/=",  "%=",  "&=",  "|=",  "^=", "::", "##"};

static const char *punct_end(const char *s, const char *end) {
  for (size_t i = 0; i < sizeof puncts / sizeof *puncts; i++) {
    if (puncts[i][0] != *s) continue;
    const size_t n = strlen(puncts[i]);
    if ((size_t)(end - s) >= n && memcmp(s, puncts[i], n) == 0) return s + n;
  }
  return s + 1;
}

/* One token from s on; line_start says that only space stands before it on its line. */
static const char *token_end(const char *s, const char *end, bool line_start, TokenKind *kind) {
  const char next = s + 1 < end ? s[1] : '\0';
  if (is_space(*s)) {
    *kind = TOK_SPACE;
    while (s < end && is_space(*s)) s++;
    return s;
  }
  if (*s == '/' && (next == '/' || next == '*')) {
    *kind = TOK_COMMENT;
    return comment_end(s, end);
  }
  if (*s == '#' && line_start) {
    *kind = TOK_DIRECTIVE;
    return line_end(s, end);
  }
  if (starts_name(*s)) {
    *kind = TOK_NAME;
    while (s < end && (starts_name(*s) || is_digit(*s))) s++;
    return s;
  }
  if (is_digit(*s) || (*s == '.' && is_digit(next))) {
    *kind = TOK_NUMBER;
    return number_end(s + 1, end);
  }
  if (*s == '"' || *s == '\'') {
    *kind = *s == '"' ? TOK_STRING : TOK_CHAR;
    return quoted_end(s, end);
  }
  *kind = TOK_PUNCT;
  return punct_end(s, end);
}

Token *lex(Arena *a, const char *text, size_t len, int *count) {
  /* One token a character is the most there can be; arenas are freed whole, so count first
     instead. */
  Token *tokens = NULL;
  for (int pass = 0; pass < 2; pass++) {
    int n = 0, line = 1;
    bool line_start = true;
    for (const char *s = text, *end = text + len; s < end; n++) {
      TokenKind kind;
      const char *stop = token_end(s, end, line_start, &kind);
      if (tokens != NULL) tokens[n] = (Token){kind, s, (int)(stop - s), line};
      bool newline = false;
      for (; s < stop; s++)
        if (*s == '\n') newline = true, line++;
      line_start = kind == TOK_SPACE ? line_start || newline : kind == TOK_COMMENT && line_start;
    }
    if (tokens == NULL) tokens = arena_alloc(a, ((size_t)n + 1) * sizeof *tokens);
    *count = n;
  }
  return tokens;
}

bool token_is(const Token *t, const char *s) {
  return strlen(s) == (size_t)t->len && memcmp(t->s, s, (size_t)t->len) == 0;
}

bool token_blank(const Token *t) { return t->kind == TOK_SPACE || t->kind == TOK_COMMENT; }

int token_from(const Token *t, int count, int i) {
  while (i < count && token_blank(&t[i])) i++;
  return i;
}

/* lex.h: enough of C++ to substitute words and leave the rest as it is. */
#ifndef KGEN_BASE_LEX_H
#define KGEN_BASE_LEX_H

#include "base/arena.h"

typedef enum TokenKind {
  TOK_SPACE,
  TOK_COMMENT,
  TOK_NAME,
  TOK_NUMBER,
  TOK_STRING,
  TOK_CHAR,
  TOK_PUNCT,
  TOK_DIRECTIVE
} TokenKind;
typedef struct Token {
  TokenKind kind;
  const char *s;
  int len;
  int line;
} Token;
/* The tokens of text cover it entirely. */
Token *lex(Arena *a, const char *text, size_t len, int *count);
bool token_is(const Token *t, const char *s);
bool token_blank(const Token *t); /* space or a comment */
/* The first token from i on that is neither; count: there is none. */
int token_from(const Token *t, int count, int i);

#endif

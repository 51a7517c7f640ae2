/* scan.c: Lua's text as tokens.  See scan.h. */
#include "spec/scan.h"

#include <ctype.h>
#include <string.h>

/* After `[`: the number of = in a long bracket that opens there; -1: none. */
static int long_level(const LuaScan *s, const char *p) {
  int n = 0;
  for (; p < s->end && *p == '='; p++) n++;
  return p < s->end && *p == '[' ? n : -1;
}

static const char *past_long(LuaScan *s, const char *p, int level) {
  for (p += level + 1; p < s->end; p++) {
    if (*p == '\n') s->line++;
    if (*p != ']') continue;
    const char *q = p + 1;
    while (q < s->end && *q == '=') q++;
    if (q < s->end && *q == ']' && q - p - 1 == level) return q + 1;
  }
  return s->end;
}

static const char *past_quoted(LuaScan *s, const char *p) {
  const char quote = *p++;
  for (; p < s->end && *p != quote; p++) {
    if (*p == '\\' && p + 1 < s->end) p++;
    if (*p == '\n') s->line++;
  }
  return p < s->end ? p + 1 : p;
}

static void skip_blanks(LuaScan *s) {
  while (s->at < s->end) {
    const char *p = s->at;
    if (isspace((unsigned char)*p)) {
      if (*p == '\n') s->line++;
      s->at++;
    } else if (*p == '-' && p + 1 < s->end && p[1] == '-') {
      const int level = p + 2 < s->end && p[2] == '[' ? long_level(s, p + 3) : -1;
      if (level >= 0)
        s->at = past_long(s, p + 3, level);
      else
        while (s->at < s->end && *s->at != '\n') s->at++;
    } else {
      return;
    }
  }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

void lua_scan(LuaScan *s) {
  skip_blanks(s);
  const char *p = s->at;
  s->tok = (LuaToken){LUA_END, p, 0, s->line};
  if (p == s->end) return;
  if (isdigit((unsigned char)*p)) {
    s->tok.kind = LUA_DIGITS;
    while (p < s->end &&
           (is_word(*p) || *p == '.' || ((*p == '-' || *p == '+') && strchr("eEpP", p[-1]))))
      p++;
  } else if (is_word(*p)) {
    s->tok.kind = LUA_NAME;
    while (p < s->end && is_word(*p)) p++;
  } else if (*p == '"' || *p == '\'') {
    s->tok.kind = LUA_STRING;
    p = past_quoted(s, p);
  } else if (*p == '[' && long_level(s, p + 1) >= 0) {
    s->tok.kind = LUA_STRING;
    p = past_long(s, p + 1, long_level(s, p + 1));
  } else {
    s->tok.kind = LUA_SIGN;
    p += p + 1 < s->end && strchr("=~<>", *p) && p[1] == '=' ? 2 : 1;
  }
  s->tok.len = (int)(p - s->tok.s);
  s->at = p;
}

bool lua_is_sign(const LuaToken *t, char c) {
  return t->kind == LUA_SIGN && t->len == 1 && *t->s == c;
}

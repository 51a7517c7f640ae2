/* scan.h: Lua's text as tokens, for what Lua itself does not tell: where a field stands (where.c), and
** what it drops without a word (dropped.c). */
#ifndef KGEN_SPEC_SCAN_H
#define KGEN_SPEC_SCAN_H

#include "spec/read.h"

typedef enum LuaKind { LUA_END, LUA_NAME, LUA_STRING, LUA_DIGITS, LUA_SIGN } LuaKind;
typedef struct LuaToken {
  LuaKind kind;
  const char *s;
  int len, line;
} LuaToken;

typedef struct LuaScan {
  Arena *a;
  const char *at, *end;
  int line;
  LuaToken tok;
} LuaScan;

void lua_scan(LuaScan *s); /* the next token, past blanks and comments */
bool lua_is_sign(const LuaToken *t, char c);

#endif

/* where.c: where in the file a field of a kernel's table stands.  See read.h.
**
** Lua knows the line of the call only.  This reads the table's text again, as far as its shape goes
** (braces, keys, commas), so that a fault has the line of the value at fault.  What is made by
** loops and functions has no text of its own; then the line of the nearest thing that has one
** stands in. */
#include <string.h>

#include "spec/scan.h"

enum { DEPTH_MOST = 16 }; /* a specification nests five deep */

/* Stands on the first token of an expression; goes to the comma, semicolon or brace that ends
** it. */
static void skip_value(LuaScan *s) {
  for (int depth = 0; s->tok.kind != LUA_END; lua_scan(s)) {
    const char c = s->tok.kind == LUA_SIGN && s->tok.len == 1 ? *s->tok.s : 0;
    if (depth == 0 && (c == ',' || c == ';' || c == '}')) return;
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ')' || c == ']' || c == '}') depth--;
  }
}

/* A key that is written out; "" for one that is computed.  Leaves the scan on the value. */
static const char *read_key(LuaScan *s) {
  const LuaToken first = s->tok;
  if (first.kind == LUA_NAME) {
    const LuaScan before = *s;
    lua_scan(s);
    if (lua_is_sign(&s->tok, '=')) {
      lua_scan(s);
      return arena_strndup(s->a, first.s, (size_t)first.len);
    }
    *s = before;
    return NULL;
  }
  if (!lua_is_sign(&first, '[')) return NULL;
  const char *key = "";
  lua_scan(s);
  if (s->tok.kind == LUA_STRING && s->tok.len >= 2)
    key = arena_strndup(s->a, s->tok.s + 1, (size_t)s->tok.len - 2);
  while (s->tok.kind != LUA_END && !lua_is_sign(&s->tok, '=')) lua_scan(s);
  lua_scan(s);
  return key;
}

/* Stands after the opening brace; returns the entries, standing on the closing one. */
static Where *read_table(LuaScan *s, int depth) {
  Where *first = NULL, **link = &first;
  int index = 0;
  while (s->tok.kind != LUA_END && !lua_is_sign(&s->tok, '}')) {
    if (lua_is_sign(&s->tok, ',') || lua_is_sign(&s->tok, ';')) {
      lua_scan(s);
      continue;
    }
    Where *w = arena_alloc(s->a, sizeof *w);
    w->line = s->tok.line;
    w->key = read_key(s);
    if (!w->key) w->index = ++index;
    if (s->tok.kind != LUA_END) w->line = s->tok.line;
    if (lua_is_sign(&s->tok, '{') && depth < DEPTH_MOST) {
      lua_scan(s);
      w->first = read_table(s, depth + 1);
      lua_scan(s);
    }
    skip_value(s);
    *link = w;
    link = &w->next;
  }
  return first;
}

/* After the word `kernel`, or a function's name: whether the name and an opening brace follow. */
static bool read_head(LuaScan *s, const char *name, bool *named) {
  lua_scan(s);
  if (lua_is_sign(&s->tok, '(')) lua_scan(s);
  *named = s->tok.kind == LUA_STRING && (size_t)s->tok.len == strlen(name) + 2 &&
           strncmp(s->tok.s + 1, name, strlen(name)) == 0;
  for (int n = 0; n < 8 && s->tok.kind != LUA_END && !lua_is_sign(&s->tok, '{'); n++) lua_scan(s);
  return lua_is_sign(&s->tok, '{');
}

const Where *spec_where(Arena *a, const SpecSource *source, int line, const char *name) {
  if (line < 1 || line > source->line_count) return NULL;
  LuaScan s = {
      .a = a, .at = source->lines[line - 1], .end = source->text + source->len, .line = line};
  LuaScan found = {0};
  for (lua_scan(&s); s.tok.kind != LUA_END && s.tok.line == line; lua_scan(&s)) {
    if (s.tok.kind != LUA_NAME) continue;
    const bool word = s.tok.len == 6 && strncmp(s.tok.s, "kernel", 6) == 0;
    LuaScan t = s;
    bool named;
    if (read_head(&t, name, &named) && (named || (word && !found.at))) found = t;
    if (named) break;
  }
  if (!found.at) return NULL;
  Where *top = arena_alloc(a, sizeof *top);
  top->line = line;
  lua_scan(&found);
  top->first = read_table(&found, 0);
  return top;
}

const Where *where_key(const Where *table, const char *key) {
  for (const Where *w = table ? table->first : NULL; w; w = w->next)
    if (w->key && strcmp(w->key, key) == 0) return w;
  return NULL;
}

const Where *where_item(const Where *table, int index) {
  for (const Where *w = table ? table->first : NULL; w; w = w->next)
    if (!w->key && w->index == index) return w;
  return NULL;
}

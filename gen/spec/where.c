/* where.c: where in the file a field of a kernel's table stands.  See read.h.
**
** Lua knows the line of the call only.  This reads the table's text again, as far as its shape goes
** (braces, keys, commas), so that a fault has the line of the value at fault.  What is made by
** loops and functions has no text of its own; then the line of the nearest thing that has one
** stands in. */
#include <ctype.h>
#include <string.h>

#include "spec/read.h"

enum { DEPTH_MOST = 16 }; /* a specification nests five deep */

typedef enum Kind { T_END, T_NAME, T_STRING, T_NUMBER, T_SIGN } Kind;
typedef struct Tok {
  Kind kind;
  const char *s;
  int len, line;
} Tok;
typedef struct Scan {
  Arena *a;
  const char *at, *end;
  int line;
  Tok tok;
} Scan;

/* After `[`: the number of = in a long bracket that opens there; -1: none. */
static int long_level(const Scan *s, const char *p) {
  int n = 0;
  for (; p < s->end && *p == '='; p++) n++;
  return p < s->end && *p == '[' ? n : -1;
}

static const char *past_long(Scan *s, const char *p, int level) {
  for (p += level + 1; p < s->end; p++) {
    if (*p == '\n') s->line++;
    if (*p != ']') continue;
    const char *q = p + 1;
    while (q < s->end && *q == '=') q++;
    if (q < s->end && *q == ']' && q - p - 1 == level) return q + 1;
  }
  return s->end;
}

static const char *past_quoted(Scan *s, const char *p) {
  const char quote = *p++;
  for (; p < s->end && *p != quote; p++) {
    if (*p == '\\' && p + 1 < s->end) p++;
    if (*p == '\n') s->line++;
  }
  return p < s->end ? p + 1 : p;
}

static void skip_blanks(Scan *s) {
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

static void next(Scan *s) {
  skip_blanks(s);
  const char *p = s->at;
  s->tok = (Tok){T_END, p, 0, s->line};
  if (p == s->end) return;
  if (isdigit((unsigned char)*p)) {
    s->tok.kind = T_NUMBER;
    while (p < s->end &&
           (is_word(*p) || *p == '.' || ((*p == '-' || *p == '+') && strchr("eEpP", p[-1]))))
      p++;
  } else if (is_word(*p)) {
    s->tok.kind = T_NAME;
    while (p < s->end && is_word(*p)) p++;
  } else if (*p == '"' || *p == '\'') {
    s->tok.kind = T_STRING;
    p = past_quoted(s, p);
  } else if (*p == '[' && long_level(s, p + 1) >= 0) {
    s->tok.kind = T_STRING;
    p = past_long(s, p + 1, long_level(s, p + 1));
  } else {
    s->tok.kind = T_SIGN;
    p += p + 1 < s->end && strchr("=~<>", *p) && p[1] == '=' ? 2 : 1;
  }
  s->tok.len = (int)(p - s->tok.s);
  s->at = p;
}

static bool is_sign(const Tok *t, char c) { return t->kind == T_SIGN && t->len == 1 && *t->s == c; }

/* Stands on the first token of an expression; goes to the comma, semicolon or brace that ends
** it. */
static void skip_value(Scan *s) {
  for (int depth = 0; s->tok.kind != T_END; next(s)) {
    const char c = s->tok.kind == T_SIGN && s->tok.len == 1 ? *s->tok.s : 0;
    if (depth == 0 && (c == ',' || c == ';' || c == '}')) return;
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ')' || c == ']' || c == '}') depth--;
  }
}

/* A key that is written out; "" for one that is computed.  Leaves the scan on the value. */
static const char *read_key(Scan *s) {
  const Tok first = s->tok;
  if (first.kind == T_NAME) {
    const Scan before = *s;
    next(s);
    if (is_sign(&s->tok, '=')) {
      next(s);
      return arena_strndup(s->a, first.s, (size_t)first.len);
    }
    *s = before;
    return NULL;
  }
  if (!is_sign(&first, '[')) return NULL;
  const char *key = "";
  next(s);
  if (s->tok.kind == T_STRING && s->tok.len >= 2)
    key = arena_strndup(s->a, s->tok.s + 1, (size_t)s->tok.len - 2);
  while (s->tok.kind != T_END && !is_sign(&s->tok, '=')) next(s);
  next(s);
  return key;
}

/* Stands after the opening brace; returns the entries, standing on the closing one. */
static Where *read_table(Scan *s, int depth) {
  Where *first = NULL, **link = &first;
  int index = 0;
  while (s->tok.kind != T_END && !is_sign(&s->tok, '}')) {
    if (is_sign(&s->tok, ',') || is_sign(&s->tok, ';')) {
      next(s);
      continue;
    }
    Where *w = arena_alloc(s->a, sizeof *w);
    w->line = s->tok.line;
    w->key = read_key(s);
    if (!w->key) w->index = ++index;
    if (s->tok.kind != T_END) w->line = s->tok.line;
    if (is_sign(&s->tok, '{') && depth < DEPTH_MOST) {
      next(s);
      w->first = read_table(s, depth + 1);
      next(s);
    }
    skip_value(s);
    *link = w;
    link = &w->next;
  }
  return first;
}

/* After the word `kernel`: whether the name and an opening brace follow. */
static bool read_head(Scan *s, const char *name, bool *named) {
  next(s);
  if (is_sign(&s->tok, '(')) next(s);
  *named = s->tok.kind == T_STRING && (size_t)s->tok.len == strlen(name) + 2 &&
           strncmp(s->tok.s + 1, name, strlen(name)) == 0;
  for (int n = 0; n < 8 && s->tok.kind != T_END && !is_sign(&s->tok, '{'); n++) next(s);
  return is_sign(&s->tok, '{');
}

const Where *spec_where(Arena *a, const SpecSource *source, int line, const char *name) {
  if (line < 1 || line > source->line_count) return NULL;
  Scan s = {.a = a, .at = source->lines[line - 1], .end = source->text + source->len, .line = line};
  Scan found = {0};
  for (next(&s); s.tok.kind != T_END && s.tok.line == line; next(&s)) {
    if (s.tok.kind != T_NAME || s.tok.len != 6 || strncmp(s.tok.s, "kernel", 6) != 0) continue;
    Scan t = s;
    bool named;
    if (read_head(&t, name, &named) && (named || !found.at)) found = t;
    if (named) break;
  }
  if (!found.at) return NULL;
  Where *top = arena_alloc(a, sizeof *top);
  top->line = line;
  next(&found);
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

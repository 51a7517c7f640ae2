/* lexer.c: the tokens of a text.  See source.h. */
#include <string.h>

#include "lint/source.h"

/* The text with its joined lines joined. */
typedef struct Lexer {
  Project *project;
  Source *source;
  const char *text; /* as it stands */
  size_t length;
  const char *s; /* joined */
  size_t n;
  const uint32_t *origin; /* where each byte of s stands in text; NULL: there */
  size_t i;
  bool rust, fresh, directive; /* fresh: nothing stands before on this line */
  Tok *out;
  int count, room;
} Lexer;

static bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char at(const Lexer *l, size_t i) { return i < l->n ? l->s[i] : '\0'; }
static uint32_t origin_of(const Lexer *l, size_t i) {
  return l->origin ? l->origin[i] : (uint32_t)i;
}

/* The bytes of a joint: backslash, end of line; 0: none begins here. */
static size_t joint(const char *s, size_t left) {
  if (left < 2 || s[0] != '\\') return 0;
  if (s[1] == '\n') return 2;
  return left > 2 && s[1] == '\r' && s[2] == '\n' ? 3 : 0;
}

static void join_lines(Lexer *l) {
  bool any = false;
  for (size_t i = 0; i < l->length && !any; i++) any = joint(l->text + i, l->length - i) > 0;
  l->s = l->text, l->n = l->length;
  if (!any || l->rust) return;
  char *s = arena_alloc(l->project->arena, l->length + 1);
  uint32_t *origin = arena_alloc(l->project->arena, (l->length + 1) * sizeof *origin);
  size_t n = 0;
  for (size_t i = 0; i < l->length;) {
    const size_t skip = joint(l->text + i, l->length - i);
    i += skip;
    if (skip) continue;
    s[n] = l->text[i];
    origin[n++] = (uint32_t)i++;
  }
  origin[n] = (uint32_t)l->length;
  l->s = s, l->n = n, l->origin = origin;
}

static void put(Lexer *l, Kind kind, const char *s, size_t len, size_t from) {
  GROW(l->project->arena, l->out, l->count, l->room);
  l->out[l->count++] = (Tok){word_of(l->project, s, len), origin_of(l, from), kind};
  l->fresh = false;
}

static void skip_comment(Lexer *l) {
  if (at(l, l->i + 1) == '/') {
    while (l->i < l->n && l->s[l->i] != '\n') l->i++;
    return;
  }
  int depth = 0;
  for (; l->i < l->n; l->i++) {
    if (l->s[l->i] == '*' && at(l, l->i + 1) == '/') {
      l->i++;
      if (--depth == 0 || !l->rust) break;
    } else if (l->s[l->i] == '/' && at(l, l->i + 1) == '*') {
      l->i++, depth++;
    }
  }
  l->i = l->i < l->n ? l->i + 1 : l->n;
}

/* "..." or '...' from its quote at i on; Rust's strings may have several lines. */
static void put_quoted(Lexer *l, size_t from, size_t i) {
  const char quote = l->s[i++];
  while (i < l->n && l->s[i] != quote) {
    if (l->s[i] == '\n' && !l->rust) break;
    i += l->s[i] == '\\' ? 2 : 1;
  }
  if (i > l->n) i = l->n;
  if (at(l, i) == quote) i++;
  put(l, quote == '"' ? K_STRING : K_CHAR, l->s + from, i - from, from);
  l->i = i;
}

/* R"mark( ... )mark": as the text has it, joints and all. */
static void put_raw(Lexer *l, size_t from, size_t quote) {
  const size_t start = origin_of(l, quote) + 1;
  size_t open = start;
  while (open < l->length && l->text[open] != '(' && open - start <= 16) open++;
  const size_t mark = open - start;
  size_t end = open + 1;
  for (; end < l->length; end++)
    if (l->text[end] == ')' && l->length - end > mark + 1 && l->text[end + 1 + mark] == '"' &&
        memcmp(l->text + end + 1, l->text + start, mark) == 0)
      break;
  end = end < l->length ? end + mark + 2 : l->length;
  const size_t first = origin_of(l, from);
  put(l, K_RAW, l->text + first, end - first, from);
  size_t i = quote;
  while (i < l->n && origin_of(l, i) < end) i++;
  l->i = i;
}

/* r#"..."# */
static void put_rust_raw(Lexer *l, size_t from, size_t hashes, size_t quote) {
  size_t i = quote + 1;
  for (; i < l->n; i++) {
    if (l->s[i] != '"') continue;
    size_t k = 0;
    while (k < hashes && at(l, i + 1 + k) == '#') k++;
    if (k == hashes) break;
  }
  i = i < l->n ? i + 1 + hashes : l->n;
  put(l, K_RAW, l->s + from, i - from, from);
  l->i = i;
}

static void put_name(Lexer *l) {
  const size_t from = l->i;
  size_t i = from;
  while (i < l->n && (starts_name(l->s[i]) || is_digit(l->s[i]))) i++;
  const size_t len = i - from;
  const char *s = l->s + from;
  if (l->rust && len <= 2 && (s[len - 1] == 'r') && (at(l, i) == '"' || at(l, i) == '#')) {
    size_t hashes = 0;
    while (at(l, i + hashes) == '#') hashes++;
    if (at(l, i + hashes) == '"') {
      put_rust_raw(l, from, hashes, i + hashes);
      return;
    }
    if (len == 1 && hashes == 1 && starts_name(at(l, i + 1))) { /* r#type */
      l->i = i + 1;
      put_name(l);
      return;
    }
  }
  const bool short_prefix = len <= 3 && (at(l, i) == '"' || at(l, i) == '\'');
  if (short_prefix && !l->rust && at(l, i) == '"' && s[len - 1] == 'R' &&
      (len == 1 || (len == 2 && strchr("uUL", s[0])) || memcmp(s, "u8R", 3) == 0)) {
    put_raw(l, from, i);
    return;
  }
  const bool prefix =
      l->rust ? len == 1 && strchr("bc", s[0])
              : (len == 1 && strchr("uUL", s[0])) || (len == 2 && memcmp(s, "u8", 2) == 0);
  if (short_prefix && prefix && (!l->rust || at(l, i) == '"' || s[0] == 'b')) {
    put_quoted(l, from, i);
    return;
  }
  put(l, K_NAME, s, len, from);
  l->i = i;
}

static void put_number(Lexer *l) {
  const size_t from = l->i;
  size_t i = from + 1;
  for (; i < l->n; i++) {
    const char c = l->s[i], before = l->s[i - 1];
    const bool hex = at(l, from + 1) == 'x' || at(l, from + 1) == 'X';
    const bool sign = (c == '+' || c == '-') && strchr(hex ? "pP" : "eEpP", before) != NULL;
    const bool digits = starts_name(c) || is_digit(c) || sign;
    const bool quote =
        !l->rust && c == '\'' && (is_digit(at(l, i + 1)) || starts_name(at(l, i + 1)));
    const bool dot = c == '.' && (!l->rust || (at(l, i + 1) != '.' && !starts_name(at(l, i + 1))));
    if (!digits && !quote && !dot) break;
  }
  put(l, K_NUMBER, l->s + from, i - from, from);
  l->i = i;
}

/* 'a' and '\n' are characters, 'a alone is a lifetime. */
static void put_rust_quote(Lexer *l) {
  const size_t from = l->i;
  if (at(l, from + 1) == '\\') {
    put_quoted(l, from, from);
    return;
  }
  size_t i = from + 1;
  do i++;
  while (i < l->n && ((unsigned char)l->s[i] & 0xC0) == 0x80); /* one character of UTF-8 */
  if (at(l, i) == '\'') {
    put(l, K_CHAR, l->s + from, i + 1 - from, from);
    l->i = i + 1;
    return;
  }
  i = from + 1;
  while (i < l->n && (starts_name(l->s[i]) || is_digit(l->s[i]))) i++;
  l->i = i; /* a lifetime says nothing here */
}

static void put_sign(Lexer *l) {
  static const char *const signs[] = {"<<=", ">>=", "...", "->*", "<=>", "..=", "->", "++",
                                      "--",  "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&",
                                      "||",  "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=",
                                      "^=",  "::",  "##",  "=>",  ".."};
  static const char *const digraphs[][2] = {
      {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}, {"%:", "#"}};
  const size_t from = l->i;
  const bool scope = l->s[from] == '<' && at(l, from + 1) == ':' && at(l, from + 2) == ':';
  for (size_t k = 0; k < sizeof digraphs / sizeof *digraphs && !l->rust && !scope; k++)
    if (l->s[from] == digraphs[k][0][0] && at(l, from + 1) == digraphs[k][0][1]) {
      put(l, K_SIGN, digraphs[k][1], 1, from);
      l->i += 2;
      return;
    }
  size_t n = 1;
  for (size_t k = 0; k < sizeof signs / sizeof *signs && n == 1; k++) {
    const size_t len = strlen(signs[k]);
    const bool rusty = strcmp(signs[k], "=>") == 0 || signs[k][0] == '.';
    if (rusty && !l->rust && strcmp(signs[k], "...") != 0) continue;
    if (l->n - from >= len && memcmp(l->s + from, signs[k], len) == 0) n = len;
  }
  put(l, K_SIGN, l->s + from, n, from);
  l->i += n;
}

/* `and`, `or`, `not`: C++ has them for signs. */
static void respell(Lexer *l) {
  static const int alternatives[][2] = {{W_ALT_AND, W_ANDAND}, {W_ALT_OR, W_OROR},
                                        {W_ALT_NOT, W_NOT},    {W_ALT_NE, W_NE},
                                        {W_ALT_BITOR, W_OR},   {W_ALT_BITAND, W_AND}};
  for (int i = 0; i < l->count; i++)
    for (size_t k = 0; k < sizeof alternatives / sizeof *alternatives; k++)
      if (l->out[i].kind == K_NAME && l->out[i].word == alternatives[k][0]) {
        l->out[i].word = alternatives[k][1];
        l->out[i].kind = K_SIGN;
      }
}

static void lex_one(Lexer *l) {
  const char c = l->s[l->i], next = at(l, l->i + 1);
  if (c == '\n') {
    if (l->directive) put(l, K_EOL, "", 0, l->i);
    l->directive = false, l->fresh = true, l->i++;
  } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
    l->i++;
  } else if (c == '/' && (next == '/' || next == '*')) {
    skip_comment(l);
  } else if (c == '#' && l->fresh && !l->rust) {
    put(l, K_HASH, "#", 1, l->i);
    l->directive = true, l->i++;
  } else if (starts_name(c)) {
    put_name(l);
  } else if (is_digit(c) || (c == '.' && is_digit(next) && !l->rust)) {
    put_number(l);
  } else if (c == '"') {
    put_quoted(l, l->i, l->i);
  } else if (c == '\'') {
    if (l->rust)
      put_rust_quote(l);
    else
      put_quoted(l, l->i, l->i);
  } else {
    put_sign(l);
  }
}

static void lex_all(Lexer *l) {
  l->fresh = true;
  join_lines(l);
  while (l->i < l->n) lex_one(l);
  if (l->directive) put(l, K_EOL, "", 0, l->n);
  if (!l->rust) respell(l);
}

void source_lex(Project *p, Source *s) {
  Lexer l = {
      .project = p, .source = s, .text = s->text, .length = s->len, .rust = s->lang == LANG_RUST};
  lex_all(&l);
  s->raw = l.out, s->raw_count = l.count;
}

Tok *text_lex(Project *p, const char *text, size_t len, int *count) {
  Lexer l = {.project = p, .text = text, .length = len};
  lex_all(&l);
  *count = l.count;
  return l.out;
}

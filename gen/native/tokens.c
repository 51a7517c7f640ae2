/* tokens.c: a preprocessed text as words.  See native.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

static bool begins_word(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$'; }
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* Past a number: digits, letters, points, and the sign of an exponent. */
static size_t number_end(const char *s, size_t at) {
  while (in_word(s[at]) || s[at] == '.' || (s[at] == '\'' && in_word(s[at + 1])) ||
         ((s[at] == '+' || s[at] == '-') && strchr("eEpP", s[at - 1]) != NULL))
    at++;
  return at;
}

static size_t string_end(const char *s, size_t at) {
  const char quote = s[at++];
  for (; s[at] && s[at] != quote && s[at] != '\n'; at++)
    if (s[at] == '\\' && s[at + 1]) at++;
  return at + (s[at] == quote);
}

/* `# 12 "x.cu" 2`, at the line's begin; the end of the line. */
static size_t take_place(NativeText *t, size_t at) {
  const size_t end = at + strcspn(t->s + at, "\n");
  char *after;
  const long line = strtol(t->s + at + 1, &after, 10);
  const char *quote = strchr(after, '"');
  if (line > 0 && quote && quote < t->s + end) {
    const char *close = t->s + string_end(t->s, (size_t)(quote - t->s)) - 1;
    GROW(t->arena, t->places, t->place_count, t->place_room);
    t->places[t->place_count++] = (LineMark){
        end + 1, (int)line, arena_strndup(t->arena, quote + 1, (size_t)(close - quote - 1))};
  }
  return end;
}

void native_tokens(NativeText *t) {
  bool fresh = true; /* nothing but white space on this line so far */
  for (size_t at = 0; t->s[at];) {
    const char c = t->s[at];
    if (isspace((unsigned char)c)) {
      fresh = fresh || c == '\n';
      at++;
      continue;
    }
    if (c == '#' && fresh) {
      at = take_place(t, at);
      continue;
    }
    fresh = false;
    size_t end = at + 1;
    NativeTokenKind kind = TOKEN_MARK;
    if (begins_word(c)) {
      while (in_word(t->s[end])) end++;
      kind = TOKEN_WORD;
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)t->s[at + 1]))) {
      end = number_end(t->s, at + 1);
      kind = TOKEN_NUMBER;
    } else if (c == '"' || c == '\'') {
      end = string_end(t->s, at);
      kind = TOKEN_STRING;
    }
    GROW(t->arena, t->tokens, t->count, t->room);
    t->tokens[t->count++] = (NativeToken){kind, at, end - at};
    at = end;
  }
}

bool native_is(const NativeText *t, int i, const char *word) {
  if (i < 0 || i >= t->count) return false;
  const NativeToken *k = &t->tokens[i];
  return strlen(word) == k->length && memcmp(t->s + k->at, word, k->length) == 0;
}

bool native_mark(const NativeText *t, int i, char mark) {
  return i >= 0 && i < t->count && t->tokens[i].kind == TOKEN_MARK && t->s[t->tokens[i].at] == mark;
}

const char *native_word(const NativeText *t, int i) {
  if (i < 0 || i >= t->count) return "";
  return arena_strndup(t->arena, t->s + t->tokens[i].at, t->tokens[i].length);
}

int native_close(const NativeText *t, int i) {
  int depth = 0;
  for (; i < t->count; i++) {
    if (t->tokens[i].kind != TOKEN_MARK) continue;
    const char c = t->s[t->tokens[i].at];
    if (c == '(' || c == '[' || c == '{') depth++;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return t->count;
}

int native_close_angle(const NativeText *t, int i) {
  for (int depth = 0; i < t->count; i++) {
    if (native_mark(t, i, '<')) depth++;
    if (native_mark(t, i, '>') && --depth == 0) return i;
    if (native_mark(t, i, '(') || native_mark(t, i, '[')) i = native_close(t, i);
    if (native_mark(t, i, ';') || native_mark(t, i, '{')) return -1;
  }
  return -1;
}

const char *native_where(const NativeText *t, int i) {
  const size_t at = i < t->count ? t->tokens[i].at : strlen(t->s);
  const LineMark *place = NULL;
  for (int p = 0; p < t->place_count && t->places[p].at <= at; p++) place = &t->places[p];
  if (!place) return "the text";
  int line = place->line;
  for (size_t c = place->at; c < at; c++) line += t->s[c] == '\n';
  return arena_printf(t->arena, "%s:%d", place->file, line);
}

const char *native_text(const NativeText *t, int first, int last) {
  if (first > last) return "";
  const size_t at = t->tokens[first].at;
  char *s = arena_strndup(t->arena, t->s + at, t->tokens[last].at + t->tokens[last].length - at);
  for (char *c = s; *c; c++)
    if (*c == '\n') *c = ' ';
  return s;
}

static void edit(NativeText *t, size_t at, size_t length, const char *with) {
  GROW(t->arena, t->edits, t->edit_count, t->edit_room);
  t->edits[t->edit_count++] = (Edit){at, length, with};
}

void native_edit(NativeText *t, int first, int last, const char *with) {
  if (last >= t->count) last = t->count - 1;
  const size_t at = t->tokens[first].at;
  edit(t, at, t->tokens[last].at + t->tokens[last].length - at, with);
}

void native_edit_before(NativeText *t, int i, const char *with) {
  edit(t, t->tokens[i].at, 0, with);
}

/* language.c: portable.h as words: what the kernel language has, and what is marked at each.
**
** A word is a name that portable.h declares outside of brackets, or a macro of it.  Marks (KG_...)
** stand before a declaration and hold for all that it declares; overloads of one name are one word.
** Everything else that must know the words (names that a specification may take, suggestions, the
** checks of bodies, of backends' tables, tests) asks here. */
#include <string.h>

#include "base/plain.h"
#include "tables/tables.h"

const char *const index_word[INDEX_WORDS] = {
#define WORD(symbol, name) name,
    INDEX_WORD_LIST(WORD)
#undef WORD
};

const WordMark word_marks[WORD_MARKS] = {
    {"KG_INDEX", WORD_INDEX},     {"KG_LANES", WORD_LANES}, {"KG_AGREED", WORD_AGREED},
    {"KG_OF_LANE", WORD_OF_LANE}, {"KG_GROUP", WORD_GROUP}, {"KG_FOUR", WORD_FOUR},
    {"KG_LIBRARY", WORD_LIBRARY}, {"KG_OWN", WORD_OWN},
};

/* A name is declared where it ends its declarator: before a parameter list, a comma, a semicolon or
** a struct's body; else it is a type. */
static bool is_declared(const Token *t, int count, int i) {
  for (i++; i < count && (t[i].kind == TOK_SPACE || t[i].kind == TOK_COMMENT); i++) {}
  return i < count && t[i].len == 1 && strchr("(),;{", *t[i].s);
}

static Word *find(const Words *w, const char *s, int len) {
  for (int i = 0; i < w->count; i++)
    if (strncmp(w->list[i].name, s, (size_t)len) == 0 && w->list[i].name[len] == 0)
      return &w->list[i];
  return NULL;
}

static void add(Arena *a, Words *w, const char *s, int len, unsigned marks, int line) {
  Word *known = find(w, s, len);
  if (known) {
    known->marks |= marks;
    return;
  }
  if (w->count == w->room) {
    w->room = w->room ? w->room * 2 : 128;
    Word *larger = arena_alloc(a, (size_t)w->room * sizeof *larger);
    if (w->count) memcpy(larger, w->list, (size_t)w->count * sizeof *larger);
    w->list = larger;
  }
  w->list[w->count++] = (Word){arena_strndup(a, s, (size_t)len), marks, line};
}

/* 0: no mark. */
static unsigned mark_of(const Token *t) {
  for (int i = 0; i < WORD_MARKS; i++)
    if (token_is(t, word_marks[i].name)) return word_marks[i].mark;
  return 0;
}

/* ---- overloads ------------------------------------------------------------------------------- */

/* Where memory is and whether it is written is no part of an overload's name. */
static bool is_qualifier(const Token *t) {
  static const char *const qualifiers[] = {"GLOBAL", "LOCAL", "PRIVATE", "const"};
  for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
    if (token_is(t, qualifiers[i])) return true;
  return false;
}

/* The parenthesis of the parameters of the function that is declared at token i, whose name ends
** at *end; -1: no function.  Of an operator its sign is the end of its name. */
static int parameters_of(const Token *t, int count, int i, int *end) {
  *end = i;
  if (token_is(&t[i], "operator")) *end = token_from(t, count, i + 1);
  const int open = token_from(t, count, *end + 1);
  return open < count && token_is(&t[open], "(") ? open : -1;
}

static void add_overload(Arena *a, Words *w, const Token *t, int count, int i, int end, int open) {
  Buf text = {0};
  for (int n = i; n <= end; n++) buf_put(&text, t[n].s, (size_t)t[n].len);
  const char *word = arena_strdup(a, text.s);
  bool type = true; /* the next name is a parameter's type */
  for (int n = open; n < count && !token_is(&t[n], ")"); n++) {
    if (token_is(&t[n], "(") || token_is(&t[n], ",")) buf_put(&text, t[n].s, 1);
    if (token_is(&t[n], ",")) type = true;
    if (!type || t[n].kind != TOK_NAME || is_qualifier(&t[n])) continue;
    buf_put(&text, t[n].s, (size_t)t[n].len);
    type = false;
  }
  buf_puts(&text, ")");
  GROW(a, w->overloads, w->overload_count, w->overload_room);
  w->overloads[w->overload_count++] =
      (Overload){word, arena_strdup(a, text.s), (size_t)(t[i].s - t[0].s), t[i].line};
  buf_free(&text);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Every word that the checks count on is marked, and C knows each index word that there is. */
static void check_index(Arena *a, const Words *w, Diags *d) {
  const Place top = {w->file, 0, 0};
  for (int i = 0; i < INDEX_WORDS; i++)
    if (!(words_marks(w, index_word[i]) & WORD_INDEX))
      diag_add(d, top, D_LANGUAGE,
               arena_printf(a, "no word '%s' is marked KG_INDEX", index_word[i]));
  for (int i = 0; i < w->count; i++) {
    bool known = !(w->list[i].marks & WORD_INDEX);
    for (int n = 0; n < INDEX_WORDS; n++)
      known = known || strcmp(index_word[n], w->list[i].name) == 0;
    if (!known)
      diag_add(d, (Place){w->file, w->list[i].line, 0}, D_LANGUAGE,
               arena_printf(a, "'%s' is marked KG_INDEX, and kgen knows no index word of that name",
                            w->list[i].name));
  }
}

void words_read(Arena *a, Words *w, const char *file, const Token *t, int count, Diags *d) {
  int depth = 0;
  unsigned marks = 0;
  *w = (Words){.file = file};
  for (int i = 0, end, open; i < count; i++) {
    if (t[i].kind == TOK_DIRECTIVE && strncmp(t[i].s, "#define ", 8) == 0) {
      const char *name = t[i].s + 8;
      if (strncmp(name, "KG_", 3) != 0) add(a, w, name, (int)strcspn(name, " (\n"), 0, t[i].line);
    }
    if (t[i].kind == TOK_PUNCT)
      depth += strchr("({[", *t[i].s) ? 1 : strchr(")}]", *t[i].s) ? -1 : 0;
    if (depth == 0 && (token_is(&t[i], ";") || (marks & WORD_LIBRARY && token_is(&t[i], ")"))))
      marks = 0;
    if (t[i].kind != TOK_NAME) continue;
    if (depth == 0 && !(marks & WORD_LIBRARY) && strncmp(t[i].s, "KG_", 3) != 0 &&
        (open = parameters_of(t, count, i, &end)) >= 0)
      add_overload(a, w, t, count, i, end, open);
    if (depth == 0 && strncmp(t[i].s, "KG_", 3) == 0) {
      if (!mark_of(&t[i]))
        diag_add(d, (Place){file, t[i].line, 0}, D_LANGUAGE,
                 arena_printf(a, "there is no mark '%.*s'", t[i].len, t[i].s));
      marks |= mark_of(&t[i]);
    } else if (depth == (marks & WORD_LIBRARY ? 1 : 0) && is_declared(t, count, i)) {
      add(a, w, t[i].s, t[i].len, marks, t[i].line);
    }
  }
  add(a, w, "WAVE", 4, 0, 0); /* each instance declares it, with its own width */
  check_index(a, w, d);
}

unsigned words_marks(const Words *w, const char *name) {
  const Word *word = find(w, name, (int)strlen(name));
  return word ? word->marks : 0;
}

const Word *words_find(const Words *w, const char *s, int len) { return find(w, s, len); }

void words_load(Arena *a, Words *w, const char *templates, Diags *d) {
  const char *why, *file = arena_printf(a, "%s/language/portable.h", templates);
  size_t len;
  int count;
  const char *text = text_read(a, file, &len, &why);
  *w = (Words){.file = file};
  if (!text)
    diag_add(d, (Place){file, 0, 0}, D_BODY_READ, why);
  else {
    const Token *tokens = lex(a, text, len, &count);
    words_read(a, w, file, tokens, count, d);
  }
}

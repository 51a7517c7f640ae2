/* clang.c: what clang says of a parsed body, in the words of the kernel language and at the
** body's own line.
**
** A precise fault of ours is made of clang's where its text shows what it is about (an unknown
** word, an input written, two address spaces mixed up); the rest is passed on, cleaned of the
** spellings that only the parse knows. */
#include "body/reading.h"

#include <string.h>

#include "base/foreign.h"

enum {
  BRACKETS_MOST = 256, /* clang's own -fbracket-depth */
  OWN_NAMES = 2000,    /* of a body that a word is compared with */
  STATEMENT_NAMES = 16 /* whose values are looked for */
};

/* ---- clang's text ---------------------------------------------------------------------------- */

static const struct Spelling {
  const char *clang, *ours;
} spellings[] = {
    {"__attribute__((address_space(1)))", "GLOBAL"},
    {"__attribute__((address_space(3)))", "LOCAL"},
    {"_Float16", "f16"},
    {"__bf16", "bf16"},
    {"LOCAD", "LOCAL"},
    {"static LOCAL", "LOCAL"},
};

/* Without " (aka '...')", and with our words for clang's. */
static const char *cleaned(Arena *a, const char *s) {
  Buf b = {0};
  while (*s) {
    if (strncmp(s, "kg_", 3) == 0) { /* a variant's namespace */
      const size_t digits = strspn(s + 3, "0123456789");
      if (digits && strncmp(s + 3 + digits, "::", 2) == 0) {
        s += 5 + digits;
        continue;
      }
    }
    if (strncmp(s, " (aka '", 7) == 0) {
      const char *end = strstr(s, "')");
      if (end) {
        s = end + 2;
        continue;
      }
    }
    size_t i = 0;
    const size_t n = sizeof spellings / sizeof *spellings;
    while (i < n && strncmp(s, spellings[i].clang, strlen(spellings[i].clang)) != 0) i++;
    if (i < n) {
      buf_puts(&b, spellings[i].ours);
      s += strlen(spellings[i].clang);
    } else {
      buf_put(&b, s++, 1);
    }
  }
  const char *out = arena_strdup(a, b.s ? b.s : "");
  buf_free(&b);
  return out;
}

/* The first text between quotes. */
static const char *quoted(Arena *a, const char *s) {
  const char *open = strchr(s, '\'');
  const char *close = open ? strchr(open + 1, '\'') : NULL;
  return close ? arena_strndup(a, open + 1, (size_t)(close - open - 1)) : "";
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* Two pointers of which one says another address space than the other. */
static bool mixes_spaces(const char *s) {
  const bool global = strstr(s, "address_space(1)") != NULL,
             local = strstr(s, "address_space(3)") != NULL;
  if (global && local) return true;
  if (!global && !local) return false;
  return strstr(s, "changes address space") != NULL || strstr(s, "address space mismatch") != NULL;
}

/* The address space that a type's text says, as clang or the body spells it; 0: none. */
static int space_in(const char *s, const char *end) {
  static const struct {
    const char *word;
    int space;
  } words[] = {{"address_space(1)", 1}, {"GLOBAL", 1}, {"address_space(3)", 3}, {"LOCA", 3}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *at = strstr(s, words[i].word);
    if (at && at < end) return words[i].space;
  }
  return 0;
}

/* What a message on a variable's first value says of the two address spaces. */
typedef enum Spaces { SPACES_ALIKE, SPACES_MIXED, SPACE_UNSAID } Spaces;

static Spaces spaces_of(const Tree *t, const char *s, unsigned at) {
  if (!starts(s, "cannot initialize a variable of type '") &&
      !starts(s, "binding reference of type '"))
    return SPACES_ALIKE;
  const char *to = strchr(s, '\'') + 1, *end = strchr(to, '\''), *of = end ? end + 1 : to;
  const int own = space_in(to, of), others = space_in(of, of + strlen(of));
  if (own == others) return SPACES_ALIKE;
  if (own != 0) return SPACES_MIXED;
  while (at > 0 && !strchr(";{}(", t->text.s[at - 1])) at--; /* PRIVATE leaves no trace in a type */
  at += (unsigned)strspn(t->text.s + at, " \n\t");
  return starts(t->text.s + at, "PRIVATE") ? SPACES_MIXED : SPACE_UNSAID;
}

static const char *name_at(Check *c, const Tree *t, unsigned at) {
  const char *s = t->text.s + at;
  return arena_strndup(
      c->a, s, strspn(s, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"));
}

/* ---- the words that a body could have meant -------------------------------------------------- */

/* A name behind a type's, or before a value: what is only used may be as unknown as the word. */
static bool is_declared(const Check *c, int i) {
  const Token *t = c->tokens;
  if (t[i].kind != TOK_NAME) return false;
  const int next = token_from(t, c->token_count, i + 1);
  int before = i - 1;
  while (before >= 0 && token_blank(&t[before])) before--;
  return (before >= 0 && t[before].kind == TOK_NAME && !token_is(&t[before], "return")) ||
         (next < c->token_count && token_is(&t[next], "="));
}

static const char *meant(Check *c, const char *word) {
  const Kernel *k = c->k;
  const int most = c->l->words.count + c->l->item_count + k->arg_count + k->dim_count +
                   k->scalar_count + k->type_count + k->const_count + c->token_count;
  const char **names = arena_alloc(c->a, (size_t)most * sizeof *names);
  int n = 0;
  for (int i = 0; i < k->arg_count; i++) names[n++] = k->args[i].name;
  for (int i = 0; i < k->dim_count; i++) names[n++] = k->dims[i];
  for (int i = 0; i < k->scalar_count; i++) names[n++] = k->scalars[i].name;
  for (int i = 0; i < k->type_count; i++) names[n++] = k->types[i].name;
  for (int i = 0; i < k->const_count; i++) names[n++] = k->consts[i].name;
  for (int i = 0; i < c->l->words.count; i++) names[n++] = c->l->words.list[i].name;
  for (int i = 0; i < c->l->item_count; i++) names[n++] = c->l->items[i].name;
  for (int i = 0, own = 0; i < c->token_count && own < OWN_NAMES; i++)
    if (is_declared(c, i) && ++own)
      names[n++] = arena_strndup(c->a, c->tokens[i].s, (size_t)c->tokens[i].len);
  return nearest_name(word, names, n);
}

static void unknown_word(Check *c, const Tree *t, unsigned at, const char *word) {
  const char *near = meant(c, word);
  const Chunk *chunk = tree_chunk(t, at);
  if (chunk && chunk->item >= 0) {
    for (int i = 0; i < c->missing_count; i++)
      if (strcmp(c->missing[i], word) == 0) return;
    GROW(c->a, c->missing, c->missing_count, c->missing_room);
    c->missing[c->missing_count++] = word;
  }
  const ForeignWord *foreign = foreign_word(word);
  FAULT(c, at, D_BODY_WORD, word, near ? arena_printf(c->a, "; did you mean '%s'?", near) : "");
  if (chunk && chunk->item >= 0 && !c->l->items[chunk->item].shipped)
    NOTE(c,
         "a function knows its parameters, the kernel's constants and the words of portable.h and "
         "lib/: give it the rest; template <typename V> for a type");
  else if (chunk && chunk->item >= 0)
    NOTE(c, "the library function %s needs it: give the kernel a constant %s",
         c->l->items[chunk->item].name, word);
  else if (foreign && foreign->instead)
    NOTE(c, "%s", foreign->instead);
  else if (!near)
    NOTE(c, "a body knows its types, constants, arguments, dims and scalars, and the words of "
            "portable.h and lib/");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static const char *input_of(const Kernel *k, const Token *t) {
  for (int i = 0; i < k->input_count; i++)
    if (t->kind == TOK_NAME && token_is(t, k->args[i].name)) return k->args[i].name;
  return NULL;
}

/* The input that a statement from byte `at` of the body on is about: named there, or what a pointer
** named there was made of. */
static const char *input_at(Check *c, size_t at) {
  const Token *t = c->tokens;
  int i = 0, names = 0;
  while (i < c->token_count && (size_t)(t[i].s - t[0].s) < at) i++;
  for (; i < c->token_count && !token_is(&t[i], ";"); i++) {
    const char *input = input_of(c->k, &t[i]);
    if (input) return input;
    if (t[i].kind != TOK_NAME || ++names > STATEMENT_NAMES) continue;
    for (int j = 0; j + 2 < c->token_count; j++) {
      if (t[j].kind != TOK_NAME || t[j].len != t[i].len ||
          memcmp(t[j].s, t[i].s, (size_t)t[i].len) != 0)
        continue;
      int eq = j + 1;
      while (eq < c->token_count && t[eq].kind == TOK_SPACE) eq++;
      if (eq >= c->token_count || !token_is(&t[eq], "=")) continue;
      for (int m = eq; m < c->token_count && !token_is(&t[m], ";"); m++)
        if ((input = input_of(c->k, &t[m])) != NULL) return input;
      break;
    }
  }
  return NULL;
}

static bool is_write(const char *s) {
  return strstr(s, "read-only variable is not assignable") || strstr(s, "discards qualifiers") ||
         strstr(s, "would lose const") || strstr(s, "drops 'const'") ||
         (starts(s, "cannot initialize") && strstr(s, "const *'"));
}

/* ---- one message ----------------------------------------------------------------------------- */

static const char *candidates(Check *c, CXDiagnostic d, bool *mix, bool *write) {
  CXDiagnosticSet notes = clang_getChildDiagnostics(d);
  const char *first = NULL;
  for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); i++) {
    CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
    CXString s = clang_getDiagnosticSpelling(note);
    const char *text = clang_getCString(s);
    if (strstr(text, "candidate")) {
      const bool spaces = strstr(text, "no known conversion") &&
                          (strstr(text, "address_space(1)") != NULL) ==
                              (strstr(text, "address_space(3)") != NULL) &&
                          strstr(text, "address_space(1)");
      *mix = *mix || spaces || strstr(text, "address space mismatch");
      *write = *write || strstr(text, "would lose const");
      if (!first) first = cleaned(c->a, text);
    }
    clang_disposeString(s);
    clang_disposeDiagnostic(note);
  }
  return first;
}

/* Where the text that a message is about starts. */
static unsigned range_start(CXDiagnostic d, unsigned at) {
  unsigned start = at;
  if (clang_getDiagnosticNumRanges(d) > 0)
    clang_getExpansionLocation(clang_getRangeStart(clang_getDiagnosticRange(d, 0)), NULL, NULL,
                               NULL, &start);
  return start < at ? start : at;
}

static void pass_on(Check *c, Tree *t, CXDiagnostic d, const char *text, unsigned at,
                    bool is_error) {
  bool mix = false, write = false;
  const char *candidate = candidates(c, d, &mix, &write);
  const unsigned from = range_start(d, at);
  const Chunk *chunk = tree_chunk(t, from);
  const char *input = (write || is_write(text)) && chunk && chunk->item == -1
                          ? input_at(c, from - chunk->start)
                          : NULL;
  const Spaces spaces = spaces_of(t, text, at);
  if (starts(text, "use of undeclared identifier") || starts(text, "unknown type name") ||
      starts(text, "no template named")) {
    unknown_word(c, t, at, quoted(c->a, text));
  } else if (starts(text, "bracket nesting level exceeded")) {
    FAULT(c, at, D_BODY_DEEP, BRACKETS_MOST);
  } else if (spaces == SPACE_UNSAID) {
    FAULT(c, at, D_POINTER_SPACE, starts(text, "binding") ? "reference" : "pointer",
          name_at(c, t, at));
    NOTE(c, "write GLOBAL, LOCAL or PRIVATE before the type: Metal does not guess where memory is");
  } else if (mix || spaces == SPACES_MIXED || mixes_spaces(text)) {
    FAULT(c, at, D_BODY_SPACE, cleaned(c->a, text));
    if (candidate) NOTE(c, "%s", candidate);
    NOTE(c, "GLOBAL and LOCAL memory are apart on Metal: copy the values, or give the pointer the "
            "space of what it points to");
  } else if (input) {
    FAULT(c, from, D_INPUT_WRITTEN, input);
    NOTE(c, "inputs are GLOBAL const: make it an output, or work on a copy in variables");
  } else if (is_error) {
    FAULT(c, at, D_BODY_CLANG, cleaned(c->a, text));
    if (candidate) NOTE(c, "%s", candidate);
  } else {
    CXString option = clang_getDiagnosticOption(d, NULL);
    FAULT(c, at, D_BODY_WARNING, cleaned(c->a, text), clang_getCString(option));
    clang_disposeString(option);
  }
}

static int go_through(Check *c, Tree *t, bool errors) {
  int given = 0;
  const unsigned count = clang_getNumDiagnostics(t->unit);
  for (unsigned i = 0; i < count && !faults_over(c); i++) {
    CXDiagnostic d = clang_getDiagnostic(t->unit, i);
    const enum CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(d);
    const bool is_error = severity >= CXDiagnostic_Error;
    unsigned at = 0;
    clang_getExpansionLocation(clang_getDiagnosticLocation(d), NULL, NULL, NULL, &at);
    if (severity >= CXDiagnostic_Warning && is_error == errors &&
        (is_error || !fault_given(c, tree_place(c, t, at)))) {
      CXString s = clang_getDiagnosticSpelling(d);
      pass_on(c, t, d, clang_getCString(s), at, is_error);
      clang_disposeString(s);
      given++;
    }
    clang_disposeDiagnostic(d);
  }
  return given;
}

int clang_errors(Check *c, Tree *t) { return go_through(c, t, true); }

void clang_warnings(Check *c, Tree *t) { go_through(c, t, false); }

/* shape.c: brackets, functions, aliases and declarations of a source.  See source.h. */
#include <string.h>

#include "lint/source.h"

enum { LOOK_BACK = 400 };

/* ---- brackets ---------------------------------------------------------------------------------- */

static int partner_of(int word) {
  return word == W_RPAREN ? W_LPAREN : word == W_RBRACE ? W_LBRACE : W_LBRACKET;
}
static bool opens(int w) { return w == W_LPAREN || w == W_LBRACE || w == W_LBRACKET; }
static bool closes(int w) { return w == W_RPAREN || w == W_RBRACE || w == W_RBRACKET; }

static void match_brackets(Project *p, Source *s) {
  s->match = arena_alloc(p->arena, (size_t)(s->n + 1) * sizeof *s->match);
  s->up = arena_alloc(p->arena, (size_t)(s->n + 1) * sizeof *s->up);
  int top = -1;
  for (int i = 0; i < s->n; i++) {
    const int w = s->t[i].kind == K_SIGN ? s->t[i].word : 0;
    s->match[i] = -1;
    if (closes(w)) {
      int open = top;
      while (open >= 0 && s->t[open].word != partner_of(w)) open = s->up[open];
      if (open >= 0) {
        s->match[open] = i, s->match[i] = open;
        top = s->up[open];
      }
    }
    s->up[i] = top;
    if (opens(w)) top = i;
  }
}

bool is_word(const Source *s, int i, int word) {
  return i >= 0 && i < s->n && s->t[i].word == word;
}
bool is_name(const Source *s, int i) { return i >= 0 && i < s->n && s->t[i].kind == K_NAME; }
int skip_to(const Source *s, int i) {
  return i >= 0 && i < s->n && s->match[i] > i ? s->match[i] : i;
}

bool is_control(int w) {
  return w == W_IF || w == W_FOR || w == W_WHILE || w == W_SWITCH || w == W_CATCH ||
         w == W_RETURN || w == W_CO_RETURN || w == W_THROW || w == W_DO || w == W_ELSE ||
         w == W_CASE || w == W_NEW || w == W_DELETE || w == W_SIZEOF || w == W_MATCH ||
         w == W_LET || w == W_IN;
}

/* ---- functions --------------------------------------------------------------------------------- */

static void add_func(Project *p, Source *s, Func f) {
  f.file = s->file;
  f.next = -1;
  GROW(p->arena, s->funcs, s->func_count, s->func_room);
  s->funcs[s->func_count++] = f;
}

/* Where the declaration that token i is in begins. */
static int declaration_start(const Source *s, int i) {
  const int up = s->up[i];
  for (int k = i - 1; k > up; k--) {
    if (s->match[k] >= 0 && s->match[k] < k) {
      if (s->t[k].word == W_RBRACE && s->match[k] > up) return k + 1;
      k = s->match[k];
      continue;
    }
    if (s->t[k].word == W_SEMI) return k + 1;
    if (s->t[k].word == W_COLON && !is_word(s, k - 1, W_RPAREN)) return k + 1; /* public: */
  }
  return up + 1;
}

/* Does `operator` stand before the sign, or the pair of parentheses, that ends at i?  Its token, or -1. */
static int operator_before(const Source *s, int i) {
  const int from = is_word(s, i, W_RPAREN) && s->match[i] >= 0 ? s->match[i] : i;
  return is_word(s, from - 1, W_OPERATOR) ? from - 1 : -1;
}

/* From the token before a `{` back over what may stand between a function's `)` and its body; the `)`, or -1. */
static int back_to_params(const Source *s, int i) {
  const int least = i > LOOK_BACK ? i - LOOK_BACK : 0;
  int angles = 0;
  for (int k = i; k > least; k--) {
    const int w = s->t[k].word;
    angles += (w == W_GT) + 2 * (w == W_SHR) - (w == W_LT);
    if (w == W_COMMA && angles <= 0) return -1; /* f(a), {b} */
    if (w == W_RPAREN && s->match[k] >= 0) {
      const int before = s->match[k] - 1;
      const bool named = is_name(s, before) && !is_word(s, before, W_NOEXCEPT) &&
                         !is_word(s, before, W_DECLTYPE) && !is_word(s, before, W_ATTRIBUTE) &&
                         !is_word(s, before, W_ALIGNAS);
      if (named || is_word(s, before, W_RBRACKET) || operator_before(s, before) >= 0) return k;
      k = is_name(s, before) ? before : s->match[k]; /* noexcept(...), (*)() */
      continue;
    }
    const bool type = s->t[k].kind == K_NAME || w == W_SCOPE || w == W_LT || w == W_GT ||
                      w == W_STAR || w == W_AND || w == W_ANDAND || w == W_ARROW || w == W_COMMA ||
                      w == W_SHR;
    if (!type) return -1;
  }
  return -1;
}

/* `) : a(b), c{d} {`: from the `)` or `}` of the last one back to the parameters' `)`; -1: it is no such list. */
static int back_over_inits(const Source *s, int i) {
  for (;;) {
    if (!is_word(s, i, W_RPAREN) && !is_word(s, i, W_RBRACE)) return -1;
    if (s->match[i] < 0) return -1;
    int k = s->match[i] - 1;
    if (!is_name(s, k)) return -1;
    while (k > 1 && is_word(s, k - 1, W_SCOPE)) k -= 2;
    if (is_word(s, k - 1, W_COLON)) return back_to_params(s, k - 2);
    if (!is_word(s, k - 1, W_COMMA)) return -1;
    i = k - 2;
  }
}

static bool hidden_at(const Source *s, int start, int head) {
  for (int k = start; k < head; k++)
    if (s->t[k].word == W_STATIC) return true;
  for (int up = s->up[head]; up >= 0; up = s->up[up])
    if (is_word(s, up, W_LBRACE) && is_word(s, up - 1, W_NAMESPACE)) return true;
  return false;
}

/* The struct or class whose braces the token is in directly; -1. */
static int owner_at(const Source *s, int i) {
  const int up = s->up[i];
  if (up <= 0 || !is_word(s, up, W_LBRACE)) return -1;
  for (int k = up - 1; k >= 0 && k > up - 60; k--) {
    const int w = s->t[k].word;
    if (w == W_SEMI || w == W_LBRACE || w == W_RBRACE || w == W_RPAREN) return -1;
    if (w != W_STRUCT && w != W_CLASS) continue;
    int name = -1;
    for (k++; k < up && !is_word(s, k, W_COLON); k++)
      if (is_name(s, k) && s->t[k].word != W_FINAL) name = s->t[k].word;
    return name;
  }
  return -1;
}

static void read_c_func(Project *p, Source *s, int brace) {
  int close = back_to_params(s, brace - 1);
  if (close >= 0 && is_name(s, s->match[close] - 1)) {
    int k = s->match[close] - 1;
    while (k > 1 && is_word(s, k - 1, W_SCOPE)) k -= 2;
    if (is_word(s, k - 1, W_COMMA) || (is_word(s, k - 1, W_COLON) && is_word(s, k - 2, W_RPAREN))) {
      const int params = back_over_inits(s, close);
      if (params >= 0) close = params;
    }
  }
  if (close < 0) close = back_over_inits(s, brace - 1);
  Func f = {.name = -1, .body = brace, .end = s->match[brace], .owner = -1};
  if (close < 0) {
    if (!is_word(s, brace - 1, W_RBRACKET)) return; /* [&] { */
    f.head = s->match[brace - 1], f.start = f.head, f.open = f.close = -1;
    if (f.head < 0 || is_name(s, f.head - 1)) return; /* a[3]{...} */
    add_func(p, s, f);
    return;
  }
  f.close = close, f.open = s->match[close];
  const int before = f.open - 1;
  if (is_word(s, before, W_RBRACKET)) {
    f.head = f.start = s->match[before] < 0 ? before : s->match[before];
  } else if (is_name(s, before) && !is_control(s->t[before].word) &&
             s->t[before].word != W_ATTRIBUTE) {
    f.head = before, f.name = s->t[before].word;
    f.start = declaration_start(s, before);
    f.hidden = hidden_at(s, f.start, f.head);
    f.owner = is_word(s, before - 1, W_SCOPE) && is_name(s, before - 2) ? s->t[before - 2].word
                                                                        : owner_at(s, before);
  } else if (operator_before(s, before) >= 0) {
    f.head = operator_before(s, before), f.name = W_OPERATOR;
    f.start = declaration_start(s, f.head);
    f.owner = owner_at(s, f.head);
  } else {
    return;
  }
  add_func(p, s, f);
}

/* `fn name<...>(...) -> T where ... {` */
static void read_rust_func(Project *p, Source *s, int i) {
  if (!is_name(s, i + 1)) return;
  Func f = {.name = s->t[i + 1].word, .head = i + 1, .start = i, .owner = -1, .hidden = true};
  int k = i + 2;
  while (k < s->n && s->t[k].word != W_LPAREN && s->t[k].word != W_SEMI) k++;
  if (k >= s->n || s->match[k] < 0) return;
  f.open = k, f.close = s->match[k];
  for (k = f.close; k < s->n && s->t[k].word != W_LBRACE && s->t[k].word != W_SEMI;) {
    k = skip_to(s, k);
    k++;
  }
  if (!is_word(s, k, W_LBRACE) || s->match[k] < 0) return;
  f.body = k, f.end = s->match[k];
  for (k = i - 1; k >= 0 && k > i - 8; k--) {
    if (s->t[k].word == W_PUB) f.hidden = false;
    if (s->t[k].word == W_SEMI || s->t[k].word == W_RBRACE || s->t[k].word == W_LBRACE) break;
  }
  add_func(p, s, f);
}

Func *func_at(const Source *s, int i) {
  for (int up = i >= 0 && i < s->n ? s->up[i] : -1; up >= 0; up = s->up[up]) {
    int low = 0, high = s->func_count;
    while (low < high) { /* they are in the order of their bodies */
      const int mid = (low + high) / 2;
      if (s->funcs[mid].body < up)
        low = mid + 1;
      else
        high = mid;
    }
    if (low < s->func_count && s->funcs[low].body == up) return &s->funcs[low];
  }
  return NULL;
}

Func *named_func_at(const Source *s, int i) {
  Func *f = func_at(s, i);
  while (f && f->name < 0) f = func_at(s, f->head);
  return f;
}

Func *func_named(const Project *p, const Source *s, int word) {
  Func *found = NULL;
  for (int i = word < 0 ? -1 : p->words[word].first_func; i >= 0; i = p->funcs[i]->next)
    if (!found || p->funcs[i]->file == s->file) found = p->funcs[i];
  return found;
}

/* ---- paths and aliases ------------------------------------------------------------------------- */

int path_from(const Source *s, int i) {
  while (i > 1 && is_word(s, i - 1, W_SCOPE) && is_name(s, i - 2)) i -= 2;
  return i;
}

int path_to(const Source *s, int i) {
  while (is_word(s, i + 1, W_SCOPE) && is_name(s, i + 2)) i += 2;
  return i + 1;
}

static void add_alias(Project *p, Source *s, int name, int at, const int *path, int count) {
  GROW(p->arena, s->aliases, s->alias_count, s->alias_room);
  Alias *a = &s->aliases[s->alias_count++];
  *a = (Alias){.name = name, .at = at, .count = count, .file = s->file, .next = -1};
  memcpy(a->path, path, (size_t)count * sizeof *path);
}

/* The names of the path from token i on; *next is behind it. */
static int read_path(const Source *s, int i, int path[8], int *next) {
  int n = 0;
  if (is_word(s, i, W_SCOPE)) i++;
  if (is_word(s, i, W_TYPENAME) || is_word(s, i, W_STRUCT) || is_word(s, i, W_ENUM)) i++;
  while (is_name(s, i) && n < 8) {
    path[n++] = s->t[i++].word;
    if (!is_word(s, i, W_SCOPE)) break;
    i++;
  }
  *next = i;
  return n;
}

/* `use a::{b as c, d}`: what stands in braces goes on from the path before. */
static void read_use(Project *p, Source *s, int i, int end, const int *before, int before_count) {
  while (i < end) {
    int path[8], n = before_count;
    memcpy(path, before, (size_t)n * sizeof *path);
    bool braces = false;
    while (i < end && s->t[i].word != W_COMMA) {
      if (is_word(s, i, W_LBRACE) && s->match[i] > i) {
        read_use(p, s, i + 1, s->match[i], path, n);
        i = s->match[i] + 1;
        braces = true;
        continue;
      }
      if (is_word(s, i, W_AS) && is_name(s, i + 1)) {
        add_alias(p, s, s->t[i + 1].word, i + 1, path, n);
        braces = true;
        i += 2;
        continue;
      }
      if (is_name(s, i) && s->t[i].word != W_SELF && n < 8) path[n++] = s->t[i].word;
      i++;
    }
    if (!braces && n > 1) add_alias(p, s, path[n - 1], end - 1, path, n);
    i++;
  }
}

static void read_alias(Project *p, Source *s, int i) {
  int path[8] = {0}, next, n;
  if (s->lang == LANG_RUST) {
    if (s->t[i].word != W_USE) return;
    int end = i + 1;
    while (end < s->n && s->t[end].word != W_SEMI) end++;
    read_use(p, s, i + 1, end, path, 0);
    return;
  }
  if ((s->t[i].word == W_USING || s->t[i].word == W_NAMESPACE) && is_name(s, i + 1) &&
      is_word(s, i + 2, W_ASSIGN)) {
    n = read_path(s, i + 3, path, &next);
    if (n) add_alias(p, s, s->t[i + 1].word, i, path, n);
  } else if (s->t[i].word == W_USING && is_word(s, i + 1, W_NAMESPACE)) {
    n = read_path(s, i + 2, path, &next); /* its is_available is in reach */
    if (n && n < 8) {
      path[n] = word_of(p, "is_available", 12);
      add_alias(p, s, path[n], i, path, n + 1);
    }
  } else if (s->t[i].word == W_USING && is_name(s, i + 1)) {
    n = read_path(s, i + 1, path, &next);
    if (n > 1 && is_word(s, next, W_SEMI)) add_alias(p, s, path[n - 1], i, path, n);
  } else if (s->t[i].word == W_TYPEDEF) {
    n = read_path(s, i + 1, path, &next);
    if (n && is_name(s, next) && is_word(s, next + 1, W_SEMI))
      add_alias(p, s, s->t[next].word, i, path, n);
  }
}

void source_shape(Project *p, Source *s) {
  match_brackets(p, s);
  for (int i = 0; i < s->n; i++) {
    const Tok *t = &s->t[i];
    if (t->word == W_LBRACE && s->match[i] > i && s->lang == LANG_C) read_c_func(p, s, i);
    if (t->kind != K_NAME) continue;
    if (t->word == W_FN && s->lang == LANG_RUST) read_rust_func(p, s, i);
    if (t->word == W_USING || t->word == W_NAMESPACE || t->word == W_TYPEDEF || t->word == W_USE)
      read_alias(p, s, i);
  }
}

/* ---- arguments and values ---------------------------------------------------------------------- */

/* Does the `<` at i open template arguments?  Its `>`, or -1. */
static int angle_end(const Source *s, int i, int limit) {
  int depth = 0;
  if (!is_name(s, i - 1)) return -1;
  for (int k = i; k < limit && k < i + 60; k++) {
    const int w = s->t[k].word;
    if (w == W_LT) depth++;
    if (w == W_GT) depth--;
    if (w == W_SHR) depth -= 2;
    if (depth <= 0) return k;
    const bool type = s->t[k].kind == K_NAME || s->t[k].kind == K_NUMBER || w == W_SCOPE ||
                      w == W_LT || w == W_COMMA || w == W_STAR || w == W_AND || w == W_ELLIPSIS;
    if (w == W_LPAREN && s->match[k] > k)
      k = s->match[k];
    else if (!type)
      return -1;
  }
  return -1;
}

int split_args(const Source *s, int open, int *from, int *to, int room) {
  const int close = s->match[open];
  int n = 0;
  if (close <= open + 1) return 0;
  from[0] = open + 1;
  for (int i = open + 1; i < close; i++) {
    if (s->match[i] > i) {
      i = s->match[i];
      continue;
    }
    if (s->t[i].word == W_LT && s->lang == LANG_C) {
      const int end = angle_end(s, i, close);
      if (end > i) i = end;
    }
    if (s->t[i].word != W_COMMA) continue;
    to[n++] = i;
    if (n == room) return n;
    from[n] = i + 1;
  }
  to[n] = close;
  return from[n] < close ? n + 1 : n; /* a last comma */
}

/* Where the value that begins at i ends. */
static int value_end(const Source *s, int i, int limit) {
  for (; i < limit; i++) {
    if (s->match[i] > i) {
      i = s->match[i];
      continue;
    }
    const int w = s->t[i].word;
    if (w == W_SEMI || (s->match[i] >= 0 && s->match[i] < i)) return i;
    if (w == W_COMMA && s->lang == LANG_C) return i;
    if (w == W_LT && s->lang == LANG_C) {
      const int end = angle_end(s, i, limit);
      if (end > i) i = end;
    }
  }
  return limit;
}

/* Can the token before a name be the end of a type? */
static bool ends_type(const Source *s, int i) {
  if (i < 0) return false;
  const int w = s->t[i].word;
  if (is_name(s, i)) return !is_control(w) && w != W_GT && (w != W_OPERATOR);
  return w == W_GT || w == W_STAR || w == W_AND || w == W_ANDAND || w == W_SHR;
}

/* Is token i, a name, declared or assigned here?  Its value. */
static bool value_at(Source *s, int i, Value *out) {
  const int up = s->up[i], limit = up >= 0 && s->match[up] >= 0 ? s->match[up] : s->n;
  *out = (Value){.source = s, .name = i, .opened = '='};
  if (s->lang == LANG_RUST) {
    int before = i - 1;
    while (is_word(s, before, W_MUT) || is_word(s, before, W_REF)) before--;
    const bool declared =
        is_word(s, before, W_LET) || is_word(s, before, W_STATIC) || is_word(s, before, W_CONST);
    int k = i + 1;
    if (declared && is_word(s, k, W_COLON))
      while (k < limit && s->t[k].word != W_ASSIGN && s->t[k].word != W_SEMI) k++;
    if (!is_word(s, k, W_ASSIGN)) return false;
    out->assigned = !declared;
    out->from = k + 1, out->to = value_end(s, k + 1, limit);
    return true;
  }
  if (is_word(s, i - 1, W_DOT) || is_word(s, i - 1, W_ARROW)) return false;
  int k = i + 1;
  while (is_word(s, k, W_LBRACKET) && s->match[k] > k) k = s->match[k] + 1; /* an array */
  const bool typed = ends_type(s, i - 1) ||
                     (is_word(s, i - 1, W_COMMA) && !is_word(s, up, W_LPAREN) && up != i - 1);
  if (is_word(s, k, W_ASSIGN)) {
    out->assigned = !typed;
    out->from = k + 1, out->to = value_end(s, k + 1, limit);
    return true;
  }
  if (is_word(s, k, W_OR_ASSIGN) || is_word(s, k, W_AND_ASSIGN)) {
    out->assigned = true;
    out->from = k + 1, out->to = value_end(s, k + 1, limit);
    return true;
  }
  if (!typed || is_word(s, i - 1, W_STAR) || k != i + 1) return false;
  if ((is_word(s, k, W_LBRACE) || is_word(s, k, W_LPAREN)) && s->match[k] > k &&
      (is_word(s, s->match[k] + 1, W_SEMI) || is_word(s, s->match[k] + 1, W_COMMA))) {
    out->opened = is_word(s, k, W_LBRACE) ? '{' : '(';
    out->from = k + 1, out->to = s->match[k];
    return true;
  }
  return false;
}

/* The block of token i holds `at`. */
static bool reaches(const Source *s, int i, int at) {
  int up = s->up[i];
  while (up >= 0 && s->t[up].word != W_LBRACE) up = s->up[up];
  return up < 0 || (up < at && s->match[up] > at);
}

/* Is it a parameter of a function around `at`? */
static bool is_param(const Source *s, int word, int at) {
  for (const Func *f = func_at(s, at); f; f = func_at(s, f->head))
    for (int i = f->open; i >= 0 && i < f->close; i++)
      if (s->t[i].word == word && s->t[i].kind == K_NAME) return true;
  return false;
}

bool value_find(Project *p, Source *s, int word, int at, Value *out) {
  for (int i = at - 1; i >= 0; i--)
    if (s->t[i].word == word && s->t[i].kind == K_NAME && value_at(s, i, out) &&
        reaches(s, i, at) && !(out->from <= at && at < out->to) &&
        (func_at(s, i) || !is_param(s, word, at)))
      return true;
  if (word < W_COUNT || is_param(s, word, at)) return false;
  for (int r = p->words[word].first_file; r >= 0; r = p->files[r].next) { /* of other sources */
    Source *other = &p->sources[p->files[r].file];
    if (other == s || other->lang != s->lang) continue;
    if (s->lang == LANG_C && !source_sees(p, s, other->file)) continue;
    for (int i = 0; i < other->n; i++)
      if (other->t[i].word == word && other->t[i].kind == K_NAME && !func_at(other, i) &&
          value_at(other, i, out) && !out->assigned)
        return true;
  }
  return false;
}

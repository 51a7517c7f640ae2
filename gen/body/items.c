/* items.c: portable.h and lib/..kc as text, and the library as items.
**
** An item is a function, a function template or a struct with the comment block right above it. 
** Only the items that a body can reach by name are parsed with it, so a kernel needs only the
** constants that its own library functions mention. */
#include "body/reading.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

static int newlines(const Token *t) {
  int n = 0;
  for (int i = 0; i < t->len; i++) n += t->s[i] == '\n';
  return n;
}

/* ---- names ------------------------------------------------------------------------------------ */

static bool same(const char *name, const char *s, int len) {
  return strncmp(name, s, (size_t)len) == 0 && name[len] == 0;
}

bool is_language_word(const Language *l, const char *s, int len) {
  const Word *word = words_find(&l->words, s, len);
  return word && !(word->marks & WORD_LIBRARY); /* that one is the library's, which declares it */
}

bool is_library_name(const Language *l, const char *s, int len, bool as_in_texts) {
  for (int i = 0; i < l->item_count; i++)
    if (same(l->items[i].name, s, len) &&
        !(as_in_texts && l->items[i].shipped && item_prefix(&l->items[i])[0]))
      return true;
  return false;
}

/* Names that some backend's own library has, too: a text that says `pow` must mean this one. */
static const char *const elsewhere[] = {"atan",  "atan2", "clamp", "clz",   "copysign", "cosh",
                                        "ctz",   "erf",   "expm1", "fmod",  "isinf",    "isfinite",
                                        "log1p", "pow",   "rint",  "round", "select",   "sign",
                                        "sinh",  "tan",   "trunc"};

const char *item_prefix(const Item *x) {
  if (!x->shipped) return "kg_own_";
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (strcmp(x->name, elsewhere[i]) == 0) return "kg_";
  return "";
}

/* ---- items ----------------------------------------------------------------------------------- */

/* The last token of the item that starts at i: a closing brace of a function, the semicolon of
** anything else. */
static int item_end(const Token *t, int count, int i, bool is_type) {
  int depth = 0;
  for (; i < count; i++) {
    if (t[i].kind != TOK_PUNCT) continue;
    if (strchr("({[", *t[i].s)) depth++;
    if (strchr(")}]", *t[i].s) && --depth == 0 && *t[i].s == '}' && !is_type) return i;
    if (depth == 0 && token_is(&t[i], ";")) return i;
  }
  return count - 1;
}

/* The token that declares the item's name, or -1: it is no function and no struct. */
static int item_name(const Token *t, int end, int i, bool is_type) {
  if (is_type) { /* of data only */
    const int name = token_from(t, end, i + 1);
    for (int j = name; j < end; j++)
      if (token_is(&t[j], "(")) return -1;
    return name < end && t[name].kind == TOK_NAME ? name : -1;
  }
  int angle = 0, last = -1;
  for (; i < end; i++) {
    if (token_is(&t[i], "<")) angle++;
    if (token_is(&t[i], ">")) angle--;
    if (angle > 0) continue;
    if (token_is(&t[i], "(")) return last;
    if (token_is(&t[i], "=") || token_is(&t[i], "{") || token_is(&t[i], "operator")) return -1;
    if (t[i].kind == TOK_NAME) last = i;
  }
  return -1;
}

/* Where the comment block right above token i starts: comments with no empty line between. */
static int comment_above(const Token *t, int i, int least) {
  int first = i;
  for (int at = i - 1; at >= least; at--) {
    if (t[at].kind == TOK_SPACE && newlines(&t[at]) > 1) break;
    if (t[at].kind == TOK_COMMENT) {
      const bool own_line = at == 0 || (t[at - 1].kind == TOK_SPACE && newlines(&t[at - 1]) > 0);
      if (!own_line) break; /* it trails what stands before it */
      first = at;
    }
  }
  return first;
}

static void add_item(Language *l, const Source *s, int first, int name, int last, bool is_type) {
  GROW(l->a, l->items, l->item_count, l->item_room);
  const Token *t = s->tokens;
  const size_t len = (size_t)(t[last].s + t[last].len - t[first].s);
  l->items[l->item_count++] = (Item){
      .name = arena_strndup(l->a, t[name].s, (size_t)t[name].len),
      .file = s->file,
      .mark = s->mark,
      .shipped = s->shipped,
      .line = t[first].line,
      .text = arena_strndup(l->a, t[first].s, len),
      .len = len,
      .is_type = is_type,
      .tokens = s->tokens + first,
      .token_count = last - first + 1,
      .own = name - first,
  };
}

static void source_fault(Arena *a, const Source *s, const Token *t, DiagCode code, Diags *d) {
  const Place at = {s->file, t->line, text_column(s->text, t->s)};
  diag_add(d, at, code, arena_strndup(a, t->s, (size_t)t->len));
  diag_source(d, text_line(s->text, (size_t)(t->s - s->text)), at.col);
}

static void split(Language *l, const Source *s, Diags *d) {
  const Token *t = s->tokens;
  for (int i = 0, least = 0; (i = token_from(t, s->token_count, i)) < s->token_count;) {
    const bool is_type = token_is(&t[i], "struct");
    const int last = item_end(t, s->token_count, i, is_type);
    const int name = t[i].kind == TOK_DIRECTIVE ? -1 : item_name(t, last, i, is_type);
    if (t[i].kind == TOK_DIRECTIVE) {
      source_fault(l->a, s, &t[i], D_LIB_ITEM, d);
      i++;
      continue;
    }
    if (name < 0)
      source_fault(l->a, s, &t[i], D_LIB_ITEM, d);
    else
      add_item(l, s, comment_above(t, i, least), name, last, is_type);
    i = least = last + 1;
  }
}

/* Of the items from `first` on, among all; an older one names none of them. */
static void find_mentions(Language *l, int first) {
  for (int i = first; i < l->item_count; i++) {
    Item *x = &l->items[i];
    x->mentions = arena_alloc(l->a, (size_t)l->item_count * sizeof *x->mentions);
    for (int other = 0; other < l->item_count; other++)
      for (int t = 0; t < x->token_count; t++)
        if (x->tokens[t].kind == TOK_NAME && x->tokens[t].s[0] == l->items[other].name[0] &&
            other != i && t != x->own && token_is(&x->tokens[t], l->items[other].name)) {
          x->mentions[x->mention_count++] = other;
          break;
        }
  }
}

bool items_named_well(const Language *l, int first, Diags *d) {
  bool well = true;
  for (int i = first; i < l->item_count; i++) {
    const Item *x = &l->items[i];
    const int len = (int)strlen(x->name);
    const char *what = is_language_word(l, x->name, len) ? "a word of the kernel language" : NULL;
    for (int other = 0; other < first && !what; other++)
      if (same(l->items[other].name, x->name, len))
        what = arena_printf(l->a, "in %s already", l->items[other].mark);
    if (!what) continue;
    const Token *t = &x->tokens[x->own];
    const char *line = t->s;
    while (line > x->tokens[0].s && line[-1] != '\n') line--;
    diag_add(d, (Place){x->file, t->line, (int)(t->s - line) + 1}, D_LIB_NAME, x->name, what);
    diag_source(d, line, (int)(t->s - line) + 1);
    well = false;
  }
  return well;
}

static bool source_read(Language *l, Source *s, Diags *d) {
  const char *why = NULL;
  s->text = text_read(l->a, s->file, &s->len, &why);
  if (!s->text) {
    diag_add(d, (Place){s->file, 0, 0}, D_BODY_READ, why);
    return false;
  }
  s->tokens = lex(l->a, s->text, s->len, &s->token_count);
  return true;
}

static int by_name(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* What a specification reads is below its folder, wherever a link leads. */
static bool lies_below(const char *path, const char *folder) {
  char *real = realpath(path, NULL), *root = realpath(folder, NULL);
  const size_t len = root ? strlen(root) : 0;
  const bool below = real && root && strncmp(real, root, len) == 0 && real[len] == '/';
  free(real);
  free(root);
  return below;
}

/* The folder's ..kc as sources, split into items; mark: the folder as #line has it. */
static void load_folder(Language *l, const char *folder, const char *mark, bool shipped, Diags *d) {
  const char **names = NULL;
  int count = 0, room = 0;
  DIR *dir = opendir(folder);
  for (const struct dirent *e; dir && (e = readdir(dir));) {
    const size_t len = strlen(e->d_name);
    if (len <= 3 || e->d_name[0] == '.' || strcmp(e->d_name + len - 3, ".kc") != 0) continue;
    GROW(l->a, names, count, room);
    names[count++] = arena_strdup(l->a, e->d_name);
  }
  if (dir) closedir(dir);
  if (count)
    qsort(names, (size_t)count, sizeof *names, by_name); /* the folder's own order is no order */
  for (int i = 0; i < count; i++) {
    Source s = {.file = arena_printf(l->a, "%s/%s", folder, names[i]),
                .mark = arena_printf(l->a, "%s/%s", mark, names[i]),
                .shipped = shipped};
    if (!shipped && !lies_below(s.file, folder)) {
      diag_add(d, (Place){s.file, 0, 0}, D_BODY_READ,
               "it leads out of its folder by a symbolic link");
      continue;
    }
    if (!source_read(l, &s, d)) continue;
    GROW(l->a, l->sources, l->source_count, l->source_room);
    l->sources[l->source_count++] = s;
    split(l, &s, d);
  }
}

void items_load(Language *l, const char *templates, Diags *d) {
  l->portable.file = arena_printf(l->a, "%s/language/portable.h", templates);
  const Source *portable = &l->portable;
  if (source_read(l, &l->portable, d))
    words_read(l->a, &l->words, portable->file, portable->tokens, portable->token_count, d);
  load_folder(l, arena_printf(l->a, "%s/lib", templates), "templates/lib", true, d);
  find_mentions(l, 0);
  for (int i = 0; i < l->words.count; i++) {
    const Word *w = &l->words.list[i];
    if (w->marks & WORD_LIBRARY && !is_library_name(l, w->name, (int)strlen(w->name), false))
      diag_add(d, (Place){l->words.file, w->line, 0}, D_LANGUAGE,
               arena_printf(l->a, "the library has no function '%s'", w->name));
  }
}

void items_load_own(Language *l, const char *folder, Diags *d) {
  const int first = l->item_count;
  load_folder(l, *folder ? arena_printf(l->a, "%s/lib", folder) : "lib", "lib", false, d);
  find_mentions(l, first);
  items_named_well(l, first, d);
}

/* ---- above a body ---------------------------------------------------------------------------- */

/* The closing bracket of the one at i. */
static int bracket_end(const Token *t, int count, int i) {
  int depth = 0;
  for (; i < count; i++) {
    if (t[i].kind != TOK_PUNCT) continue;
    if (token_is(&t[i], "(")) depth++;
    if (token_is(&t[i], ")") && --depth == 0) return i;
  }
  return count;
}

/* `f32 f(f32 x) {`, `template <class T> T f(T x) {`: two names before the parentheses, and a brace behind
** them.  A statement has none such, as `else`, `return` and the heads of loops are no type. */
bool token_starts_function(const Token *t, int count, int i) {
  static const char *const heads[] = {"if", "for", "while", "switch", "do", "else", "return"};
  int angle = 0, names = 0;
  for (; i < count; i = token_from(t, count, i + 1)) {
    if (t[i].kind != TOK_NAME && t[i].kind != TOK_PUNCT) return false;
    for (size_t n = 0; n < sizeof heads / sizeof *heads; n++)
      if (token_is(&t[i], heads[n])) return false;
    if (token_is(&t[i], "<")) angle++;
    if (token_is(&t[i], ">")) angle--;
    if (angle > 0) continue;
    if (t[i].kind == TOK_NAME && !token_is(&t[i], "template")) names++;
    if (strchr("=;{}[+-.,", *t[i].s)) return false;
    if (!token_is(&t[i], "(")) continue;
    const int next = token_from(t, count, bracket_end(t, count, i) + 1);
    return names > 1 && next < count && token_is(&t[next], "{");
  }
  return false;
}

Language *items_above(Arena *a, const Language *l, const Source *body, char **rest, Diags *d) {
  const Token *t = body->tokens;
  const int count = body->token_count;
  int end = -1; /* the last function's closing brace */
  for (int i = 0; (i = token_from(t, count, i)) < count;) {
    const bool is_type = token_is(&t[i], "struct"), function = token_starts_function(t, count, i);
    if (!is_type && !function) break;
    i = item_end(t, count, i, is_type);
    if (function) end = i;
    i++;
  }
  if (end < 0) return NULL;
  Language *own = arena_alloc(a, sizeof *own);
  *own = *l;
  own->a = a;
  own->items = arena_alloc(a, ((size_t)l->item_count + 1) * sizeof *own->items);
  if (l->item_count) memcpy(own->items, l->items, (size_t)l->item_count * sizeof *own->items);
  own->item_room = l->item_count + 1;
  Source above = *body;
  above.token_count = end + 1;
  split(own, &above, d);
  find_mentions(own, l->item_count);
  *rest = arena_strndup(a, body->text, body->len);
  for (char *s = *rest; s < *rest + (t[end].s + t[end].len - t[0].s); s++)
    if (*s != '\n') *s = ' ';
  return own;
}

/* An item on the way down, and which of its mentions comes next. */
typedef struct Step {
  int item, next;
} Step;

/* An item after those that it names.  A list stands in for the stack: a library may name from item
** to item as long as it likes. */
static void visit(const Language *l, int item, bool *on, int *order, int *count) {
  Step *way = NULL;
  int depth = 0, room = 0;
  if (on[item]) return;
  on[item] = true;
  GROW(l->a, way, depth, room);
  way[depth++] = (Step){item, 0};
  while (depth > 0) {
    Step *s = &way[depth - 1];
    const Item *x = &l->items[s->item];
    if (s->next == x->mention_count) {
      order[(*count)++] = s->item;
      depth--;
      continue;
    }
    const int mention = x->mentions[s->next++];
    if (on[mention]) continue;
    on[mention] = true;
    GROW(l->a, way, depth, room);
    way[depth++] = (Step){mention, 0};
  }
}

int items_reached(Language *l, const Token *tokens, int count, int *order) {
  bool *on = arena_alloc(l->a, (size_t)l->item_count + 1);
  int reached = 0;
  for (int i = 0; i < l->item_count; i++)
    for (int t = 0; t < count && !on[i]; t++)
      if (tokens[t].kind == TOK_NAME && token_is(&tokens[t], l->items[i].name))
        visit(l, i, on, order, &reached);
  return reached;
}

/* preprocess.c: macros are replaced, and directives leave.  See source.h. */
#include <string.h>

#include "lint/source.h"

enum { DEPTH = 16, ARGS = 64, BRANCHES = 128, LEAST_BUDGET = 1 << 16, TIMES = 8 };

static bool spelt(const Project *p, const Tok *t, const char *s) {
  const Word *w = &p->words[t->word];
  return (size_t)w->len == strlen(s) && memcmp(w->s, s, (size_t)w->len) == 0;
}

/* The token that ends the directive whose `#` is at i. */
static int directive_end(const Tok *t, int n, int i) {
  while (i < n && t[i].kind != K_EOL) i++;
  return i;
}

/* ---- what there is to know: macros, includes -------------------------------------------------- */

static void read_params(Project *p, const Tok *t, int *i, int end, Macro *m) {
  int room = 0;
  for (++*i; *i < end && t[*i].word != W_RPAREN; ++*i) {
    if (t[*i].word == W_COMMA) continue;
    GROW(p->arena, m->params, m->param_count, room);
    if (t[*i].word == W_ELLIPSIS) {
      m->rest = true;
      if (m->param_count && t[*i - 1].kind == K_NAME) continue; /* name... */
      m->params[m->param_count++] = W_VA_ARGS;
    } else {
      m->params[m->param_count++] = t[*i].word;
    }
  }
  ++*i;
}

/* `#define` at i (its name follows). */
static void read_define(Project *p, Source *s, int i, int end) {
  Tok *t = s->raw;
  if (i >= end || t[i].kind != K_NAME) return;
  Macro m = {.name = t[i].word, .file = s->file};
  const uint32_t behind = t[i].at + (uint32_t)p->words[t[i].word].len;
  i++;
  if (i < end && t[i].word == W_LPAREN && t[i].at == behind) {
    m.takes = true;
    read_params(p, t, &i, end, &m);
  }
  if (i > end) i = end;
  m.body = t + i, m.body_count = end - i;
  m.next = p->words[m.name].first_macro;
  GROW(p->arena, p->macros, p->macro_count, p->macro_room);
  p->words[m.name].first_macro = p->macro_count;
  p->macros[p->macro_count++] = m;
}

static void read_include(Project *p, Source *s, int i, int end) {
  if (i >= end) return;
  const Tok *t = &s->raw[i];
  const char *from = s->text + t->at + 1;
  const char close = t->word == W_LT ? '>' : '"';
  if (t->kind != K_STRING && t->word != W_LT) return;
  const char *stop = memchr(from, close, s->len - (size_t)(from - s->text));
  if (!stop) return;
  GROW(p->arena, s->includes, s->include_count, s->include_room);
  s->includes[s->include_count++] = word_of(p, from, (size_t)(stop - from));
}

/* ---- who includes whom ------------------------------------------------------------------------- */

/* The path ends as the include is written. */
static bool path_matches(const char *path, const char *name, int len) {
  while (len > 3 && memcmp(name, "../", 3) == 0) name += 3, len -= 3;
  while (len > 2 && memcmp(name, "./", 2) == 0) name += 2, len -= 2;
  const size_t n = strlen(path);
  if (n < (size_t)len || memcmp(path + n - (size_t)len, name, (size_t)len) != 0) return false;
  return n == (size_t)len || path[n - (size_t)len - 1] == '/';
}

/* Which sources the includes are. */
static void find_leads(Project *p, Source *s) {
  for (int i = 0; i < s->include_count; i++) {
    const Word w = p->words[s->includes[i]];
    const char *slash = memrchr(w.s, '/', (size_t)w.len);
    const size_t base = slash ? (size_t)(slash + 1 - w.s) : 0;
    const int name = word_of(p, w.s + base, (size_t)w.len - base);
    for (int r = p->words[name].first_path; r >= 0; r = p->files[r].next) {
      const int f = p->files[r].file;
      if (!path_matches(p->sources[f].path, w.s, w.len)) continue;
      GROW(p->arena, s->leads, s->lead_count, s->lead_room);
      s->leads[s->lead_count++] = f;
    }
  }
}

void sources_collect(Project *p) {
  for (int f = 0; f < p->source_count; f++) {
    Source *s = &p->sources[f];
    const char *slash = strrchr(s->path, '/'), *base = slash ? slash + 1 : s->path;
    const int name = word_of(p, base, strlen(base));
    GROW(p->arena, p->files, p->file_count, p->file_room);
    p->files[p->file_count] = (FileRef){f, p->words[name].first_path};
    p->words[name].first_path = p->file_count++;
    for (int i = 0; i < s->raw_count; i++) {
      if (s->raw[i].kind != K_HASH) continue;
      const int end = directive_end(s->raw, s->raw_count, i);
      if (i + 1 < end && spelt(p, &s->raw[i + 1], "define")) read_define(p, s, i + 2, end);
      if (i + 1 < end &&
          (spelt(p, &s->raw[i + 1], "include") || spelt(p, &s->raw[i + 1], "import")))
        read_include(p, s, i + 2, end);
      i = end;
    }
  }
  for (int f = 0; f < p->source_count; f++) find_leads(p, &p->sources[f]);
}

bool source_sees(Project *p, Source *s, int file) {
  if (file == s->file) return true;
  if (s->seen) return s->seen[file];
  int *todo = arena_alloc(p->arena, (size_t)p->source_count * sizeof *todo), count = 1;
  s->seen = arena_alloc(p->arena, (size_t)p->source_count);
  s->seen[s->file] = 1;
  todo[0] = s->file;
  while (count) {
    const Source *one = &p->sources[todo[--count]];
    for (int i = 0; i < one->lead_count; i++) {
      if (s->seen[one->leads[i]]) continue;
      s->seen[one->leads[i]] = 1;
      todo[count++] = one->leads[i];
    }
  }
  return s->seen[file];
}

/* ---- expansion --------------------------------------------------------------------------------- */

typedef struct Out {
  Project *project;
  Source *source;
  Tok *t;
  int n, room, budget;
} Out;

static void put(Out *o, Tok t) {
  GROW(o->project->arena, o->t, o->n, o->room);
  o->t[o->n++] = t;
}

/* A header's macro matters only where it has to do with what is looked for. */
static bool relevant(Project *p, Macro *m) {
  static const char *const words[] = {"vailab", "ackend", "etal",  "ETAL", "uda", "UDA",
                                      "CU",     "ocm",    "OCM",   "hip",  "HIP", "ernel",
                                      "ort",    "type",   "throw", "get"};
  if (m->looked) return m->relevant;
  m->looked = true;
  for (int i = 0; i < m->body_count && !m->relevant; i++) {
    const Tok *t = &m->body[i];
    if (t->word == W_OROR || t->word == W_ANDAND || t->word == W_EQ || t->word == W_NE)
      m->relevant = true;
    for (size_t k = 0; t->kind == K_NAME && k < sizeof words / sizeof *words; k++)
      if (strstr(word_text(p, t->word), words[k])) m->relevant = true;
    const int inner = t->kind == K_NAME ? p->words[t->word].first_macro : -1;
    if (inner >= 0 && !m->relevant) m->relevant = relevant(p, &p->macros[inner]);
  }
  return m->relevant;
}

/* The macro that a name at `place` of this source means: its own, the last one before; else a header's. */
static Macro *macro_for(Project *p, Source *s, int word, uint32_t place) {
  Macro *found = NULL;
  for (int m = p->words[word].first_macro; m >= 0; m = p->macros[m].next) {
    Macro *one = &p->macros[m];
    if (one->busy) continue;
    if (one->file == s->file) {
      if (!one->body_count || one->body->at <= place) return one; /* the last one first */
    } else if (!found && relevant(p, one) && source_sees(p, s, one->file)) {
      found = one;
    }
  }
  return found;
}

/* Splits the call whose `(` is t[open]; its `)`, or -1. */
static int call_args(const Macro *m, const Tok *t, int n, int open, int from[ARGS], int to[ARGS],
                     int *count) {
  int depth = 0;
  *count = 0;
  from[0] = open + 1;
  for (int i = open; i < n; i++) {
    const int w = t[i].word;
    if (t[i].kind == K_HASH) return -1;
    if (w == W_LPAREN || w == W_LBRACE || w == W_LBRACKET) depth++;
    if (w == W_RPAREN || w == W_RBRACE || w == W_RBRACKET) depth--;
    if (depth == 0) {
      to[(*count)++] = i;
      return i;
    }
    const bool last = m->rest && *count + 1 >= m->param_count;
    if (w == W_COMMA && depth == 1 && !last && *count + 1 < ARGS) {
      to[(*count)++] = i;
      from[*count] = i + 1;
    }
  }
  return -1;
}

static Tok stringed(Project *p, const Tok *t, int from, int to, uint32_t place) {
  Buf b = {0};
  buf_puts(&b, "\"");
  for (int i = from; i < to; i++)
    buf_printf(&b, "%s%s", i > from ? " " : "", word_text(p, t[i].word));
  buf_puts(&b, "\"");
  const char *s = arena_strdup(p->arena, b.s);
  const size_t len = b.len;
  buf_free(&b);
  return (Tok){word_of(p, s, len), place, K_STRING};
}

/* What the call stands for, before macros in it are looked for. */
static void substitute(Out *o, const Macro *m, const Tok *t, const int *from, const int *to,
                       int count, uint32_t place) {
  Project *p = o->project;
  bool paste = false;
  for (int i = 0; i < m->body_count; i++) {
    const Tok *b = &m->body[i];
    const bool string = b->word == W_HASH && m->takes && i + 1 < m->body_count;
    const Tok *name = string ? b + 1 : b;
    int k = 0;
    while (k < m->param_count && (name->kind != K_NAME || m->params[k] != name->word)) k++;
    const bool param = k < m->param_count;
    const int before = o->n;
    if (b->word == W_PASTE) {
      paste = true;
      continue;
    }
    if (string && param) {
      put(o, k < count ? stringed(p, t, from[k], to[k], place) : stringed(p, t, 0, 0, place));
      i++;
    } else if (param) {
      for (int j = from[k]; k < count && j < to[k]; j++) put(o, (Tok){t[j].word, place, t[j].kind});
    } else {
      put(o, (Tok){b->word, place, b->kind});
    }
    if (paste && before > 0 && o->n > before) {
      const char *joined = arena_printf(p->arena, "%s%s", word_text(p, o->t[before - 1].word),
                                        word_text(p, o->t[before].word));
      o->t[before - 1].word = word_of(p, joined, strlen(joined));
      for (int j = before + 1; j < o->n; j++) o->t[j - 1] = o->t[j];
      o->n--;
    }
    paste = false;
  }
}

static void expand(Out *o, const Tok *t, int n, int depth);

/* The call of a macro at t[i]: its last token; -1: it is none. */
static int expand_call(Out *o, const Tok *t, int n, int i, int depth) {
  Project *p = o->project;
  Macro *m = macro_for(p, o->source, t[i].word, t[i].at);
  int from[ARGS], to[ARGS], count = 0, last = i;
  if (!m) return -1;
  if (m->takes) {
    if (i + 1 >= n || t[i + 1].word != W_LPAREN) return -1;
    last = call_args(m, t, n, i + 1, from, to, &count);
    if (last < 0) return -1;
  }
  Out inner = {.project = p, .source = o->source};
  substitute(&inner, m, t, from, to, count, t[i].at);
  o->budget -= inner.n;
  const int at = (int)(m - p->macros);
  p->macros[at].busy = true;
  expand(o, inner.t, inner.n, depth + 1);
  p->macros[at].busy = false;
  return last;
}

static void expand(Out *o, const Tok *t, int n, int depth) {
  for (int i = 0; i < n; i++) {
    int last = -1;
    if (t[i].kind == K_NAME && o->project->words[t[i].word].first_macro >= 0 && depth < DEPTH &&
        o->budget > 0)
      last = expand_call(o, t, n, i, depth);
    if (last < 0)
      put(o, t[i]);
    else
      i = last;
  }
}

/* ---- conditions -------------------------------------------------------------------------------- */

typedef struct Branch {
  int from;   /* where the branch that is read begins, in what is put out */
  bool other; /* it is not the first of its `#if` */
  bool dead;  /* `#if 0` */
} Branch;

/* Takes the brackets without a partner out of [from, n): the first branch has them. */
static void balance(Out *o, int from) {
  int *open = arena_alloc(o->project->arena, (size_t)(o->n - from + 1) * sizeof *open), count = 0;
  bool *drop = arena_alloc(o->project->arena, (size_t)(o->n - from + 1));
  for (int i = from; i < o->n; i++) {
    const int w = o->t[i].word;
    if (w == W_LPAREN || w == W_LBRACE || w == W_LBRACKET) open[count++] = i;
    if (w != W_RPAREN && w != W_RBRACE && w != W_RBRACKET) continue;
    if (count)
      count--;
    else
      drop[i - from] = true;
  }
  while (count) drop[open[--count] - from] = true;
  int n = from;
  for (int i = from; i < o->n; i++)
    if (!drop[i - from]) o->t[n++] = o->t[i];
  o->n = n;
}

/* The directive at t[i], up to end. */
static void directive(Out *o, const Tok *t, int i, int end, Branch *stack, int *depth) {
  const Project *p = o->project;
  if (i + 1 >= end) return;
  const Tok *word = &t[i + 1];
  if (spelt(p, word, "if") || spelt(p, word, "ifdef") || spelt(p, word, "ifndef")) {
    const bool zero = spelt(p, word, "if") && end == i + 3 &&
                      (t[i + 2].word == W_ZERO || t[i + 2].word == W_FALSE);
    if (*depth < BRANCHES) stack[*depth] = (Branch){o->n, false, zero};
    ++*depth;
    return;
  }
  const bool more = spelt(p, word, "else") || spelt(p, word, "elif") || spelt(p, word, "elifdef") ||
                    spelt(p, word, "elifndef");
  const bool ends = spelt(p, word, "endif");
  if ((!more && !ends) || *depth == 0) return;
  if (*depth <= BRANCHES) {
    Branch *b = &stack[*depth - 1];
    const bool was_dead = b->dead;
    if (b->dead) o->n = b->from;
    if (b->other && o->n > b->from) balance(o, b->from);
    *b = (Branch){o->n, b->other || !was_dead, false};
  }
  if (ends) --*depth;
}

void source_expand(Project *p, Source *s) {
  Branch stack[BRANCHES];
  Out o = {.project = p, .source = s, .budget = s->raw_count * TIMES + LEAST_BUDGET};
  int depth = 0;
  for (int i = 0; i < s->raw_count;) {
    int to = i;
    while (to < s->raw_count && s->raw[to].kind != K_HASH) to++;
    expand(&o, s->raw + i, to - i, 0);
    if (to >= s->raw_count) break;
    const int end = directive_end(s->raw, s->raw_count, to);
    directive(&o, s->raw, to, end, stack, &depth);
    i = end + 1;
  }
  s->t = o.t, s->n = o.n;
}

/* rule_wave.c: L5, tables that are marked for any wavefront width.
**
** From the slot's lambda to the getter, the holder, its struct and one helper: the source that hip_kernel is given there
** is to be one raw literal, with no header, and is read for lane operations. */
#include <stdlib.h>
#include <string.h>

#include "lint/rules.h"

enum { DEPTH = 8, SPOTS = 64, ARGS = 12, NAMES = 128 };
enum { SOURCE = 3, HEADER = 4 };

typedef struct Spot {
  Source *s;
  int from, to;
} Spot;

/* What is reached from a slot. */
typedef struct Reach {
  Lint *l;
  Spot spots[SPOTS]; /* looked through */
  int count;
  Spot calls[SPOTS]; /* of hip_kernel: the tokens between its parentheses */
  int call_count;
} Reach;

static void reach(Reach *r, Source *s, int from, int to, int depth);

/* Where a holder's struct is. */
static void reach_struct(Reach *r, int word, int depth) {
  Project *p = r->l->p;
  for (int f = p->words[word].first_file; f >= 0; f = p->files[f].next) {
    Source *s = &p->sources[p->files[f].file];
    for (int i = 0; i < s->n; i++) {
      if (s->t[i].word != word || (!is_word(s, i - 1, W_STRUCT) && !is_word(s, i - 1, W_CLASS)))
        continue;
      int open = i + 1;
      while (open < s->n && !is_word(s, open, W_LBRACE) && !is_word(s, open, W_SEMI)) open++;
      if (is_word(s, open, W_LBRACE) && s->match[open] > open)
        reach(r, s, i + 1, s->match[open], depth + 1);
    }
  }
  for (int k = 0; k < p->func_count; k++) /* Holder::get() { */
    if (p->funcs[k]->owner == word)
      reach(r, &p->sources[p->funcs[k]->file], p->funcs[k]->body, p->funcs[k]->end, depth + 1);
}

/* The declaration of a holder: its type and what it is set to. */
static void reach_variable(Reach *r, Source *s, int word, int depth) {
  for (int i = 1; i < s->n; i++) {
    if (s->t[i].word != word || is_word(s, i - 1, W_DOT) || is_word(s, i + 1, W_DOT)) continue;
    int from = i;
    while (from > 0 && i - from < 24 && !is_word(s, from - 1, W_SEMI) &&
           !is_word(s, from - 1, W_LBRACE) && !is_word(s, from - 1, W_RBRACE) &&
           !is_word(s, from - 1, W_LPAREN))
      from--;
    bool declared = false;
    for (int k = from; k < i; k++)
      declared |= is_name(s, k) && (r->l->holder[s->t[k].word] || s->t[k].word == W_AUTO);
    if (!declared || is_word(s, from, W_RETURN)) continue;
    int to = i;
    while (to < s->n && !is_word(s, to, W_SEMI)) to = skip_to(s, to) + 1;
    reach(r, s, from, to, depth + 1);
  }
}

static void reach(Reach *r, Source *s, int from, int to, int depth) {
  for (int k = 0; k < r->count; k++)
    if (r->spots[k].s == s && r->spots[k].from == from) return;
  if (r->count == SPOTS || depth > DEPTH) return;
  r->spots[r->count++] = (Spot){s, from, to};
  for (int i = from; i < to; i++) {
    if (!is_name(s, i)) continue;
    const int w = s->t[i].word;
    if (calls_constructor(s, i)) {
      if ((w == W_HIP_KERNEL || w == W_ROCM_KERNEL) && r->call_count < SPOTS)
        r->calls[r->call_count++] = (Spot){s, i + 1, s->match[i + 1]};
      continue;
    }
    const Func *f = is_word(s, i + 1, W_SCOPE) || w == W_GET ? NULL : func_named(r->l->p, s, w);
    if (f && f->owner < 0) reach(r, &r->l->p->sources[f->file], f->body, f->end, depth + 1);
    if (r->l->holder[w]) {
      reach_struct(r, w, depth);
      reach_variable(r, s, w, depth);
    }
    Value v; /* a getter that is a lambda's */
    if (!f && w >= W_COUNT && !r->l->holder[w] && depth < 3 && value_find(r->l->p, s, w, i, &v) &&
        (is_word(v.source, v.from, W_LBRACKET) || is_word(v.source, v.from, W_PLUS)))
      reach(r, v.source, v.from, v.to, depth + 1);
  }
}

/* ---- the text ------------------------------------------------------------------------------------ */

typedef struct Text {
  Source *s;
  int literal[NAMES]; /* tokens; in the order of the text */
  Source *home[NAMES];
  int count;
  int name;     /* the variable that has it; -1 */
  bool pieces;  /* not one literal alone */
  bool unknown; /* something that cannot be followed is in it */
} Text;

static void read_text(Reach *r, Source *s, int from, int to, Text *out, int depth);

/* A parameter: what the calls that were reached give. */
static bool read_param(Reach *r, Source *s, int i, Text *out, int depth) {
  const Func *f = func_at(s, i);
  int from[32], to[32], found = 0;
  const int n = f && f->open >= 0 ? split_args(s, f->open, from, to, 32) : 0;
  for (int k = 0; k < n; k++) {
    if (s->t[to[k] - 1].word != s->t[i].word) continue;
    for (int c = 0; c < r->count; c++)
      for (int t = r->spots[c].from; t < r->spots[c].to; t++) {
        Source *at = r->spots[c].s;
        int a[32], b[32];
        const bool constructs = f->name >= 0 && f->name == f->owner && t > 0 && is_name(at, t) &&
                                is_word(at, t - 1, f->name); /* Holder name{...} */
        if ((at->t[t].word != f->name && !constructs) || t == f->head) continue;
        if (!is_word(at, t + 1, W_LPAREN) && !is_word(at, t + 1, W_LBRACE)) continue;
        if (at == s && t + 1 == f->open) continue;
        if (split_args(at, t + 1, a, b, 32) <= k) continue;
        if (found++ == 0 || out->count == 0) read_text(r, at, a[k], b[k], out, depth + 1);
      }
  }
  return found > 0;
}

/* What a holder was made with: among its arguments, the one that is a text. */
static bool read_made(Reach *r, Text *out, int depth) {
  for (int c = 0; c < r->count && depth < DEPTH; c++) {
    Source *s = r->spots[c].s;
    for (int i = r->spots[c].from; i < r->spots[c].to; i++) {
      int a[ARGS], b[ARGS];
      const bool made =
          is_name(s, i) && r->l->holder[s->t[i].word] &&
          (is_word(s, i + 1, W_LBRACE) || is_word(s, i + 1, W_LPAREN) || is_word(s, i + 1, W_LT));
      if (!made) continue;
      const int open = i + 1;
      if (is_word(s, open, W_LT)) {
        if (is_name(s, open + 1)) {
          Text one = {.name = -1};
          read_text(r, s, open + 1, path_to(s, open + 1), &one, depth + 2);
          if (one.count && !one.unknown) {
            *out = one;
            return true;
          }
        }
        continue;
      }
      const int n = s->match[open] > 0 ? split_args(s, open, a, b, ARGS) : 0;
      for (int k = 0; k < n; k++) {
        Text one = {.name = -1};
        read_text(r, s, a[k], b[k], &one, depth + 2);
        const Word *w = one.count ? &r->l->p->words[one.home[0]->t[one.literal[0]].word] : NULL;
        if (!w || one.unknown || !memchr(w->s, ';', (size_t)w->len)) continue;
        *out = one;
        return true;
      }
    }
  }
  return false;
}

static bool is_text_type(const Project *p, int word) {
  const char *s = word_text(p, word);
  return word == W_MOVE || strcmp(s, "string") == 0 || strcmp(s, "string_view") == 0 ||
         strcmp(s, "to_string") == 0;
}

/* A name, or a call of a function without arguments. */
static void read_named(Reach *r, Source *s, int from, int to, Text *out, int depth) {
  Project *p = r->l->p;
  const int last = path_to(s, from) - 1;
  Value v;
  if (last + 1 < to && s->match[last + 1] == to - 1) {
    if (is_text_type(p, s->t[last].word)) {
      read_text(r, s, last + 2, to - 1, out, depth + 1);
      return;
    }
    const Func *f = func_named(p, s, s->t[last].word);
    Source *home = f ? &p->sources[f->file] : NULL;
    for (int i = f ? f->body : 0; f && i < f->end; i++)
      if (home->t[i].word == W_RETURN) {
        const int end = statement_end(home, i, f->end) - 1;
        read_text(r, home, i + 1, end, out, depth + 1);
        if (out->name < 0 || to - from == 3) out->name = f->name;
        return;
      }
    out->unknown = true;
    return;
  }
  if (last + 1 == to && value_find(p, s, s->t[last].word, from, &v)) {
    read_text(r, v.source, v.from, v.to, out, depth + 1);
    if (out->name < 0) out->name = s->t[last].word;
    return;
  }
  if (last + 1 == to && read_param(r, s, last, out, depth)) return;
  if (!read_made(r, out, depth)) out->unknown = true;
}

static void read_text(Reach *r, Source *s, int from, int to, Text *out, int depth) {
  while (to - from > 2 && s->match[from] == to - 1) from++, to--;
  while (to - from > 4 && is_word(s, to - 1, W_RPAREN) && is_word(s, to - 2, W_LPAREN) &&
         is_word(s, to - 4, W_DOT))
    to -= 4; /* .c_str() */
  if (from >= to || depth > 2 * DEPTH) {
    out->unknown = true;
    return;
  }
  for (int i = from; i < to; i++) {
    const bool sign = is_word(s, skip_to(s, i), W_PLUS);
    i = skip_to(s, i);
    if (!sign) continue;
    out->pieces = true;
    read_text(r, s, from, i, out, depth + 1);
    read_text(r, s, i + 1, to, out, depth + 1);
    return;
  }
  if (s->t[from].kind != K_RAW && s->t[from].kind != K_STRING) {
    if (is_name(s, from))
      read_named(r, s, from, to, out, depth);
    else
      out->unknown = true;
    return;
  }
  for (int i = from; i < to; i++) {
    if (s->t[i].kind != K_RAW && s->t[i].kind != K_STRING) out->unknown = true;
    if (out->count) out->pieces = true;
    if (out->count < NAMES) {
      out->home[out->count] = s;
      out->literal[out->count++] = i;
    }
  }
}

/* The characters of a literal, without its quotes. */
static const char *content(Project *p, const Source *s, int i, size_t *len) {
  const Word *w = &p->words[s->t[i].word];
  const char *quote = memchr(w->s, '"', (size_t)w->len);
  if (!quote) return *len = 0, "";
  if (s->t[i].kind == K_RAW) {
    const char *open = memchr(quote, '(', (size_t)(w->s + w->len - quote));
    const size_t mark = open ? (size_t)(open - quote) : 1;
    if (!open || (size_t)(w->s + w->len - open) < mark + 2) return *len = 0, "";
    *len = (size_t)(w->s + w->len - open) - mark - 2;
    return open + 1;
  }
  char *out = arena_alloc(p->arena, (size_t)w->len + 1);
  size_t n = 0;
  for (const char *c = quote + 1; c + 1 < w->s + w->len; c++) {
    if (*c == '\\') {
      c++;
      out[n++] = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c;
    } else {
      out[n++] = *c;
    }
  }
  *len = n;
  return out;
}

/* ---- lane operations ----------------------------------------------------------------------------- */

typedef struct Scan {
  Project *p;
  Tok *t;
  int n;
  int thread[NAMES], thread_count; /* names that come of the thread's index */
  int block[NAMES], block_count;   /* ... of the block's, too */
  const char *found;
  uint32_t at;
} Scan;

static bool among(const int *list, int count, int word) {
  for (int i = 0; i < count; i++)
    if (list[i] == word) return true;
  return false;
}

static bool is_lane_word(const char *s) {
  static const char *const heads[] = {"__shfl",
                                      "__ballot",
                                      "__any",
                                      "__all",
                                      "__match_",
                                      "__reduce_",
                                      "__activemask",
                                      "__lane_id",
                                      "__syncwarp",
                                      "__lanemask",
                                      "__builtin_amdgcn_",
                                      "__AMDGCN_WAVEFRONT",
                                      "__ockl_",
                                      "warpSize",
                                      "hipWarpSize",
                                      "WARP_SIZE",
                                      "__builtin_nvvm_",
                                      "simd_shuffle",
                                      "tiled_partition",
                                      "coalesced_threads",
                                      "thread_block_tile",
                                      "asm",
                                      "__asm",
                                      "__popcll_ballot",
                                      "wavefrontSize",
                                      "__wave"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (strncmp(s, heads[i], strlen(heads[i])) == 0 &&
        (strncmp(heads[i], "asm", 3) != 0 || strlen(s) == 3))
      return true;
  return false;
}

/* Names that are set from the thread's index, and from those. */
static void follow_threads(Scan *s) {
  static const char *const seeds[] = {"threadIdx", "hipThreadIdx_x", "hipThreadIdx_y",
                                      "hipThreadIdx_z"};
  static const char *const blocks[] = {"blockIdx", "hipBlockIdx_x", "hipBlockIdx_y",
                                       "hipBlockIdx_z"};
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
    s->thread[s->thread_count++] = word_of(s->p, seeds[i], strlen(seeds[i]));
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    s->block[s->block_count++] = word_of(s->p, blocks[i], strlen(blocks[i]));
  for (int round = 0; round < 6; round++)
    for (int i = 1; i + 1 < s->n; i++) {
      const bool defines = s->t[i].kind == K_NAME && s->t[i - 1].kind == K_NAME &&
                           strcmp(word_text(s->p, s->t[i - 1].word), "define") == 0;
      const bool sets = s->t[i].kind == K_NAME &&
                        (s->t[i + 1].word == W_ASSIGN ||
                         ((s->t[i + 1].word == W_LPAREN || s->t[i + 1].word == W_LBRACE) &&
                          s->t[i - 1].kind == K_NAME && !is_control(s->t[i - 1].word)));
      if (!defines && !sets) continue;
      bool thread = false, block = false;
      int inside = 0; /* of brackets: x[thread] is no index */
      for (int k = i + 1; k < s->n && s->t[k].word != W_SEMI && s->t[k].kind != K_EOL &&
                          (s->t[k].word != W_LBRACE || k == i + 1);
           k++) {
        inside += (s->t[k].word == W_LBRACKET) - (s->t[k].word == W_RBRACKET);
        if (inside || s->t[k].kind != K_NAME) continue;
        thread |= among(s->thread, s->thread_count, s->t[k].word);
        block |= among(s->block, s->block_count, s->t[k].word);
      }
      const int w = s->t[i].word;
      if (thread && !among(s->thread, s->thread_count, w) && s->thread_count < NAMES)
        s->thread[s->thread_count++] = w;
      if (thread && block && !among(s->block, s->block_count, w) && s->block_count < NAMES)
        s->block[s->block_count++] = w;
    }
}

/* The number that a name was given in the text, or that stands there; -1. */
static long number(const Scan *s, int i, int depth) {
  if (i < 0 || i >= s->n) return -1;
  if (s->t[i].kind == K_NUMBER) return strtol(word_text(s->p, s->t[i].word), NULL, 0);
  if (s->t[i].word == W_LPAREN && i + 4 < s->n && s->t[i + 2].word == W_MINUS) {
    const long a = number(s, i + 1, depth + 1), b = number(s, i + 3, depth + 1);
    return a < 0 || b < 0 ? -1 : a - b;
  }
  if (s->t[i].word == W_LPAREN) return number(s, i + 1, depth + 1);
  if (s->t[i].kind != K_NAME || depth > 4) return -1;
  for (int k = 1; k + 2 < s->n; k++) {
    if (s->t[k].word != s->t[i].word) continue;
    if (s->t[k + 1].word == W_ASSIGN || s->t[k + 1].word == W_LBRACE)
      return number(s, k + 2, depth + 1);
    if (strcmp(word_text(s->p, s->t[k - 1].word), "define") == 0)
      return number(s, k + 1, depth + 1);
  }
  return -1;
}

/* Does the operand that ends at i come of the thread's index?  1: of it alone, 2: of the block's too, 0: no. */
static int from_thread(const Scan *s, int i) {
  int from = i;
  if (s->t[i].word == W_RPAREN) {
    int depth = 0;
    for (; from >= 0; from--) {
      depth += (s->t[from].word == W_RPAREN) - (s->t[from].word == W_LPAREN);
      if (depth == 0) break;
    }
  } else if (i >= 2 && s->t[i - 1].word == W_DOT) {
    from = i - 2;
  }
  bool thread = false, block = false;
  for (int k = from < 0 ? 0 : from; k <= i; k++) {
    thread |= s->t[k].kind == K_NAME && among(s->thread, s->thread_count, s->t[k].word);
    block |= s->t[k].kind == K_NAME && among(s->block, s->block_count, s->t[k].word);
  }
  return thread ? block ? 2 : 1 : 0;
}

/* The width that `operator number` cuts an index by; 0: none. */
static long width_of(int sign, long n) {
  const bool mask = sign == W_AND || sign == W_AND_ASSIGN,
             shift = sign == W_SHR || sign == W_SHR_ASSIGN;
  const bool whole =
      sign == W_PERCENT || sign == W_SLASH || sign == W_PERCENT_ASSIGN || sign == W_SLASH_ASSIGN;
  if ((mask && n == 31) || (shift && n == 5) || (whole && n == 32)) return 32;
  if ((mask && n == 63) || (shift && n == 6) || (whole && n == 64)) return 64;
  return 0;
}

static void scan(Scan *s) {
  follow_threads(s);
  for (int i = 0; i < s->n && !s->found; i++) {
    if (s->t[i].kind == K_NAME) {
      const char *name = word_text(s->p, s->t[i].word);
      if (is_lane_word(name)) s->found = name, s->at = s->t[i].at;
      continue;
    }
    if (s->t[i].kind != K_SIGN || i == 0 || i + 1 >= s->n) continue;
    long width = width_of(s->t[i].word, number(s, i + 1, 0));
    int from = width ? from_thread(s, i - 1) : 0;
    if (!from && s->t[i].word == W_AND && i + 1 < s->n) { /* 31 & thread */
      width = width_of(W_AND, number(s, i - 1, 0));
      from = width ? from_thread(s, i + 1 + 2 * (i + 3 < s->n && s->t[i + 2].word == W_DOT)) : 0;
    }
    if (from == 1 || (from == 2 && width == 32)) {
      s->found = arena_printf(s->p->arena, "the thread's index %s %s",
                              word_text(s->p, s->t[i].word), word_text(s->p, s->t[i + 1].word));
      s->at = s->t[i].at;
    }
  }
}

/* ---- the rule ------------------------------------------------------------------------------------ */

/* Says what is wrong with the source of a table; its variable's word in *name. */
static void look_at_call(Lint *l, Reach *r, const Table *t, const Spot *call, int *name) {
  int from[ARGS], to[ARGS];
  const char *table = word_text(l->p, t->name);
  const int n = split_args(call->s, call->from, from, to, ARGS);
  Text text = {.name = -1};
  if (n <= SOURCE) {
    find(l, RULE_ANY_WAVE, t->source, t->mark,
         "%s: hip_kernel is called without a source that can be followed", table);
    return;
  }
  read_text(r, call->s, from[SOURCE], to[SOURCE], &text, 0);
  *name = text.name;
  if (n > HEADER) {
    Text header = {.name = -1};
    size_t len = 0;
    const int first = from[HEADER];
    const bool empty = to[HEADER] == first + 2 && call->s->match[first] == first + 1;
    const bool made_empty = is_word(call->s, to[HEADER] - 1, W_RPAREN) &&
                            is_word(call->s, to[HEADER] - 2, W_LPAREN) &&
                            is_text_type(l->p, call->s->t[to[HEADER] - 3].word);
    if (!empty && !made_empty) {
      read_text(r, call->s, first, to[HEADER], &header, 0);
      if (header.count == 1 && !header.unknown)
        content(l->p, header.home[0], header.literal[0], &len);
      if (header.unknown || header.count != 1 || len)
        find(l, RULE_ANY_WAVE, t->source, t->mark,
             "%s is marked any-wave, and its HIP kernel has a header, which is not looked at",
             table);
    }
  }
  for (int i = 0; i < text.count; i++) {
    size_t len;
    Scan s = {.p = l->p};
    const char *c = content(l->p, text.home[i], text.literal[i], &len);
    s.t = text_lex(l->p, c, len, &s.n);
    scan(&s);
    if (!s.found) continue;
    int line = 1;
    for (uint32_t k = 0; k < s.at; k++) line += c[k] == '\n';
    int top, col;
    place_of(text.home[i], text.home[i]->t[text.literal[i]].at, &top, &col);
    find(l, RULE_ANY_WAVE, t->source, t->mark,
         "%s is marked any-wave, and its source%s%s has %s (%s:%d)", table,
         text.name < 0 ? "" : " ", word_text(l->p, text.name), s.found, text.home[i]->path,
         top + line - 1);
    return;
  }
  if (text.unknown || text.pieces || text.count != 1)
    find(l, RULE_ANY_WAVE, t->source, t->mark, "%s is marked any-wave, and its HIP source %s",
         table,
         text.pieces ? "is put together of several pieces: one raw literal can be read"
                     : "cannot be followed to one raw literal");
}

static int look_at_mark(Lint *l, const Table *t) {
  Reach *r = arena_alloc(l->p->arena, sizeof *r);
  r->l = l;
  int name = -1;
  reach(r, t->source, t->rocm[0], t->rocm[1], 0);
  if (r->call_count == 0)
    find(l, RULE_ANY_WAVE, t->source, t->mark,
         "%s is marked any-wave, and no hip_kernel can be followed to from its rocm slot",
         word_text(l->p, t->name));
  for (int i = 0; i < r->call_count; i++) look_at_call(l, r, t, &r->calls[i], &name);
  return name;
}

/* The pins: `TABLE SOURCE`, one a line. */
static void hold_to_pins(Lint *l, const char *text, const int *sources) {
  int line = 0;
  bool *pinned = arena_alloc(l->p->arena, (size_t)l->table_count + 1);
  for (const char *c = text; *c;) {
    char table[128], source[128];
    const size_t n = strcspn(c, "\n");
    const char *row = arena_strndup(l->p->arena, c, n);
    line++;
    c += n + (c[n] == '\n');
    if (sscanf(row, " %127s", table) != 1 || table[0] == '#') continue;
    if (sscanf(row, " %127s %127s", table, source) != 2) {
      find_in_list(l, RULE_STALE_ENTRY, l->pins, line, "a pin is TABLE SOURCE");
      continue;
    }
    bool found = false;
    for (int i = 0; i < l->table_count; i++) {
      const Table *t = &l->tables[i];
      if (t->mark < 0 || (strcmp(word_text(l->p, t->name), table) != 0 &&
                          strcmp(word_text(l->p, t->getter), table) != 0))
        continue;
      found = pinned[i] = true;
      if (strcmp(word_text(l->p, sources[i]), source) != 0)
        find(l, RULE_ANY_WAVE, t->source, t->mark, "%s is pinned to the source %s, and has %s",
             table, source, sources[i] < 0 ? "another" : word_text(l->p, sources[i]));
    }
    if (!found)
      find_in_list(l, RULE_STALE_ENTRY, l->pins, line,
                   "%s is pinned, and no table of this name is marked any-wave", table);
  }
  for (int i = 0; i < l->table_count; i++)
    if (l->tables[i].mark >= 0 && !pinned[i])
      find(l, RULE_ANY_WAVE, l->tables[i].source, l->tables[i].mark,
           "%s is marked any-wave, and is not pinned in %s", word_text(l->p, l->tables[i].name),
           l->pins);
}

void rule_wave(Lint *l) {
  int *sources = arena_alloc(l->p->arena, ((size_t)l->table_count + 1) * sizeof *sources);
  for (int i = 0; i < l->table_count; i++) {
    const Table *t = &l->tables[i];
    sources[i] = -1;
    if (t->mark < 0) continue;
    l->marks++;
    if (t->rocm[1] > t->rocm[0]) sources[i] = look_at_mark(l, t);
  }
  if (!l->pins) return;
  size_t len;
  const char *why, *text = file_read(l->p->arena, l->pins, &len, &why);
  if (text) hold_to_pins(l, text, sources);
}

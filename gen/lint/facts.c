/* facts.c: tables, holders, and words that lead to questions.  See rules.h. */
#include <string.h>

#include "lint/rules.h"

enum { ROUNDS = 8, FIELDS = 8 };

/* ---- tables ------------------------------------------------------------------------------------ */

static bool names_ports(Project *p, Source *s, int i) {
  int path[8];
  if (s->t[i].word == W_KERNEL_PORTS) return true;
  if (p->words[s->t[i].word].len < 3) return false;
  for (int k = 0; k < s->alias_count; k++)
    if (s->aliases[k].name == s->t[i].word) {
      const int n = path_words(p, s, i, path);
      return path[n - 1] == W_KERNEL_PORTS;
    }
  return false;
}

static bool is_true(Project *p, Source *s, int from, int to) {
  Reading r = {.project = p};
  const Formula *f = formula_read(&r, s, from, to);
  return f->kind != F_FALSE;
}

static void add_table(Lint *l, Source *s, int name, int open) {
  int from[FIELDS], to[FIELDS];
  Table t = {.source = s,
             .name = s->t[name].word,
             .at = name,
             .open = open,
             .close = s->match[open],
             .mark = -1};
  const Func *f = named_func_at(s, open);
  t.getter = f ? f->name : -1;
  const int n = split_args(s, open, from, to, FIELDS);
  for (int i = 0; i < n; i++) {
    static const int order[] = {W_METAL, W_CUDA, W_ROCM, W_ANY_WAVE};
    int field = i < 4 ? order[i] : 0, value = from[i];
    if (is_word(s, value, W_DOT) && is_word(s, value + 2, W_ASSIGN)) {
      field = s->t[value + 1].word;
      value += 3;
    }
    if ((field == W_ROCM || field == W_HIP) && s->t[value].word != W_NULLPTR &&
        s->t[value].word != W_NULL_MACRO && s->t[value].word != W_ZERO)
      t.rocm[0] = value, t.rocm[1] = to[i];
    if (field == W_ANY_WAVE && is_true(l->p, s, value, to[i])) t.mark = value;
  }
  GROW(l->p->arena, l->tables, l->table_count, l->table_room);
  l->tables[l->table_count++] = t;
}

/* `KernelPorts name = {`, `KernelPorts name{`, `auto name = KernelPorts{`, `KernelPorts names[] = {{`. */
static void read_table(Lint *l, Source *s, int i) {
  if (!names_ports(l->p, s, i)) return;
  if (is_word(s, i - 1, W_STRUCT) && is_word(s, i + 1, W_LBRACE)) return;
  int name = i + 1, open;
  while (is_word(s, name, W_CONST) || is_word(s, name, W_CONSTEXPR)) name++;
  if (is_word(s, name, W_LBRACE)) { /* = KernelPorts{ */
    open = name;
    name = path_from(s, i) - 2;
    if (!is_word(s, name + 1, W_ASSIGN) || !is_name(s, name)) return;
  } else {
    if (!is_name(s, name)) return;
    open = name + 1;
    const bool many = is_word(s, open, W_LBRACKET);
    if (many) open = s->match[open] + 1;
    if (is_word(s, open, W_ASSIGN)) open++;
    if (is_name(s, open)) return; /* = KernelPorts{: comes by itself */
    if (!is_word(s, open, W_LBRACE)) return;
    if (many) {
      int from[64], to[64];
      const int n = split_args(s, open, from, to, 64);
      for (int k = 0; k < n; k++)
        if (is_word(s, from[k], W_LBRACE)) add_table(l, s, name, from[k]);
      return;
    }
  }
  if (s->match[open] > open) add_table(l, s, name, open);
}

/* `table.rocm_any_wave_size = true` */
static void read_late_mark(Lint *l, Source *s, int i) {
  if (!is_word(s, i - 1, W_DOT) || !is_word(s, i + 1, W_ASSIGN) || !is_name(s, i - 2)) return;
  int end = i + 2;
  while (end < s->n && !is_word(s, end, W_SEMI)) end++;
  for (int k = 0; k < l->table_count; k++)
    if (l->tables[k].name == s->t[i - 2].word && l->tables[k].source == s &&
        is_true(l->p, s, i + 2, end))
      l->tables[k].mark = i;
}

const Table *table_around(const Lint *l, const Source *s, int i) {
  for (int k = 0; k < l->table_count; k++)
    if (l->tables[k].source == s && l->tables[k].open < i && i < l->tables[k].close)
      return &l->tables[k];
  return NULL;
}

const Table *table_named(const Lint *l, int word) {
  for (int k = 0; k < l->table_count; k++)
    if (l->tables[k].name == word) return &l->tables[k];
  for (int k = 0; k < l->table_count; k++)
    if (l->tables[k].getter == word) return &l->tables[k];
  return NULL;
}

/* ---- holders ----------------------------------------------------------------------------------- */

bool calls_constructor(const Source *s, int i) {
  const int w = s->t[i].word;
  if (w != W_METAL_KERNEL && w != W_CUDA_KERNEL && w != W_HIP_KERNEL && w != W_ROCM_KERNEL)
    return false;
  if (!is_word(s, i + 1, W_LPAREN) || s->match[i + 1] < 0) return false;
  const int before = path_from(s, i) - 1;
  if (is_name(s, before) && !is_control(s->t[before].word)) return false; /* it is declared */
  return !is_word(s, s->match[i + 1] + 1, W_LBRACE);
}

/* A struct with a kernel in it, or derived of one. */
static bool read_holder_type(Lint *l, Source *s, int i) {
  int name = i + 1;
  while (is_name(s, name) && is_name(s, name + 1) && s->t[name + 1].word != W_FINAL) name++;
  if (!is_name(s, name) || s->t[name].word == W_KERNEL_PORTS || l->holder[s->t[name].word])
    return false;
  int open = name + 1;
  bool holds = false;
  for (; open < s->n && open < name + 60 && !is_word(s, open, W_LBRACE); open++) {
    if (is_word(s, open, W_SEMI) || is_word(s, open, W_LPAREN) || is_word(s, open, W_ASSIGN))
      return false;
    if (is_name(s, open) && l->holder[s->t[open].word]) holds = true;
  }
  if (!is_word(s, open, W_LBRACE) || s->match[open] < 0) return false;
  for (int k = open + 1; k < s->match[open] && !holds; k++)
    holds = s->t[k].word == W_CUSTOM_KERNEL_FUNCTION || calls_constructor(s, k);
  if (holds) l->holder[s->t[name].word] = true;
  return holds;
}

static bool gives_kernel(const Source *s, const Func *f) {
  for (int i = f->start; i < f->body; i++)
    if (s->t[i].word == W_CUSTOM_KERNEL_FUNCTION && (i < f->head || i > f->close)) return true;
  return false;
}

/* Variables of holders' types, and functions that give one. */
static bool read_holder_name(Lint *l, Source *s, int i) {
  if (is_word(s, i - 1, W_STRUCT) || is_word(s, i - 1, W_CLASS) || is_word(s, i + 1, W_SCOPE))
    return false;
  int k = i + 1;
  if (is_word(s, k, W_LT)) {
    for (int depth = 0; k < s->n && k < i + 60; k++) {
      depth += is_word(s, k, W_LT) - is_word(s, k, W_GT);
      if (depth == 0) break;
    }
    k++;
  }
  while (is_word(s, k, W_AND) || is_word(s, k, W_STAR) || is_word(s, k, W_CONST)) k++;
  if (is_name(s, k) && !l->holder[s->t[k].word]) {
    const int next = path_to(s, k); /* Holder &Class::name() */
    const bool declares = is_word(s, next, W_SEMI) || is_word(s, next, W_ASSIGN) ||
                          is_word(s, next, W_LBRACE) || is_word(s, next, W_LPAREN) ||
                          is_word(s, next, W_COMMA) || is_word(s, next, W_LBRACKET);
    const bool param = s->up[k] >= 0 && is_word(s, s->up[k], W_LPAREN);
    if (declares && !param) return l->holder[s->t[next - 1].word] = true;
  }
  int from = i; /* auto *name = new Holder */
  while (from > 0 && i - from < 12 && !is_word(s, from, W_ASSIGN) && !is_word(s, from, W_SEMI) &&
         !is_word(s, from, W_LBRACE))
    from--;
  if (is_word(s, from, W_ASSIGN) && is_name(s, from - 1) && !l->holder[s->t[from - 1].word] &&
      !is_word(s, from - 2, W_DOT) && s->t[from - 1].word >= W_COUNT)
    return l->holder[s->t[from - 1].word] = true;
  return false;
}

static void gather_holders(Lint *l) {
  Project *p = l->p;
  bool more = true;
  for (int round = 0; round < ROUNDS && more; round++) {
    more = false;
    for (int f = 0; f < p->source_count; f++) {
      Source *s = &p->sources[f];
      if (s->lang != LANG_C || !s->world) continue;
      for (int i = 0; i < s->n; i++) {
        if (s->t[i].word == W_STRUCT || s->t[i].word == W_CLASS) more |= read_holder_type(l, s, i);
        if (s->t[i].kind == K_NAME && l->holder[s->t[i].word]) more |= read_holder_name(l, s, i);
      }
    }
  }
  l->access[W_GET] = true;
  for (int i = 0; i < p->func_count; i++) {
    const Func *f = p->funcs[i];
    if (f->owner >= 0 && l->holder[f->owner] && gives_kernel(&p->sources[f->file], f))
      l->access[f->name] = true;
  }
}

/* ---- words that lead to questions ---------------------------------------------------------------- */

static bool add_bits(uint8_t *set, int word, uint8_t bits) {
  const bool name =
      word >= W_COUNT || word == W_METAL || word == W_CUDA || word == W_ROCM || word == W_HIP;
  if (!name || (set[word] & bits) == bits) return false;
  set[word] |= bits;
  return true;
}

/* Does the function give a truth value, for all that is seen? */
static bool answers(const Source *s, const Func *f) {
  for (int i = f->start; i < f->body; i++)
    if ((i < f->head || i > f->close) && (s->t[i].word == W_BOOL || s->t[i].word == W_AUTO))
      return true;
  return false;
}

/* What is named after the expression that token i is in: a variable, a function, an alias. */
static bool lead(uint8_t *set, Source *s, int i, uint8_t bits) {
  bool more = false;
  for (int k = i - 1, steps = 0; k >= 0 && steps < 200; k--, steps++) {
    const int w = s->t[k].word;
    if (w == W_SEMI || w == W_RBRACE) break;
    if ((w == W_ASSIGN || w == W_OR_ASSIGN || w == W_AND_ASSIGN) && is_name(s, k - 1)) {
      more |= add_bits(set, s->t[k - 1].word, bits);
      for (int t = k - 1; t > k - 20 && t > 0; t--) /* let x: bool = */
        if (is_word(s, t - 1, W_LET) || is_word(s, t - 1, W_MUT))
          more |= add_bits(set, s->t[t].word, bits);
    }
    const bool opens = (w == W_LBRACE || w == W_LPAREN) && s->match[k] > i;
    if (opens && is_name(s, k - 1) && (is_word(s, k - 2, W_BOOL) || is_word(s, k - 2, W_AUTO)))
      more |= add_bits(set, s->t[k - 1].word, bits); /* bool name{...} */
    if (w == W_LBRACE && !is_word(s, k - 1, W_UNSAFE)) break;
    const bool cast = is_word(s, k - 1, W_BOOL) || is_word(s, k - 1, W_GT);
    if (opens && w == W_LPAREN && !cast && is_name(s, k - 1) && !is_control(s->t[k - 1].word))
      break; /* an argument */
  }
  const Func *f = named_func_at(s, i);
  if (f && answers(s, f)) more |= add_bits(set, f->name, bits);
  for (int k = 0; k < s->alias_count; k++)
    if (s->aliases[k].at <= i && i < s->aliases[k].at + 24)
      more |= add_bits(set, s->aliases[k].name, bits);
  return more;
}

static uint8_t bits_of(Ask ask) {
  return ask == ASK_METAL    ? HOT_METAL
         : ask == ASK_CUDA   ? HOT_CUDA
         : ask == ASK_FAMILY ? HOT_GATE
         : ask               ? HOT_OTHER
                             : 0;
}

/* The first round: what asks by its own name. */
static void gather_asking(Lint *l) {
  Project *p = l->p;
  for (int f = 0; f < p->source_count; f++) {
    Source *s = &p->sources[f];
    for (int i = 0; i < s->n; i++) {
      if (s->t[i].kind != K_NAME) continue;
      const int w = s->t[i].word;
      int word;
      const bool may = word_may_ask(p, w) || w == W_HAS_KERNEL_PORT || p->words[w].first_alias >= 0;
      const uint8_t bits = may ? bits_of(ask_of(p, s, i, &word)) : 0;
      if (bits) {
        l->hot[w] |= bits;
        lead(l->hot, s, i, bits);
      }
      if (enumerator_at(p, s, i)) {
        lead(l->hot, s, i, HOT_OTHER);
        lead(l->enumerated, s, i, HOT_OTHER);
      }
    }
  }
}

static void gather_hot(Lint *l) {
  Project *p = l->p;
  gather_asking(l);
  bool more = true;
  for (int round = 0; round < ROUNDS && more; round++) {
    more = false;
    for (int f = 0; f < p->source_count; f++) {
      Source *s = &p->sources[f];
      for (int i = 0; i < s->n; i++) {
        const int w = s->t[i].word;
        if (s->t[i].kind == K_NAME && l->hot[w]) more |= lead(l->hot, s, i, l->hot[w]);
      }
    }
  }
}

int hot_in(const Lint *l, const Source *s, int from, int to) {
  int bits = 0;
  for (int i = from; i < to; i++)
    if (s->t[i].kind == K_NAME) bits |= l->hot[s->t[i].word];
  return bits;
}

/* ---- where things stand -------------------------------------------------------------------------- */

bool selects(const Source *s, const Func *f) {
  for (int i = f ? f->body : 0; f && i < f->end; i++)
    if (s->t[i].word == W_SELECT_KERNEL_PORT && is_word(s, i + 1, W_LPAREN)) return true;
  return false;
}

static bool is_helper(Lint *l, Source *s) {
  bool defines = false;
  for (int i = 0; i < s->func_count; i++) {
    const int name = s->funcs[i].name;
    if (name == W_SELECT_KERNEL_PORT || name == W_PORT_FOR || name == W_HAS_KERNEL_PORT)
      defines = true;
  }
  if (!defines) return false;
  for (int k = 0; k < l->table_count; k++)
    if (l->tables[k].source == s) return false;
  for (int i = 0; i < s->func_count; i++) {
    const int name = s->funcs[i].name;
    if (name != W_SELECT_KERNEL_PORT && selects(s, &s->funcs[i])) return false;
  }
  for (int i = 0; i < s->n; i++)
    if (calls_constructor(s, i)) return false;
  return true;
}

bool is_dispatch(Lint *l, Source *s, int i) {
  for (const Func *f = func_at(s, i); f; f = func_at(s, f->head)) {
    int path[8];
    if (f->name == W_SELECT_KERNEL_PORT || f->name == W_HAS_KERNEL_PORT || f->name == W_PORT_FOR)
      return true;
    for (int k = f->start; k < f->body; k++) {
      if (!is_name(s, k) || is_word(s, k + 1, W_SCOPE)) continue;
      if (s->t[k].word == W_KERNEL_PORTS) return true;
      const bool gives = k < f->head || k > f->close;
      if (gives && is_backend_type(l->p, path[path_words(l->p, s, k, path) - 1], s->lang))
        return true;
    }
    const Word *w = f->name >= 0 ? &l->p->words[f->name] : NULL;
    if (w && w->len >= 24 && memcmp(w->s, "custom_kernels_available", 24) == 0) return true;
  }
  return is_helper(l, s);
}

static bool is_boundary(const Source *s, int i) {
  const int w = s->t[i].word;
  if (s->t[i].kind == K_NAME) {
    if (s->lang == LANG_RUST && (w == W_IF || w == W_ELSE)) return true;
    return is_control(w) || w == W_ELSE || w == W_STATIC;
  }
  if (w == W_COLON && s->lang == LANG_RUST) return true; /* a field's */
  return w == W_SEMI || w == W_COMMA || w == W_ASSIGN || w == W_OR_ASSIGN || w == W_AND_ASSIGN ||
         w == W_FAT_ARROW || w == W_LBRACE || w == W_RBRACE || w == W_HASH;
}

void region_of(const Source *s, int i, int *from, int *to) {
  int lo = i, hi = i + 1;
  for (;;) {
    const int up = s->up[lo], limit = up >= 0 && s->match[up] >= 0 ? s->match[up] : s->n;
    while (lo - 1 > up && (s->match[lo - 1] >= 0 || !is_boundary(s, lo - 1))) {
      const int m = s->match[lo - 1];
      if (m >= 0 && m < lo - 1) {
        if (is_word(s, lo - 1, W_RBRACE)) break;
        lo = m;
      } else {
        lo--;
      }
    }
    while (hi < limit && !is_boundary(s, hi)) {
      if (is_word(s, hi, W_LBRACE)) break;
      hi = skip_to(s, hi) + 1;
    }
    const bool group = up > 0 && is_word(s, up, W_LPAREN) && s->match[up] == hi && lo == up + 1 &&
                       !is_name(s, up - 1) && !is_word(s, up - 1, W_RPAREN) &&
                       !is_word(s, up - 1, W_RBRACKET) && !is_word(s, up - 1, W_GT);
    const bool returned =
        up > 0 && is_word(s, up - 1, W_RETURN) && s->match[up] == hi && lo == up + 1;
    if (!group && !returned) break;
    lo = up, hi = s->match[up] + 1;
  }
  *from = lo, *to = hi;
}

void gather(Lint *l) {
  Project *p = l->p;
  for (int f = 0; f < p->source_count; f++) {
    Source *s = &p->sources[f];
    for (int i = 0; i < s->n && !s->world; i++) {
      const int w = s->t[i].word;
      s->world = w == W_KERNEL_PORTS || w == W_HAS_KERNEL_PORT || w == W_SELECT_KERNEL_PORT ||
                 w == W_GPU_KERNEL_BACKEND || w == W_CUSTOM_KERNEL_FUNCTION ||
                 calls_constructor(s, i);
    }
    for (int i = 0; i < s->n && s->world && s->lang == LANG_C; i++)
      if (s->t[i].kind == K_NAME) read_table(l, s, i);
    for (int i = 0; i < s->n && s->world; i++)
      if (s->t[i].word == W_ANY_WAVE && !table_around(l, s, i)) read_late_mark(l, s, i);
  }
  const size_t words = (size_t)p->word_count;
  l->hot = arena_alloc(p->arena, words), l->holder = arena_alloc(p->arena, words);
  l->access = arena_alloc(p->arena, words), l->enumerated = arena_alloc(p->arena, words);
  gather_holders(l);
  gather_hot(l);
}

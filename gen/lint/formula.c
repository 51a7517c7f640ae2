/* formula.c: see formula.h. */
#include <string.h>

#include "lint/formula.h"

enum { DEPTH = 24, MOST_ATOMS = 14 };

static const Formula always = {.kind = F_TRUE}, never = {.kind = F_FALSE};

static const Formula *node(Reading *r, FormulaKind kind, const Formula *a, const Formula *b,
                           const Formula *c) {
  Formula *f = arena_alloc(r->project->arena, sizeof *f);
  *f = (Formula){.kind = kind, .a = a, .b = b, .c = c};
  return f;
}

static const Formula *atom(Reading *r, Ask ask, int word, const Source *s, int at) {
  int i = 0;
  while (i < r->count && (r->atoms[i].ask != ask || (ask >= ASK_PORT && r->atoms[i].word != word)))
    i++;
  if (i == r->count) {
    GROW(r->project->arena, r->atoms, r->count, r->room);
    r->atoms[r->count++] = (Atom){ask, word, s, at};
  }
  Formula *f = arena_alloc(r->project->arena, sizeof *f);
  *f = (Formula){.kind = F_ATOM, .atom = i};
  return f;
}

static const Formula *asked(Reading *r, Ask ask, int word, const Source *s, int at) {
  if (ask != ASK_FAMILY) return atom(r, ask, word, s, at);
  const Formula *metal = atom(r, ASK_METAL, word, s, at);
  return node(r, F_OR, metal, atom(r, ASK_CUDA, word, s, at), NULL);
}

static const Formula *opaque(Reading *r, const Source *s, int from, int to) {
  Buf b = {0};
  for (int i = from; i < to; i++) {
    const Word *w = &r->project->words[s->t[i].word];
    buf_put(&b, w->s, (size_t)w->len);
    buf_puts(&b, " ");
  }
  const char *text = arena_strndup(r->project->arena, b.s ? b.s : "", b.len);
  const int word = word_of(r->project, text, b.len);
  buf_free(&b);
  return atom(r, ASK_OTHER, word, s, from);
}

static bool known(const Reading *r, const Formula *f) {
  if (!f) return false;
  if (f->kind == F_ATOM) return r->atoms[f->atom].ask != ASK_OTHER;
  return f->kind == F_TRUE || f->kind == F_FALSE || known(r, f->a) || known(r, f->b) ||
         known(r, f->c);
}

static const Formula *read_at(Reading *r, Source *s, int from, int to, int depth);
static const Formula *read_func(Reading *r, const Func *f, int depth);

/* The last (or first) sign `word` of [from, to) outside of brackets; -1. */
static int find_sign(const Source *s, int from, int to, int word, bool first) {
  int found = -1;
  for (int i = from; i < to; i++) {
    if (s->match[i] > i) {
      i = s->match[i];
      continue;
    }
    if (s->t[i].word != word || s->t[i].kind != K_SIGN) continue;
    if (first) return i;
    found = i;
  }
  return found;
}

/* The `:` of the `?` at i. */
static int choice_colon(const Source *s, int i, int to) {
  int depth = 0;
  for (int k = i + 1; k < to; k++) {
    if (s->match[k] > k) {
      k = s->match[k];
      continue;
    }
    if (s->t[k].word == W_QUESTION) depth++;
    if (s->t[k].word == W_COLON && depth-- == 0) return k;
  }
  return -1;
}

static const Formula *choice(Reading *r, Source *s, int from, int to, const Formula *c,
                             const Formula *yes, const Formula *no) {
  if (!known(r, yes) || !known(r, no)) return opaque(r, s, from, to); /* it chooses a value */
  return node(r, F_CHOICE, c, yes, no);
}

/* `a == true`, `b != false`, `x == Backend::Metal` */
static const Formula *read_equality(Reading *r, Source *s, int from, int to, int sign, int depth) {
  const bool same = s->t[sign].word == W_EQ;
  for (int side = 0; side < 2; side++) {
    const int a = side ? sign + 1 : from, b = side ? to : sign;
    const int c = side ? from : sign + 1, d = side ? sign : to;
    if (b == a + 1 && (s->t[a].word == W_TRUE || s->t[a].word == W_FALSE)) {
      const Formula *f = read_at(r, s, c, d, depth + 1);
      return (s->t[a].word == W_TRUE) == same ? f : node(r, F_NOT, f, NULL, NULL);
    }
    const int backend = b > a && is_name(s, b - 1) ? enumerator_at(r->project, s, b - 1) : W_NONE;
    if (!backend) continue;
    const Ask ask = backend == W_METAL  ? ASK_METAL
                    : backend == W_CUDA ? ASK_CUDA
                    : backend == W_ROCM ? ASK_ROCM
                                        : ASK_ANY;
    const Formula *f = atom(r, ask, 0, s, b - 1);
    return same == (backend != W_NULLPTR) ? f : node(r, F_NOT, f, NULL, NULL);
  }
  return opaque(r, s, from, to);
}

/* A name, or a call of one. */
static const Formula *read_name(Reading *r, Source *s, int from, int to, int depth) {
  Project *p = r->project;
  int last = from;
  while (last < to && !is_word(s, last, W_LPAREN) && !is_word(s, last, W_LBRACE)) last++;
  last--;
  const bool call = last + 1 < to && s->match[last + 1] == to - 1;
  if (!is_name(s, last) || (!call && last + 1 != to)) return opaque(r, s, from, to);
  int word;
  const Ask ask = ask_of(p, s, last, &word);
  if (ask == ASK_PORT) return asked(r, ask, word, s, last);
  Value v;
  const int own_word = s->t[last].word;
  const bool follow = !r->hot || r->hot[own_word];
  const bool member = is_word(s, last - 1, W_DOT) || is_word(s, last - 1, W_ARROW);
  if (follow && !call && !member && value_find(p, s, own_word, last, &v) && depth < DEPTH &&
      (v.source != s || v.to <= last)) {
    const Formula *f = read_at(r, v.source, v.from, v.to, depth + 1);
    const bool more = is_word(v.source, v.name + 1, W_OR_ASSIGN);
    if (!more && !is_word(v.source, v.name + 1, W_AND_ASSIGN)) return f;
    const Formula *before = read_name(r, v.source, v.name, v.name + 1, depth + 1);
    return node(r, more ? F_OR : F_AND, before, f, NULL);
  }
  if (follow && call && !member && ask != ASK_METAL && ask != ASK_CUDA) {
    const Func *own = func_named(p, s, word);
    if (own && own == func_at(s, last)) own = NULL; /* another's of the same name */
    const Formula *f = own && depth < DEPTH ? read_func(r, own, depth + 1) : NULL;
    if (f && known(r, f)) return f;
  }
  return ask ? asked(r, ask, word, s, last) : opaque(r, s, from, to);
}

/* Rust: `if a { b } else { c }` */
static const Formula *read_if(Reading *r, Source *s, int from, int to, int depth) {
  int body = from + 1;
  while (body < to && !is_word(s, body, W_LBRACE)) body = skip_to(s, body) + 1;
  const int end = body < to ? s->match[body] : -1;
  if (end < 0 || !is_word(s, end + 1, W_ELSE)) return opaque(r, s, from, to);
  const Formula *c = read_at(r, s, from + 1, body, depth + 1);
  const Formula *yes = read_at(r, s, body + 1, end, depth + 1);
  const Formula *no = read_at(r, s, end + 2, to, depth + 1);
  return choice(r, s, from, to, c, yes, no);
}

static const Formula *read_binary(Reading *r, Source *s, int from, int to, int depth) {
  static const struct {
    int word;
    FormulaKind kind;
  } signs[] = {{W_OROR, F_OR}, {W_ANDAND, F_AND}, {W_OR, F_OR}, {W_AND, F_AND}};
  for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
    const int at = find_sign(s, from, to, signs[k].word, false);
    if (at <= from || at + 1 >= to) continue;
    const Formula *a = read_at(r, s, from, at, depth + 1);
    const Formula *b = read_at(r, s, at + 1, to, depth + 1);
    return node(r, signs[k].kind, a, b, NULL);
  }
  for (int k = 0; k < 2; k++) {
    const int at = find_sign(s, from, to, k ? W_NE : W_EQ, false);
    if (at > from && at + 1 < to) return read_equality(r, s, from, to, at, depth);
  }
  return NULL;
}

static bool is_cast(const Project *p, const Source *s, int i) {
  const char *name = word_text(p, s->t[i].word);
  return s->t[i].word == W_BOOL || s->t[i].word == W_RETURN_TYPE_BOOL ||
         strcmp(name, "__builtin_expect") == 0 || strcmp(name, "likely") == 0 ||
         strcmp(name, "unlikely") == 0 || strcmp(name, "assume") == 0;
}

/* What is left when all operators are split off. */
static const Formula *read_primary(Reading *r, Source *s, int from, int to, int depth) {
  if (is_word(s, from, W_NOT))
    return node(r, F_NOT, read_at(r, s, from + 1, to, depth + 1), NULL, NULL);
  const bool whole = s->match[from] == to - 1 && to > from + 1;
  if (whole && (is_word(s, from, W_LPAREN) || is_word(s, from, W_LBRACE)))
    return read_at(r, s, from + 1, to - 1, depth + 1);
  if (s->lang == LANG_RUST && is_word(s, from, W_UNSAFE))
    return read_at(r, s, from + 1, to, depth + 1);
  if (s->lang == LANG_RUST && is_word(s, from, W_IF)) return read_if(r, s, from, to, depth);
  if (to == from + 1 && s->t[from].word == W_TRUE) return &always;
  if (to == from + 1 && s->t[from].word == W_FALSE) return &never;
  if (is_word(s, to - 1, W_RPAREN) && s->match[to - 1] > from && is_name(s, from)) {
    const int open = s->match[to - 1];
    const bool cast = open == from + 1 && is_cast(r->project, s, from);
    const bool angle = is_word(s, open - 1, W_GT) && is_word(s, open - 2, W_BOOL);
    int a[2], b[2];
    if ((cast || angle) && split_args(s, open, a, b, 2) >= 1)
      return read_at(r, s, a[0], b[0], depth + 1);
  }
  return read_name(r, s, from, to, depth);
}

static const Formula *read_at(Reading *r, Source *s, int from, int to, int depth) {
  while (from < to && (is_word(s, from, W_OROR) || is_word(s, from, W_SEMI))) from++; /* || x */
  while (to > from && is_word(s, to - 1, W_SEMI)) to--;
  if (from >= to || depth > DEPTH) return opaque(r, s, from, to);
  if (is_word(s, from, W_RETURN)) return read_at(r, s, from + 1, to, depth);
  const int question = s->lang == LANG_C ? find_sign(s, from, to, W_QUESTION, true) : -1;
  if (question > from) {
    const int colon = choice_colon(s, question, to);
    if (colon < 0) return opaque(r, s, from, to);
    const Formula *c = read_at(r, s, from, question, depth + 1);
    const Formula *yes = read_at(r, s, question + 1, colon, depth + 1);
    return choice(r, s, from, to, c, yes, read_at(r, s, colon + 1, to, depth + 1));
  }
  const bool rust_if = s->lang == LANG_RUST && is_word(s, from, W_IF);
  const Formula *f = rust_if ? NULL : read_binary(r, s, from, to, depth);
  return f ? f : read_primary(r, s, from, to, depth);
}

const Formula *formula_read(Reading *r, Source *s, int from, int to) {
  return read_at(r, s, from, to, 0);
}

/* ---- what a function returns ------------------------------------------------------------------- */

/* The end of the statement at i: behind its `;` or its block. */
int statement_end(const Source *s, int i, int limit) {
  for (; i < limit; i++) {
    if (is_word(s, i, W_SEMI)) return i + 1;
    if (s->match[i] <= i) continue;
    const bool block = is_word(s, i, W_LBRACE);
    i = s->match[i];
    if (block && !is_word(s, i + 1, W_SEMI) && !is_word(s, i + 1, W_RPAREN) &&
        !is_word(s, i + 1, W_COMMA) && !is_word(s, i + 1, W_DOT))
      return i + 1;
  }
  return limit;
}

static const Formula *read_block(Reading *r, Source *s, int from, int to, int depth);

/* `if` at i: its parts.  Rust's condition has no parentheses. */
bool if_parts(const Source *s, int i, int limit, int c[2], int yes[2], int no[2]) {
  int k = i + 1;
  if (is_word(s, k, W_CONSTEXPR)) k++;
  if (s->lang == LANG_RUST) {
    c[0] = k;
    while (k < limit && !is_word(s, k, W_LBRACE)) k = skip_to(s, k) + 1;
    c[1] = k;
  } else {
    if (!is_word(s, k, W_LPAREN) || s->match[k] < 0) return false;
    c[0] = k + 1, c[1] = s->match[k];
    const int semi = find_sign(s, c[0], c[1], W_SEMI, false);
    if (semi > 0) c[0] = semi + 1; /* if (auto b = f(); b) */
    k = s->match[k] + 1;
  }
  yes[0] = k, yes[1] = statement_end(s, k, limit);
  no[0] = no[1] = yes[1];
  if (is_word(s, yes[1], W_ELSE)) {
    no[0] = yes[1] + 1;
    no[1] = statement_end(s, no[0], limit);
    while (is_word(s, no[1], W_ELSE)) no[1] = statement_end(s, no[1] + 1, limit);
  }
  return true;
}

/* What the statements [from, to) return; NULL: they go on, or cannot be told. */
static const Formula *read_block(Reading *r, Source *s, int from, int to, int depth) {
  for (int i = from; i < to && depth < DEPTH;) {
    if (is_word(s, i, W_LBRACE) && s->match[i] > i) {
      const Formula *f = read_block(r, s, i + 1, s->match[i], depth + 1);
      if (f) return f;
      i = s->match[i] + 1;
      continue;
    }
    const int end = statement_end(s, i, to);
    if (is_word(s, i, W_RETURN)) return read_at(r, s, i + 1, end, depth + 1);
    if (is_word(s, i, W_IF)) {
      int c[2], yes[2], no[2];
      if (!if_parts(s, i, to, c, yes, no)) return NULL;
      const int next = no[1];
      const Formula *a = read_block(r, s, yes[0], yes[1], depth + 1);
      const Formula *b = no[0] < no[1] ? read_block(r, s, no[0], no[1], depth + 1) : NULL;
      if (!a && !b) {
        i = next;
        continue;
      }
      if (!a) a = read_block(r, s, next, to, depth + 1);
      if (!b) b = read_block(r, s, next, to, depth + 1);
      if (!a || !b) return NULL;
      return choice(r, s, i, next, read_at(r, s, c[0], c[1], depth + 1), a, b);
    }
    if (s->lang == LANG_RUST && end == to && !is_word(s, to - 1, W_SEMI))
      return read_at(r, s, i, to, depth + 1); /* the last expression */
    i = end;
  }
  return NULL;
}

static const Formula *read_func(Reading *r, const Func *f, int depth) {
  return read_block(r, &r->project->sources[f->file], f->body + 1, f->end, depth);
}

const Formula *formula_of_func(Reading *r, const Func *f) { return read_func(r, f, 0); }

/* ---- what follows from it ---------------------------------------------------------------------- */

bool formula_holds(const Formula *f, uint64_t atoms) {
  switch (f->kind) {
  case F_TRUE: return true;
  case F_FALSE: return false;
  case F_ATOM: return f->atom < 64 && (atoms >> f->atom & 1) != 0;
  case F_NOT: return !formula_holds(f->a, atoms);
  case F_AND: return formula_holds(f->a, atoms) && formula_holds(f->b, atoms);
  case F_OR: return formula_holds(f->a, atoms) || formula_holds(f->b, atoms);
  case F_CHOICE: return formula_holds(formula_holds(f->a, atoms) ? f->b : f->c, atoms);
  }
  return false;
}

bool formula_asks(const Reading *r, Ask ask) {
  for (int i = 0; i < r->count; i++)
    if (r->atoms[i].ask == ask) return true;
  return false;
}

static uint64_t bit_of(const Reading *r, Ask ask) {
  for (int i = 0; i < r->count && i < 64; i++)
    if (r->atoms[i].ask == ask) return UINT64_C(1) << i;
  return 0;
}

/* The k-th way to set the atoms in `mask`; past 2^MOST_ATOMS of them it is a scattered one. */
static uint64_t setting(uint64_t mask, uint64_t k, bool many) {
  uint64_t out = 0;
  if (many) {
    k = (k + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (k ^ k >> 29) & mask;
  }
  for (int i = 0; i < 64; i++)
    if (mask >> i & 1) {
      out |= (k & 1) << i;
      k >>= 1;
    }
  return out;
}

static int ones(uint64_t mask) {
  int n = 0;
  for (; mask; mask &= mask - 1) n++;
  return n;
}

static uint64_t all_atoms(const Reading *r) {
  return r->count >= 64 ? UINT64_MAX : (UINT64_C(1) << r->count) - 1;
}

bool formula_gates(const Reading *r, const Formula *f) {
  const uint64_t metal = bit_of(r, ASK_METAL), cuda = bit_of(r, ASK_CUDA),
                 rocm = bit_of(r, ASK_ROCM);
  if (!metal || !cuda) return false;
  const uint64_t others = all_atoms(r) & ~(metal | cuda | rocm);
  const bool many = ones(others) > MOST_ATOMS;
  const uint64_t ways = UINT64_C(1) << (many ? MOST_ATOMS : ones(others));
  for (uint64_t k = 0; k < ways; k++) {
    const uint64_t set = setting(others, k, many);
    bool is = true, is_not = true;
    for (int q = 0; q < 8; q++) {
      const uint64_t all = set | (q & 1 ? metal : 0) | (q & 2 ? cuda : 0) | (q & 4 ? rocm : 0);
      if (formula_holds(f, all) == ((q & 3) != 0))
        is_not = false;
      else
        is = false;
    }
    if (is || is_not) return true;
  }
  return false;
}

bool formula_follows(const Reading *r, const Formula *f, bool yes, bool ports, bool kernels) {
  uint64_t questions = 0;
  for (int i = 0; i < r->count && i < 64; i++) {
    const Ask ask = r->atoms[i].ask;
    if (ask <= ASK_FAMILY || (ports && ask == ASK_PORT) || (kernels && ask == ASK_KERNEL))
      questions |= UINT64_C(1) << i;
  }
  if (!questions) return false;
  const uint64_t others = all_atoms(r) & ~questions;
  const bool many = ones(others) > MOST_ATOMS;
  const uint64_t ways = UINT64_C(1) << (many ? MOST_ATOMS : ones(others));
  for (uint64_t k = 0; k < ways; k++) {
    const uint64_t set = setting(others, k, many);
    if (formula_holds(f, set | questions) == yes && formula_holds(f, set) == !yes) return true;
  }
  return false;
}

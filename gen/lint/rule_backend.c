/* rule_backend.c: L1, comparisons with a backend's enumerator. */
#include <string.h>

#include "lint/rules.h"

static bool compares(const Source *s, int i) {
  return is_word(s, i, W_EQ) || is_word(s, i, W_NE) || is_word(s, i, W_LE) || is_word(s, i, W_GE);
}

/* Is the path [lo, hi), in whatever casts and parentheses, an operand of a comparison? */
static bool is_compared(const Source *s, int lo, int hi) {
  for (;;) {
    if (compares(s, lo - 1) || compares(s, hi)) return true;
    const int up = s->up[lo];
    if (up < 0 || up != lo - 1 || s->match[up] != hi) return false;
    if (!is_word(s, up, W_LPAREN) && !is_word(s, up, W_LBRACE)) return false;
    lo = up, hi = s->match[up] + 1;
    if (is_word(s, lo - 1, W_GT)) { /* static_cast<int>( */
      while (lo > 0 && !is_word(s, lo, W_LT)) lo--;
    }
    if (is_name(s, lo - 1) && !is_control(s->t[lo - 1].word)) lo = path_from(s, lo - 1);
  }
}

/* All that a switch's arms do is to name the backend. */
static bool only_names(Project *p, const Source *s, int open) {
  static const char *const fine[] = {"break",       "string",
                                     "string_view", "std",
                                     "to_string",   "to_owned",
                                     "into",        "String",
                                     "from",        "_",
                                     "as_str",      "Some",
                                     "unreachable", "__builtin_unreachable",
                                     "abort"};
  bool string = false;
  for (int i = open + 1; i < s->match[open]; i++) {
    const int w = s->t[i].word;
    if (s->t[i].kind == K_STRING) string = true;
    if (w == W_CASE || (s->lang == LANG_RUST && is_word(s, path_to(s, i), W_FAT_ARROW))) {
      while (i < s->match[open] && !is_word(s, i, W_COLON) && !is_word(s, i, W_FAT_ARROW)) i++;
      continue;
    }
    if (s->t[i].kind == K_NUMBER) return false;
    if (s->t[i].kind != K_NAME || w == W_RETURN || w == W_DEFAULT || w == W_NULLPTR) continue;
    bool known = false;
    for (size_t k = 0; k < sizeof fine / sizeof *fine && !known; k++)
      known = strcmp(word_text(p, w), fine[k]) == 0;
    if (!known && is_word(s, i + 1, W_ASSIGN)) known = true; /* name = "metal" */
    if (!known && is_word(s, i + 1, W_OR)) known = true;
    if (!known) return false;
  }
  return string;
}

/* The braces of the switch or match that a path before `:` or `=>` is an arm of; -1. */
static int arms_of(const Source *s, int from, int to) {
  const bool c = is_word(s, from - 1, W_CASE);
  const bool rust = s->lang == LANG_RUST && (is_word(s, to, W_FAT_ARROW) || is_word(s, to, W_OR) ||
                                             is_word(s, from - 1, W_OR) || is_word(s, to, W_IF));
  if (!c && !rust) return -1;
  int up = s->up[from];
  while (up >= 0 && !is_word(s, up, W_LBRACE)) up = s->up[up];
  return up;
}

/* matches!(x, A | B), if let A = x */
static bool is_pattern(const Source *s, int from) {
  if (s->lang != LANG_RUST) return false;
  if (is_word(s, from - 1, W_LET)) return true;
  const int up = s->up[from];
  return up > 1 && is_word(s, up, W_LPAREN) && is_word(s, up - 1, W_NOT) &&
         is_word(s, up - 2, W_MATCHES);
}

static bool is_asserted(Project *p, const Source *s, int i) {
  for (int up = s->up[i]; up > 0; up = s->up[up])
    if (is_name(s, up - 1) && strcmp(word_text(p, s->t[up - 1].word), "static_assert") == 0)
      return true;
  return false;
}

/* A name that was set to an enumerator, as it is compared. */
static bool is_set_to_one(Lint *l, Source *s, int i, const char **name) {
  Value v;
  if (!l->enumerated[s->t[i].word] || !is_compared(s, path_from(s, i), path_to(s, i))) return false;
  if (!value_find(l->p, s, s->t[i].word, i, &v) || v.to <= v.from) return false;
  if (!is_name(v.source, v.to - 1) || path_from(v.source, v.to - 1) != v.from) return false;
  const int backend = enumerator_at(l->p, v.source, v.to - 1);
  *name = word_text(l->p, v.source->t[v.to - 1].word);
  return backend && backend != W_NULLPTR;
}

void rule_backend(Lint *l) {
  Project *p = l->p;
  for (int f = 0; f < p->source_count; f++) {
    Source *s = &p->sources[f];
    int reported = -1;
    for (int i = 0; i < s->n; i++) {
      const char *name = "";
      if (s->t[i].kind != K_NAME || path_to(s, i) != i + 1) continue;
      const int backend = enumerator_at(p, s, i), from = path_from(s, i);
      const bool set = !backend && is_set_to_one(l, s, i, &name);
      if ((!backend || backend == W_NULLPTR) && !set) continue;
      if (!set) name = word_text(p, s->t[i].word);
      const int arms = set ? -1 : arms_of(s, from, i + 1);
      const bool arm = arms >= 0 && arms != reported && !only_names(p, s, arms);
      const bool compared = set || is_compared(s, from, i + 1) || is_pattern(s, from);
      if ((!arm && !compared) || is_dispatch(l, s, i) || is_asserted(p, s, i)) continue;
      if (arm) reported = arms;
      find(l, RULE_BACKEND_COMPARISON, s, from, "the backend is %s %s by hand",
           arm ? "switched over, with a case for" : "compared with", name);
    }
  }
}

/* rule_holder.c: L3, kernels taken past their table. */
#include "lint/rules.h"

/* Some table has the word in its braces. */
static bool in_a_table(const Lint *l, int word) {
  for (int k = 0; k < l->table_count; k++) {
    const Table *t = &l->tables[k];
    for (int i = t->open + 1; i < t->close; i++)
      if (t->source->t[i].word == word) return true;
  }
  return false;
}

/* Does the postfix expression that ends at i have a holder's name in it (or a name that was set to one)? */
static bool is_holder(Lint *l, Source *s, int i, int depth) {
  while (i >= 0) {
    if (s->match[i] >= 0 && s->match[i] < i) {
      const int open = s->match[i];
      if (is_word(s, i, W_RPAREN) && !is_name(s, open - 1)) /* (*holder) */
        for (int k = open + 1; k < i; k++)
          if (is_name(s, k) && is_holder(l, s, k, depth + 1)) return true;
      i = open - 1;
      continue;
    }
    if (is_word(s, i, W_GT)) { /* Holder<source>::get */
      while (i >= 0 && !is_word(s, i, W_LT)) i--;
      i--;
      continue;
    }
    if (!is_name(s, i)) return false;
    if (l->holder[s->t[i].word]) return true;
    Value v;
    const bool call = is_word(s, i + 1, W_LPAREN);
    if (!call && depth < 3 && value_find(l->p, s, s->t[i].word, i, &v) && v.source == s)
      for (int k = v.from; k < v.to && k < v.from + 16; k++)
        if (is_name(s, k) && l->holder[s->t[k].word]) return true;
    if (!is_word(s, i - 1, W_DOT) && !is_word(s, i - 1, W_ARROW) && !is_word(s, i - 1, W_SCOPE))
      return false;
    i -= 2;
  }
  return false;
}

/* Is the kernel taken at token i from a holder? */
static bool takes(Lint *l, Source *s, int i) {
  const int w = s->t[i].word;
  if (w == W_OPERATOR) return false;
  if (l->access[w] && (is_word(s, i - 1, W_DOT) || is_word(s, i - 1, W_ARROW)))
    return is_holder(l, s, i - 2, 0);
  if (l->access[w] && is_word(s, i - 1, W_SCOPE) && is_name(s, i - 2) &&
      l->holder[s->t[i - 2].word])
    return !is_word(s, i + 1, W_LPAREN) || !is_word(s, s->match[i + 1] + 1, W_LBRACE);
  return l->access[W_OPERATOR] && l->holder[w] && is_word(s, i + 1, W_LPAREN) &&
         !func_named(l->p, s, w) && !is_word(s, i - 1, W_NEW) && func_at(s, i);
}

/* The variable that a lambda is the value of; -1. */
static int lambda_name(const Source *s, const Func *f) {
  int i = f->head - 1;
  if (is_word(s, i, W_PLUS)) i--;
  return is_word(s, i, W_ASSIGN) && is_name(s, i - 1) ? s->t[i - 1].word : -1;
}

/* Token i stands where a table, or a holder itself, does its work. */
static bool at_home(Lint *l, Source *s, int i) {
  if (table_around(l, s, i)) return true;
  for (const Func *f = func_at(s, i); f; f = func_at(s, f->head)) {
    if (f->owner >= 0 && l->holder[f->owner]) return true;
    if (f->name < 0 ? in_a_table(l, lambda_name(s, f)) : in_a_table(l, f->name)) return true;
    if (f->name == W_SELECT_KERNEL_PORT || f->name == W_PORT_FOR) return true;
  }
  return false;
}

/* A function with a name, or a lambda's, whose body takes the kernel for a table. */
static bool is_table_getter(Lint *l, Source *s, int i) {
  const Func *f = func_named(l->p, s, s->t[i].word);
  const int before = path_from(s, i) - 1;
  const bool declared = is_word(s, before, W_AND) || is_word(s, before, W_STAR) ||
                        (is_name(s, before) && !is_control(s->t[before].word));
  if (!f || !is_word(s, i + 1, W_LPAREN) || f->owner >= 0 || declared) return false;
  const Source *home = &l->p->sources[f->file];
  bool kernel = false;
  for (int k = f->start; k < f->body && !kernel; k++)
    kernel = home->t[k].word == W_CUSTOM_KERNEL_FUNCTION && (k < f->head || k > f->close);
  return kernel && f->name != W_SELECT_KERNEL_PORT && in_a_table(l, f->name);
}

/* `table.metal()`: a slot read past select_kernel_port. */
static bool reads_slot(Lint *l, Source *s, int i) {
  const int w = s->t[i].word;
  if (w != W_METAL && w != W_CUDA && w != W_ROCM && w != W_HIP) return false;
  if (!is_word(s, i - 1, W_DOT) && !is_word(s, i - 1, W_ARROW)) return false;
  int k = i - 2;
  if (is_word(s, k, W_RPAREN) && s->match[k] > 0) k = s->match[k] - 1;
  return is_name(s, k) && table_named(l, s->t[k].word) && !is_word(s, i + 1, W_ASSIGN);
}

void rule_holder(Lint *l) {
  for (int f = 0; f < l->p->source_count; f++) {
    Source *s = &l->p->sources[f];
    if (s->lang != LANG_C) continue;
    for (int i = 1; i < s->n; i++) {
      if (s->t[i].kind != K_NAME) continue;
      if (takes(l, s, i)) {
        if (!at_home(l, s, i))
          find(l, RULE_HOLDER_CALL, s, i,
               "a kernel is taken from its holder outside of a KernelPorts table");
      } else if (is_table_getter(l, s, i)) {
        if (!at_home(l, s, i))
          find(l, RULE_HOLDER_CALL, s, i, "%s() is a slot of a table, and is called outside of it",
               word_text(l->p, s->t[i].word));
      } else if (reads_slot(l, s, i) && !is_dispatch(l, s, i)) {
        find(l, RULE_HOLDER_CALL, s, i, "the slot %s of a table is read by hand",
             word_text(l->p, s->t[i].word));
      }
    }
  }
}

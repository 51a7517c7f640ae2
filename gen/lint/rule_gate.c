/* rule_gate.c: L4, gates that ask for Metal or CUDA. */
#include <string.h>

#include "lint/rules.h"

/* A condition around token i, and the one that it stands directly in: `if (!metal) { if (!cuda) ...`. */
static const Formula *read_nested(Reading *r, Source *s, int i, int from, int to) {
  const Formula *inner = formula_read(r, s, from, to);
  const bool rust = s->lang == LANG_RUST;
  const int at = rust ? from - 1 : from - 2;
  if (!is_word(s, at, W_IF) || (!rust && s->up[i] < 0)) return inner;
  int close = at - 1, c[2], yes[2], no[2];
  if (is_word(s, close, W_LBRACE)) close--;
  int head = rust ? close : is_word(s, close, W_RPAREN) ? s->match[close] - 1 : -1;
  if (rust) {
    const int up = s->up[at];
    if (up != at - 1) return inner;
    while (head > 0 && !is_word(s, head, W_IF) && !is_word(s, head, W_SEMI) &&
           !is_word(s, head, W_LBRACE))
      head--;
  }
  if (head < 0 || !is_word(s, head, W_IF) || !if_parts(s, head, s->n, c, yes, no) || yes[0] > at)
    return inner;
  Formula *f = arena_alloc(r->project->arena, sizeof *f);
  *f = (Formula){.kind = F_AND, .a = formula_read(r, s, c[0], c[1]), .b = inner};
  return f;
}

/* `if (metal()) return true; return cuda();` */
static void look_at_func(Lint *l, Source *s, const Func *f) {
  for (int i = 0; i < l->count; i++) /* told as an expression of it */
    if (l->findings[i].source == s && l->findings[i].rule == RULE_TWO_BACKEND_GATE &&
        f->name >= 0 && strcmp(l->findings[i].symbol, word_text(l->p, f->name)) == 0)
      return;
  if (f->name < 0 || (hot_in(l, s, f->body, f->end) & HOT_GATE) != HOT_GATE) return;
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *whole = formula_of_func(&r, f);
  if (!whole || !formula_gates(&r, whole)) return;
  int metal = -1, cuda = -1; /* told before, unless they stand apart */
  for (int i = 0; i < r.count; i++) {
    if (r.atoms[i].ask == ASK_METAL) metal = i;
    if (r.atoms[i].ask == ASK_CUDA) cuda = i;
  }
  const Atom *a = &r.atoms[metal], *b = &r.atoms[cuda];
  if (a->from != s || b->from != s || a->at < f->body || b->at < f->body || a->at > f->end ||
      b->at > f->end)
    return;
  int from, to;
  region_of(s, a->at, &from, &to);
  if ((from <= b->at && b->at < to) || is_dispatch(l, s, f->body + 1)) return;
  find(l, RULE_TWO_BACKEND_GATE, s, f->head,
       "%s is \"Metal or CUDA is available\", a statement at a time", word_text(l->p, f->name));
}

/* In a launcher: `if (!metal_available()) return graph(...)` before select_kernel_port. */
static void look_at_if(Lint *l, Source *s, int i) {
  int c[2], yes[2], no[2];
  const Func *f = named_func_at(s, i);
  if (!f || !selects(s, f) || !if_parts(s, i, f->end, c, yes, no)) return;
  bool returns = false;
  for (int k = yes[0]; k < yes[1] && !returns; k++) returns = s->t[k].word == W_RETURN;
  if (!returns || !(hot_in(l, s, c[0], c[1]) & HOT_GATE)) return;
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *condition = formula_read(&r, s, c[0], c[1]);
  if (!formula_asks(&r, ASK_METAL) && !formula_asks(&r, ASK_CUDA)) return;
  if (formula_gates(&r, condition) || is_dispatch(l, s, i)) return; /* told as that */
  if (formula_follows(&r, condition, false, false, false))
    find(l, RULE_TWO_BACKEND_GATE, s, i,
         "%s returns by a question of one backend before it asks its table",
         word_text(l->p, f->name));
}

/* Is the region a gate, or, where it chooses a value, its condition? */
static bool gates(Lint *l, Source *s, int i, int from, int to) {
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *f = read_nested(&r, s, i, from, to);
  if (formula_gates(&r, f)) return true;
  int question = from;
  while (question < to && !is_word(s, question, W_QUESTION)) question = skip_to(s, question) + 1;
  if (question >= to || question < i || s->lang != LANG_C) return false;
  Reading condition = {.project = l->p, .hot = l->hot};
  f = formula_read(&condition, s, from, question);
  return formula_gates(&condition, f);
}

void rule_gate(Lint *l) {
  Project *p = l->p;
  for (int k = 0; k < p->source_count; k++) {
    Source *s = &p->sources[k];
    int told = -1; /* the last region's start */
    for (int i = 0; i < s->n; i++) {
      if (s->t[i].word == W_IF && s->lang == LANG_C) look_at_if(l, s, i);
      if (s->t[i].kind != K_NAME || !(l->hot[s->t[i].word] & HOT_GATE)) continue;
      int from, to;
      const int before = path_from(s, i) - 1;
      if (is_name(s, before) && !is_control(s->t[before].word) && is_word(s, i + 1, W_LPAREN))
        continue; /* it is declared */
      region_of(s, i, &from, &to);
      if (from == told) continue;
      if (!s->world && (hot_in(l, s, from > 40 ? from - 40 : 0, to) & HOT_GATE) != HOT_GATE)
        continue;
      if (!gates(l, s, i, from, to)) continue;
      told = from;
      if (!is_dispatch(l, s, i))
        find(l, RULE_TWO_BACKEND_GATE, s, from,
             "this asks for Metal or CUDA: where only ROCm is there it says no");
    }
    for (int i = 0; i < s->func_count; i++) look_at_func(l, s, &s->funcs[i]);
  }
}

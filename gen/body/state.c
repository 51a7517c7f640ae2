/* state.c: where control is, and what is known there: made, joined, and the conditions that it is
** under (flow.h). */
#include "body/flow.h"

#include <string.h>

static State *state_new(Walk *w) {
  Function *f = w->f;
  State *s = f->spare;
  if (s)
    f->spare = s->next;
  else
    s = arena_alloc(w->flow->c->a, sizeof *s + (size_t)f->cell_count * sizeof *s->cell);
  return s;
}

State *state_copy(Walk *w, const State *s) {
  State *copy = state_new(w);
  memcpy(copy, s, sizeof *s + (size_t)w->f->cell_count * sizeof *s->cell);
  return copy;
}

void state_drop(Walk *w, State *s) {
  if (!s) return;
  s->next = w->f->spare;
  w->f->spare = s;
}

bool state_sure(const State *s, Range r) {
  if (r.gap <= 0) return false;
  for (int i = r.sure; i < s->depth; i++)
    if (s->under[i] & r.from) return false;
  return true;
}

void state_under(State *s, Sources from) {
  if (s->depth == CONDITIONS_MOST)
    s->under[CONDITIONS_MOST - 1] |= from;
  else
    s->under[s->depth++] = from;
}

static Range join_cells(Walk *w, Range a, Range b, const Range *before) {
  Range r = range_either(a, b);
  if (a.stored == b.stored) {
    const Range *higher = before && before->stored == a.stored ? before
                          : a.high >= b.high                   ? &a
                                                               : &b;
    r.stored = a.stored;
    r.gap = higher->high <= r.high ? higher->gap : 0;
    r.sure = higher->sure;
    if (higher == before) r.from = before->from;
  } else {
    r.stored = ++w->flow->stores;
  }
  return r;
}

void state_join(Walk *w, State *to, const State *from, const State *before) {
  if (from->dead) return;
  if (to->dead) {
    State *const next = to->next;
    memcpy(to, from, sizeof *to + (size_t)w->f->cell_count * sizeof *to->cell);
    to->next = next;
    return;
  }
  for (int i = 0; i < w->f->cell_count; i++)
    to->cell[i] = join_cells(w, to->cell[i], from->cell[i], before ? &before->cell[i] : NULL);
  if (from->depth < to->depth) to->depth = from->depth;
  if (before && before->depth < to->depth) to->depth = before->depth;
  for (int i = 0; i < w->f->cell_count; i++)
    if (to->cell[i].sure > to->depth) to->cell[i].sure = to->depth;
}

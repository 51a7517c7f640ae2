/* overloads.c: which functions of portable.h a body calls, itself or through the library, over all
** its parses.
**
** Overload resolution is C++'s own: libclang has made it when a call is copied, and the place of
** what it chose in portable.h tells which one it is.  So a text can hold the overloads in use, and
** as every text's compiler finds the same ones there, it chooses as libclang did. */
#include "body/reading.h"

#include <stdlib.h>
#include <string.h>

/* The number of the overload whose name stands there; -1: none, as of clang's own functions. */
static int overload_at(const Words *w, size_t at) {
  for (int i = 0; i < w->overload_count; i++)
    if (w->overloads[i].at == at) return i;
  return -1;
}

void overloads_gather(Check *c, Gathered *g) {
  for (const Function *f = c->tree->functions; f; f = f->next) {
    const Chunk *chunk = f->item < 0 && !f->is_body ? tree_chunk(c->tree, f->at) : NULL;
    const bool is_word = chunk && chunk->text == c->l->portable.text;
    const int found = is_word ? overload_at(&c->l->words, f->at - chunk->start) : -1;
    if (found >= 0) g->overload_used[found] = true;
  }
}

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

void overloads_put(const Check *c, const Gathered *g, Facts *f) {
  const Words *w = &c->l->words;
  f->overloads = arena_alloc(c->run, ((size_t)w->overload_count + 1) * sizeof *f->overloads);
  for (int i = 0; i < w->overload_count; i++)
    if (g->overload_used[i])
      f->overloads[f->overload_count++] = arena_strdup(c->run, w->overloads[i].text);
  qsort(f->overloads, (size_t)f->overload_count, sizeof *f->overloads, by_text);
}

/* findings.c: what a rule says, kept with its place.  See rules.h. */
#include <string.h>

#include "lint/rules.h"

static Finding *add(Lint *l) {
  GROW(l->p->arena, l->findings, l->count, l->room);
  return &l->findings[l->count++];
}

/* The function, or the table, that token i is in. */
static const char *symbol_at(const Lint *l, const Source *s, int i) {
  const Table *t = table_around(l, s, i);
  for (int k = 0; k < l->table_count && !t; k++)
    if (l->tables[k].source == s && l->tables[k].mark == i) t = &l->tables[k];
  if (t) return word_text(l->p, t->name);
  const Func *f = named_func_at(s, i);
  for (int k = 0; k < s->func_count && !f; k++)
    if (s->funcs[k].head == i) f = &s->funcs[k];
  return f ? word_text(l->p, f->name) : "";
}

void find(Lint *l, enum LintRule rule, Source *s, int token, const char *format, ...) {
  Finding f = {.rule = rule, .file = s->path, .source = s, .symbol = symbol_at(l, s, token)};
  va_list args;
  if (s->ours) return;
  va_start(args, format);
  f.text = arena_vprintf(l->p->arena, format, args);
  va_end(args);
  place_of(s, s->t[token].at, &f.line, &f.col);
  for (int i = 0; i < l->count; i++)
    if (l->findings[i].source == s && l->findings[i].line == f.line &&
        l->findings[i].col == f.col && l->findings[i].rule == rule)
      return; /* of a macro's tokens one is enough */
  *add(l) = f;
}

void find_in_list(Lint *l, enum LintRule rule, const char *file, int line, const char *format,
                  ...) {
  Finding f = {.rule = rule, .file = file, .line = line, .col = 1, .symbol = ""};
  va_list args;
  va_start(args, format);
  f.text = arena_vprintf(l->p->arena, format, args);
  va_end(args);
  *add(l) = f;
}

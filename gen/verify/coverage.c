/* coverage.c: which sides of a body's conditions no watched case takes: see verify.h.
**
** The checking devices count (runtime/simt/coverage.c), over all instances, widths and backends: a
** condition is told where none of them took one of its sides.  A side may well be one that nothing
** can take, a guard against what the specification excludes; so it is a remark, and with `--require
** coverage` a finding. */
#include <stdlib.h>
#include <string.h>

#include "simt_check.h"
#include "verify/verify.h"

enum { TOLD = 12 };

typedef struct Seen {
  int count, room;
  kg_simt_branch *list;
} Seen;

static bool is_body_of(const Verify *v, int kernel, const kg_simt_branch *b) {
  if (strcmp(b->kernel, v->library->spec->kernels[kernel]->name) != 0) return false;
  for (int r = 0; r < v->row_count; r++)
    if (v->rows[r].kernel_index == kernel && strcmp(v->rows[r].facts->path, b->file) == 0)
      return true;
  return false;
}

static bool same(const kg_simt_branch *a, const kg_simt_branch *b) {
  return a->line == b->line && a->number == b->number && strcmp(a->file, b->file) == 0;
}

static void add(Arena *a, Seen *seen, const kg_simt_branch *b) {
  for (int i = 0; i < seen->count; i++)
    if (same(&seen->list[i], b)) {
      seen->list[i].taken[0] |= b->taken[0];
      seen->list[i].taken[1] |= b->taken[1];
      return;
    }
  GROW(a, seen->list, seen->count, seen->room);
  seen->list[seen->count++] = *b;
}

static int by_place(const void *x, const void *y) {
  const kg_simt_branch *a = x, *b = y;
  const int file = strcmp(a->file, b->file);
  if (file != 0) return file;
  if (a->line != b->line) return (a->line > b->line) - (a->line < b->line);
  return (a->number > b->number) - (a->number < b->number);
}

/* What is wanting of a condition; NULL: nothing. */
static const char *wanting(const kg_simt_branch *b) {
  if (b->label) return b->taken[1] ? NULL : "is never come to";
  if (b->taken[0] && b->taken[1]) return NULL;
  return b->taken[0] ? "is never true" : b->taken[1] ? "is never false" : "is never asked";
}

static const char *told(Arena *a, const Seen *seen) {
  Buf b = {0};
  int count = 0;
  for (int i = 0; i < seen->count; i++) {
    const char *what = wanting(&seen->list[i]);
    if (what == NULL) continue;
    if (count++ < TOLD)
      buf_printf(&b, "\n%s:%u: `%s` %s", seen->list[i].file, seen->list[i].line, seen->list[i].text,
                 what);
  }
  if (count > TOLD) buf_printf(&b, "\nand %d more", count - TOLD);
  const char *text = count > 0 ? arena_strndup(a, b.s, b.len) : NULL;
  buf_free(&b);
  return text;
}

static void cover(Verify *v, Arena *a, int kernel) {
  const Kernel *k = v->library->spec->kernels[kernel];
  Seen seen = {0};
  if (verify_has_findings(v, VERIFY_RUN, k)) return; /* a launch with one is not counted */
  for (int t = 0; t < v->tool_count; t++) {
    const kg_simt_branch *list = NULL;
    if (v->tools[t].stage != VERIFY_SANITIZE || v->tools[t].device == NULL) continue;
    const size_t count = kg_simt_branches(v->tools[t].device, &list);
    for (size_t i = 0; i < count; i++)
      if (is_body_of(v, kernel, &list[i])) add(a, &seen, &list[i]);
  }
  if (seen.count > 0) qsort(seen.list, (size_t)seen.count, sizeof *seen.list, by_place);
  const char *text = told(a, &seen);
  if (text == NULL) return;
  static const char words[] = "of its conditions, watched runs leave out";
  if (v->require_coverage)
    verify_found(v, VERIFY_SANITIZE, -1, k, NULL, (VerifyPlace){0}, "%s:%s", words, text);
  else
    verify_remark(v, k, "%s:%s", words, text);
}

void verify_coverage(Verify *v) {
  if (!v->stages[VERIFY_SANITIZE] || !verify_goes_on(v)) return;
  Arena *a = arena_new();
  for (int i = 0; i < v->library->spec->kernel_count; i++) cover(v, a, i);
  arena_free(a);
}

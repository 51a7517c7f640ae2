/* diag.c: the user's errors.  The wording of every one is a row of diag.def; here they are filled
** in, kept, put in order, printed.
**
** A fault is `file:line:col: error E012: wording`; the column or the line is left out where it is
** not known.  Lines that were added to a fault (its source line with a caret, notes) follow it,
** indented by two. */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/plain.h"
#include "distance.h"

typedef struct DiagRow {
  const char *code, *severity, *wording;
} DiagRow;

static const DiagRow rows[DIAG_CODES] = {
#define DIAG(code, name, severity, wording) [name] = {#code, severity, wording},
#include "base/diag.def"
#undef DIAG
};

typedef struct Diag {
  Place at;
  DiagCode code;
  const char *text;
  Buf more; /* whole lines below it */
  int serial;
} Diag;

struct Diags {
  Arena *a;
  Diag *list; /* arena-owned, doubled when full */
  int count, room, errors;
  Diag *last; /* where diag_note and diag_source add; NULL after one that was there already */
};

Diags *diags_new(Arena *a) {
  Diags *d = arena_alloc(a, sizeof *d);
  d->a = a;
  return d;
}

static bool same_string(const char *x, const char *y) {
  return x == y || (x && y && strcmp(x, y) == 0);
}

static bool is_known(const Diags *d, const Diag *new) {
  for (int i = 0; i < d->count; i++) {
    const Diag *old = &d->list[i];
    if (old->code == new->code && old->at.line == new->at.line &&
        old->at.col == new->at.col &&same_string(old->at.file, new->at.file) &&
        strcmp(old->text, new->text) == 0)
      return true;
  }
  return false;
}

void diag_add(Diags *d, Place at, DiagCode code, ...) {
  if (code >= DIAG_CODES) die("diagnostic %d is not in diag.def", (int)code);
  char *text = NULL; /* not the arena's until it is new: a loop can say the same thing for ever */
  va_list args;
  va_start(args, code);
  const int len = vasprintf(&text, rows[code].wording, args);
  va_end(args);
  if (len < 0) exhausted("the text of %s", rows[code].code);
  Diag new = {.at = at, .code = code, .text = text, .serial = d->count};
  d->last = NULL;
  if (!is_known(d, &new)) {
    GROW(d->a, d->list, d->count, d->room);
    new.text = arena_strdup(d->a, text);
    if (at.file) new.at.file = arena_strdup(d->a, at.file);
    d->list[d->count] = new;
    d->last = &d->list[d->count++];
    if (strcmp(rows[code].severity, "error") == 0) d->errors++;
  }
  free(text);
}

/* Appends to the last fault's lines; they live in the arena, so the text is copied as a whole
** (there are few). */
static void add_lines(Diags *d, const char *text) {
  if (!d->last) return;
  Buf *more = &d->last->more;
  const size_t add = strlen(text);
  char *s = arena_alloc(d->a, more->len + add + 1);
  if (more->len) memcpy(s, more->s, more->len);
  memcpy(s + more->len, text, add);
  *more = (Buf){.s = s, .len = more->len + add};
}

void diag_source(Diags *d, const char *source_line, int col) {
  const size_t len = strcspn(source_line, "\r\n");
  char *shown = arena_strndup(d->a, source_line, len), *s = shown;
  for (size_t at; plain_fault(d->a, s, strlen(s), &at); s += at + 1)
    s[at] = '?'; /* nor may a message show in another order than it is written */
  add_lines(d, arena_printf(d->a, "  %s\n", shown));
  if (col < 1 || (size_t)col > len + 1) return;
  char *margin = arena_strndup(
      d->a, shown, (size_t)col - 1); /* tabs stay tabs, so that the caret stands right */
  for (char *c = margin; *c; c++)
    if (*c != '\t') *c = ' ';
  add_lines(d, arena_printf(d->a, "  %s^\n", margin));
}

void diag_note(Diags *d, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  const int len = vasprintf(&text, format, args);
  va_end(args);
  if (len < 0) exhausted("a note");
  add_lines(d, arena_printf(d->a, "  note: %s\n", text));
  free(text);
}

int diags_errors(const Diags *d) { return d->errors; }

static int by_place(const void *x, const void *y) {
  const Diag *p = x, *q = y;
  const int files = strcmp(p->at.file ? p->at.file : "", q->at.file ? q->at.file : "");
  if (files) return files;
  if (p->at.line != q->at.line) return p->at.line < q->at.line ? -1 : 1;
  if (p->at.col != q->at.col) return p->at.col < q->at.col ? -1 : 1;
  return p->serial < q->serial ? -1 : p->serial > q->serial;
}

void diags_print(const Diags *d, FILE *to, bool color) {
  if (!d->count) return;
  Diag *sorted = arena_alloc(d->a, (size_t)d->count * sizeof *sorted);
  memcpy(sorted, d->list, (size_t)d->count * sizeof *sorted);
  qsort(sorted, (size_t)d->count, sizeof *sorted, by_place);
  for (int i = 0; i < d->count; i++) {
    const Diag *g = &sorted[i];
    const DiagRow *row = &rows[g->code];
    const char *hue = strcmp(row->severity, "error") == 0 ? "\033[1;31m" : "\033[1;35m";
    if (g->at.file) fprintf(to, "%s:", g->at.file);
    if (g->at.line > 0) fprintf(to, "%d:", g->at.line);
    if (g->at.line > 0 && g->at.col > 0) fprintf(to, "%d:", g->at.col);
    if (g->at.file) fputc(' ', to);
    fprintf(to, "%s%s %s:%s %s\n", color ? hue : "", row->severity, row->code,
            color ? "\033[0m" : "", g->text);
    if (g->more.len) fwrite(g->more.s, 1, g->more.len, to);
  }
}

int diag_find(const char *code) {
  for (int i = 0; i < DIAG_CODES; i++)
    if (strcmp(rows[i].code, code) == 0) return i;
  return -1;
}

/* ---- did you mean ---------------------------------------------------------------------------- */

const char *nearest_name(const char *word, const char *const *names, int n) {
  const size_t len = strlen(word);
  const char *near = NULL;
  const ForeignWord *foreign = foreign_word(word);
  for (int i = 0; foreign && i < n; i++)
    if (foreign->ours && strcmp(names[i], foreign->ours) == 0) return names[i];
  if (foreign) return NULL;
  int least = KG_NAME_EDIT * (int)(len <= 4   ? 1
                                   : len <= 6 ? 2
                                              : len / 3) +
              1; /* more than a third changed is another word */
  for (int i = 0; i < n; i++) {
    const size_t other = strlen(names[i]);
    if (strcmp(names[i], word) == 0) continue;
    const int far = kg_name_distance(word, names[i]);
    const int longer = (int)(len > other ? len : other);
    if (far < least && far < KG_NAME_EDIT * longer) { /* every letter changed is no resemblance */
      least = far;
      near = names[i];
    }
  }
  return near;
}

/* fault.c: a fault of a body is given once, with its line and the choice of types that it is
** about. */
#include "body/reading.h"

#include <string.h>

/* Of one body: a file of another language has a fault a word. */
enum { FAULTS_MOST = 200 };

/* Steps down that a check takes; each is some frames of the stack, together well below 1 KiB. */
enum { DOWN_MOST = 2000 };
/* Steps of following one body, in millions; the library's own take some thousand. */
enum { STEPS_MILLION = 5 };

/* What leaves a body unread or unfollowed cannot be answered: nobody knows what else is in it. */
static bool is_answerable(DiagCode code) {
  return code != D_BODY_CRASH && code != D_BODY_CLANG && code != D_BODY_DEEP &&
         code != D_CALLS_DEEP && code != D_BODY_STEPS && code != D_BODY_UNCLOSED &&
         code != D_BODY_FAULTS && code != D_BODY_PARSE_LONG;
}

bool faults_over(const Check *c) { return c->faults > FAULTS_MOST; }

bool fault_begin_at(Check *c, Place at, DiagCode code) {
  c->live = false;
  c->choice = NULL;
  if (c->faults == FAULTS_MOST) diag_add(c->d, (Place){c->path, 0, 0}, D_BODY_FAULTS, FAULTS_MOST);
  if (c->faults >= FAULTS_MOST) return c->faults++, false;
  for (int i = 0; i < c->k->allow_count; i++)
    if (is_answerable(code) && diag_find(c->k->allow[i].code) == (int)code) return false;
  for (int i = 0; i < c->seen_count; i++) {
    const bool here = c->seen[i].line == at.line && c->seen[i].col == at.col &&
                      strcmp(c->seen[i].file, at.file) == 0;
    if (here && c->seen[i].code == code && at.col > 0)
      return false; /* without a column, the text tells them apart */
  }
  GROW(c->a, c->seen, c->seen_count, c->seen_room);
  c->seen[c->seen_count].code = code;
  c->seen[c->seen_count].file = at.file;
  c->seen[c->seen_count].line = at.line;
  c->seen[c->seen_count++].col = at.col;
  c->live = true;
  c->faults++;
  return true;
}

bool fault_given(const Check *c, Place at) {
  for (int i = 0; i < c->seen_count; i++)
    if (c->seen[i].line == at.line && c->seen[i].col == at.col &&
        strcmp(c->seen[i].file, at.file) == 0)
      return true;
  return false;
}

bool fault_begin(Check *c, unsigned at, DiagCode code, Place *place) {
  const Chunk *chunk = tree_chunk(c->tree, at);
  *place = tree_place(c, c->tree, at);
  const bool begun = fault_begin_at(c, *place, code);
  c->choice = chunk ? chunk->variant->choice : NULL;
  return begun;
}

bool down_from(Check *c, const Node *n) {
  if (c->down < DOWN_MOST) return c->down++, true;
  if (!c->deep) FAULT(c, n->at, D_BODY_DEEP, DOWN_MOST);
  c->deep = true;
  return false;
}

bool step_into(Check *c, const Node *n) {
  const int most = STEPS_MILLION * 1000000;
  if (c->steps > most) return false;
  if (c->steps++ < most) return down_from(c, n);
  FAULT(c, n->at, D_BODY_STEPS, STEPS_MILLION);
  return false;
}

static const char *source_of(const Check *c, const char *file) {
  if (strcmp(file, c->path) == 0) return c->whole;
  for (int i = 0; i < c->l->source_count; i++)
    if (strcmp(file, c->l->sources[i].file) == 0) return c->l->sources[i].text;
  return strcmp(file, c->l->portable.file) == 0 ? c->l->portable.text : NULL;
}

void fault_end(Check *c, Place at) {
  const char *text = source_of(c, at.file);
  for (int line = 1; text && line < at.line; line++) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  if (text && *text && at.col > 0) diag_source(c->d, text, at.col);
  if (c->choice && at.col > 0) diag_note(c->d, "where %s", c->choice);
}

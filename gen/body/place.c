/* place.c: from an offset of text, or of a parse's text, to a file's line and column. */
#include "body/reading.h"

int text_column(const char *text, const char *s) {
  int column = 1;
  while (s > text && s[-1] != '\n') s--, column++;
  return column;
}

const char *text_line(const char *text, size_t offset) {
  const char *s = text + offset;
  while (s > text && s[-1] != '\n') s--;
  return s;
}

const Chunk *tree_chunk(const Tree *t, unsigned at) {
  for (int i = 0; i < t->chunk_count; i++)
    if (at >= t->chunks[i].start && at <= t->chunks[i].start + t->chunks[i].len)
      return &t->chunks[i];
  return NULL;
}

Place tree_place(Check *c, const Tree *t, unsigned at) {
  const Chunk *chunk = tree_chunk(t, at);
  if (!chunk) return (Place){c->path, 1, 1};
  const char *s = chunk->text + (at - chunk->start);
  int line = chunk->line;
  for (const char *p = chunk->text; p < s; p++) line += *p == '\n';
  return (Place){chunk->file, line, text_column(chunk->text, s)};
}

/* source.c: the files of a specification, read and found to be text.  See read.h. */
#include <stdlib.h>
#include <string.h>

#include "spec/read.h"

/* Letters of ASCII only, whatever the locale says. */
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool spec_is_identifier(const char *name) {
  if (!is_letter(*name)) return false;
  for (const char *c = name; *c; c++)
    if (!is_letter(*c) && !(*c >= '0' && *c <= '9')) return false;
  return true;
}

const char *spec_folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return "";
  return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}

const char *spec_joined(Arena *a, const char *folder, const char *path) {
  if (!*folder) return path;
  return arena_printf(a, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", path);
}

bool spec_lies_below(const char *real, const char *folder) {
  char *root = realpath(*folder ? folder : ".", NULL);
  if (!root) return false;
  const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
  const bool below = strncmp(real, root, len) == 0 && real[len] == '/';
  free(root);
  return below;
}

static void find_lines(Arena *a, SpecSource *s) {
  int n = 1;
  for (size_t i = 0; i < s->len; i++) n += s->text[i] == '\n';
  s->lines = arena_alloc(a, (size_t)(n + 1) * sizeof *s->lines);
  s->lines[s->line_count++] = s->text;
  for (size_t i = 0; i < s->len; i++)
    if (s->text[i] == '\n') s->lines[s->line_count++] = s->text + i + 1;
  s->lines[n] = s->text + s->len; /* where a line after the last would start */
}

/* Each class of fault is told of once, at its first place: a binary file has thousands. */
static bool is_text(SpecRun *run, const SpecSource *s) {
  if (s->len > 0 && s->text[0] == LUA_SIGNATURE[0]) {
    diag_add(run->d, (Place){s->path, 0, 0}, D_SPEC_BYTECODE);
    return false;
  }
  bool nul = false, bad = false, odd = false, large = false;
  for (int i = 0; i < s->line_count; i++) {
    const char *line = s->lines[i];
    const size_t len = (size_t)(s->lines[i + 1] - line);
    const Place at = {s->path, i + 1, 0};
    const char *zero = nul ? NULL : memchr(line, 0, len);
    if (zero) diag_add(run->d, at, D_SPEC_NUL, (int)(zero - line) + 1);
    nul = nul || zero;
    const size_t wrong = bad ? len : utf8_bad(line, len);
    if (wrong < len)
      diag_add(run->d, at, D_SPEC_UTF8, (unsigned)(unsigned char)line[wrong], (int)wrong + 1);
    bad = bad || wrong < len;
    size_t column;
    const char *character = nul || bad || odd ? NULL : plain_fault(run->a, line, len, &column);
    if (character) diag_add(run->d, at, D_SPEC_CHARACTER, character, (int)column + 1);
    odd = odd || character;
    if (len > SPEC_LINE_BYTES && !large)
      diag_add(run->d, at, D_SPEC_LINE, len, (int)SPEC_LINE_BYTES);
    large = large || len > SPEC_LINE_BYTES;
  }
  return !nul && !bad && !odd && !large;
}

SpecSource *spec_source_read(SpecRun *run, const char *path) {
  SpecSource *s = arena_alloc(run->a, sizeof *s);
  const char *why;
  s->path = path;
  s->result = LUA_NOREF;
  s->text = text_read(run->a, path, &s->len, &why);
  if (!s->text) {
    diag_add(run->d, (Place){path, 0, 0}, D_SPEC_FILE, why);
    return NULL;
  }
  char *real = realpath(path, NULL);
  s->real = arena_strdup(run->a, real ? real : path);
  free(real);
  find_lines(run->a, s);
  GROW(run->a, run->sources, run->source_count, run->source_room);
  run->sources[run->source_count++] = s;
  return is_text(run, s) ? s : NULL;
}

/* source.c: sources by name, and places in them. */
#include <string.h>

#include "lint/source.h"

static const struct {
  const char *ending;
  Language lang;
} endings[] = {
    {"c", LANG_C},    {"cc", LANG_C},  {"cpp", LANG_C},   {"cxx", LANG_C}, {"c++", LANG_C},
    {"C", LANG_C},    {"h", LANG_C},   {"hh", LANG_C},    {"hpp", LANG_C}, {"hxx", LANG_C},
    {"h++", LANG_C},  {"inl", LANG_C}, {"ipp", LANG_C},   {"tpp", LANG_C}, {"inc", LANG_C},
    {"cu", LANG_C},   {"cuh", LANG_C}, {"hip", LANG_C},   {"m", LANG_C},   {"mm", LANG_C},
    {"cppm", LANG_C}, {"ixx", LANG_C}, {"rs", LANG_RUST},
};

Language language_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(dot + 1, endings[i].ending) == 0) return endings[i].lang;
  return LANG_NONE;
}

/* A folder's or a file's name says that it is a test's. */
static bool is_test(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  if (strncmp(base, "test_", 5) == 0 || strstr(base, "_test.") || strstr(base, "_tests."))
    return true;
  return strncmp(path, "tests/", 6) == 0 || strncmp(path, "test/", 5) == 0 ||
         strstr(path, "/tests/") || strstr(path, "/test/");
}

bool source_add(Project *p, const char *path, const char **why) {
  size_t len;
  const char *text = file_read(p->arena, path, &len, why);
  if (!text) return false;
  if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3;
  GROW(p->arena, p->sources, p->source_count, p->source_room);
  p->sources[p->source_count] = (Source){.path = path,
                                         .text = text,
                                         .len = len,
                                         .lang = language_of(path),
                                         .file = p->source_count,
                                         .test = is_test(path)};
  p->source_count++;
  return true;
}

void place_of(Source *s, uint32_t at, int *line, int *col) {
  *line = 1;
  uint32_t start = 0;
  for (uint32_t i = 0; i < at && i < s->len; i++)
    if (s->text[i] == '\n') start = i + 1, ++*line;
  *col = 1;
  for (uint32_t i = start; i < at && i < s->len; i++)
    *col += ((unsigned char)s->text[i] & 0xC0) != 0x80;
}

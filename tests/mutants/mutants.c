/* mutants.c: see mutants.h. */
#include "mutants.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const catcher_name[CATCHERS] = {"static", "compile", "run", "sanitize", "test"};

Mutant mutants[MAX_MUTANTS];
int mutant_count;

/* ---- small things ---------------------------------------------------------------------------- */

_Noreturn void stop(int status, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  fputs("mutate: ", stderr);
  vfprintf(stderr, format, ap);
  fputc('\n', stderr);
  va_end(ap);
  exit(status);
}

char *format_text(const char *format, ...) {
  char *s = NULL;
  va_list ap;
  va_start(ap, format);
  const int n = vasprintf(&s, format, ap);
  va_end(ap);
  if (n < 0) stop(2, "out of memory");
  return s;
}

char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return NULL;
  size_t size = 0, got;
  char *s = malloc(1 << 16);
  while (s != NULL && (got = fread(s + size, 1, 1 << 16, f)) > 0)
    s = realloc(s, (size += got) + (1 << 16));
  fclose(f);
  if (s == NULL) stop(2, "out of memory");
  s[size] = '\0';
  return s;
}

/* ---- reading mutants ------------------------------------------------------------------------- */

bool take(char **to, const char *line, const char *key, bool lines) {
  const size_t len = strlen(key);
  if (strncmp(line, key, len) != 0 || line[len] != ':') return false;
  const char *value = line + len + 1;
  if (*value == ' ') value++;
  if (*to != NULL && !lines)
    stop(2, "'%s' is given twice (an empty line ends a mutant): %s", key, line);
  *to = *to == NULL ? format_text("%s", value) : format_text("%s\n%s", *to, value);
  return true;
}

static void read_catcher(Mutant *m, char *catcher) {
  if (catcher == NULL) stop(2, "%s:%d: %s has no 'catch'", m->file, m->line, m->name);
  char *rest = strpbrk(catcher, " ");
  if (rest != NULL) *rest++ = '\0';
  m->detail = rest == NULL ? format_text("%s", "") : rest;
  for (int c = 0; c < CATCHERS; c++)
    if (strcmp(catcher, catcher_name[c]) == 0) {
      m->catcher = (Catcher)c;
      return;
    }
  stop(2, "%s:%d: %s: '%s' is no catcher: static, compile, run, sanitize, test", m->file, m->line,
       m->name, catcher);
}

typedef struct Block {
  Mutant m;
  char *catcher, *nth;
} Block;

static void finish(void *data) {
  Block *b = data;
  Mutant *m = &b->m;
  if (m->target == NULL || m->from == NULL || m->to == NULL)
    stop(2, "%s:%d: %s needs file, from and to", m->file, m->line, m->name);
  read_catcher(m, b->catcher);
  if (m->kernel == NULL && m->catcher != TEST && m->catcher != STATIC)
    stop(2, "%s:%d: %s needs a kernel", m->file, m->line, m->name);
  if ((m->catcher == STATIC || m->catcher == TEST || m->catcher == SANITIZE ||
       m->catcher == COMPILE) &&
      *m->detail == '\0')
    stop(2, "%s:%d: %s: 'catch: %s' says what it finds", m->file, m->line, m->name,
         catcher_name[m->catcher]);
  m->nth = b->nth == NULL ? 0 : atoi(b->nth);
  for (int i = 0; i < mutant_count; i++)
    if (strcmp(mutants[i].name, m->name) == 0)
      stop(2, "%s:%d: %s is at %s:%d already", m->file, m->line, m->name, mutants[i].file,
           mutants[i].line);
  if (mutant_count == MAX_MUTANTS) stop(2, "more than %d mutants", MAX_MUTANTS);
  mutants[mutant_count++] = *m;
  *b = (Block){0};
}

void read_blocks(const char *path, const char *what, Mutant *m, bool (*line)(void *, const char *),
                 void (*end)(void *), void *data) {
  char *text = read_text(path), *next = text;
  if (text == NULL) stop(2, "cannot read %s", path);
  for (int number = 1; next != NULL; number++) {
    char *s = next, *newline = strchr(s, '\n');
    next = newline == NULL ? NULL : newline + 1;
    if (newline != NULL) *newline = '\0';
    if (*s == '#') continue;
    if (*s == '\0') {
      if (m->name != NULL) end(data);
      continue;
    }
    if (m->name == NULL) m->file = path, m->line = number;
    if (!line(data, s)) stop(2, "%s:%d: not a line of a %s: %s", path, number, what, s);
    if (m->name == NULL) stop(2, "%s:%d: a %s starts with its name", path, number, what);
  }
  if (m->name != NULL) end(data);
  free(text);
}

static bool mutant_line(void *data, const char *s) {
  Block *b = data;
  Mutant *m = &b->m;
  return take(&m->name, s, "mutant", false) || take(&m->target, s, "file", false) ||
         take(&m->from, s, "from", true) || take(&m->to, s, "to", true) ||
         take(&m->spec, s, "spec", false) || take(&m->few, s, "few", false) ||
         take(&m->kernel, s, "kernel", false) || take(&b->catcher, s, "catch", false) ||
         take(&b->nth, s, "nth", false) || take(&m->one, s, "one", true);
}

void read_mutants(const char *path) {
  Block b = {0};
  read_blocks(path, "mutant", &b.m, mutant_line, finish, &b);
}

/* ---- planting -------------------------------------------------------------------------------- */

char *plant(const Mutant *m, const char *text, const char **why) {
  int count = 0;
  const char *place = NULL;
  for (const char *at = text; (at = strstr(at, m->from)) != NULL; at += strlen(m->from)) {
    count++;
    if (m->nth == 0 || m->nth == count) place = at;
  }
  if (count == 0 || (m->nth == 0 && count > 1) || m->nth > count) {
    *why = count == 0 ? "the text to change is not in the file"
                      : "the text to change is there more than once (or nth is too large)";
    return NULL;
  }
  return format_text("%.*s%s%s", (int)(place - text), text, m->to, place + strlen(m->from));
}

/* Is the type whose list opens here to be narrowed?  few: names of types; NULL: all. */
static bool is_few(const char *few, const char *start, const char *open) {
  const char *end = open;
  while (end > start && strchr(" =,\"", end[-1]) != NULL) end--;
  const char *name = end;
  while (name > start && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
  const size_t len = (size_t)(end - name);
  for (const char *word = few; word != NULL && *word != '\0';) {
    const size_t n = strcspn(word, " ");
    if (n == len && memcmp(word, name, n) == 0) return true;
    word += n + strspn(word + n, " ");
  }
  return few == NULL;
}

char *narrowed(const char *text, const Mutant *m) {
  char *head = format_text("kernel \"%s\"", m->kernel);
  const char *kernel = strstr(text, head);
  const char *next = kernel == NULL ? NULL : strstr(kernel + 1, "\nkernel ");
  const char *types = kernel == NULL ? NULL : strstr(kernel, "types = {");
  free(head);
  if (types == NULL || (next != NULL && types > next)) return NULL;
  char *out = format_text("%s", text), *to = out + (types - text);
  int depth = 0;
  for (const char *s = types; *s != '\0'; s++) {
    const char *last = NULL; /* of a list of dtypes: its last comma */
    const size_t inside = *s == '{' ? strcspn(s + 1, "{}\"") : 0;
    for (size_t i = 1; i <= inside && s[1 + inside] == '}'; i++)
      if (s[i] == ',') last = s + i;
    *to++ = *s;
    if (*s == '{') depth++;
    if (*s == '}' && --depth == 0) {
      memmove(to, s + 1, strlen(s + 1) + 1);
      return out;
    }
    if (last != NULL && is_few(m->catcher == SANITIZE ? NULL : m->few, types, s)) s = last;
  }
  free(out);
  return NULL;
}

/* ---- what a check needs ---------------------------------------------------------------------- */

const char *missing_root(const Mutant *m, const char *roots) {
  static const char prefix[] = "hiprtc-";
  if (m->catcher != COMPILE || strncmp(m->detail, prefix, sizeof prefix - 1) != 0) return NULL;
  const char *generation = m->detail + sizeof prefix - 1;
  char *root = format_text("%s/%s", roots, generation);
  const bool there = access(root, X_OK) == 0;
  free(root);
  return there ? NULL : generation;
}

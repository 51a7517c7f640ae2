/* lists.c: the allow-list: what is allowed, where, and why. */
#include <string.h>

#include "lint/rules.h"

static const struct {
  const char *id, *title;
} rules[] = {
#define RULE(name, id, title, about, help) {id, title},
#include "lint/rule.def"
#undef RULE
};

typedef struct Entry {
  int rule, line;
  const char *file, *symbol, *reason;
  bool used;
} Entry;

static bool ends_in_path(const char *path, const char *tail) {
  const size_t n = strlen(path), m = strlen(tail);
  return n >= m && strcmp(path + n - m, tail) == 0 && (n == m || path[n - m - 1] == '/');
}

/* RULE FILE [SYMBOL] -- REASON */
static const char *read_entry(Arena *a, char *line, Entry *e) {
  char *reason = strstr(line, " -- ");
  if (!reason) return "an entry is RULE FILE [SYMBOL] -- REASON";
  *reason = '\0';
  reason += 4;
  while (*reason == ' ' || *reason == '\t') reason++;
  if (!*reason) return "an entry needs its reason";
  char *save, *rule = strtok_r(line, " \t", &save), *file = strtok_r(NULL, " \t", &save),
              *symbol = strtok_r(NULL, " \t", &save);
  if (!rule || !file || strtok_r(NULL, " \t", &save))
    return "an entry is RULE FILE [SYMBOL] -- REASON";
  e->rule = -1;
  for (int i = 0; i < LINT_RULES; i++)
    if (strcmp(rule, rules[i].id) == 0 || strcmp(rule, rules[i].title) == 0) e->rule = i;
  if (e->rule < 0) return arena_printf(a, "there is no rule '%s'", rule);
  if (e->rule == RULE_STALE_ENTRY) return "a stale entry cannot be allowed";
  e->file = file, e->symbol = symbol, e->reason = reason;
  return NULL;
}

static bool matches(const Entry *e, const Finding *f) {
  return (int)f->rule == e->rule && f->source && ends_in_path(f->file, e->file) &&
         (!e->symbol || strcmp(f->symbol, e->symbol) == 0);
}

bool allow_read(Lint *l, const char *path, const char **error) {
  size_t len;
  int number = 0;
  Arena *a = l->p->arena;
  char *text = file_read(a, path, &len, error);
  if (!text) {
    *error = arena_printf(a, "%s: %s", path, *error);
    return false;
  }
  for (char *c = text; *c;) {
    const size_t n = strcspn(c, "\n");
    char *line = arena_strndup(a, c, n);
    number++;
    c += n + (c[n] == '\n');
    line[strcspn(line, "\r")] = '\0';
    const size_t blank = strspn(line, " \t");
    if (!line[blank] || line[blank] == '#') continue;
    Entry e = {.line = number};
    const char *wrong = read_entry(a, line + blank, &e);
    if (wrong) {
      *error = arena_printf(a, "%s:%d: %s", path, number, wrong);
      return false;
    }
    for (int i = 0; i < l->count; i++) {
      if (!matches(&e, &l->findings[i])) continue;
      e.used = l->findings[i].allowed = true;
      l->findings[i].reason = e.reason;
    }
    if (!e.used)
      find_in_list(l, RULE_STALE_ENTRY, path, number,
                   "the entry allows %s in %s%s%s, and there is none", rules[e.rule].id, e.file,
                   e.symbol ? " " : "", e.symbol ? e.symbol : "");
  }
  return true;
}

/* rule_predicate.c: L6, predicates that do not read their table. */
#include <ctype.h>
#include <string.h>

#include "lint/rules.h"

enum { TABLES = 16, STEM = 96 };

static bool ends_in(const char *s, const char *tail) {
  const size_t n = strlen(s), m = strlen(tail);
  return n > m && strcmp(s + n - m, tail) == 0;
}

/* fused_xielu_kernel_available -> fused_xielu; "" where it is no such name. */
static void stem_of(const char *name, char stem[STEM]) {
  static const char *const tails[] = {"_available", "_supported", "_enabled", "_kernels",
                                      "_kernel",    "_is",        "_ports",   "_decode"};
  snprintf(stem, STEM, "%s", name);
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
    if (ends_in(stem, tails[i])) stem[strlen(stem) - strlen(tails[i])] = '\0';
}

/* kRopePorts, rope_ports -> rope */
static void plain_of(const char *name, char plain[STEM]) {
  size_t n = 0;
  if (name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z') name++;
  for (; *name && n + 1 < STEM; name++)
    if (*name != '_') plain[n++] = (char)tolower((unsigned char)*name);
  plain[n] = '\0';
  static const char *const tails[] = {"ports", "port", "table", "kernel"};
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
    if (ends_in(plain, tails[i])) plain[strlen(plain) - strlen(tails[i])] = '\0';
}

/* The tables that are asked (or selected from) in [from, to) of a source. */
static int tables_in(const Source *s, int from, int to, int word, int out[TABLES]) {
  int n = 0;
  for (int i = from; i < to && n < TABLES; i++) {
    int a[4], b[4];
    if (s->t[i].word != word || !is_word(s, i + 1, W_LPAREN) || s->match[i + 1] < 0) continue;
    const int args = split_args(s, i + 1, a, b, 4);
    if (args < 1) continue;
    int end = b[args - 1] - 1;
    while (end > a[args - 1] && s->match[end] >= 0) end = s->match[end] - 1;
    out[n++] = s->t[end].word;
  }
  return n;
}

/* "[entry]": does a select in the function name the stem? */
static bool entry_is(const Project *p, const Source *s, const Func *f, const char *stem) {
  for (int i = f->body; i < f->end; i++) {
    if (s->t[i].word != W_SELECT_KERNEL_PORT || !is_word(s, i + 1, W_LPAREN)) continue;
    const Word *w = &p->words[s->t[i + 2].word];
    if (s->t[i + 2].kind == K_STRING && w->len == (int)strlen(stem) + 2 &&
        memcmp(w->s + 1, stem, strlen(stem)) == 0)
      return true;
  }
  return false;
}

/* Is name_available() called in the function? */
static bool asks_before(const Project *p, const Source *s, const Func *f, int name) {
  const int word = word_find(p, arena_printf(p->arena, "%s_available", word_text(p, name)));
  for (int i = f->body; word >= 0 && i < f->end; i++)
    if (s->t[i].word == word) return true;
  return false;
}

/* The tables that a launcher selects from, and those of the launchers that it calls without asking. */
static int tables_used(const Project *p, const Func *f, int out[TABLES], int depth) {
  const Source *s = &p->sources[f->file];
  int n = tables_in(s, f->body, f->end, W_SELECT_KERNEL_PORT, out);
  for (int i = f->body; i < f->end && depth < 2; i++) {
    if (!is_name(s, i) || !is_word(s, i + 1, W_LPAREN)) continue;
    const Func *called = func_named(p, s, s->t[i].word);
    if (!called || called == f || called->name == W_SELECT_KERNEL_PORT ||
        !p->sources[called->file].world || asks_before(p, s, f, called->name))
      continue;
    int more[TABLES];
    const int m = tables_used(p, called, more, depth + 1);
    for (int k = 0; k < m && n < TABLES; k++) out[n++] = more[k];
  }
  return n;
}

/* A table that the launcher of this name selects from, and the predicate does not ask; W_NONE. */
static int forgotten(Lint *l, const Func *predicate, const char *stem) {
  const Project *p = l->p;
  int asked[TABLES], used[TABLES];
  const Source *home = &p->sources[predicate->file];
  const int n = tables_in(home, predicate->body, predicate->end, W_HAS_KERNEL_PORT, asked);
  for (int k = 0; k < p->func_count && n; k++) {
    const Func *f = p->funcs[k];
    const Source *s = &p->sources[f->file];
    if (!s->world || f->name < 0) continue;
    const bool named = strcmp(word_text(p, f->name), stem) == 0;
    if (!named && !entry_is(p, s, f, stem)) continue;
    const int m = tables_used(p, f, used, named ? 0 : 2);
    for (int i = 0; i < m; i++) {
      bool found = !table_named(l, used[i]);
      for (int j = 0; j < n; j++) {
        const Table *a = table_named(l, used[i]), *b = table_named(l, asked[j]);
        if (used[i] == asked[j] || (a && a == b)) found = true;
      }
      if (!found) return used[i];
    }
  }
  return W_NONE;
}

/* "Is there a GPU?" may be asked beside a table, and not instead of one. */
static bool asks_backend(const Reading *r) {
  const bool table = formula_asks(r, ASK_PORT) || formula_asks(r, ASK_KERNEL);
  for (int i = 0; i < r->count; i++) {
    const Ask ask = r->atoms[i].ask;
    if (ask != ASK_NONE && ask <= ASK_FAMILY && (ask != ASK_ANY || !table)) return true;
  }
  return false;
}

/* True implies each of the tables: no way around one. */
static bool conjunction(const Reading *r, const Formula *f) {
  bool ports = false;
  for (int i = 0; i < r->count && i < 64; i++) {
    const Ask ask = r->atoms[i].ask;
    if (ask != ASK_PORT && ask != ASK_KERNEL) continue;
    ports = true;
    const uint64_t all = r->count >= 64 ? UINT64_MAX : (UINT64_C(1) << r->count) - 1;
    const int others = r->count < 12 ? r->count : 12;
    for (uint64_t k = 0; k < UINT64_C(1) << others; k++)
      if (formula_holds(f, k & all & ~(UINT64_C(1) << i))) return false;
  }
  return ports;
}

/* Each `return` by itself: of two branches of an #if only the first is what the function returns. */
static bool returns_ask(Lint *l, Source *s, const Func *f) {
  for (int i = f->body; i < f->end; i++) {
    if (s->t[i].word != W_RETURN) continue;
    Reading r = {.project = l->p, .hot = l->hot};
    formula_read(&r, s, i + 1, statement_end(s, i, f->end) - 1);
    if (asks_backend(&r)) return true;
  }
  return false;
}

/* It is a kernel's predicate: something of the kernel's has its name. */
static bool is_of_kernel(Lint *l, Source *s, const Func *f, const char *stem, bool asks) {
  const char *name = word_text(l->p, f->name);
  if (strstr(name, "_kernel_available") || strstr(name, "_kernels_available")) return true;
  int tables[TABLES];
  if (!stem[0]) return false;
  if (asks && s->world) return true;
  if (tables_in(s, f->body, f->end, W_HAS_KERNEL_PORT, tables)) return true;
  char own[STEM];
  plain_of(stem, own);
  for (int k = 0; k < l->table_count; k++) {
    char other[STEM];
    plain_of(word_text(l->p, l->tables[k].name), other);
    if (strcmp(other, own) == 0 || (strlen(other) > 2 && strstr(own, other)) ||
        (strlen(own) > 2 && strstr(other, own)))
      return true;
  }
  return s->world && func_named(l->p, s, word_find(l->p, stem)) != NULL;
}

static void look_at(Lint *l, Source *s, const Func *f) {
  char stem[STEM];
  const char *name = word_text(l->p, f->name);
  int word;
  if (f->hidden || !ends_in(name, "_available") || f->owner >= 0) return;
  const Ask own = ask_of(l->p, s, f->head, &word);
  if (own != ASK_NONE && own != ASK_KERNEL) return; /* metal_available() */
  if (!s->world && !l->table_count && !strstr(name, "_kernel") && s->lang == LANG_C) return;
  stem_of(name, stem);
  Reading r = {.project = l->p, .hot = l->hot};
  const Formula *whole = formula_of_func(&r, f);
  const bool asks = asks_backend(&r) || returns_ask(l, s, f);
  if (!is_of_kernel(l, s, f, stem, asks) || is_dispatch(l, s, f->body + 1)) return;
  int tables[TABLES];
  const bool reads = tables_in(s, f->body, f->end, W_HAS_KERNEL_PORT, tables) > 0;
  const bool fine = !asks && (whole ? conjunction(&r, whole) : reads);
  if (s->lang == LANG_RUST && !asks) return; /* it calls the library's own */
  if (!fine) {
    find(l, RULE_PREDICATE, s, f->head, "%s %s", name,
         asks    ? "asks which backend there is, not the kernel's table"
         : reads ? "is true in other cases than has_kernel_port of its table"
                 : "does not read the kernel's table");
    return;
  }
  const int table = forgotten(l, f, stem);
  if (table)
    find(l, RULE_PREDICATE, s, f->head, "%s does not ask the table %s, which %s selects from", name,
         word_text(l->p, table), stem);
}

void rule_predicate(Lint *l) {
  for (int k = 0; k < l->p->source_count; k++) {
    Source *s = &l->p->sources[k];
    for (int i = 0; i < s->func_count; i++)
      if (s->funcs[i].name >= 0) look_at(l, s, &s->funcs[i]);
  }
}

/* ---- L8 ------------------------------------------------------------------------------------------ */

static bool is_seam(const char *name) {
  const bool test = ends_in(name, "_for_test") || ends_in(name, "_for_tests") ||
                    ends_in(name, "_for_testing") || strstr(name, "ForTest");
  return test && (strstr(name, "warp") || strstr(name, "wave") || strstr(name, "Warp") ||
                  strstr(name, "Wave"));
}

void rule_seam(Lint *l) {
  for (int k = 0; k < l->p->source_count; k++) {
    Source *s = &l->p->sources[k];
    if (s->test) continue;
    for (int i = 0; i < s->n; i++)
      if (is_name(s, i) && is_word(s, i + 1, W_LPAREN) && func_at(s, i) &&
          is_seam(word_text(l->p, s->t[i].word)))
        find(l, RULE_TEST_SEAM, s, i, "%s is called outside of a test",
             word_text(l->p, s->t[i].word));
  }
}

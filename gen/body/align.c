/* align.c: how the memory of each argument must be aligned, from what the bodies do with it. */
#include <string.h>

#include "base/lex.h"
#include "body/body.h"

/* A word that moves four elements, or a cast of a pointer: `(GLOBAL const u32 *)`. */
static bool moves_wide(Arena *a, const Words *words, const char *text, size_t len) {
  int n;
  const Token *t = lex(a, text, len, &n);
  const Token *kept[6] = {0}; /* the last significant ones, the latest last */
  for (int i = 0; i < n; i++) {
    if (token_blank(&t[i])) continue;
    const Word *word = t[i].kind == TOK_NAME ? words_find(words, t[i].s, t[i].len) : NULL;
    if (word && word->marks & WORD_FOUR) return true;
    memmove(kept, kept + 1, 5 * sizeof *kept);
    kept[5] = &t[i];
    const bool ends =
        kept[3] && token_is(&t[i], ")") && token_is(kept[4], "*") && kept[3]->kind == TOK_NAME;
    const int space = ends && kept[2] && token_is(kept[2], "const") ? 1 : 2;
    if (ends && kept[space - 1] && kept[space] && token_is(kept[space], "GLOBAL") &&
        token_is(kept[space - 1], "("))
      return true;
  }
  return false;
}

static bool port_moves_wide(Arena *a, const Words *words, const Facts *f) {
  if (f->native) return f->moves_wide;
  if (moves_wide(a, words, f->text, f->len)) return true;
  for (int i = 0; i < f->lib_count; i++)
    if (moves_wide(a, words, f->lib[i].text, strlen(f->lib[i].text))) return true;
  return false;
}

/* Every use of the name is a subscript, `name[...]`, whose address is not taken: then no function
** and no cast sees the pointer. */
static bool is_only_subscripted(Arena *a, const Facts *f, const char *name) {
  int n;
  const Token *t = lex(a, f->text, f->len, &n);
  const Token *before = NULL, *use = NULL;
  for (int i = 0; i < n; i++) {
    if (token_blank(&t[i])) continue;
    if (use != NULL && !token_is(&t[i], "[")) return false;
    use = token_is(&t[i], name) ? &t[i] : NULL;
    if (use != NULL && before != NULL && token_is(before, "&")) return false;
    before = &t[i];
  }
  return use == NULL;
}

/* What load4, store4 and casts to words move; no index array is among them. */
static bool is_moved_at_once(const Kernel *k, const kg_arg *arg) {
  if (arg->type >= 0) {
    for (int i = 0; i < k->types[arg->type].count; i++)
      if (dtype_is_float(k->types[arg->type].dtypes[i])) return true;
    return false;
  }
  return dtype_is_float(arg->dtype) || arg->dtype == KG_U32 || arg->dtype == KG_U8;
}

/* Ports of one body have one text. */
static bool seen_before(Facts *const *facts, int port) {
  for (int i = 0; i < port; i++)
    if (facts[i] && facts[i]->len == facts[port]->len &&
        memcmp(facts[i]->text, facts[port]->text, facts[port]->len) == 0)
      return true;
  return false;
}

void args_align(Kernel *k, const Words *words, Facts *const *facts) {
  Arena *a = arena_new();
  for (int i = 0; i < k->port_count; i++) {
    if (!facts[i] || seen_before(facts, i) || !port_moves_wide(a, words, facts[i])) continue;
    for (kg_arg *arg = k->room->args; arg < k->room->args + k->arg_count; arg++)
      if (arg->align == 0 && is_moved_at_once(k, arg) &&
          !is_only_subscripted(a, facts[i], arg->name))
        arg->align = 16;
  }
  arena_free(a);
}

/* words.c: a body or a library function, word by word, as a backend spells it.
**
** Neither Metal nor the others let a function ask for everything a body may: on Metal index words
** are parameters of the entry, and shared arrays may be declared nowhere else.  So a library
** function gets what it (or what it calls) needs as trailing parameters, and each call passes them
** on: lambda lifting, by name.  Overloads of one name share one list. */
#include "emit/words.h"

#include "base/lex.h"

#include <string.h>

typedef struct Needs {
  unsigned words;
  uint64_t consts; /* that an instance chooses: template parameters where it is chosen inside */
  int count, room;
  int *shared;
} Needs;

static bool mentions(Arena *a, const LibFunction *f, const char *name) {
  int n;
  const Token *t = lex(a, f->text, strlen(f->text), &n);
  for (int i = 0; i < n; i++)
    if (t[i].kind == TOK_NAME && token_is(&t[i], name)) return true;
  return false;
}

/* Those that the functions of one name, or what they call, mention. */
static uint64_t consts_of(const Emit *e, const char *name, int depth) {
  uint64_t all = 0;
  const Facts *f = e->f;
  for (int i = 0; i < f->lib_count && depth < f->lib_count; i++) {
    const LibFunction *lib = &f->lib[i];
    if (lib->is_type || strcmp(lib->name, name) != 0) continue;
    for (int c = 0; c < e->k->const_count; c++)
      if (e->k->consts[c].in_key && mentions(e->a, lib, e->k->consts[c].name))
        all |= (uint64_t)1 << c;
    for (int j = 0; j < f->lib_count; j++)
      if (strcmp(f->lib[j].name, name) != 0 && mentions(e->a, lib, f->lib[j].name))
        all |= consts_of(e, f->lib[j].name, depth + 1);
  }
  return all;
}

static Needs needs_of(const Emit *e, const Token *name) {
  Arena *a = e->a;
  const Facts *f = e->f;
  Needs n = {0};
  for (int i = 0; i < f->lib_count; i++) {
    const LibFunction *lib = &f->lib[i];
    if (lib->is_type || !token_is(name, lib->name)) continue;
    n.words |= lib->index_words;
    if (e->within) n.consts |= consts_of(e, lib->name, 0);
    for (int j = 0; j < lib->shared_count; j++) {
      bool known = false;
      for (int m = 0; m < n.count; m++) known = known || n.shared[m] == lib->shared[j];
      if (known) continue;
      GROW(a, n.shared, n.count, n.room);
      n.shared[n.count++] = lib->shared[j];
    }
  }
  return n;
}

static const char *spelled(const Emit *e, const char *word) {
  const char *s = pair_find(e->b->spell, e->b->spell_count, word);
  return s == NULL ? word : s;
}

/* What the text being written calls an array: its owner by its own name, others by the entry's. */
static const char *array_name(const Emit *e, int shared, const LibFunction *owner) {
  const SharedArray *s = &e->f->shared[shared];
  if (owner != NULL && s->function != NULL && strcmp(s->function, owner->name) == 0)
    for (int i = 0; i < owner->shared_count; i++)
      if (owner->shared[i] == shared) return s->own_name;
  return s->name;
}

static void put_space_pointer(const Emit *e, Buf *out, const char *type, const char *name) {
  const char *space = spelled(e, "LOCAL");
  buf_printf(out, "%s%s%s *%s", space, space[0] ? " " : "", type, name);
}

/* The lifted parameters (of a definition) or arguments (of a call), each after a comma but for the
** first of an empty list. */
static void put_lifted(const Emit *e, Buf *out, const Needs *n, bool definition, bool empty,
                       const LibFunction *owner) {
  for (int w = 0; w < INDEX_WORDS; w++) {
    if ((n->words & 1u << w) == 0) continue;
    buf_printf(out, "%s%s%s", empty ? "" : ", ", definition ? "u32 " : "",
               spelled(e, index_word[w]));
    empty = false;
  }
  for (int i = 0; i < n->count; i++) {
    buf_puts(out, empty ? "" : ", ");
    const char *name = array_name(e, n->shared[i], owner);
    if (definition)
      put_space_pointer(e, out, e->f->shared[n->shared[i]].type, name);
    else
      buf_puts(out, name);
    empty = false;
  }
}

const char *emit_const_type(const Emit *e, int constant) {
  const kg_const_param *c = &e->k->consts[constant];
  bool negative = port_const(e->k, e->p, constant, c->values[0]) < 0;
  for (int j = 0; j < c->count; j++) negative = negative || c->values[j] < 0;
  return c->is_bool ? "bool" : negative ? "i32" : "u32";
}

/* The constants as template parameters or arguments; each is followed by a comma but for the last,
** where nothing comes `after`. */
static void put_lifted_consts(const Emit *e, Buf *out, uint64_t consts, bool definition,
                              bool after) {
  bool first = true;
  for (int c = 0; c < e->k->const_count; c++) {
    if ((consts >> c & 1) == 0) continue;
    buf_printf(out, "%s%s%s%s", first ? "" : ", ", definition ? emit_const_type(e, c) : "",
               definition ? " " : "", e->k->consts[c].name);
    first = false;
  }
  if (after) buf_puts(out, ", ");
}

/* The token after a template argument list that starts at i, or i itself where none does. */
static int after_template_arguments(const Token *t, int i, int n) {
  if (i >= n || !token_is(&t[i], "<")) return i;
  int depth = 0;
  for (; i < n; i++) {
    if (token_is(&t[i], "<")) depth++;
    if (token_is(&t[i], ">") && --depth == 0) return token_from(t, n, i + 1);
    if (token_is(&t[i], ";") || token_is(&t[i], "(")) break;
  }
  return n;
}

/* If `LOCAL type name[...]...;` starts at i, the index of its semicolon; else -1. */
static int shared_declaration(const Token *t, int i, int n) {
  int j = token_from(t, n, i + 1);
  if (j < n && token_is(&t[j], "const")) j = token_from(t, n, j + 1);
  if (j >= n || t[j].kind != TOK_NAME) return -1;
  j = token_from(t, n, j + 1);
  if (j >= n || t[j].kind != TOK_NAME) return -1;
  j = token_from(t, n, j + 1);
  if (j >= n || !token_is(&t[j], "[")) return -1;
  while (j < n && !token_is(&t[j], ";")) j++;
  return j < n ? j : -1;
}

/* In place of a declaration, tokens i to `end`: where it went, in as many lines.  What follows in
** the line must not be lost in a comment that ends with it. */
static void put_declared_elsewhere(Buf *out, const Token *t, int i, int end, int n) {
  const Token *after = end + 1 < n ? &t[end + 1] : NULL;
  const bool alone =
      !after || (after->kind == TOK_SPACE && memchr(after->s, '\n', (size_t)after->len));
  buf_puts(out, alone ? "//" : "/*");
  bool space = true;
  for (int k = i; k < end; k++) {
    if (token_blank(&t[k])) {
      space = true;
      continue;
    }
    if (space) buf_puts(out, " ");
    buf_put(out, t[k].s, (size_t)t[k].len);
    space = false;
  }
  buf_puts(out, alone ? ": declared by the entry" : ": declared by the entry */");
  for (int k = i; k < end; k++)
    for (int c = 0; c < t[k].len; c++)
      if (t[k].s[c] == '\n') buf_puts(out, alone ? "\n//" : "\n");
}

/* an argument list that is to grow */
typedef struct Pending {
  int depth;
  bool definition, empty;
  Needs needs;
} Pending;

/* Where the function's own definition starts in its text: past comments and a template header. */
static int definition_start(const Token *t, int n) {
  int i = token_from(t, n, 0);
  return i < n && token_is(&t[i], "template")
             ? after_template_arguments(t, token_from(t, n, i + 1), n)
             : i;
}

/* NULL: it is no word of the backend's. */
static const char *spelling_of(const Emit *e, const Token *name) {
  for (int i = 0; i < e->b->spell_count; i++)
    if (token_is(name, e->b->spell[i].name)) return e->b->spell[i].text;
  return NULL;
}

/* A name that may be a word: put as spelled.  Returns how many tokens were taken. */
static int put_name(Emit *e, Buf *out, const Token *t, int i, int n, bool member) {
  const char *spelling = member ? NULL : spelling_of(e, &t[i]);
  if (spelling == NULL) {
    buf_put(out, t[i].s, (size_t)t[i].len);
    return 1;
  }
  buf_puts(out, spelling);
  const bool gone =
      spelling[0] == '\0' && i + 1 < n && t[i + 1].kind == TOK_SPACE && t[i + 1].s[0] == ' ';
  if (!gone) return 1;
  buf_put(out, t[i + 1].s + 1, (size_t)t[i + 1].len - 1);
  return 2;
}

void emit_words(Emit *e, Buf *out, const char *text, size_t len, const LibFunction *owner) {
  int n, depth = 0, pending_count = 0, pending_room = 0, braces = 0;
  const Token *t = lex(e->a, text, len, &n);
  Pending *pending = NULL;
  const int start = owner != NULL && !owner->is_type ? definition_start(t, n) : -1;
  const Token *last = NULL; /* the last significant token */
  const uint64_t own = start >= 0 && e->within ? consts_of(e, owner->name, 0) : 0;
  const int head = own != 0 ? token_from(t, n, 0) : -1; /* where its template parameters go */
  const bool is_template = head >= 0 && token_is(&t[head], "template");

  for (int i = 0; i < n;) {
    if (i == head && !is_template) {
      buf_puts(out, "template <");
      put_lifted_consts(e, out, own, true, false);
      buf_puts(out, "> ");
    }
    if (i == start) buf_puts(out, backend_text(e->b, "function"));
    if (!token_blank(&t[i]) && pending_count > 0 && pending[pending_count - 1].depth == depth &&
        !token_is(&t[i], ")"))
      pending[pending_count - 1].empty = false;

    const bool name = t[i].kind == TOK_NAME;
    const int semicolon = name && token_is(&t[i], "LOCAL") ? shared_declaration(t, i, n) : -1;
    if (semicolon >= 0) {
      put_declared_elsewhere(out, t, i, semicolon, n);
      i = semicolon + 1;
      continue;
    }
    if (token_is(&t[i], "{")) braces++;
    if (token_is(&t[i], "}")) braces--;
    if (token_is(&t[i], "(")) depth++;
    if (token_is(&t[i], ")")) {
      if (pending_count > 0 && pending[pending_count - 1].depth == depth) {
        const Pending *p = &pending[--pending_count];
        put_lifted(e, out, &p->needs, p->definition, p->empty, owner);
      }
      depth--;
    }
    const bool member = last != NULL && (token_is(last, ".") || token_is(last, "->"));
    if (!token_blank(&t[i])) last = &t[i];
    if (!name) {
      buf_put(out, t[i].s, (size_t)t[i].len);
      if (is_template && i == token_from(t, n, head + 1))
        put_lifted_consts(e, out, own, true, true);
      i++;
      continue;
    }
    const int open = after_template_arguments(t, token_from(t, n, i + 1), n);
    uint64_t consts = 0;
    if (!member && open < n && token_is(&t[open], "(")) {
      const Needs needs = needs_of(e, &t[i]);
      consts = owner != NULL && braces == 0 ? 0 : needs.consts;
      if (needs.words != 0 || needs.count > 0) {
        GROW(e->a, pending, pending_count, pending_room);
        pending[pending_count++] = (Pending){depth + 1, owner != NULL && braces == 0, true, needs};
      }
    }
    i += put_name(e, out, t, i, n, member);
    if (consts == 0) continue;
    const bool listed = i < n && token_is(&t[i], "<");
    buf_puts(out, "<");
    put_lifted_consts(e, out, consts, false, listed);
    if (listed)
      i++;
    else
      buf_puts(out, ">");
  }
}

/* entries.c: the kernels of a text, from its declarations outside of functions.  See native.h. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "native/native.h"

typedef struct Scope {
  const char *names[16]; /* of namespaces around; "" for one without, and for extern "C" */
  int depth;
} Scope;

static const char *qualified(const NativeText *t, const Scope *scope, const char *name) {
  const char *full = name;
  for (int i = scope->depth; i-- > 0;)
    if (scope->names[i][0]) full = arena_printf(t->arena, "%s::%s", scope->names[i], full);
  return full;
}

static bool is_metal(const NativeText *t) { return strcmp(t->backend, "metal") == 0; }

static bool is_attribute(const NativeText *t, int i) {
  return native_mark(t, i, '[') && native_mark(t, i + 1, '[') &&
         t->tokens[i + 1].at == t->tokens[i].at + 1;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Tokens first to last are one parameter. */
static NativeParameter read_parameter(const NativeText *t, int first, int last) {
  NativeParameter p = {.name = "", .attribute = "", .given_if = "", .first = first, .last = last};
  for (int i = first; i <= last; i++) {
    if (is_attribute(t, i)) {
      const int close = native_close(t, i);
      p.attribute = native_word(t, i + 2);
      for (int a = i; a < close; a++)
        if (native_is(t, a, "function_constant")) p.given_if = native_word(t, a + 2);
      if (p.given_if[0]) p.attribute = "buffer";
      i = close;
    } else if (native_mark(t, i, '='))
      break;
    else if (native_mark(t, i, '[') || native_mark(t, i, '('))
      i = native_close(t, i);
    else if (native_mark(t, i, '<')) {
      const int close = native_close_angle(t, i);
      if (close > 0) i = close;
    } else if (t->tokens[i].kind == TOKEN_WORD)
      p.name = native_word(t, i);
  }
  return p;
}

static void read_parameters(NativeText *t, NativeEntry *e, int open) {
  const int close = native_close(t, open);
  if (open + 1 == close || (open + 2 == close && native_is(t, open + 1, "void"))) return;
  for (int first = open + 1, i = first; i <= close && i < t->count; i++) {
    if (native_mark(t, i, '<') && native_close_angle(t, i) > 0)
      i = native_close_angle(t, i);
    else if (i < close &&
             (native_mark(t, i, '(') || native_mark(t, i, '[') || native_mark(t, i, '{')))
      i = native_close(t, i);
    else if (i == close || native_mark(t, i, ',')) {
      GROW(t->arena, e->parameters, e->parameter_count, e->parameter_room);
      e->parameters[e->parameter_count++] = read_parameter(t, first, i - 1);
      first = i + 1;
    }
  }
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* One outside of functions: from first to last, its body (or -1) from body on. */
typedef struct Declaration {
  int first, last, body;
  int parameters; /* the parenthesis of the last list outside of the body; -1: none */
  bool function;
} Declaration;

static bool is_type(const NativeText *t, int i) {
  return native_is(t, i, "struct") || native_is(t, i, "class") || native_is(t, i, "union") ||
         native_is(t, i, "enum");
}

static int past_template(const NativeText *t, int i) {
  while (native_is(t, i, "template") && native_mark(t, i + 1, '<')) {
    const int close = native_close_angle(t, i + 1);
    if (close < 0) break;
    i = close + 1;
  }
  return i;
}

static bool names_what_follows(const NativeText *t, int i) {
  return native_is(t, i, "decltype") || native_is(t, i, "__attribute__") ||
         native_is(t, i, "noexcept") || native_is(t, i, "alignas") ||
         native_is(t, i, "__align__") || native_is(t, i, "__launch_bounds__");
}

static bool has_word(const NativeText *t, int first, int last, const char *word) {
  for (int i = first; i <= last; i++)
    if (native_is(t, i, word)) return true;
  return false;
}

static Declaration read_declaration(const NativeText *t, int first) {
  Declaration d = {.first = first, .last = t->count - 1, .body = -1, .parameters = -1};
  bool type = false, value = false, initialisers = false;
  for (int i = past_template(t, first); i < t->count; i++) {
    initialisers = initialisers || (d.parameters >= 0 && native_mark(t, i, ':') &&
                                    !native_mark(t, i - 1, ':') && !native_mark(t, i + 1, ':'));
    type = type || is_type(t, i);
    value = value || (native_mark(t, i, '=') && !has_word(t, i - 3, i - 1, "operator"));
    if (native_mark(t, i, '(') || native_mark(t, i, '[')) {
      if (native_mark(t, i, '(') && !names_what_follows(t, i - 1) && !value && !initialisers)
        d.parameters = i;
      i = native_close(t, i);
    } else if (native_mark(t, i, ';'))
      return d.last = i, d;
    else if (native_mark(t, i, '{')) {
      const int close = native_close(t, i);
      if (d.body < 0) d.body = i;
      d.function = d.parameters >= 0 && !type && !value;
      if (d.function) return d.last = close < t->count ? close : t->count - 1, d;
      i = close;
    }
  }
  return d;
}

/* `name(12` or `name(12, 2)`: 12; 0: it is not there, or no number. */
static int number_of(const NativeText *t, int first, int last, const char *name) {
  for (int i = first; i + 2 <= last; i++)
    if (native_is(t, i, name) && native_mark(t, i + 1, '(') &&
        t->tokens[i + 2].kind == TOKEN_NUMBER)
      return atoi(native_word(t, i + 2));
  return 0;
}

/* ---- host code ------------------------------------------------------------------------------- */

static bool host_word(const NativeText *t, int i) {
  static const char *const words[] = {"main", "vector", "cout", "cerr", "torch", "at", "string"};
  const char *s = t->s + t->tokens[i].at;
  if (t->tokens[i].kind == TOKEN_MARK)
    return *s == '<' && native_mark(t, i + 1, '<') && native_mark(t, i + 2, '<');
  if (t->tokens[i].kind != TOKEN_WORD) return false;
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (native_is(t, i, words[w]) &&
        (w == 0 || native_mark(t, i - 1, ':') || native_mark(t, i + 1, ':')))
      return true;
  return (strncmp(s, "cuda", 4) == 0 && s[4] >= 'A' && s[4] <= 'Z') ||
         (strncmp(s, "hip", 3) == 0 && s[3] >= 'A' && s[3] <= 'Z' &&
          strncmp(s, "hipBlock", 8) != 0 && strncmp(s, "hipThread", 9) != 0 &&
          strncmp(s, "hipGrid", 7) != 0);
}

/* A function of the host's: it says so, or it uses what only a host has. */
static bool is_host(const NativeText *t, const Declaration *d) {
  if (is_metal(t)) return false;
  if (has_word(t, d->first, d->body, "__device__") || has_word(t, d->first, d->body, "__global__"))
    return false;
  if (has_word(t, d->first, d->body, "__host__")) return true;
  for (int i = d->first; i <= d->last; i++)
    if (host_word(t, i)) return true;
  return false;
}

/* ---- what they are --------------------------------------------------------------------------- */

static bool is_entry(const NativeText *t, const Declaration *d) {
  if (t->tokens[d->parameters - 1].kind != TOKEN_WORD) return false; /* of a specialisation */
  for (int i = d->first; i < d->parameters; i++) {
    if (is_metal(t) ? native_is(t, i, "kernel") : native_is(t, i, "__global__")) return true;
    if (native_is(t, i, "decltype")) return false;
  }
  return false;
}

static void take_entry(NativeText *t, const Declaration *d, const Scope *scope) {
  GROW(t->arena, t->entries, t->entry_count, t->entry_room);
  NativeEntry *e = &t->entries[t->entry_count++];
  e->name = native_word(t, d->parameters - 1);
  e->full = qualified(t, scope, e->name);
  e->is_template = native_is(t, d->first, "template");
  e->threads = number_of(t, d->first, d->parameters,
                         is_metal(t) ? "max_total_threads_per_threadgroup" : "__launch_bounds__");
  e->where = native_where(t, d->parameters - 1);
  read_parameters(t, e, d->parameters);
}

static const char *string_of(const NativeText *t, int i) {
  const char *s = native_word(t, i);
  const size_t length = strlen(s);
  return length >= 2 ? arena_strndup(t->arena, s + 1, length - 2) : s;
}

/* Of `[[host_name("x" "_f16")]]`; NULL: there is none. */
static const char *host_name(const NativeText *t, const Declaration *d) {
  const char *host = NULL;
  for (int i = d->first; i < d->last && !host; i++) {
    if (!native_is(t, i, "host_name")) continue;
    host = "";
    for (int s = i + 2; t->tokens[s].kind == TOKEN_STRING; s++)
      host = arena_printf(t->arena, "%s%s", host, string_of(t, s));
  }
  return host;
}

/* `template [[host_name("x")]] kernel foo_t foo<float>;`, `template __global__ void foo<float>(...);` */
static void take_instance(NativeText *t, const Declaration *d, const Scope *scope) {
  int last = d->last - 1;
  const char *host = host_name(t, d);
  for (int i = d->first; i < d->last; i++) {
    if (is_attribute(t, i) || native_is(t, i, "decltype"))
      i = native_close(t, native_is(t, i, "decltype") ? i + 1 : i);
    else if (native_mark(t, i, '<') && native_close_angle(t, i) > 0)
      i = native_close_angle(t, i);
    else if (native_mark(t, i, '(')) {
      last = i - 1;
      break;
    }
  }
  int open = -1;
  for (int i = d->first; i < last && open < 0; i++)
    if (native_mark(t, i, '<') && native_close_angle(t, i) == last) open = i;
  NativeEntry *e = NULL;
  for (int i = 0; i < t->entry_count && open > 0; i++)
    if (native_is(t, open - 1, t->entries[i].name)) e = &t->entries[i];
  if (e) {
    const char *arguments = native_text(t, open, last);
    GROW(t->arena, e->instances, e->instance_count, e->instance_room);
    e->instances[e->instance_count++] =
        (NativeInstance){host ? host : arena_printf(t->arena, "%s%s", e->name, arguments),
                         arena_printf(t->arena, "%s%s", qualified(t, scope, e->name), arguments)};
  }
  if (is_metal(t)) native_edit(t, d->first, d->last, "");
}

/* ---- Metal's overloads of address spaces ----------------------------------------------------- */

/* Here there is one address space: functions that differ in nothing else are one, and the first one
** stays. */
typedef struct Seen {
  const char **keys;
  int count, room;
} Seen;

static bool is_space(const NativeText *t, int i) {
  return native_is(t, i, "device") || native_is(t, i, "threadgroup") || native_is(t, i, "thread");
}

/* The declaration up to its body or initialisers, without the words that say where something lies. */
static const char *key_of(const NativeText *t, const Declaration *d) {
  Buf b = {0};
  bool constant = false;
  const int end = d->function ? native_close(t, d->parameters) : d->body;
  for (int i = d->first; i < d->body; i++) {
    if (i > end && native_mark(t, i, ':')) break;
    if (is_space(t, i) || (i > end && native_is(t, i, "constant"))) continue;
    const bool is = native_is(t, i, "constant") || native_is(t, i, "const");
    if (!is || !constant) buf_printf(&b, "%s ", is ? "const" : native_word(t, i));
    constant = is;
  }
  const char *key = arena_strdup(t->arena, b.s ? b.s : "");
  buf_free(&b);
  return key;
}

static void take_overload(NativeText *t, const Declaration *d, Seen *seen) {
  const char *key = key_of(t, d);
  for (int i = 0; i < seen->count; i++)
    if (strcmp(seen->keys[i], key) == 0) {
      native_edit(t, d->first, d->last, "");
      return;
    }
  GROW(t->arena, seen->keys, seen->count, seen->room);
  seen->keys[seen->count++] = key;
  for (int i = d->function ? native_close(t, d->parameters) : d->body;
       i < d->body && !native_mark(t, i, ':'); i++)
    if (native_is(t, i, "constant"))
      native_edit(t, i, i, ""); /* where it lies, not that it is const */
}

static void take_members(NativeText *t, const Declaration *d) {
  Seen seen = {0};
  const int end = native_close(t, d->body);
  for (int i = d->body + 1; i < end;) {
    if (native_mark(t, i, ';') || native_mark(t, i, ':') || native_is(t, i, "public") ||
        native_is(t, i, "private")) {
      i++;
      continue;
    }
    const Declaration m = read_declaration(t, i);
    if (m.last >= end) return;
    if (m.function)
      take_overload(t, &m, &seen);
    else if (m.body > 0)
      take_members(t, &m);
    i = m.last + 1;
  }
}

/* Into a namespace, or extern "C"; the token behind its brace, or i: it is neither. */
static int enter(const NativeText *t, Scope *scope, int i) {
  int at = i;
  const char *name = "";
  if (native_is(t, at, "extern") && t->tokens[at + 1].kind == TOKEN_STRING &&
      native_mark(t, at + 2, '{'))
    at += 2;
  else {
    if (native_is(t, at, "inline")) at++;
    if (!native_is(t, at, "namespace")) return i;
    for (at++; at < t->count && !native_mark(t, at, '{'); at++) {
      if (native_mark(t, at, ';') || native_mark(t, at, '=')) return i;
      name = arena_printf(t->arena, "%s%s", name, native_word(t, at));
    }
  }
  if (scope->depth == 16) return i;
  scope->names[scope->depth++] = name;
  return at + 1;
}

void native_entries(NativeText *t) {
  Scope scope = {.depth = 0};
  Seen seen = {0};
  for (int i = 0; i < t->count;) {
    const int inside = enter(t, &scope, i);
    if (inside > i) {
      i = inside;
      continue;
    }
    if (native_mark(t, i, '}')) {
      if (scope.depth > 0) scope.depth--;
      i++;
      continue;
    }
    const Declaration d = read_declaration(t, i);
    if (native_is(t, i, "template") && !native_mark(t, i + 1, '<'))
      take_instance(t, &d, &scope);
    else if (d.function && is_entry(t, &d))
      take_entry(t, &d, &scope);
    else if (d.function && is_host(t, &d))
      native_edit(t, d.first, d.last, "");
    else if (d.function && is_metal(t))
      take_overload(t, &d, &seen);
    else if (d.body > 0 && is_metal(t)) {
      if (native_mark(t, d.body - 1, '>')) /* a specialisation */
        take_overload(t, &d, &seen);
      take_members(t, &d);
    }
    i = d.last + 1;
  }
}

/* ---- which one ------------------------------------------------------------------------------- */

static bool without_spaces_equal(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == ' ') a++;
    while (*b == ' ') b++;
    if (*a != *b) return false;
    if (!*a) return true;
  }
}

/* "rms, rms<half> and norm" */
static const char *list(const NativeText *t) {
  Buf b = {0};
  int count = 0, total = 0;
  for (int i = 0; i < t->entry_count; i++)
    total += t->entries[i].instance_count ? t->entries[i].instance_count : 1;
  for (int i = 0; i < t->entry_count; i++) {
    const NativeEntry *e = &t->entries[i];
    for (int n = 0; n < (e->instance_count ? e->instance_count : 1); n++, count++) {
      const char *comma = count == 0 ? "" : count + 1 == total ? " and " : ", ";
      if (count >= 12) continue;
      buf_printf(&b, "%s%s%s", comma, e->instance_count ? e->instances[n].name : e->full,
                 e->is_template && !e->instance_count ? "<...>" : "");
    }
  }
  if (count > 12) buf_printf(&b, " and %d more", count - 12);
  const char *s = arena_strdup(t->arena, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

static bool choose(const NativeEntry *e, const char *shown, const char *full, NativeChoice *c) {
  *c = (NativeChoice){e, shown, full};
  return true;
}

static bool one_of(const NativeText *t, const NativeEntry *e, const char *wanted, NativeChoice *c) {
  for (int i = 0; i < e->instance_count; i++)
    if (without_spaces_equal(wanted, e->instances[i].name) ||
        without_spaces_equal(wanted, e->instances[i].full))
      return choose(e, e->instances[i].name, e->instances[i].full, c);
  const size_t plain = strcspn(wanted, "<");
  const char *base = arena_strndup(t->arena, wanted, plain);
  while (plain > 0 && *base && base[strlen(base) - 1] == ' ')
    base = arena_strndup(t->arena, base, strlen(base) - 1);
  if (strcmp(base, e->name) != 0 && strcmp(base, e->full) != 0) return false;
  if (wanted[plain] && e->is_template)
    return choose(e, wanted, arena_printf(t->arena, "%s%s", e->full, wanted + plain), c);
  if (wanted[plain]) return false;
  if (!e->is_template) return choose(e, e->name, e->full, c);
  return e->instance_count == 1 && choose(e, e->instances[0].name, e->instances[0].full, c);
}

bool native_choose(const NativeText *t, const char *wanted, NativeChoice *c, const char **why) {
  if (t->entry_count == 0) {
    *why = arena_printf(t->arena, "there is no kernel in it (%s)",
                        is_metal(t) ? "`kernel void name(`, `[[kernel]] void name(`"
                                    : "`__global__ void name(`");
    return false;
  }
  if (!wanted && t->entry_count == 1) wanted = t->entries[0].name;
  if (!wanted) {
    *why =
        arena_printf(t->arena, "it has several kernels; say which: --entry NAME, of %s", list(t));
    return false;
  }
  const char *names[64];
  int count = 0;
  for (int i = 0; i < t->entry_count; i++) {
    const NativeEntry *e = &t->entries[i];
    if (one_of(t, e, wanted, c)) return true;
    if (count < 64) names[count++] = e->name;
    if (strcmp(wanted, e->name) != 0 && strcmp(wanted, e->full) != 0) continue;
    *why =
        e->instance_count > 1
            ? arena_printf(t->arena, "%s is a template; say which: --entry of %s", e->full, list(t))
            : arena_printf(t->arena, "%s is a template; say of what: --entry '%s<float>'", e->full,
                           e->full);
    return false;
  }
  const char *near = nearest_name(wanted, names, count);
  *why = near ? arena_printf(t->arena, "it has no kernel %s; did you mean %s?", wanted, near)
              : arena_printf(t->arena, "it has no kernel %s; it has %s", wanted, list(t));
  return false;
}

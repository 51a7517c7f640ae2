/* rewrite.c: what a GPU's C++ says and a CPU's has no word for, respelled.  See native.h. */
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

const char *native_value(NativeValue *values, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(values[i].name, name) == 0) {
      values[i].used = true;
      return values[i].value;
    }
  return NULL;
}

static bool begins_statement(const NativeText *t, int i) {
  return i == 0 || native_mark(t, i - 1, ';') || native_mark(t, i - 1, '{') ||
         native_mark(t, i - 1, '}') || native_mark(t, i - 1, ')');
}

/* ---- Metal ----------------------------------------------------------------------------------- */

/* `threadgroup T a[8], b;` declares memory; with a * or an & it is where something points. */
static void take_threadgroup(NativeText *t, int i) {
  if (!begins_statement(t, i)) return;
  for (int at = i + 1; at < t->count && !native_mark(t, at, ';') && !native_mark(t, at, '=');
       at++) {
    if (native_mark(t, at, '*') || native_mark(t, at, '&')) return;
    if (native_mark(t, at, '<') && native_close_angle(t, at) > 0)
      at = native_close_angle(t, at);
    else if (native_mark(t, at, '(') || native_mark(t, at, '['))
      at = native_close(t, at);
  }
  native_edit(t, i, i, "KG_SIMT_SHARED");
}

/* `1.0h`, `2e-3h`, `0.5bf`: literals of 16 bits; and `0.5` is a float, as there is no double. */
static void take_number(NativeText *t, int i) {
  const char *word = native_word(t, i);
  const size_t n = strlen(word);
  const char last = word[n - 1];
  if (n < 2 || (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))) return;
  const bool bfloat = n > 2 && strcmp(word + n - 2, "bf") == 0;
  if (bfloat || last == 'h' || last == 'H') {
    const char *digits = arena_strndup(t->arena, word, n - (bfloat ? 2 : 1));
    native_edit(t, i, i, arena_printf(t->arena, "((%s)%s)", bfloat ? "bfloat" : "half", digits));
  } else if (strpbrk(word, ".eE") && (last == '.' || (last >= '0' && last <= '9')))
    native_edit(t, i, i, arena_printf(t->arena, "%sf", word));
}

/* `constant bool masked [[function_constant(3)]];`, the attribute being at i.  Without a value it is a
** thing that says so where it is read. */
static void take_constant(NativeText *t, int i, NativeWish *wish) {
  const char *name = native_word(t, i - 1);
  const char *value = native_value(wish->values, wish->value_count, name);
  int first = i - 2;
  while (first > 0 && !native_is(t, first, "constant")) first--;
  for (int at = 0; at < t->count; at++)
    if (native_is(t, at, "is_function_constant_defined") && native_is(t, at + 2, name))
      native_edit(t, native_mark(t, at - 1, ':') ? at - 3 : at, at + 3, value ? "true" : "false");
  if (value) {
    native_edit(t, i, native_close(t, i), arena_printf(t->arena, " = (%s)", value));
    return;
  }
  native_edit(
      t, first, i - 2,
      arena_printf(t->arena, "static const kg_native_unset<%s>", native_text(t, first + 1, i - 2)));
  native_edit(t, i, native_close(t, i),
              arena_printf(t->arena, " = {\"%s (%s) has no value: %s=...\"}", name,
                           native_word(t, i + 4), name));
}

static void metal_token(NativeText *t, int i, NativeWish *wish) {
  if (native_is(t, i, "threadgroup"))
    take_threadgroup(t, i);
  else if (t->tokens[i].kind == TOKEN_NUMBER)
    take_number(t, i);
  else if (native_is(t, i, "static_cast"))
    native_edit(t, i, i, "kg_native_cast");
  else if (native_mark(t, i, '[') && native_mark(t, i + 1, '[') &&
           t->tokens[i + 2].kind == TOKEN_WORD && t->tokens[i + 1].at == t->tokens[i].at + 1) {
    if (native_is(t, i + 2, "function_constant"))
      take_constant(t, i, wish);
    else
      native_edit(t, i, native_close(t, i), "");
  }
}

/* ---- CUDA and HIP ---------------------------------------------------------------------------- */

/* `extern __shared__ T name[];`: all of them are one piece of memory. */
static void take_dynamic(NativeText *t, int i) {
  int shared = -1, name = -1, at = i + 1;
  for (; at < t->count && at < i + 24 && !native_mark(t, at, ';'); at++) {
    if (native_is(t, at, "__shared__")) shared = at;
    if (native_mark(t, at, '(')) at = native_close(t, at);
    if (native_mark(t, at, '[') && name < 0) name = at - 1;
  }
  if (shared < 0 || name < 0 || !native_mark(t, at, ';')) return;
  if (!t->dynamic) t->dynamic = native_word(t, name);
  native_edit(t, shared, shared, "KG_SIMT_OF_DYNAMIC");
  native_edit_before(t, at, arena_printf(t->arena, " __asm__(\"%s\")", t->dynamic));
}

/* Inline assembly, where it stands as a statement. */
static void take_assembly(NativeText *t, int i) {
  int at = i + 1;
  while (native_is(t, at, "volatile") || native_is(t, at, "__volatile__")) at++;
  if (native_mark(t, at, '(')) native_edit(t, i, native_close(t, at), "kg_native_assembly()");
}

static void gpu_token(NativeText *t, int i) {
  if (native_is(t, i, "extern"))
    take_dynamic(t, i);
  else if (native_is(t, i, "asm") || native_is(t, i, "__asm__") || native_is(t, i, "__asm"))
    take_assembly(t, i);
}

void native_rewrite(NativeText *t, NativeWish *wish) {
  const bool metal = strcmp(t->backend, "metal") == 0;
  for (int i = 0; i < t->count; i++)
    if (metal)
      metal_token(t, i, wish);
    else
      gpu_token(t, i);
}

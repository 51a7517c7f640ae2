/* unset.c: which variables a text may use before it sets them.  See native.h.
**
** That some variable was used unset, two runs have shown, which differ in nothing else; where it
** stands, the compiler's own warnings say, or else the arrays of a thread's own that begin with
** nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "native/native.h"
#include "simt/simt.h"

/* `float a[4];`, in a function: its name; -1: it is no such thing. */
static int bare_array(const NativeText *t, int i) {
  int at = i + 1;
  if (!native_mark(t, i, '[') || t->tokens[i - 1].kind != TOKEN_WORD ||
      (t->tokens[i - 2].kind != TOKEN_WORD && !native_mark(t, i - 2, '>')))
    return -1;
  for (at = i; native_mark(t, at, '['); at++) at = native_close(t, at);
  if (!native_mark(t, at, ';')) return -1;
  int first = i - 2;
  while (first > 0 && !native_mark(t, first, ';') && !native_mark(t, first, '{') &&
         !native_mark(t, first, '}') && !native_mark(t, first, ')'))
    first--;
  for (int w = first; w < i; w++)
    if (native_is(t, w, "__shared__") || native_is(t, w, "threadgroup") ||
        native_is(t, w, "extern") || native_is(t, w, "return") || native_is(t, w, "static"))
      return -1;
  return i - 1;
}

static void put_arrays(Buf *b, NativeText *t) {
  enum { SHOWN = 6 };
  int depth = 0, count = 0;
  for (int i = 2; i < t->count && count < SHOWN; i++) {
    depth += native_mark(t, i, '{') - native_mark(t, i, '}');
    const int name = depth > 0 ? bare_array(t, i) : -1;
    if (name < 0) continue;
    buf_printf(b, "  %s: the array %s begins with nothing\n", native_where(t, name),
               native_word(t, name));
    count++;
  }
}

/* "x.cu:12:3: warning: variable 'v' is uninitialized when used here [-W...]" */
static void put_warnings(Buf *b, const char *log) {
  for (const char *line = log; *line;
       line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0)) {
    const char *end = line + strcspn(line, "\n"), *mark = strstr(line, ": warning: ");
    if (!mark || mark > end || strncmp(line, "kg_simt", strlen("kg_simt")) == 0) continue;
    const char *words = mark + strlen(": warning: "), *column = mark;
    const char *bracket = strstr(words, " [-W");
    while (column > line && column[-1] != ':') column--;
    buf_printf(b, "  %.*s%.*s\n", (int)(column - line), line,
               (int)((bracket && bracket < end ? bracket : end) - words + 0), words);
  }
}

const char *native_unset(NativeText *t, const char *compiler, const char *whole) {
  const char *tmp = getenv("TMPDIR");
  const char *path = arena_printf(t->arena, "%s/unset.cpp", tmp ? tmp : "/tmp");
  const char *const words[] = {compiler,
                               "-fsyntax-only",
                               "-x",
                               "c++",
                               "-std=gnu++17",
                               "-nostdinc",
                               "-fno-builtin",
                               "-Wno-everything",
                               "-Wuninitialized",
                               "-Wsometimes-uninitialized",
                               "-Wconditional-uninitialized",
                               "-fno-caret-diagnostics",
                               "-fno-color-diagnostics",
                               path,
                               NULL};
  Buf b = {0};
  FILE *out = fopen(path, "we");
  if (out) {
    fputs(whole, out);
    kg_child_outcome of = {0};
    const kg_child_program program = {.path = compiler, .argv = words};
    if (fclose(out) == 0 &&
        kg_child_run(&program, NULL, 0, (kg_child_limits){.seconds = 60}, &of) && of.err)
      put_warnings(&b, of.err);
    kg_child_outcome_free(&of);
  }
  if (b.len == 0) put_arrays(&b, t);
  const char *s = arena_strdup(t->arena, b.s ? b.s : "");
  buf_free(&b);
  return s;
}

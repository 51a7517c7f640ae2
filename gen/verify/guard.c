/* guard.c: the guard of a HIP text against a wrong width, under the macros of every compiler that
** there has been, also of those that are not here.  See verify.h.
**
** A guard is made of directives alone, so clang's preprocessor answers for any hipRTC: the text's
** directives stand in one file once for each choice of a family's macro, a way to say the width and
** an instance's width, and each must be refused, with the kernel's name, or let through. */
#include <stdlib.h>
#include <string.h>

#include "base/lex.h"
#include "child.h"
#include "verify/compilers_own.h"
#include "verify/verify.h"

enum { GUARD_SECONDS = 60 };

/* The families' macros, and the width of a family: where no macro says another, and whether one
** may.  A family of no row here is one that no text can know: 0. */
static const struct Family {
  const char *macro;
  int wave;
  bool either;
} families[] = {
    {"__GFX8__", 64, false}, {"__GFX9__", 64, false}, {"__GFX10__", 32, true},
    {"__GFX11__", 32, true}, {"__GFX12__", 32, true}, {"__GFX99__", 0, false},
};

/* How a compiler says the width: ROCm 5.5 to 7.1, before 5.5, and from 7.2 on not at all. */
static const char *const width_macros[] = {"__AMDGCN_WAVEFRONT_SIZE__", "__AMDGCN_WAVEFRONT_SIZE",
                                           NULL};

enum {
  FAMILIES = sizeof families / sizeof *families,
  WIDTH_MACROS = sizeof width_macros / sizeof *width_macros,
  MAX_CHOICES = FAMILIES * WIDTH_MACROS * WAVES * WAVES + WAVES
};

typedef struct Choice {
  const char *defines[3]; /* "__GFX9__ 1" ...; NULL: no more */
  int said;               /* the width that the macros mean; 0: none, or a text for no arithmetic */
  int wave;               /* the instance's */
} Choice;

static int all_choices(Arena *a, unsigned waves, Choice *to) {
  int count = 0;
  for (int i = 0; i < WAVES; i++) {
    const int wave = i == 0 ? 32 : 64;
    if ((waves & (1u << i)) == 0) continue;
    to[count++] = (Choice){{"__GFX9__ 1", "__FAST_MATH__ 1", NULL}, 0, wave};
    for (int f = 0; f < FAMILIES; f++)
      for (int m = 0; m < WIDTH_MACROS; m++)
        for (int said = 32; said <= 64; said += 32) {
          const struct Family *of = &families[f];
          const bool spare = width_macros[m] == NULL ? said == 64 : said != of->wave && !of->either;
          if (spare) continue;
          Choice *c = &to[count++];
          *c = (Choice){{arena_printf(a, "%s 1", of->macro), NULL, NULL}, of->wave, wave};
          if (width_macros[m] == NULL) continue;
          c->defines[1] = arena_printf(a, "%s %d", width_macros[m], said);
          c->said = said;
        }
  }
  return count;
}

/* The directives of a text, one a line, but #line and #include; then an #undef for each name that
** they define. */
static void put_directives(Buf *b, Arena *a, const char *text) {
  int count;
  Buf names = {0};
  const Token *t = lex(a, text, strlen(text), &count);
  for (int i = 0; i < count; i++) {
    if (t[i].kind != TOK_DIRECTIVE) continue;
    const char *word = t[i].s + 1, *end = t[i].s + t[i].len;
    while (word < end && (*word == ' ' || *word == '\t')) word++;
    if (strncmp(word, "line", 4) == 0 || strncmp(word, "include", 7) == 0) continue;
    buf_printf(b, "%.*s\n", t[i].len, t[i].s);
    if (strncmp(word, "define ", 7) == 0)
      buf_printf(&names, "#undef %.*s\n", (int)strcspn(word + 7, " (\t\n"), word + 7);
  }
  if (names.s != NULL) buf_puts(b, names.s);
  buf_free(&names);
}

static const char *source_of(Arena *a, const VerifyRow *row, const char *text,
                             const Choice *choices, int count) {
  Buf b = {0};
  for (int i = 0; i < count; i++) {
    const Choice *c = &choices[i];
    for (int d = 0; c->defines[d] != NULL; d++) buf_printf(&b, "#define %s\n", c->defines[d]);
    buf_printf(&b, "#line 1 \"choice %d\"\n", i);
    const char *block = instance_block(a, row->instance, c->wave, "text");
    put_directives(&b, a, arena_printf(a, "%s%s", block, text));
    for (int d = 0; c->defines[d] != NULL; d++)
      buf_printf(&b, "#undef %.*s\n", (int)strcspn(c->defines[d], " "), c->defines[d]);
  }
  const char *source = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return source;
}

/* The first error that the preprocessor has for a choice; NULL: none. */
static const char *error_of(Arena *a, const char *log, int choice) {
  const char *name = arena_printf(a, "choice %d:", choice);
  for (const char *line = log; line != NULL && *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    const char *error = memmem(line, length, ": error: ", 9);
    if (strncmp(line, name, strlen(name)) == 0 && error != NULL)
      return arena_strndup(a, error + 9, length - (size_t)(error + 9 - line));
    line += length + (line[length] == '\n');
  }
  return NULL;
}

static void judge(Verify *v, Arena *a, const VerifyRow *row, const Choice *c, const char *error) {
  const bool right = c->said == c->wave;
  const char *sign = arena_printf(a, "kgen: %s: ", row->kernel->name);
  Buf with = {0};
  for (int d = 0; c->defines[d] != NULL; d++)
    buf_printf(&with, "%s%s", d > 0 ? ", " : "", c->defines[d]);
  const VerifyPlace at = {.instance = row->name, .tool = "guard", .at = arena_strdup(a, with.s)};
  buf_free(&with);
  if (!right && error == NULL)
    verify_found(v, VERIFY_COMPILE, -1, row->kernel, "hip", at,
                 "an instance for %d lanes is let through, by the macros of a compiler %s", c->wave,
                 c->said != 0            ? "for the other width"
                 : c->defines[1] != NULL ? "that is told to be fast instead of exact"
                                         : "whose width nobody knows");
  else if (!right && strstr(error, sign) == NULL)
    verify_found(v, VERIFY_COMPILE, -1, row->kernel, "hip", at,
                 "an instance is refused, but not by the guard, which names the kernel: %s", error);
  else if (right && error != NULL)
    verify_found(v, VERIFY_COMPILE, -1, row->kernel, "hip", at,
                 "an instance for %d lanes is refused for a target of %d: %s", c->wave, c->said,
                 error);
}

static void guard_of(Verify *v, const Clang *clang, const VerifyRow *row) {
  Arena *a = arena_new();
  Choice *choices = arena_alloc(a, MAX_CHOICES * sizeof *choices);
  const int count = all_choices(a, row->port->waves, choices);
  const Output *text = library_output(v->library, port_file(a, row->kernel, row->port));
  const char *source = source_of(a, row, text->text, choices, count);
  const char *const argv[] = {
      clang->program,    "-x", "c++",       "-E", "-w", "-fno-color-diagnostics",
      "-ferror-limit=0", "-o", "/dev/null", "-",  NULL};
  const kg_child_program program = {.path = clang->program, .argv = argv};
  kg_child_outcome of;
  kg_child_run(&program, source, strlen(source), (kg_child_limits){.seconds = GUARD_SECONDS}, &of);
  if (of.ending != KG_CHILD_EXITED)
    verify_found(v, VERIFY_COMPILE, -1, row->kernel, "hip", (VerifyPlace){.tool = "guard"},
                 "%s broke off: its process %s", clang->title, of.words);
  else
    for (int i = 0; i < count; i++)
      judge(v, a, row, &choices[i], error_of(a, of.err != NULL ? of.err : "", i));
  kg_child_outcome_free(&of);
  arena_free(a);
}

void verify_guard_tool(Verify *v) {
  Clang clang = {0};
  const char *why = NULL;
  if (!verify_wants(v, "guard")) return;
  VerifyTool *t = verify_tool(v, VERIFY_COMPILE, "guard", NULL);
  if (clang_open(&clang, &why))
    t->title = arena_printf(v->arena, "%s as the preprocessor of every hipRTC", clang.title);
  else
    t->why = why;
  clang_close(&clang);
}

void verify_guard(Verify *v) {
  Clang clang = {0};
  const char *why;
  if (!clang_open(&clang, &why)) return; /* which its tool says */
  for (int i = 0; i < v->row_count; i++)
    if (v->rows[i].first == i && strcmp(v->rows[i].port->backend->name, "hip") == 0)
      guard_of(v, &clang, &v->rows[i]);
  clang_close(&clang);
}

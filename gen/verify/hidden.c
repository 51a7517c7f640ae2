/* hidden.c: what the simulated devices do not run of a text, held to a table.
**
** A text may hide a piece from the CPU (#ifdef KG_SIMT ... #else ... #endif, or #ifndef), where no C++ says
** what the device is to do.  So nothing that runs can find a fault in it, and each such piece stands
** here, with what the CPU does in its place.  Inline assembly is allowed nowhere else.  Where a
** compiler gives PTX, that is read as well: which instructions on floats it may have at all.
** See verify.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "verify/verify.h"

/* Words are apart by one space; a comment is none. */
static const struct {
  const char *backends; /* with a space behind each */
  const char *simulated, *hidden;
} pieces[] = {
    {"cuda ", "return __builtin_bit_cast(u16, _Float16(x));",
     "u16 b; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(x)); return b;"},
    {"cuda ", "return f32(__builtin_bit_cast(_Float16, b));",
     "f32 x; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(b)); return x;"},
    {"cuda hip ", "return __exp2f(x);", "return exp2f(x);"},
    {"hip ", "", "asm(\"\" : \"+v\"(x));"}, /* a product stays one: nothing else changes */
};

/* Instructions of PTX on floats that a text may become.  A star: whatever stands there.  needs: only
** where the text has this word, or that of another row of the name. */
static const struct {
  const char *name, *needs;
} instructions[] = {
    {"mov.*", NULL},
    {"ld.*", NULL},
    {"st.*", NULL},
    {"selp.*", NULL},
    {"setp.*", NULL},
    {"add.rn.f32", NULL},
    {"sub.rn.f32", NULL},
    {"mul.rn.f32", NULL},
    {"div.rn.f32", NULL},
    {"rcp.rn.f32", NULL},
    {"neg.f32", NULL},
    {"abs.f32", NULL},
    {"min.f32", NULL},
    {"max.f32", NULL},
    {"sqrt.rn.f32", NULL},
    {"copysign.f32", NULL},
    {"fma.rn.f32", "fmaf"},
    {"cvt.rmi.f32.f32", "floorf"},
    {"cvt.rpi.f32.f32", "ceilf"},
    {"cvt.rn.f32.u*", NULL},
    {"cvt.rn.f32.s*", NULL},
    {"cvt.rzi.u*.f32", NULL},
    {"cvt.rzi.s*.f32", NULL},
    {"cvt.rn.f16.f32", "kg_f16_bits"},
    {"cvt.f32.f16", "kg_f16_value"},
    {"ex2.approx.f32", "__expf"},
    {"lg2.approx.f32", "__logf"},
    {"lg2.approx.f32", "__log2f"},
    {"rsqrt.approx.f32", "rsqrtf"},
    {"sin.approx.f32", "__sinf"},
    {"cos.approx.f32", "__cosf"},
};

/* ---- the text -------------------------------------------------------------------------------- */

/* Adds a line without its comment, spaces as one. */
static void add_line(Buf *b, const char *line, size_t bytes) {
  for (size_t i = 0; i < bytes && strncmp(line + i, "//", 2) != 0; i++) {
    const bool space = isspace((unsigned char)line[i]);
    if (!space)
      buf_put(b, line + i, 1);
    else if (b->len > 0 && b->s[b->len - 1] != ' ')
      buf_put(b, " ", 1);
  }
  if (b->len > 0 && b->s[b->len - 1] != ' ') buf_put(b, " ", 1);
}

static const char *taken(Arena *a, Buf *b) {
  const size_t end = b->len > 0 && b->s[b->len - 1] == ' ' ? b->len - 1 : b->len;
  const char *text = arena_strndup(a, b->s != NULL ? b->s : "", end);
  buf_free(b);
  return text;
}

static bool is_word(const char *text, const char *at, size_t bytes) {
  const bool before = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
  return !before && !isalnum((unsigned char)at[bytes]) && at[bytes] != '_';
}

static bool has_word(const char *text, const char *word) {
  for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
    if (is_word(text, at, strlen(word))) return true;
  return false;
}

static bool has_assembly(const char *text) {
  return has_word(text, "asm") || has_word(text, "__asm") || has_word(text, "__asm__");
}

static bool is_known(const char *backend, const char *simulated, const char *hidden) {
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    if (has_word(pieces[i].backends, backend) && strcmp(pieces[i].simulated, simulated) == 0 &&
        strcmp(pieces[i].hidden, hidden) == 0)
      return true;
  return false;
}

/* A text, read line by line. */
typedef enum Side { SHOWN, SIMULATED, HIDDEN, SIDES } Side;
typedef struct Reader {
  Arena *arena;
  const char *backend;
  Side side;
  int depth; /* of conditions within a piece */
  Buf half[SIDES];
} Reader;

/* A piece has ended. */
static const char *piece_fault(Reader *r) {
  const char *simulated = taken(r->arena, &r->half[SIMULATED]);
  const char *hidden = taken(r->arena, &r->half[HIDDEN]);
  r->side = SHOWN;
  if (is_known(r->backend, simulated, hidden)) return NULL;
  return arena_printf(r->arena,
                      "what it hides from the simulated devices is not in verify's table: \"%s\", "
                      "and there \"%s\" (gen/verify/hidden.c)",
                      hidden, simulated);
}

static const char *line_fault(Reader *r, const char *words) {
  const bool outermost = r->side != SHOWN && r->depth == 0;
  if (r->side == SHOWN && strcmp(words, "#ifdef KG_SIMT") == 0) {
    r->side = SIMULATED, r->depth = 0;
    return NULL;
  }
  if (r->side == SHOWN && strcmp(words, "#ifndef KG_SIMT") == 0) { /* nothing is simulated */
    r->side = HIDDEN, r->depth = 0;
    return NULL;
  }
  if (r->side == SIMULATED && outermost && strcmp(words, "#else") == 0) {
    r->side = HIDDEN;
    return NULL;
  }
  if (outermost && strcmp(words, "#endif") == 0) return piece_fault(r);
  if (words[0] == '#' && has_word(words, "KG_SIMT"))
    return arena_printf(r->arena,
                        "it asks whether it is simulated otherwise than by #ifdef or #ifndef "
                        "KG_SIMT, #else and #endif: \"%s\"",
                        words);
  if (r->side == SHOWN && has_assembly(words))
    return arena_printf(r->arena, "inline assembly where the simulated devices come by: \"%s\"",
                        words);
  r->depth += (strncmp(words, "#if", 3) == 0) - (strcmp(words, "#endif") == 0);
  if (r->side != SHOWN) add_line(&r->half[r->side], words, strlen(words));
  return NULL;
}

const char *hidden_fault(Arena *a, const char *backend, const char *text) {
  Reader r = {.arena = a, .backend = backend};
  const char *fault = NULL;
  for (const char *line = text; *line != '\0' && fault == NULL;) {
    const size_t bytes = strcspn(line, "\n");
    Buf words = {0};
    add_line(&words, line, bytes);
    fault = line_fault(&r, taken(a, &words));
    line += bytes + (line[bytes] == '\n');
  }
  for (int i = 0; i < SIDES; i++) buf_free(&r.half[i]);
  return fault;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *name) {
  for (; *pattern != '\0' && *pattern != '*'; pattern++, name++)
    if (*pattern != *name) return false;
  if (*pattern == '\0') return *name == '\0';
  const size_t rest = strlen(pattern + 1), bytes = strlen(name);
  return rest <= bytes && strcmp(name + bytes - rest, pattern + 1) == 0;
}

static bool on_floats(const char *name) {
  static const char *const types[] = {".f32", ".f16", ".bf16", ".f64", ".ftz", ".tf32"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strstr(name, types[i]) != NULL) return true;
  return false;
}

static bool may_have(const char *name, const char *text) {
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
    if (matches(instructions[i].name, name) &&
        (instructions[i].needs == NULL || has_word(text, instructions[i].needs)))
      return true;
  return false;
}

const char *ptx_fault(Arena *a, const char *ptx, const char *text) {
  for (const char *line = ptx; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
    const char *at = line + strspn(line, " \t");
    if (*at == '@') at += strcspn(at, " \t\n"), at += strspn(at, " \t"); /* a predicate */
    if (!islower((unsigned char)*at)) continue;
    const char *name = arena_strndup(a, at, strcspn(at, " \t\n;"));
    if (on_floats(name) && !may_have(name, text))
      return arena_printf(a,
                          "its PTX has %s, which nothing in the text asks for "
                          "(gen/verify/hidden.c has what a text may become)",
                          name);
  }
  return NULL;
}

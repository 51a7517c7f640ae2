/* objects.c: see objects.h.  The instructions' names are those of LLVM's AMDGPU back end, of its
** releases 15 to 22. */
#include "verify/objects.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lex.h"

/* ---- the tables ------------------------------------------------------------------------------ */

typedef enum Kind {
  LOST_ZERO,
  FUSED,
  FLUSHING,
  TOWARDS_ZERO,
  DOT,
  RECIPROCAL,
  ROOT,
  RECIPROCAL_ROOT,
  EXPONENTIAL,
  LOGARITHM,
  SINE,
  HYPERBOLIC,
  MODE,
  NO_INSTRUCTION,
  SCRATCH,
  KINDS
} Kind;

/* All instructions of a kind, as patterns of a shell. */
static const struct Row {
  Kind kind;
  const char *name;
} rows[] = {
    {LOST_ZERO, "v_fma_mixlo_*"},
    {LOST_ZERO, "v_fma_mixhi_*"},
    {LOST_ZERO, "v_mad_mixlo_*"},
    {LOST_ZERO, "v_mad_mixhi_*"},
    {FUSED, "v_fma_*"},
    {FUSED, "v_fmac_*"},
    {FUSED, "v_fmaak_*"},
    {FUSED, "v_fmamk_*"},
    {FUSED, "v_pk_fma*"},
    {FUSED, "v_dual_fma*"},
    {FUSED, "s_fmac_*"},
    {FUSED, "s_fmaak_*"},
    {FUSED, "s_fmamk_*"},
    {FLUSHING, "v_mad_f*"},
    {FLUSHING, "v_mac_f*"},
    {FLUSHING, "v_madak_f*"},
    {FLUSHING, "v_madmk_f*"},
    {FLUSHING, "v_mad_mix*"},
    {FLUSHING, "v_ma[cd]_legacy_f*"},
    {FLUSHING, "v_pk_mad_f*"},
    {TOWARDS_ZERO, "v_cvt_pkrtz_*"},
    {TOWARDS_ZERO, "v_cvt_pk_rtz_*"},
    {TOWARDS_ZERO, "s_cvt_pk_rtz_*"},
    {DOT, "v_dot*_f[13]*"},
    {DOT, "v_dot*_bf16*"},
    {DOT, "v_dual_dot*_f*"},
    {DOT, "v_mfma_*"},
    {DOT, "v_smfmac_*"},
    {DOT, "v_wmma_*"},
    {DOT, "v_swmmac_*"},
    {RECIPROCAL, "v_rcp_f*"},
    {RECIPROCAL, "v_s_rcp_f*"},
    {RECIPROCAL, "v_rcp_legacy_*"},
    {ROOT, "v_sqrt_f*"},
    {ROOT, "v_s_sqrt_f*"},
    {RECIPROCAL_ROOT, "v_rsq_*"},
    {RECIPROCAL_ROOT, "v_s_rsq_*"},
    {EXPONENTIAL, "v_exp_*"},
    {EXPONENTIAL, "v_s_exp_*"},
    {LOGARITHM, "v_log_*"},
    {LOGARITHM, "v_s_log_*"},
    {SINE, "v_sin_*"},
    {SINE, "v_cos_*"},
    {HYPERBOLIC, "v_tanh_*"},
    {HYPERBOLIC, "v_s_tanh_*"},
    {MODE, "s_denorm_mode"},
    {MODE, "s_round_mode"},
    {MODE, "s_setreg*"},
    {NO_INSTRUCTION, "?"},
};

/* A word of a HIP text that may become any number of a kind.  ARRAY is no word: a private array. */
#define ARRAY "[]"
static const struct Word {
  Kind kind;
  const char *word;
} allowing[] = {
    {FUSED, "fmaf"},       {FUSED, "sinf"},         {FUSED, "cosf"},        {FUSED, "tanhf"},
    {FUSED, "sincosf"},    {FUSED, "expm1f"},       {SINE, "__sinf"},       {SINE, "__cosf"},
    {RECIPROCAL, "tanhf"}, {EXPONENTIAL, "__expf"}, {EXPONENTIAL, "exp2f"}, {LOGARITHM, "__logf"},
    {LOGARITHM, "log2f"},  {LOGARITHM, "__log2f"},  {SCRATCH, ARRAY},
};

/* What a known sequence has: a sign of it in the listing, and how many of a kind each sign
** explains.  A number may be kept in a register for many sequences: then it is ANY. */
enum { ANY = 1000000 };
static const struct Sequence {
  const char *sign;
  Kind kind;
  int each;
} sequences[] = {
    {"v_div_fixup_f32", FUSED, 5}, /* a division, correctly rounded */
    {"v_div_fixup_f32", RECIPROCAL, 1},
    {"v_exp_f32", FUSED, 2}, /* expf: the argument's scaling in two parts, and the result's ... */
    {"v_s_exp_f32", FUSED, 2},
    {"v_ldexp_f32", EXPONENTIAL, 1}, /* ... which is what __expf has not */
    {"v_log_f32", FUSED, 2},         /* logf: times ln 2 in two parts ... */
    {"v_s_log_f32", FUSED, 2},
    {"0x3377d1cf", LOGARITHM, ANY}, /* ... of which this is the lower */
    {"v_sqrt_f32", FUSED, 2},       /* sqrtf: both neighbours are tried ... */
    {"v_s_sqrt_f32", FUSED, 2},
    {"0x37800000", ROOT, ANY},     /* ... of a scaled argument, and this scales back */
    {"v_rcp_iflag_f32", FUSED, 1}, /* a division of integers of 24 bits */
    {"v_rcp_iflag_f32", FLUSHING, 1},
    {"0x5f7ffffc", FUSED, ANY}, /* a division of integers of 64 bits */
    {"0x5f7ffffc", FLUSHING, ANY},
    {"0x5f7ffffc", RECIPROCAL, ANY},
    {"0xcf800000", FUSED, ANY}, /* an f32 to an integer of 64 bits */
};

enum {
  ROWS = sizeof rows / sizeof *rows,
  WORDS = sizeof allowing / sizeof *allowing,
  SEQUENCES = sizeof sequences / sizeof *sequences
};

static const char *const sentences[KINDS] = {
    [LOST_ZERO] = "a product is rounded to 16 bits as fma(a, b, +0): where it is -0, +0 is stored",
    [FUSED] = "more multiply-adds are fused than the text has: no fma is in it, and its divisions "
              "and functions have fewer",
    [FLUSHING] = "a multiply-add that takes subnormal numbers for zero and rounds twice",
    [TOWARDS_ZERO] = "a number is rounded towards zero, where the text rounds to nearest",
    [DOT] = "a dot product or matrix product in one instruction, which rounds as no word of the "
            "text does",
    [RECIPROCAL] = "an approximate reciprocal that no division makes exact",
    [ROOT] = "an approximate square root that nothing makes exact",
    [RECIPROCAL_ROOT] = "an approximate 1 / sqrt(x), where the text has a division and a root",
    [EXPONENTIAL] = "an approximate exponential, and neither exp2 nor fast_exp is in the text",
    [LOGARITHM] = "an approximate logarithm, and neither log2 nor fast_log is in the text",
    [SINE] = "an approximate sine or cosine, which no word of the text allows",
    [HYPERBOLIC] = "an approximate hyperbolic tangent, which no word of the text allows",
    [MODE] = "rounding or subnormal numbers are not as the text has them: f32 and f16 round to "
             "nearest and keep what is subnormal",
    [NO_INSTRUCTION] = "the compiler's own disassembler does not know an instruction that it wrote",
    [SCRATCH] = "memory of a lane's own (scratch) is used, and the text has no private array",
};

/* ---- the text -------------------------------------------------------------------------------- */

typedef struct Seen {
  bool kind[KINDS]; /* a word of the text allows it */
} Seen;

/* `f32 acc[4]` or `f32 acc[4] = {`, not in shared memory, not a parameter, not a use. */
static bool private_array(const Token *t, int count, int name) {
  int before = name - 1, at = token_from(t, count, name + 1);
  while (before >= 0 && token_blank(&t[before])) before--;
  if (before < 0 || t[before].kind != TOK_NAME || token_is(&t[before], "return") ||
      token_is(&t[before], "else") || at == count || !token_is(&t[at], "["))
    return false;
  for (int i = before; i >= 0 && t[i].kind != TOK_DIRECTIVE; i--) {
    if (token_is(&t[i], ";") || token_is(&t[i], "{") || token_is(&t[i], "}")) break;
    if (token_is(&t[i], "__shared__") || token_is(&t[i], "constexpr")) return false;
  }
  return true;
}

static Seen read_words(Arena *a, const char *text) {
  Seen seen = {0};
  int count;
  const Token *t = lex(a, text, strlen(text), &count);
  for (int i = 0; i < count; i++) {
    if (t[i].kind != TOK_NAME) continue;
    for (int w = 0; w < WORDS; w++)
      if (strcmp(allowing[w].word, ARRAY) == 0 ? private_array(t, count, i)
                                               : token_is(&t[i], allowing[w].word))
        seen.kind[allowing[w].kind] = true;
  }
  return seen;
}

/* ---- the code -------------------------------------------------------------------------------- */

typedef struct Found {
  int64_t count[KINDS], explained[KINDS];
  const CodeLine *first[KINDS];
} Found;

/* The second of two instructions in one word (v_dual_... :: v_dual_...) counts like the first. */
static const char *next_instruction(const char *words) {
  const char *colons = strstr(words, ":: ");
  return colons == NULL ? NULL : colons + 3;
}

/* The number of operand `number` (the result is 0) is +0. */
static bool operand_is_zero(const char *words, int number) {
  const char *at = strchr(words, ' ');
  for (; at != NULL && number > 0; number--) {
    at = strchr(at, ',');
    if (at != NULL) at++;
  }
  if (at == NULL) return false;
  at += strspn(at, " ");
  return at[0] == '0' && (at[1] == '\0' || at[1] == ' ' || at[1] == ',');
}

/* s_setreg...(HW_REG_MODE, 4, 2): bits 0 to 7 of that register are rounding and what is subnormal;
** without numbers it is the whole register. */
static bool sets_arithmetic(const char *words) {
  const char *mode = strstr(words, "HW_REG_MODE");
  if (mode == NULL) mode = strstr(words, "HW_REG_WAVE_MODE");
  if (mode == NULL) return strncmp(words, "s_setreg", 8) != 0; /* s_denorm_mode, s_round_mode */
  const char *comma = strchr(mode, ','), *close = strchr(mode, ')');
  return comma == NULL || close == NULL || comma > close || atoi(comma + 1) < 8;
}

static Kind kind_of(const char *words) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(words, " "), words);
  if (name[0] != 'v' && name[0] != 's' && name[0] != '?') return KINDS;
  for (int i = 0; i < ROWS; i++) {
    const char *pattern = rows[i].name;
    if (pattern[2] != name[2] && pattern[0] != '?') continue; /* most of them, at once */
    if (fnmatch(pattern, name, 0) != 0) continue;
    if (rows[i].kind == LOST_ZERO && !operand_is_zero(words, 3)) continue;
    if (rows[i].kind == MODE && !sets_arithmetic(words)) continue;
    return rows[i].kind;
  }
  return KINDS;
}

static void read_line(const CodeLine *line, Found *f) {
  for (const char *at = line->words; at != NULL; at = next_instruction(at)) {
    const Kind kind = kind_of(at);
    if (kind == KINDS) continue;
    if (f->count[kind]++ == 0) f->first[kind] = line;
  }
  for (int i = 0; i < SEQUENCES; i++)
    if (strstr(line->words, sequences[i].sign) != NULL)
      f->explained[sequences[i].kind] += sequences[i].each;
}

/* Kernels start in the mode that their descriptor sets: rounding to nearest and nothing flushed, in
** f32 and in f16 (and f64) alike. */
enum { MODE_AS_WRITTEN = 0xf0 };

const ObjectFault *object_faults(Arena *a, const ObjectText *o, int *count) {
  ObjectFault *faults = arena_alloc(a, KINDS * sizeof *faults);
  const Seen seen = read_words(a, o->text);
  Found f = {0};
  *count = 0;
  for (int i = 0; i < o->code->count; i++) read_line(&o->code->lines[i], &f);
  for (int k = 0; k < KINDS; k++) {
    if (seen.kind[k] || f.count[k] <= f.explained[k]) continue;
    const char *where =
        arena_printf(a, "%lld time%s, first at byte 0x%x: %s", (long long)f.count[k],
                     f.count[k] == 1 ? "" : "s", f.first[k]->at, f.first[k]->words);
    faults[(*count)++] = (ObjectFault){sentences[k], where};
  }
  if (o->code->mode >= 0 && o->code->mode != MODE_AS_WRITTEN)
    faults[(*count)++] = (ObjectFault){
        sentences[MODE], arena_printf(a, "its descriptor's FLOAT_MODE is 0x%x", o->code->mode)};
  if (o->scratch > 0 && !seen.kind[SCRATCH])
    faults[(*count)++] =
        (ObjectFault){sentences[SCRATCH], arena_printf(a, "%u bytes a lane", o->scratch)};
  return faults;
}

/* storage.c: the text of a storage type that a backend's table has no piece for, made of its row in
** dtype.def.  See words.h.
**
** It computes in u32 and f32 only, so it is the same on every backend that has constructors of its
** own types; those say in `member` what stands before a member function. */
#include <string.h>

#include "emit/words.h"

static const char *word_of(const kg_dtype_facts *t) { return t->bytes == 1 ? "u8" : "u16"; }

static bool is_piece(const Backend *b, const char *name) {
  return pair_find(b->pieces, b->piece_count, name) != NULL;
}

/* A float of at most 7 bits of exponent: no value of it is subnormal in f32. */
static bool is_derivable(const Backend *b, const kg_dtype_facts *t) {
  return t->kind == KG_KIND_FLOAT && t->bytes <= 2 && t->exponent < 8 &&
         backend_text(b, "member") != NULL;
}

const char *storage_text(Arena *a, const Backend *b, kg_dtype dtype) {
  const kg_dtype_facts *t = kg_dtype_info(dtype);
  if (is_piece(b, t->name) || !is_derivable(b, t)) return NULL;
  const bool one_nan = t->special == KG_SPECIAL_ONE_NAN;
  const unsigned F = (unsigned)t->fraction, sign = (unsigned)t->exponent + F,
                 ones = (1u << sign) - 1, past = one_nan ? ones : ones >> F << F,
                 nan = one_nan ? ones : past | 1u << (F - 1);
  const char *member = backend_text(b, "member"), *word = word_of(t);
  Buf s = {0};
  buf_printf(&s,
             "struct %s { // storage only; rounds to nearest even, %s\n"
             "  %s pattern;\n"
             "  %s() = default;\n"
             "  %s explicit %s(f32 x) {\n"
             "    const u32 magnitude = bits(x) & 0x7fffffffu, sign = bits(x) >> 31 << %u;\n",
             t->name, one_nan ? "what is too large is NaN" : "NaN stays NaN", word, t->name, member,
             t->name, sign);
  buf_printf(&s,
             "    const i32 exponent = i32(magnitude >> 23) - %d;\n"
             "    const u32 drop = exponent < 1 ? u32(%d - exponent) : %uu;\n"
             "    const u32 whole = (magnitude & 0x7fffffu) | 0x800000u;\n"
             "    u32 kept = drop > 25u ? 0u : (whole + (1u << (drop - 1u)) - 1u + "
             "(whole >> drop & 1u)) >> drop;\n"
             "    if (exponent > 1) kept += u32(exponent - 1) << %u;\n",
             127 - t->bias, 24 - t->fraction, 23 - F, F);
  buf_printf(&s, "    if (magnitude > 0x7f800000u) kept = 0x%xu;\n", nan);
  if (one_nan)
    buf_printf(&s, "    pattern = %s(kept >= 0x%xu ? 0x%xu : sign | kept);\n", word, past, past);
  else
    buf_printf(&s,
               "    else if (kept > 0x%xu) kept = 0x%xu;\n"
               "    pattern = %s(sign | kept);\n",
               past, past, word);
  buf_printf(&s,
             "  }\n"
             "  %s explicit operator f32() const {\n"
             "    const u32 magnitude = u32(pattern) & 0x%xu, sign = u32(pattern) >> %u << 31;\n"
             "    const u32 low = magnitude << %u;\n"
             "    if (magnitude >= 0x%xu) return f32_of_bits(sign | 0x7f800000u | %s);\n"
             "    if (magnitude >= 0x%xu) return f32_of_bits(sign | (low + 0x%xu));\n"
             "    return f32_of_bits(sign | bits(f32(magnitude) * f32_of_bits(0x%xu)));\n"
             "  }\n"
             "};",
             member, ones, sign, 23 - F, past, one_nan ? "0x400000u" : "(low & 0x7fffffu)", 1u << F,
             (unsigned)(127 - t->bias) << 23, (unsigned)(128 - t->bias - t->fraction) << 23);
  const char *text = arena_strdup(a, s.s);
  buf_free(&s);
  return text;
}

/* "T may be f8e4m3", of the first argument or type whose dtype the backend cannot spell. */
static const char *unspelled(Arena *a, const Backend *b, const char *name, kg_dtype dtype) {
  const kg_dtype_facts *t = kg_dtype_info(dtype);
  if (is_piece(b, t->name) || is_derivable(b, t)) return NULL;
  return arena_printf(a, "%s may be %s", name, t->name);
}

bool device_dtypes_check(Arena *a, const Kernel *k, const Port *p, Diags *d) {
  const char *what = NULL;
  for (int i = 0; i < k->type_count; i++)
    for (int n = 0; n < k->types[i].count && !what; n++)
      what = unspelled(a, p->backend, k->types[i].name, k->types[i].dtypes[n]);
  for (int i = 0; i < k->arg_count && !what; i++)
    if (k->args[i].type < 0) what = unspelled(a, p->backend, k->args[i].name, k->args[i].dtype);
  if (!what) return true;
  diag_add(d, (Place){k->file, k->line, 0}, D_DTYPE_TEXT, k->name, what, p->backend->title);
  diag_note(d, "add a piece of its name to %s, leave the dtype out, or make this port absent",
            p->backend->file);
  return false;
}

/* ctext.h: pieces of C and prose that the generated C is put together from. */
#ifndef CTEXT_H
#define CTEXT_H

#include "tables/tables.h"

/* s as a C string literal, with its quotes: plain ASCII, no trigraph, independent of the
** compiler's character set. */
void put_c_string(Buf *b, const char *s);
void put_c_chars(Buf *b, const char *s, size_t len); /* the same without the quotes */
/* s on one line, safe inside a block comment. */
void put_c_comment(Buf *b, const char *s);
/* Words of s, wrapped to 100 columns, each line after `prefix`; s must be safe already. */
void put_wrapped(Buf *b, const char *prefix, const char *s);
/* Lines of C, those past 100 columns broken after a comma; a line that is all comment stays as
** it is. */
void put_c_lines(Buf *b, const char *code);
/* A signed 64-bit constant that any C compiler accepts. */
void put_c_int(Buf *b, int64_t value);

/* "[rows, D]". */
const char *shape_text(Arena *a, const kg_arg *arg);
/* "T", or the fixed dtype: "u32". */
const char *arg_type_text(const Kernel *k, const kg_arg *arg);
/* "32", "64", "32, 64", "none". */
const char *waves_text(unsigned waves);
/* "(rows, 1, 1)". */
const char *axes_text(Arena *a, const kg_expr e[3]);
/* "f32, f16 or bf16" with last = " or ". */
const char *dtypes_text(Arena *a, const kg_type_param *t, const char *last);
/* "kernels.lua" as texts name it: without a folder. */
const char *spec_name(const Library *l);

#endif

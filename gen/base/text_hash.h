/* text_hash.h: XXH3, 128 bits, of an instance's full text, as 32 hexadecimal digits. */
#ifndef TEXT_HASH_H
#define TEXT_HASH_H

#include "tables/tables.h"

/* block: the instance block; text: the port's text.  The hash is of one after the other. */
void text_hash(char digits[33], const char *block, const char *text);

/* What a compiler makes of a text without debug information: its tokens and directives, one a line,
** without comments, space and #line marks.  Equal results mean equal code, so what is known of one
** text holds for another with other paths, comments and line breaks.  (That needs a text that asks
** neither for __LINE__ nor for __FILE__ and makes no string of a macro's argument; kgen writes no
** other.)  text ends with a newline. */
const char *text_tokens(Arena *a, const char *text);

#endif

/* plain.h: text that shows what it says: UTF-8 whose lines end in LF, with no control characters,
** none that show a line in another order than it is read in, and none that do not show. */
#ifndef KGEN_BASE_PLAIN_H
#define KGEN_BASE_PLAIN_H

#include "base/arena.h"

/* file_read, and without the byte order mark and the CR of CRLF that editors add: a checkout on another
** system gives the same text. */
char *text_read(Arena *a, const char *path, size_t *len, const char **why);

/* The first byte that is no UTF-8, or len. */
size_t utf8_bad(const char *s, size_t len);

/* What stands at the first place of s that is not plain, and where: "the byte 0xe9, which is no UTF-8", "the character
** U+202E, which shows text in another order".  NULL: all of it is. */
const char *plain_fault(Arena *a, const char *s, size_t len, size_t *at);

#endif

/* words.h: where a text is cut before its pieces become tokens; the rule is in tokenizer.h. */
#ifndef SMOLLM2_WORDS_H
#define SMOLLM2_WORDS_H

#include <stddef.h>

/* The length of the first word of a text that is not empty; from 1 to bytes.  A byte that is no
** UTF-8 counts as a sign. */
size_t word_length(const char *text, size_t bytes);

#endif

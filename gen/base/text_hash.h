/* text_hash.h: XXH3, 128 bits, of an instance's full text, as 32 hexadecimal digits. */
#ifndef TEXT_HASH_H
#define TEXT_HASH_H

/* block: the instance block; text: the port's text.  The hash is of one after the other. */
void text_hash(char digits[33], const char *block, const char *text);

#endif

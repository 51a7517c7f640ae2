/* files.h: whole reads and writes, and the hash of files' contents. */
#ifndef KG_FILES_H
#define KG_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* All of the bytes, however often the system takes or gives only a part.  False: errno; 0 where a
** read found the end before. */
bool kg_write_all(int fd, const void *bytes, size_t count);
bool kg_read_all(int fd, void *bytes, size_t count);

/* A regular file's bytes and a NUL, for the caller to free; NULL: errno. */
char *kg_read_file(const char *path, size_t *size);

/* XXH3, 128 bits, of bytes and of files' contents one after another. */
typedef struct kg_hash kg_hash;
kg_hash *kg_hash_new(void); /* NULL: no memory */
void kg_hash_bytes(kg_hash *hash, const void *bytes, size_t count);
bool kg_hash_file(kg_hash *hash, const char *path); /* false: it cannot be read */
void kg_hash_end(kg_hash *hash, char digits[33]);   /* frees it; digits may be NULL */

#endif

/* files.c: see files.h.  xxHash is compiled in: kg-hiprtc, which uses this too, needs libc
** alone. */
#define XXH_INLINE_ALL
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

bool kg_write_all(int fd, const void *bytes, size_t count) {
  for (const char *at = bytes; count > 0;) {
    const ssize_t n = write(fd, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return false;
    at += n;
    count -= (size_t)n;
  }
  return true;
}

bool kg_read_all(int fd, void *bytes, size_t count) {
  for (char *at = bytes; count > 0;) {
    const ssize_t n = read(fd, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    at += n;
    count -= (size_t)n;
  }
  return true;
}

char *kg_read_file(const char *path, size_t *size) {
  struct stat facts;
  char *bytes = NULL;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return NULL;
  errno = EINVAL; /* of what is no regular file */
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
      (bytes = malloc((size_t)facts.st_size + 1)) != NULL) {
    if (kg_read_all(fd, bytes, (size_t)facts.st_size)) {
      bytes[facts.st_size] = '\0';
      *size = (size_t)facts.st_size;
    } else { /* it shrank meanwhile, or cannot be read */
      free(bytes);
      bytes = NULL;
    }
  }
  const int reason = errno;
  close(fd);
  errno = reason;
  return bytes;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

enum { PIECE_BYTES = 1 << 18 };

struct kg_hash {
  XXH3_state_t *state;
  char piece[PIECE_BYTES];
};

kg_hash *kg_hash_new(void) {
  kg_hash *hash = malloc(sizeof *hash);
  if (hash != NULL && (hash->state = XXH3_createState()) == NULL) {
    free(hash);
    hash = NULL;
  }
  if (hash != NULL) XXH3_128bits_reset(hash->state);
  return hash;
}

void kg_hash_bytes(kg_hash *hash, const void *bytes, size_t count) {
  XXH3_128bits_update(hash->state, bytes, count);
}

bool kg_hash_file(kg_hash *hash, const char *path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = -1;
  while (fd >= 0 && (n = read(fd, hash->piece, PIECE_BYTES)) != 0) {
    if (n > 0)
      kg_hash_bytes(hash, hash->piece, (size_t)n);
    else if (errno != EINTR)
      break;
  }
  if (fd >= 0) close(fd);
  return n == 0;
}

void kg_hash_end(kg_hash *hash, char digits[33]) {
  const XXH128_hash_t h = XXH3_128bits_digest(hash->state);
  if (digits != NULL)
    snprintf(digits, 33, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
  XXH3_freeState(hash->state);
  free(hash);
}

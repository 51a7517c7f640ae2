/* alloc.c: every allocation of our own, counted, and the one that is to fail.
**
** Linked with --wrap, so a call of malloc in gen/ or runtime/ comes here first; those of the C
** library, of Lua and of libclang do not.  $KGEN_FAIL_ALLOC is the number of the one that fails,
** from 1; with $KGEN_COUNT_ALLOC the process says at its end how many there were. */
#include "alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_long made, failing;

void alloc_fail(long number) {
  atomic_store(&made, 0);
  atomic_store(&failing, number);
}

long alloc_count(void) { return atomic_load(&made); }

static bool fails(void) {
  const long number = atomic_fetch_add(&made, 1) + 1;
  if (number != atomic_load(&failing)) return false;
  errno = ENOMEM;
  return true;
}

static void say_count(void) { fprintf(stderr, "allocations: %ld\n", alloc_count()); }

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("KGEN_FAIL_ALLOC");
  if (number) alloc_fail(atol(number));
  if (getenv("KGEN_COUNT_ALLOC")) atexit(say_count);
}

#define WRAP(type, name, parameters, arguments, failed)                                            \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters { return fails() ? (failed) : __real_##name arguments; }

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL)
WRAP(void *, aligned_alloc, (size_t unit, size_t size), (unit, size), NULL)
WRAP(char *, strdup, (const char *s), (s), NULL)
WRAP(char *, realpath, (const char *path, char *to), (path, to), NULL)
WRAP(int, vasprintf, (char **to, const char *format, va_list args), (to, format, args), -1)
WRAP(FILE *, open_memstream, (char **to, size_t *size), (to, size), NULL)
WRAP(void *, mmap, (void *at, size_t size, int may, int flags, int fd, off_t from),
     (at, size, may, flags, fd, from), MAP_FAILED)

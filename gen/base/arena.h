/* arena.h: the arena that a run lives in, growing text, whole files, and the end of a run that is our
** own fault.
**
** Everything lives in one arena a run and is freed as a whole.  Strings are NUL-terminated, valid
** UTF-8, arena-owned. */
#ifndef KGEN_BASE_ARENA_H
#define KGEN_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;
Arena *arena_new(void);
void arena_free(Arena *a);
/* zeroed, aligned for anything; never NULL (die on exhaustion) */
void *arena_alloc(Arena *a, size_t bytes);
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t len);
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* growing text; s is NUL-terminated once anything was put */
typedef struct Buf { char *s; size_t len, cap; } Buf;
void buf_put(Buf *b, const char *s, size_t len);
void buf_puts(Buf *b, const char *s);
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_free(Buf *b);

/* Whole file into the arena, or NULL with *why a short reason ("no such file", "is a directory",
** "larger than 16 MiB"). */
char *file_read(Arena *a, const char *path, size_t *len, const char **why);

/* Our own bug: says so, where, and exits with 70. */
_Noreturn void die_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)

#endif

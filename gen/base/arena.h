/* arena.h: the arena that a run lives in, growing text, whole files, and the end of a run that is our
** own fault.
**
** Everything lives in one arena a run and is freed as a whole.  Strings are NUL-terminated, valid
** UTF-8, arena-owned.  Nothing here fails for its caller: memory that runs out ends the run
** (exhausted).
**
** With KGEN_HOSTILE (`ninja hostile`) lists and texts begin with no room and get hardly more than
** they need, each growth moves them, and what was moved or freed is filled with junk: a pointer
** that was kept too long, or an end that was guessed, shows. */
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
char *arena_vprintf(Arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The one list that grows.  Its entries are the arena's, `count` in use and room for *room: returns
** the list with room for one more at least, which is zero; it has moved where it was full, so
** pointers into it do not outlive a growth.  GROW keeps the entries' type:
**
**   GROW(a, names, name_count, name_room);
**   names[name_count++] = name; */
void *arena_grow(Arena *a, void *list, int count, int *room, size_t size);
#define GROW(a, list, count, room)                                                                 \
  ((list) = arena_grow(a, (list), (count), &(room), sizeof *(list)))

/* growing text; s is NUL-terminated once anything was put */
typedef struct Buf {
  char *s;
  size_t len, cap;
} Buf;
void buf_put(Buf *b, const char *s, size_t len);
void buf_puts(Buf *b, const char *s);
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_free(Buf *b);

/* Whole file into the arena, or NULL with *why a short reason ("no such file", "is a directory",
** "larger than 16 MiB"). */
char *file_read(Arena *a, const char *path, size_t *len, const char **why);

/* Memory has run out (or a number of bytes that no memory has): says for what, and exits with 70.
** Nothing that was there before is changed by it. */
_Noreturn void exhausted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Our own bug: says so, where, and exits with 70. */
_Noreturn void die_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)

#endif

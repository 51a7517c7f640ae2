/* arena.c: the arena that a run lives in, growing text, whole files, and the end of a run that is
** our own fault.
**
** Nothing here can fail for the caller but file_read, which says why: memory that runs out ends the
** run (exhausted). */
#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_OURS = 70, FILE_LIMIT = 16 * 1024 * 1024 };

#ifdef KGEN_HOSTILE
enum { BLOCK_BYTES = 0, HOSTILE = 1 };
#else
enum { BLOCK_BYTES = 64 * 1024, HOSTILE = 0 };
#endif
enum { LIST_LEAST = 16, TEXT_LEAST = 256, JUNK = 0xDD };

/* Before memory is given back, or left for a larger piece. */
static void spoil(void *p, size_t bytes) {
  if (HOSTILE && p) memset(p, JUNK, bytes);
}

/* Room for `need` that was too little before. */
static size_t larger_room(size_t room, size_t least, size_t need) {
  if (HOSTILE) return need + need / 16;
  if (room < least) room = least;
  while (room < need) room *= 2;
  return room;
}

_Noreturn void exhausted(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("kgen: out of memory: ", stderr);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(EXIT_OURS);
}

_Noreturn void die_at(const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "kgen: bug at %s:%d: ", file, line);
  vfprintf(stderr, format, args);
  va_end(args);
  fputs("\nkgen: this is a fault of kgen and not of your specification; please report it\n",
        stderr);
  exit(EXIT_OURS);
}

/* ---- arena ----------------------------------------------------------------------------------- */

typedef struct Block {
  struct Block *next;
  size_t size, used; /* of bytes */
  alignas(max_align_t) unsigned char bytes[];
} Block;

struct Arena {
  Block *blocks;
};

Arena *arena_new(void) {
  Arena *a = calloc(1, sizeof *a);
  if (!a) exhausted("an arena");
  return a;
}

void arena_free(Arena *a) {
  if (!a) return;
  for (Block *b = a->blocks, *next; b; b = next) {
    next = b->next;
    spoil(b->bytes, b->size);
    free(b);
  }
  free(a);
}

void *arena_alloc(Arena *a, size_t bytes) {
  const size_t unit = alignof(max_align_t);
  if (bytes > SIZE_MAX / 2) exhausted("%zu bytes asked for", bytes);
  const size_t size = bytes ? (bytes + unit - 1) / unit * unit : unit;
  Block *b = a->blocks;
  if (!b || b->size - b->used < size) {
    const size_t room = size > BLOCK_BYTES / 4 ? size : BLOCK_BYTES;
    Block *made = calloc(1, sizeof *made + room);
    if (!made) exhausted("%zu bytes asked for", bytes);
    made->size = room;
    if (b && room == size) { /* a large one of its own: the current block keeps serving */
      made->next = b->next;
      b->next = made;
    } else {
      made->next = b;
      a->blocks = made;
    }
    b = made;
  }
  void *p = b->bytes + b->used;
  b->used += size;
  return p;
}

char *arena_strndup(Arena *a, const char *s, size_t len) {
  char *copy = arena_alloc(a, len + 1);
  if (len) memcpy(copy, s, len);
  return copy;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(Arena *a, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int len = vsnprintf(NULL, 0, format, args);
  if (len < 0) die("a format that cannot be printed: %s", format);
  char *s = arena_alloc(a, (size_t)len + 1);
  vsnprintf(s, (size_t)len + 1, format, again);
  va_end(again);
  return s;
}

char *arena_printf(Arena *a, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *s = arena_vprintf(a, format, args);
  va_end(args);
  return s;
}

void *arena_grow(Arena *a, void *list, int count, int *room, size_t size) {
  if (count < *room) return list;
  if (count >= INT_MAX / 2) exhausted("a list of more than %d entries", count);
  *room = (int)larger_room((size_t)*room, LIST_LEAST, (size_t)count + 1);
  if ((size_t)*room > SIZE_MAX / 2 / size) exhausted("a list of %d entries", *room);
  void *larger = arena_alloc(a, (size_t)*room * size);
  if (count) {
    memcpy(larger, list, (size_t)count * size);
    spoil(list, (size_t)count * size);
  }
  return larger;
}

/* ---- growing text ---------------------------------------------------------------------------- */

/* The text in larger memory; in a hostile build never where it was. */
static char *text_moved(char *old, size_t had, size_t cap) {
  char *s = HOSTILE ? malloc(cap) : realloc(old, cap);
  if (!s) exhausted("a text of %zu bytes", cap);
  if (!HOSTILE || !old) return s;
  memcpy(s, old, had);
  spoil(old, had);
  free(old);
  return s;
}

static void buf_reserve(Buf *b, size_t more) {
  if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
    exhausted("a text of more than half the address space");
  const size_t need = b->len + more + 1;
  if (need <= b->cap) return;
  const size_t cap = larger_room(b->cap, TEXT_LEAST, need);
  b->s = text_moved(b->s, b->cap, cap);
  b->cap = cap;
}

void buf_put(Buf *b, const char *s, size_t len) {
  buf_reserve(b, len);
  if (len) memcpy(b->s + b->len, s, len);
  b->len += len;
  b->s[b->len] = 0;
}

void buf_puts(Buf *b, const char *s) { buf_put(b, s, strlen(s)); }

void buf_printf(Buf *b, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int len = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (len < 0) die("a format that cannot be printed: %s", format);
  buf_reserve(b, (size_t)len);
  vsnprintf(b->s + b->len, (size_t)len + 1, format, again);
  va_end(again);
  b->len += (size_t)len;
}

void buf_free(Buf *b) {
  spoil(b->s, b->cap);
  free(b->s);
  *b = (Buf){0};
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *reason_of(int error) {
  switch (error) {
  case ENOENT: return "no such file";
  case ENOTDIR: return "no such file (part of its path is not a directory)";
  case EISDIR: return "is a directory";
  case EACCES: return "permission denied";
  case ELOOP: return "too many symbolic links";
  case ENAMETOOLONG: return "its name is too long";
  default: return "cannot be read";
  }
}

/* The open file's bytes; its size is not trusted, since a file may grow while it is read. */
static char *read_all(Arena *a, int fd, size_t size, size_t *len, const char **why) {
  size_t cap = size + 1, used = 0;
  char *bytes = arena_alloc(a, cap + 1);
  for (;;) {
    const ssize_t got = read(fd, bytes + used, cap - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      *why = reason_of(errno);
      return NULL;
    }
    if (got == 0) break;
    used += (size_t)got;
    if (used > FILE_LIMIT) {
      *why = "larger than 16 MiB";
      return NULL;
    }
    if (used == cap) {
      char *larger = arena_alloc(a, cap * 2 + 1);
      memcpy(larger, bytes, used);
      bytes = larger;
      cap *= 2;
    }
  }
  bytes[used] = 0;
  *len = used;
  return bytes;
}

char *file_read(Arena *a, const char *path, size_t *len, const char **why) {
  size_t ignored;
  const char *unasked;
  if (!len) len = &ignored;
  if (!why) why = &unasked;
  *len = 0;
  *why = "";
  const int fd = open(path, O_RDONLY | O_NONBLOCK |
                                O_CLOEXEC); /* O_NONBLOCK: a pipe with no writer must not hang us */
  if (fd < 0) {
    *why = reason_of(errno);
    return NULL;
  }
  struct stat st;
  char *bytes = NULL;
  if (fstat(fd, &st) != 0)
    *why = reason_of(errno);
  else if (S_ISDIR(st.st_mode))
    *why = "is a directory";
  else if (!S_ISREG(st.st_mode))
    *why = "is not a regular file";
  else if (st.st_size > FILE_LIMIT)
    *why = "larger than 16 MiB";
  else
    bytes = read_all(a, fd, (size_t)st.st_size, len, why);
  close(fd);
  return bytes;
}

/* json.h: a small writer of JSON: it sees to commas, indentation and escapes. */
#ifndef JSON_H
#define JSON_H

#include "base/arena.h"

typedef struct Json {
  Buf b;
  Buf close;   /* what is open: of each object and array, outermost first, the sign that ends it */
  size_t flat; /* how many are open, of the outermost that stands on one line; 0: none does */
  bool empty;  /* the innermost has no member yet */
  bool keyed;  /* a key was written; its value comes next */
} Json;

void json_open(Json *j, char bracket);      /* '{' or '[' */
void json_open_flat(Json *j, char bracket); /* on one line, with all in it */
void json_close(Json *j);
void json_key(Json *j, const char *name);
void json_string(Json *j, const char *s); /* NULL: null */
void json_int(Json *j, int64_t value);
void json_bool(Json *j, bool value);
void json_real(Json *j, double value); /* the shortest that reads back; not finite: null */
/* The finished text with its last newline, in the arena. */
char *json_finish(Json *j, Arena *a);

#endif

/* json.h: a small writer of JSON: it sees to commas, indentation and escapes. */
#ifndef JSON_H
#define JSON_H

#include "base/arena.h"

typedef struct Json {
  Buf b;
  int depth;
  bool empty[32]; /* the open object or array at this depth has no member yet */
  bool flat[32];  /* ... and stands on one line */
  char close[32]; /* ... and ends with this */
  bool keyed;     /* a key was written; its value comes next */
} Json;

void json_open(Json *j, char bracket);      /* '{' or '[' */
void json_open_flat(Json *j, char bracket); /* on one line */
void json_close(Json *j);
void json_key(Json *j, const char *name);
void json_string(Json *j, const char *s);   /* NULL: null */
void json_int(Json *j, int64_t value);
void json_bool(Json *j, bool value);
void json_real(Json *j, double value);      /* the shortest that reads back; not finite: null */
/* The finished text with its last newline, in the arena. */
char *json_finish(Json *j, Arena *a);

#endif

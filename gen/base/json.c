/* json.c: see json.h. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void line_start(Json *j) {
  buf_puts(&j->b, "\n");
  for (size_t i = 0; i < j->close.len; i++) buf_puts(&j->b, "  ");
}

/* Before any value: its comma and line, unless a key stands there. */
static void value_start(Json *j) {
  if (j->keyed) {
    j->keyed = false;
    return;
  }
  if (j->close.len == 0) return;
  if (!j->empty) buf_puts(&j->b, ",");
  if (!j->flat)
    line_start(j);
  else if (!j->empty)
    buf_puts(&j->b, " ");
  j->empty = false;
}

static void open_with(Json *j, char bracket, bool flat) {
  value_start(j);
  buf_put(&j->b, &bracket, 1);
  buf_puts(&j->close, bracket == '{' ? "}" : "]");
  j->empty = true;
  if (flat && !j->flat) j->flat = j->close.len;
}

void json_open(Json *j, char bracket) { open_with(j, bracket, false); }
void json_open_flat(Json *j, char bracket) { open_with(j, bracket, true); }

void json_close(Json *j) {
  const bool bare = j->empty || j->flat;
  if (j->flat == j->close.len) j->flat = 0;
  const char c = j->close.s[--j->close.len];
  if (!bare) line_start(j);
  buf_put(&j->b, &c, 1);
  j->empty = false; /* of the one around it: this was a member */
}

static void put_json_string(Buf *b, const char *s) {
  buf_puts(b, "\"");
  for (; *s; s++) {
    const unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      buf_printf(b, "\\%c", c);
    else if (c == '\n')
      buf_puts(b, "\\n");
    else if (c < 0x20 || c == 0x7f)
      buf_printf(b, "\\u%04x", c);
    else
      buf_put(b, s, 1);
  }
  buf_puts(b, "\"");
}

void json_key(Json *j, const char *name) {
  value_start(j);
  put_json_string(&j->b, name);
  buf_puts(&j->b, ": ");
  j->keyed = true;
}

void json_string(Json *j, const char *s) {
  value_start(j);
  if (s)
    put_json_string(&j->b, s);
  else
    buf_puts(&j->b, "null");
}

void json_int(Json *j, int64_t value) {
  value_start(j);
  buf_printf(&j->b, "%lld", (long long)value);
}

void json_bool(Json *j, bool value) {
  value_start(j);
  buf_puts(&j->b, value ? "true" : "false");
}

void json_real(Json *j, double value) {
  char text[40];
  value_start(j);
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  buf_puts(&j->b, isfinite(value) ? text : "null");
}

char *json_finish(Json *j, Arena *a) {
  if (j->close.len != 0) die("JSON left open");
  buf_puts(&j->b, "\n");
  char *text = arena_strndup(a, j->b.s, j->b.len);
  buf_free(&j->b);
  buf_free(&j->close);
  return text;
}

/* json.c: see json.h. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

static void line_start(Json *j) {
  buf_puts(&j->b, "\n");
  for (int i = 0; i < j->depth; i++) buf_puts(&j->b, "  ");
}

/* Before any value: its comma and line, unless a key stands there. */
static void value_start(Json *j) {
  if (j->keyed) {
    j->keyed = false;
    return;
  }
  if (j->depth == 0) return;
  const bool first = j->empty[j->depth];
  if (!first) buf_puts(&j->b, ",");
  if (!j->flat[j->depth])
    line_start(j);
  else if (!first)
    buf_puts(&j->b, " ");
  j->empty[j->depth] = false;
}

static void open_with(Json *j, char bracket, bool flat) {
  value_start(j);
  buf_put(&j->b, &bracket, 1);
  if (++j->depth >= 32) die("JSON too deep");
  j->empty[j->depth] = true;
  j->flat[j->depth] = flat;
  j->close[j->depth] = bracket == '{' ? '}' : ']';
}

void json_open(Json *j, char bracket) { open_with(j, bracket, false); }
void json_open_flat(Json *j, char bracket) { open_with(j, bracket, true); }

void json_close(Json *j) {
  const bool bare = j->empty[j->depth] || j->flat[j->depth];
  const char c = j->close[j->depth--];
  if (!bare) line_start(j);
  buf_put(&j->b, &c, 1);
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
  if (j->depth != 0) die("JSON left open");
  buf_puts(&j->b, "\n");
  char *text = arena_strndup(a, j->b.s, j->b.len);
  buf_free(&j->b);
  return text;
}

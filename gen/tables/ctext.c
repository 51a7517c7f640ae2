/* ctext.c: pieces of C and prose that the generated C is put together from.  See ctext.h. */
#include "tables/ctext.h"

#include <string.h>

#include "tables/tables.h"

void put_c_chars(Buf *b, const char *s, size_t len) {
  for (size_t i = 0; i < len; i++) {
    const unsigned char c = (unsigned char)s[i];
    if (c == '\n')
      buf_puts(b, "\\n");
    else if (c == '\t')
      buf_puts(b, "\\t");
    else if (c == '"' || c == '\\')
      buf_printf(b, "\\%c", c);
    else if (c == '?' && i > 0 && s[i - 1] == '?')
      buf_puts(b, "\\?"); /* two in a row could begin a trigraph */
    else if (c < 0x20 || c >= 0x7f)
      buf_printf(b, "\\%03o", c); /* three digits: what follows cannot join in */
    else
      buf_put(b, s + i, 1);
  }
}

void put_c_string(Buf *b, const char *s) {
  buf_puts(b, "\"");
  put_c_chars(b, s, strlen(s));
  buf_puts(b, "\"");
}

void put_c_comment(Buf *b, const char *s) {
  for (; *s; s++) {
    if ((s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*') ||
        (s[0] == '?' && s[1] == '?')) {
      buf_put(b, s, 1);
      buf_puts(b, " ");
    } else if ((unsigned char)*s < 0x20 || *s == 0x7f) {
      if (b->len && b->s[b->len - 1] != ' ') buf_puts(b, " ");
    } else {
      buf_put(b, s, 1);
    }
  }
}

enum { COLUMNS = 100 };

/* Where to break a line: after the last ", " within the columns that stands in no string; 0:
** nowhere. */
static size_t break_at(const char *s, size_t len, size_t room) {
  size_t at = 0;
  bool in_string = false;
  for (size_t i = 0; i + 1 < len && i < room; i++) {
    if (in_string && s[i] == '\\')
      i++;
    else if (s[i] == '"')
      in_string = !in_string;
    else if (!in_string && s[i] == ',' && s[i + 1] == ' ')
      at = i + 2;
  }
  return at;
}

void put_c_lines(Buf *b, const char *code) {
  while (*code) {
    size_t len = strcspn(code, "\n");
    const size_t indent = strspn(code, " ");
    size_t room = COLUMNS;
    for (bool broken = false; len; broken = true) {
      if (broken) {
        for (size_t i = 0; i < indent + 4; i++) buf_puts(b, " ");
        room = COLUMNS - indent - 4;
      }
      const size_t part = len > room && strncmp(code, "/*", 2) != 0 ? break_at(code, len, room) : 0;
      if (part == 0) break;
      buf_put(b, code, part - 1); /* without the space */
      buf_puts(b, "\n");
      code += part;
      len -= part;
    }
    buf_put(b, code, len);
    buf_puts(b, "\n");
    code += len + (code[len] == '\n');
  }
}

void put_wrapped(Buf *b, const char *prefix, const char *s) {
  const char *indent = prefix;
  while (*s == ' ') s++;
  while (*s) {
    size_t column = strlen(indent);
    buf_puts(b, indent);
    for (bool first = true; *s; first = false) {
      const size_t word = strcspn(s, " ");
      if (!first && column + 1 + word > COLUMNS) break;
      if (!first) buf_puts(b, " ");
      buf_put(b, s, word);
      column += word + (first ? 0 : 1);
      s += word;
      while (*s == ' ') s++;
    }
    buf_puts(b, "\n");
  }
}

void put_c_int(Buf *b, int64_t value) {
  if (value == INT64_MIN)
    buf_puts(b, "INT64_MIN");
  else
    buf_printf(b, "%lld", (long long)value);
}

const char *shape_text(Arena *a, const kg_arg *arg) {
  Buf b = {0};
  buf_puts(&b, "[");
  for (int i = 0; i < arg->rank; i++) buf_printf(&b, "%s%s", i ? ", " : "", arg->shape[i].text);
  buf_puts(&b, "]");
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

const char *arg_type_text(const Kernel *k, const kg_arg *arg) {
  return arg->type >= 0 ? k->types[arg->type].name : kg_dtype_name(arg->dtype);
}

const char *waves_text(unsigned waves) {
  static const char *const text[] = {"none", "32", "64", "32, 64"};
  return text[waves & 3];
}

const char *axes_text(Arena *a, const kg_expr e[3]) {
  return arena_printf(a, "(%s, %s, %s)", e[0].text, e[1].text, e[2].text);
}

const char *dtypes_text(Arena *a, const kg_type_param *t, const char *last) {
  Buf b = {0};
  for (int i = 0; i < t->count; i++)
    buf_printf(&b, "%s%s",
               i == 0              ? ""
               : i + 1 == t->count ? last
                                   : ", ",
               kg_dtype_name(t->dtypes[i]));
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

const char *spec_name(const Library *l) {
  const char *slash = strrchr(l->spec->file, '/');
  return slash ? slash + 1 : l->spec->file;
}

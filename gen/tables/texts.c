/* texts.c: the device texts as C strings, line for line, for `kgen --embed`.
**
** The texts are committed as files of their own; what a program links is made of them when it is
** built, so that no diff shows a text twice. */
#include <string.h>

#include "tables/ctext.h"
#include "tables/tables.h"
#include "tables/inner.h"

enum { LITERAL_BYTES = 2000 }; /* of source in one literal; C11 promises 4095 */

/* One line, its newline included, as one literal (a very long one as several). */
static void put_line(Buf *b, const char *s, size_t len) {
  while (len) {
    const size_t part =
        len < LITERAL_BYTES / 4 ? len : LITERAL_BYTES / 4; /* an octal escape takes four for one */
    buf_puts(b, "  \"");
    put_c_chars(b, s, part);
    buf_puts(b, "\"\n");
    s += part;
    len -= part;
  }
}

char *emit_texts(Arena *a, const Library *l) {
  Buf b = {0};
  put_banner(&b, l,
             "The device texts of kernels.c, each as its own file has it: link this beside it.");
  buf_puts(&b, "\n/* Adjacent literals join into one array, which may pass the length that C11 "
               "promises for a single literal. */\n");
  for (int i = 0; i < l->spec->kernel_count; i++)
    for (int n = 0; n < l->spec->kernels[i]->port_count; n++) {
      const Kernel *k = l->spec->kernels[i];
      const Port *p = &k->ports[n];
      if (p->absent) continue;
      const Output *o = library_output(l, port_file(a, k, p));
      if (!o) die("no text of %s for %s", k->name, p->backend->name);
      const char *symbol = text_symbol(a, k, p);
      buf_printf(&b, "\n/* ");
      put_c_comment(&b, o->path);
      buf_printf(&b, " */\nextern const char %s[];\nconst char %s[] =\n", symbol, symbol);
      for (const char *s = o->text, *end = o->text + o->len; s < end;) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const size_t len = newline ? (size_t)(newline - s) + 1 : (size_t)(end - s);
        put_line(&b, s, len);
        s += len;
      }
      b.len -= 1;
      buf_puts(&b, ";\n");
    }
  char *text = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  content_stamp(text, strlen(text));
  return text;
}

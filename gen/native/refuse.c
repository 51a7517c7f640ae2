/* refuse.c: a compiler's errors as sentences.  See native.h. */
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

enum { SENTENCES = 4 };

/* "file:12:3: error: words" */
typedef struct Message {
  const char *file, *words;
  int file_length, line, words_length;
} Message;

static bool read_message(const char *line, const char *kind, Message *m) {
  const char *mark = strstr(line, kind), *end = line + strcspn(line, "\n");
  if (!mark || mark > end) return false;
  const char *colon = line;
  for (int colons = 0; colon < mark; colon++)
    if (*colon == ':' && colon[1] >= '0' && colon[1] <= '9' && colons++ == 0) {
      m->file = line, m->file_length = (int)(colon - line), m->line = atoi(colon + 1);
      m->words = mark + strlen(kind), m->words_length = (int)(end - m->words);
      return true;
    }
  return false;
}

static bool is_ours(const Message *m) {
  return m->file_length >= 7 && strncmp(m->file, "kg_simt", 7) == 0;
}

/* What the compiler says of the shim's insides, it says of a line of the text in a note behind. */
static bool find_users_line(const char *line, Message *m) {
  Message note;
  for (line += strcspn(line, "\n"); *line; line += strcspn(line, "\n")) {
    line++;
    if (read_message(line, ": error: ", &note) || read_message(line, ": fatal error: ", &note))
      return false;
    if (!read_message(line, ": note: ", &note) || is_ours(&note) || !strstr(note.words, "here"))
      continue;
    m->file = note.file, m->file_length = note.file_length, m->line = note.line;
    return true;
  }
  return false;
}

static const char *front_end(const char *backend) {
  return strcmp(backend, "metal") == 0 ? "Metal" : strcmp(backend, "hip") == 0 ? "HIP" : "CUDA";
}

static void put_sentence(Buf *b, const Message *m, const char *backend) {
  static const struct {
    const char *begins, *what;
  } known[] = {
      {"use of undeclared identifier '", "word"},
      {"unknown type name '", "type"},
      {"no template named '", "template"},
  };
  buf_printf(b, "%.*s:%d: ", m->file_length, m->file, m->line);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const size_t length = strlen(known[i].begins);
    if (strncmp(m->words, known[i].begins, length) != 0) continue;
    const char *word = m->words + length;
    buf_printf(b, "the SIMT device's %s has no %s '%.*s'\n", front_end(backend), known[i].what,
               (int)strcspn(word, "'\n"), word);
    return;
  }
  const char *missing = strstr(m->words, "file not found");
  if (missing && missing < m->words + m->words_length) {
    const char *word = m->words + strcspn(m->words, "'") + 1;
    buf_printf(b, "there is no '%.*s' here; -I FOLDER says where it lies\n",
               (int)strcspn(word, "'\n"), word);
    return;
  }
  buf_printf(b, "%.*s\n", m->words_length, m->words);
}

const char *native_refusal(Arena *a, const char *log, const char *backend) {
  Buf b = {0};
  int count = 0, more = 0;
  for (const char *line = log; *line;
       line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0)) {
    Message m;
    if (!read_message(line, " error: ", &m)) continue;
    if (is_ours(&m)) find_users_line(line, &m);
    if (strncmp(m.words, "too many errors", strlen("too many errors")) == 0) continue;
    if (count++ < SENTENCES)
      put_sentence(&b, &m, backend);
    else
      more++;
  }
  if (more > 0) buf_printf(&b, "and %d more\n", more);
  const char *s = arena_strdup(a, b.len ? b.s : log);
  buf_free(&b);
  return s;
}

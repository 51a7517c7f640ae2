/* metal.c: a Metal text as C++ takes it.
**
** Two things of Metal have no C++ spelling.  `threadgroup T name[N];` declares an array, while
** `threadgroup T *name` is only a pointer: the declaration, which generated text has on a line
** of its own, is respelled.  And the entry learns its position from attributes of its
** parameters: its call is written from them, each parameter either the next one of the argument
** block ([[buffer(n)]]) or a position by name.  Lines keep their numbers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* `  threadgroup T name[N];` and nothing else? */
static bool declares_shared(const char *line, size_t length) {
  static const char word[] = "threadgroup ";
  size_t i = 0;
  while (i < length && (line[i] == ' ' || line[i] == '\t')) i++;
  if (i == 0 || length - i < sizeof word || strncmp(line + i, word, sizeof word - 1) != 0)
    return false;
  const char *bracket = memchr(line, '[', length), *end = line + length;
  if (!bracket || memchr(line, '*', (size_t)(bracket - line)) ||
      memchr(line, '(', (size_t)(bracket - line)))
    return false; /* the extent itself may be a product */
  while (end > bracket && (end[-1] == ' ' || end[-1] == '\r')) end--;
  return end[-1] == ';';
}

static char *respell(const char *text) {
  static const char from[] = "threadgroup", to[] = "KG_SIMT_SHARED";
  size_t room = 1;
  for (const char *c = text; *c; c++) room += *c == '\n' ? sizeof to : 1;
  char *out = malloc(room + sizeof to), *at = out;
  if (!out) return NULL;
  for (const char *line = text; *line;) {
    const size_t length = strcspn(line, "\n");
    const char *rest = line;
    if (declares_shared(line, length)) {
      const char *word = strstr(line, from);
      memcpy(at, line, (size_t)(word - line));
      at += word - line;
      memcpy(at, to, sizeof to - 1);
      at += sizeof to - 1;
      rest = word + sizeof from - 1;
    }
    const size_t left = (size_t)(line + length - rest) + (line[length] == '\n');
    memcpy(at, rest, left);
    at += left;
    line += length + (line[length] == '\n');
  }
  *at = 0;
  return out;
}

/* Past white space and comments. */
static const char *skip(const char *at) {
  for (;;) {
    if (isspace((unsigned char)*at))
      at++;
    else if (at[0] == '/' && at[1] == '/')
      at += strcspn(at, "\n");
    else if (at[0] == '/' && at[1] == '*') {
      const char *end = strstr(at + 2, "*/");
      at = end ? end + 2 : at + strlen(at);
    } else
      return at;
  }
}

static bool word_at(const char *text, const char *at, const char *word) {
  const size_t length = strlen(word);
  return strncmp(at, word, length) == 0 && !is_word(at[length]) && (at == text || !is_word(at[-1]));
}

/* The entry's parameter list, after its parenthesis: the one after `kernel void NAME`, NAME the
** entry's or KG_ENTRY. */
static const char *find_parameters(const char *text, const char *entry) {
  const char *at = text;
  while (*(at = skip(at))) {
    if (word_at(text, at, "kernel")) {
      const char *name = skip(at + strlen("kernel"));
      while (name[0] == '[' && name[1] == '[') { /* attributes in between */
        const char *end = strstr(name, "]]");
        if (!end) return NULL;
        name = skip(end + 2);
      }
      if (word_at(text, name, "void")) {
        name = skip(name + strlen("void"));
        const size_t length = word_at(text, name, entry)        ? strlen(entry)
                              : word_at(text, name, "KG_ENTRY") ? strlen("KG_ENTRY")
                                                                : 0;
        const char *open = skip(name + length);
        if (length > 0 && *open == '(') return open + 1;
      }
    }
    if (*at == '"') {
      for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
      if (*at) at++;
    } else if (is_word(*at))
      while (is_word(*at)) at++;
    else
      at++;
  }
  return NULL;
}

/* The attribute's name of one parameter, between start and end; "" if it has none. */
static void attribute_of(const char *start, const char *end, char *name, size_t bytes) {
  *name = 0;
  for (const char *at = start; at + 1 < end; at++)
    if (at[0] == '[' && at[1] == '[') {
      at = skip(at + 2);
      size_t length = 0;
      while (is_word(at[length]) && length + 1 < bytes) length++;
      memcpy(name, at, length);
      name[length] = 0;
      return;
    }
}

static kg_status write_call(const kg_source *source, const char *list, FILE *out, kg_error *error) {
  unsigned block = 0, position = 0;
  int depth = 0;
  char name[64];
  fprintf(out,
          "using kg_simt_entry = kg_simt_signature<decltype(%s)>;\n"
          "static KG_SIMT_UNCHECKED void kg_simt_call(const void *block) {\n  %s(",
          source->entry, source->entry);
  const char *start = list = skip(list);
  if (*list == ')')
    return fprintf(out, ");\n}\nstatic constexpr unsigned kg_simt_bytes = 0;\n"), KG_OK;
  for (;; list++) {
    if (*list == 0)
      return kg_fail(error, KG_COMPILE_FAILED, "kernel %s: the Metal entry's parameters never end",
                     source->kernel);
    if (*list == '(' || *list == '[' || *list == '<') depth++;
    if ((*list == ',' || *list == ')') && depth == 0) {
      attribute_of(start, list, name, sizeof name);
      if (position > 0) fprintf(out, ", ");
      if (strcmp(name, "buffer") == 0) {
        if (block != position)
          return kg_fail(error, KG_COMPILE_FAILED,
                         "kernel %s: in the Metal entry, buffers must come before positions",
                         source->kernel);
        fprintf(out, "kg_simt_entry::argument<%u>(block)", block++);
      } else if (*name)
        fprintf(out, "kg_simt_%s()", name);
      else
        return kg_fail(error, KG_COMPILE_FAILED,
                       "kernel %s: parameter %u of the Metal entry has no attribute",
                       source->kernel, position + 1);
      position++;
      if (*list == ')') break;
      start = list + 1;
    }
    if (*list == ')' || *list == ']' || *list == '>') depth--;
  }
  fprintf(out, ");\n}\nstatic constexpr unsigned kg_simt_bytes = kg_simt_entry::end(%u);\n", block);
  return KG_OK;
}

kg_status kg_simt_metal_text(const kg_source *source, char **text, char **call, kg_error *error) {
  size_t size;
  *call = NULL;
  *text = respell(source->text);
  FILE *out = *text ? open_memstream(call, &size) : NULL;
  const char *parameters = find_parameters(source->text, source->entry);
  kg_status status;
  if (!out)
    status = kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory for its text", source->kernel);
  else if (!parameters)
    status = kg_fail(error, KG_COMPILE_FAILED, "kernel %s: the Metal text has no `kernel void %s(`",
                     source->kernel, source->entry);
  else
    status = write_call(source, parameters, out, error);
  if (out && fclose(out) && !status)
    status = kg_fail(error, KG_OUT_OF_MEMORY, "kernel %s: no memory for its text", source->kernel);
  if (status) {
    free(*text), free(*call);
    *text = *call = NULL;
  }
  return status;
}

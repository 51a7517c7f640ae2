/* embed.c: files as C strings, for the build.
**
**   embed FILE...
**
** prints a C file with, for each FILE, `const char kg_embedded_<name>[]` and, as a program has
** NULs, `const unsigned long kg_embedded_<name>_bytes`, where <name> is the file's name without its
** folder, each character that C does not allow as `_`: runtime/simt/core.h is kg_embedded_core_h.
** A string a line, so that a debugger and a diff can read it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_name(const char *path) {
  const char *slash = strrchr(path, '/');
  for (const char *c = slash ? slash + 1 : path; *c; c++)
    putchar(isalnum((unsigned char)*c) ? *c : '_');
}

static int embed(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
    return 1;
  }
  printf("extern const char kg_embedded_"), print_name(path), printf("[];\n");
  printf("const char kg_embedded_"), print_name(path), printf("[] =\n  \"");
  int open = 1;
  for (int c; (c = getc(file)) != EOF;) {
    if (!open) printf("\n  \""), open = 1;
    if (c == '\n')
      printf("\\n\""), open = 0;
    else if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c == '\t')
      printf("\\t");
    else if (c < ' ' || c > '~')
      printf("\\%03o", (unsigned)c);
    else
      putchar(c);
  }
  printf(open ? "\";\n" : ";\n");
  printf("extern const unsigned long kg_embedded_"), print_name(path), printf("_bytes;\n");
  printf("const unsigned long kg_embedded_"), print_name(path);
  printf("_bytes = sizeof kg_embedded_"), print_name(path), printf(" - 1;\n");
  const int failed = ferror(file);
  fclose(file);
  if (failed) fprintf(stderr, "embed: %s: cannot be read\n", path);
  return failed != 0;
}

int main(int count, char **paths) {
  if (count < 2) {
    fprintf(stderr, "usage: embed FILE...\n");
    return 2;
  }
  printf("/* Made by embed: files as strings. */\n");
  for (int i = 1; i < count; i++)
    if (embed(paths[i])) return 1;
  return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

/* output.h: beside outputs_write and outputs_check (tables.h), what the commands need of output.c. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "base/arena.h"

/* Writes one file that is no output (a depfile) by temporary file and rename.  False with *why. */
bool output_file(const char *path, const char *text, size_t len, const char **why);

/* mkdir -p.  False with *why. */
bool output_folder(const char *path, const char **why);

/* A word as a shell takes it: in quotes where it must be. */
const char *quoted(Arena *a, const char *word);

#endif

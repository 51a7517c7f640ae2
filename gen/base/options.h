/* options.h: GNU-style options from a table.
**
** A command declares its options as rows; one parser reads them (-f X, -fX, --file X, --file=X,
** grouped flags, --), prints --help, and answers a misspelt name with the nearest one. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

enum { EXIT_FINE = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2 };

typedef struct OptionRow {
  char letter;       /* 0: long name only */
  const char *name;  /* "file"; NULL ends the table */
  const char *value; /* how help calls its value ("FILE"); NULL: a flag */
  const char *help;  /* one line */
} OptionRow;

typedef struct Command {
  const char *name;               /* "check"; "" for the command without a name */
  const char *operands;           /* for help: "KERNEL [TYPE=DTYPE...]", or "" */
  const char *summary;            /* one line */
  const char *more;               /* further help, whole lines, or NULL */
  const OptionRow *rows;          /* --help is added to every table */
  int operands_min, operands_max; /* max -1: any number */
} Command;

enum { MAX_OPTIONS = 24, MAX_GIVEN = 128 };

typedef struct OptionGiven {
  int row;
  const char *value;
} OptionGiven;

typedef struct Options {
  const char *values[MAX_OPTIONS]; /* by row: the last one given, "" for a flag; NULL: not given */
  OptionGiven given[MAX_GIVEN]; /* in their order, for rows that may be given more than once; those
                                   ** past the last are not there */
  int given_count;
  int operand_count;
  char **operands;
} Options;

/* Reads argv[1..argc-1]; operands are moved to the front of argv.  True to go on; else *status
** is what to exit with (help was printed, or what is wrong with the usage). */
bool options_parse(const Command *command, int argc, char **argv, Options *options, int *status);

/* The value of an option by its long name; NULL when it was not given. */
const char *option_value(const Command *command, const Options *options, const char *name);

/* A sentence about bad usage on stderr, with where help is found.  Returns EXIT_USAGE. */
int usage_error(const Command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

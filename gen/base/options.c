/* options.c: GNU-style options from a table.  See options.h. */
#include "base/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

static const char *shown_name(const Command *c) { return c->name[0] ? c->name : NULL; }

int usage_error(const Command *c, const char *format, ...) {
  va_list args;
  fprintf(stderr, "kgen%s%s: ", shown_name(c) ? " " : "", c->name);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\ntry 'kgen%s%s --help'\n", shown_name(c) ? " " : "", c->name);
  return EXIT_USAGE;
}

static void print_help(const Command *c) {
  printf("usage: kgen%s%s [OPTION...]%s%s\n\n%s\n", shown_name(c) ? " " : "", c->name,
         c->operands[0] ? " " : "", c->operands, c->summary);
  if (c->more) printf("\n%s", c->more);
  printf("\noptions:\n");
  for (const OptionRow *r = c->rows; r->name; r++) {
    char left[64];
    const char letter[] = {'-', r->letter, ',', ' ', 0};
    snprintf(left, sizeof left, "%s--%s%s%s", r->letter ? letter : "    ", r->name,
             r->value ? " " : "", r->value ? r->value : "");
    printf("  %-24s  %s\n", left, r->help);
  }
  printf("  %-24s  %s\n", "-h, --help", "print this and leave");
}

static int row_count(const Command *c) {
  int n = 0;
  while (c->rows[n].name) n++;
  if (n > MAX_OPTIONS) die("kgen %s has more than %d options", c->name, MAX_OPTIONS);
  return n;
}

static void give(Options *o, int row, const char *value) {
  o->values[row] = value;
  if (o->given_count < MAX_GIVEN) o->given[o->given_count++] = (OptionGiven){row, value};
}

static int unknown_option(const Command *c, const char *name, size_t len) {
  const char *names[MAX_OPTIONS + 1];
  char word[64];
  int n = 0;
  for (const OptionRow *r = c->rows; r->name; r++) names[n++] = r->name;
  names[n++] = "help";
  snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), name);
  const char *near = nearest_name(word, names, n);
  if (near) return usage_error(c, "there is no option '--%s'; did you mean '--%s'?", word, near);
  return usage_error(c, "there is no option '--%s'", word);
}

/* --name, --name=value, --name value: how many words were used, or 0 with *status. */
static int parse_long(const Command *c, int left, char **argv, Options *o, int *status) {
  const char *word = argv[0] + 2;
  const size_t len = strcspn(word, "=");
  const char *value = word[len] ? word + len + 1 : NULL;
  for (int i = 0; c->rows[i].name; i++) {
    const OptionRow *r = &c->rows[i];
    if (strlen(r->name) != len || memcmp(r->name, word, len) != 0) continue;
    if (!r->value) {
      if (value) {
        *status = usage_error(c, "option '--%s' takes no value", r->name);
        return 0;
      }
      give(o, i, "");
      return 1;
    }
    if (!value && left < 2) {
      *status = usage_error(c, "option '--%s' needs a value: --%s %s", r->name, r->name, r->value);
      return 0;
    }
    give(o, i, value ? value : argv[1]);
    return value ? 1 : 2;
  }
  *status = unknown_option(c, word, len);
  return 0;
}

/* -f value, -fvalue, or flags in a group. */
static int parse_short(const Command *c, int left, char **argv, Options *o, int *status) {
  for (const char *p = argv[0] + 1; *p; p++) {
    int i = 0;
    while (c->rows[i].name && c->rows[i].letter != *p) i++;
    if (*p == 'h' && !c->rows[i].name) {
      print_help(c);
      *status = EXIT_FINE;
      return 0;
    }
    if (!c->rows[i].name) {
      *status = usage_error(c, "there is no option '-%c'", *p);
      return 0;
    }
    if (!c->rows[i].value) {
      give(o, i, "");
      continue;
    }
    if (p[1]) {
      give(o, i, p + 1);
      return 1;
    }
    if (left < 2) {
      *status = usage_error(c, "option '-%c' needs a value: -%c %s", *p, *p, c->rows[i].value);
      return 0;
    }
    give(o, i, argv[1]);
    return 2;
  }
  return 1;
}

bool options_parse(const Command *c, int argc, char **argv, Options *o, int *status) {
  row_count(c);
  memset(o, 0, sizeof *o);
  o->operands = argv;
  bool only_operands = false;
  for (int i = 1; i < argc;) {
    char *word = argv[i];
    int used = 1;
    if (only_operands || word[0] != '-' || word[1] == 0) {
      o->operands[o->operand_count++] = word;
    } else if (strcmp(word, "--") == 0) {
      only_operands = true;
    } else if (strcmp(word, "--help") == 0) {
      print_help(c);
      *status = EXIT_FINE;
      return false;
    } else {
      used = word[1] == '-' ? parse_long(c, argc - i, argv + i, o, status)
                            : parse_short(c, argc - i, argv + i, o, status);
      if (used == 0) return false;
    }
    i += used;
  }
  if (o->operand_count < c->operands_min) {
    *status = usage_error(c, "it needs %s", c->operands);
    return false;
  }
  if (c->operands_max >= 0 && o->operand_count > c->operands_max) {
    *status = c->operands_max == 0
                  ? usage_error(c, "it takes no operands, and '%s' is one", o->operands[0])
                  : usage_error(c, "'%s' is one operand too many", o->operands[c->operands_max]);
    return false;
  }
  return true;
}

const char *option_value(const Command *c, const Options *o, const char *name) {
  for (int i = 0; c->rows[i].name; i++)
    if (strcmp(c->rows[i].name, name) == 0) return o->values[i];
  die("kgen %s has no option --%s", c->name, name);
}

/* main.c: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "passes.h"

typedef struct Entry {
  const char *name, *operands, *summary;
  int (*run)(int argc, char **argv);
} Entry;

static const Entry entries[] = {
    {"", "", "bring generated/ up to date; only what changed is written", cmd_generate},
    {"check", "", "name each generated file that is stale, edited, missing or orphan", cmd_check},
    {"ports", "", "the matrix of kernels and ports (text, --json, --markdown)", cmd_ports},
    {"verify", "[KERNEL...]", "put every text to real compilers and run it lane by lane",
     cmd_verify},
    {"run", "KERNEL [NAME=VALUE...]",
     "launch once on made-up data, compare with the reference, time", cmd_run},
    {"try", "FILE [NAME=VALUE...]", "run a kernel that somebody else wrote, alone and watched",
     cmd_try},
    {"explain", "FILE:LINE", "generated line to body line, specification and siblings; and back",
     cmd_explain},
    {"key", "KERNEL [NAME=VALUE...]", "an instance's name and every field of its identity",
     cmd_key},
    {"text", "KERNEL [NAME=VALUE...]",
     "the full text of an instance, as the run-time compiler gets it", cmd_text},
    {"emit", "mlx [KERNEL...]", "the kernels for MLX, as C++ and as Python", cmd_emit},
    {"ledger", "", "what the pinned compiler makes of each HIP instance", cmd_ledger},
    {"new", "NAME", "a commented starting point: specification, body, reference", cmd_new},
    {"port", "KERNEL BACKEND", "how to fill a slot, and what stands in it", cmd_port},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static int help(void) {
  printf("usage: kgen [COMMAND] [OPTION...]\n\n"
         "Write a GPU kernel once; get Metal, CUDA and HIP text, tables and "
         "launchers.\n\ncommands:\n");
  for (int i = 0; i < ENTRIES; i++) {
    char left[64];
    snprintf(left, sizeof left, "kgen%s%s%s%s", entries[i].name[0] ? " " : "", entries[i].name,
             entries[i].operands[0] ? " " : "", entries[i].operands);
    printf("  %-34s  %s\n", left, entries[i].summary);
  }
  printf("\nEach has its own --help.  Exit status: 0 fine, 1 findings, 2 usage.\n"
         "The options of 'kgen' alone:\n\n");
  fflush(stdout);
  char *argv[] = {"", "--help", NULL};
  return cmd_generate(2, argv);
}

static int unknown(const char *word) {
  const char *names[ENTRIES];
  for (int i = 1; i < ENTRIES; i++) names[i - 1] = entries[i].name;
  const char *near = nearest_name(word, names, ENTRIES - 1);
  fprintf(stderr, "kgen: there is no command '%s'", word);
  if (near) fprintf(stderr, "; did you mean '%s'?", near);
  fprintf(stderr, "\ntry 'kgen --help'\n");
  return EXIT_USAGE;
}

/* What a full disk or a closed pipe took is no answer. */
static int finished(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  perror("kgen: standard output");
  return EXIT_FINDINGS;
}

int main(int argc, char **argv) {
  library_program(argc > 0 ? argv[0] : NULL);
  const char *word = argc > 1 ? argv[1] : "";
  if (argc > 1 && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
                   (strcmp(word, "help") == 0 && argc != 3)))
    return finished(help());
  if (argc == 3 && strcmp(word, "help") == 0) { /* of one command */
    for (int i = 1; i < ENTRIES; i++)
      if (strcmp(entries[i].name, argv[2]) == 0)
        return finished(entries[i].run(2, (char *[]){argv[2], "--help", NULL}));
    return unknown(argv[2]);
  }
  if (word[0] == '-' || word[0] == 0) {
    if (argc > 1 && word[0] == 0) return unknown(word);
    return finished(cmd_generate(argc, argv));
  }
  for (int i = 1; i < ENTRIES; i++)
    if (strcmp(entries[i].name, word) == 0) return finished(entries[i].run(argc - 1, argv + 1));
  return unknown(word);
}

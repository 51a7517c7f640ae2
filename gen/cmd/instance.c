/* instance.c: see instance.h. */
#include "cmd/instance.h"

#include <stdlib.h>
#include <string.h>

int instance_command(const Command *command, int argc, char **argv, InstancePrint *print) {
  Options o;
  int status;
  if (!options_parse(command, argc, argv, &o, &status)) return status;
  const char *wave = option_value(command, &o, "wave");
  if (wave && strcmp(wave, "32") != 0 && strcmp(wave, "64") != 0)
    return usage_error(command, "--wave is 32 or 64, not '%s'", wave);
  Arena *a = arena_new();
  LibraryOptions lo = library_options(command, &o);
  lo.only = o.operands[0];
  const Library *l = library_open(a, &lo);
  status = l ? print(a, l, &o, wave ? atoi(wave) : 0) : EXIT_FINDINGS;
  arena_free(a);
  return status;
}

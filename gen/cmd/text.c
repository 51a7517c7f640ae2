/* text.c: `kgen text`: the full text of an instance, as the run-time compiler gets it. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/instance.h"

static const OptionRow rows[] = {
    {'p', "port", "BACKEND", "whose text (default: hip, else the kernel's last port)"},
    {'w', "wave", "LANES", "32 or 64 (default: the narrowest that the port is right for)"},
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "text",
    .operands = "KERNEL [NAME=VALUE...]",
    .summary =
        "Print the full text of an instance: the block that chooses it, then the port's text.",
    .more = "NAME is each type of the kernel and each constant that an instance chooses.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = -1,
};

static const Port *default_port(const Kernel *k) {
  const Port *last = NULL;
  for (int i = 0; i < k->port_count; i++) {
    if (k->ports[i].absent) continue;
    last = &k->ports[i];
    if (strcmp(last->backend->name, "hip") == 0) break;
  }
  return last;
}

static int print_text(Arena *a, const Library *l, const Options *o, int wave) {
  const Kernel *k = library_kernel_named(&command, l, o->operands[0], NULL);
  if (!k) return EXIT_USAGE;
  kg_instance x;
  const char *why = NULL, *backend = option_value(&command, o, "port");
  if (!instance_choose(a, k, o->operands + 1, o->operand_count - 1, &x, &why))
    return usage_error(&command, "%s", why);
  const Port *p = backend ? kernel_port(k, backend, NULL) : default_port(k);
  if (!p) return usage_error(&command, "there is no backend '%s'", backend ? backend : "");
  if (p->absent) {
    fprintf(stderr, "kgen text: %s has no %s port: %s\n", k->name, p->backend->name, p->absent);
    return EXIT_FINDINGS;
  }
  const int width = wave ? wave : p->waves & 1u ? 32 : 64;
  if (!(p->waves & (width == 32 ? 1u : 2u))) {
    fprintf(stderr, "kgen text: the %s port of %s is for %s lanes, not for %d\n", p->backend->name,
            k->name, p->waves & 1u ? "32" : "64", width);
    return EXIT_FINDINGS;
  }
  const char *file = port_file(a, k, p);
  fputs(instance_block(a, &x, width, file), stdout);
  fputs(library_output(l, file)->text, stdout);
  return EXIT_FINE;
}

int cmd_text(int argc, char **argv) { return instance_command(&command, argc, argv, print_text); }

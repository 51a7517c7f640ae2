/* key.c: `kgen key`: an instance's name, and every field of its code objects' identity. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/instance.h"
#include "base/text_hash.h"

static const OptionRow rows[] = {
    {'p', "port", "BACKEND", "of this port only"},
    {'w', "wave", "LANES", "at this width only: 32 or 64"},
    {0, "target", "TARGET", "the exact target, as the device would name it"},
    {0, "compiler", "TEXT", "the compiler's identity, as the device would name it"},
    LIBRARY_ROWS,
    {0, NULL, NULL, NULL},
};

static const Command command = {
    .name = "key",
    .operands = "KERNEL [NAME=VALUE...]",
    .summary = "Print an instance's name and what identifies its compiled code: one block a port "
               "and width.",
    .more = "NAME is each type of the kernel and each constant that an instance chooses.  Two code "
            "objects are the same only if\n"
            "every field is; target and compiler are the device's to say.\n",
    .rows = rows,
    .operands_min = 1,
    .operands_max = -1,
};

static void print_choices(const Kernel *k, const kg_instance *x) {
  printf("instance ");
  for (int i = 0; i < k->type_count; i++)
    printf(" %s=%s", k->types[i].name, kg_dtype_name(x->types[i]));
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    if (k->consts[i].is_bool)
      printf(" %s=%s", k->consts[i].name, x->consts[i] ? "true" : "false");
    else
      printf(" %s=%lld", k->consts[i].name, (long long)x->consts[i]);
  }
  printf("\n");
}

static void print_identity(Arena *a, const Library *l, const Kernel *k, const Port *p,
                           const kg_instance *x, int wave, const Options *o) {
  const char *file = port_file(a, k, p), *target = option_value(&command, o, "target"),
             *compiler = option_value(&command, o, "compiler");
  const Output *text = library_output(l, file);
  char digits[33];
  text_hash(digits, instance_block(a, x, wave, file), text->text);
  printf("\nport      %s\n", file);
  printf("  name      %s\n", instance_name(a, x));
  printf("  wave      %d\n", wave);
  printf("  text      %s (XXH3, 128 bits, of what 'kgen text' prints)\n", digits);
  printf("  options  ");
  for (int i = 0; i < p->backend->option_count; i++) printf(" %s", p->backend->options[i]);
  printf("\n  target    %s\n", target ? target : "chosen by the device");
  printf("  compiler  %s\n",
         compiler ? compiler : "chosen by the device: its version and its library's content hash");
}

static int print_key(Arena *a, const Library *l, const Options *o, int wave) {
  int index;
  const Kernel *k = library_kernel_named(&command, l, o->operands[0], &index);
  if (!k) return EXIT_USAGE;
  kg_instance x;
  const char *why = NULL, *only = option_value(&command, o, "port");
  if (!instance_choose(a, k, o->operands + 1, o->operand_count - 1, &x, &why))
    return usage_error(&command, "%s", why);
  if (only && !kernel_port(k, only, NULL))
    return usage_error(&command, "there is no backend '%s'", only);
  printf("kernel    %s\n", k->name);
  print_choices(k, &x);
  printf("name      %s\n", instance_name(a, &x));
  int blocks = 0;
  for (int i = 0; i < k->port_count; i++) {
    const Port *p = &k->ports[i];
    if (only && strcmp(only, p->backend->name) != 0) continue;
    if (p->absent) printf("\nport      %s: absent: %s\n", p->backend->name, p->absent);
    for (int w = 0; w < WAVES && !p->absent; w++) {
      const int width = w ? 64 : 32;
      if (!(p->waves & (1u << w)) || (wave && wave != width)) continue;
      print_identity(a, l, k, p, &x, width, o);
      blocks++;
    }
  }
  if (blocks) return EXIT_FINE;
  fprintf(stderr, "kgen key: %s has no such port%s\n", k->name, wave ? " at that width" : "");
  return EXIT_FINDINGS;
}

int cmd_key(int argc, char **argv) { return instance_command(&command, argc, argv, print_key); }

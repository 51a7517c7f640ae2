/* instance.h: the way of the commands that are given one kernel's instance, and perhaps a width. */
#ifndef COMMAND_INSTANCE_H
#define COMMAND_INSTANCE_H

#include "passes.h"

/* wave: 32, 64, or 0 where --wave was not given.  Returns the exit status. */
typedef int InstancePrint(Arena *a, const Library *l, const Options *o, int wave);

/* Reads the options (--wave is one of them), makes the text of the kernel that is the first
** operand, and has it printed. */
int instance_command(const Command *command, int argc, char **argv, InstancePrint *print);

#endif

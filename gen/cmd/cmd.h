/* cmd.h: the commands of kgen.  Each takes its own argv (argv[0] is the command's name) and
** returns the exit status. */
#ifndef COMMANDS_H
#define COMMANDS_H

int cmd_generate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_ports(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_text(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_port(int argc, char **argv);
int cmd_emit(int argc, char **argv);

#endif

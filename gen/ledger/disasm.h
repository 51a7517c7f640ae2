/* disasm.h: what the machine code of a kernel shows, from an AMD code object.
**
** The disassembler is libLLVM's, which stands where libclang stands; it is opened on first use. */
#ifndef DISASM_H
#define DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CodeFacts {
  uint64_t code_bytes; /* of the entry */
  int widest_load; /* bytes that one lane reads in the widest load from global memory; 0: none; -1:
                      not known */
  int widest_store;
  int instructions; /* -1: not known */
} CodeFacts;

/* target: "gfx90a".  False with *why when the bytes are no code object or hold no such entry.  An
** architecture that libLLVM does not know leaves the disassembly's facts at -1. */
bool code_facts(const void *object, size_t size, const char *entry, const char *target,
                CodeFacts *facts, const char **why);

#endif

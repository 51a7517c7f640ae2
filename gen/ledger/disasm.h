/* disasm.h: what the machine code of a kernel shows, from an AMD code object.
**
** The disassembler is that of the release that compiled: it knows each instruction that it writes. */
#ifndef DISASM_H
#define DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "devices/hip_compile.h"

typedef struct CodeObject {
  const void *bytes;
  size_t size;
  const char *entry, *target; /* "gfx90a" */
} CodeObject;

typedef struct CodeLine {
  uint32_t at, bytes; /* from the entry's first byte on */
  const char *words;  /* "v_mul_f32_e32 v1, v2, v3"; "?": no instruction */
} CodeLine;

typedef struct Code {
  uint64_t bytes; /* of the entry */
  int mode;       /* FLOAT_MODE as a launch sets it (rounding, subnormals); -1: not said */
  int count;
  CodeLine *lines;
} Code;

/* False with *why when the bytes are no code object or hold no such entry, or where the compiler
** cannot read code for that target. */
bool code_read(Arena *a, const CodeObject *object, kg_hip_compiler *compiler, Code *code,
               const char **why);

/* Bytes that one lane moves in the widest access to global memory; 0: there is none. */
typedef struct CodeFacts {
  int widest_load, widest_store;
} CodeFacts;
CodeFacts code_facts(const Code *code);

#endif

/* disasm.c: finds an entry in an AMD code object and reads its instructions.  See disasm.h. */
#include "ledger/disasm.h"

#include <dlfcn.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/target.h"

/* ---- libLLVM's disassembler (llvm-c/Disassembler.h, llvm-c/Target.h), by name ---------------- */

typedef struct Llvm {
  void *(*create)(const char *triple, const char *cpu, void *, int, void *, void *);
  size_t (*instruction)(void *context, uint8_t *bytes, uint64_t size, uint64_t address, char *text,
                        size_t text_size);
  void (*dispose)(void *context);
} Llvm;

static void *llvm_library(void) {
  static const char *const names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
  }
  return NULL;
}

/* A function pointer from dlsym without a cast that ISO C forbids. */
static bool find(void *library, const char *name, void *function, size_t size) {
  void *symbol = dlsym(library, name);
  if (symbol != NULL) memcpy(function, &symbol, size);
  return symbol != NULL;
}

static bool llvm_open(Llvm *llvm) {
  static const char *const starts[] = {"LLVMInitializeAMDGPUTargetInfo",
                                       "LLVMInitializeAMDGPUTarget", "LLVMInitializeAMDGPUTargetMC",
                                       "LLVMInitializeAMDGPUDisassembler"};
  void *library = llvm_library();
  if (library == NULL ||
      !find(library, "LLVMCreateDisasmCPU", &llvm->create, sizeof llvm->create) ||
      !find(library, "LLVMDisasmInstruction", &llvm->instruction, sizeof llvm->instruction) ||
      !find(library, "LLVMDisasmDispose", &llvm->dispose, sizeof llvm->dispose))
    return false;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    void (*start)(void);
    if (!find(library, starts[i], &start, sizeof start)) return false;
    start();
  }
  return true;
}

/* ---- the entry's bytes ----------------------------------------------------------------------- */

typedef struct Code {
  const uint8_t *bytes;
  uint64_t size, address;
} Code;

static bool section_code(Elf *elf, const GElf_Sym *symbol, Code *code) {
  Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
  GElf_Shdr header;
  if (section == NULL || gelf_getshdr(section, &header) == NULL) return false;
  const Elf_Data *data = elf_getdata(section, NULL);
  if (data == NULL || symbol->st_value < header.sh_addr ||
      symbol->st_value - header.sh_addr > data->d_size ||
      symbol->st_size > data->d_size - (symbol->st_value - header.sh_addr))
    return false;
  code->bytes = (const uint8_t *)data->d_buf + (symbol->st_value - header.sh_addr);
  code->size = symbol->st_size;
  code->address = symbol->st_value;
  return true;
}

static bool find_code(Elf *elf, const char *entry, Code *code) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == NULL ||
        (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = header.sh_entsize ? (size_t)(header.sh_size / header.sh_entsize) : 0;
    for (size_t i = 0; data != NULL && i < count; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
        continue;
      const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != NULL && strcmp(name, entry) == 0) return section_code(elf, &symbol, code);
    }
  }
  return false;
}

/* ---- what an instruction moves --------------------------------------------------------------- */

typedef struct Width {
  const char *suffix;
  int bytes;
} Width;

/* Both namings: up to gfx10 (dwordx4), from gfx11 on (b128). */
static const Width widths[] = {
    {"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8}, {"dword", 4}, {"ushort", 2},
    {"sshort", 2},   {"short", 2},    {"ubyte", 1},   {"sbyte", 1}, {"byte", 1},
    {"b128", 16},    {"b96", 12},     {"b64", 8},     {"b32", 4},   {"b16", 2},
    {"u16", 2},      {"i16", 2},      {"b8", 1},      {"u8", 1},    {"i8", 1},
};

/* The bytes of a load (or store) from global memory, 0 for any other instruction. */
static int moved(const char *text, const char *verb) {
  static const char *const spaces[] = {"global_", "flat_", "buffer_"};
  while (*text == ' ' || *text == '\t') text++;
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    const size_t n = strlen(spaces[i]), v = strlen(verb);
    if (strncmp(text, spaces[i], n) != 0 || strncmp(text + n, verb, v) != 0) continue;
    /* "d16_hi_b16", "short_d16": anywhere in the name */
    for (const char *s = text + n + v; *s != '\0' && *s != ' '; s++)
      for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        if (s[-1] == '_' && strncmp(s, widths[w].suffix, strlen(widths[w].suffix)) == 0)
          return widths[w].bytes;
  }
  return 0;
}

static void disassemble(const Code *code, const char *target, CodeFacts *facts) {
  Llvm llvm;
  const kg_target *row = kg_target_find(target);
  const char *cpu = row != NULL ? row->decoder : NULL;
  if (cpu == NULL || !llvm_open(&llvm)) return;
  void *context = llvm.create("amdgcn-amd-amdhsa", cpu, NULL, 0, NULL, NULL);
  if (context == NULL) return;
  uint8_t *bytes = malloc(code->size + 1);
  if (bytes == NULL) exhausted("%llu bytes of code", (unsigned long long)code->size);
  memcpy(bytes, code->bytes, code->size);
  facts->widest_load = facts->widest_store = facts->instructions = 0;
  for (uint64_t at = 0; at < code->size;) {
    char text[256] = "";
    const size_t n = llvm.instruction(context, bytes + at, code->size - at, code->address + at,
                                      text, sizeof text);
    if (n == 0) { /* not this architecture's code: say nothing of it */
      facts->widest_load = facts->widest_store = facts->instructions = -1;
      break;
    }
    const int load = moved(text, "load_"), store = moved(text, "store_");
    if (load > facts->widest_load) facts->widest_load = load;
    if (store > facts->widest_store) facts->widest_store = store;
    facts->instructions++;
    at += n;
  }
  free(bytes);
  llvm.dispose(context);
}

bool code_facts(const void *object, size_t size, const char *entry, const char *target,
                CodeFacts *facts, const char **why) {
  *facts = (CodeFacts){0, -1, -1, -1};
  Code code = {0};
  elf_version(EV_CURRENT);
  char *copy = malloc(size + 1); /* libelf wants to own what it may byte-swap */
  if (copy == NULL) return *why = "no memory", false;
  memcpy(copy, object, size);
  Elf *elf = elf_memory(copy, size);
  const bool found = elf != NULL && find_code(elf, entry, &code);
  if (found) {
    facts->code_bytes = code.size;
    disassemble(&code, target, facts);
  } else {
    *why = elf == NULL || elf_kind(elf) != ELF_K_ELF ? "it is no ELF file"
                                                     : "it holds no function of that name";
  }
  if (elf != NULL) elf_end(elf);
  free(copy);
  return found;
}

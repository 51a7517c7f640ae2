/* disasm.c: finds an entry in an AMD code object and reads its instructions.  See disasm.h. */
#include "ledger/disasm.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* ---- the entry's bytes ----------------------------------------------------------------------- */

typedef struct Bytes {
  const uint8_t *at;
  uint64_t size;
} Bytes;

static bool symbol_bytes(Elf *elf, const GElf_Sym *symbol, Bytes *bytes) {
  Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
  GElf_Shdr header;
  if (section == NULL || gelf_getshdr(section, &header) == NULL) return false;
  const Elf_Data *data = elf_getdata(section, NULL);
  if (data == NULL || symbol->st_value < header.sh_addr ||
      symbol->st_value - header.sh_addr > data->d_size ||
      symbol->st_size > data->d_size - (symbol->st_value - header.sh_addr))
    return false;
  bytes->at = (const uint8_t *)data->d_buf + (symbol->st_value - header.sh_addr);
  bytes->size = symbol->st_size;
  return true;
}

static bool find_symbol(Elf *elf, const char *wanted, int type, Bytes *bytes) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == NULL ||
        (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = header.sh_entsize ? (size_t)(header.sh_size / header.sh_entsize) : 0;
    for (size_t i = 0; data != NULL && i < count; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != type)
        continue;
      const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != NULL && strcmp(name, wanted) == 0) return symbol_bytes(elf, &symbol, bytes);
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

CodeFacts code_facts(const Code *code) {
  CodeFacts facts = {0};
  for (int i = 0; i < code->count; i++) {
    const int load = moved(code->lines[i].words, "load_"),
              store = moved(code->lines[i].words, "store_");
    if (load > facts.widest_load) facts.widest_load = load;
    if (store > facts.widest_store) facts.widest_store = store;
  }
  return facts;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* "16 8 v_mul_f32 v1, v2, v3", a line an instruction; text is cut into its lines. */
static void read_listing(Arena *a, char *text, Code *code) {
  int room = 0;
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char *end;
    GROW(a, code->lines, code->count, room);
    CodeLine *to = &code->lines[code->count++];
    to->at = (uint32_t)strtoul(line, &end, 10);
    to->bytes = (uint32_t)strtoul(end, &end, 10);
    to->words = *end == ' ' ? end + 1 : end;
  }
}

/* The kernel's descriptor (LLVM, "User Guide for AMDGPU Backend", Kernel Descriptor). */
enum { DESCRIPTOR_BYTES = 64, RSRC1 = 48, FLOAT_MODE = 12 };

static void read_descriptor(const Bytes *bytes, Code *code) {
  uint32_t word;
  code->mode = -1;
  if (bytes->size < DESCRIPTOR_BYTES) return;
  memcpy(&word, bytes->at + RSRC1, sizeof word);
  code->mode = (int)(word >> FLOAT_MODE & 0xffu);
}

bool code_read(Arena *a, const CodeObject *o, kg_hip_compiler *compiler, Code *code,
               const char **why) {
  Bytes entry = {0}, descriptor = {0};
  kg_error error;
  char *listing = NULL;
  *code = (Code){0};
  elf_version(EV_CURRENT);
  char *copy = malloc(o->size + 1); /* libelf wants to own what it may byte-swap */
  if (copy == NULL) exhausted("%zu bytes of code", o->size);
  memcpy(copy, o->bytes, o->size);
  Elf *elf = elf_memory(copy, o->size);
  const bool found = elf != NULL && find_symbol(elf, o->entry, STT_FUNC, &entry);
  *why = elf == NULL || elf_kind(elf) != ELF_K_ELF ? "it is no ELF file"
                                                   : "it holds no function of that name";
  if (found) {
    code->bytes = entry.size;
    find_symbol(elf, arena_printf(a, "%s.kd", o->entry), STT_OBJECT, &descriptor);
    read_descriptor(&descriptor, code);
    if (kg_hip_disassemble(compiler, o->target, entry.at, (size_t)entry.size, &listing, &error) !=
        KG_OK)
      *why = arena_strdup(a, error.message);
    else
      read_listing(a, arena_strdup(a, listing), code);
  }
  const bool read = listing != NULL;
  free(listing);
  if (elf != NULL) elf_end(elf);
  free(copy);
  return read;
}

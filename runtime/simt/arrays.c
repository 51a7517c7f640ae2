/* arrays.c: the shared arrays of a text, from the symbol table of its object. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"
#include "sanitize.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The source's name in a symbol: "slot" of _ZZ3sumE4slot (a variable of a function, the Itanium
** C++ ABI's mangling), of _ZL4slot, and of slot; a number behind it tells namesakes apart. */
static void plain_name(const char *symbol, char *name, size_t bytes) {
  const char *best = symbol;
  size_t best_length = strcspn(symbol, ".");
  if (strncmp(symbol, "_Z", 2) == 0)
    for (const char *c = symbol + 2; *c; c++) {
      if (!is_digit(*c) || is_digit(c[-1])) continue;
      char *after;
      const unsigned long length = strtoul(c, &after, 10);
      if (length == 0 || length > strlen(after)) continue;
      const char *rest = after + length;
      if (*rest == 0 || *rest == '.' || (*rest == '_' && (is_digit(rest[1]) || rest[1] == '_'))) {
        best = after, best_length = length;
        break;
      }
    }
  if (best_length >= bytes) best_length = bytes - 1;
  memcpy(name, best, best_length);
  name[best_length] = 0;
}

static int by_offset(const void *a, const void *b) {
  const kg_simt_array *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

bool kg_simt_arrays(const unsigned char *object, size_t size, uint64_t from, uint64_t to,
                    kg_simt_array **arrays, size_t *count) {
  kg_simt_cursor symbols, names;
  size_t room = 0;
  *arrays = NULL, *count = 0;
  if (!kg_simt_section(object, size, ".symtab", &symbols)) return true;
  if (!kg_simt_section(object, size, ".strtab", &names)) return true;
  Elf64_Sym symbol;
  for (; (size_t)(symbols.end - symbols.at) >= sizeof symbol; symbols.at += sizeof symbol) {
    memcpy(&symbol, symbols.at, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
    if (symbol.st_value < from || symbol.st_value >= to) continue;
    if (symbol.st_name >= (uint64_t)(names.end - names.at)) continue;
    kg_simt_cursor name = {names.at + symbol.st_name, names.end, false};
    kg_simt_array array = {.offset = symbol.st_value, .bytes = symbol.st_size};
    plain_name(kg_simt_string(&name), array.name, sizeof array.name);
    if (strncmp(array.name, "kg_simt_gap_", strlen("kg_simt_gap_")) == 0) continue;
    if (!kg_simt_more((void **)arrays, *count, &room, sizeof **arrays)) return false;
    (*arrays)[(*count)++] = array;
  }
  if (*count > 0) qsort(*arrays, *count, sizeof **arrays, by_offset);
  return true;
}

uint64_t kg_simt_image_bytes(const unsigned char *object, size_t size) {
  Elf64_Ehdr head;
  uint64_t end = 0;
  if (size < sizeof head) return 0;
  memcpy(&head, object, sizeof head);
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > size ||
      head.e_phnum > (size - head.e_phoff) / sizeof(Elf64_Phdr))
    return 0;
  for (unsigned i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr part;
    memcpy(&part, object + head.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > end)
      end = part.p_vaddr + part.p_memsz;
  }
  return end;
}

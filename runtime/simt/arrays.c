/* arrays.c: the shared arrays of a text, from the symbol table of its object. */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

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

static Elf *open_object(unsigned char *object, size_t size) {
  elf_version(EV_CURRENT);
  return elf_memory((char *)object, size);
}

/* The table of all symbols; the index of its names is in head->sh_link. */
static Elf_Data *symbols_of(Elf *elf, GElf_Shdr *head) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
    if (gelf_getshdr(section, head) && head->sh_type == SHT_SYMTAB)
      return elf_getdata(section, NULL);
  return NULL;
}

bool kg_simt_more(void **items, size_t count, size_t *room, size_t bytes) {
  if (count < *room) return true;
#ifdef KGEN_HOSTILE /* never where it was, and with no room to spare */
  const size_t wanted = count + 1;
  void *grown = malloc(wanted * bytes);
  if (grown && *items) {
    memcpy(grown, *items, count * bytes);
    memset(*items, 0xDD, count * bytes);
    free(*items);
  }
#else
  const size_t wanted = *room ? *room * 2 : 64;
  if (wanted > SIZE_MAX / 2 / bytes) return false;
  void *grown = realloc(*items, wanted * bytes);
#endif
  if (!grown) return false;
  *items = grown, *room = wanted;
  return true;
}

bool kg_simt_arrays(unsigned char *object, size_t size, uint64_t from, uint64_t to,
                    kg_simt_array **arrays, size_t *count) {
  GElf_Shdr head;
  GElf_Sym symbol;
  size_t room = 0;
  bool whole = true;
  *arrays = NULL, *count = 0;
  Elf *elf = open_object(object, size);
  Elf_Data *symbols = symbols_of(elf, &head);
  for (int i = 0; whole && symbols && gelf_getsym(symbols, i, &symbol); i++) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
    if (symbol.st_value < from || symbol.st_value >= to) continue;
    const char *name = elf_strptr(elf, head.sh_link, symbol.st_name);
    if (!name) continue;
    kg_simt_array array = {.offset = symbol.st_value, .bytes = symbol.st_size};
    plain_name(name, array.name, sizeof array.name);
    if (strncmp(array.name, "kg_simt_gap_", strlen("kg_simt_gap_")) == 0) continue;
    whole = kg_simt_more((void **)arrays, *count, &room, sizeof **arrays);
    if (whole) (*arrays)[(*count)++] = array;
  }
  elf_end(elf);
  if (*count > 0) qsort(*arrays, *count, sizeof **arrays, by_offset);
  return whole;
}

uint64_t kg_simt_image_bytes(unsigned char *object, size_t size) {
  GElf_Phdr part;
  uint64_t end = 0;
  Elf *elf = open_object(object, size);
  for (int i = 0; gelf_getphdr(elf, i, &part); i++)
    if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > end)
      end = part.p_vaddr + part.p_memsz;
  elf_end(elf);
  return end;
}

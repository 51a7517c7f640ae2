/* lines.c: the line table of a compiled text (DWARF 4, section 6.2), for "file:line" in
** reports.
**
** Only what clang writes with -gdwarf-4 -gline-tables-only into a 64-bit ELF object of this
** machine's byte order; the object is our own compiler's, yet every read is checked against its
** section's end, since it may come from a cache. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"

uint64_t kg_simt_fixed(kg_simt_cursor *c, unsigned bytes) {
  uint64_t value = 0;
  if ((size_t)(c->end - c->at) < bytes) return c->bad = true, c->at = c->end, 0;
  memcpy(&value, c->at, bytes);
  c->at += bytes;
  return value;
}

uint64_t kg_simt_uleb(kg_simt_cursor *c) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint64_t byte = kg_simt_fixed(c, 1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if (!(byte & 0x80) || c->bad) return value;
  }
}

static int64_t sleb(kg_simt_cursor *c) {
  uint64_t value = 0, byte;
  unsigned shift = 0;
  do {
    byte = kg_simt_fixed(c, 1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) && !c->bad);
  if (shift < 64 && (byte & 0x40)) value |= ~0ull << shift;
  return (int64_t)value;
}

const char *kg_simt_string(kg_simt_cursor *c) {
  const unsigned char *start = c->at, *end = memchr(start, 0, (size_t)(c->end - start));
  if (!end) return c->bad = true, c->at = c->end, "";
  c->at = end + 1;
  return (const char *)start;
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

static bool add_row(kg_simt_lines *lines, uint64_t address, size_t file, uint64_t line, bool ends) {
  if (!kg_simt_more((void **)&lines->rows, lines->row_count, &lines->row_room, sizeof *lines->rows))
    return false;
  lines->rows[lines->row_count++] = (kg_simt_row){address, (uint32_t)file, (uint32_t)line, ends};
  return true;
}

/* ---- one unit of .debug_line ----------------------------------------------------------------- */

typedef struct Header {
  unsigned minimum, opcode_base, line_range;
  int line_base;
  unsigned char operands[256];
  size_t first_file; /* in lines->files, of the unit's file number 1 */
} Header;

/* Folder 0 is the compiler's own, "" here. */
static const char *folder_at(kg_simt_cursor folders, uint64_t number) {
  const char *folder = "";
  for (uint64_t i = 0; i < number && !folders.bad; i++)
    if (!*(folder = kg_simt_string(&folders))) return "";
  return folder;
}

static bool read_header(kg_simt_lines *lines, kg_simt_cursor *unit, Header *header,
                        kg_simt_cursor *program) {
  const uint64_t version = kg_simt_fixed(unit, 2), header_bytes = kg_simt_fixed(unit, 4);
  if (version < 2 || version > 4 || header_bytes > (uint64_t)(unit->end - unit->at)) return false;
  *program = (kg_simt_cursor){unit->at + header_bytes, unit->end, false};
  header->minimum = (unsigned)kg_simt_fixed(unit, 1);
  if (version >= 4) kg_simt_fixed(unit, 1); /* operations an instruction */
  kg_simt_fixed(unit, 1);                   /* the default of is_stmt */
  header->line_base = (int8_t)kg_simt_fixed(unit, 1);
  header->line_range = (unsigned)kg_simt_fixed(unit, 1);
  header->opcode_base = (unsigned)kg_simt_fixed(unit, 1);
  for (unsigned i = 1; i < header->opcode_base; i++)
    header->operands[i] = (unsigned char)kg_simt_fixed(unit, 1);
  kg_simt_cursor folders = *unit; /* asked for again, by number */
  while (*kg_simt_string(unit) && !unit->bad) {
  }
  header->first_file = lines->file_count;
  for (const char *name; *(name = kg_simt_string(unit)) && !unit->bad;) {
    const uint64_t folder = kg_simt_uleb(unit);
    kg_simt_uleb(unit), kg_simt_uleb(unit); /* time, size */
    if (!kg_simt_more((void **)&lines->files, lines->file_count, &lines->file_room,
                      sizeof *lines->files))
      return false;
    lines->files[lines->file_count++] = (kg_simt_file){folder_at(folders, folder), name};
  }
  return !unit->bad && header->line_range > 0 && header->opcode_base > 0;
}

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC = 9 };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

static bool run_program(kg_simt_lines *lines, const Header *h, kg_simt_cursor *c) {
  uint64_t address = 0, line = 1, file = 1;
  while (c->at < c->end && !c->bad) {
    const unsigned op = (unsigned)kg_simt_fixed(c, 1);
    bool row = false, ends = false;
    if (op >= h->opcode_base) {
      const unsigned special = op - h->opcode_base;
      address += (uint64_t)(special / h->line_range) * h->minimum;
      line += (uint64_t)(int64_t)(h->line_base + (int)(special % h->line_range));
      row = true;
    } else if (op == 0) {
      const uint64_t bytes = kg_simt_uleb(c);
      if (bytes == 0 || bytes > (uint64_t)(c->end - c->at)) return false;
      kg_simt_cursor extended = {c->at, c->at + bytes, false};
      c->at += bytes;
      const unsigned kind = (unsigned)kg_simt_fixed(&extended, 1);
      if (kind == END_SEQUENCE) row = ends = true;
      if (kind == SET_ADDRESS) address = kg_simt_fixed(&extended, 8);
    } else if (op == COPY) row = true;
    else if (op == ADVANCE_PC) address += kg_simt_uleb(c) * h->minimum;
    else if (op == ADVANCE_LINE) line += (uint64_t)sleb(c);
    else if (op == SET_FILE) file = kg_simt_uleb(c);
    else if (op == CONST_ADD_PC)
      address += (uint64_t)((255 - h->opcode_base) / h->line_range) * h->minimum;
    else if (op == FIXED_ADVANCE_PC) address += kg_simt_fixed(c, 2);
    else
      for (unsigned i = 0; i < h->operands[op]; i++) kg_simt_uleb(c);
    if (row && !add_row(lines, address, h->first_file + (size_t)file - 1, line, ends)) return false;
    if (ends) address = 0, line = 1, file = 1;
  }
  return !c->bad;
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool inside(size_t size, uint64_t at, uint64_t bytes) {
  return at <= size && bytes <= size - at;
}

bool kg_simt_section(const unsigned char *object, size_t size, const char *name,
                     kg_simt_cursor *section) {
  Elf64_Ehdr head;
  if (size < sizeof head) return false;
  memcpy(&head, object, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum) return false;
  if (!inside(size, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr))) return false;
  Elf64_Shdr names, at;
  memcpy(&names, object + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
  if (!inside(size, names.sh_offset, names.sh_size)) return false;
  for (unsigned i = 0; i < head.e_shnum; i++) {
    memcpy(&at, object + head.e_shoff + i * sizeof at, sizeof at);
    const size_t length = strlen(name) + 1;
    if (!inside(names.sh_size, at.sh_name, length)) continue;
    if (memcmp(object + names.sh_offset + at.sh_name, name, length) != 0) continue;
    if (at.sh_type == SHT_NOBITS || (at.sh_flags & SHF_COMPRESSED)) return false;
    if (!inside(size, at.sh_offset, at.sh_size)) return false;
    *section = (kg_simt_cursor){object + at.sh_offset, object + at.sh_offset + at.sh_size, false};
    return true;
  }
  return false;
}

kg_simt_lines *kg_simt_lines_read(const unsigned char *object, size_t size) {
  kg_simt_cursor section;
  if (!kg_simt_section(object, size, ".debug_line", &section)) return NULL;
  kg_simt_lines *lines = calloc(1, sizeof *lines);
  bool good = lines != NULL;
  const unsigned char *start = good ? section.at : NULL;
  while (good && section.at < section.end) {
    const uint64_t offset = (uint64_t)(section.at - start);
    const uint64_t bytes = kg_simt_fixed(&section, 4);
    if (section.bad || bytes > (uint64_t)(section.end - section.at)) break;
    kg_simt_cursor unit = {section.at, section.at + bytes, false}, program;
    section.at += bytes;
    Header header = {0};
    good = kg_simt_more((void **)&lines->units, lines->unit_count, &lines->unit_room,
                        sizeof *lines->units);
    if (good) lines->units[lines->unit_count++] = (kg_simt_unit){offset, lines->file_count};
    good = good && read_header(lines, &unit, &header, &program) &&
           run_program(lines, &header, &program);
  }
  if (good && lines->row_count > 0 && kg_simt_inlines_read(lines, object, size)) return lines;
  kg_simt_lines_free(lines);
  return NULL;
}

void kg_simt_lines_free(kg_simt_lines *lines) {
  if (!lines) return;
  free(lines->rows);
  free(lines->files);
  free(lines->units);
  free(lines->calls);
  free(lines);
}

bool kg_simt_lines_find(const kg_simt_lines *lines, uint64_t offset, const char **folder,
                        const char **file, unsigned *line) {
  for (size_t i = 0; i + 1 < lines->row_count; i++) {
    const kg_simt_row *row = &lines->rows[i], *next = row + 1;
    if (row->ends || offset < row->address || offset >= next->address) continue;
    for (; row > lines->rows && row->line == 0 && !row[-1].ends; row--) {
    } /* line 0: the compiler's own code */
    if (row->file >= lines->file_count || row->line == 0) return false;
    *folder = lines->files[row->file].folder;
    *file = lines->files[row->file].name;
    *line = row->line;
    return true;
  }
  return false;
}

size_t kg_simt_first_file(const kg_simt_lines *lines, uint64_t offset) {
  for (size_t i = 0; i < lines->unit_count; i++)
    if (lines->units[i].offset == offset) return lines->units[i].first_file;
  return lines->file_count;
}

/* lines.c: the lines of an address of a compiled text, by libdw (elfutils), for reports.
**
** What clang writes with -gline-tables-only: a line table, and an entry for each inlined call with
** its addresses and the line of the call.  libdw reads as it is asked, so nothing is read before
** the first report, and its handle is for one thread at a time. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "simt.h"

struct kg_simt_lines {
  Elf *elf;
  Dwarf *dwarf;
};

kg_simt_lines *kg_simt_lines_open(unsigned char *object, size_t size) {
  kg_simt_lines *lines = calloc(1, sizeof *lines);
  elf_version(EV_CURRENT);
  if (lines && (lines->elf = elf_memory((char *)object, size)) &&
      (lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL)))
    return lines;
  kg_simt_lines_close(lines);
  return NULL;
}

void kg_simt_lines_close(kg_simt_lines *lines) {
  if (!lines) return;
  dwarf_end(lines->dwarf);
  elf_end(lines->elf);
  free(lines);
}

/* The unit with that address. */
static bool find_unit(const kg_simt_lines *lines, Dwarf_Addr address, Dwarf_Die *unit) {
  for (Dwarf_CU *at = NULL; dwarf_get_units(lines->dwarf, at, &at, NULL, NULL, unit, NULL) == 0;)
    if (dwarf_haspc(unit, address) > 0) return true;
  return false;
}

/* As the text's #line has it: libdw puts the compiler's folder before what is relative. */
static const char *as_written(Dwarf_Die *unit, const char *path) {
  Dwarf_Attribute attribute;
  const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  const size_t length = folder ? strlen(folder) : 0;
  const bool below = length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/';
  return below ? path + length + 1 : path;
}

static bool ends(Dwarf_Line *row) {
  bool last = true;
  return dwarf_lineendsequence(row, &last) != 0 || last;
}

static bool find_line(Dwarf_Die *unit, Dwarf_Addr address, kg_simt_frame *frame) {
  Dwarf_Lines *rows;
  size_t count;
  if (dwarf_getsrclines(unit, &rows, &count)) return false;
  for (size_t i = 0; i + 1 < count; i++) {
    Dwarf_Line *row = dwarf_onesrcline(rows, i);
    Dwarf_Addr from, to;
    if (ends(row) || dwarf_lineaddr(row, &from) || address < from) continue;
    if (dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &to) || address >= to) continue;
    for (int line = 0;; row = dwarf_onesrcline(rows, --i)) {
      const char *path = dwarf_linesrc(row, NULL, NULL);
      if (ends(row) || !path || dwarf_lineno(row, &line)) return false;
      *frame = (kg_simt_frame){as_written(unit, path), (unsigned)line};
      if (line > 0 || i == 0) return line > 0; /* line 0: the compiler's own code */
    }
  }
  return false;
}

static bool read_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value) {
  Dwarf_Attribute attribute;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), value) == 0;
}

/* Where the inlined call stands. */
static bool find_call(Dwarf_Die *unit, Dwarf_Die *inlined, kg_simt_frame *frame) {
  Dwarf_Files *files;
  Dwarf_Word file, line;
  if (!read_number(inlined, DW_AT_call_file, &file) ||
      !read_number(inlined, DW_AT_call_line, &line) || line == 0)
    return false;
  const char *path = dwarf_getsrcfiles(unit, &files, NULL) == 0
                         ? dwarf_filesrc(files, (size_t)file, NULL, NULL)
                         : NULL;
  if (path) *frame = (kg_simt_frame){as_written(unit, path), (unsigned)line};
  return path != NULL;
}

size_t kg_simt_lines_frames(kg_simt_lines *lines, uint64_t offset, kg_simt_frame *frames,
                            size_t room) {
  Dwarf_Die unit, *innermost = NULL, *scopes = NULL;
  if (room == 0 || !find_unit(lines, offset, &unit) || !find_line(&unit, offset, frames)) return 0;
  size_t count = 1;
  /* The first call gives the scopes of the source around the innermost inlined function; those of
  ** the code are around its entry. */
  if (dwarf_getscopes(&unit, offset, &innermost) > 0) {
    const int depth = dwarf_getscopes_die(innermost, &scopes);
    for (int i = 0; i < depth && count < room; i++)
      if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
        count += find_call(&unit, &scopes[i], &frames[count]);
  }
  free(innermost);
  free(scopes);
  return count;
}

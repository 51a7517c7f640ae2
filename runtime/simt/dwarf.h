/* dwarf.h: what lines.c and inlines.c, the two readers of debug information, share. */
#ifndef KG_SIMT_DWARF_H
#define KG_SIMT_DWARF_H

#include "simt.h"

typedef struct kg_simt_row {
  uint64_t address;
  uint32_t file, line;
  bool ends;
} kg_simt_row;
typedef struct kg_simt_file {
  const char *folder, *name;
} kg_simt_file;
typedef struct kg_simt_call { /* one that was inlined: its addresses, and where the call stands */
  uint64_t low, high;
  size_t file;
  uint32_t line;
} kg_simt_call;
typedef struct kg_simt_unit {
  uint64_t offset; /* in .debug_line */
  size_t first_file;
} kg_simt_unit;

struct kg_simt_lines {
  kg_simt_row *rows;
  size_t row_count, row_room;
  kg_simt_file *files; /* of all units */
  size_t file_count, file_room;
  kg_simt_unit *units;
  size_t unit_count, unit_room;
  kg_simt_call *calls;
  size_t call_count, call_room;
};

/* ---- reading bytes: past the end everything is zero, and bad is set -------------------------- */

typedef struct kg_simt_cursor {
  const unsigned char *at, *end;
  bool bad;
} kg_simt_cursor;

uint64_t kg_simt_fixed(kg_simt_cursor *c, unsigned bytes);
uint64_t kg_simt_uleb(kg_simt_cursor *c);
const char *kg_simt_string(kg_simt_cursor *c);
bool kg_simt_section(const unsigned char *object, size_t size, const char *name,
                     kg_simt_cursor *section);

/* Room for one more item; false: no memory. */
bool kg_simt_more(void **items, size_t count, size_t *room, size_t bytes);

/* Where the files of the unit with this line table begin. */
size_t kg_simt_first_file(const kg_simt_lines *lines, uint64_t offset);

/* Fills lines->calls; false: no memory. */
bool kg_simt_inlines_read(kg_simt_lines *lines, const unsigned char *object, size_t size);

#endif

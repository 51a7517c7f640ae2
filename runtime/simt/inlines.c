/* inlines.c: the calls that were inlined at an address (DWARF 4, sections 2 and 3.3.8.2), so that
** a line of a library function comes with the line of the body that called it.
**
** What clang writes into .debug_info with -gline-tables-only: a unit, its subprograms, and in
** them an entry for each inlined call, with its addresses and the line of the call. */
#include <stdlib.h>
#include <string.h>

#include "dwarf.h"

enum { TAG_INLINED = 0x1d };
enum { AT_STMT_LIST = 0x10, AT_LOW_PC = 0x11, AT_HIGH_PC = 0x12, AT_RANGES = 0x55,
       AT_CALL_FILE = 0x58, AT_CALL_LINE = 0x59 };
enum { FORM_ADDR = 1, FORM_BLOCK2 = 3, FORM_BLOCK4, FORM_DATA2, FORM_DATA4, FORM_DATA8,
       FORM_STRING, FORM_BLOCK, FORM_BLOCK1, FORM_DATA1, FORM_FLAG, FORM_SDATA, FORM_STRP,
       FORM_UDATA, FORM_REF_ADDR, FORM_REF1, FORM_REF2, FORM_REF4, FORM_REF8, FORM_REF_UDATA,
       FORM_SEC_OFFSET = 0x17, FORM_EXPRLOC, FORM_FLAG_PRESENT, FORM_REF_SIG8 = 0x20 };

typedef struct Unit {
  kg_simt_cursor abbreviations, ranges; /* sections, the first from the unit's own offset on */
  uint64_t base;                        /* of its ranges */
  size_t first_file;
} Unit;

typedef struct Entry {
  uint64_t tag, low, high, ranges, file, line, stmt_list;
  bool children, high_is_length, has_low, has_high, has_ranges;
} Entry;

/* The value of one attribute; a string or a block has none and is passed over. */
static uint64_t form_value(kg_simt_cursor *c, uint64_t form) {
  uint64_t bytes = 0;
  switch (form) {
  case FORM_ADDR: case FORM_DATA8: case FORM_REF8: case FORM_REF_SIG8:
    return kg_simt_fixed(c, 8);
  case FORM_DATA4: case FORM_STRP: case FORM_REF_ADDR: case FORM_REF4: case FORM_SEC_OFFSET:
    return kg_simt_fixed(c, 4);
  case FORM_DATA2: case FORM_REF2:
    return kg_simt_fixed(c, 2);
  case FORM_DATA1: case FORM_FLAG: case FORM_REF1:
    return kg_simt_fixed(c, 1);
  case FORM_UDATA: case FORM_REF_UDATA: case FORM_SDATA:
    return kg_simt_uleb(c);
  case FORM_FLAG_PRESENT:
    return 1;
  case FORM_STRING:
    kg_simt_string(c);
    return 0;
  case FORM_BLOCK1:
    bytes = kg_simt_fixed(c, 1);
    break;
  case FORM_BLOCK2:
    bytes = kg_simt_fixed(c, 2);
    break;
  case FORM_BLOCK4:
    bytes = kg_simt_fixed(c, 4);
    break;
  case FORM_BLOCK: case FORM_EXPRLOC:
    bytes = kg_simt_uleb(c);
    break;
  default:
    c->bad = true;
  }
  if (bytes > (uint64_t)(c->end - c->at)) c->bad = true;
  else c->at += bytes;
  return 0;
}

/* The abbreviation of that code: its tag, and the cursor at its attributes. */
static bool find_abbreviation(const Unit *unit, uint64_t code, Entry *entry,
                              kg_simt_cursor *attributes) {
  kg_simt_cursor c = unit->abbreviations;
  while (!c.bad) {
    const uint64_t found = kg_simt_uleb(&c);
    if (found == 0) return false;
    entry->tag = kg_simt_uleb(&c);
    entry->children = kg_simt_fixed(&c, 1) != 0;
    *attributes = c;
    if (found == code) return !c.bad;
    while (!c.bad) {
      const uint64_t name = kg_simt_uleb(&c), form = kg_simt_uleb(&c);
      if (name == 0 && form == 0) break;
    }
  }
  return false;
}

static bool read_entry(const Unit *unit, kg_simt_cursor *c, uint64_t code, Entry *entry) {
  kg_simt_cursor attributes;
  memset(entry, 0, sizeof *entry);
  if (!find_abbreviation(unit, code, entry, &attributes)) return false;
  for (;;) {
    const uint64_t name = kg_simt_uleb(&attributes), form = kg_simt_uleb(&attributes);
    if (attributes.bad) return false;
    if (name == 0 && form == 0) break;
    const uint64_t value = form_value(c, form);
    if (name == AT_LOW_PC) entry->low = value, entry->has_low = true;
    else if (name == AT_HIGH_PC)
      entry->high = value, entry->has_high = true, entry->high_is_length = form != FORM_ADDR;
    else if (name == AT_RANGES) entry->ranges = value, entry->has_ranges = true;
    else if (name == AT_CALL_FILE) entry->file = value;
    else if (name == AT_CALL_LINE) entry->line = value;
    else if (name == AT_STMT_LIST) entry->stmt_list = value;
  }
  if (entry->high_is_length) entry->high += entry->low;
  return !c->bad;
}

static bool add(kg_simt_lines *lines, const Unit *unit, const Entry *entry, uint64_t low,
                uint64_t high) {
  if (low >= high || entry->line == 0 || entry->file == 0) return true;
  if (!kg_simt_more((void **)&lines->calls, lines->call_count, &lines->call_room,
                    sizeof *lines->calls))
    return false;
  lines->calls[lines->call_count++] =
      (kg_simt_call){low, high, unit->first_file + (size_t)entry->file - 1, (uint32_t)entry->line};
  return true;
}

static bool add_inlined(kg_simt_lines *lines, const Unit *unit, const Entry *entry) {
  if (!entry->has_ranges)
    return !(entry->has_low && entry->has_high) ||
           add(lines, unit, entry, entry->low, entry->high);
  kg_simt_cursor c = unit->ranges;
  if (entry->ranges > (uint64_t)(c.end - c.at)) return true;
  c.at += entry->ranges;
  for (uint64_t base = unit->base;;) {
    const uint64_t low = kg_simt_fixed(&c, 8), high = kg_simt_fixed(&c, 8);
    if (c.bad || (low == 0 && high == 0)) return true;
    if (low == UINT64_MAX) base = high;
    else if (!add(lines, unit, entry, base + low, base + high)) return false;
  }
}

/* False: no memory.  An entry that cannot be read ends its unit. */
static bool read_unit(kg_simt_lines *lines, Unit *unit, kg_simt_cursor c) {
  Entry entry;
  for (unsigned depth = 0; c.at < c.end;) {
    const uint64_t code = kg_simt_uleb(&c);
    if (code == 0) {
      if (depth-- <= 1) return true;
      continue;
    }
    if (!read_entry(unit, &c, code, &entry)) return true;
    if (depth == 0) {
      unit->base = entry.has_low ? entry.low : 0;
      unit->first_file = kg_simt_first_file(lines, entry.stmt_list);
    }
    if (entry.tag == TAG_INLINED && !add_inlined(lines, unit, &entry)) return false;
    depth += entry.children;
    if (depth == 0) return true;
  }
  return true;
}

bool kg_simt_inlines_read(kg_simt_lines *lines, const unsigned char *object, size_t size) {
  kg_simt_cursor info, abbreviations, ranges = {0};
  if (!kg_simt_section(object, size, ".debug_info", &info)) return true;
  if (!kg_simt_section(object, size, ".debug_abbrev", &abbreviations)) return true;
  kg_simt_section(object, size, ".debug_ranges", &ranges);
  while (info.at < info.end) {
    const uint64_t bytes = kg_simt_fixed(&info, 4);
    if (info.bad || bytes > (uint64_t)(info.end - info.at)) return true;
    kg_simt_cursor c = {info.at, info.at + bytes, false};
    info.at += bytes;
    const uint64_t version = kg_simt_fixed(&c, 2), offset = kg_simt_fixed(&c, 4);
    const uint64_t address_bytes = kg_simt_fixed(&c, 1);
    if (c.bad || version < 2 || version > 4 || address_bytes != 8) continue;
    if (offset > (uint64_t)(abbreviations.end - abbreviations.at)) continue;
    Unit unit = {.abbreviations = abbreviations, .ranges = ranges};
    unit.abbreviations.at += offset;
    if (!read_unit(lines, &unit, c)) return false;
  }
  return true;
}

size_t kg_simt_lines_frames(const kg_simt_lines *lines, uint64_t offset, kg_simt_frame *frames,
                            size_t room) {
  size_t count = 0;
  if (room > 0 && kg_simt_lines_find(lines, offset, &frames[0].folder, &frames[0].file,
                                     &frames[0].line))
    count = 1;
  /* calls stand in the order of the tree: an inner one behind the one around it */
  for (size_t i = lines->call_count; i-- > 0 && count > 0 && count < room;) {
    const kg_simt_call *call = &lines->calls[i];
    if (offset < call->low || offset >= call->high || call->file >= lines->file_count) continue;
    frames[count++] = (kg_simt_frame){lines->files[call->file].folder,
                                      lines->files[call->file].name, call->line};
  }
  return count;
}

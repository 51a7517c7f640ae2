/* covmap.c: see covmap.h. */
#include "covmap.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* ---- sections -------------------------------------------------------------------------------- */

typedef struct Section {
  const unsigned char *bytes;
  uint64_t address, size;
} Section;

static Section section_of(Elf *elf, const char *name) {
  size_t names;
  GElf_Shdr head;
  if (elf_getshdrstrndx(elf, &names)) return (Section){0};
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
    if (!gelf_getshdr(s, &head)) continue;
    const char *own = elf_strptr(elf, names, head.sh_name);
    if (!own || strcmp(own, name) != 0) continue;
    const Elf_Data *data = elf_rawdata(s, NULL);
    if (data && data->d_buf) return (Section){data->d_buf, head.sh_addr, data->d_size};
  }
  return (Section){0};
}

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef struct Bytes {
  const unsigned char *at, *end;
  bool bad; /* they ended early */
} Bytes;

static uint64_t number(Bytes *b, size_t bytes) {
  uint64_t x = 0;
  if ((size_t)(b->end - b->at) < bytes) {
    b->bad = true, b->at = b->end;
    return 0;
  }
  memcpy(&x, b->at, bytes); /* objects are for this machine: little-endian */
  b->at += bytes;
  return x;
}

static uint64_t uleb(Bytes *b) {
  uint64_t x = 0;
  for (unsigned shift = 0; b->at < b->end && shift < 63; shift += 7) {
    const unsigned char byte = *b->at++;
    x |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return x;
  }
  b->bad = true, b->at = b->end;
  return 0;
}

/* ---- a function's record --------------------------------------------------------------------- */

/* struct __llvm_profile_data */
enum { DATA_BYTES = 64, DATA_COUNTERS = 16, DATA_COUNTER_COUNT = 48 };
enum { COVMAP_VERSION = 6 }; /* counted from 0 */
enum { REGION_CODE = 0, REGION_EXPANSION = 1, REGION_BRANCH = 4 };
/* Some numbers that no text needs, so that no object makes this one take all memory. */
enum { MOST_FILES = 1 << 16, MOST_EXPRESSIONS = 1 << 20 };

/* Its counters, by the hash of its name and of its shape; false: none, as nothing calls it. */
static bool find_counters(const Section *data, uint64_t name, uint64_t shape, kg_simt_unit *unit) {
  for (uint64_t at = 0; at + DATA_BYTES <= data->size; at += DATA_BYTES) {
    const unsigned char *record = data->bytes + at;
    if (memcmp(record, &name, 8) != 0 || memcmp(record + 8, &shape, 8) != 0) continue;
    int64_t off;
    memcpy(&off, record + DATA_COUNTERS, sizeof off); /* from the record itself */
    memcpy(&unit->counter_count, record + DATA_COUNTER_COUNT, sizeof unit->counter_count);
    unit->counters = data->address + at + (uint64_t)off;
    return true;
  }
  return false;
}

static kg_simt_count count_of(uint64_t encoded) {
  return (kg_simt_count){(uint8_t)(encoded & 3), (uint32_t)(encoded >> 2)};
}

static bool known(const kg_simt_unit *unit, kg_simt_count c) {
  return c.kind == KG_SIMT_NEVER ||
         c.id < (c.kind == KG_SIMT_COUNTER ? unit->counter_count : unit->expression_count);
}

/* One region; *line is where the one before it began. */
static bool read_region(Bytes *b, kg_simt_covmap *map, bool own, uint32_t *line) {
  const uint64_t head = uleb(b);
  const bool branch = (head & 7) == 0 && head >> 3 == REGION_BRANCH;
  kg_simt_condition c = {.unit = map->unit_count};
  if (branch) {
    c.taken[1] = count_of(uleb(b));
    c.taken[0] = count_of(uleb(b));
  } else if ((head & 7) == 0 && head >> 3 > REGION_BRANCH) {
    b->bad = true; /* of options that are not used here */
  }
  *line += (uint32_t)uleb(b);
  c.line = *line;
  c.column = (uint32_t)uleb(b);
  c.end_line = *line + (uint32_t)uleb(b);
  c.end_column = (uint32_t)uleb(b);
  const kg_simt_unit *unit = &map->units[map->unit_count];
  if (b->bad || !branch || !own) return true;
  if (!known(unit, c.taken[0]) || !known(unit, c.taken[1])) return b->bad = true;
  if (!kg_simt_more((void **)&map->conditions, map->condition_count, &map->condition_room,
                    sizeof *map->conditions))
    return false;
  map->conditions[map->condition_count++] = c;
  return true;
}

static bool read_expressions(Bytes *b, kg_simt_unit *unit) {
  const uint64_t count = uleb(b);
  if (count > MOST_EXPRESSIONS) return b->bad = true;
  unit->expression_count = (uint32_t)count;
  unit->expressions = calloc(count + 1, sizeof *unit->expressions);
  if (!unit->expressions) return false;
  for (uint64_t i = 0; i < 2 * count; i++) unit->expressions[i / 2][i % 2] = count_of(uleb(b));
  for (uint64_t i = 0; i < count; i++)
    if (!known(unit, unit->expressions[i][0]) || !known(unit, unit->expressions[i][1]))
      b->bad = true;
  return true;
}

/* The regions of the function's own file come first; those of macros, as files of their own, are
** read and left. */
static bool read_mapping(Bytes b, kg_simt_covmap *map) {
  kg_simt_unit *unit = &map->units[map->unit_count];
  const size_t before = map->condition_count;
  const uint64_t files = uleb(&b);
  if (files > MOST_FILES) b.bad = true;
  for (uint64_t i = 0; i < files && !b.bad; i++) uleb(&b);
  if (!read_expressions(&b, unit)) return false;
  for (uint64_t file = 0; file < files && !b.bad; file++) {
    uint32_t line = 0;
    for (uint64_t regions = uleb(&b); regions > 0 && !b.bad; regions--)
      if (!read_region(&b, map, file == 0, &line)) return false;
  }
  if (b.bad) map->condition_count = before;
  return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool read_records(const Section *functions, const Section *data, kg_simt_covmap *map) {
  Bytes b = {functions->bytes, functions->bytes + functions->size, false};
  while (!b.bad && b.end - b.at >= 28) {
    const uint64_t name = number(&b, 8), bytes = number(&b, 4), shape = number(&b, 8);
    number(&b, 8); /* of the list of files */
    if ((uint64_t)(b.end - b.at) < bytes) return true;
    const Bytes mapping = {b.at, b.at + bytes, false};
    b.at += bytes;
    while (b.at < b.end && (b.at - functions->bytes) % 8 != 0) b.at++;
    if (!kg_simt_more((void **)&map->units, map->unit_count, &map->unit_room, sizeof *map->units))
      return false;
    kg_simt_unit *unit = &map->units[map->unit_count];
    *unit = (kg_simt_unit){0};
    if (!find_counters(data, name, shape, unit)) continue;
    const bool read = read_mapping(mapping, map);
    map->unit_count++;
    if (!read) return false;
  }
  return true;
}

bool kg_simt_covmap_read(unsigned char *object, size_t size, kg_simt_covmap *map) {
  *map = (kg_simt_covmap){0};
  elf_version(EV_CURRENT);
  Elf *elf = elf_memory((char *)object, size);
  const Section heads = section_of(elf, "__llvm_covmap"),
                functions = section_of(elf, "__llvm_covfun"),
                data = section_of(elf, "__llvm_prf_data");
  uint32_t version = 0;
  if (heads.size >= 16) memcpy(&version, heads.bytes + 12, sizeof version);
  const bool read = version != COVMAP_VERSION || !functions.bytes || !data.bytes ||
                    data.size % DATA_BYTES != 0 || read_records(&functions, &data, map);
  elf_end(elf);
  if (!read) kg_simt_covmap_free(map);
  return read;
}

void kg_simt_covmap_free(kg_simt_covmap *map) {
  for (size_t i = 0; i < map->unit_count; i++) free(map->units[i].expressions);
  free(map->units);
  free(map->conditions);
  *map = (kg_simt_covmap){0};
}

/* ---- counts ---------------------------------------------------------------------------------- */

int64_t kg_simt_count_value(const kg_simt_unit *unit, const uint64_t *counters, kg_simt_count count,
                            int64_t *room) {
  if (count.kind == KG_SIMT_NEVER) return 0;
  if (count.kind == KG_SIMT_COUNTER) return (int64_t)counters[count.id];
  if (room[count.id] != INT64_MIN) return room[count.id];
  room[count.id] = 0; /* one that asks for itself */
  const kg_simt_count *of = unit->expressions[count.id];
  const int64_t a = kg_simt_count_value(unit, counters, of[0], room),
                b = kg_simt_count_value(unit, counters, of[1], room);
  return room[count.id] = count.kind == KG_SIMT_PLUS ? a + b : a - b;
}

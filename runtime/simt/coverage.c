/* coverage.c: which sides of a text's conditions have been taken, by the twin of a checked text.
**
** The compiler counts (twin_options), and says where its conditions are (covmap.h); lines are those
** of the text's own #line.  A function's counters are read after each launch and set to zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "covmap.h"
#include "sanitize.h"

struct kg_simt_coverage {
  kg_simt_covmap map;
  size_t *branches; /* by condition: among the device's; SIZE_MAX: it is not of a file */
  int64_t *room;
  size_t room_count;
};

/* ---- where a condition stands ---------------------------------------------------------------- */

/* A line of the text, and where its #line has it. */
typedef struct Place {
  const char *text; /* the line */
  size_t length;
  const char *file; /* NULL: before any mark */
  size_t file_length;
  unsigned line;
} Place;

/* Each line of the text in turn; the caller frees them.  NULL: no memory. */
static Place *places_of(const char *text, size_t *count) {
  size_t lines = 1;
  for (const char *s = text; *s; s++) lines += *s == '\n';
  Place *all = calloc(lines, sizeof *all);
  Place at = {0}; /* of the next line */
  *count = all ? lines : 0;
  for (size_t i = 0; i < *count; i++, text += at.length + (text[at.length] == '\n')) {
    int start = 0;
    at.text = text;
    at.length = strcspn(text, "\n");
    all[i] = at;
    if (strncmp(text, "#line ", 6) == 0 && sscanf(text, "#line %u \"%n", &at.line, &start) == 1 &&
        start > 0) {
      at.file = text + start;
      at.file_length = strcspn(at.file, "\"\n");
    } else if (at.file) {
      at.line++;
    }
  }
  return all;
}

/* The condition's own words; of several lines the first. */
static void put_words(const Place *place, const kg_simt_condition *c, char *to, size_t bytes) {
  const size_t from = c->column > 0 ? c->column - 1 : 0;
  size_t end = c->end_line == c->line ? c->end_column - 1 : place->length;
  if (end > place->length) end = place->length;
  snprintf(to, bytes, "%.*s%s", from < end ? (int)(end - from) : 0,
           place->text + (from < end ? from : 0), c->end_line == c->line ? "" : " ...");
}

/* Its value is no condition: its labels are. */
static bool is_of_switch(const Place *place, const kg_simt_condition *c) {
  size_t end = c->column > 0 ? c->column - 1 : 0;
  static const char word[] = "switch";
  const size_t length = sizeof word - 1;
  while (end > 0 && strchr(" (", place->text[end - 1])) end--;
  return end >= length && end <= place->length &&
         strncmp(place->text + end - length, word, length) == 0;
}

/* By the compiler, as a constant of the instance is. */
static bool is_decided(const kg_simt_condition *c) {
  return c->taken[0].kind == KG_SIMT_NEVER && c->taken[1].kind == KG_SIMT_NEVER;
}

static bool is_label(const kg_simt_branch *b) {
  return strncmp(b->text, "case ", 5) == 0 || strncmp(b->text, "default", 7) == 0;
}

static uint64_t hash_of(const kg_simt_branch *b) {
  uint64_t h = XXH3_64bits(b->kernel, strlen(b->kernel));
  h = XXH3_64bits_withSeed(b->file, strlen(b->file), h);
  h = XXH3_64bits_withSeed(&b->number, sizeof b->number, h);
  return XXH3_64bits_withSeed(&b->line, sizeof b->line, h);
}

/* Its number among the device's; SIZE_MAX: no memory. */
static size_t add_branch(kg_simt_device *device, kg_simt_branch *b) {
  const uint64_t hash = hash_of(b);
  for (size_t i = 0; i < device->branch_count; i++)
    if (device->branch_hashes[i] == hash) return i;
  if (!kg_simt_more((void **)&device->branches, device->branch_count, &device->branch_room,
                    sizeof *device->branches) ||
      !kg_simt_more((void **)&device->branch_hashes, device->branch_count, &device->hash_room,
                    sizeof *device->branch_hashes))
    return SIZE_MAX;
  device->branches[device->branch_count] = *b;
  device->branch_hashes[device->branch_count] = hash;
  return device->branch_count++;
}

/* places: of the text's lines, of which the first is the compiler's first_line. */
static bool add_branches(kg_function *f, const Place *places, size_t lines, unsigned first_line) {
  kg_simt_coverage *c = f->coverage;
  unsigned number = 0;
  for (size_t i = 0; i < c->map.condition_count; i++) {
    const kg_simt_condition *condition = &c->map.conditions[i];
    const bool same_line =
        i > 0 && condition[-1].line == condition->line && condition[-1].unit == condition->unit;
    kg_simt_branch b = {.number = number = same_line ? number + 1 : 0};
    c->branches[i] = SIZE_MAX;
    if (condition->line < first_line || condition->line - first_line >= lines) continue;
    const Place *place = &places[condition->line - first_line];
    if (!place->file || is_of_switch(place, condition) || is_decided(condition)) continue;
    snprintf(b.kernel, sizeof b.kernel, "%s", f->kernel);
    snprintf(b.file, sizeof b.file, "%.*s", (int)place->file_length, place->file);
    b.line = place->line;
    put_words(place, condition, b.text, sizeof b.text);
    b.label = is_label(&b);
    c->branches[i] = add_branch(f->device, &b);
    if (c->branches[i] == SIZE_MAX) return false;
  }
  return true;
}

/* ---- a function's ---------------------------------------------------------------------------- */

bool kg_simt_coverage_open(kg_function *f, const char *text, unsigned first_line) {
  kg_simt_coverage *c = f->coverage = calloc(1, sizeof *c);
  if (!c || !kg_simt_covmap_read(f->bytes, f->size, &c->map)) return false;
  for (size_t i = 0; i < c->map.unit_count; i++)
    if (c->map.units[i].expression_count > c->room_count)
      c->room_count = c->map.units[i].expression_count;
  c->branches = calloc(c->map.condition_count + 1, sizeof *c->branches);
  c->room = calloc(c->room_count + 1, sizeof *c->room);
  if (!c->branches || !c->room) return false;
  size_t lines;
  Place *places = places_of(text, &lines);
  if (!places) return false;
  pthread_mutex_lock(&f->device->lock);
  const bool added = add_branches(f, places, lines, first_line);
  pthread_mutex_unlock(&f->device->lock);
  free(places);
  return added;
}

void kg_simt_coverage_close(kg_function *f) {
  if (!f->coverage) return;
  kg_simt_covmap_free(&f->coverage->map);
  free(f->coverage->branches);
  free(f->coverage->room);
  free(f->coverage);
}

void kg_simt_coverage_take(kg_function *f, const kg_simt_copy *copy, bool whole) {
  kg_simt_coverage *c = f->coverage;
  if (!c) return;
  pthread_mutex_lock(&f->device->lock);
  kg_simt_branch *branches = f->device->branches;
  for (size_t u = 0, i = 0; u < c->map.unit_count; u++) {
    const kg_simt_unit *unit = &c->map.units[u];
    uint64_t *counters = (uint64_t *)(uintptr_t)(copy->base + unit->counters);
    for (size_t e = 0; e < unit->expression_count; e++) c->room[e] = INT64_MIN;
    for (; i < c->map.condition_count && c->map.conditions[i].unit == u; i++)
      for (int side = 0; side < 2 && whole && c->branches[i] != SIZE_MAX; side++)
        if (kg_simt_count_value(unit, counters, c->map.conditions[i].taken[side], c->room) > 0)
          branches[c->branches[i]].taken[side] = true;
    memset(counters, 0, unit->counter_count * sizeof *counters);
  }
  pthread_mutex_unlock(&f->device->lock);
}

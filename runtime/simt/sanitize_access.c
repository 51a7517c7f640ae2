/* sanitize_access.c: what happens at each access of a checked text.  It runs on the lane's stack,
** a few million times a launch: the common way is short, and everything else is in functions of
** their own. */
#include <string.h>
#include <sys/mman.h>

#include "sanitize.h"

#if defined(__GNUC__)
#define RARELY(condition) __builtin_expect(!!(condition), 0)
#else
#define RARELY(condition) (condition)
#endif

/* ---- cells ----------------------------------------------------------------------------------- */

static unsigned shift_of(size_t grain) {
  unsigned shift = 0;
  while (grain >> shift > 1) shift++;
  return shift;
}

static size_t index_of(const kg_simt_check *check, const kg_simt_object *object) {
  return (size_t)(object - check->objects);
}

bool kg_simt_check_cells(kg_simt_check *check, kg_simt_object *object) {
  object->shift = shift_of(object->grain);
  const size_t bytes = (object->bytes / object->grain + 1) * sizeof(kg_simt_cell);
  kg_simt_cells *kept = &check->cells[index_of(check, object)];
  if (kept->bytes < bytes) { /* old cells are of epochs before this launch: no need to clear */
    if (kept->cells) munmap(kept->cells, kept->bytes);
    void *cells = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *kept = (kg_simt_cells){NULL, 0};
    if (cells == MAP_FAILED) return false;
    *kept = (kg_simt_cells){cells, bytes};
  }
  object->cells = kept->cells;
  return true;
}

void kg_simt_check_free_cells(kg_simt_check *check) {
  for (size_t i = 0; i < check->cells_count; i++) {
    if (check->cells[i].cells) munmap(check->cells[i].cells, check->cells[i].bytes);
    check->cells[i] = (kg_simt_cells){NULL, 0};
  }
}

/* Something smaller than a cell is accessed: from here on cells are of that size.  Until now each
** piece of a cell had the cell's own history. */
static bool refine(kg_simt_check *check, kg_simt_object *object, size_t grain) {
  kg_simt_cells *kept = &check->cells[index_of(check, object)];
  const size_t count = object->bytes / object->grain + 1, pieces = object->grain / grain;
  const size_t bytes = count * pieces * sizeof(kg_simt_cell);
  kg_simt_cell *cells =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if ((void *)cells == MAP_FAILED) return false;
  for (size_t i = 0; i < count; i++)
    if (object->cells[i].written | object->cells[i].read)
      for (size_t p = 0; p < pieces; p++) cells[i * pieces + p] = object->cells[i];
  munmap(kept->cells, kept->bytes);
  *kept = (kg_simt_cells){cells, bytes};
  object->cells = cells;
  object->grain = grain;
  object->shift = shift_of(grain);
  return true;
}

static size_t grain_for(size_t offset, size_t bytes) {
  size_t grain = KG_SIMT_GRAIN;
  while ((offset | bytes) & (grain - 1)) grain /= 2;
  return grain;
}

/* ---- who it was ------------------------------------------------------------------------------ */

static uint64_t number_of(const kg_simt_group *group) {
  return ((uint64_t)group->place[2] * group->groups[1] + group->place[1]) * group->groups[0] +
         group->place[0];
}

/* The place in running order of the group whose epoch it is. */
static size_t place_at(const kg_simt_check *check, uint32_t epoch) {
  size_t low = 0, high = check->groups_run;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (check->group_epochs[middle] <= epoch)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static uint64_t group_at(const kg_simt_check *check, uint32_t epoch) {
  return check->group_numbers[place_at(check, epoch)];
}

/* What another group wrote then is there for this one: it came to a fence, then updated something
** atomically, and this group has updated something, too (CUDA C++ Programming Guide, "Memory Fence
** Functions").  Whether it was the same thing is not looked at. */
static bool released(const kg_simt_check *check, uint32_t epoch) {
  return check->acquired && check->group_releases[place_at(check, epoch)] >= epoch;
}

static kg_simt_actor other_actor(const kg_simt_check *check, uint32_t site, uint16_t thread,
                                 uint32_t epoch) {
  return (kg_simt_actor){check->base + site, thread, group_at(check, epoch)};
}

static kg_simt_actor this_actor(const kg_simt_check *check, const void *site) {
  const kg_simt_context *context = check->context;
  return (kg_simt_actor){site, (uint16_t)check->state->now->number, number_of(&context->group)};
}

/* Around what must not be left half done: the time limit waits (fault.c). */
static void hold(const kg_simt_check *check) { check->context->in_lane = 0; }
static void let_go(const kg_simt_check *check) { check->context->in_lane = 1; }

/* ---- the object ------------------------------------------------------------------------------ */

static bool holds(const kg_simt_object *object, uintptr_t address, size_t bytes) {
  const uintptr_t offset = address - object->start;
  return offset < object->bytes && bytes <= object->bytes - offset;
}

static size_t distance(const kg_simt_object *object, uintptr_t address) {
  if (address < object->start) return object->start - address;
  const size_t offset = address - object->start;
  return offset > object->bytes ? offset - object->bytes : 0;
}

/* The one that was meant, as far as that can be told: what the same instruction accessed before,
** else the nearest. */
static const kg_simt_object *meant(const kg_simt_check *check, uintptr_t address,
                                   const kg_simt_site *site, const void *from) {
  const kg_simt_object *nearest = NULL;
  if (site->site == from && site->object->kind != KG_SIMT_OWN) return site->object;
  for (size_t i = 0; i < check->object_count; i++) {
    const kg_simt_object *object = &check->objects[i];
    if (object->kind == KG_SIMT_OWN) continue;
    if (!nearest || distance(object, address) < distance(nearest, address)) nearest = object;
  }
  return nearest;
}

/* Leaves the group when there is none. */
static const kg_simt_object *find(kg_simt_check *check, uintptr_t address, size_t bytes,
                                  bool writes, const void *from, kg_simt_site *site) {
  for (size_t i = 0; i < check->object_count; i++)
    if (holds(&check->objects[i], address, bytes)) {
      *site = (kg_simt_site){(const char *)from + writes, &check->objects[i]};
      return site->object;
    }
  hold(check);
  const kg_simt_object *object = meant(check, address, site, (const char *)from + writes);
  const kg_simt_actor actor = this_actor(check, from);
  kg_simt_found_access(check, KG_FOUND_OUTSIDE, object,
                       object ? (int64_t)(address - object->start) : 0, bytes, writes, &actor);
  check->context->told = true;
  kg_simt_abandon(check->context);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void bad_access(kg_simt_check *check, kg_simt_class class_, const kg_simt_object *object,
                       size_t offset, size_t bytes, bool writes, const void *site) {
  const kg_simt_actor actor = this_actor(check, site);
  hold(check);
  kg_simt_found_access(check, class_, object, (int64_t)offset, bytes, writes, &actor);
  if (class_ == KG_FOUND_MISALIGNED || class_ == KG_FOUND_INPUT_WRITTEN) {
    check->context->told = true;
    kg_simt_abandon(check->context);
  }
  let_go(check);
}

static void race(kg_simt_check *check, const kg_simt_object *object, size_t offset, size_t bytes,
                 const char *does, const void *site, const char *others, uint32_t other_site,
                 uint16_t other, uint32_t epoch) {
  const kg_simt_actor first = this_actor(check, site);
  const kg_simt_actor second = other_actor(check, other_site, other, epoch);
  hold(check);
  kg_simt_found_race(check, object, offset, bytes, does, &first, others, &second);
  let_go(check);
}

void kg_simt_check_doubt(kg_simt_check *check) {
  kg_simt_doubt *doubt = &check->doubt;
  const kg_simt_object *object = doubt->object;
  doubt->object = NULL;
  if (!object || memcmp(doubt->address, doubt->before, doubt->bytes) == 0) return;
  const kg_simt_actor first = {doubt->site, doubt->thread, number_of(&check->context->group)};
  const kg_simt_actor second =
      other_actor(check, doubt->cell.write_site, doubt->cell.writer, doubt->cell.written);
  const int before = check->context->in_lane;
  hold(check);
  kg_simt_found_race(check, object, doubt->offset, doubt->bytes, "writes", &first,
                     "writes another value there", &second);
  check->context->in_lane = before;
}

/* The cell was written by someone who is not ordered before this write. */
static void doubt(kg_simt_check *check, const kg_simt_object *object, size_t offset, size_t bytes,
                  const kg_simt_cell *cell, const void *site, uint16_t thread) {
  kg_simt_doubt *d = &check->doubt;
  if (d->object) { /* an earlier cell of the same access */
    if (offset != d->offset + d->bytes || d->bytes + bytes > sizeof d->before) return;
    memcpy(d->before + d->bytes, (const char *)d->address + d->bytes, bytes);
    d->bytes += bytes;
    return;
  }
  *d = (kg_simt_doubt){.object = object,
                       .address = (const char *)object->start + offset,
                       .bytes = bytes,
                       .offset = offset,
                       .site = site,
                       .cell = *cell,
                       .thread = thread};
  memcpy(d->before, d->address, d->bytes);
}

/* ---- reads and writes ------------------------------------------------------------------------ */

/* A lane operation of a native text that orders a wave's memory (__syncwarp, simdgroup_barrier)
** lies between what the other thread did, at that count of its own, and now. */
static bool synced(const kg_simt_check *check, uint16_t other, uint16_t syncs) {
  const kg_simt_lane *now = check->state->now;
  const unsigned width = check->context->width;
  return ((syncs ^ now->syncs) & 0x7fffu) != 0 && other / width == now->number / width;
}

static bool by_atomic(const kg_simt_cell *cell) { return cell->write_syncs & KG_SIMT_BY_ATOMIC; }

/* In this phase, or by another group of this launch. */
static bool written_meanwhile(const kg_simt_check *check, const kg_simt_object *object,
                              const kg_simt_cell *cell, uint32_t epoch, uint16_t thread) {
  if (cell->written < check->launch_first) return false;
  if (cell->written == epoch)
    return cell->writer != thread && !synced(check, cell->writer, cell->write_syncs);
  return cell->written < check->group_first && object->kind != KG_SIMT_SHARED &&
         !released(check, cell->written);
}

/* The cell was read in this phase, and now is written. */
static void read_meanwhile(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                           size_t bytes, const kg_simt_cell *cell, const void *site) {
  const uint16_t thread = (uint16_t)check->state->now->number;
  if (cell->reader != thread && !synced(check, cell->reader, cell->read_syncs))
    race(check, object, offset, bytes, "writes", site, "may still read it", cell->read_site,
         cell->reader, cell->read);
  else if (cell->other != KG_SIMT_NOBODY && cell->other != thread &&
           !synced(check, cell->other, cell->other_syncs))
    race(check, object, offset, bytes, "writes", site, "may still read it", cell->other_site,
         cell->other, cell->read);
}

static void write_cells(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                        size_t bytes, const void *site) {
  const uint32_t epoch = check->group_first + check->context->group.phase;
  const uint32_t place = (uint32_t)((const char *)site - check->base);
  const uint16_t thread = (uint16_t)check->state->now->number;
  const uint16_t syncs = check->state->now->syncs & 0x7fffu;
  const size_t grain = object->grain;
  kg_simt_cell *cell = &object->cells[offset >> object->shift];
  for (size_t done = 0; done < bytes; done += grain, cell++) {
    if (RARELY(cell->written >= check->launch_first) &&
        written_meanwhile(check, object, cell, epoch, thread))
      doubt(check, object, offset + done, grain, cell, site, thread);
    if (RARELY(cell->read == epoch))
      read_meanwhile(check, object, offset + done, bytes, cell, site);
    cell->written = epoch, cell->write_site = place, cell->writer = thread;
    cell->write_syncs = syncs;
  }
}

void kg_simt_check_glances(kg_simt_check *check) {
  for (size_t i = 0; i < check->glance_count; i++) {
    const kg_simt_glance *g = &check->glances[i];
    if (!g->settled && g->object)
      kg_simt_found_race(check, g->object, g->offset, g->bytes, "reads", &g->reader,
                         "may still update it", &g->updater);
  }
  check->glance_count = 0;
}

/* Of that place; NULL: there is no more room. */
static kg_simt_glance *glance_at(kg_simt_check *check, const void *site) {
  for (size_t i = 0; i < check->glance_count; i++)
    if (check->glances[i].site == site) return &check->glances[i];
  if (check->glance_count == sizeof check->glances / sizeof *check->glances) return NULL;
  check->glances[check->glance_count] = (kg_simt_glance){.site = site};
  return &check->glances[check->glance_count++];
}

/* False: there is no more room, and it is to be told at once. */
static bool glance(kg_simt_check *check, const kg_simt_object *object, size_t offset, size_t bytes,
                   const kg_simt_actor *reader, const kg_simt_actor *updater) {
  kg_simt_glance *g = glance_at(check, reader->site);
  if (!g) return false;
  if (!g->object)
    g->object = object, g->offset = offset, g->bytes = bytes, g->reader = *reader,
    g->updater = *updater;
  return true;
}

/* A plain read of what somebody has updated atomically. */
static bool glances(kg_simt_check *check, const kg_simt_object *object, size_t offset, size_t bytes,
                    const kg_simt_cell *cell, const void *site) {
  if (!by_atomic(cell)) return false;
  const kg_simt_actor reader = this_actor(check, site);
  const kg_simt_actor updater = other_actor(check, cell->write_site, cell->writer, cell->written);
  check->last_glance.object = object, check->last_glance.offset = offset;
  check->last_glance.site = site, check->last_glance.thread = reader.thread;
  return glance(check, object, offset, bytes, &reader, &updater);
}

static void settle_site(kg_simt_check *check, const void *site) {
  kg_simt_glance *g = glance_at(check, site);
  if (g) g->settled = true;
}

/* The thread updates this: its own reads of it are part of that. */
static void settle(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                   kg_simt_cell *cell, uint32_t epoch, uint16_t thread) {
  if (check->last_glance.object == object && check->last_glance.offset == offset &&
      check->last_glance.thread == thread) {
    settle_site(check, check->last_glance.site);
    check->last_glance.object = NULL;
  }
  if (cell->read != epoch) return;
  if (cell->other == thread) {
    settle_site(check, check->base + cell->other_site);
    cell->other = KG_SIMT_NOBODY;
  }
  if (cell->reader != thread) return;
  settle_site(check, check->base + cell->read_site);
  if (cell->other == KG_SIMT_NOBODY) {
    cell->read = 0;
    return;
  }
  cell->reader = cell->other, cell->read_site = cell->other_site, cell->other = KG_SIMT_NOBODY;
  cell->read_syncs = cell->other_syncs;
}

/* The cell was read in this phase, and now is updated atomically. */
static void read_before_update(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                               size_t bytes, const kg_simt_cell *cell, const void *site) {
  const kg_simt_actor updater = this_actor(check, site);
  const uint16_t threads[2] = {cell->reader, cell->other};
  const uint32_t sites[2] = {cell->read_site, cell->other_site};
  const uint16_t syncs[2] = {cell->read_syncs, cell->other_syncs};
  for (int i = 0; i < 2; i++) {
    if (threads[i] == KG_SIMT_NOBODY || threads[i] == updater.thread) continue;
    if (synced(check, threads[i], syncs[i])) continue;
    const kg_simt_actor reader = {check->base + sites[i], threads[i], updater.group};
    if (!glance(check, object, offset, bytes, &reader, &updater))
      race(check, object, offset, bytes, "updates", site, "may still read it", sites[i], threads[i],
           cell->read);
  }
}

/* Nobody of this launch (of shared memory: of this group) has written it. */
static void unwritten(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                      size_t bytes, const void *site) {
  if (object->use) object->use->early = true;
  if (object->kind != KG_SIMT_MEMORY && object->kind != KG_SIMT_BOTH)
    bad_access(check, KG_FOUND_UNWRITTEN, object, offset, bytes, false, site);
}

static void read_cells(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                       size_t bytes, const void *site) {
  const uint32_t epoch = check->group_first + check->context->group.phase;
  const uint32_t place = (uint32_t)((const char *)site - check->base);
  const uint16_t thread = (uint16_t)check->state->now->number;
  const bool shared = object->kind == KG_SIMT_SHARED;
  const uint32_t since = shared ? check->group_first : check->launch_first;
  const uint16_t syncs = check->state->now->syncs & 0x7fffu;
  const size_t grain = object->grain;
  kg_simt_cell *cell = &object->cells[offset >> object->shift];
  for (size_t done = 0; done < bytes; done += grain, cell++) {
    if (RARELY(cell->written < since))
      unwritten(check, object, offset + done, bytes, site);
    else if (RARELY((cell->written == epoch && cell->writer != thread) ||
                    cell->written < check->group_first) &&
             !(cell->written == epoch ? synced(check, cell->writer, cell->write_syncs)
                                      : released(check, cell->written)) &&
             !glances(check, object, offset + done, bytes, cell, site))
      race(check, object, offset + done, bytes, "reads", site, "may still write it",
           cell->write_site, cell->writer, cell->written);
    if (cell->read != epoch)
      cell->read = epoch, cell->read_site = place, cell->reader = thread, cell->read_syncs = syncs,
      cell->other = KG_SIMT_NOBODY;
    else if (cell->reader != thread) {
      if (RARELY(syncs != 0) && synced(check, cell->reader, cell->read_syncs))
        cell->read_site = place, cell->reader = thread, cell->read_syncs = syncs;
      else if (cell->other == KG_SIMT_NOBODY ||
               (RARELY(syncs != 0) && synced(check, cell->other, cell->other_syncs)))
        cell->other = thread, cell->other_site = place, cell->other_syncs = syncs;
    }
  }
}

/* Atomic accesses to the same cell are ordered among each other, and no others are by them. */
static void atomic_cells(kg_simt_check *check, const kg_simt_object *object, size_t offset,
                         size_t bytes, unsigned how, const void *site) {
  const uint32_t epoch = check->group_first + check->context->group.phase;
  const uint32_t place = (uint32_t)((const char *)site - check->base);
  const uint16_t thread = (uint16_t)check->state->now->number;
  const uint16_t syncs = (uint16_t)((check->state->now->syncs & 0x7fffu) | KG_SIMT_BY_ATOMIC);
  const bool writes = how & KG_SIMT_WRITES, reads = !writes || (how & KG_SIMT_UPDATES);
  const uint32_t since = object->kind == KG_SIMT_SHARED ? check->group_first : check->launch_first;
  const size_t grain = object->grain;
  kg_simt_cell *cell = &object->cells[offset >> object->shift];
  for (size_t done = 0; done < bytes; done += grain, cell++) {
    if (cell->written < since) {
      if (reads) unwritten(check, object, offset + done, bytes, site);
    } else if (!by_atomic(cell) && written_meanwhile(check, object, cell, epoch, thread))
      race(check, object, offset + done, bytes, writes ? "updates" : "reads", site,
           "may still write it, not atomically", cell->write_site, cell->writer, cell->written);
    if (!writes) continue;
    settle(check, object, offset + done, cell, epoch, thread);
    if (cell->read == epoch) read_before_update(check, object, offset + done, bytes, cell, site);
    cell->written = epoch, cell->write_site = place, cell->writer = thread;
    cell->write_syncs = syncs;
  }
  check->atomics = true;
  check->context->atomic_site = site;
  if (!writes || !(how & KG_SIMT_UPDATES)) return;
  check->acquired = true;
  if (check->fenced) check->group_releases[check->groups_run - 1] = epoch;
}

void kg_simt_check_fence(kg_simt_group *group) {
  kg_simt_check *check = ((kg_simt_context *)group)->check;
  if (check) check->fenced = true;
}

void kg_simt_check_access(kg_simt_group *group, const void *address, unsigned long bytes,
                          unsigned how, const void *site) {
  kg_simt_check *check = ((kg_simt_context *)group)->check;
  const bool writes = how & KG_SIMT_WRITES;
  const uintptr_t key = (uintptr_t)site + writes;
  kg_simt_site *known = &check->sites[(key ^ key >> 10) % KG_SIMT_SITES];
  const kg_simt_object *object = known->object;
  if (RARELY(check->doubt.object)) kg_simt_check_doubt(check);
  if (RARELY((uintptr_t)known->site != key || !holds(object, (uintptr_t)address, bytes))) {
    if (bytes == 0) return;
    object = find(check, (uintptr_t)address, bytes, writes, site, known);
  }
  if (object->kind == KG_SIMT_OWN) return;
  const size_t offset = (uintptr_t)address - object->start;
  if (RARELY(object->use) && offset + bytes > object->use->extent)
    object->use->extent = offset + bytes;
  if (RARELY((how & KG_SIMT_ALIGNED) && ((uintptr_t)address & (bytes - 1))))
    bad_access(check, KG_FOUND_MISALIGNED, object, offset, bytes, writes, site);
  if (object->kind == KG_SIMT_INPUT) {
    if (RARELY(writes))
      bad_access(check, KG_FOUND_INPUT_WRITTEN, object, offset, bytes, writes, site);
    return;
  }
  if (RARELY((offset | bytes) & (object->grain - 1))) {
    hold(check);
    if (!refine(check, &check->objects[index_of(check, object)], grain_for(offset, bytes))) {
      check->no_memory = true;
      kg_simt_abandon(check->context);
    }
    let_go(check);
  }
  if (RARELY(how & KG_SIMT_ATOMIC))
    atomic_cells(check, object, offset, bytes, how, site);
  else if (writes)
    write_cells(check, object, offset, bytes, site);
  else
    read_cells(check, object, offset, bytes, site);
}

/* ---- operations ------------------------------------------------------------------------------ */

void kg_simt_check_open(kg_simt_group *group, const kg_simt_operation *operation,
                        const void *site) {
  kg_simt_check *check = ((kg_simt_context *)group)->check;
  const kg_simt_actor actor = this_actor(check, site);
  hold(check);
  if (!kg_simt_found_operation(check, operation, &actor)) {
    check->context->told = true;
    kg_simt_abandon(check->context);
  }
  let_go(check);
}

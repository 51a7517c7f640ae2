/* memory.c: the SIMT device's memory: each allocation ends at a guard page, so a kernel that
** runs past it stops there.
**
** Layout: guard page, slack, the bytes (aligned to 64), slack of under 64 bytes, guard page.
** A checking device's allocations have wide margins around that, so that what runs far past one
** is not in the next.
** The slack holds a pattern that is compared after each launch, which catches the few bytes
** that the pages cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt.h"

#define PATTERN 0xa5
#define WIDE_LEAST (16u << 20) /* of addresses, not memory; a multiple of every page size */
#define SLACK_CHECKED 256u     /* bytes before an allocation, as far as its page reaches */

typedef struct Block {
  char *around; /* the whole mapping; pages is a part of it */
  size_t around_bytes;
  char *pages;
  size_t page_bytes;
  char *start;
  size_t bytes;
} Block;

struct kg_simt_memory {
  bool wide;
  pthread_mutex_t lock;
  Block *blocks;
  size_t count, room;
};

kg_simt_memory *kg_simt_memory_new(bool wide) {
  kg_simt_memory *memory = calloc(1, sizeof *memory);
  if (memory && pthread_mutex_init(&memory->lock, NULL)) {
    free(memory);
    memory = NULL;
  }
  if (memory) memory->wide = wide;
  return memory;
}

void kg_simt_memory_free(kg_simt_memory *memory) {
  if (!memory) return;
  for (size_t i = 0; i < memory->count; i++)
    munmap(memory->blocks[i].around, memory->blocks[i].around_bytes);
  pthread_mutex_destroy(&memory->lock);
  free(memory->blocks);
  free(memory);
}

static bool record(kg_simt_memory *memory, const Block *block) {
  bool kept = true;
  pthread_mutex_lock(&memory->lock);
  if (memory->count == memory->room) {
    const size_t room = memory->room ? 2 * memory->room : 32;
    Block *blocks = realloc(memory->blocks, room * sizeof *blocks);
    if (blocks) memory->blocks = blocks, memory->room = room;
    kept = blocks != NULL;
  }
  if (kept) memory->blocks[memory->count++] = *block;
  pthread_mutex_unlock(&memory->lock);
  return kept;
}

static size_t before(const Block *block, size_t page) {
  const size_t slack = (size_t)(block->start - (block->pages + page));
  return slack < SLACK_CHECKED ? slack : SLACK_CHECKED;
}

static size_t behind(const Block *block, size_t page) {
  return (size_t)(block->pages + block->page_bytes - page - (block->start + block->bytes));
}

kg_status kg_simt_memory_take(kg_simt_memory *memory, size_t bytes, void **address,
                              kg_error *error) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (bytes > SIZE_MAX / 8)
    return kg_fail(error, KG_OUT_OF_MEMORY, "%zu bytes are more than this machine has", bytes);
  const size_t rounded = (bytes + 63) / 64 * 64, body = (rounded + page - 1) / page * page;
  Block block = {.page_bytes = body + 2 * page, .bytes = bytes};
  const size_t margin = memory->wide ? body + WIDE_LEAST : 0;
  block.around_bytes = block.page_bytes + 2 * margin;
  block.around =
      mmap(NULL, block.around_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block.around == MAP_FAILED)
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
  block.pages = block.around + margin;
  block.start = block.pages + page + body - rounded;
  bool made = body == 0 || mprotect(block.pages + page, body, PROT_READ | PROT_WRITE) == 0;
  if (made) { /* before another thread's check can see it */
    memset(block.start - before(&block, page), PATTERN, before(&block, page));
    memset(block.start + bytes, PATTERN, behind(&block, page));
    made = record(memory, &block);
  }
  if (!made) {
    munmap(block.around, block.around_bytes);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
  }
  *address = block.start;
  return KG_OK;
}

void kg_simt_memory_give(kg_simt_memory *memory, void *address) {
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count; i++)
    if (memory->blocks[i].start == address) {
      munmap(memory->blocks[i].around, memory->blocks[i].around_bytes);
      memory->blocks[i] = memory->blocks[--memory->count];
      break;
    }
  pthread_mutex_unlock(&memory->lock);
}

static bool spoiled(const char *at, size_t bytes, size_t *which) {
  for (size_t i = 0; i < bytes; i++)
    if ((unsigned char)at[i] != PATTERN) return *which = i, true;
  return false;
}

bool kg_simt_memory_check(kg_simt_memory *memory, char *text, size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  bool good = true;
  size_t at;
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count; i++) {
    const Block *block = &memory->blocks[i];
    const size_t front = before(block, page), back = behind(block, page);
    if (good && spoiled(block->start + block->bytes, back, &at)) {
      snprintf(text, bytes, "%zu bytes past the end of an allocation of %zu bytes", at,
               block->bytes);
      good = false;
    } else if (good && spoiled(block->start - front, front, &at)) {
      snprintf(text, bytes, "%zu bytes before an allocation of %zu bytes", front - at,
               block->bytes);
      good = false;
    } else
      continue;
    memset(block->start - front, PATTERN, front); /* said once */
    memset(block->start + block->bytes, PATTERN, back);
  }
  pthread_mutex_unlock(&memory->lock);
  return good;
}

bool kg_simt_memory_each(kg_simt_memory *memory,
                         bool (*each)(void *data, const void *start, size_t bytes), void *data) {
  bool good = true;
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count && good; i++)
    good = each(data, memory->blocks[i].start, memory->blocks[i].bytes);
  pthread_mutex_unlock(&memory->lock);
  return good;
}

bool kg_simt_memory_describe(kg_simt_memory *memory, const void *address, char *text,
                             size_t bytes) {
  const char *at = address;
  bool found = false;
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count && !found; i++) {
    const Block *block = &memory->blocks[i];
    if (at < block->around || at >= block->around + block->around_bytes) continue;
    found = true;
    if (at < block->start)
      snprintf(text, bytes, "%zu bytes before an allocation of %zu bytes",
               (size_t)(block->start - at), block->bytes);
    else
      snprintf(text, bytes, "%zu bytes past the end of an allocation of %zu bytes",
               (size_t)(at - block->start) - block->bytes, block->bytes);
  }
  pthread_mutex_unlock(&memory->lock);
  return found;
}

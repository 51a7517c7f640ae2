/* memory.c: the SIMT device's memory: each allocation ends at a guard page, so a kernel that
** runs past it stops there.
**
** Layout: guard page, slack, the bytes (aligned to 64), slack of under 64 bytes, guard page.
** The slack holds a pattern that is compared after each launch, which catches the few bytes
** that the pages cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simt.h"

#define PATTERN 0xa5
#define SLACK_CHECKED 256u /* bytes before an allocation, as far as its page reaches */

typedef struct Block {
  char *pages;
  size_t page_bytes;
  char *start;
  size_t bytes;
} Block;

struct kg_simt_memory {
  pthread_mutex_t lock;
  Block *blocks;
  size_t count, room;
};

kg_simt_memory *kg_simt_memory_new(void) {
  kg_simt_memory *memory = calloc(1, sizeof *memory);
  if (memory && pthread_mutex_init(&memory->lock, NULL)) {
    free(memory);
    memory = NULL;
  }
  return memory;
}

void kg_simt_memory_free(kg_simt_memory *memory) {
  if (!memory) return;
  for (size_t i = 0; i < memory->count; i++)
    munmap(memory->blocks[i].pages, memory->blocks[i].page_bytes);
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
  if (bytes > SIZE_MAX / 2)
    return kg_fail(error, KG_OUT_OF_MEMORY, "%zu bytes are more than this machine has", bytes);
  const size_t rounded = (bytes + 63) / 64 * 64, body = (rounded + page - 1) / page * page;
  Block block = {.page_bytes = body + 2 * page, .bytes = bytes};
  block.pages = mmap(NULL, block.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block.pages == MAP_FAILED)
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
  block.start = block.pages + page + body - rounded;
  if ((body && mprotect(block.pages + page, body, PROT_READ | PROT_WRITE)) ||
      !record(memory, &block)) {
    munmap(block.pages, block.page_bytes);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
  }
  memset(block.start - before(&block, page), PATTERN, before(&block, page));
  memset(block.start + bytes, PATTERN, behind(&block, page));
  *address = block.start;
  return KG_OK;
}

void kg_simt_memory_give(kg_simt_memory *memory, void *address) {
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->count; i++)
    if (memory->blocks[i].start == address) {
      munmap(memory->blocks[i].pages, memory->blocks[i].page_bytes);
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
    } else continue;
    memset(block->start - front, PATTERN, front); /* said once */
    memset(block->start + block->bytes, PATTERN, back);
  }
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
    if (at < block->pages || at >= block->pages + block->page_bytes) continue;
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

/* words.c: spellings, each once. */
#include <string.h>

#include "lint/source.h"

enum { SLOTS_FIRST = 4096 };

static uint32_t hash_of(const char *s, size_t len) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h;
}

static int *slot_of(const Project *p, const char *s, size_t len, uint32_t hash) {
  const uint32_t mask = (uint32_t)p->slot_count - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    const int w = p->slots[i];
    if (w < 0) return &p->slots[i];
    const Word *word = &p->words[w];
    if (word->hash == hash && word->len == (int)len && memcmp(word->s, s, len) == 0)
      return &p->slots[i];
  }
}

static void more_slots(Project *p, int count) {
  p->slots = arena_alloc(p->arena, (size_t)count * sizeof *p->slots);
  p->slot_count = count;
  memset(p->slots, -1, (size_t)count * sizeof *p->slots);
  for (int i = 0; i < p->word_count; i++) {
    const Word *w = &p->words[i];
    *slot_of(p, w->s, (size_t)w->len, w->hash) = i;
  }
}

/* s must outlive the project. */
int word_of(Project *p, const char *s, size_t len) {
  const uint32_t hash = hash_of(s, len);
  int *slot = slot_of(p, s, len, hash);
  if (*slot >= 0) return *slot;
  if (p->word_count * 2 >= p->slot_count) {
    more_slots(p, p->slot_count * 2);
    slot = slot_of(p, s, len, hash);
  }
  GROW(p->arena, p->words, p->word_count, p->word_room);
  p->words[p->word_count] = (Word){s, (int)len, hash, 0, -1, -1, -1, -1, -1, -1};
  return *slot = p->word_count++;
}

int word_find(const Project *p, const char *s) {
  return *slot_of(p, s, strlen(s), hash_of(s, strlen(s)));
}

const char *word_text(const Project *p, int word) {
  return word < 0 ? "" : arena_strndup(p->arena, p->words[word].s, (size_t)p->words[word].len);
}

Project *project_new(Arena *a) {
  static const char *const spelt[] = {
      "",
#define SPELT(name, spelling) spelling,
#include "lint/words.def"
#undef SPELT
  };
  Project *p = arena_alloc(a, sizeof *p);
  p->arena = a;
  more_slots(p, SLOTS_FIRST);
  for (int i = 0; i < W_COUNT; i++)
    if (word_of(p, spelt[i], strlen(spelt[i])) != i) die("words.def spells '%s' twice", spelt[i]);
  return p;
}

/* cache.h: the cache of the code objects that a device has loaded.  The whole key (model/key.h) is
** stored in the entry and compared on a hit.  A hash only finds the bucket. */
#ifndef KG_CACHE_H
#define KG_CACHE_H

#include "device.h"
#include "model/key.h"

/* A further level below the loaded objects: a directory, say.  Nothing in it can fail a launch:
** get answers false, put and drop do what they can.  get compares the whole key, and *blob is
** the caller's then.  Called by many threads at once. */
typedef struct kg_cache_level {
  void *self;
  bool (*get)(void *self, const kg_key *key, kg_blob *blob);
  void (*put)(void *self, const kg_key *key, const kg_blob *blob);
  void (*drop)(void *self, const kg_key *key); /* what it holds for the key does not load */
} kg_cache_level;

typedef struct kg_entry kg_entry;

struct kg_cache *kg_cache_new(void); /* NULL: no memory */
void kg_cache_free(struct kg_cache *cache);
/* Unloads all; no entry may be in use.  Waits for the device first. */
void kg_cache_clear(kg_device *device);

/* The loaded function of this instance, made at most once however many threads ask.  The entry
** is in use, and so neither evicted nor unloaded, until it is released; launches on it that are
** still running are waited for before it is unloaded. */
kg_status kg_cache_get(kg_device *device, const kg_instance *instance, const kg_port *port,
                       kg_entry **entry, kg_error *error);
kg_function *kg_entry_function(const kg_entry *entry);
void kg_cache_release(kg_device *device, kg_entry *entry);

kg_cache_stats kg_cache_stats_of(struct kg_cache *cache);

/* How many entries are kept, entries in use not counted in; 1024 at first. */
void kg_cache_set_limit(struct kg_cache *cache, size_t entries);
void kg_cache_set_level(struct kg_cache *cache,
                        const kg_cache_level *level); /* NULL: none.  Before the first launch */
void kg_cache_set_fields(struct kg_cache *cache,
                         unsigned fields); /* of its keys.  Before the first launch */

#endif

/* cache.h: the identity of a code object, and the cache of those that a device has loaded.
**
** A key is everything that the object was made from: instance name, instance block, port text,
** options, exact target, wavefront width, compiler.  Every field is length-prefixed, so no two
** different lists of fields give the same bytes; the whole key is stored in the entry and
** compared on a hit.  A hash only finds the bucket. */
#ifndef KG_CACHE_H
#define KG_CACHE_H

#include "device.h"
#include "model/instance.h"

typedef enum kg_key_field {
  KG_KEY_FORMAT, /* of this list: a change of it makes every older key another one */
  KG_KEY_NAME,
  KG_KEY_BLOCK,
  KG_KEY_TEXT,
  KG_KEY_TARGET,
  KG_KEY_WAVE,
  KG_KEY_COMPILER,
  KG_KEY_OPTIONS, /* their number, then each of them as a field of its own */
  KG_KEY_FIELDS
} kg_key_field;

enum { KG_KEY_ALL = (1 << KG_KEY_FIELDS) - 1, KG_MAX_OPTIONS = 32 };

/* A key points into its parts' owners and into itself: it must not be copied. */
typedef struct kg_key {
  int count, text; /* of parts; which of them is the text */
  struct {
    const char *bytes;
    size_t size;
  } part[KG_KEY_FIELDS + KG_MAX_OPTIONS];
  uint64_t bucket;   /* a hash of all but the text: its bytes would cost each launch the most */
  size_t flat_bytes;
  char name[KG_NAME_BYTES];
  char block[KG_BLOCK_BYTES];
  char wave[12], options[12];
} kg_key;

/* The key of an instance's port on a device; fields says which are taken (KG_KEY_ALL, but for
** tests of what a missing field does).  KG_TOO_LARGE, KG_BAD_DTYPE, KG_BAD_ARGUMENT. */
kg_status kg_key_make(kg_key *key, const kg_device *device, const kg_instance *instance,
                      const kg_port *port, unsigned fields, kg_error *error);

/* The flat form: for every part its length (8 bytes, little-endian), then its bytes.
** key->flat_bytes of them. */
void kg_key_flatten(const kg_key *key, char *flat);
bool kg_key_equals(const kg_key *key, const char *flat, size_t bytes);

/* XXH3, 128 bits, of the flat form: a name for files. */
void kg_key_hash(const kg_key *key, uint64_t hash[2]);

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

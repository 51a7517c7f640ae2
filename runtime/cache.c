/* cache.c: the loaded functions of a device, by the whole identity of their code object.
**
** An entry is made by the first thread that asks for it; others that ask meanwhile wait for that
** one.  A failure is theirs too and leaves nothing behind, so the next call tries again.
** Entries form one list in order of last use; the oldest of those that are idle goes when there
** are more than the limit.  The lock is never held while something is compiled, loaded, unloaded
** or waited for on the device. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

#ifdef KGEN_HOSTILE
enum { FIRST_BUCKETS = 1, FIRST_LIMIT = 1 };
#else
enum { FIRST_BUCKETS = 64, FIRST_LIMIT = 1024 };
#endif

typedef enum State { MAKING, READY, FAILED } State;

struct kg_entry {
  kg_entry *bucket_next;
  kg_entry *newer, *older; /* the list of last use; READY entries that no call uses */
  uint64_t hash;
  char *key;
  size_t key_bytes;
  State state;
  int uses; /* calls that hold it */
  kg_function *function;
  size_t code_bytes;
  kg_error error; /* FAILED */
};

struct kg_cache {
  pthread_mutex_t lock;
  pthread_cond_t made; /* an entry left MAKING */
  kg_entry **buckets;
  size_t bucket_count; /* a power of two */
  kg_entry *newest, *oldest;
  size_t idle; /* in that list */
  size_t limit;
  unsigned fields;
  const kg_cache_level *level;
  kg_cache_stats stats;
};

/* ---- life ----------------------------------------------------------------------------------- */

struct kg_cache *kg_cache_new(void) {
  struct kg_cache *const c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->buckets = calloc(FIRST_BUCKETS, sizeof(kg_entry *));
  if (!c->buckets) return free(c), NULL;
  if (pthread_mutex_init(&c->lock, NULL)) return free(c->buckets), free(c), NULL;
  if (pthread_cond_init(&c->made, NULL)) {
    pthread_mutex_destroy(&c->lock);
    return free(c->buckets), free(c), NULL;
  }
  c->bucket_count = FIRST_BUCKETS;
  c->limit = FIRST_LIMIT;
  c->fields = KG_KEY_ALL;
  return c;
}

static void entry_free(kg_entry *entry) {
  free(entry->key);
  free(entry);
}

void kg_cache_free(struct kg_cache *cache) {
  if (!cache) return;
  pthread_cond_destroy(&cache->made);
  pthread_mutex_destroy(&cache->lock);
  free(cache->buckets);
  free(cache);
}

/* Unloads entries that are in no list any more, linked by bucket_next. */
static void unload(kg_device *device, kg_entry *gone) {
  if (!gone) return;
  kg_error ignored; /* whatever the device says: the entries go */
  device->ops->synchronize(device, &ignored);
  for (kg_entry *next; gone; gone = next) {
    next = gone->bucket_next;
    device->ops->unload(device, gone->function);
    entry_free(gone);
  }
}

void kg_cache_clear(kg_device *device) {
  struct kg_cache *const c = device->cache;
  kg_entry *gone = NULL;
  pthread_mutex_lock(&c->lock);
  for (size_t b = 0; b < c->bucket_count; b++) {
    for (kg_entry *e = c->buckets[b], *next; e; e = next) {
      next = e->bucket_next;
      e->bucket_next = gone;
      gone = e;
    }
    c->buckets[b] = NULL;
  }
  c->newest = c->oldest = NULL;
  c->idle = 0;
  c->stats.entries = c->stats.bytes = 0;
  pthread_mutex_unlock(&c->lock);
  unload(device, gone);
}

/* ---- table and list, under the lock --------------------------------------------------------- */

static kg_entry **bucket(struct kg_cache *c, uint64_t hash) {
  return &c->buckets[hash & (c->bucket_count - 1)];
}

static kg_entry *find(struct kg_cache *c, const kg_key *key) {
  for (kg_entry *e = *bucket(c, key->bucket); e; e = e->bucket_next) {
    if (e->hash == key->bucket && kg_key_equals(key, e->key, e->key_bytes)) return e;
  }
  return NULL;
}

/* Twice the buckets when they are full on average.  Without memory for it chains just grow. */
static void grow(struct kg_cache *c) {
  if (c->stats.entries < c->bucket_count) return;
  kg_entry **const old = c->buckets;
  const size_t old_count = c->bucket_count;
  kg_entry **const wider = calloc(2 * old_count, sizeof(kg_entry *));
  if (!wider) return;
  c->buckets = wider;
  c->bucket_count = 2 * old_count;
  for (size_t b = 0; b < old_count; b++) {
    for (kg_entry *e = old[b], *next; e; e = next) {
      next = e->bucket_next;
      kg_entry **const to = bucket(c, e->hash);
      e->bucket_next = *to;
      *to = e;
    }
  }
  free(old);
}

static void insert(struct kg_cache *c, kg_entry *entry) {
  grow(c);
  kg_entry **const b = bucket(c, entry->hash);
  entry->bucket_next = *b;
  *b = entry;
  c->stats.entries++;
  c->stats.bytes += entry->key_bytes;
}

static void take_out(struct kg_cache *c, kg_entry *entry) {
  kg_entry **at = bucket(c, entry->hash);
  while (*at != entry) at = &(*at)->bucket_next;
  *at = entry->bucket_next;
  entry->bucket_next = NULL;
  c->stats.entries--;
  c->stats.bytes -= entry->key_bytes + entry->code_bytes;
}

static void list_remove(struct kg_cache *c, kg_entry *entry) {
  *(entry->newer ? &entry->newer->older : &c->newest) = entry->older;
  *(entry->older ? &entry->older->newer : &c->oldest) = entry->newer;
  entry->newer = entry->older = NULL;
  c->idle--;
}

static void list_put(struct kg_cache *c, kg_entry *entry) {
  entry->older = c->newest;
  entry->newer = NULL;
  *(c->newest ? &c->newest->newer : &c->oldest) = entry;
  c->newest = entry;
  c->idle++;
}

/* The idle entries over the limit, oldest first, out of table and list. */
static kg_entry *evict(struct kg_cache *c) {
  kg_entry *gone = NULL;
  while (c->idle > c->limit) {
    kg_entry *const entry = c->oldest;
    list_remove(c, entry);
    take_out(c, entry);
    entry->bucket_next = gone;
    gone = entry;
  }
  return gone;
}

/* ---- making an entry ------------------------------------------------------------------------ */

static kg_status compile(kg_device *device, const kg_instance *instance, const kg_port *port,
                         const char *name, kg_blob *blob, kg_error *error) {
  char *text;
  size_t bytes;
  kg_status status = kg_instance_text(instance, port, &text, &bytes, error);
  if (status) return status;
  const kg_source source = {.kernel = instance->kernel->name,
                            .entry = name,
                            .text = text,
                            .file = port->file,
                            .options = port->options,
                            .wave = instance->wave,
                            .native = port->native};
  status = device->ops->compile(device, &source, blob, error);
  free(text);
  return status;
}

/* From the level below or from the compiler to a loaded function.  An object from below that
** does not load is dropped there and compiled once more. */
static kg_status make(kg_device *device, const kg_instance *instance, const kg_port *port,
                      const kg_key *key, kg_entry *entry, kg_error *error) {
  const kg_cache_level *const level = device->cache->level;
  kg_blob blob = {NULL, 0};
  if (level && level->get(level->self, key, &blob)) {
    const kg_status status = device->ops->load(device, &blob, key->name, &entry->function, error);
    if (!status) entry->code_bytes = blob.size;
    free(blob.bytes);
    if (!status) return KG_OK;
    level->drop(level->self, key);
    blob = (kg_blob){NULL, 0};
  }
  kg_status status = compile(device, instance, port, key->name, &blob, error);
  if (!status) status = device->ops->load(device, &blob, key->name, &entry->function, error);
  if (!status) {
    entry->code_bytes = blob.size;
    if (level) level->put(level->self, key, &blob);
  }
  free(blob.bytes);
  return status;
}

static kg_entry *entry_new(const kg_key *key) {
  kg_entry *const entry = calloc(1, sizeof *entry);
  if (!entry) return NULL;
  entry->key = malloc(key->flat_bytes ? key->flat_bytes : 1);
  if (!entry->key) return free(entry), NULL;
  kg_key_flatten(key, entry->key);
  entry->key_bytes = key->flat_bytes;
  entry->hash = key->bucket;
  entry->state = MAKING;
  entry->uses = 1;
  return entry;
}

/* Waits, under the lock, for another thread's entry. */
static kg_status await(struct kg_cache *c, kg_entry *entry, kg_error *error) {
  while (entry->state == MAKING) pthread_cond_wait(&c->made, &c->lock);
  if (entry->state == READY) return KG_OK;
  const kg_status status = kg_fail(error, entry->error.status, "%s", entry->error.message);
  if (--entry->uses == 0)
    entry_free(entry); /* a failed one is in no table: the last user frees it */
  return status;
}

static kg_status make_and_publish(kg_device *device, const kg_instance *instance,
                                  const kg_port *port, const kg_key *key, kg_entry *entry,
                                  kg_error *error) {
  struct kg_cache *const c = device->cache;
  kg_error why = {.status = KG_OK, .message = ""};
  const kg_status status = make(device, instance, port, key, entry, &why);
  pthread_mutex_lock(&c->lock);
  if (!status) {
    entry->state = READY;
    c->stats.bytes += entry->code_bytes;
  } else {
    entry->state = FAILED;
    entry->error = why;
    entry->error.status = status;
    take_out(c, entry);
    if (--entry->uses == 0) entry_free(entry);
  }
  pthread_cond_broadcast(&c->made);
  pthread_mutex_unlock(&c->lock);
  return status ? kg_fail(error, status, "%s", why.message) : KG_OK;
}

/* ---- the interface -------------------------------------------------------------------------- */

kg_status kg_cache_get(kg_device *device, const kg_instance *instance, const kg_port *port,
                       kg_entry **entry, kg_error *error) {
  struct kg_cache *const c = device->cache;
  *entry = NULL;
  kg_key key;
  kg_status status =
      kg_key_make(&key, device->target, device->compiler, instance, port, c->fields, error);
  if (status) return status;

  pthread_mutex_lock(&c->lock);
  kg_entry *e = find(c, &key);
  if (e) {
    c->stats.hits++;
    if (e->state == READY && e->uses == 0) list_remove(c, e);
    e->uses++;
    status = await(c, e, error);
    pthread_mutex_unlock(&c->lock);
    *entry = status ? NULL : e;
    return status;
  }
  c->stats.misses++;
  e = entry_new(&key);
  if (e) insert(c, e);
  pthread_mutex_unlock(&c->lock);
  if (!e) {
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for an entry of the cache",
                   instance->kernel->name);
  }
  status = make_and_publish(device, instance, port, &key, e, error);
  *entry = status ? NULL : e;
  return status;
}

kg_function *kg_entry_function(const kg_entry *entry) { return entry->function; }

void kg_cache_release(kg_device *device, kg_entry *entry) {
  struct kg_cache *const c = device->cache;
  kg_entry *gone = NULL;
  pthread_mutex_lock(&c->lock);
  if (--entry->uses == 0) {
    list_put(c, entry);
    gone = evict(c);
  }
  pthread_mutex_unlock(&c->lock);
  unload(device, gone);
}

kg_cache_stats kg_cache_stats_of(struct kg_cache *cache) {
  pthread_mutex_lock(&cache->lock);
  const kg_cache_stats stats = cache->stats;
  pthread_mutex_unlock(&cache->lock);
  return stats;
}

void kg_cache_set_limit(struct kg_cache *cache, size_t entries) {
  pthread_mutex_lock(&cache->lock);
  cache->limit = entries;
  pthread_mutex_unlock(&cache->lock);
}

void kg_cache_set_level(struct kg_cache *cache, const kg_cache_level *level) {
  cache->level = level;
}
void kg_cache_set_fields(struct kg_cache *cache, unsigned fields) { cache->fields = fields; }

/* key.c: what identifies a code object, as a list of length-prefixed fields. */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kg.h"
#include "model/key.h"

static const char format[] = "kgen 1";

/* Lengths are little-endian whatever the machine, since keys may be written to files. */
static void put_length(char out[8], size_t size) {
  for (int i = 0; i < 8; i++) out[i] = (char)((uint64_t)size >> (8 * i) & 0xff);
}

static void add(kg_key *key, unsigned fields, kg_key_field field, const char *bytes, size_t size) {
  if (!(fields >> field & 1)) return;
  if (field == KG_KEY_TEXT) key->text = key->count;
  key->part[key->count].bytes = bytes;
  key->part[key->count++].size = size;
  key->flat_bytes += 8 + size;
}

static XXH128_hash_t hash(const kg_key *key, bool with_text) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (int i = 0; i < key->count; i++) {
    char length[8];
    put_length(length, key->part[i].size);
    XXH3_128bits_update(&state, length, sizeof length);
    if (with_text || i != key->text)
      XXH3_128bits_update(&state, key->part[i].bytes, key->part[i].size);
  }
  return XXH3_128bits_digest(&state);
}

void kg_key_hash(const kg_key *key, uint64_t out[2]) {
  const XXH128_hash_t h = hash(key, true);
  out[0] = h.low64;
  out[1] = h.high64;
}

kg_status kg_key_make(kg_key *key, const char *target, const char *compiler,
                      const kg_instance *instance, const kg_port *port, unsigned fields,
                      kg_error *error) {
  int options = 0;
  while (port->options && port->options[options]) {
    if (++options > KG_MAX_OPTIONS) {
      return kg_fail(error, KG_TOO_LARGE, "%s: its %s port has more than %d compiler options",
                     instance->kernel->name, port->backend, KG_MAX_OPTIONS);
    }
  }
  size_t block_bytes;
  kg_status status = kg_instance_name(instance, key->name, error);
  if (!status)
    status = kg_instance_block(instance, port, key->name, key->block, &block_bytes, error);
  if (status) return status;
  snprintf(key->wave, sizeof key->wave, "%d", instance->wave);
  snprintf(key->options, sizeof key->options, "%d", options);

  key->count = 0;
  key->text = -1;
  key->flat_bytes = 0;
  add(key, fields, KG_KEY_FORMAT, format, sizeof format - 1);
  add(key, fields, KG_KEY_NAME, key->name, strlen(key->name));
  add(key, fields, KG_KEY_BLOCK, key->block, block_bytes);
  add(key, fields, KG_KEY_TEXT, port->text, strlen(port->text));
  add(key, fields, KG_KEY_TARGET, target, strlen(target));
  add(key, fields, KG_KEY_WAVE, key->wave, strlen(key->wave));
  add(key, fields, KG_KEY_COMPILER, compiler, strlen(compiler));
  add(key, fields, KG_KEY_OPTIONS, key->options, strlen(key->options));
  for (int i = 0; i < options; i++)
    add(key, fields, KG_KEY_OPTIONS, port->options[i], strlen(port->options[i]));
  key->bucket = hash(key, false).low64;
  return KG_OK;
}

void kg_key_flatten(const kg_key *key, char *flat) {
  for (int i = 0; i < key->count; i++) {
    put_length(flat, key->part[i].size);
    if (key->part[i].size) memcpy(flat + 8, key->part[i].bytes, key->part[i].size);
    flat += 8 + key->part[i].size;
  }
}

bool kg_key_equals(const kg_key *key, const char *flat, size_t bytes) {
  if (key->flat_bytes != bytes) return false; /* and so no read below passes the end */
  size_t at = 0;
  for (int i = 0; i < key->count; i++) {
    char length[8];
    put_length(length, key->part[i].size);
    if (memcmp(flat + at, length, 8) != 0) return false;
    if (memcmp(flat + at + 8, key->part[i].bytes, key->part[i].size) != 0) return false;
    at += 8 + key->part[i].size;
  }
  return at == bytes;
}

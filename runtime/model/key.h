/* key.h: the identity of a code object.
**
** A key is everything that the object was made from: instance name, instance block, port text,
** options, exact target, wavefront width, compiler.  Every field is length-prefixed, so no two
** different lists of fields give the same bytes. */
#ifndef KG_MODEL_KEY_H
#define KG_MODEL_KEY_H

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
  uint64_t bucket; /* a hash of all but the text: its bytes would cost each launch the most */
  size_t flat_bytes;
  char name[KG_NAME_BYTES];
  char block[KG_BLOCK_BYTES];
  char wave[12], options[12];
} kg_key;

/* The key of an instance's port for an exact target by a compiler; fields says which are taken
** (KG_KEY_ALL, but for tests of what a missing field does).  KG_TOO_LARGE, KG_BAD_DTYPE, KG_BAD_ARGUMENT. */
kg_status kg_key_make(kg_key *key, const char *target, const char *compiler,
                      const kg_instance *instance, const kg_port *port, unsigned fields,
                      kg_error *error);

/* The flat form: for every part its length (8 bytes, little-endian), then its bytes.
** key->flat_bytes of them. */
void kg_key_flatten(const kg_key *key, char *flat);
bool kg_key_equals(const kg_key *key, const char *flat, size_t bytes);

/* XXH3, 128 bits, of the flat form: a name for files. */
void kg_key_hash(const kg_key *key, uint64_t hash[2]);

#endif

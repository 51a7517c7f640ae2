/* device.c: the life of a device, whatever its kind, and the last message of each thread on it.
**
** Messages hang on a thread-specific key that the device owns: one a thread, freed when the
** thread ends or the device is closed.  So there is no global state, and two threads never read
** each other's sentence.  A device must not be closed while another thread is in a call on it,
** or is just ending after one: join first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "device.h"

/* ---- messages ------------------------------------------------------------------------------- */

typedef struct Message {
  struct kg_messages *owner;
  struct Message *next, *previous;
  char text[sizeof((kg_error *)0)->message];
} Message;

struct kg_messages {
  pthread_key_t key;
  pthread_mutex_t lock; /* of the list */
  Message head;         /* of a ring, so that a thread that ends can unlink its own */
};

static void unlink_message(Message *message) {
  message->previous->next = message->next;
  message->next->previous = message->previous;
}

static void thread_ends(void *value) {
  Message *const message = value;
  struct kg_messages *const owner = message->owner;
  pthread_mutex_lock(&owner->lock);
  unlink_message(message);
  pthread_mutex_unlock(&owner->lock);
  free(message);
}

static struct kg_messages *messages_new(void) {
  struct kg_messages *const messages = calloc(1, sizeof *messages);
  if (!messages) return NULL;
  messages->head.next = messages->head.previous = &messages->head;
  if (pthread_key_create(&messages->key, thread_ends)) return free(messages), NULL;
  if (pthread_mutex_init(&messages->lock, NULL)) {
    pthread_key_delete(messages->key);
    return free(messages), NULL;
  }
  return messages;
}

static void messages_free(struct kg_messages *messages) {
  if (!messages) return;
  pthread_key_delete(messages->key); /* from here on no thread's end calls thread_ends */
  for (Message *m = messages->head.next, *next; m != &messages->head; m = next) {
    next = m->next;
    free(m);
  }
  pthread_mutex_destroy(&messages->lock);
  free(messages);
}

/* This thread's message, made on its first failure; NULL when there is no memory for one. */
static Message *message_of_thread(struct kg_messages *messages) {
  Message *message = pthread_getspecific(messages->key);
  if (message) return message;
  message = calloc(1, sizeof *message);
  if (!message) return NULL;
  if (pthread_setspecific(messages->key, message)) return free(message), NULL;
  message->owner = messages;
  pthread_mutex_lock(&messages->lock);
  message->previous = &messages->head;
  message->next = messages->head.next;
  message->next->previous = message;
  messages->head.next = message;
  pthread_mutex_unlock(&messages->lock);
  return message;
}

kg_status kg_device_report(const kg_device *device, const kg_error *error) {
  Message *const message = message_of_thread(device->messages);
  if (message) memcpy(message->text, error->message, strlen(error->message) + 1);
  return error->status;
}

const char *kg_device_message(const kg_device *device) {
  const Message *const message = device ? pthread_getspecific(device->messages->key) : NULL;
  return message ? message->text : "";
}

/* ---- open and close ------------------------------------------------------------------------- */

static void release(kg_device *device) {
  kg_cache_free(device->cache);
  messages_free(device->messages);
  free(device);
}

kg_status kg_device_open_with(const kg_device_ops *ops, const char *name, int index,
                              const char *mode, kg_device **device, kg_error *error) {
  *device = NULL;
  kg_device *const d = calloc(1, sizeof *d);
  if (!d) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a device");
  d->ops = ops;
  snprintf(d->name, sizeof d->name, "%s", name);
  d->messages = messages_new();
  d->cache = kg_cache_new();
  if (!d->messages || !d->cache) {
    release(d);
    return kg_fail(error, KG_OUT_OF_MEMORY,
                   "%s: no memory, or no thread-specific key, for a device", name);
  }
  const kg_status status = ops->open(d, index, mode, error);
  if (status) {
    release(d);
    return status;
  }
  *device = d;
  return KG_OK;
}

void kg_device_close(kg_device *device) {
  if (!device) return;
  kg_cache_clear(device);
  device->ops->close(device);
  release(device);
}

/* ---- what it is ----------------------------------------------------------------------------- */

const char *kg_device_name(const kg_device *device) { return device ? device->name : ""; }
const char *kg_device_backend(const kg_device *device) {
  return device ? device->ops->backend : "";
}
const char *kg_device_target(const kg_device *device) { return device ? device->target : ""; }
int kg_device_wave(const kg_device *device) { return device ? device->wave : 0; }

/* ---- memory --------------------------------------------------------------------------------- */

/* A call that failed, with its sentence kept for the thread. */
static kg_status keep(const kg_device *device, kg_status status, const kg_error *error) {
  return status ? kg_device_report(device, error) : KG_OK;
}

static kg_status null_argument(const kg_device *device, const char *call, const char *what) {
  kg_error error;
  kg_fail(&error, KG_BAD_ARGUMENT, "%s: %s is a null pointer", call, what);
  return kg_device_report(device, &error);
}

kg_status kg_device_alloc(kg_device *device, size_t bytes, void **address) {
  if (!device) return KG_BAD_ARGUMENT;
  if (!address) return null_argument(device, "kg_device_alloc", "address");
  *address = NULL;
  kg_error error = {0};
  /* An empty tensor has an address too, so that callers need no case for it. */
  return keep(device, device->ops->alloc(device, bytes ? bytes : 1, address, &error), &error);
}

void kg_device_free(kg_device *device, void *address) {
  if (device && address) device->ops->free(device, address);
}

kg_status kg_device_upload(kg_device *device, void *to, const void *from_host, size_t bytes) {
  if (!device) return KG_BAD_ARGUMENT;
  if (bytes == 0) return KG_OK;
  if (!to) return null_argument(device, "kg_device_upload", "to");
  if (!from_host) return null_argument(device, "kg_device_upload", "from_host");
  kg_error error = {0};
  return keep(device, device->ops->upload(device, to, from_host, bytes, &error), &error);
}

kg_status kg_device_download(kg_device *device, void *to_host, const void *from, size_t bytes) {
  if (!device) return KG_BAD_ARGUMENT;
  if (bytes == 0) return KG_OK;
  if (!to_host) return null_argument(device, "kg_device_download", "to_host");
  if (!from) return null_argument(device, "kg_device_download", "from");
  kg_error error = {0};
  return keep(device, device->ops->download(device, to_host, from, bytes, &error), &error);
}

kg_status kg_device_synchronize(kg_device *device) {
  if (!device) return KG_BAD_ARGUMENT;
  kg_error error = {0};
  return keep(device, device->ops->synchronize(device, &error), &error);
}

kg_cache_stats kg_device_cache_stats(const kg_device *device) {
  return device ? kg_cache_stats_of(device->cache) : (kg_cache_stats){0, 0, 0, 0};
}

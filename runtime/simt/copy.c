/* copy.c: a compiled text, loaded.
**
** A text's shared arrays and its lane pointer are plain variables of the object, so each thread
** that runs groups of it has a loaded copy of its own.  The dynamic linker knows an object by
** its path and its inode: a copy is a file with a name that no other copy has, and the file is
** gone as soon as it is loaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "sanitize.h"

/* A new file in the folder, with a path that no copy of this process has had.  -1: errno. */
static int new_file(const char *folder, char *path, size_t bytes) {
  static atomic_ullong copies;
  const unsigned long long number = atomic_fetch_add(&copies, 1);
  if ((size_t)snprintf(path, bytes, "%s/kg-simt-%llu-XXXXXX", folder, number) >= bytes)
    return errno = ENAMETOOLONG, -1;
  return mkostemp(path, O_CLOEXEC);
}

static void *load_from(const char *folder, const kg_function *function, char *why, size_t bytes) {
  char path[1024];
  const int fd = new_file(folder, path, sizeof path);
  if (fd < 0) return snprintf(why, bytes, "%s: %s", folder, strerror(errno)), NULL;
  void *library = NULL;
  if (!kg_write_all(fd, function->bytes, function->size))
    snprintf(why, bytes, "%.400s: %s", path, strerror(errno));
  else if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
    const char *words = dlerror();
    snprintf(why, bytes, "%.700s", words ? words : path);
  }
  close(fd);
  unlink(path);
  return library;
}

/* The last resort, where no folder may hold programs.  The descriptor stays open as long as the
** process lives: its number is the copy's path, which must not come again. */
static void *load_from_memory(const kg_function *function, char *why, size_t bytes) {
  const int fd = kg_memory_file("kg-simt-copy");
  char path[64];
  if (fd < 0) return NULL;
  if (!kg_descriptor_path(fd, path, sizeof path)) return close(fd), NULL;
  void *library = NULL;
  if (kg_write_all(fd, function->bytes, function->size))
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *words = dlerror();
    snprintf(why, bytes, "%.700s", words ? words : path);
    close(fd);
  }
  return library;
}

static void *load(const kg_function *function, char *why, size_t bytes) {
  const char *chosen = getenv("TMPDIR");
  const char *const folders[] = {chosen && *chosen ? chosen : "/tmp", "/dev/shm", "/var/tmp"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    void *library = load_from(folders[i], function, why, bytes);
    if (library) return library;
  }
  return load_from_memory(function, why, bytes);
}

static kg_status new_copy(const kg_function *function, kg_simt_copy **made, kg_error *error) {
  char why[768] = "";
  kg_simt_copy *copy = calloc(1, sizeof *copy);
  if (!copy) return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for a copy of %s", function->entry);
  copy->library = load(function, why, sizeof why);
  if (copy->library) copy->text = dlsym(copy->library, "kg_simt_text");
  Dl_info place; /* the object begins at its address 0 */
  if (copy->text && dladdr(copy->text, &place)) copy->base = place.dli_fbase;
  if (!copy->base) {
    if (copy->library) dlclose(copy->library);
    free(copy);
    return kg_fail(error, KG_DEVICE_FAILED, "the object of %s cannot be loaded: %s",
                   function->entry, *why ? why : "it is not one of the SIMT device's");
  }
  *made = copy;
  return KG_OK;
}

static void free_copy(kg_simt_copy *copy) {
  dlclose(copy->library);
  free(copy);
}

kg_status kg_simt_copy_take(kg_function *function, kg_simt_copy **copy, kg_error *error) {
  pthread_mutex_lock(&function->lock);
  *copy = function->idle;
  if (*copy) function->idle = (*copy)->next;
  pthread_mutex_unlock(&function->lock);
  return *copy ? KG_OK : new_copy(function, copy, error);
}

void kg_simt_copy_give(kg_function *function, kg_simt_copy *copy) {
  pthread_mutex_lock(&function->lock);
  copy->next = function->idle;
  function->idle = copy;
  pthread_mutex_unlock(&function->lock);
}

/* ---- what a checked text has more ------------------------------------------------------------ */

/* Gaps between the shared arrays are not of the kernel. */
static bool read_arrays(kg_function *f, const kg_simt_copy *copy) {
  const kg_simt_text_type *text = copy->text;
  f->image_bytes = kg_simt_image_bytes(f->bytes, f->size);
  f->shared_bytes = 0;
  if (!text->shared) return true;
  const uint64_t from = (uint64_t)((const char *)text->shared - copy->base);
  const uint64_t to = (uint64_t)((const char *)text->shared_end - copy->base);
  if (!kg_simt_arrays(f->bytes, f->size, from, to, &f->arrays, &f->array_count)) return false;
  for (size_t i = 0; i < f->array_count; i++) f->shared_bytes += (size_t)f->arrays[i].bytes;
  return true;
}

/* ---- the function ---------------------------------------------------------------------------- */

static kg_status load_object(kg_simt_device *device, const kg_blob *blob, const char *entry,
                             bool watched, kg_function **function, kg_error *error) {
  kg_function *f = calloc(1, sizeof *f);
  unsigned char *bytes = malloc(blob->size ? blob->size : 1);
  if (!f || !bytes || pthread_mutex_init(&f->lock, NULL)) {
    free(bytes);
    free(f);
    return kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %s", entry);
  }
  memcpy(bytes, blob->bytes, blob->size);
  f->device = device, f->bytes = bytes, f->size = blob->size;
  snprintf(f->entry, sizeof f->entry, "%s", entry);
  kg_simt_copy *copy;
  kg_status status = new_copy(f, &copy, error);
  if (status == KG_OK) {
    const kg_simt_text_type *text = copy->text;
    f->idle = copy;
    snprintf(f->kernel, sizeof f->kernel, "%s", text->kernel);
    f->wave = text->wave, f->argument_bytes = text->argument_bytes;
    f->shared_bytes = text->shared ? (size_t)(text->shared_end - text->shared) : 0;
    if (watched && !read_arrays(f, copy))
      status = kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %s", entry);
    else if (strcmp(text->entry, entry) != 0)
      status = kg_fail(error, KG_BAD_ARGUMENT, "the object has the entry %s, not %s", text->entry,
                       entry);
    else if ((int)text->wave != device->wave)
      status = kg_fail(error, KG_BAD_WIDTH, "%s: the object is for %u lanes and the device has %d",
                       entry, text->wave, device->wave);
    else if (f->shared_bytes > device->limits.shared_bytes)
      status =
          kg_fail(error, KG_LIMIT, "%s: its shared arrays take %zu bytes and the device has %u",
                  entry, f->shared_bytes, device->limits.shared_bytes);
  }
  if (status) {
    kg_simt_function_free(f);
    return status;
  }
  *function = f;
  return KG_OK;
}

kg_status kg_simt_function_load(kg_simt_device *device, const kg_blob *blob, const char *entry,
                                kg_function **function, kg_error *error) {
  kg_simt_twin_objects of;
  kg_function *f;
  if (!device->checked) return load_object(device, blob, entry, false, function, error);
  if (!kg_simt_twins(blob, &of))
    return kg_fail(error, KG_DEVICE_FAILED,
                   "the object of %s cannot be loaded: it is not one of a checking SIMT device's",
                   entry);
  kg_status status = load_object(device, &of.first, entry, true, &f, error);
  if (status) return status;
  status = load_object(device, &of.second, entry, false, &f->twin, error);
  if (status == KG_OK && !kg_simt_coverage_open(f->twin, of.text, of.first_line))
    status = kg_fail(error, KG_OUT_OF_MEMORY, "no memory for %s", entry);
  if (status) {
    kg_simt_function_free(f);
    return status;
  }
  f->twin->is_twin = true;
  *function = f;
  return KG_OK;
}

void kg_simt_function_free(kg_function *function) {
  if (!function) return;
  kg_simt_function_free(function->twin);
  for (kg_simt_copy *copy = function->idle, *next; copy; copy = next) {
    next = copy->next;
    free_copy(copy);
  }
  kg_simt_coverage_close(function);
  kg_simt_lines_close(function->lines);
  pthread_mutex_destroy(&function->lock);
  free(function->arrays);
  free(function->bytes);
  free(function);
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct Question {
  kg_function *function;
  uint64_t offset;
  kg_simt_frame *frames;
  size_t room, count;
} Question;

static void answer(void *data) {
  Question *q = data;
  kg_function *f = q->function;
  pthread_mutex_lock(&f->lock);
  if (!f->lines && !f->no_lines) {
    f->lines = kg_simt_lines_open(f->bytes, f->size);
    f->no_lines = !f->lines;
  }
  if (f->lines) q->count = kg_simt_lines_frames(f->lines, q->offset, q->frames, q->room);
  pthread_mutex_unlock(&f->lock);
}

size_t kg_simt_frames_at(kg_simt_context *context, const void *address, kg_simt_frame *frames,
                         size_t room) {
  Question question = {.function = context->function,
                       .offset = (uint64_t)((const char *)address - context->copy->base),
                       .frames = frames,
                       .room = room};
  kg_simt_aside(context, answer, &question); /* libdw wants more stack than a lane has */
  return question.count;
}

void kg_simt_where(kg_simt_context *context, const void *address, char *text, size_t bytes) {
  kg_simt_frame frame;
  if (kg_simt_frames_at(context, address, &frame, 1) == 1)
    snprintf(text, bytes, "%s:%u", frame.path, frame.line);
  else
    snprintf(text, bytes, "an unknown place");
}

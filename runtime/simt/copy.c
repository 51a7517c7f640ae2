/* copy.c: a compiled text, loaded.
**
** A text's shared arrays and its lane pointer are plain variables of the object, so each thread
** that runs groups of it has a loaded copy of its own.  The dynamic linker knows an object by
** its path and its inode: a copy is a file with a name that no other copy has, and the file is
** gone as soon as it is loaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sanitize.h"

static bool write_all(int fd, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written, size -= (size_t)written;
  }
  return true;
}

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
  if (!write_all(fd, function->bytes, function->size))
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
  const int fd = memfd_create("kg-simt-copy", MFD_CLOEXEC);
  if (fd < 0) return NULL;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  void *library =
      write_all(fd, function->bytes, function->size) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
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
  struct link_map *map;
  if (copy->library && dlinfo(copy->library, RTLD_DI_LINKMAP, &map) == 0) {
    copy->base = (const char *)(uintptr_t)map->l_addr;
    copy->text = dlsym(copy->library, "kg_simt_text");
  }
  if (!copy->text) {
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

kg_status kg_simt_function_load(kg_simt_device *device, const kg_blob *blob, const char *entry,
                                kg_function **function, kg_error *error) {
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
    if (device->checked && !read_arrays(f, copy))
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

void kg_simt_function_free(kg_function *function) {
  if (!function) return;
  for (kg_simt_copy *copy = function->idle, *next; copy; copy = next) {
    next = copy->next;
    free_copy(copy);
  }
  kg_simt_lines_free(function->lines);
  pthread_mutex_destroy(&function->lock);
  free(function->arrays);
  free(function->bytes);
  free(function);
}

/* The line table, read at the first question; NULL: none. */
static const kg_simt_lines *lines_of(kg_function *function) {
  pthread_mutex_lock(&function->lock);
  if (!function->lines && !function->no_lines) {
    function->lines = kg_simt_lines_read(function->bytes, function->size);
    function->no_lines = !function->lines;
  }
  const kg_simt_lines *lines = function->lines;
  pthread_mutex_unlock(&function->lock);
  return lines;
}

size_t kg_simt_frames_at(kg_function *function, const kg_simt_copy *copy, const void *address,
                         kg_simt_frame *frames, size_t room) {
  const kg_simt_lines *lines = lines_of(function);
  if (!lines) return 0;
  return kg_simt_lines_frames(lines, (uint64_t)((const char *)address - copy->base), frames, room);
}

void kg_simt_where(kg_function *function, const kg_simt_copy *copy, const void *address, char *text,
                   size_t bytes) {
  const char *folder, *file;
  unsigned line;
  const kg_simt_lines *lines = lines_of(function);
  if (lines && kg_simt_lines_find(lines, (uint64_t)((const char *)address - copy->base), &folder,
                                  &file, &line))
    snprintf(text, bytes, "%s%s%s:%u", folder, *folder ? "/" : "", file, line);
  else snprintf(text, bytes, "an unknown place");
}

/* paths.c: paths as a specification's reader sees them, and as this process opens them.  See
** library.h. */
#include <string.h>

#include "spec/spec.h"

const char *path_from_spec(const Spec *s, const char *path) {
  const size_t len = strlen(s->folder);
  return len && strncmp(path, s->folder, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

const char *path_opened(Arena *a, const Spec *s, const char *path) {
  return s->folder[0] && path[0] != '/' ? arena_printf(a, "%s/%s", s->folder, path) : path;
}

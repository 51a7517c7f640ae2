/* backend.c: reads the backends, which are data: one templates/<name>.lua each, a chunk that
** returns a table.
**
** A table has the fields of Backend (spec.h); templates/hip.lua explains each of them and its
** holes.  A missing or ill-typed field is a fault of that file, reported by its name; nothing in C
** knows one backend from another. */
#include "spec/spec.h"

#include <dirent.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader { Arena *a; lua_State *L; Diags *d; const char *file; } Reader;

static void fault(Reader *r, const char *format, ...) {
  va_list args;
  char text[512];
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_add(r->d, (Place){r->file, 0, 0}, D_BACKEND, text);
}

/* The functions below read a field of the table on the top of the stack and leave the stack as it
** was. */

static const char *string_field(Reader *r, const char *name, bool needed) {
  const int type = lua_getfield(r->L, -1, name);
  const char *s = type == LUA_TSTRING ? arena_strdup(r->a, lua_tostring(r->L, -1)) : NULL;
  if (s == NULL && (needed || type != LUA_TNIL)) fault(r, "field '%s' must be a string", name);
  lua_pop(r->L, 1);
  return s;
}

static uint64_t count_field(Reader *r, const char *name) {
  const int type = lua_getfield(r->L, -1, name);
  const lua_Integer n = lua_tointeger(r->L, -1);
  if (type != LUA_TNIL && (!lua_isinteger(r->L, -1) || n < 1))
    fault(r, "field '%s' must be a positive integer", name);
  lua_pop(r->L, 1);
  return n > 0 ? (uint64_t)n : 0;
}

/* An array of strings; NULL when it is not there. */
static const char **list_field(Reader *r, const char *name, int *count) {
  const char **list = NULL;
  *count = 0;
  if (lua_getfield(r->L, -1, name) == LUA_TTABLE) {
    const int n = (int)lua_rawlen(r->L, -1);
    list = arena_alloc(r->a, ((size_t)n + 1) * sizeof *list);
    for (int i = 0; i < n; i++, lua_pop(r->L, 1)) {
      if (lua_rawgeti(r->L, -1, i + 1) == LUA_TSTRING)
        list[(*count)++] = arena_strdup(r->a, lua_tostring(r->L, -1));
      else fault(r, "entry %d of '%s' must be a string", i + 1, name);
    }
  } else {
    fault(r, "field '%s' must be a list of strings", name);
  }
  lua_pop(r->L, 1);
  return list;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const Pair *)a)->name, ((const Pair *)b)->name);
}

/* A table name = text, sorted by name: Lua's own order differs from run to run. */
static Pair *map_field(Reader *r, const char *name, int *count) {
  Pair *pairs = NULL;
  *count = 0;
  if (lua_getfield(r->L, -1, name) == LUA_TTABLE) {
    int n = 0;
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) n++;
    pairs = arena_alloc(r->a, ((size_t)n + 1) * sizeof *pairs);
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) {
      if (lua_type(r->L, -2) != LUA_TSTRING || lua_type(r->L, -1) != LUA_TSTRING) {
        fault(r, "'%s' must map names to strings", name);
        continue;
      }
      pairs[(*count)++] = (Pair){arena_strdup(r->a, lua_tostring(r->L, -2)),
                                 arena_strdup(r->a, lua_tostring(r->L, -1))};
    }
    qsort(pairs, (size_t)*count, sizeof *pairs, by_name);
  } else {
    fault(r, "field '%s' must be a table", name);
  }
  lua_pop(r->L, 1);
  return pairs;
}

/* An array of { name, text }, in its own order; not there: empty. */
static Pair *pairs_field(Reader *r, const char *name, int *count) {
  Pair *pairs = NULL;
  *count = 0;
  const int type = lua_getfield(r->L, -1, name);
  if (type == LUA_TTABLE) {
    const int n = (int)lua_rawlen(r->L, -1);
    pairs = arena_alloc(r->a, ((size_t)n + 1) * sizeof *pairs);
    for (int i = 0; i < n; i++, lua_pop(r->L, 1)) {
      if (lua_rawgeti(r->L, -1, i + 1) != LUA_TTABLE) {
        fault(r, "entry %d of '%s' must be { name, text }", i + 1, name);
        continue;
      }
      const bool right =
          lua_rawgeti(r->L, -1, 1) == LUA_TSTRING && lua_rawgeti(r->L, -2, 2) == LUA_TSTRING;
      if (right) {
        pairs[(*count)++] = (Pair){arena_strdup(r->a, lua_tostring(r->L, -2)),
                                   arena_strdup(r->a, lua_tostring(r->L, -1))};
        lua_pop(r->L, 2);
      } else {
        fault(r, "entry %d of '%s' must be { name, text }", i + 1, name);
        lua_settop(r->L, 3); /* the backend, the list, the entry */
      }
    }
  } else if (type != LUA_TNIL) {
    fault(r, "field '%s' must be a list", name);
  }
  lua_pop(r->L, 1);
  return pairs;
}

static void read_limits(Reader *r, Backend *b) {
  if (lua_getfield(r->L, -1, "limits") == LUA_TTABLE) {
    b->limits.shared = (uint32_t)count_field(r, "shared");
    b->limits.threads = (uint32_t)count_field(r, "threads");
    b->limits.buffers = (uint32_t)count_field(r, "buffers");
    if (lua_getfield(r->L, -1, "groups") == LUA_TTABLE)
      for (int i = 0; i < 3; i++, lua_pop(r->L, 1)) {
        lua_rawgeti(r->L, -1, i + 1);
        b->limits.groups[i] = (uint64_t)lua_tointeger(r->L, -1);
      }
    lua_pop(r->L, 1);
  } else {
    fault(r, "field 'limits' must be a table");
  }
  lua_pop(r->L, 1);
}

static unsigned read_waves(Reader *r) {
  unsigned waves = 0;
  if (lua_getfield(r->L, -1, "waves") == LUA_TTABLE)
    for (int i = 1, n = (int)lua_rawlen(r->L, -1); i <= n; i++, lua_pop(r->L, 1)) {
      lua_rawgeti(r->L, -1, i);
      const lua_Integer width = lua_tointeger(r->L, -1);
      if (width == 32) waves |= 1;
      else if (width == 64) waves |= 2;
      else fault(r, "'waves' lists widths: 32, 64");
    }
  if (waves == 0) fault(r, "field 'waves' must list 32, 64 or both");
  lua_pop(r->L, 1);
  return waves;
}

static void check_texts(Reader *r, const Backend *b) {
  static const char *const needed[] = {"guard",     "default_wave", "const",      "type",
                                       "function",  "shared",       "entry_open", "entry_in",
                                       "entry_out", "entry_close",  "index"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (backend_text(b, needed[i]) == NULL) fault(r, "'text' must have '%s'", needed[i]);
  if (backend_text(b, "entry_value") == NULL && backend_text(b, "args_open") == NULL)
    fault(r, "'text' must have 'entry_value', or 'args_open' and its kin");
}

static Backend *read_backend(Reader *r) {
  Backend *b = arena_alloc(r->a, sizeof *b);
  b->file = r->file;
  b->name = string_field(r, "name", true);
  b->title = string_field(r, "title", true);
  b->slot = string_field(r, "slot", false);
  b->extension = string_field(r, "extension", true);
  b->order = (int)count_field(r, "order");
  b->waves = read_waves(r);
  read_limits(r, b);
  b->options = list_field(r, "options", &b->option_count);
  b->reserved = list_field(r, "reserved", &b->reserved_count);
  b->spell = map_field(r, "spell", &b->spell_count);
  b->index = map_field(r, "index", &b->index_count);
  b->pieces = pairs_field(r, "pieces", &b->piece_count);
  b->tail = pairs_field(r, "tail", &b->tail_count);
  b->text = map_field(r, "text", &b->text_count);
  check_texts(r, b);
  return b;
}

static const Backend *load_one(Arena *a, const char *path, Diags *d) {
  const int before = diags_errors(d);
  size_t len;
  const char *why;
  const char *text = file_read(a, path, &len, &why);
  Reader r = {a, luaL_newstate(), d, path}; /* no library at all: a table is data */
  Backend *b = NULL;
  if (text == NULL) {
    fault(&r, "cannot be read: %s", why);
  } else if (r.L == NULL) {
    die("no memory for Lua");
  } else if (luaL_loadbufferx(r.L, text, len, arena_printf(a, "=%s", path), "t") != LUA_OK ||
             lua_pcall(r.L, 0, 1, 0) != LUA_OK) {
    fault(&r, "%s", lua_tostring(r.L, -1));
  } else if (!lua_istable(r.L, -1)) {
    fault(&r, "must return a table");
  } else {
    b = read_backend(&r);
  }
  if (r.L != NULL) lua_close(r.L);
  return diags_errors(d) == before ? b : NULL;
}

static int by_order(const void *x, const void *y) {
  const Backend *a = *(const Backend *const *)x, *b = *(const Backend *const *)y;
  return a->order != b->order ? a->order - b->order : strcmp(a->name, b->name);
}

const Backend **backends_load(Arena *a, const char *templates, int *count, Diags *d) {
  const Backend **list = arena_alloc(a, MAX_BACKENDS * sizeof *list);
  struct dirent **names = NULL;
  *count = 0;
  const int n = scandir(templates, &names, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    const size_t len = strlen(names[i]->d_name);
    if (names[i]->d_name[0] != '.' && len > 4 && strcmp(names[i]->d_name + len - 4, ".lua") == 0) {
      const Backend *b = load_one(a, arena_printf(a, "%s/%s", templates, names[i]->d_name), d);
      if (b != NULL && *count == MAX_BACKENDS)
        diag_add(d, (Place){b->file, 0, 0}, D_BACKEND, "there are too many backends");
      else if (b != NULL) list[(*count)++] = b;
    }
    free(names[i]);
  }
  free(names);
  if (*count == 0 && diags_errors(d) == 0)
    diag_add(d, (Place){templates, 0, 0}, D_BACKEND, "holds no backend (*.lua)");
  qsort(list, (size_t)*count, sizeof *list, by_order);
  return list;
}

const char *pair_find(const Pair *pairs, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(pairs[i].name, name) == 0) return pairs[i].text;
  return NULL;
}

const char *backend_text(const Backend *b, const char *name) {
  return pair_find(b->text, b->text_count, name);
}

/* backend.c: reads the backends, which are data: one table a backend in templates/backends, a chunk
** of Lua that returns it.  templates/backends/base.lua explains the fields and their holes.
**
** A table states what it has of its own; the rest is its base's.  A base is a file base*.lua beside
** it, may have a base itself, and is no backend.  Fields merge by key: what the table says goes
** before the base's, false takes away what the base has.  Who a backend is (`name` to `options`
** below) comes from no base.
**
** A missing or ill-typed field is a fault of the file that has it.  Every word of portable.h must
** be accounted for, so a word that is new there, or a row that is lost here, is told by its name.
**
** What a table can say, C does not know.  By name gen/ knows a backend where a compiler is its own
** (compilers*.c, which read Metal by its rules, and verify/compile.c, which opens HIP's objects), in
** the ledger of HIP's objects, in `kgen text`, which shows HIP's when it is not told, and in the
** named fields of KernelPorts (kernel_slots).  body/text.c names words of some backends to say what
** to write in their place. */
#include "spec/spec.h"

#include <dirent.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

/* file: the one at hand, a base's too; its table is on the top of L's stack. */
typedef struct Reader {
  Arena *a;
  lua_State *L;
  Diags *d;
  const char *file;
} Reader;

const char *const kernel_slots[KERNEL_SLOTS] = {"metal", "cuda", "rocm"};

static void fault(Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fault(Reader *r, const char *format, ...) {
  va_list args;
  char text[512];
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_add(r->d, (Place){r->file, 0, 0}, D_BACKEND, text);
}

/* ---- fields ---------------------------------------------------------------------------------- */

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

/* Pushes a field that is a table or not there; false: it is not there, or no table (told of). */
static bool table_field(Reader *r, const char *name, const char *what) {
  const int type = lua_getfield(r->L, -1, name);
  if (type == LUA_TTABLE) return true;
  if (type != LUA_TNIL) fault(r, "field '%s' must be %s", name, what);
  lua_pop(r->L, 1);
  return false;
}

static bool is_listed(const char *const *list, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(list[i], name) == 0) return true;
  return false;
}

/* Adds an array of strings to a list, each once. */
static void list_field(Reader *r, const char *name, const char ***list, int *count) {
  if (!table_field(r, name, "a list of strings")) return;
  const int n = (int)lua_rawlen(r->L, -1);
  const char **longer = arena_alloc(r->a, ((size_t)(n + *count) + 1) * sizeof *longer);
  if (*count > 0) memcpy(longer, *list, (size_t)*count * sizeof *longer);
  *list = longer;
  for (int i = 0; i < n; i++, lua_pop(r->L, 1)) {
    if (lua_rawgeti(r->L, -1, i + 1) != LUA_TSTRING)
      fault(r, "entry %d of '%s' must be a string", i + 1, name);
    else if (!is_listed(longer, *count, lua_tostring(r->L, -1)))
      longer[(*count)++] = arena_strdup(r->a, lua_tostring(r->L, -1));
  }
  lua_pop(r->L, 1);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const Pair *)a)->name, ((const Pair *)b)->name);
}

static int pair_index(const Pair *pairs, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(pairs[i].name, name) == 0) return i;
  return -1;
}

static void take_out(Pair *pairs, int *count, int at) {
  (*count)--;
  memmove(pairs + at, pairs + at + 1, (size_t)(*count - at) * sizeof *pairs);
}

static void put_in(Pair *pairs, int *count, int at, Pair pair) {
  memmove(pairs + at + 1, pairs + at, (size_t)(*count - at) * sizeof *pairs);
  pairs[at] = pair;
  (*count)++;
}

/* The pairs in a block that takes `more` of them. */
static Pair *with_room(Arena *a, const Pair *pairs, int count, int more) {
  Pair *larger = arena_alloc(a, ((size_t)(count + more) + 1) * sizeof *larger);
  if (count > 0) memcpy(larger, pairs, (size_t)count * sizeof *larger);
  return larger;
}

/* A table name = text or false over what the base has, sorted by name: Lua's own order differs from
** run to run. */
static void map_field(Reader *r, const char *name, Pair **pairs, int *count) {
  if (!table_field(r, name, "a table")) return;
  int n = 0;
  for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) n++;
  *pairs = with_room(r->a, *pairs, *count, n);
  for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) {
    const bool text = lua_type(r->L, -1) == LUA_TSTRING,
               gone = lua_isboolean(r->L, -1) && !lua_toboolean(r->L, -1);
    if (lua_type(r->L, -2) != LUA_TSTRING || (!text && !gone)) {
      fault(r, "'%s' must map names to strings, or to false for what a base has", name);
      continue;
    }
    const char *key = arena_strdup(r->a, lua_tostring(r->L, -2));
    const int at = pair_index(*pairs, *count, key);
    if (gone && at < 0)
      fault(r, "'%s' takes '%s' away, and no base has it", name, key);
    else if (gone)
      take_out(*pairs, count, at);
    else {
      const Pair pair = {key, arena_strdup(r->a, lua_tostring(r->L, -1))};
      if (at >= 0)
        (*pairs)[at] = pair;
      else
        (*pairs)[(*count)++] = pair;
    }
  }
  if (*count > 0) qsort(*pairs, (size_t)*count, sizeof **pairs, by_name);
  lua_pop(r->L, 1);
}

/* An entry { name, text }, { name, false } or { name } of a list; false: none of these, told of. */
typedef struct Entry {
  Pair pair;
  bool gone;
} Entry;

static bool read_entry(Reader *r, const char *list, int i, Entry *out) {
  const bool table = lua_rawgeti(r->L, -1, i + 1) == LUA_TTABLE;
  *out = (Entry){0};
  bool right = table && lua_rawgeti(r->L, -1, 1) == LUA_TSTRING;
  if (right) {
    out->pair.name = arena_strdup(r->a, lua_tostring(r->L, -1));
    const int type = lua_rawgeti(r->L, -2, 2);
    if (type == LUA_TSTRING) out->pair.text = arena_strdup(r->a, lua_tostring(r->L, -1));
    out->gone = type == LUA_TBOOLEAN && !lua_toboolean(r->L, -1);
    right = out->pair.text != NULL || out->gone || type == LUA_TNIL;
    lua_pop(r->L, 1);
  }
  lua_pop(r->L, table ? 2 : 1);
  if (!right)
    fault(r,
          "entry %d of '%s' must be { name, text }, or { name } or { name, false } for what a "
          "base has",
          i + 1, list);
  return right;
}

/* Where a new entry i goes: right before the next one of the list that is there already. */
static int place_of(const Pair *pairs, int count, const Entry *entries, int n, int i) {
  for (i++; i < n; i++) {
    const int at = pair_index(pairs, count, entries[i].pair.name);
    if (at >= 0) return at;
  }
  return count;
}

/* A list of entries over what the base has, in the list's order. */
static void pairs_field(Reader *r, const char *name, Pair **pairs, int *count) {
  if (!table_field(r, name, "a list")) return;
  const int length = (int)lua_rawlen(r->L, -1);
  Entry *entries = arena_alloc(r->a, ((size_t)length + 1) * sizeof *entries);
  int n = 0;
  for (int i = 0; i < length; i++) n += read_entry(r, name, i, &entries[n]);
  lua_pop(r->L, 1);
  *pairs = with_room(r->a, *pairs, *count, n);
  for (int i = 0; i < n; i++) {
    const Pair pair = entries[i].pair;
    for (int j = 0; j < i; j++)
      if (strcmp(entries[j].pair.name, pair.name) == 0)
        fault(r, "'%s' has '%s' twice", name, pair.name);
    const int at = pair_index(*pairs, *count, pair.name);
    if (at >= 0 && entries[i].gone)
      take_out(*pairs, count, at);
    else if (at >= 0 && pair.text != NULL)
      (*pairs)[at] = pair;
    else if (at < 0 && pair.text == NULL)
      fault(r, "'%s' names '%s' without a text, and no base has it", name, pair.name);
    else if (at < 0)
      put_in(*pairs, count, place_of(*pairs, *count, entries, n, i), pair);
  }
}

/* One number an axis; none where the field is not there. */
static void axes_field(Reader *r, const char *name, uint64_t out[3]) {
  if (!table_field(r, name, "a list of 3, one an axis")) return;
  for (int i = 0; i < 3; i++, lua_pop(r->L, 1)) {
    lua_rawgeti(r->L, -1, i + 1);
    out[i] = (uint64_t)lua_tointeger(r->L, -1);
  }
  lua_pop(r->L, 1);
}

static void read_limits(Reader *r, Backend *b) {
  if (lua_getfield(r->L, -1, "limits") == LUA_TTABLE) {
    b->limits.shared = (uint32_t)count_field(r, "shared");
    b->limits.threads = (uint32_t)count_field(r, "threads");
    b->limits.buffers = (uint32_t)count_field(r, "buffers");
    axes_field(r, "groups", b->limits.groups);
    axes_field(r, "axes", b->limits.axes);
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
      if (width == 32)
        waves |= 1;
      else if (width == 64)
        waves |= 2;
      else
        fault(r, "'waves' lists widths: 32, 64");
    }
  if (waves == 0) fault(r, "field 'waves' must list 32, 64 or both");
  lua_pop(r->L, 1);
  return waves;
}

/* ---- one table, over what its base gave ------------------------------------------------------ */

/* The first eight are who a backend is. */
static const char *const fields[] = {"name",   "title",   "slot", "extension", "order", "waves",
                                     "limits", "options", "base", "reserved",  "spell", "index",
                                     "names",  "pieces",  "tail", "text"};
enum { FIELDS = sizeof fields / sizeof *fields, WHO = 8 };

static void check_fields(Reader *r, bool is_base) {
  for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) {
    const char *name = lua_type(r->L, -2) == LUA_TSTRING ? lua_tostring(r->L, -2) : NULL;
    int i = 0;
    while (name != NULL && i < FIELDS && strcmp(fields[i], name) != 0) i++;
    if (name == NULL || i == FIELDS) {
      const char *near = name != NULL ? nearest_name(name, fields, FIELDS) : NULL;
      fault(r, "there is no field '%s'%s%s%s", name != NULL ? name : "[...]",
            near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "");
    } else if (is_base && i < WHO) {
      fault(r, "field '%s' is a backend's own, and this file is a base", name);
    }
  }
}

static void read_who(Reader *r, Backend *b) {
  b->file = r->file;
  b->name = string_field(r, "name", true);
  b->title = string_field(r, "title", true);
  b->slot = string_field(r, "slot", false);
  b->extension = string_field(r, "extension", true);
  b->order = (int)count_field(r, "order");
  b->waves = read_waves(r);
  read_limits(r, b);
  list_field(r, "options", &b->options, &b->option_count);
  if (b->slot != NULL && !is_listed(kernel_slots, KERNEL_SLOTS, b->slot))
    fault(r, "there is no slot '%s' in KernelPorts; a backend without one goes among the others",
          b->slot);
}

static void read_rest(Reader *r, Backend *b) {
  list_field(r, "reserved", &b->reserved, &b->reserved_count);
  map_field(r, "spell", &b->spell, &b->spell_count);
  map_field(r, "index", &b->index, &b->index_count);
  map_field(r, "names", &b->names, &b->name_count);
  pairs_field(r, "pieces", &b->pieces, &b->piece_count);
  pairs_field(r, "tail", &b->tail, &b->tail_count);
  map_field(r, "text", &b->text, &b->text_count);
}

static bool is_base_name(const char *stem) { return strncmp(stem, "base", 4) == 0; }

/* Leaves the table that a file returns on the stack of a new state; NULL: there is none, told of.
** The caller closes it. */
static lua_State *run_file(Reader *r, const char *text, size_t len) {
  lua_State *L = luaL_newstate(); /* no library at all: a table is data */
  if (L == NULL) die("no memory for Lua");
  if (luaL_loadbufferx(L, text, len, arena_printf(r->a, "=%s", r->file), "t") != LUA_OK ||
      lua_pcall(L, 0, 1, 0) != LUA_OK)
    fault(r, "%s", lua_tostring(L, -1));
  else if (!lua_istable(L, -1))
    fault(r, "must return a table");
  else
    return L;
  lua_close(L);
  return NULL;
}

enum { BASES_MOST = 8 }; /* files of one backend, its own among them */

static void read_table(Arena *a, Diags *d, const char *folder, const char *stem, Backend *b);

/* `base`: its table goes before the one at hand. */
static void read_base(Reader *r, const char *folder, Backend *b) {
  const char *base = string_field(r, "base", false);
  if (base == NULL) return;
  const char *path = arena_printf(r->a, "%s/%s.lua", folder, base);
  if (!is_base_name(base) || strchr(base, '/') != NULL)
    fault(r, "'%s' is no base; a base is a file base*.lua beside this one", base);
  else if (is_listed(b->files, b->file_count, path))
    fault(r, "its base '%s' is based on it", base);
  else if (b->file_count == BASES_MOST)
    fault(r, "is the %dth table of one backend; bases end before that", (int)BASES_MOST);
  else
    read_table(r->a, r->d, folder, base, b);
}

static void read_table(Arena *a, Diags *d, const char *folder, const char *stem, Backend *b) {
  Reader r = {a, NULL, d, arena_printf(a, "%s/%s.lua", folder, stem)};
  const bool is_base = b->file_count > 0;
  size_t len;
  const char *why, *text = text_read(a, r.file, &len, &why);
  b->files[b->file_count++] = r.file;
  if (text == NULL)
    fault(&r, "cannot be read: %s", why);
  else if ((r.L = run_file(&r, text, len)) != NULL) {
    check_fields(&r, is_base);
    read_base(&r, folder, b);
    if (!is_base) read_who(&r, b);
    read_rest(&r, b);
    lua_close(r.L);
  }
}

/* ---- holes of pieces ------------------------------------------------------------------------- */

/* ${name} in a piece: what `names` says, ${function}, or a word of the language as it is spelt. */
static const char *hole_value(const Backend *b, const Words *words, const char *name) {
  const char *value = pair_find(b->names, b->name_count, name);
  if (value == NULL && strcmp(name, "function") == 0) value = backend_text(b, name);
  if (value == NULL && words_find(words, name, (int)strlen(name)) != NULL) {
    value = pair_find(b->spell, b->spell_count, name);
    if (value == NULL) value = name;
  }
  return value;
}

static void fill_pieces(Reader *r, Backend *b, const Words *words) {
  for (int i = 0; i < b->piece_count; i++) {
    Buf out = {0};
    for (const char *s = b->pieces[i].text; *s != '\0';) {
      const char *end = s[0] == '$' && s[1] == '{' ? strchr(s, '}') : NULL;
      if (end == NULL) {
        buf_put(&out, s++, 1);
        continue;
      }
      const char *name = arena_strndup(r->a, s + 2, (size_t)(end - s) - 2),
                 *value = hole_value(b, words, name);
      if (value == NULL)
        fault(r, "the piece '%s' asks for ${%s}, and 'names' has none", b->pieces[i].name, name);
      else
        buf_puts(&out, value);
      s = end + 1;
    }
    b->pieces[i].text = arena_strdup(r->a, out.s != NULL ? out.s : "");
    buf_free(&out);
  }
}

/* ---- what a whole table must have ------------------------------------------------------------ */

/* Every text, and the holes that the generator fills in it. */
typedef enum When { ALWAYS, MAY, VALUES, BLOCK } When;
static const struct {
  const char *name;
  When when;
  const char *holes;
} texts[] = {
    {"head", MAY, "kernel"},
    {"member", MAY, ""}, /* then storage types without a piece are made (emit/storage.c) */
    {"guard", ALWAYS, "kernel"},
    {"default_wave", ALWAYS, ""},
    {"const", ALWAYS, "type name value"},
    {"type", ALWAYS, "dtype name"},
    {"function", ALWAYS, ""},
    {"shared", ALWAYS, "type name extent"},
    {"entry_open", ALWAYS, "kernel threads"},
    {"entry_in", ALWAYS, "type name index"},
    {"entry_out", ALWAYS, "type name index"},
    {"entry_value", VALUES, "type name"}, /* dims and scalars as parameters, or in one block: */
    {"args_open", VALUES, ""},
    {"args_field", BLOCK, "type name"},
    {"args_close", BLOCK, ""},
    {"entry_args", BLOCK, "index"},
    {"entry_local", BLOCK, "type name"},
    {"entry_close", ALWAYS, "kernel threads"},
    {"index", ALWAYS, "name value"},
    {"native_kernel", MAY, ""}, /* the word that begins a kernel; there are native ports, then */
    {"native_f16", MAY, ""},    /* their 16-bit floats are the vendor's */
    {"native_bf16", MAY, ""},
    {"native_whole_f16", MAY, ""}, /* within whole kernels, where that is something else */
    {"native_whole_bf16", MAY, ""},
    {"native_before", MAY, ""}, /* around the owner's text, so that our entry can call it */
    {"native_after", MAY, ""},
    {"mlx_head", MAY,
     ""}, /* what MLX takes is made (emit/mlx.c) where there is mlx_in; it needs all: */
    {"mlx_bound", MAY,
     "threads"}, /* the header's end; else MLX's entry has no bound of its threads */
    {"mlx_in", MAY, "type name"},
    {"mlx_out", MAY, "type name"},
    {"mlx_value", MAY, "type name"},
    {"mlx_dim", MAY, "name input from_end"},
    {"mlx_type", MAY, "dtype name"},
    {"mlx_const", MAY, "type name value"},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static bool has_word(const char *list, const char *word, size_t len) {
  for (const char *s = list; *s != '\0';) {
    const size_t n = strcspn(s, " ");
    if (n == len && memcmp(s, word, n) == 0) return true;
    s += n + (s[n] == ' ');
  }
  return false;
}

static void check_holes(Reader *r, const char *name, const char *text, const char *holes) {
  for (const char *s = text; (s = strstr(s, "${")) != NULL; s += 2) {
    const size_t len = strcspn(s + 2, "}");
    if (!has_word(holes, s + 2, len))
      fault(r, "the text '%s' has a hole ${%.*s}; %s%s", name, (int)len, s + 2,
            *holes != '\0' ? "its holes are: " : "it has no holes", holes);
  }
}

static void check_texts(Reader *r, const Backend *b) {
  const bool block = backend_text(b, "args_open") != NULL;
  for (int i = 0; i < TEXTS; i++) {
    const bool needed = texts[i].when == ALWAYS || (texts[i].when == BLOCK && block);
    const char *text = backend_text(b, texts[i].name);
    if (text != NULL)
      check_holes(r, texts[i].name, text, texts[i].holes);
    else if (needed)
      fault(r, "'text' must have '%s'", texts[i].name);
  }
  for (int n = 0; n < b->text_count; n++) {
    int i = 0;
    while (i < TEXTS && strcmp(texts[i].name, b->text[n].name) != 0) i++;
    if (i == TEXTS) fault(r, "'text' has '%s', and nothing asks for it", b->text[n].name);
  }
  if (backend_text(b, "entry_value") == NULL && !block)
    fault(r, "'text' must have 'entry_value', or 'args_open' and its kin");
}

static bool has_piece(const Backend *b, const char *name) {
  return pair_index(b->pieces, b->piece_count, name) >= 0;
}

/* A word of which a piece tells by an overload: "load4(bf16)". */
static bool has_overload(const Backend *b, const char *word) {
  const size_t len = strlen(word);
  for (int i = 0; i < b->piece_count; i++)
    if (strncmp(b->pieces[i].name, word, len) == 0 && b->pieces[i].name[len] == '(') return true;
  return false;
}

/* A word that is given overload by overload is given all of them; and no piece is named by one that
** there is not. */
static void check_overloads(Reader *r, const Backend *b, const Words *words) {
  for (int i = 0; i < words->overload_count; i++) {
    const Overload *o = &words->overloads[i];
    const char *spelling = pair_find(b->spell, b->spell_count, o->word);
    const bool whole = has_piece(b, spelling != NULL ? spelling : o->word),
               is_operator = words_find(words, o->word, (int)strlen(o->word)) == NULL;
    if (!whole && !has_piece(b, o->text) && (is_operator || has_overload(b, o->word)))
      fault(r, "'pieces' says nothing of '%s'", o->text);
  }
  for (int i = 0; i < b->piece_count; i++) {
    const char *name = b->pieces[i].name;
    int n = 0;
    while (n < words->overload_count && strcmp(words->overloads[n].text, name) != 0) n++;
    if (strchr(name, '(') != NULL && n == words->overload_count)
      fault(r, "the piece '%s' is no function of portable.h", name);
  }
}

bool backend_says(const Backend *b, const char *word) {
  return pair_find(b->spell, b->spell_count, word) != NULL || has_piece(b, word) ||
         has_overload(b, word);
}

/* Every word of the language is told of, but for functions that a backend has none of its own for;
** a spelling of ours (kg_...) has its piece. */
static void check_words(Reader *r, const Backend *b, const Words *words) {
  for (int i = 0; i < words->count; i++) {
    const Word *w = &words->list[i];
    if (w->marks & WORD_OWN) continue;
    if (w->marks & WORD_LIBRARY || strcmp(w->name, "WAVE") == 0) continue; /* kgen writes them */
    if (w->marks & WORD_INDEX) {
      if (strcmp(w->name, index_word[IX_THREAD]) != 0 && /* is made of the others where need be */
          pair_find(b->index, b->index_count, w->name) == NULL)
        fault(r, "'index' says nothing of the word '%s'", w->name);
    } else if (!backend_says(b, w->name)) {
      fault(r, "neither 'spell' nor 'pieces' says anything of the word '%s'", w->name);
    }
  }
  for (int i = 0; i < b->spell_count; i++) {
    const char *word = b->spell[i].name, *text = b->spell[i].text;
    if (words_find(words, word, (int)strlen(word)) == NULL)
      fault(r, "'spell' has '%s', which is no word of the language", word);
    else if (strncmp(text, "kg_", 3) == 0 && !has_piece(b, text) && !has_overload(b, word) &&
             !(words_marks(words, word) & WORD_INDEX))
      fault(r, "'%s' is spelt '%s', and 'pieces' has no such piece", word, text);
  }
  for (int i = 0; i < b->index_count; i++)
    if (!(words_marks(words, b->index[i].name) & WORD_INDEX))
      fault(r, "'index' has '%s', which is no word of the language", b->index[i].name);
  check_overloads(r, b, words);
  if (!has_piece(b, ""))
    fault(r, "'pieces' has no place for the instance's types and constants, { \"\", \"\" }");
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const Backend *load_one(Arena *a, const char *folder, const char *stem, const Words *words,
                               Diags *d) {
  const int before = diags_errors(d);
  Backend *b = arena_alloc(a, sizeof *b);
  b->files = arena_alloc(a, BASES_MOST * sizeof *b->files);
  read_table(a, d, folder, stem, b);
  if (diags_errors(d) == before) { /* else what is missing may be in what could not be read */
    Reader r = {a, NULL, d, b->file};
    check_texts(&r, b);
    check_words(&r, b, words);
    fill_pieces(&r, b, words);
  }
  return diags_errors(d) == before ? b : NULL;
}

static int by_order(const void *x, const void *y) {
  const Backend *a = *(const Backend *const *)x, *b = *(const Backend *const *)y;
  return a->order != b->order ? a->order - b->order : strcmp(a->name, b->name);
}

static void check_apart(const Backend *const *list, int count, Diags *d, Arena *a) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      const int slot = backend_slot(list[i]);
      const char *what = strcmp(list[i]->name, list[j]->name) == 0    ? "name"
                         : slot >= 0 && slot == backend_slot(list[j]) ? "slot"
                                                                      : NULL;
      if (what != NULL)
        diag_add(d, (Place){list[i]->file, 0, 0}, D_BACKEND,
                 arena_printf(a, "has the %s of %s", what, list[j]->file));
    }
}

const Backend **backends_load(Arena *a, const char *templates, const Words *words, int *count,
                              Diags *d) {
  const char *folder = arena_printf(a, "%s/backends", templates);
  const Backend **list = arena_alloc(a, MAX_BACKENDS * sizeof *list);
  struct dirent **names = NULL;
  *count = 0;
  const int n = scandir(folder, &names, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    const size_t len = strlen(names[i]->d_name);
    const bool is_table =
        names[i]->d_name[0] != '.' && len > 4 && strcmp(names[i]->d_name + len - 4, ".lua") == 0;
    if (is_table && !is_base_name(names[i]->d_name)) {
      const char *stem = arena_strndup(a, names[i]->d_name, len - 4);
      const Backend *b = load_one(a, folder, stem, words, d);
      if (b != NULL && *count == MAX_BACKENDS)
        diag_add(d, (Place){b->file, 0, 0}, D_BACKEND, "there are too many backends");
      else if (b != NULL)
        list[(*count)++] = b;
    }
    free(names[i]);
  }
  free(names);
  if (*count == 0 && diags_errors(d) == 0)
    diag_add(d, (Place){folder, 0, 0}, D_BACKEND, "holds no backend (*.lua)");
  qsort(list, (size_t)*count, sizeof *list, by_order);
  check_apart(list, *count, d, a);
  return list;
}

const char *pair_find(const Pair *pairs, int count, const char *name) {
  const int i = pair_index(pairs, count, name);
  return i < 0 ? NULL : pairs[i].text;
}

int backend_slot(const Backend *b) {
  for (int i = 0; b->slot != NULL && i < KERNEL_SLOTS; i++)
    if (strcmp(kernel_slots[i], b->slot) == 0) return i;
  return -1;
}

const char *backend_text(const Backend *b, const char *name) {
  return pair_find(b->text, b->text_count, name);
}

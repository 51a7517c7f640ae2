/* words.c: the words of the specification language.  See read.h.
**
** Values are Lua's where they can be (dtypes are their names, numbers are numbers); the rest are
** userdata: those of raw.c, and
**   absent       a port that is not there, with the reason
**   native       a port whose text its owner wrote, with its file or a table
**   kernel       `kernel "name"`, waiting for its table */
#include <string.h>

#include "spec/read.h"

static const char ABSENT[] = "absent", NATIVE[] = "native", HEAD[] = "kernel";

/* ---- absent, kernel -------------------------------------------------------------------------- */

static int absent(lua_State *L) {
  spec_one_value(L, "absent", 1);
  lua_settop(L, 1);
  if (spec_is_poison(L, 1)) return 1;
  lua_newuserdatauv(L, 0, 1);
  luaL_setmetatable(L, ABSENT);
  if (lua_type(L, 1) == LUA_TSTRING)
    lua_pushvalue(L, 1);
  else
    lua_pushstring(L, "");
  lua_setiuservalue(L, 2, 1);
  return 1;
}

const char *spec_to_absent(lua_State *L, int at) {
  if (!luaL_testudata(L, at, ABSENT)) return NULL;
  lua_getiuservalue(L, at, 1);
  const char *reason = lua_tostring(L, -1); /* kept alive by its userdata */
  lua_pop(L, 1);
  return reason;
}

bool spec_is_absent_word(lua_State *L, int at) { return lua_tocfunction(L, at) == absent; }

static int native(lua_State *L) {
  spec_one_value(L, "native", 1);
  lua_settop(L, 1);
  if (spec_is_poison(L, 1)) return 1;
  lua_newuserdatauv(L, 0, 1);
  luaL_setmetatable(L, NATIVE);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 2, 1);
  return 1;
}

bool spec_is_native(lua_State *L, int at) { return luaL_testudata(L, at, NATIVE) != NULL; }

static int kernel(lua_State *L) {
  SpecRun *run = spec_run(L);
  const Place at = spec_entry_here(run);
  size_t len = 0;
  spec_one_value(L, "kernel", 1);
  const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
  if (run->head_count >= SPEC_KERNELS)
    return luaL_error(L, "a specification has at most %d kernels", (int)SPEC_KERNELS);
  if (!name || len == 0 || strlen(name) != len || utf8_bad(name, len) < len ||
      len > SPEC_NAME_BYTES) {
    if (!spec_is_poison(L, 1))
      diag_add(run->d, at, D_WORD_ARGUMENT, "kernel",
               name ? len > SPEC_NAME_BYTES ? "a text of more than 64 bytes" : "an unfit text"
                    : spec_kind(L, 1),
               "a name, as in kernel \"fused_norm\" { ... }");
    spec_push_poison(L);
    return 1;
  }
  SpecHead *head = arena_alloc(run->a, sizeof *head);
  head->name = arena_strdup(run->a, name);
  head->at = at;
  for (int i = 0; i < run->source_count; i++)
    if (strcmp(run->sources[i]->path, at.file) == 0) head->source = run->sources[i];
  GROW(run->a, run->heads, run->head_count, run->head_room);
  run->heads[run->head_count++] = head;
  run->entries_open++;
  SpecHead **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = head;
  luaL_setmetatable(L, HEAD);
  return 1;
}

/* kernel "name" { ... } */
static int kernel_call(lua_State *L) {
  SpecRun *run = spec_run(L);
  SpecHead *head = *(SpecHead **)luaL_checkudata(L, 1, HEAD);
  spec_one_value(L, "kernel", 2);
  lua_settop(L, 2);
  if (head->done) { /* the same head with a second table: a second kernel of that name */
    diag_add(run->d, spec_here(run), D_KERNEL_TWICE, head->name, head->at.file, head->at.line);
    return 0;
  }
  head->done = true;
  run->entries_open--;
  if (lua_istable(L, 2))
    run->read->kernel(run, head, 2);
  else if (!spec_is_poison(L, 2))
    diag_add(run->d, head->at, D_KERNEL_UNFINISHED, head->name);
  return 0;
}

/* path { name = "...", kernels = { ... } } */
static int path(lua_State *L) {
  SpecRun *run = spec_run(L);
  spec_one_value(L, "path", 1);
  lua_settop(L, 1);
  run->read->set(run, spec_here(run), 1);
  return 0;
}

/* backends { "metal", "cuda", "hip" } */
static int backends(lua_State *L) {
  SpecRun *run = spec_run(L);
  spec_one_value(L, "backends", 1);
  lua_settop(L, 1);
  run->read->backends(run, spec_here(run), 1);
  return 0;
}

/* ---- the table of words ---------------------------------------------------------------------- */

void spec_words_open(SpecRun *run, int words) {
  lua_State *L = run->L;
  spec_raw_open(run, words);
  luaL_newmetatable(L, ABSENT);
  luaL_newmetatable(L, NATIVE);
  luaL_newmetatable(L, HEAD);
  lua_pushcfunction(L, kernel_call);
  lua_setfield(L, -2, "__call");
  lua_pop(L, 3);
  for (int i = 0; i < KG_DTYPES; i++) {
    lua_pushstring(L, kg_dtype_name((kg_dtype)i));
    lua_setfield(L, words, kg_dtype_name((kg_dtype)i));
  }
  lua_pushstring(L, "bool");
  lua_setfield(L, words, "bool");
  lua_pushstring(L, "any");
  lua_setfield(L, words, "any");
  lua_pushcfunction(L, absent);
  lua_setfield(L, words, "absent");
  lua_pushcfunction(L, native);
  lua_setfield(L, words, "native");
  lua_pushcfunction(L, kernel);
  lua_setfield(L, words, "kernel");
  lua_pushcfunction(L, path);
  lua_setfield(L, words, "path");
  lua_pushcfunction(L, backends);
  lua_setfield(L, words, "backends");
}

/* sandbox.c: the Lua state in which a specification runs.  See read.h.
**
** What a specification can reach is a list (the tables below), and everything on it is harmless,
** fast and gives the same on every run: no files, no system, no code from text, no bytecode, no
** randomness, no order of hash tables, no addresses. Nothing can catch an error (no pcall, no
** coroutines), nor run where the limits do not look (no metatables, so no finalizers; no string
** patterns, which can take for ever inside one instruction). */
#include <stdlib.h>
#include <string.h>

#include "spec/read.h"

enum { HOOK_STEPS = 1000 };

/* ---- memory ---------------------------------------------------------------------------------- */

static void *allocate(void *ud, void *block, size_t old, size_t new) {
  SpecRun *run = ud;
  if (!block) old = 0; /* then it is a type tag */
  if (new == 0) {
    free(block);
    run->memory -= old;
    return NULL;
  }
  if (new > old && spec_over(run, new - old)) return NULL;
  void *p = realloc(block, new);
  if (!p) exhausted("%zu bytes for the specification", new);
  run->memory = run->memory - old + new;
  if (new > old) run->traffic += new - old;
  return p;
}

static void count_steps(lua_State *L, lua_Debug *ar) {
  (void)ar;
  SpecRun *run = spec_run(L);
  run->steps += HOOK_STEPS;
  if (run->steps > SPEC_MILLION_STEPS * INT64_C(1000000))
    spec_stop(run, STOP_STEPS);
  else if (clock() - run->started > SPEC_SECONDS * CLOCKS_PER_SEC)
    spec_stop(run, STOP_SECONDS);
  else if (diags_errors(run->d) > SPEC_FAULTS)
    spec_stop(run, STOP_FAULTS);
  if (run->stop != STOP_NOT) luaL_error(L, "stopped");
}

/* ---- what stands in for library functions that would tell runs apart ------------------------- */

/* tostring without addresses. */
static int safe_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  switch (lua_type(L, 1)) {
  case LUA_TNIL:
  case LUA_TBOOLEAN:
  case LUA_TNUMBER:
  case LUA_TSTRING: luaL_tolstring(L, 1, NULL); break;
  default: lua_pushstring(L, luaL_typename(L, 1));
  }
  return 1;
}

/* string.format (upvalue 1) without addresses. */
static int safe_format(lua_State *L) {
  const int n = lua_gettop(L);
  const char *format = luaL_checkstring(L, 1);
  for (const char *p = strchr(format, '%'); p; p = strchr(p, '%')) {
    p++;
    if (*p == '%') {
      p++;
      continue;
    }
    p += strspn(p, "-+ #0123456789.");
    if (*p == 'p') return luaL_error(L, "string.format: %%p would print an address");
  }
  for (int i = 2; i <= n; i++)
    if (!lua_isstring(L, i) && !lua_isboolean(L, i) && !lua_isnil(L, i))
      return luaL_argerror(L, i, lua_pushfstring(L, "a %s has no text", luaL_typename(L, i)));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, n, 1);
  return 1;
}

/* Upvalues: the table, the list of its keys, the place in it. */
static int pairs_step(lua_State *L) {
  for (;;) {
    const lua_Integer i = lua_tointeger(L, lua_upvalueindex(3)) + 1;
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    if (lua_rawgeti(L, lua_upvalueindex(2), i) == LUA_TNIL) return 1;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
      return 2; /* else it was removed on the way */
    lua_settop(L, 0);
  }
}

/* pairs in the order of the keys: integers, then strings. */
static int safe_pairs(lua_State *L) {
  if (spec_is_poison(L, 1)) lua_newtable(L), lua_replace(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  int n, others;
  const Key *keys = spec_keys(spec_run(L), 1, &n, &others);
  if (others > 0)
    return luaL_error(L, "pairs: a key is neither an integer nor a string, so there is no order");
  lua_pushvalue(L, 1);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    if (keys[i].is_string)
      lua_pushlstring(L, keys[i].string, keys[i].len);
    else
      lua_pushinteger(L, keys[i].number);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, pairs_step, 3);
  return 1;
}

/* ---- include --------------------------------------------------------------------------------- */

/* NULL: the path may be opened; else what is wrong with it. */
static const char *path_fault(const char *path, size_t len) {
  if (strlen(path) != len || utf8_bad(path, len) < len) return "the path is not plain text";
  if (!*path) return "the path is empty";
  if (*path == '/') return "the path is absolute";
  for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
    if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == 0)) return "the path goes up with '..'";
  return NULL;
}

static bool exists(Arena *a, const char *path, const char **real) {
  char *found = realpath(path, NULL);
  if (!found) return false;
  *real = arena_strdup(a, found);
  free(found);
  return true;
}

static int include(lua_State *L) {
  SpecRun *run = spec_run(L);
  const Place at = spec_here(run);
  size_t len;
  spec_one_value(L, "include", 1);
  lua_settop(L, 1);
  const char *given = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
  spec_push_poison(L); /* the result where it fails */
  if (!given) {
    if (!spec_is_poison(L, 1))
      diag_add(run->d, at, D_WORD_ARGUMENT, "include", spec_kind(L, 1), "a file's name");
    return 1;
  }
  const char *fault = path_fault(given, len);
  if (fault) {
    if (strlen(given) != len || utf8_bad(given, len) < len) given = "?";
    diag_add(run->d, at, D_INCLUDE_PATH, given, fault);
    return 1;
  }
  const char *path = spec_joined(run->a, run->folder, arena_strdup(run->a, given)), *real = NULL;
  if (!exists(run->a, path, &real)) {
    diag_add(run->d, at, D_INCLUDE_READ, given, "no such file");
    return 1;
  }
  if (!spec_lies_below(real, run->folder)) {
    diag_add(run->d, at, D_INCLUDE_PATH, given, "the path leads out of it by a symbolic link");
    return 1;
  }
  for (int i = 0; i < run->source_count; i++) {
    SpecSource *known = run->sources[i];
    if (strcmp(known->real, real) != 0) continue;
    if (known->loading)
      diag_add(run->d, at, D_INCLUDE_CYCLE, given);
    else
      lua_rawgeti(L, LUA_REGISTRYINDEX, known->result);
    return 1;
  }
  SpecSource *source = spec_source_read(run, path);
  if (source && spec_sandbox_run(run, source)) {
    lua_pushvalue(L, -1);
    source->result = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  if (run->stop != STOP_NOT) return luaL_error(L, "stopped");
  return 1;
}

/* ---- the names a specification sees ---------------------------------------------------------- */

static const char *const base_kept[] = {"assert", "error",  "ipairs",   "rawequal",
                                        "rawlen", "select", "tonumber", "type"};
static const char *const math_kept[] = {"abs", "ceil",       "floor",     "fmod",       "huge",
                                        "max", "maxinteger", "min",       "mininteger", "modf",
                                        "pi",  "sqrt",       "tointeger", "type",       "ult"};
static const char *const string_kept[] = {"byte", "char",    "len", "lower",
                                          "rep",  "reverse", "sub", "upper"};
static const char *const table_kept[] = {"concat", "insert", "pack", "remove", "unpack"};

/* Lua's own names that are not there, and why. */
static const struct {
  const char *name, *why;
} missing[] = {
    {"collectgarbage", "memory has its own limit"},
    {"coroutine", "a limit must not be caught"},
    {"debug", "nothing may look behind it"},
    {"dofile", "use include"},
    {"getmetatable", "values keep their meaning"},
    {"io", "it reads and writes no files; use include"},
    {"load", "no text is run as code"},
    {"loadfile", "use include"},
    {"loadstring", "no text is run as code"},
    {"math.random", "the same specification gives the same bytes"},
    {"math.randomseed", "the same specification gives the same bytes"},
    {"next",
     "the order of a table differs from run to run; use pairs, which goes by the keys' order"},
    {"os", "it has no access to the system"},
    {"package", "use include"},
    {"pcall", "a limit must not be caught"},
    {"print", "it writes nothing"},
    {"rawget", "values keep their meaning"},
    {"rawset", "values keep their meaning"},
    {"require", "use include"},
    {"setmetatable", "values keep their meaning"},
    {"string.dump", "no bytecode"},
    {"string.find", "patterns can take for ever"},
    {"string.gmatch", "patterns can take for ever"},
    {"string.gsub", "patterns can take for ever"},
    {"string.match", "patterns can take for ever"},
    {"table.move", "it can take for ever"},
    {"table.sort", "equal entries would stand in any order"},
    {"utf8", "texts are taken as they are"},
    {"warn", "it writes nothing"},
    {"xpcall", "a limit must not be caught"},
    {"_G", "values keep their meaning"},
};

static bool complain_missing(SpecRun *run, const char *name) {
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (strcmp(missing[i].name, name) == 0) {
      diag_add(run->d, spec_here(run), D_LUA_FORBIDDEN, name, missing[i].why);
      return true;
    }
  return false;
}

/* A name that is nowhere: the nearest one there is, from the table of words or library at the given
** index. */
static int unknown_name(lua_State *L, const char *name, int table) {
  SpecRun *run = spec_run(L);
  if (!complain_missing(run, name)) {
    int n, others;
    const Key *keys = spec_keys(run, table, &n, &others);
    const char **names = arena_alloc(run->scratch, (size_t)n * sizeof *names);
    int named = 0;
    for (int i = 0; i < n; i++)
      if (keys[i].is_string) names[named++] = keys[i].string;
    const char *last = strrchr(name, '.');
    diag_add(run->d, spec_here(run), D_LUA_WORD, name,
             spec_suggest(run->a, last ? last + 1 : name, names, named));
  }
  spec_push_poison(L);
  return 1;
}

static const char *plain_name(lua_State *L, int at) {
  size_t len;
  const char *name = lua_type(L, at) == LUA_TSTRING ? lua_tolstring(L, at, &len) : NULL;
  return name && strlen(name) == len && utf8_bad(name, len) == len ? name : "?";
}

/* Reading a global.  Upvalues: words, the file's own variables. */
static int global_get(lua_State *L) {
  for (int i = 1; i <= 2; i++) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(i)) != LUA_TNIL) return 1;
    lua_pop(L, 1);
  }
  return unknown_name(L, plain_name(L, 2), lua_upvalueindex(1));
}

static int global_set(lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
    diag_add(spec_run(L)->d, spec_here(spec_run(L)), D_LUA_ASSIGN, plain_name(L, 2));
    return 0;
  }
  lua_settop(L, 3);
  lua_rawset(L, lua_upvalueindex(2));
  return 0;
}

/* Reading a library's field that is not there.  Upvalues: the library, its name. */
static int library_get(lua_State *L) {
  const char *name =
      lua_pushfstring(L, "%s.%s", lua_tostring(L, lua_upvalueindex(2)), plain_name(L, 2));
  return unknown_name(L, name, lua_upvalueindex(1));
}

static int library_set(lua_State *L) {
  diag_add(spec_run(L)->d, spec_here(spec_run(L)), D_LUA_ASSIGN,
           lua_tostring(L, lua_upvalueindex(1)));
  return 0;
}

static void copy_fields(lua_State *L, int from, int to, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++) {
    lua_getfield(L, from, names[i]);
    lua_setfield(L, to, names[i]);
  }
}

/* Puts an empty table in the place of the one on the top of the stack and in front of it: all
** access goes through functions, so that a wrong name is told of, and no function can be
** replaced. */
static void seal(lua_State *L, const char *name) {
  const int inner = lua_gettop(L);
  lua_newtable(L);
  lua_pushvalue(L, inner);
  lua_pushstring(L, name);
  lua_pushcclosure(L, library_get, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, inner);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushvalue(L, inner);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, name);
  lua_pushcclosure(L, library_set, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_replace(L, inner);
}

static void add_library(lua_State *L, int words, const char *name, lua_CFunction open,
                        const char *const *kept, size_t n) {
  luaL_requiref(L, name, open, 0);
  const int all = lua_gettop(L);
  lua_newtable(L);
  copy_fields(L, all, all + 1, kept, n);
  if (open == luaopen_string) {
    lua_getfield(L, all, "format");
    lua_pushcclosure(L, safe_format, 1);
    lua_setfield(L, all + 1, "format");
  }
  seal(L, name);
  if (open == luaopen_string) { /* ("x"):upper() goes the same way; texts do no arithmetic */
    lua_pushstring(L, "");
    lua_newtable(L);
    lua_pushvalue(L, all + 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
  }
  lua_setfield(L, words, name);
  lua_settop(L, all - 1);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Leaves the environment of every chunk in the registry. */
static int open_words(lua_State *L) {
  SpecRun *run = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_newtable(L);
  luaL_requiref(L, "_G", luaopen_base, 0);
  copy_fields(L, 2, 1, base_kept, COUNT(base_kept));
  lua_settop(L, 1);
  add_library(L, 1, "math", luaopen_math, math_kept, COUNT(math_kept));
  add_library(L, 1, "string", luaopen_string, string_kept, COUNT(string_kept));
  add_library(L, 1, "table", luaopen_table, table_kept, COUNT(table_kept));
  static const luaL_Reg own[] = {
      {"include", include}, {"pairs", safe_pairs}, {"tostring", safe_tostring}, {NULL, NULL}};
  luaL_setfuncs(L, own, 0);
  spec_words_open(run, 1);
  lua_newtable(L); /* 2: the file's own variables */
  lua_newtable(L); /* 3: the environment, which stays empty */
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, global_get, 2);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, global_set, 2);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, 3);
  lua_setfield(L, LUA_REGISTRYINDEX, "kgen.environment");
  return 0;
}

bool spec_sandbox_open(SpecRun *run) {
  lua_State *L = lua_newstate(allocate, run);
  if (!L) return false;
  *(SpecRun **)lua_getextraspace(L) = run;
  run->L = L;
  run->started = clock();
  lua_sethook(L, count_steps, LUA_MASKCOUNT, HOOK_STEPS);
  return spec_protected(run, open_words, run);
}

/* ---- running --------------------------------------------------------------------------------- */

/* "3:12: text", as Lua writes it for chunk "=3": the place and the text. */
static Place split(SpecRun *run, const char **message, Place otherwise) {
  char *end;
  const char *text = *message;
  const long source = strtol(text, &end, 10);
  if (end == text || *end != ':' || source < 0 || source >= run->source_count) return otherwise;
  text = end + 1;
  const long line = strtol(text, &end, 10);
  if (end == text || strncmp(end, ": ", 2) != 0) return otherwise;
  *message = end + 2;
  return (Place){run->sources[source]->path, (int)line, 0};
}

static void complain_stop(SpecRun *run) {
  Arena *a = run->a;
  if (run->unknowns && (run->stop == STOP_STEPS || run->stop == STOP_SECONDS)) return;
  switch (run->stop) {
  case STOP_NOT: return;
  case STOP_MEMORY: diag_add(run->d, run->stop_at, D_LUA_MEMORY, (int)SPEC_MEMORY_MIB); return;
  case STOP_STEPS:
    diag_add(run->d, run->stop_at, D_LUA_ENDLESS,
             arena_printf(a, "%d million instructions", (int)SPEC_MILLION_STEPS));
    return;
  case STOP_SECONDS:
    diag_add(run->d, run->stop_at, D_LUA_ENDLESS, arena_printf(a, "%d seconds", (int)SPEC_SECONDS));
    return;
  case STOP_FAULTS: diag_add(run->d, run->stop_at, D_LUA_FAULTS, (int)SPEC_FAULTS); return;
  case STOP_TRAFFIC:
    diag_add(run->d, run->stop_at, D_LUA_ENDLESS,
             arena_printf(a, "%d GiB of texts and tables made", (int)SPEC_TRAFFIC_GIB));
    return;
  }
}

/* A text of the specification's as one line of plain UTF-8. */
static const char *one_line(Arena *a, const char *text, size_t len) {
  if (strlen(text) != len || utf8_bad(text, len) < len) return "(a message that is not plain text)";
  char *line = arena_strndup(a, text, len > 400 ? 400 : len);
  line[utf8_bad(line, strlen(line))] = 0; /* the cut may have split a character */
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < 0x20) *c = ' ';
  return line;
}

/* Called at the place of the error, the stack still whole. */
static int on_error(lua_State *L) {
  SpecRun *run = spec_run(L);
  if (run->stop != STOP_NOT) return 1;
  size_t len = 0;
  const char *message = lua_isstring(L, 1) ? lua_tolstring(L, 1, &len) : NULL;
  if (!message) {
    message = lua_pushfstring(L, "error was called with a %s", luaL_typename(L, 1));
    len = strlen(message);
  }
  const char *text = one_line(run->a, message, len);
  const Place at = split(run, &text, spec_here(run));
  diag_add(run->d, at, D_LUA_ERROR, text);
  return 1;
}

/* After Lua said so: a buffer of its own asks once only. */
static void stop_for_memory(SpecRun *run) {
  if (run->stop != STOP_NOT) return;
  run->stop = STOP_MEMORY;
  run->stop_at = run->refused_at.file ? run->refused_at : (Place){run->file, 0, 0};
}

/* Calls what is on the stack with its n arguments. */
static bool call(SpecRun *run, int n, int results) {
  lua_State *L = run->L;
  const int base = lua_gettop(L) - n;
  lua_pushcfunction(L, on_error);
  lua_insert(L, base);
  const int status = lua_pcall(L, n, results, base);
  lua_remove(L, base);
  if (status == LUA_OK) return true;
  lua_pop(L, 1);
  if (status == LUA_ERRMEM) stop_for_memory(run);
  if (run->stop == STOP_NOT && status == LUA_ERRERR)
    diag_add(run->d, spec_here(run), D_LUA_ERROR, "error in error handling");
  return false;
}

bool spec_protected(SpecRun *run, lua_CFunction f, void *argument) {
  lua_pushcfunction(run->L, f);
  lua_pushlightuserdata(run->L, argument);
  const bool fine = call(run, 1, 0);
  complain_stop(run);
  return fine;
}

bool spec_sandbox_run(SpecRun *run, SpecSource *source) {
  lua_State *L = run->L;
  int number = 0;
  while (run->sources[number] != source) number++;
  const int top = lua_gettop(L);
  const int status =
      luaL_loadbufferx(L, source->text, source->len, lua_pushfstring(L, "=%d", number), "t");
  lua_remove(L, top + 1);
  if (status != LUA_OK) {
    if (status == LUA_ERRMEM) stop_for_memory(run);
    if (status == LUA_ERRSYNTAX) { /* nesting too deep is none, and on_error has told of it */
      size_t len;
      const char *message = lua_tolstring(L, -1, &len), *text = one_line(run->a, message, len);
      const Place at = split(run, &text, (Place){source->path, 0, 0});
      diag_add(run->d, at, D_LUA_SYNTAX, text);
    }
    lua_pop(L, 1);
    return false;
  }
  spec_dropped_check(run, source);
  lua_getfield(L, LUA_REGISTRYINDEX, "kgen.environment");
  lua_setupvalue(L, -2, 1);
  source->loading = true;
  const bool fine = call(run, 0, 1);
  source->loading = false;
  return fine;
}

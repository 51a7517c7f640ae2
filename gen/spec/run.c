/* run.c: what every part of the reader asks of a run: where it is, what it has used, the keys of
** a table, words for its messages.  See read.h. */
#include <stdlib.h>
#include <string.h>

#include "spec/read.h"

SpecRun *spec_run(lua_State *L) { return *(SpecRun **)lua_getextraspace(L); }

/* The innermost line of a specification that is being run; outside: that of a file's own
** statements, where one is among them. */
static Place here(SpecRun *run, bool outside) {
  Place at = {run->file, 0, 0};
  lua_Debug ar;
  for (int level = 0; lua_getstack(run->L, level, &ar); level++) {
    lua_getinfo(run->L, "Sl", &ar);
    const int source =
        ar.source[0] == '=' ? atoi(ar.source + 1) : -1; /* chunks are named by number */
    if (ar.currentline < 1 || source < 0 || source >= run->source_count) continue;
    const Place place = {run->sources[source]->path, ar.currentline, 0};
    const bool own = strcmp(ar.what, "main") == 0;
    if (own || !outside) return place;
    if (at.line == 0) at = place;
  }
  return at;
}

Place spec_here(SpecRun *run) { return here(run, false); }

Place spec_entry_here(SpecRun *run) { return here(run, true); }

void spec_stop(SpecRun *run, SpecStop why) {
  if (run->stop != STOP_NOT) return;
  run->stop = why;
  if (run->L) run->stop_at = spec_here(run);
}

/* Lua answers a first refusal by collecting all garbage and asking again: only the second one
** counts. */
bool spec_over(SpecRun *run, size_t more) {
  const size_t most = (size_t)SPEC_MEMORY_MIB << 20;
  if (more > most || run->memory > most - more) {
    if (run->refused) spec_stop(run, STOP_MEMORY);
    if (!run->refused && run->L) run->refused_at = spec_here(run);
    run->refused = true;
    return true;
  }
  run->refused = false;
  if (run->traffic < (uint64_t)SPEC_TRAFFIC_GIB << 30) return false;
  spec_stop(run, STOP_TRAFFIC);
  return true;
}

void spec_charge(SpecRun *run, size_t bytes) {
  if (spec_over(run, bytes)) {
    spec_stop(run, STOP_MEMORY);
    luaL_error(run->L, "stopped");
  }
  run->memory += bytes;
  run->traffic += bytes;
}

static int by_key(const void *x, const void *y) {
  const Key *p = x, *q = y;
  if (p->is_string != q->is_string) return p->is_string ? 1 : -1;
  if (!p->is_string) return p->number < q->number ? -1 : p->number > q->number;
  const int d = memcmp(p->string, q->string, p->len < q->len ? p->len : q->len);
  return d ? d : p->len < q->len ? -1 : p->len > q->len;
}

Key *spec_keys(SpecRun *run, int table, int *count, int *others) {
  lua_State *L = run->L;
  table = lua_absindex(L, table);
  luaL_checkstack(L, 4, NULL);
  int n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) n++;
  spec_charge(run, (size_t)n * sizeof(Key)); /* scripts can ask for this in a loop */
  run->scratch_bytes += (size_t)n * sizeof(Key);
  Key *keys = arena_alloc(run->scratch, (size_t)n * sizeof *keys);
  *count = *others = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    Key *k = &keys[*count];
    if (lua_isinteger(L, -2))
      k->number = lua_tointeger(L, -2);
    else if (lua_type(L, -2) == LUA_TSTRING) {
      k->is_string = true;
      k->string = lua_tolstring(L, -2, &k->len); /* kept alive by the table */
    } else {
      (*others)++;
      continue;
    }
    (*count)++;
  }
  qsort(keys, (size_t)*count, sizeof *keys, by_key);
  return keys;
}

const char *spec_suggest(Arena *a, const char *word, const char *const *names, int n) {
  const char *near = nearest_name(word, names, n);
  return near ? arena_printf(a, "; did you mean '%s'?", near) : "";
}

const char *spec_kind(lua_State *L, int at) {
  return lua_isnoneornil(L, at) ? "nothing"
                                : arena_printf(spec_run(L)->a, "a %s", luaL_typename(L, at));
}

bool spec_one_value(lua_State *L, const char *word, int most) {
  SpecRun *run = spec_run(L);
  const int n = lua_gettop(L);
  if (n <= most) return true;
  diag_add(run->d, spec_here(run), D_WORD_ARGUMENT, word,
           arena_printf(run->a, "%d values", n - most + 1), "1");
  return false;
}

const char *spec_float_text(Arena *a, double x) {
  if (x != x) return "nan"; /* printf may show its sign */
  const char *text = arena_printf(a, "%.14g", x);
  return text[strspn(text, "-0123456789")] ? text : arena_printf(a, "%s.0", text);
}

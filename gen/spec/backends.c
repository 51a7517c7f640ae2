/* backends.c: `backends { "metal", "cuda", "hip" }`: which backends a specification speaks of.
** See read.h.
**
** Every kernel says of each of them whether it has a port there; no other is generated, checked or
** shown, so a table that comes to templates/backends changes nothing until a specification names
** it.  A specification that does not say it speaks of every backend that there is. */
#include <string.h>

#include "spec/read.h"

static const char EXPECTED[] =
    "a list of backends, as in backends { \"metal\", \"cuda\", \"hip\" }";

static bool read_one(Reader *r, Val v, bool *named) {
  const SpecRun *run = r->run;
  const char *names[MAX_BACKENDS], *name;
  if (!val_string(r, v, "a backend's name", &name)) return false;
  for (int i = 0; i < run->there_count; i++) {
    names[i] = run->there[i]->name;
    if (strcmp(names[i], name) != 0) continue;
    if (named[i])
      diag_add(r->d, val_place(r, v), D_VALUE_TWICE, "backends", arena_printf(r->a, "'%s'", name));
    return named[i] = true;
  }
  diag_add(r->d, val_place(r, v), D_PORT_UNKNOWN, "backends", name,
           spec_suggest(r->a, name, names, run->there_count));
  return false;
}

void spec_backends_read(SpecRun *run, Place at, int table) {
  if (run->backends_said)
    diag_add(run->d, at, D_BACKENDS_TWICE, run->backends_at.file, run->backends_at.line);
  else if (run->head_count > 0)
    diag_add(run->d, at, D_BACKENDS_LATE, run->heads[0]->name);
  if (run->backends_said || run->head_count > 0) return;
  run->backends_said = true;
  run->backends_at = at;
  Kernel *k = arena_alloc(run->a, sizeof *k); /* where val_* look for the file */
  k->name = "backends";
  k->file = at.file;
  k->line = at.line;
  Reader r = {.run = run, .a = run->a, .scratch = run->scratch, .d = run->d, .L = run->L, .k = k};
  const Val list = {lua_absindex(run->L, table), "backends", NULL, at.line};
  const int n = val_list(&r, list, EXPECTED, MAX_BACKENDS, NULL, 0), top = lua_gettop(run->L);
  if (n < 0) return;
  if (n == 0) diag_add(run->d, at, D_LIST_LENGTH, "backends", "0", "one or more are");
  bool named[MAX_BACKENDS] = {false}, all = n > 0;
  for (int i = 1; i <= n; i++, lua_settop(run->L, top))
    all = read_one(&r, val_item(&r, list, i), named) && all;
  if (!all) return; /* told of; what kernels say is then put to every backend */
  const Backend **spoken = arena_alloc(run->a, MAX_BACKENDS * sizeof *spoken);
  int count = 0;
  for (int i = 0; i < run->there_count; i++) /* in the tables' order, whatever the list's */
    if (named[i]) spoken[count++] = run->there[i];
  run->backends = spoken;
  run->backend_count = count;
}

/* sets.c: `path { name = ..., kernels = { ... } }`: several kernels that a caller needs
** together, and so asks for with one predicate.  See read.h. */
#include <string.h>

#include "spec/read.h"

enum { PATH_KERNELS = 16 };

static const char EXPECTED[] =
    "a table, as in path { name = \"fused_moe\", kernels = { \"moe_gateup\", \"moe_down\" } }";

static void read_kernels(Reader *r, Val top, KernelSet *p) {
  const Val list = val_field(r, top, "kernels");
  static const char expected[] = "a list of two or more kernels' names";
  if (!val_required(r, top, list, "kernels", expected)) return;
  const int n = val_list(r, list, expected, PATH_KERNELS, NULL, 0);
  if (n < 0) return;
  if (n < 2)
    diag_add(r->d, val_place(r, list), D_LIST_LENGTH, list.label, arena_printf(r->a, "%d", n),
             "two or more");
  p->kernels = arena_alloc(r->a, ((size_t)n + 1) * sizeof *p->kernels);
  for (int i = 0; i < n; i++) {
    const char *name;
    if (!val_string(r, val_item(r, list, i + 1), "a kernel's name", &name)) continue;
    bool twice = false;
    for (int j = 0; j < p->kernel_count; j++) twice = twice || strcmp(p->kernels[j], name) == 0;
    if (twice)
      diag_add(r->d, val_place(r, list), D_VALUE_TWICE, list.label,
               arena_printf(r->a, "'%s'", name));
    else
      p->kernels[p->kernel_count++] = name;
  }
}

void spec_set_read(SpecRun *run, Place at, int table) {
  static const char *const fields[] = {"name", "kernels"};
  Kernel *k = arena_alloc(run->a, sizeof *k); /* where val_* look for the file */
  k->name = "path";
  k->file = at.file;
  k->line = at.line;
  Reader r = {.run = run, .a = run->a, .scratch = run->scratch, .d = run->d, .L = run->L, .k = k};
  const Val top = {lua_absindex(run->L, table), "path", NULL, at.line};
  if (!val_is_table(&r, top, EXPECTED)) return;
  const int base = lua_gettop(run->L);
  KernelSet *p = arena_alloc(run->a, sizeof *p);
  p->at = at;
  val_fields(&r, top, fields, 2);
  const Val name = val_field(&r, top, "name");
  if (val_required(&r, top, name, "name", "what the path is called") &&
      val_string(&r, name, "what the path is called", &p->name) && !spec_is_identifier(p->name)) {
    diag_add(r.d, val_place(&r, name), D_NAME_BAD, name.label, p->name);
    p->name = NULL;
  }
  const char *prefix = p->name ? spec_prefix_fault(p->name) : NULL;
  if (prefix) diag_add(r.d, val_place(&r, name), D_NAME_PREFIX, name.label, p->name, prefix);
  read_kernels(&r, top, p);
  lua_settop(run->L, base);
  if (p->name == NULL) return;
  GROW(run->a, run->sets, run->set_count, run->set_room);
  run->sets[run->set_count++] = p;
}

static bool is_kernel(const SpecRun *run, const char *name) {
  for (int i = 0; i < run->head_count; i++)
    if (strcmp(run->heads[i]->name, name) == 0) return true;
  return false;
}

void spec_sets_check(SpecRun *run) {
  const char **names = arena_alloc(run->a, ((size_t)run->head_count + 1) * sizeof *names);
  for (int i = 0; i < run->head_count; i++) names[i] = run->heads[i]->name;
  for (int i = 0; i < run->set_count; i++) {
    const KernelSet *p = run->sets[i];
    const char *label = arena_printf(run->a, "path %s", p->name);
    if (is_kernel(run, p->name)) diag_add(run->d, p->at, D_NAME_TWICE, label, p->name, "a kernel");
    for (int j = 0; j < i; j++)
      if (strcmp(run->sets[j]->name, p->name) == 0)
        diag_add(run->d, p->at, D_NAME_TWICE, label, p->name, "another path");
    for (int j = 0; j < p->kernel_count; j++)
      if (!is_kernel(run, p->kernels[j]))
        diag_add(run->d, p->at, D_SET_KERNEL, label, p->kernels[j],
                 spec_suggest(run->a, p->kernels[j], names, run->head_count));
  }
}

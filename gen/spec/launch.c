/* launch.c: how a kernel is launched, and on what: launch, require, wave, ports.  See
** read.h. */
#include <string.h>

#include "spec/read.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

enum { WAVE32 = 1u, WAVE64 = 2u };

/* ---- groups, threads, require ---------------------------------------------------------------- */

static void read_three(Reader *r, Val v, kg_expr out[3]) {
  lua_State *L = r->L;
  const int n = val_list(r, v, "a list of 3, one an axis", 3, NULL, 0), top = lua_gettop(L);
  if (n < 0) return;
  if (n != 3) {
    diag_add(r->d, val_place(r, v), D_LIST_LENGTH, v.label, arena_printf(r->a, "%d", n),
             "3, one an axis, are");
    return;
  }
  kg_expr read[3];
  bool fine = true;
  for (int i = 0; i < 3; i++) {
    fine =
        val_expr(r, val_item(r, v, i + 1), false, "an integer or an expression", &read[i]) && fine;
    lua_settop(L, top);
  }
  if (fine) memcpy(out, read, sizeof read);
}

static void read_require(Reader *r, Val v) {
  static const char *const hint = "for example dim.D:ge(1)";
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int n = val_list(r, v, "a list of comparisons, as in { dim.D:ge(1) }", MAX_REQUIRES, NULL,
                         0),
            top = lua_gettop(L);
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    const Val item = val_item(r, v, i);
    if (lua_isboolean(L, item.at)) { /* Lua compared two things at once and kept no expression */
      if (r->run->lost > 0)
        r->run->lost--;
      else
        diag_add(r->d, val_place(r, item), D_NOT_CONDITION, item.label, val_text(r, item),
                 "==, ~= and not are not recorded; write dim.D:eq(1), dim.D:ne(1), negate(a)");
      continue;
    }
    kg_expr e;
    if (!val_expr(r, item, false, "a comparison, as in dim.D:ge(1)", &e)) continue;
    if (expr_is_condition(k, e.steps, e.count))
      k->room->require[k->require_count++] = e;
    else
      diag_add(r->d, val_place(r, item), D_NOT_CONDITION, item.label,
               arena_printf(r->a, "'%s'", e.text), hint);
  }
}

static void require_end(Arena *a, Kernel *k, int scalar, kg_op op, double end) {
  const kg_expr range[2] = {expr_var(a, &k->model, KG_SCALAR, scalar), expr_int(a, (int64_t)end)};
  k->room->require[k->require_count++] = expr_of(a, &k->model, op, range);
}

/* What a launch must satisfy beside: the ranges of the dims and of the whole scalars that are
** declared. */
static void require_ranges(Arena *a, Kernel *k) {
  k->stated_count = k->require_count;
  for (int i = 0; i < k->dim_count; i++) {
    if (k->dim_max[i] >= UINT32_MAX) continue; /* every dim fits a u32 anyway */
    const kg_expr range[2] = {expr_var(a, &k->model, KG_DIM, i), expr_int(a, k->dim_max[i])};
    k->room->require[k->require_count++] = expr_of(a, &k->model, KG_OP_LE, range);
  }
  for (int i = 0; i < k->scalar_count; i++) {
    const ScalarDomain *d = &k->scalar_domains[i];
    if (k->scalars[i].dtype == KG_F32) continue; /* no expression has one */
    if (d->has_min) require_end(a, k, i, KG_OP_GE, d->min);
    if (d->has_max) require_end(a, k, i, KG_OP_LE, d->max);
  }
}

static unsigned read_wave(Reader *r, Val v) {
  lua_State *L = r->L;
  if (lua_type(L, v.at) == LUA_TSTRING && strcmp(lua_tostring(L, v.at), "any") == 0)
    return WAVE32 | WAVE64;
  if (lua_isinteger(L, v.at) && lua_tointeger(L, v.at) == 32) return WAVE32;
  if (lua_isinteger(L, v.at) && lua_tointeger(L, v.at) == 64) return WAVE64;
  if (!val_poison(r, v)) diag_add(r->d, val_place(r, v), D_WAVE, v.label, val_text(r, v));
  return 0;
}

void spec_launch_read(Reader *r, Val top) {
  static const char *const fields[] = {"groups", "threads"};
  static const char *const expected = "{ groups = { x, y, z }, threads = { x, y, z } }";
  Kernel *k = r->k;
  const Val launch = val_field(r, top, "launch"), require = val_field(r, top, "require"),
            wave = val_field(r, top, "wave");
  if (val_required(r, top, launch, "launch", expected) && val_is_table(r, launch, expected)) {
    val_fields(r, launch, fields, COUNT(fields));
    const Val groups = val_field(r, launch, "groups"), threads = val_field(r, launch, "threads");
    if (val_required(r, launch, groups, "groups", "a list of 3, one an axis"))
      read_three(r, groups, k->groups);
    if (val_required(r, launch, threads, "threads", "a list of 3, one an axis"))
      read_three(r, threads, k->threads);
  }
  if (!val_nil(r, require)) read_require(r, require);
  require_ranges(r->a, k);
  if (val_required(r, top, wave, "wave", "any, 32 or 64")) k->waves = read_wave(r, wave);
  r->run->lost = 0;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static const char *waves_text(unsigned waves) {
  static const char *const text[] = {"no width", "32", "64", "32 and 64"};
  return text[waves & 3];
}

static const char *read_body(Reader *r, Val v) {
  const char *path;
  return val_string(r, v, "the body's file", &path) ? spec_path_find(r, v, path) : NULL;
}

static void read_define(Reader *r, Port *p, Val table, const char *name) {
  const Kernel *k = r->k;
  lua_State *L = r->L;
  const Val v = val_field(r, table, name);
  const kg_symbol found = kg_symbol_named(&k->model, name);
  const kg_const_param *c = found.kind == KG_CONST ? &k->consts[found.index] : NULL;
  if (!c || c->in_key) {
    const char *fixed[MAX_CONSTS];
    int n = 0;
    for (int i = 0; i < k->const_count; i++)
      if (!k->consts[i].in_key) fixed[n++] = k->consts[i].name;
    if (!r->bad_names)
      diag_add(r->d, val_place(r, v), D_DEFINE_UNKNOWN, table.label, name,
               spec_suggest(r->a, name, fixed, n));
    return;
  }
  Define d = {.name = c->name, .is_bool = c->is_bool};
  if (c->is_bool) {
    d.value = lua_toboolean(L, v.at);
    if (!lua_isboolean(L, v.at)) {
      if (!val_poison(r, v))
        diag_add(r->d, val_place(r, v), D_FIELD_TYPE, v.label, val_text(r, v), "true or false");
      return;
    }
  } else if (!val_int(r, v, INT32_MIN, UINT32_MAX, &d.value)) {
    return;
  }
  p->defines[p->define_count++] = d;
}

static void read_defines(Reader *r, Port *p, Val table) {
  lua_State *L = r->L;
  if (!val_is_table(r, table, "constants by name, as in { NAME = 1 }")) return;
  int n, others;
  const Key *keys = spec_keys(r->run, table.at, &n, &others);
  if (n > MAX_DEFINES) {
    diag_add(r->d, val_place(r, table), D_LIST_LONG, table.label, arena_printf(r->a, "%d", n),
             (int)MAX_DEFINES);
    return;
  }
  const int top = lua_gettop(L);
  for (int i = 0; i < n; i++, lua_settop(L, top)) {
    if (keys[i].is_string && strlen(keys[i].string) == keys[i].len &&
        spec_is_identifier(keys[i].string))
      read_define(r, p, table, arena_strdup(r->a, keys[i].string));
    else
      diag_add(r->d, val_place(r, table), D_FIELD_TYPE, table.label, "a key that is no name",
               "constants by name");
  }
}

/* Whose bits a port's results have. */
static void read_bits(Reader *r, Port *p, Val v) {
  static const char *const whose[] = {"portable", "mlx"};
  const char *s = NULL;
  if (!val_string(r, v, "\"portable\" or \"mlx\"", &s)) return;
  p->mlx_bits = strcmp(s, whose[1]) == 0;
  if (!p->mlx_bits && strcmp(s, whose[0]) != 0)
    diag_add(r->d, val_place(r, v), D_BITS, v.label, s,
             spec_suggest(r->a, s, whose, (int)COUNT(whose)));
}

/* What any port may have of its own. */
static void read_own(Reader *r, Port *p, Val v) {
  Kernel *k = r->k;
  const Val define = val_field(r, v, "define"), threads = val_field(r, v, "threads"),
            wave = val_field(r, v, "wave"), why = val_field(r, v, "why"),
            bits = val_field(r, v, "bits");
  if (!val_nil(r, define)) read_defines(r, p, define);
  if (!val_nil(r, threads)) {
    memset(p->threads, 0, sizeof p->threads);
    read_three(r, threads, p->threads);
  }
  if (!val_nil(r, bits)) read_bits(r, p, bits);
  if (!val_nil(r, why))
    val_string(r, why, "the reason for what the port does otherwise", &p->why_defines);
  else if (p->define_count > 0)
    diag_add(r->d, val_place(r, define), D_DEFINE_WHY, v.label);
  else if (p->mlx_bits)
    diag_add(r->d, val_place(r, bits), D_BITS_WHY, v.label);
  const unsigned own = val_nil(r, wave) ? WAVE32 | WAVE64 : read_wave(r, wave);
  p->waves = k->waves & own & p->backend->waves;
  if (k->waves && own && !p->waves)
    diag_add(r->d, val_place(r, val_nil(r, wave) ? v : wave), D_WAVE_NONE, v.label,
             waves_text(k->waves), waves_text(own), p->backend->title,
             waves_text(p->backend->waves));
}

static void read_port_table(Reader *r, Port *p, Val v) {
  static const char *const fields[] = {"bits", "body", "define", "threads", "wave", "why"};
  val_fields(r, v, fields, COUNT(fields));
  const Val body = val_field(r, v, "body");
  p->own_body = !val_nil(r, body);
  if (p->own_body) p->body = read_body(r, body);
  read_own(r, p, v);
}

/* ---- ports whose text its owner wrote -------------------------------------------------------- */

/* The arguments of a table in its order: inputs, outputs, dims, scalars. */
static int all_arguments(const Kernel *k, const char **names) {
  int n = 0;
  for (int i = 0; i < k->arg_count; i++) names[n++] = k->args[i].name;
  for (int i = 0; i < k->dim_count; i++) names[n++] = k->dims[i];
  for (int i = 0; i < k->scalar_count; i++) names[n++] = k->scalars[i].name;
  return n;
}

static void read_arguments(Reader *r, Native *native, Val list) {
  const char *all[MAX_ARGS + MAX_DIMS + MAX_SCALARS], *fault = NULL;
  const int total = all_arguments(r->k, all), most = (int)COUNT(all);
  const int n = val_list(r, list, "a list of arguments by name", most, NULL, 0);
  const int top = lua_gettop(r->L);
  bool taken[COUNT(all)] = {false};
  for (int i = 1; i <= n && !fault; i++, lua_settop(r->L, top)) {
    const char *name;
    int at = 0;
    if (!val_string(r, val_item(r, list, i), "an argument's name", &name)) return;
    while (at < total && strcmp(all[at], name) != 0) at++;
    if (at == total)
      fault = arena_printf(r->a, "'%s' is no input, output, dim or scalar%s", name,
                           spec_suggest(r->a, name, all, total));
    else if (taken[at])
      fault = arena_printf(r->a, "'%s' stands there twice", name);
    else
      native->arguments[native->argument_count++] = all[at], taken[at] = true;
  }
  for (int i = 0; i < total && n >= 0 && !fault && !r->bad_names && !r->bad_shapes; i++)
    if (!taken[i]) fault = arena_printf(r->a, "'%s' is missing", all[i]);
  if (fault) diag_add(r->d, val_place(r, list), D_NATIVE_ARGS, list.label, fault);
}

/* "metal, cuda and hip": those whose tables have what a native text needs. */
static const char *native_backends(const Reader *r) {
  Buf b = {0};
  for (int i = 0; i < r->run->there_count; i++)
    if (backend_text(r->run->there[i], "native_kernel"))
      buf_printf(&b, "%s%s", b.len ? ", " : "", r->run->there[i]->name);
  const char *s = arena_strdup(r->a, b.s ? b.s : "none");
  buf_free(&b);
  return s;
}

static void read_native(Reader *r, Port *p, Val v) {
  static const char *const fields[] = {"args",   "bits",    "define", "entry",
                                       "header", "threads", "wave",   "why"};
  static const char *const expected =
      "native \"FILE\", or native{ \"FILE\", entry = ..., header = ..., args = { ... } }";
  lua_State *L = r->L;
  Native *native = arena_alloc(r->a, sizeof *native);
  p->absent = NULL, p->native = native, p->body = NULL, p->own_body = true;
  if (!backend_text(p->backend, "native_kernel"))
    diag_add(r->d, val_place(r, v), D_NATIVE_BACKEND, v.label, p->backend->title,
             native_backends(r));
  lua_getiuservalue(L, v.at, 1);
  Val own = v, file = v;
  own.at = file.at = lua_gettop(L);
  const bool table = lua_istable(L, own.at);
  if (table) {
    val_list(r, own, expected, 1, fields, COUNT(fields));
    file = val_item(r, own, 1);
  }
  const char *path;
  if (val_string(r, file, expected, &path)) p->body = spec_path_find(r, file, path);
  if (!table) {
    p->waves = r->k->waves & p->backend->waves;
    return;
  }
  const Val entry = val_field(r, own, "entry"), header = val_field(r, own, "header"),
            args = val_field(r, own, "args");
  if (!val_nil(r, entry)) val_string(r, entry, "a kernel of that file", &native->entry);
  if (!val_nil(r, header) && val_string(r, header, "a file", &path))
    native->header = spec_path_find(r, header, path);
  if (!val_nil(r, args)) read_arguments(r, native, args);
  read_own(r, p, own);
}

/* Where the specification does not say which backends it speaks of, that may be what is wrong. */
static void missing(Reader *r, Val ports, const char *name) {
  diag_add(r->d, val_place(r, ports), D_PORT_MISSING, ports.label, name, name, name);
  if (!r->run->backends_said)
    diag_note(r->d, "a specification that is not for every backend says so before its first "
                    "kernel: backends { ... }");
}

static void read_port(Reader *r, Val ports, Port *p) {
  lua_State *L = r->L;
  const char *name = p->backend->name;
  const Val v = val_field(r, ports, name);
  const char *reason = spec_to_absent(L, v.at);
  p->absent = "";
  if (val_nil(r, v))
    missing(r, ports, name);
  else if (spec_is_absent_word(L, v.at) || (reason && strspn(reason, " ") == strlen(reason)))
    diag_add(r->d, val_place(r, v), D_ABSENT_REASON, v.label);
  else if (reason) {
    lua_getiuservalue(L, v.at, 1);
    Val text = v;
    text.at = lua_gettop(L);
    val_string(r, text, "the reason", &p->absent);
  } else if (spec_is_native(L, v.at)) {
    read_native(r, p, v);
  } else if (val_is_table(r, v, "a table, or absent \"the reason\"")) {
    p->absent = NULL;
    read_port_table(r, p, v);
  }
}

/* Is there a port, and is every one that there is native?  Then nobody needs a body. */
static bool all_native(Reader *r, Val ports) {
  lua_State *L = r->L;
  const int base = lua_gettop(L);
  int natives = 0, others = 0;
  for (int i = 0; i < r->run->backend_count && lua_istable(L, ports.at); i++) {
    const Val v = val_field(r, ports, r->run->backends[i]->name);
    natives += spec_is_native(L, v.at);
    others += lua_istable(L, v.at);
    lua_settop(L, base);
  }
  return natives > 0 && others == 0;
}

void spec_ports_read(Reader *r, Val top) {
  static const char *const expected = "a table with an entry for each backend";
  lua_State *L = r->L;
  Kernel *k = r->k;
  const Val body = val_field(r, top, "body"), ports = val_field(r, top, "ports");
  if (!(val_nil(r, body) && all_native(r, ports)) &&
      val_required(r, top, body, "body", "the body's file"))
    k->body = read_body(r, body);
  if (!val_required(r, top, ports, "ports", expected) || !val_is_table(r, ports, expected)) return;
  const char *names[MAX_BACKENDS];
  int n, others, present = 0;
  for (int i = 0; i < r->run->backend_count; i++) names[i] = r->run->backends[i]->name;
  const Key *keys = spec_keys(r->run, ports.at, &n, &others);
  for (int i = 0; i < n; i++) {
    char name[SPEC_NAME_BYTES + 1] = "?";
    const Key *key = &keys[i];
    if (!key->is_string)
      snprintf(name, sizeof name, "[%lld]", (long long)key->number);
    else if (key->len < sizeof name && strlen(key->string) == key->len &&
             spec_is_identifier(key->string))
      strcpy(name, key->string);
    bool known = false, there = false;
    for (int b = 0; b < r->run->backend_count; b++) known = known || strcmp(names[b], name) == 0;
    for (int b = 0; b < r->run->there_count; b++)
      there = there || strcmp(r->run->there[b]->name, name) == 0;
    const Where *w = where_key(ports.where, name);
    const Place at = {k->file, w ? w->line : ports.line, 0};
    if (!known && there)
      diag_add(r->d, at, D_PORT_UNSPOKEN, ports.label, arena_strdup(r->a, name));
    else if (!known)
      diag_add(r->d, at, D_PORT_UNKNOWN, ports.label, arena_strdup(r->a, name),
               spec_suggest(r->a, name, names, r->run->backend_count));
  }
  const int base = lua_gettop(L);
  for (int i = 0; i < r->run->backend_count; i++, lua_settop(L, base)) {
    Port *p = &k->ports[k->port_count++];
    p->backend = r->run->backends[i];
    p->body = k->body;
    memcpy(p->threads, k->threads, sizeof p->threads);
    read_port(r, ports, p);
    present += !p->absent || !*p->absent;
  }
  if (present == 0) diag_add(r->d, val_place(r, ports), D_PORTS_NONE, ports.label);
}

/* kernel.c: one kernel's table: types, constants, dims, inputs, outputs, scalars.  See
** read.h. */
#include <stdlib.h>
#include <string.h>

#include "spec/read.h"

void kernel_room(Arena *a, Kernel *k) {
  KernelRoom *room = arena_alloc(a, sizeof *room);
  k->version = KG_TABLES_VERSION;
  k->room = room;
  k->types = room->types;
  k->consts = room->consts;
  k->dims = room->dims;
  k->scalars = room->scalars;
  k->args = room->args;
  k->require = room->require;
}

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const char *const top_fields[] = {"allow",    "body",     "budget", "cases",     "consts",
                                         "dims",     "fallback", "graph",  "inputs",    "launch",
                                         "numerics", "outputs",  "ports",  "reference", "require",
                                         "scalars",  "summary",  "types",  "wave"};

/* ---- declarations that are a hash or an array of pairs --------------------------------------- */

/* Calls read for each entry: the entry (for a hash, its value), its name, its value, and whether it
** stood in an array.  A hash goes by name.  *bad: some entry could not be read. */
typedef void (*ReadPair)(Reader *r, Val entry, const char *name, Val value, bool ordered);

static void read_pairs(Reader *r, Val list, const char *expected, int most, ReadPair read,
                       bool *bad) {
  lua_State *L = r->L;
  if (!val_is_table(r, list, expected)) {
    *bad = true;
    return;
  }
  int n, others;
  const Key *keys = spec_keys(r->run, list.at, &n, &others);
  const bool hash = n > 0 && keys[0].is_string;
  if (hash && n > most) {
    diag_add(r->d, val_place(r, list), D_LIST_LONG, list.label, arena_printf(r->a, "%d", n), most);
    *bad = true;
    return;
  }
  const int top = lua_gettop(L);
  if (hash) {
    for (int i = 0; i < n; i++) {
      if (strlen(keys[i].string) != keys[i].len) {
        diag_add(r->d, val_place(r, list), D_TEXT_BAD, list.label, "a NUL byte");
        continue;
      }
      const char *name = arena_strdup(r->a, keys[i].string);
      const Val value = val_field(r, list, name);
      read(r, value, name, value, false);
      lua_settop(L, top);
    }
    return;
  }
  const int entries = val_list(r, list, expected, most, NULL, 0);
  if (entries < 0) *bad = true;
  for (int i = 1; i <= entries; i++, lua_settop(L, top)) {
    const Val entry = val_item(r, list, i);
    const char *name;
    if (val_list(r, entry, expected, 2, NULL, 0) < 0 ||
        !val_string(r, val_item(r, entry, 1), "a name", &name)) {
      *bad = true;
      continue;
    }
    read(r, entry, name, val_item(r, entry, 2), true);
  }
}

static void read_type(Reader *r, Val entry, const char *name, Val value, bool ordered) {
  (void)ordered;
  Kernel *k = r->k;
  lua_State *L = r->L;
  kg_dtype *dtypes = arena_alloc(r->a, MAX_VALUES * sizeof *dtypes);
  kg_type_param *t = &k->room->types[k->type_count];
  if (!spec_name_free(r, entry, name)) {
    r->bad_types = true;
    return;
  }
  *t = (kg_type_param){name, 0, dtypes};
  k->type_count++;
  const int n = val_list(r, value, "a list of dtypes", MAX_VALUES, NULL, 0);
  if (n == 0)
    diag_add(r->d, val_place(r, value), D_LIST_LENGTH, value.label, "0", "at least 1 dtype is");
  const int top = lua_gettop(L);
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    const Val item = val_item(r, value, i);
    const kg_dtype dtype = val_dtype(r, item);
    if (dtype == KG_DTYPES) continue;
    if (kg_type_has(t, dtype))
      diag_add(r->d, val_place(r, item), D_VALUE_TWICE, item.label, kg_dtype_name(dtype));
    else
      dtypes[t->count++] = dtype;
  }
}

/* ---- constants ------------------------------------------------------------------------------- */

static const int64_t const_low = INT32_MIN,
                     const_high = UINT32_MAX; /* what an i32 or a u32 holds */

static void read_choices(Reader *r, Val value, kg_const_param *c, int64_t *values) {
  lua_State *L = r->L;
  const int n = val_list(r, value, "a list of integers", MAX_VALUES, NULL, 0);
  if (n == 0)
    diag_add(r->d, val_place(r, value), D_LIST_LENGTH, value.label, "0", "at least 1 integer is");
  const int top = lua_gettop(L);
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    const Val item = val_item(r, value, i);
    int64_t x;
    if (!val_int(r, item, const_low, const_high, &x)) continue;
    bool twice = false;
    for (int j = 0; j < c->count; j++) twice = twice || values[j] == x;
    if (twice)
      diag_add(r->d, val_place(r, item), D_VALUE_TWICE, item.label, val_text(r, item));
    else
      values[c->count++] = x;
  }
}

static void read_const(Reader *r, Val entry, const char *name, Val value, bool ordered) {
  lua_State *L = r->L;
  int64_t *values = arena_alloc(r->a, MAX_VALUES * sizeof *values);
  kg_const_param c = {.name = name, .values = values};
  if (!spec_name_free(r, entry, name)) {
    r->bad_names = true;
    return;
  }
  const bool chooses = lua_istable(L, value.at) || (lua_type(L, value.at) == LUA_TSTRING &&
                                                    strcmp(lua_tostring(L, value.at), "bool") == 0);
  if (chooses && !ordered) diag_add(r->d, val_place(r, value), D_CONST_ORDER, value.label, name);
  c.in_key = chooses;
  if (lua_istable(L, value.at))
    read_choices(r, value, &c, values);
  else if (chooses) {
    c.is_bool = true;
    c.count = 2;
    values[1] = 1;
  } else if (lua_isboolean(L, value.at)) {
    c.is_bool = true;
    c.count = 1;
    values[0] = lua_toboolean(L, value.at);
  } else if (lua_type(L, value.at) == LUA_TNUMBER) {
    c.count = val_int(r, value, const_low, const_high, &values[0]);
  } else if (!val_poison(r, value)) {
    diag_add(r->d, val_place(r, value), D_CONST_VALUE, value.label, val_text(r, value));
  }
  r->k->room->consts[r->k->const_count++] = c;
}

/* Those in the key first, each kind in its own order. */
static void order_consts(Kernel *k) {
  kg_const_param sorted[MAX_CONSTS];
  int n = 0;
  for (int keyed = 1; keyed >= 0; keyed--)
    for (int i = 0; i < k->const_count; i++)
      if (k->consts[i].in_key == (keyed == 1)) sorted[n++] = k->consts[i];
  memcpy(k->room->consts, sorted, (size_t)n * sizeof *sorted);
}

/* ---- dims, scalars --------------------------------------------------------------------------- */

static void read_dims(Reader *r, Val list) {
  static const char *const fields[] = {"max"};
  static const char *const expected = "a list of names or { \"name\", max = number }";
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int n = val_list(r, list, expected, MAX_DIMS, NULL, 0), top = lua_gettop(L);
  if (n < 0) r->bad_names = true;
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    const Val entry = val_item(r, list, i);
    Val name_value = entry;
    int64_t most = UINT32_MAX;
    if (lua_istable(L, entry.at)) {
      val_list(r, entry, expected, 1, fields, COUNT(fields));
      const Val most_value = val_field(r, entry, "max");
      if (!val_nil(r, most_value)) val_int(r, most_value, 1, UINT32_MAX, &most);
      name_value = val_item(r, entry, 1);
    }
    const char *name;
    if (!val_string(r, name_value, expected, &name) || !spec_name_free(r, name_value, name)) {
      r->bad_names = true;
      continue;
    }
    k->room->dims[k->dim_count] = name;
    k->dim_max[k->dim_count++] = most;
  }
}

static void read_scalars(Reader *r, Val list) {
  static const char *const expected = "a list of { \"name\", dtype }";
  static const char *const fields[] = {"max", "min"};
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int n = val_list(r, list, expected, MAX_SCALARS, NULL, 0), top = lua_gettop(L);
  if (n < 0) r->bad_names = true;
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    const Val entry = val_item(r, list, i);
    const char *name;
    if (val_list(r, entry, expected, 2, fields, COUNT(fields)) < 0 ||
        !val_string(r, val_item(r, entry, 1), "a name", &name) || !spec_name_free(r, entry, name)) {
      r->bad_names = true;
      continue;
    }
    const Val value = val_item(r, entry, 2);
    const kg_dtype dtype = val_dtype(r, value);
    r->bad_scalar[k->scalar_count] = dtype == KG_DTYPES || !kg_dtype_info(dtype)->c_type;
    if (dtype < KG_DTYPES && !kg_dtype_info(dtype)->c_type)
      diag_add(r->d, val_place(r, value), D_SCALAR_DTYPE, entry.label, kg_dtype_name(dtype));
    else if (dtype < KG_DTYPES)
      spec_scalar_domain_read(r, entry, dtype, &k->scalar_domains[k->scalar_count]);
    k->room->scalars[k->scalar_count++] =
        (kg_scalar_param){name, dtype < KG_DTYPES ? dtype : KG_I32};
  }
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

static bool read_arg_type(Reader *r, Val v, kg_arg *arg) {
  const Kernel *k = r->k;
  const char *name, *names[MAX_TYPES + KG_DTYPES];
  if (!val_string(r, v, "a type's name or a dtype", &name)) return false;
  const kg_symbol found = kg_symbol_named(&k->model, name);
  if (found.kind == KG_TYPE) {
    arg->type = found.index;
    return true;
  }
  arg->dtype = kg_dtype_find(name);
  if (arg->dtype < KG_DTYPES) return true;
  arg->dtype = KG_F32;
  int n = 0;
  for (int i = 0; i < k->type_count; i++) names[n++] = k->types[i].name;
  for (int i = 0; i < KG_DTYPES; i++) names[n++] = kg_dtype_name((kg_dtype)i);
  if (!r->bad_types)
    diag_add(r->d, val_place(r, v), D_TYPE_UNDECLARED, v.label, name,
             spec_suggest(r->a, name, names, n));
  return false;
}

static void read_shape(Reader *r, Val v, kg_arg *arg) {
  kg_expr *shape = arena_alloc(r->a, MAX_RANK * sizeof *shape);
  arg->shape = shape;
  lua_State *L = r->L;
  if (lua_istable(L, v.at) && lua_rawlen(L, v.at) > MAX_RANK) {
    diag_add(r->d, val_place(r, v), D_RANK, v.label,
             arena_printf(r->a, "%llu", (unsigned long long)lua_rawlen(L, v.at)), (int)MAX_RANK);
    r->bad_shapes = true;
    return;
  }
  const int n = val_list(r, v, "a shape, as in { \"rows\", \"D\" }", MAX_RANK, NULL, 0),
            top = lua_gettop(L);
  if (n < 0) r->bad_shapes = true;
  for (int i = 1; i <= n; i++, lua_settop(L, top)) {
    if (val_expr(r, val_item(r, v, i), true, "a dim's name, an integer or an expression",
                 &shape[arg->rank]))
      arg->rank++;
    else
      r->bad_shapes = true; /* a fault in a shape hides which dims are bound */
  }
}

static void read_args(Reader *r, Val list, bool outputs) {
  static const char *const expected = "a list of { \"name\", \"type\", { shape } }";
  static const char *const input_fields[] = {"finite", "index", "range"};
  static const char *const output_fields[] = {"tolerance"};
  const char *const *fields = outputs ? output_fields : input_fields;
  const int field_count = outputs ? COUNT(output_fields) : COUNT(input_fields);
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int n = val_list(r, list, expected, 1000, NULL, 0), top = lua_gettop(L);
  if (n < 0) r->bad_shapes = true;
  for (int i = 1; i <= n && k->arg_count < MAX_ARGS; i++, lua_settop(L, top)) {
    const Val entry = val_item(r, list, i);
    kg_arg arg = {.type = -1, .output = outputs};
    const char *name;
    if (val_list(r, entry, expected, 3, fields, field_count) < 0 ||
        !val_string(r, val_item(r, entry, 1), "a name", &name) || !spec_name_free(r, entry, name)) {
      r->bad_shapes = true;
      continue;
    }
    arg.name = name;
    const bool typed = read_arg_type(r, val_item(r, entry, 2), &arg);
    r->bad_types = r->bad_types || !typed;
    read_shape(r, val_item(r, entry, 3), &arg);
    const Val tolerance = val_field(r, entry, "tolerance");
    if (outputs && !val_nil(r, tolerance)) {
      spec_tolerance_read(r, tolerance, &k->out_tolerance[k->arg_count]);
      k->has_out_tolerance[k->arg_count] = true;
    }
    if (!outputs && typed) spec_arg_domain_read(r, entry, &arg, &k->domains[k->arg_count]);
    k->arg_line[k->arg_count] = entry.line;
    k->room->args[k->arg_count++] = arg;
  }
  if (!outputs) k->input_count = k->arg_count;
  const int total = (outputs ? k->input_count : 0) + (n > 0 ? n : 0);
  r->args_over = total > MAX_ARGS;
  if (r->args_over)
    diag_add(r->d, val_place(r, list), D_ARGS_MANY, list.label, total, (int)MAX_ARGS);
  if (outputs && n == 0) diag_add(r->d, val_place(r, list), D_NO_OUTPUT, list.label);
}

/* A hash has no order: then types go by their first use, in inputs and then in outputs. */
static void order_types(Kernel *k) {
  int place[MAX_TYPES], n = 0;
  kg_type_param sorted[MAX_TYPES];
  for (int t = 0; t < k->type_count; t++) place[t] = -1;
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].type >= 0 && place[k->args[i].type] < 0) place[k->args[i].type] = n++;
  for (int t = 0; t < k->type_count; t++)
    if (place[t] < 0) place[t] = n++;
  for (int t = 0; t < k->type_count; t++) sorted[place[t]] = k->types[t];
  for (int i = 0; i < k->arg_count; i++)
    if (k->args[i].type >= 0) k->room->args[i].type = place[k->args[i].type];
  memcpy(k->room->types, sorted, (size_t)n * sizeof *sorted);
}

static void check_types_used(Reader *r, Val types) {
  const Kernel *k = r->k;
  for (int t = 0; t < k->type_count; t++) {
    bool used = false;
    for (int i = 0; i < k->arg_count; i++) used = used || k->args[i].type == t;
    if (!used && !r->bad_types && !r->bad_shapes)
      diag_add(r->d, val_place(r, types), D_TYPE_UNUSED, types.label, k->types[t].name);
  }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_hash(Reader *r, Val v) {
  return lua_istable(r->L, v.at) && lua_rawlen(r->L, v.at) == 0;
}

static void read_texts(Reader *r, Val top) {
  const Val summary = val_field(r, top, "summary"), fallback = val_field(r, top, "fallback");
  if (val_required(r, top, summary, "summary", "one sentence on what the kernel computes"))
    val_string(r, summary, "one sentence on what the kernel computes", &r->k->summary);
  if (val_required(r, top, fallback, "fallback", "what a refused caller should do instead"))
    val_string(r, fallback, "what a refused caller should do instead", &r->k->fallback);
}

static void read_declarations(Reader *r, Val top) {
  const Val types = val_field(r, top, "types"), consts = val_field(r, top, "consts"),
            dims = val_field(r, top, "dims"), scalars = val_field(r, top, "scalars"),
            inputs = val_field(r, top, "inputs"), outputs = val_field(r, top, "outputs");
  if (!val_nil(r, types))
    read_pairs(r, types, "types by name, as in { T = { f32, f16 } }", MAX_TYPES, read_type,
               &r->bad_types);
  if (!val_nil(r, consts))
    read_pairs(r, consts, "constants by name, as in { THREADS = 256 }", MAX_CONSTS, read_const,
               &r->bad_names);
  order_consts(r->k);
  if (!val_nil(r, dims)) read_dims(r, dims);
  if (!val_nil(r, scalars)) read_scalars(r, scalars);
  if (val_required(r, top, inputs, "inputs", "a list of { \"name\", \"type\", { shape } }"))
    read_args(r, inputs, false);
  if (val_required(r, top, outputs, "outputs", "a list of { \"name\", \"type\", { shape } }"))
    read_args(r, outputs, true);
  else
    r->bad_shapes = true;
  check_types_used(r, types);
  if (is_hash(r, types)) order_types(r->k);
}

void spec_kernel_read(SpecRun *run, const SpecHead *head, int table) {
  Kernel *k = arena_alloc(run->a, sizeof *k);
  kernel_room(run->a, k);
  k->name = head->name;
  k->file = head->at.file;
  k->line = head->at.line;
  k->folder = run->folder;
  k->summary = k->fallback = "";
  Reader *r = arena_alloc(run->scratch, sizeof *r);
  *r = (Reader){.run = run, .a = run->a, .scratch = run->scratch, .d = run->d, .L = run->L, .k = k};
  const Where *where =
      head->source ? spec_where(run->scratch, head->source, head->at.line, head->name) : NULL;
  const Val top = {lua_absindex(run->L, table), k->name, where, k->line};
  spec_kernel_name_check(r, top);
  val_fields(r, top, top_fields, COUNT(top_fields));
  const int base = lua_gettop(run->L);
  read_texts(r, top);
  read_declarations(r, top);
  spec_launch_read(r, top);
  spec_ports_read(r, top);
  spec_trial_read(r, top);
  lua_settop(run->L, base);
  spec_kernel_check(r, top);
  for (int i = 0; i < k->port_count; i++) port_launchable(run->a, k, &k->ports[i]);
  GROW(run->a, run->kernels, run->kernel_count, run->kernel_room);
  run->kernels[run->kernel_count++] = k;
  arena_free(run->scratch);
  run->scratch = arena_new();
  run->memory -= run->scratch_bytes;
  run->scratch_bytes = 0;
}

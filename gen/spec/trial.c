/* trial.c: how a kernel is tried: numerics, reference, cases; and the findings that are
** answered.  See read.h. */
#include <math.h>
#include <string.h>

#include "spec/read.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- tolerances ------------------------------------------------------------------------------ */

static bool read_bound(Reader *r, Val v, double *out) {
  double x;
  if (!val_number(r, v, "a number, or { rms = number, max = number }", &x)) return false;
  if (!isfinite(x) || x < 0) {
    diag_add(r->d, val_place(r, v), D_TOLERANCE_VALUE, v.label, val_text(r, v));
    return false;
  }
  *out = x;
  return true;
}

void spec_tolerance_read(Reader *r, Val v, Tolerance *out) {
  static const char *const fields[] = {"max", "rms"};
  if (!lua_istable(r->L, v.at)) {
    if (read_bound(r, v, &out->rms))
      out->max = 8 * out->rms; /* one wrong element must not hide among many right ones */
    return;
  }
  val_fields(r, v, fields, COUNT(fields));
  const Val rms = val_field(r, v, "rms"), most = val_field(r, v, "max");
  if (val_required(r, v, rms, "rms", "a number")) read_bound(r, rms, &out->rms);
  if (val_required(r, v, most, "max", "a number")) read_bound(r, most, &out->max);
}

/* Sets given[dtype] for each one that has a tolerance. */
static void read_tolerances(Reader *r, Val table, bool *given) {
  lua_State *L = r->L;
  const char *names[KG_DTYPES];
  for (int i = 0; i < KG_DTYPES; i++) names[i] = kg_dtype_name((kg_dtype)i);
  if (!val_is_table(r, table, "tolerances by dtype, as in { f32 = 1e-6 }")) return;
  val_fields(r, table, names, KG_DTYPES);
  for (int i = 0; i < KG_DTYPES; i++) {
    const int top = lua_gettop(L);
    const Val v = val_field(r, table, names[i]);
    if (!val_nil(r, v)) {
      spec_tolerance_read(r, v, &r->k->tolerance[i]);
      given[i] = true;
    }
    lua_settop(L, top);
  }
}

/* Every float dtype that an output can have, unless the output has its own tolerance. */
static void check_tolerances(Reader *r, Val numerics, const bool *given) {
  const Kernel *k = r->k;
  for (kg_dtype dtype = 0; dtype < KG_DTYPES; dtype++) {
    if (!dtype_is_float(dtype) || given[dtype]) continue;
    for (int i = k->input_count; i < k->arg_count; i++) {
      const kg_arg *arg = &k->args[i];
      const bool can = arg->type < 0 ? arg->dtype == dtype && !r->bad_types
                                     : kg_type_has(&k->types[arg->type], dtype);
      if (!can || k->has_out_tolerance[i]) continue;
      diag_add(r->d, val_place(r, numerics), D_TOLERANCE_MISSING, numerics.label, arg->name,
               kg_dtype_name(dtype), kg_dtype_name(dtype));
      break; /* once a dtype */
    }
  }
}

static void read_numerics(Reader *r, Val v) {
  static const char *const fields[] = {"accumulate", "tolerance"};
  bool given[KG_DTYPES] = {false};
  if (!val_nil(r, v)) {
    if (!val_is_table(r, v, "{ accumulate = f32, tolerance = { f32 = 1e-6 } }")) return;
    val_fields(r, v, fields, COUNT(fields));
    const Val accumulate = val_field(r, v, "accumulate"), tolerance = val_field(r, v, "tolerance");
    if (!val_nil(r, accumulate) && !val_poison(r, accumulate)) {
      const char *dtype =
          lua_type(r->L, accumulate.at) == LUA_TSTRING ? lua_tostring(r->L, accumulate.at) : "";
      if (kg_dtype_find(dtype) != KG_F32)
        diag_add(r->d, val_place(r, accumulate), D_ACCUMULATE, accumulate.label,
                 val_text(r, accumulate));
    }
    if (!val_nil(r, tolerance)) read_tolerances(r, tolerance, given);
  }
  check_tolerances(r, v, given);
}

/* ---- the data of a case ----------------------------------------------------------------------- */

const DataFacts data_facts[DATA_CLASSES] = {
#define KGEN_DATA(id, name, kind, extreme) {name, DATA_##kind, extreme},
#include "spec/data.def"
#undef KGEN_DATA
};

/* By the first dtype that it can have. */
static bool is_of_floats(const Kernel *k, const kg_arg *arg) {
  return dtype_is_float(arg->type < 0 ? arg->dtype : k->types[arg->type].dtypes[0]);
}

/* "below rows": a class, and behind one of DATA_DIMS a dim. */
static bool data_named(const Kernel *k, const char *text, InputData *out) {
  for (int c = 0; c < DATA_CLASSES; c++) {
    const size_t len = strlen(data_facts[c].name);
    if (strncmp(text, data_facts[c].name, len) != 0) continue;
    *out = (InputData){.is = (DataClass)c};
    if (data_facts[c].kind != DATA_DIMS && text[len] == 0) return true;
    if (data_facts[c].kind != DATA_DIMS || text[len] != ' ') continue;
    const kg_symbol s = kg_symbol_named(&k->model, text + len + 1);
    out->dim = s.index;
    if (s.kind == KG_DIM) return true;
  }
  return false;
}

static const char *data_choices(Reader *r, bool floats) {
  Buf b = {0};
  for (int c = 0; c < DATA_CLASSES; c++)
    if (c == DATA_PLAIN || (data_facts[c].kind == DATA_FLOATS) == floats)
      buf_printf(&b, "%s'%s%s'", b.len ? ", " : "", data_facts[c].name,
                 data_facts[c].kind == DATA_DIMS ? " DIM" : "");
  const char *text = arena_strdup(r->a, b.s);
  buf_free(&b);
  return text;
}

/* data = { x = "nan", index = "below rows" } */
static void read_case_data(Reader *r, Val table, Case *out) {
  const Kernel *k = r->k;
  const char *names[MAX_ARGS];
  if (!val_is_table(r, table, "classes of values by input, as in { x = \"nan\" }")) return;
  for (int i = 0; i < k->input_count; i++) names[i] = k->args[i].name;
  val_fields(r, table, names, k->input_count);
  const int top = lua_gettop(r->L);
  for (int i = 0; i < k->input_count; i++, lua_settop(r->L, top)) {
    const Val v = val_field(r, table, names[i]);
    const char *text;
    if (val_nil(r, v) || !val_string(r, v, "the name of a class of values", &text)) continue;
    const bool floats = is_of_floats(k, &k->args[i]);
    const bool found = data_named(k, text, &out->data[i]);
    if (found && (out->data[i].is == DATA_PLAIN ||
                  (data_facts[out->data[i].is].kind == DATA_FLOATS) == floats))
      continue;
    out->data[i] = (InputData){0};
    diag_add(r->d, val_place(r, v), D_CASE_DATA, v.label, val_text(r, v), data_choices(r, floats));
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const char *choices_text(Arena *a, const kg_const_param *c) {
  if (c->is_bool) return "true or false";
  const char *text = "";
  for (int i = 0; i < c->count; i++)
    text = arena_printf(a, "%s%s%lld", text, i ? ", " : "", (long long)c->values[i]);
  return c->count == 1 ? text : arena_printf(a, "one of %s", text);
}

static void read_case_const(Reader *r, Val entry, Val v, const kg_const_param *c, int number,
                            Case *out) {
  lua_State *L = r->L;
  if (!c->in_key) {
    diag_add(r->d, val_place(r, v), D_CASE_FIXED, entry.label, c->name);
    return;
  }
  bool fine = false;
  int64_t x = 0;
  if (c->is_bool) {
    fine = lua_isboolean(L, v.at);
    x = lua_toboolean(L, v.at);
  } else if (lua_isinteger(L, v.at)) {
    x = lua_tointeger(L, v.at);
    for (int i = 0; i < c->count; i++) fine = fine || c->values[i] == x;
  }
  if (!fine && !val_poison(r, v))
    diag_add(r->d, val_place(r, v), D_CASE_CONST, entry.label, val_text(r, v), c->name,
             choices_text(r->a, c));
  out->values[number] = x;
  out->given[number] = fine;
}

/* A NaN or an infinity may be where neither end is declared. */
static void read_case_scalar(Reader *r, Val v, const kg_scalar_param *s, int index, int number,
                             Case *out) {
  const ScalarDomain *d = &r->k->scalar_domains[index];
  double low, high;
  scalar_ends(s->dtype, d, &low, &high);
  if (s->dtype == KG_F32) {
    double x;
    if (!val_number(r, v, "a number", &x)) return;
    if ((isfinite(x) || d->has_min || d->has_max) && !(x >= low && x <= high))
      diag_add(r->d, val_place(r, v), D_INT_RANGE, v.label, val_text(r, v),
               arena_printf(r->a, "%.11g", low), arena_printf(r->a, "%.11g", high));
    out->reals[index] = x;
    out->given[number] = true;
    return;
  }
  out->given[number] = val_int(r, v, (int64_t)low, (int64_t)high, &out->values[number]);
  out->reals[index] = (double)out->values[number];
}

const char *case_seed(const Kernel *k) {
  return kg_symbol_find(&k->model, "seed") >= 0 ? "data_seed" : "seed";
}

/* One named value of a case; false: the kernel has no such name. */
static bool read_case_value(Reader *r, Val entry, const char *name, Case *out) {
  const Kernel *k = r->k;
  const Val v = val_field(r, entry, name);
  const int number = kg_symbol_find(&k->model, name);
  const kg_symbol s = kg_symbol_named(&k->model, name);
  if (s.kind == KG_DIM) {
    out->given[number] = val_int(r, v, 0, k->dim_max[s.index], &out->values[number]);
    if (!out->given[number]) out->values[number] = -1; /* told of; no value is not missing too */
  } else if (s.kind == KG_CONST) {
    read_case_const(r, entry, v, &k->consts[s.index], number, out);
  } else if (s.kind == KG_SCALAR) {
    if (!r->bad_scalar[s.index]) read_case_scalar(r, v, &k->scalars[s.index], s.index, number, out);
  } else if (strcmp(name, "fill") == 0) {
    val_string(r, v, "the name of a filling", &out->fill);
  } else if (strcmp(name, "data") == 0) {
    read_case_data(r, v, out);
  } else if (strcmp(name, case_seed(k)) == 0) {
    int64_t seed;
    if (val_int(r, v, 1, INT32_MAX, &seed)) out->seed = (uint64_t)seed;
  } else {
    return false;
  }
  return true;
}

static void read_case(Reader *r, Val entry, Case *out) {
  const Kernel *k = r->k;
  lua_State *L = r->L;
  out->fill = "";
  if (!val_is_table(r, entry, "values by name, as in { rows = 8, D = 4096 }")) return;
  const char *names[MAX_DIMS + MAX_CONSTS + MAX_SCALARS + 3];
  int count = 0, n, others;
  for (int i = 0; i < k->dim_count; i++) names[count++] = k->dims[i];
  for (int i = 0; i < k->const_count; i++)
    if (k->consts[i].in_key) names[count++] = k->consts[i].name;
  for (int i = 0; i < k->scalar_count; i++) names[count++] = k->scalars[i].name;
  names[count++] = "fill";
  names[count++] = "data";
  names[count++] = case_seed(k);
  const Key *keys = spec_keys(r->run, entry.at, &n, &others);
  const int top = lua_gettop(L);
  for (int i = 0; i < n; i++, lua_settop(L, top)) {
    const bool plain = keys[i].is_string && strlen(keys[i].string) == keys[i].len &&
                       spec_is_identifier(keys[i].string);
    const char *name = !keys[i].is_string ? arena_printf(r->a, "[%lld]", (long long)keys[i].number)
                       : plain            ? arena_strdup(r->a, keys[i].string)
                                          : "?";
    if ((plain && read_case_value(r, entry, name, out)) || r->bad_names) continue;
    const Where *w = where_key(entry.where, name);
    diag_add(r->d, (Place){k->file, w ? w->line : entry.line, 0}, D_CASE_UNKNOWN, entry.label, name,
             spec_suggest(r->a, name, names, count));
  }
  bool whole = !r->bad_names && !r->bad_shapes;
  for (int i = 0; i < k->dim_count; i++) {
    whole = whole && out->given[i];
    if (!out->given[i] && out->values[i] == 0)
      diag_add(r->d, val_place(r, entry), D_CASE_DIM, entry.label, k->dims[i]);
  }
  if (whole) spec_case_check(r, entry, out);
}

static void read_cases(Reader *r, Val v) {
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int n = val_list(r, v, "a list of cases, as in { { rows = 8 } }", SPEC_CASES, NULL, 0),
            top = lua_gettop(L);
  if (n <= 0) return;
  k->cases = arena_alloc(r->a, (size_t)n * sizeof *k->cases);
  for (int i = 1; i <= n; i++, lua_settop(L, top))
    read_case(r, val_item(r, v, i), &k->cases[k->case_count++]);
}

/* ---- what a compiled instance may take ------------------------------------------------------- */

static void read_budget(Reader *r, Val table) {
  /* The ledger's columns of which less is better. */
  static const char *const columns[] = {"vgpr",    "agpr",   "sgpr", "lds",
                                        "scratch", "spills", "code", "instructions"};
  _Static_assert(COUNT(columns) <= COUNT(((Kernel *)0)->budget), "a budget may name every column");
  lua_State *L = r->L;
  Kernel *k = r->k;
  if (!val_is_table(r, table, "limits by name, as in { scratch = 0, vgpr = 64 }")) return;
  val_fields(r, table, columns, COUNT(columns));
  const int top = lua_gettop(L);
  for (int i = 0; i < COUNT(columns); i++, lua_settop(L, top)) {
    const Val v = val_field(r, table, columns[i]);
    int64_t most;
    if (val_nil(r, v) || !val_int(r, v, 0, UINT32_MAX, &most)) continue;
    k->budget[k->budget_count].name = columns[i];
    k->budget[k->budget_count++].most = most;
  }
}

/* ---- answered findings ----------------------------------------------------------------------- */

static void read_allow(Reader *r, Val table) {
  lua_State *L = r->L;
  Kernel *k = r->k;
  const int most = COUNT(k->allow);
  if (!val_is_table(r, table, "reasons by diagnostic, as in { E123 = \"reason\" }")) return;
  int n, others;
  const Key *keys = spec_keys(r->run, table.at, &n, &others);
  if (n > most) {
    diag_add(r->d, val_place(r, table), D_LIST_LONG, table.label, arena_printf(r->a, "%d", n),
             most);
    return;
  }
  const int top = lua_gettop(L);
  for (int i = 0; i < n; i++, lua_settop(L, top)) {
    const bool plain = keys[i].is_string && strlen(keys[i].string) == keys[i].len &&
                       spec_is_identifier(keys[i].string);
    const char *code = plain ? arena_strdup(r->a, keys[i].string) : "?", *reason;
    const Val v = val_field(r, table, code);
    if (diag_find(code) < 0)
      diag_add(r->d, val_place(r, v), D_ALLOW_CODE, table.label, code, "");
    else if (code[1] != '1')
      diag_add(r->d, val_place(r, v), D_ALLOW_SPEC, table.label, code);
    else if (val_string(r, v, "the reason why it is no fault", &reason)) {
      k->allow[k->allow_count].code = code;
      k->allow[k->allow_count++].reason = reason;
    }
  }
}

void spec_trial_read(Reader *r, Val top) {
  Kernel *k = r->k;
  const Val numerics = val_field(r, top, "numerics"), reference = val_field(r, top, "reference"),
            cases = val_field(r, top, "cases"), allow = val_field(r, top, "allow"),
            budget = val_field(r, top, "budget"), graph = val_field(r, top, "graph");
  const char *path;
  read_numerics(r, numerics);
  if (!val_nil(r, reference) && val_string(r, reference, "the reference's file", &path))
    k->reference = spec_path_find(r, reference, path);
  if (!val_nil(r, graph) && val_string(r, graph, "the graph's file", &path))
    k->graph = spec_path_find(r, graph, path);
  if (!val_nil(r, cases)) {
    if (val_nil(r, reference))
      diag_add(r->d, val_place(r, cases), D_CASE_NO_REFERENCE, cases.label);
    read_cases(r, cases);
  }
  if (!val_nil(r, budget)) read_budget(r, budget);
  if (!val_nil(r, allow)) read_allow(r, allow);
}

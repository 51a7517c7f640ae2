/* domain.c: which values come: an input's index, range and finite, a scalar's min and max.  See
** read.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "spec/read.h"

enum { EXACT_BITS = 53 }; /* integers up to 2^53 are doubles too */

/* ---- what a dtype holds ---------------------------------------------------------------------- */

bool dtype_is_float(kg_dtype dtype) {
  const kg_dtype_facts *f = kg_dtype_info(dtype);
  return f != NULL && f->kind == KG_KIND_FLOAT;
}

double dtype_largest(kg_dtype dtype) {
  const kg_dtype_facts *f = kg_dtype_info(dtype);
  const int exponents = (1 << f->exponent) - (f->special == KG_SPECIAL_IEEE);
  const uint64_t past = (uint64_t)exponents << f->fraction; /* infinity, or after the one NaN */
  return kg_f64_from_float(dtype, past - 1 - (f->special == KG_SPECIAL_ONE_NAN));
}

/* The ends of an integer dtype, as far as a double is exact. */
static void int_ends(kg_dtype dtype, int64_t *low, int64_t *high) {
  const kg_dtype_facts *f = kg_dtype_info(dtype);
  const int bits = (int)f->bytes * 8 - (f->kind == KG_KIND_SIGNED),
            exact = bits < EXACT_BITS ? bits : EXACT_BITS;
  *high = (INT64_C(1) << exact) - (exact == bits);
  *low = f->kind == KG_KIND_SIGNED ? -(INT64_C(1) << exact) : 0;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool read_float(Reader *r, Val v, double most, double *out) {
  double x;
  if (!val_number(r, v, "a number", &x)) return false;
  if (!(fabs(x) <= most)) { /* no NaN either */
    diag_add(r->d, val_place(r, v), D_INT_RANGE, v.label, val_text(r, v),
             arena_printf(r->a, "%.11g", -most), arena_printf(r->a, "%.11g", most));
    return false;
  }
  *out = x;
  return true;
}

/* A number that each of the dtypes holds. */
static bool read_end(Reader *r, Val v, const kg_dtype *dtypes, int count, double *out) {
  double most = DBL_MAX;
  int64_t low = INT64_MIN, high = INT64_MAX, x;
  for (int i = 0; i < count; i++) {
    int64_t l, h;
    if (dtype_is_float(dtypes[i])) {
      most = fmin(most, dtype_largest(dtypes[i]));
      continue;
    }
    int_ends(dtypes[i], &l, &h);
    low = l > low ? l : low;
    high = h < high ? h : high;
  }
  if (dtype_is_float(dtypes[0])) return read_float(r, v, most, out);
  if (!val_int(r, v, low, high, &x)) return false;
  *out = (double)x;
  return true;
}

/* at: what the two are the ends of. */
static bool in_order(Reader *r, Val at, Val low, Val high) {
  if (lua_tonumber(r->L, low.at) <= lua_tonumber(r->L, high.at)) return true;
  diag_add(r->d, val_place(r, low), D_DOMAIN_ORDER, at.label, val_text(r, low), val_text(r, high));
  return false;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* What the input can be; 0: it is not known, and that was said. */
static int arg_dtypes(const Reader *r, const kg_arg *arg, kg_dtype *out) {
  if (arg->type < 0) {
    out[0] = arg->dtype;
    return 1;
  }
  const kg_type_param *t = &r->k->types[arg->type];
  memcpy(out, t->dtypes, (size_t)t->count * sizeof *out);
  return t->count;
}

static bool all_are(Reader *r, Val v, const kg_arg *arg, bool floats, const kg_dtype *dtypes,
                    int count) {
  for (int i = 0; i < count; i++) {
    if (dtype_is_float(dtypes[i]) == floats) continue;
    diag_add(r->d, val_place(r, v), D_DOMAIN_DTYPE, v.label, arg->name, kg_dtype_name(dtypes[i]),
             floats ? "a float" : "an integer");
    return false;
  }
  return true;
}

static bool read_index(Reader *r, Val v, const kg_dtype *dtypes, int count, kg_expr *out) {
  static const char *const expected = "a dim's name, an integer or an expression";
  if (lua_type(r->L, v.at) == LUA_TNUMBER) { /* at least one index, and all of them fit */
    int64_t low, high, most = UINT32_MAX, n;
    for (int i = 0; i < count; i++) {
      int_ends(dtypes[i], &low, &high);
      most = high < most ? high + 1 : most;
    }
    if (!val_int(r, v, 1, most, &n)) return false;
  }
  kg_expr e;
  if (!val_expr(r, v, true, expected, &e)) return false;
  if (expr_is_condition(r->k, e.steps, e.count)) {
    diag_add(r->d, val_place(r, v), D_FIELD_TYPE, v.label, arena_printf(r->a, "'%s'", e.text),
             expected);
    return false;
  }
  *out = e;
  return true;
}

static void read_range(Reader *r, Val v, const kg_arg *arg, const kg_dtype *dtypes, int count,
                       ArgDomain *d) {
  const int n = val_list(r, v, "{ low, high }", 2, NULL, 0);
  if (n < 0 || !all_are(r, v, arg, dtype_is_float(dtypes[0]), dtypes, count)) return;
  if (n != 2) {
    diag_add(r->d, val_place(r, v), D_LIST_LENGTH, v.label, arena_printf(r->a, "%d", n),
             "2, the low end and the high end, are");
    return;
  }
  const Val low = val_item(r, v, 1), high = val_item(r, v, 2);
  const bool has_low = read_end(r, low, dtypes, count, &d->low),
             has_high = read_end(r, high, dtypes, count, &d->high);
  d->has_range = has_low && has_high && in_order(r, v, low, high);
}

void spec_arg_domain_read(Reader *r, Val entry, const kg_arg *arg, ArgDomain *d) {
  kg_dtype dtypes[MAX_VALUES];
  const int count = arg_dtypes(r, arg, dtypes);
  const Val index = val_field(r, entry, "index"), range = val_field(r, entry, "range"),
            finite = val_field(r, entry, "finite");
  if (count == 0) return;
  if (!val_nil(r, index) && all_are(r, index, arg, false, dtypes, count))
    d->has_index = read_index(r, index, dtypes, count, &d->index);
  if (!val_nil(r, range)) read_range(r, range, arg, dtypes, count, d);
  if (d->has_index && d->has_range)
    diag_add(r->d, val_place(r, range), D_DOMAIN_BOTH, range.label, arg->name);
  if (!val_nil(r, finite) && !val_poison(r, finite)) {
    if (!lua_isboolean(r->L, finite.at))
      diag_add(r->d, val_place(r, finite), D_FIELD_TYPE, finite.label, val_text(r, finite),
               "true or false");
    else if (all_are(r, finite, arg, true, dtypes, count))
      d->finite = lua_toboolean(r->L, finite.at);
  }
  if (d->has_range && dtype_is_float(dtypes[0])) d->finite = true;
}

/* ---- scalars --------------------------------------------------------------------------------- */

void spec_scalar_domain_read(Reader *r, Val entry, kg_dtype dtype, ScalarDomain *d) {
  const Val low = val_field(r, entry, "min"), high = val_field(r, entry, "max");
  if (!val_nil(r, low)) d->has_min = read_end(r, low, &dtype, 1, &d->min);
  if (!val_nil(r, high)) d->has_max = read_end(r, high, &dtype, 1, &d->max);
  if (d->has_min && d->has_max && !in_order(r, entry, low, high)) d->has_min = d->has_max = false;
}

void scalar_ends(kg_dtype dtype, const ScalarDomain *d, double *low, double *high) {
  int64_t l = 0, h = 0;
  if (!dtype_is_float(dtype)) int_ends(dtype, &l, &h);
  *low = d->has_min ? d->min : dtype_is_float(dtype) ? -dtype_largest(dtype) : (double)l;
  *high = d->has_max ? d->max : dtype_is_float(dtype) ? dtype_largest(dtype) : (double)h;
}

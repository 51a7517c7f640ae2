/* bind.c: checks a call's tensors, constants and scalars against the kernel's specification.
**
** Each check is a function of its own that looks at the whole call, so that the first broken
** rule, not the first broken argument, is what the caller reads.  Every refusal says kernel,
** argument, what was found, what is expected, what to do. */
#include "bind.h"

#include <stdio.h>
#include <string.h>

#include "model/instance.h"
#include "model/kernel.h"

typedef struct Bind {
  const kg_call *call;
  const kg_kernel *kernel;
  const kg_device *device;
  kg_bound *bound;
  kg_error *error;
  struct {
    int arg, axis;
  } from[KG_MAX_DIMS]; /* which shape gave a dim its value */
  size_t bytes[KG_MAX_ARGS];
} Bind;

static const char *fallback(const kg_kernel *k) {
  return k->ports && k->ports->fallback && *k->ports->fallback ? k->ports->fallback
                                                               : "none is given";
}

/* ---- null pointers, damaged tables ----------------------------------------------------------- */

kg_status kg_call_check(const kg_call *call, kg_error *error) {
  if (!call || !call->kernel) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_launch: %s is a null pointer",
                   call ? "the call's kernel" : "the call");
  }
  const kg_kernel *const k = call->kernel;
  const kg_status status = kg_version_check(k->version, error);
  if (status) return status;
  if (k->type_count > KG_MAX_TYPES || k->const_count > KG_MAX_CONSTS ||
      k->dim_count > KG_MAX_DIMS || k->scalar_count > KG_MAX_SCALARS ||
      k->arg_count > KG_MAX_ARGS || !k->ports)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: its table is damaged", k->name);
  if (k->arg_count > 0 && !call->tensors)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: the tensors are a null pointer; it takes %d",
                   k->name, k->arg_count);
  for (int i = 0; i < k->arg_count; i++)
    if (call->tensors[i].rank < 0) /* what a generated launcher passes for a null pointer */
      return kg_fail(error, KG_BAD_ARGUMENT, "%s: %s is a null pointer; a tensor is expected",
                     k->name, k->args[i].name);
  if (k->scalar_count > 0 && !call->scalars)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: the scalars are a null pointer; it takes %d",
                   k->name, k->scalar_count);
  return KG_OK;
}

/* ---- dtypes, constants ----------------------------------------------------------------------- */

static kg_status check_dtypes(Bind *b) {
  const kg_kernel *const k = b->kernel;
  int first[KG_MAX_TYPES]; /* the argument that decided a type */
  for (int t = 0; t < k->type_count; t++) first[t] = -1;
  for (int i = 0; i < k->arg_count; i++) {
    const kg_arg *const a = &k->args[i];
    const kg_dtype found = b->call->tensors[i].dtype;
    if (a->type < 0) {
      if (found == a->dtype) continue;
      return kg_fail(b->error, KG_BAD_DTYPE, "%s: %s is %s, but must be %s; convert it", k->name,
                     a->name, kg_dtype_name(found), kg_dtype_name(a->dtype));
    }
    const kg_type_param *const type = &k->types[a->type];
    if (!kg_type_has(type, found)) {
      char allowed[KG_DTYPES_BYTES];
      kg_dtypes_text(type, allowed, sizeof allowed);
      return kg_fail(b->error, KG_BAD_DTYPE,
                     "%s: %s is %s, but its type %s may be %s; convert it, or use the fallback: %s",
                     k->name, a->name, kg_dtype_name(found), type->name, allowed, fallback(k));
    }
    if (first[a->type] < 0) {
      first[a->type] = i;
      b->bound->instance.types[a->type] = found;
    } else if (found != b->bound->instance.types[a->type]) {
      return kg_fail(b->error, KG_BAD_DTYPE,
                     "%s: %s is %s, but %s is %s, and both are of type %s; convert one of them",
                     k->name, a->name, kg_dtype_name(found), k->args[first[a->type]].name,
                     kg_dtype_name(b->bound->instance.types[a->type]), type->name);
    }
  }
  for (int t = 0; t < k->type_count; t++) {
    if (first[t] >= 0) continue;
    return kg_fail(b->error, KG_BAD_ARGUMENT, "%s: no argument is of type %s: its table is damaged",
                   k->name, k->types[t].name);
  }
  return KG_OK;
}

static void set_value(kg_values *values, int variable, int64_t value) {
  values->value[variable] = value;
  values->known |= UINT64_C(1) << variable;
}

static kg_status check_constants(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->const_count; i++) {
    const kg_const_param *const c = &k->consts[i];
    const bool chosen = c->in_key && b->call->consts;
    const int64_t value = chosen ? b->call->consts[i] : c->values[0];
    if (chosen) {
      const kg_status status = kg_const_check(k, i, value, b->error);
      if (status) return status;
    }
    b->bound->instance.consts[i] = value;
    set_value(&b->bound->values, kg_variable(k, KG_CONST, i), value);
  }
  for (int i = 0; i < k->scalar_count; i++) {
    const kg_scalar *const s = &b->call->scalars[i];
    const int variable = kg_variable(k, KG_SCALAR, i);
    if (k->scalars[i].dtype == KG_I32) set_value(&b->bound->values, variable, s->i32);
    if (k->scalars[i].dtype == KG_U32) set_value(&b->bound->values, variable, s->u32);
  }
  return KG_OK;
}

/* ---- ranks, shapes, dims --------------------------------------------------------------------- */

static kg_status check_ranks(Bind *b) {
  for (int i = 0; i < b->kernel->arg_count; i++) {
    const kg_arg *const a = &b->kernel->args[i];
    const int found = b->call->tensors[i].rank;
    if (found == a->rank) continue;
    char shape[256] = "";
    size_t at = 0;
    for (int axis = 0; axis < a->rank && at < sizeof shape - 1; axis++) {
      const int n =
          snprintf(shape + at, sizeof shape - at, "%s%s", axis ? ", " : "", a->shape[axis].text);
      at += n > 0 ? (size_t)n : 0;
    }
    return kg_fail(b->error, KG_BAD_RANK,
                   "%s: %s has %d dimension%s, but must have %d: (%s); reshape it", b->kernel->name,
                   a->name, found, found == 1 ? "" : "s", a->rank, shape);
  }
  return KG_OK;
}

static kg_status check_signs(Bind *b) {
  for (int i = 0; i < b->kernel->arg_count; i++) {
    const kg_tensor *const t = &b->call->tensors[i];
    for (int axis = 0; axis < t->rank; axis++) {
      if (t->shape[axis] >= 0) continue;
      return kg_fail(b->error, KG_BAD_SHAPE,
                     "%s: %s has the size %lld on axis %d; no size is negative", b->kernel->name,
                     b->kernel->args[i].name, (long long)t->shape[axis], axis);
    }
  }
  return KG_OK;
}

/* Gives values to the dims that stand alone in a shape, then to those that a `when` chooses,
** until nothing new comes. */
static kg_status bind_dims(Bind *b) {
  const kg_kernel *const k = b->kernel;
  const uint64_t all = (UINT64_C(1) << k->dim_count) - 1;
  uint64_t before;
  do {
    before = b->bound->values.known;
    for (int i = 0; i < k->arg_count; i++) {
      for (int axis = 0; axis < k->args[i].rank; axis++) {
        const int dim = kg_expr_variable(&k->args[i].shape[axis], &b->bound->values);
        if (dim < 0 || dim >= k->dim_count || b->bound->values.known >> dim & 1) continue;
        set_value(&b->bound->values, dim, b->call->tensors[i].shape[axis]);
        b->from[dim].arg = i;
        b->from[dim].axis = axis;
      }
    }
  } while (b->bound->values.known != before && (b->bound->values.known & all) != all);
  return KG_OK;
}

static kg_status shape_differs(Bind *b, int arg, int axis, int64_t expected) {
  const kg_kernel *const k = b->kernel;
  const kg_expr *const e = &k->args[arg].shape[axis];
  const long long found = (long long)b->call->tensors[arg].shape[axis];
  const int dim = kg_expr_variable(e, &b->bound->values);
  if (dim >= 0 && dim < k->dim_count) {
    return kg_fail(
        b->error, KG_BAD_SHAPE,
        "%s: %s has %lld on axis %d, but %s is %lld by axis %d of %s; the two must be equal",
        k->name, k->args[arg].name, found, axis, k->dims[dim], (long long)expected,
        b->from[dim].axis, k->args[b->from[dim].arg].name);
  }
  return kg_fail(b->error, KG_BAD_SHAPE,
                 "%s: %s has %lld on axis %d, but %s is %lld; pass it with that size", k->name,
                 k->args[arg].name, found, axis, e->text, (long long)expected);
}

static kg_status check_shapes(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->arg_count; i++) {
    for (int axis = 0; axis < k->args[i].rank; axis++) {
      const kg_expr *const e = &k->args[i].shape[axis];
      int64_t expected;
      const kg_expr_status status = kg_expr_eval(e, &b->bound->values, &expected);
      if (status == KG_EXPR_OVERFLOW) {
        return kg_fail(b->error, KG_TOO_LARGE,
                       "%s: axis %d of %s, %s, passes 64 bits; pass smaller tensors", k->name, axis,
                       k->args[i].name, e->text);
      }
      if (status) {
        return kg_fail(b->error, KG_BAD_SHAPE, "%s: axis %d of %s: %s %s", k->name, axis,
                       k->args[i].name, e->text, kg_expr_status_text(status));
      }
      if (expected != b->call->tensors[i].shape[axis]) return shape_differs(b, i, axis, expected);
    }
  }
  for (int d = 0; d < k->dim_count; d++) {
    if (b->bound->values.known >> d & 1) continue;
    return kg_fail(b->error, KG_BAD_SHAPE, "%s: no argument's shape gives %s a value", k->name,
                   k->dims[d]);
  }
  return KG_OK;
}

/* ---- sizes, memory --------------------------------------------------------------------------- */

static kg_status check_sizes(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int d = 0; d < k->dim_count; d++) {
    const int64_t value = b->bound->values.value[d];
    if (value <= UINT32_MAX) continue;
    return kg_fail(
        b->error, KG_TOO_LARGE,
        "%s: %s is %lld, but a kernel counts to 2^32 - 1; split the call, or use the fallback: %s",
        k->name, k->dims[d], (long long)value, fallback(k));
  }
  for (int i = 0; i < k->arg_count; i++) {
    const kg_tensor *const t = &b->call->tensors[i];
    uint64_t bytes = kg_dtype_bytes(t->dtype);
    bool over = false;
    for (int axis = 0; axis < t->rank && !over; axis++) {
      const uint64_t size = (uint64_t)t->shape[axis];
      over = size != 0 && bytes > (uint64_t)PTRDIFF_MAX / size;
      bytes *= size;
    }
    for (int axis = 0; axis < t->rank; axis++)
      if (t->shape[axis] == 0) over = false, bytes = 0;
    if (over) {
      return kg_fail(b->error, KG_TOO_LARGE,
                     "%s: %s has more bytes than an address can count; split the call", k->name,
                     k->args[i].name);
    }
    b->bytes[i] = (size_t)bytes;
  }
  return KG_OK;
}

static kg_status check_addresses(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->arg_count; i++) {
    const kg_tensor *const t = &b->call->tensors[i];
    if (b->bytes[i] == 0) continue;
    const uintptr_t address = (uintptr_t)t->data;
    const size_t element = kg_dtype_bytes(t->dtype);
    if (address == 0) {
      return kg_fail(b->error, KG_BAD_ARGUMENT,
                     "%s: %s has %zu bytes and no memory (data is a null pointer)", k->name,
                     k->args[i].name, b->bytes[i]);
    }
    if (address % element != 0) {
      return kg_fail(b->error, KG_BAD_ARGUMENT,
                     "%s: the memory of %s is not aligned to its elements of %zu bytes; copy it",
                     k->name, k->args[i].name, element);
    }
    if (k->args[i].align && address % k->args[i].align != 0) {
      return kg_fail(
          b->error, KG_BAD_ARGUMENT,
          "%s: the memory of %s does not begin at a multiple of %u bytes, and the kernel "
          "reads several elements at once; copy it to memory that does",
          k->name, k->args[i].name, k->args[i].align);
    }
    if (UINTPTR_MAX - address < b->bytes[i]) {
      return kg_fail(b->error, KG_TOO_LARGE, "%s: the memory of %s passes the last address",
                     k->name, k->args[i].name);
    }
  }
  return KG_OK;
}

static kg_status check_contiguity(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->arg_count; i++) {
    if (b->bytes[i] == 0) continue; /* nothing is read, so any stride does */
    const kg_tensor *const t = &b->call->tensors[i];
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
      if (t->shape[axis] != 1 && t->strides[axis] != stride) {
        return kg_fail(
            b->error, KG_NOT_CONTIGUOUS,
            "%s: %s is not row-contiguous: its stride on axis %d is %lld, and %lld is expected; "
            "copy it to a contiguous tensor",
            k->name, k->args[i].name, axis, (long long)t->strides[axis], (long long)stride);
      }
      stride *= t->shape[axis];
    }
  }
  return KG_OK;
}

static kg_status check_devices(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->arg_count; i++) {
    const kg_device *const d = b->call->tensors[i].device;
    if (!d || d == b->device) continue;
    return kg_fail(b->error, KG_WRONG_DEVICE,
                   "%s: %s is on another device (%s) than the launch (%s); copy it there", k->name,
                   k->args[i].name, d->name, b->device->name);
  }
  return KG_OK;
}

/* ---- requirements, aliasing ------------------------------------------------------------------ */

/* "rows = 8, D = 4096": the dims and integer scalars that an expression names. */
static void list_values(const Bind *b, const kg_expr *e, char *text, size_t bytes) {
  const kg_kernel *const k = b->kernel;
  uint64_t said = 0;
  size_t at = 0;
  *text = 0;
  for (int i = 0; i < e->count; i++) {
    const int64_t v = e->steps[i].value;
    if (e->steps[i].op != KG_OP_VAR || v < 0 || v >= kg_variable_count(k)) continue;
    if (said >> v & 1) continue;
    said |= UINT64_C(1) << v;
    const int n = snprintf(text + at, bytes - at, "%s%s = %lld", at ? ", " : "",
                           kg_symbol_at(k, (int)v).name, (long long)b->bound->values.value[v]);
    if (n < 0 || (size_t)n >= bytes - at) return;
    at += (size_t)n;
  }
}

static kg_status check_requirements(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int i = 0; i < k->require_count; i++) {
    const kg_expr *const e = &k->require[i];
    int64_t holds = 0;
    const kg_expr_status status = kg_expr_eval(e, &b->bound->values, &holds);
    if (status == KG_EXPR_OK && holds) continue;
    char given[256];
    list_values(b, e, given, sizeof given);
    return kg_fail(b->error, KG_REQUIRE_FAILED, "%s: it requires %s, %s (%s); use the fallback: %s",
                   k->name, e->text, status ? kg_expr_status_text(status) : "which does not hold",
                   given, fallback(k));
  }
  return KG_OK;
}

static kg_status check_aliasing(Bind *b) {
  const kg_kernel *const k = b->kernel;
  for (int o = 0; o < k->arg_count; o++) {
    if (!k->args[o].output || b->bytes[o] == 0) continue;
    const uintptr_t start = (uintptr_t)b->call->tensors[o].data, end = start + b->bytes[o];
    for (int i = 0; i < k->arg_count; i++) {
      if (i == o || b->bytes[i] == 0) continue;
      const uintptr_t from = (uintptr_t)b->call->tensors[i].data, to = from + b->bytes[i];
      if (from >= end || start >= to) continue;
      const size_t shared = (end < to ? end : to) - (start > from ? start : from);
      return kg_fail(
          b->error, KG_ALIASED,
          "%s: the output %s shares %zu bytes with %s %s; give the output memory of its own",
          k->name, k->args[o].name, shared, k->args[i].output ? "the output" : "the input",
          k->args[i].name);
    }
  }
  return KG_OK;
}

static bool outputs_empty(const Bind *b) {
  for (int i = 0; i < b->kernel->arg_count; i++)
    if (b->kernel->args[i].output && b->bytes[i] != 0) return false;
  return true;
}

kg_status kg_bind(const kg_call *call, const kg_device *device, kg_bound *bound, kg_error *error) {
  static kg_status (*const checks[])(Bind *) = {
      check_dtypes,     check_constants, check_ranks,        check_signs,
      bind_dims,        check_shapes,    check_sizes,        check_addresses,
      check_contiguity, check_devices,   check_requirements, check_aliasing,
  };
  kg_status status = kg_call_check(call, error);
  if (status) return status;
  Bind b = {.call = call, .kernel = call->kernel, .device = device, .bound = bound, .error = error};
  memset(bound, 0, sizeof *bound);
  bound->instance.kernel = call->kernel;
  bound->instance.wave = device->wave;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && !status; i++) status = checks[i](&b);
  bound->empty = status == KG_OK && outputs_empty(&b);
  return status;
}

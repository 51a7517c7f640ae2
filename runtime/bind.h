/* bind.h: a call checked against its kernel's specification. */
#ifndef KG_BIND_H
#define KG_BIND_H

#include "device.h"
#include "model/expr.h"

/* What a call comes to.  values: dims, constants, integer scalars, by kg_expr's numbers. */
typedef struct kg_bound {
  kg_instance instance;
  kg_values values;
  bool empty; /* no output has an element: there is nothing to do */
} kg_bound;

/* Fills bound, or says why the call is refused.  The checks, in order: null pointers; dtypes;
** constants; ranks; dims, shapes; sizes; addresses and contiguity; devices; requirements;
** aliasing.  The port is not looked at, but wave goes into the instance.  KG_BAD_ARGUMENT,
** KG_BAD_DTYPE, KG_BAD_CONSTANT, KG_BAD_RANK, KG_BAD_SHAPE, KG_TOO_LARGE, KG_NOT_CONTIGUOUS,
** KG_WRONG_DEVICE, KG_REQUIRE_FAILED, KG_ALIASED, KG_BAD_VERSION. */
kg_status kg_bind(const kg_call *call, const kg_device *device, kg_bound *bound, kg_error *error);

/* The null pointers and tables that are damaged or of another version among these; kg_bind asks it
** too. */
kg_status kg_call_check(const kg_call *call, kg_error *error);

#endif

/* expr.h: the value of an expression of the specification. */
#ifndef KG_EXPR_H
#define KG_EXPR_H

#include "kg.h"

typedef enum kg_expr_status {
  KG_EXPR_OK,
  KG_EXPR_OVERFLOW, /* passes 64 bits somewhere on the way */
  KG_EXPR_ZERO,     /* divides by zero */
  KG_EXPR_UNKNOWN,  /* needs a variable that has no value yet */
  KG_EXPR_MALFORMED /* not a postfix expression: a damaged table */
} kg_expr_status;

/* The variables' values, and which of them are known: bit n of known for variable n. */
typedef struct kg_values {
  int64_t value[KG_MAX_DIMS + KG_MAX_CONSTS + KG_MAX_SCALARS];
  uint64_t known;
} kg_values;

kg_expr_status kg_expr_eval(const kg_expr *expr, const kg_values *values, int64_t *out);

/* The variable that the expression comes to: itself alone, or what its `when`s choose under
** values; -1 when it comes to something else, or a condition is not known yet. */
int kg_expr_variable(const kg_expr *expr, const kg_values *values);

/* "passes 64 bits", for a sentence. */
const char *kg_expr_status_text(kg_expr_status status);

#endif

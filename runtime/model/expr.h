/* expr.h: the operators, and the value of an expression of the specification. */
#ifndef KG_MODEL_EXPR_H
#define KG_MODEL_EXPR_H

#include "kg.h"

enum {
  KG_EXPR_DEPTH = 32, /* values that wait for their operator at once, at most */
  KG_VARIABLES = KG_MAX_DIMS + KG_MAX_CONSTS + KG_MAX_SCALARS
};

/* op.def has the rows, and says what each field means. */
typedef enum kg_op_kind { KG_VALUE, KG_ARITHMETIC, KG_COMPARISON, KG_LOGIC, KG_CHOICE } kg_op_kind;
typedef enum kg_op_form { KG_LEAF, KG_INFIX, KG_PREFIX, KG_CALL } kg_op_form;
typedef enum kg_op_said {
  KG_SAID_NONE,
  KG_SAID_SIGN,
  KG_SAID_METHOD,
  KG_SAID_FUNCTION,
  KG_SAID_FOLD
} kg_op_said;

typedef struct kg_op_facts {
  const char *id; /* "CEIL_DIV" */
  int takes;
  kg_op_kind kind;
  kg_op_form form;
  int strength;
  const char *text;
  kg_op_said said;
  const char *word;
} kg_op_facts;

extern const kg_op_facts kg_ops[KG_OPS];

typedef enum kg_expr_status {
  KG_EXPR_OK,
  KG_EXPR_OVERFLOW, /* passes 64 bits somewhere on the way */
  KG_EXPR_ZERO,     /* divides by zero */
  KG_EXPR_UNKNOWN,  /* needs a variable that has no value yet */
  KG_EXPR_MALFORMED /* not a postfix expression: a damaged table */
} kg_expr_status;

/* The variables' values, and which of them are known: bit n of known for variable n. */
typedef struct kg_values {
  int64_t value[KG_VARIABLES];
  uint64_t known;
} kg_values;

kg_expr_status kg_expr_eval(const kg_expr *expr, const kg_values *values, int64_t *out);

/* The same where every variable that the expression names has a value. */
kg_expr_status kg_expr_eval_all(const kg_expr *expr, const int64_t *values, int64_t *out);

/* How many values wait at once, at most; -1: the steps are no postfix expression. */
int kg_expr_depth(const kg_step *steps, int count);

/* Where the operand that ends at step `last` begins; -1: the steps are no postfix expression. */
int kg_expr_operand(const kg_step *steps, int last);

/* The variable that the expression comes to: itself alone, or what its `when`s choose under
** values; -1 when it comes to something else, or a condition is not known yet. */
int kg_expr_variable(const kg_expr *expr, const kg_values *values);

/* "passes 64 bits", for a sentence. */
const char *kg_expr_status_text(kg_expr_status status);

#endif

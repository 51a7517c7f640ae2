/* covmap.h: the conditions of a text, as clang's -fcoverage-mapping writes them into its object.
**
** The formats are LLVM 19's: "LLVM Code Coverage Mapping Format" (version 7), and the records of
** llvm/ProfileData/InstrProfData.inc.  An object of another version has none. */
#ifndef KG_SIMT_COVMAP_H
#define KG_SIMT_COVMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often something ran: a counter's value, or the sum or difference of two of them. */
typedef enum kg_simt_count_kind {
  KG_SIMT_NEVER,
  KG_SIMT_COUNTER,
  KG_SIMT_MINUS,
  KG_SIMT_PLUS
} kg_simt_count_kind;
typedef struct kg_simt_count {
  uint8_t kind;
  uint32_t id; /* of the counter; of the expression */
} kg_simt_count;

typedef struct kg_simt_unit { /* a function of the text */
  uint64_t counters;          /* where they lie in the object, 8 bytes each */
  uint32_t counter_count, expression_count;
  kg_simt_count (*expressions)[2];
} kg_simt_unit;

/* A condition.  One that the compiler decides is never taken, on either side. */
typedef struct kg_simt_condition {
  size_t unit;
  uint32_t line, column, end_line,
      end_column;         /* of what was compiled, from 1; the end is behind it */
  kg_simt_count taken[2]; /* false, true */
} kg_simt_condition;

typedef struct kg_simt_covmap {
  kg_simt_unit *units;
  size_t unit_count, unit_room;
  kg_simt_condition *conditions;
  size_t condition_count, condition_room;
} kg_simt_covmap;

/* Those that stand in the text itself and in no macro's expansion.  False: no memory; what is not
** well formed has no conditions. */
bool kg_simt_covmap_read(unsigned char *object, size_t size, kg_simt_covmap *map);
void kg_simt_covmap_free(kg_simt_covmap *map);

/* The count, from the counters of a loaded object; room: expression_count values of the caller's,
** all INT64_MIN before the first question. */
int64_t kg_simt_count_value(const kg_simt_unit *unit, const uint64_t *counters, kg_simt_count count,
                            int64_t *room);

#endif

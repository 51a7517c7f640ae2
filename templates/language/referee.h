/* referee.h: how kgen and the program around a reference talk: see referee.c and, in kgen,
** gen/verify/reference.c.  Both are on one machine: integers and doubles go as they lie. */
#ifndef REFEREE_H
#define REFEREE_H

#include <stdint.h>

enum {
  REFEREE_MAGIC = 0x6b676e32,
  REFEREE_FAILED = 70,     /* exit status; standard error says why */
  REFEREE_DIRECTIONS = 3,  /* of rounding: to nearest, up, down */
  REFEREE_NUDGES = 2,      /* with each number of the inputs its neighbour */
  REFEREE_FURTHER = 14,    /* in pairs: a nudge, and the same with a wider step */
  REFEREE_STEP = 8,        /* neighbours as far as this one, then */
  REFEREE_TWICE = 1 << 16, /* elements up to which a result is computed twice */
  REFEREE_HAS_REFERENCE = 1,
  REFEREE_HAS_FILL = 2,
  REFEREE_HAS_JUDGE = 4
};

/* questions */
enum { REFEREE_ABOUT, REFEREE_FILL, REFEREE_COMPUTE, REFEREE_NUDGE, REFEREE_JUDGE };

typedef struct referee_head {
  uint32_t magic, question, tensor_count, input_count, value_count;
  uint32_t seconds; /* of processor time */
  uint64_t bytes;   /* of memory */
  uint64_t seed;    /* of a fill */
} referee_head;

typedef struct referee_tensor {
  int64_t shape[8], count;
  uint32_t dtype, rank, is_float, nothing;
} referee_tensor;

#endif

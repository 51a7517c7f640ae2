/* alloc.h: see alloc.c. */
#ifndef TESTS_HOSTILE_ALLOC_H
#define TESTS_HOSTILE_ALLOC_H

#include <stdbool.h>

/* Counting starts again, and the allocation of that number fails; 0: none does. */
void alloc_fail(long number);
long alloc_count(void); /* since then */

#endif

/* bridge.h: a Kernel of the generator as the kg_kernel that the runtime launches, in memory.
**
** What generated/kernels.c says as C tables is built here as the same structs, so that `kgen run`
** and `kgen verify` launch the kernels of any specification without compiling generated C. */
#ifndef BRIDGE_H
#define BRIDGE_H

#include "kg.h"
#include "tables/tables.h"

/* facts: one for each port of k, NULL where the slot is empty or the body was refused (then the
** slot is empty here too). texts: the device text of each port, or NULL: they are emitted.  The
** result lives in the arena, and points into k. */
const kg_kernel *bridge_kernel(Arena *a, const Kernel *k, Facts *const *facts,
                               const char *const *texts);

#endif

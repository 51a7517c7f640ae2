/* companions_state.h: what a caller of the recurrent layers' kernels decides on the host.  Plain C;
** no device is touched. */
#ifndef KG_COMPANIONS_STATE_H
#define KG_COMPANIONS_STATE_H

#include "kg.h"

/* mamba1_selective_scan, mamba1_graph_exact: the constant LANES of the instance for a state of N
** columns: 16 up to 16 of them, as the models have it, 32 up to 32.  0 where N is 0 or over 32: no
** instance takes it, and the caller runs the graph's scan. */
uint32_t kg_mamba1_lanes(uint64_t N);

#endif

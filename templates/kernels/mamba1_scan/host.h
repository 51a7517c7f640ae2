/* host.h: what a caller of mamba1_selective_scan and mamba1_graph_exact decides on the host. */
#ifndef KG_MAMBA1_SCAN_HOST_H
#define KG_MAMBA1_SCAN_HOST_H

#include "kg.h"

/* The constant LANES of the instance for a state of N
** columns: 16 up to 16 of them, as the models have it, 32 up to 32.  0 where N is 0 or over 32: no
** instance takes it, and the caller runs the graph's scan. */
uint32_t kg_mamba1_lanes(uint64_t N);

#endif

/* host.h: what a caller of qmv and qmv_mxfp4 decides on the host. */
#ifndef KG_QMV_HOST_H
#define KG_QMV_HOST_H

#include "kg.h"

/* The constant ROWS for M rows of x: 1 or 8; 0 where M is not 1 to 8, and a product of matrices is
** the better choice. */
uint32_t kg_qmv_rows(uint64_t M);

#endif

/* host.h: what a caller of gather_qmm and its kin decides on the host: the route for its mixture, and
** two strides for its index arrays.  Plain C; no device is touched. */
#ifndef KG_GATHER_QMM_HOST_H
#define KG_GATHER_QMM_HOST_H

#include "kg.h"

/* ---- the route of a mixture's product -------------------------------------------------------- */

/* The most rows of a batch that any of the four kernels takes. */
enum { KG_GATHER_ROWS = 67108863 };

/* Rows b of a batch: y[b] = x[lhs[b]] W[rhs[b]]^T. */
typedef struct kg_gather_qmm {
  uint64_t batch;      /* rows b */
  uint64_t experts;    /* matrices of W */
  uint64_t M;          /* rows of x to a row b */
  uint64_t K;          /* columns of x */
  kg_dtype dtype;      /* of x */
  bool mxfp4;          /* W is MXFP4, else affine */
  int bits;            /* of an affine code: 4, 6 or 8 */
  uint32_t group_size; /* of a scale: 32 for MXFP4 */
  bool sorted;         /* rhs does not fall from row to row, as it is read through its strides */
} kg_gather_qmm;

typedef enum kg_gather_route {
  KG_GATHER_NONE,          /* neither kernel takes it: the graph's gather_qmm */
  KG_GATHER_GENERIC,       /* gather_qmm, gather_qmm_mxfp4 */
  KG_GATHER_EXPERT_BATCHED /* gather_qmm_expert_batched, ..._mxfp4 */
} kg_gather_route;

/* Which kernel should take this product.  Expert-batched pays where experts have several rows each
** that stand together: sorted, M = 1, f16 or bf16, codes of 4 or 8 bits or MXFP4, at least 64 rows,
** at most 64 experts, at least 4 rows to an expert.  Whether lhs is given has no say in it.  why
** (may be NULL) gets the sentence: the first condition that decided. */
kg_gather_route kg_gather_qmm_route(const kg_gather_qmm *call, kg_error *why);

/* ---- views of index arrays ------------------------------------------------------------------- */

/* A batch of two dimensions and both index arrays' strides in it, as gather_qmm takes them. */
typedef struct kg_gather_view {
  uint32_t B0, B1;
  uint32_t lhs_stride_0, lhs_stride_1, rhs_stride_0, rhs_stride_1;
  uint32_t lhs_count, rhs_count; /* elements that the views span: at least so many must be there */
} kg_gather_view;

/* The same batch in two dimensions: neighbours that step evenly in both arrays become one, those of
** size 1 fall away.  shape and the strides (in elements; 0: broadcast) have `rank` entries.  Of a
** batch without rows the view is 0 by 1 and spans nothing.  KG_BAD_ARGUMENT: more than two
** dimensions are left (make one index array contiguous), a negative size or stride, a null pointer;
** KG_TOO_LARGE: more than KG_GATHER_ROWS rows, a stride or the place of an index that does not fit
** 32 bits. */
kg_status kg_gather_view_of(int rank, const int64_t *shape, const int64_t *lhs_strides,
                            const int64_t *rhs_strides, kg_gather_view *view, kg_error *error);

#endif

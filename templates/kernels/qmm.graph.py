def qmv(x, w, scales, biases, group_size, BITS):
    return mx.quantized_matmul(x, w, scales, biases, transpose=True, group_size=group_size, bits=BITS)


def qmv_mxfp4(x, w, scales):
    return mx.quantized_matmul(x, w, scales, transpose=True, group_size=32, bits=4, mode="mxfp4")


def _gathered(x, w, scales, biases, lhs, rhs, batch, strides, **form):
    """Rows whose expert or whose row of x does not exist are 0."""
    i, j = mx.arange(batch[0])[:, None], mx.arange(batch[1])
    lhs, rhs = lhs[i * strides[0] + j * strides[1]], rhs[i * strides[2] + j * strides[3]]
    there = (lhs < x.shape[0]) & (rhs < w.shape[0])
    y = mx.gather_qmm(x, w, scales, biases, lhs_indices=mx.where(there, lhs, 0),
                      rhs_indices=mx.where(there, rhs, 0), transpose=True, **form)
    return mx.where(there[..., None, None], y, 0)


def gather_qmm(x, w, scales, biases, lhs, rhs, B0, B1, lhs_stride_0, lhs_stride_1, rhs_stride_0,
               rhs_stride_1, group_size, BITS):
    return _gathered(x, w, scales, biases, lhs, rhs, (B0, B1),
                     (lhs_stride_0, lhs_stride_1, rhs_stride_0, rhs_stride_1),
                     group_size=group_size, bits=BITS)


def gather_qmm_mxfp4(x, w, scales, lhs, rhs, B0, B1, lhs_stride_0, lhs_stride_1, rhs_stride_0,
                     rhs_stride_1):
    return _gathered(x, w, scales, None, lhs, rhs, (B0, B1),
                     (lhs_stride_0, lhs_stride_1, rhs_stride_0, rhs_stride_1),
                     group_size=32, bits=4, mode="mxfp4")


def gather_qmm_expert_batched(x, w, scales, biases, lhs, rhs, B0, B1, lhs_stride_0, lhs_stride_1,
                              rhs_stride_0, rhs_stride_1, group_size, BITS):
    return _gathered(x[:, None], w, scales, biases, lhs, rhs, (B0, B1),
                     (lhs_stride_0, lhs_stride_1, rhs_stride_0, rhs_stride_1),
                     group_size=group_size, bits=BITS)[:, :, 0]


def gather_qmm_expert_batched_mxfp4(x, w, scales, lhs, rhs, B0, B1, lhs_stride_0, lhs_stride_1,
                                    rhs_stride_0, rhs_stride_1):
    return _gathered(x[:, None], w, scales, None, lhs, rhs, (B0, B1),
                     (lhs_stride_0, lhs_stride_1, rhs_stride_0, rhs_stride_1),
                     group_size=32, bits=4, mode="mxfp4")[:, :, 0]

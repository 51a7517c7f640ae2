def bitlinear_matmul(x, packed, weight_scale, invert, quarter, columns, T):
    """The product in f32, rounded once; four rows of codes to a byte."""
    codes = (packed[None] >> mx.array([0, 2, 4, 6], mx.uint8)[:, None, None]) & 3
    weights = codes.reshape(4 * quarter, columns).astype(mx.float32) - 1
    scale, y = weight_scale.astype(mx.float32), x.astype(mx.float32) @ weights.T
    return (y / scale if invert else y * scale).astype(T)

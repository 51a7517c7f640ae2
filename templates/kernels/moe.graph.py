def _product(x, indices, w, s, b, group_size, bits):
    """x [K or 1, n] by the experts that indices name, in f32: [K, m]."""
    w, s, b = w[indices], s[indices].astype(mx.float32), b[indices].astype(mx.float32)
    wide = mx.dequantize(w, s, b, group_size=group_size, bits=bits)
    return (wide @ x.astype(mx.float32)[:, :, None])[:, :, 0]


def moe_gateup(x, indices, gate_w, gate_s, gate_b, up_w, up_s, up_b, group_size, BITS, ACT):
    g = _product(x[None], indices, gate_w, gate_s, gate_b, group_size, BITS)
    u = _product(x[None], indices, up_w, up_s, up_b, group_size, BITS)
    tanh = mx.tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))
    return (0.5 * g * (1 + tanh) if ACT else g * mx.sigmoid(g)) * u


def moe_down(indices, down_w, down_s, down_b, act, scores, group_size, BITS):
    y = _product(act, indices, down_w, down_s, down_b, group_size, BITS)
    return scores[:, None] * y


def moe_fc1_relu2(x, indices, fc1_w, fc1_s, fc1_b, group_size, BITS):
    y = _product(x[None], indices, fc1_w, fc1_s, fc1_b, group_size, BITS)
    return mx.square(mx.maximum(y, 0))

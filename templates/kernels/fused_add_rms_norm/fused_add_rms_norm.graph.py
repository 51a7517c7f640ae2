def fused_add_rms_norm(x, residual, weight, eps, weight_bias, T, TW):
    total = x + residual
    gain = weight + mx.array(weight_bias, TW) if weight_bias else weight
    return mx.fast.rms_norm(total, gain, eps).astype(T), total

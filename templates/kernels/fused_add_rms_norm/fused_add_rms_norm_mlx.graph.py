def fused_add_rms_norm_mlx(x, residual, weight, eps, weight_bias, T):
    total = x + residual
    gain = weight + mx.array(weight_bias, T) if weight_bias else weight
    return mx.fast.rms_norm(total, gain, eps), total

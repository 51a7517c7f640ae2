def fused_xielu(x, alpha_p, alpha_n, beta, eps, T):
    """Every operation rounds to T, the scalars too."""
    alpha_p, alpha_n, beta, eps = (mx.array(s).astype(T) for s in (alpha_p, alpha_n, beta, eps))
    below = (mx.expm1(mx.minimum(x, eps)) - x) * alpha_n
    return mx.where(x > 0, alpha_p * (x * x), below) + beta * x

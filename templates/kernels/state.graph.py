def _step(state, q, k, v, g, beta):
    """The delta rule's step in f32: y and the state after it."""
    state = state * g[:, :, None]
    error = (v - (state * k[:, :, None]).sum(-1)) * beta[..., None]
    state = state + k[:, :, None] * error[..., None]
    return (state * q[:, :, None]).sum(-1), state


def _steps(q, k, v, g, beta, state, mask, each):
    """each: the state is rounded after each token."""
    T, heads, y = q.dtype, v.shape[2] // q.shape[2], []
    q, k = (mx.repeat(m.astype(mx.float32), heads, axis=2) for m in (q, k))
    v, g, beta, state = (m.astype(mx.float32) for m in (v, g, beta, state))
    for t in range(q.shape[1]):
        out, after = _step(state, q[:, t], k[:, t], v[:, t], g[:, t], beta[:, t])
        if mask is not None:
            seen = (mask[:, t] != 0)[:, None, None]
            out, after = mx.where(seen, out, 0), mx.where(seen[..., None], after, state)
        state = after.astype(T).astype(mx.float32) if each else after
        y.append(out.astype(T))
    return mx.stack(y, axis=1), state.astype(T)


def gated_delta(q, k, v, g, beta, state_in, mask, MASK):
    return _steps(q, k, v, g, beta, state_in, mask if MASK else None, False)


def gated_delta_seqpar(q, k, v, g, beta, state_in):
    return _steps(q, k, v, g, beta, state_in, None, True)

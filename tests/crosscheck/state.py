"""Recurrent layers: the graph's own loop over tokens, one operation at a time."""

import mlx.core as mx

from check import RARE, ROUNDED, Numbers, bf16, check, f16, f32

@check("ssm_update", "the step's elementwise operations and sum in f32, rounded", "dt 5 % longer")
def ssm_update(T, launch):
    n = Numbers("ssm")
    rows, h, dh, g, ds = 2, 4, 9, 2, 64
    x, skip = n.normal((rows, 1, h, dh), T), n.normal((h,), T)
    B, C = (n.normal((rows, 1, g, ds), T) for _ in range(2))
    dt, state = n.softplus((rows, 1, h), f32, -2), n.normal((rows, h, dh, ds))
    for TA in (f32, bf16):
        a_log = mx.log(mx.array([1.0, 3, 7, 16])).astype(TA)
        got = launch("ssm_update", {"x": x, "A_log": a_log, "B": B, "C": C, "D": skip, "dt": dt,
                                    "state_in": state},
                     {"out": ((rows, 1, h, dh), T), "state_out": ((rows, h, dh, ds), f32)})

        def graph(fault):
            step = dt[:, 0] * (1.05 if fault else 1)
            x32 = x[:, 0].astype(f32)
            b, c = (mx.repeat(m[:, 0].astype(f32), h // g, axis=1) for m in (B, C))
            decay = mx.exp(-mx.exp(a_log.astype(f32)) * step)[..., None, None]
            s = decay * state + (x32 * step[..., None])[..., None] * b[:, :, None]
            y = (s * c[:, :, None]).sum(-1) + x32 * skip.astype(f32)[:, None]
            return {"out": y[:, None].astype(T), "state_out": s}
        yield got, graph


def scan(kernel, T, S, launch):
    """S: the type that the graph's operations have."""
    n = Numbers(kernel)
    for b, L, Dm, N in ((2, 7, 24, 16), (1, 5, 13, 32)):
        X, DT = n.normal((b, L, Dm), T), n.softplus((b, L, Dm), T, -2)
        Bm, Cm = (n.normal((b, L, N), T) for _ in range(2))
        A = -(mx.arange(1, N + 1).astype(f32) * mx.ones((Dm, 1))).astype(S)
        Dp, state = n.normal((Dm,), T), n.normal((b, Dm, N), S)
        got = launch(kernel, {"X": X, "DT": DT, "Bm": Bm, "Cm": Cm, "A": A, "Dp": Dp,
                              "state_in": state},
                     {"Y": ((b, L, Dm), T), "state_out": ((b, Dm, N), S)},
                     LANES=16 if N <= 16 else 32)

        def graph(fault):
            s, ys = state, []
            for t in range(L):
                x, dt = X[:, t].astype(S), DT[:, t].astype(S)
                decay = mx.exp(dt[..., None] * (A * 1.05 if fault else A))
                s = s * decay + (dt * x)[..., None] * Bm[:, t, None].astype(S)
                # the sum over n is in f32, as the GPU back ends have it
                y = (s * Cm[:, t, None].astype(S)).astype(f32).sum(-1).astype(S)
                ys.append((y + x * Dp.astype(S)).astype(T))
            return {"Y": mx.stack(ys, axis=1), "state_out": s}
        yield got, graph


@check("mamba1_selective_scan", "the scan's operations in f32, Y rounded", "A 5 % larger")
def selective_scan(T, launch):
    yield from scan("mamba1_selective_scan", T, f32, launch)


@check("mamba1_graph_exact", "the scan's operations in T", "A 5 % larger", RARE)
def graph_exact(T, launch):
    yield from scan("mamba1_graph_exact", T, T, launch)


def delta(kernel, T, launch, variants):
    n = Numbers(kernel)
    B, L, Hk, Dk, Hv, Dv = 2, 5, 1, 64, 2, 9
    each = kernel == "gated_delta_seqpar"
    for vec, masked in variants:
        q, k = (n.normal((B, L, Hk, Dk), T, Dk ** -0.5) for _ in range(2))
        v, beta = n.normal((B, L, Hv, Dv), T), n.sigmoid((B, L, Hv), T)
        g = n.sigmoid((B, L, Hv, Dk if vec else 1), T, 3)
        state = n.normal((B, Hv, Dv, Dk), T)
        inputs = {"q": q, "k": k, "v": v, "g": g, "beta": beta, "state_in": state}
        mask = mx.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1]] if masked else [[1]], mx.uint8)
        if not each:
            inputs["mask"] = mask
        choice = {} if each else {"VEC": vec, "MASK": masked}
        got = launch(kernel, inputs, {"y": ((B, L, Hv, Dv), T), "state_out": ((B, Hv, Dv, Dk), T)},
                     **choice)

        def graph(fault):
            s, ys = state.astype(f32), []
            for t in range(L):
                qt, kt = (mx.repeat(m[:, t].astype(f32), Hv // Hk, axis=1)[:, :, None]
                          for m in (q, k))
                new = s * g[:, t].astype(f32)[:, :, None]
                kv = (new * kt).sum(-1)
                error = (v[:, t].astype(f32) - kv) * beta[:, t].astype(f32)[..., None]
                new = new + kt * (error * (0.95 if fault else 1))[..., None]
                y = (new * qt).sum(-1)
                if masked:
                    seen = (mask[:, t] != 0)[:, None, None]
                    new, y = mx.where(seen[..., None], new, s), mx.where(seen, y, 0)
                s = new.astype(T).astype(f32) if each else new
                ys.append(y.astype(T))
            return {"y": mx.stack(ys, axis=1), "state_out": s.astype(T)}
        yield got, graph


@check("gated_delta", "the recurrence's operations in f32, rounded", "the correction 5 % smaller")
def gated_delta(T, launch):
    yield from delta("gated_delta", T, launch,
                     ((False, False), (False, True), (True, False), (True, True)))


# a state at the middle between two values may go either way, and the steps after it see that
@check("gated_delta_seqpar", "the recurrence's operations in f32, state rounded a token",
       "the correction 5 % smaller",
       {f32: ROUNDED[f32], f16: (1e-4, 2e-3), bf16: (8e-4, 1.6e-2)})
def gated_delta_seqpar(T, launch):
    yield from delta("gated_delta_seqpar", T, launch, ((False, False),))

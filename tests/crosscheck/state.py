"""Recurrent layers: the graph's own loop over tokens, one operation at a time."""

import mlx.core as mx

from check import RARE, ROUNDED, Numbers, against, bf16, check, f16, f32


@check("ssm_update", "the step's elementwise operations and sum in f32, rounded", "dt 5 % longer")
def ssm_update(T, by):
    n = Numbers("ssm")
    rows, h, dh, g, ds = 2, 4, 9, 2, 64
    inputs = {"x": n.normal((rows, 1, h, dh), T), "D": n.normal((h,), T)}
    inputs |= {name: n.normal((rows, 1, g, ds), T) for name in ("B", "C")}
    inputs |= {"dt": n.softplus((rows, 1, h), f32, -2), "state_in": n.normal((rows, h, dh, ds))}
    for TA in (f32, bf16):
        inputs["A_log"] = mx.log(mx.array([1.0, 3, 7, 16])).astype(TA)
        yield against("ssm_update", by, inputs,
                      {"out": ((rows, 1, h, dh), T), "state_out": ((rows, h, dh, ds), f32)},
                      {"dt": inputs["dt"] * 1.05})


def scan(kernel, T, S, by):
    """S: the type that the graph's operations have."""
    n = Numbers(kernel)
    for b, L, Dm, N in ((2, 7, 24, 16), (1, 5, 13, 32)):
        inputs = {"X": n.normal((b, L, Dm), T), "DT": n.softplus((b, L, Dm), T, -2)}
        inputs |= {name: n.normal((b, L, N), T) for name in ("Bm", "Cm")}
        A = -(mx.arange(1, N + 1).astype(f32) * mx.ones((Dm, 1))).astype(S)
        inputs |= {"A": A, "Dp": n.normal((Dm,), T), "state_in": n.normal((b, Dm, N), S)}
        yield against(kernel, by, inputs, {"Y": ((b, L, Dm), T), "state_out": ((b, Dm, N), S)},
                      {"A": A * 1.05}, LANES=16 if N <= 16 else 32)


@check("mamba1_selective_scan", "the scan's operations in f32, Y rounded", "A 5 % larger")
def selective_scan(T, by):
    yield from scan("mamba1_selective_scan", T, f32, by)


@check("mamba1_graph_exact", "the scan's operations in T", "A 5 % larger", RARE)
def graph_exact(T, by):
    yield from scan("mamba1_graph_exact", T, T, by)


def delta(kernel, T, by, variants):
    n = Numbers(kernel)
    B, L, Hk, Dk, Hv, Dv = 2, 5, 1, 64, 2, 9
    for vec, masked in variants:
        inputs = {name: n.normal((B, L, Hk, Dk), T, Dk ** -0.5) for name in ("q", "k")}
        inputs |= {"v": n.normal((B, L, Hv, Dv), T), "beta": n.sigmoid((B, L, Hv), T),
                   "g": n.sigmoid((B, L, Hv, Dk if vec else 1), T, 3),
                   "state_in": n.normal((B, Hv, Dv, Dk), T)}
        choice = {}
        if kernel == "gated_delta":
            inputs["mask"] = mx.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1]] if masked else [[1]],
                                      mx.uint8)
            choice = {"VEC": vec, "MASK": masked}
        yield against(kernel, by, inputs,
                      {"y": ((B, L, Hv, Dv), T), "state_out": ((B, Hv, Dv, Dk), T)},
                      {"beta": inputs["beta"] * 0.95}, **choice)


@check("gated_delta", "the recurrence's operations in f32, rounded", "the correction 5 % smaller")
def gated_delta(T, by):
    yield from delta("gated_delta", T, by,
                     ((False, False), (False, True), (True, False), (True, True)))


# a state at the middle between two values may go either way, and the steps after it see that
@check("gated_delta_seqpar", "the recurrence's operations in f32, state rounded a token",
       "the correction 5 % smaller",
       {f32: ROUNDED[f32], f16: (1e-4, 2e-3), bf16: (8e-4, 1.6e-2)})
def gated_delta_seqpar(T, by):
    yield from delta("gated_delta_seqpar", T, by, ((False, False),))

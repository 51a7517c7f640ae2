"""Products with packed weights.  Words, scales and biases come from mx.quantize, so that our
packing is MLX's is checked too."""

import mlx.core as mx

from bridge import memory
from check import EXACT, ROUNDED, SUMMED, Numbers, against, bf16, check, f16, f32

HALVES = {f16: ROUNDED[f16], bf16: ROUNDED[bf16]}
# results of all T are f32 there, of the same inputs
IN_F32 = {f32: (2e-6, 1e-5), f16: (2e-6, 1e-5), bf16: (2e-6, 1e-5)}


def packed(n, shape, T, bits, group):
    """Words, scales, biases of a random matrix."""
    return mx.quantize(n.normal(shape, T, 0.05), group_size=group, bits=bits)


def widened(q, bits, group, fault):
    """The weights in f32; a group's bias is its neighbour's when there is to be a fault."""
    words, scales, biases = q
    if fault:
        biases = mx.roll(biases, 1, axis=-2)
    return mx.dequantize(words, scales.astype(f32), biases.astype(f32), group_size=group, bits=bits)


NEIGHBOUR = "biases of the row before"


def named(prefix, q):
    return {f"{prefix}_w": q[0], f"{prefix}_s": q[1], f"{prefix}_b": q[2]}


def neighbour(biases):
    return mx.roll(biases, 1, axis=-2)


@check("moe_gateup", "dequantize, matmul in f32, silu or gelu_approx", NEIGHBOUR, IN_F32)
def gateup(T, by):
    n = Numbers("gateup")
    for bits, group, act in ((4, 64, 0), (8, 32, 1), (4, 32, 1)):
        K, E, Dff, Din = 3, 4, 21, 256
        gate, up = (packed(n, (E, Dff, Din), T, bits, group) for _ in range(2))
        x, indices = n.normal((Din,), T), n.whole(0, E, (K,))
        yield against("moe_gateup", by,
                      {"x": x, "indices": indices} | named("gate", gate) | named("up", up),
                      {"act": ((K, Dff), f32)}, {"gate_b": neighbour(gate[2])}, group_size=group,
                      BITS=bits, ACT=act)


@check("moe_down", "dequantize, matmul in f32, times scores", NEIGHBOUR, IN_F32)
def down(T, by):
    n = Numbers("down")
    for bits, group in ((4, 64), (6, 32), (8, 128), (6, 64)):
        K, E, Din, Dff = 3, 4, 21, 256
        q = packed(n, (E, Din, Dff), T, bits, group)
        act, scores, indices = n.normal((K, Dff)), n.normal((K,)), n.whole(0, E, (K,))
        yield against("moe_down", by,
                      {"indices": indices, "act": act, "scores": scores} | named("down", q),
                      {"partial": ((K, Din), f32)}, {"down_b": neighbour(q[2])}, group_size=group,
                      BITS=bits)


@check("moe_fc1_relu2", "dequantize, matmul in f32, relu squared", NEIGHBOUR, IN_F32)
def fc1(T, by):
    n = Numbers("fc1")
    for bits, group in ((4, 64), (8, 32)):
        K, E, Dff, Din = 3, 4, 21, 256
        q = packed(n, (E, Dff, Din), T, bits, group)
        x, indices = n.normal((Din,), T), n.whole(0, E, (K,))
        yield against("moe_fc1_relu2", by, {"x": x, "indices": indices} | named("fc1", q),
                      {"act": ((K, Dff), f32)}, {"fc1_b": neighbour(q[2])}, group_size=group,
                      BITS=bits)


# MLX's CPU product in 16 bits adds in 16 bits; in f32 it does not, and is rounded once like ours.
@check("qmv", "quantized_matmul in f32, rounded", NEIGHBOUR)
def qmv_in_f32(T, by):
    yield from qmv(T, by, f32)


@check("qmv", "quantized_matmul in T", NEIGHBOUR, SUMMED)
def qmv_in_T(T, by):
    yield from qmv(T, by)


def qmv(T, by, compute=None):
    n = Numbers("qmv")
    for bits, group, M in ((4, 32, 1), (8, 64, 1), (4, 128, 5), (8, 32, 8)):
        N, K = 33, 256
        words, scales, biases = packed(n, (N, K), T, bits, group)
        yield against("qmv", by, {"x": n.normal((M, K), T), "w": words, "scales": scales,
                                  "biases": biases},
                      {"y": ((M, N), T)}, {"biases": neighbour(biases)}, compute, group_size=group,
                      BITS=bits, ROWS=1 if M == 1 else 8)


@check("qmv_mxfp4", "quantized_matmul, mode mxfp4, in f32, rounded", "scales of the row before")
def qmv_mxfp4_in_f32(T, by):
    yield from qmv_mxfp4(T, by, f32)


@check("qmv_mxfp4", "quantized_matmul, mode mxfp4, in T", "scales of the row before", SUMMED)
def qmv_mxfp4_in_T(T, by):
    yield from qmv_mxfp4(T, by)


def qmv_mxfp4(T, by, compute=None):
    n = Numbers("qmv_mxfp4")
    for M in (1, 5):
        N, K = 33, 288
        words, scales = mx.quantize(n.normal((N, K), f32) * n.softplus((N, 1)), mode="mxfp4")
        yield against("qmv_mxfp4", by, {"x": n.normal((M, K), T), "w": words, "scales": scales},
                      {"y": ((M, N), T)}, {"scales": neighbour(scales)}, compute,
                      ROWS=1 if M == 1 else 8)


def strides(B1, broadcast):
    """Of the two index arrays; a broadcast one is one expert for every row of the batch."""
    return {"lhs_stride_0": B1, "lhs_stride_1": 1,
            "rhs_stride_0": 1 if broadcast else B1, "rhs_stride_1": 0 if broadcast else 1}


def gather(T, by, kernel, compute, batched, mxfp4):
    n = Numbers(kernel)
    for bits, group, B0, B1, M, broadcast in ((4, 32, 12, 3, 2, False), (8, 64, 9, 4, 1, True)):
        if mxfp4:
            bits, group = 4, 32
        if batched:
            M = 1
        N, K, E, X = 35, 128, 5, B0 * B1
        if mxfp4:
            words, scales = mx.quantize(n.normal((E, N, K)) * n.softplus((E, 1, 1)), mode="mxfp4")
            form = {"scales": scales}
        else:
            words, scales, biases = packed(n, (E, N, K), T, bits, group)
            form = {"scales": scales, "biases": biases}
        x = n.normal((X, M, K), T)
        lhs = n.whole(0, X, (B0, B1)).reshape(-1)
        rhs = n.whole(0, E, (B0, 1) if broadcast else (B0, B1)).reshape(-1)
        if batched:
            rhs = mx.sort(rhs)
        values = strides(B1, broadcast)
        if not mxfp4:
            values |= {"group_size": group, "BITS": bits}
        yield against(kernel, by,
                      {"x": x[:, 0] if batched else x, "w": words, "lhs": lhs, "rhs": rhs} | form,
                      {"y": ((B0, B1, N) if batched else (B0, B1, M, N), T)},
                      {"rhs": (rhs + 1) % E}, compute, **values)


ROUTES = (("gather_qmm", False, False), ("gather_qmm_mxfp4", False, True),
          ("gather_qmm_expert_batched", True, False),
          ("gather_qmm_expert_batched_mxfp4", True, True))


def register(kernel, batched, mxfp4):
    graph, other = "gather_qmm, mode mxfp4," if mxfp4 else "gather_qmm", "the next expert"

    @check(kernel, f"{graph} in f32, rounded", other, HALVES if batched else ROUNDED)
    def in_f32(T, by):
        yield from gather(T, by, kernel, f32, batched, mxfp4)

    @check(kernel, f"{graph} in T", other, SUMMED)
    def in_T(T, by):
        yield from gather(T, by, kernel, None, batched, mxfp4)


for route in ROUTES:
    register(*route)


# -- the host's half: no launch, so what these get is the library --------------------------------

@check("kg_quant_unpack", "mx.quantize's words, dequantize", NEIGHBOUR, {f32: EXACT},
       devices=("host",))
def unpacked(_, library):
    n = Numbers("unpack")
    for bits, group in ((4, 64), (6, 32), (8, 128)):
        q = packed(n, (9, 256), f32, bits, group)
        codes = mx.array(library.unpack(memory(q[0]), 256, bits)).astype(f32).reshape(9, -1, group)
        got = (codes * q[1][..., None] + q[2][..., None]).reshape(9, 256)
        yield {"weights": got}, lambda fault: {"weights": widened(q, bits, group, fault)}


@check("kg_quant_pack", "mx.quantize's words", "words turned by a bit", {f32: EXACT},
       devices=("host",))
def repacked(_, library):
    n = Numbers("pack")
    for bits, group in ((4, 64), (6, 32), (8, 128)):
        words = packed(n, (9, 256), f32, bits, group)[0]
        again = library.pack(library.unpack(memory(words), 256, bits), bits)
        yield ({"words": mx.array(again)},
               lambda fault: {"words": (words << 1 | words >> 31) if fault else words})


@check("kg_quant_affine", "quantize, dequantize", NEIGHBOUR, {f32: EXACT}, devices=("host",))
def quantized(_, library):
    n = Numbers("affine")
    for bits, group in ((4, 64), (6, 32), (8, 128)):
        weights = n.normal((9, 256), f32, 0.05)
        got = tuple(mx.array(a) for a in library.affine(memory(weights), bits, group))
        want = mx.quantize(weights, group_size=group, bits=bits)
        yield ({"weights": widened(got, bits, group, False), "scales": got[1], "biases": got[2]},
               lambda fault: {"weights": widened(want, bits, group, fault), "scales": want[1],
                              "biases": want[2]})

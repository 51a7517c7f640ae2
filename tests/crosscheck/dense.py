"""Norms, rope, activation, ternary product, samplers."""

import math

import mlx.core as mx
import numpy as np

from check import OFTEN, RARE, ROUNDED, Numbers, bf16, check, f16, f32, skip


# The graph rounds where the kernel does: after the sum, the normalised value and the gain.
@check("fused_add_rms_norm", "add, fast.rms_norm", "eps 1000 times as large", RARE,
       exact=("new_residual",))
def add_rms_norm_of_one_type(T, launch):
    yield from add_rms_norm(T, T, launch)


# With another type of weight MLX's result is f32, so that the normalised value is not rounded.
@check("fused_add_rms_norm", "add, fast.rms_norm with an f32 weight, rounded",
       "eps 1000 times as large", OFTEN, exact=("new_residual",))
def add_rms_norm_of_two_types(T, launch):
    yield from add_rms_norm(T, f32, launch)


def add_rms_norm(T, TW, launch):
    n = Numbers("add_rms_norm")
    for rows, D, bias, eps in ((3, 1030, 0, 1e-6), (2, 2048, 1, 1e-5)):
        x, residual = n.normal((rows, D), T, 0.02), n.normal((rows, D), T, 0.03)
        weight = n.normal((D,), TW, 0.3, 1 - bias)
        got = launch("fused_add_rms_norm", {"x": x, "residual": residual, "weight": weight},
                     {"normed": ((rows, D), T), "new_residual": ((rows, D), T)},
                     eps=eps, weight_bias=bias)

        def graph(fault):
            total = x + residual
            gain = weight + mx.array(bias, TW) if bias else weight
            normed = mx.fast.rms_norm(total, gain, eps * 1000 if fault else eps)
            return {"normed": normed.astype(T), "new_residual": total}
        yield got, graph


# The graph's gain and bias are applied in T; by the CUDA and Metal texts too, by HIP's in f32.
@check("fused_add3_layer_norm", "add, add, fast.layer_norm", "no bias",
       ROUNDED | OFTEN, exact=("x_out",))
@check("fused_add3_layer_norm", "add, add, fast.layer_norm", "no bias", RARE, exact=("x_out",),
       devices=("simt32/cuda", "simt32/metal"))
def add3_layer_norm(T, launch):
    n = Numbers("add3_layer_norm")
    for rows, D, stride in ((3, 1030, 1), (2, 1024, 0)):
        a, b, x = (n.normal((rows, D), T) for _ in range(3))
        weight = n.normal((D,), T, 0.3, 1)
        bias = n.normal((D,), T, 0.2) if stride else mx.array([0.25]).astype(T)
        got = launch("fused_add3_layer_norm",
                     {"a": a, "b": b, "x": x, "weight": weight, "bias": bias},
                     {"x_out": ((rows, D), T), "h": ((rows, D), T)}, eps=1e-5, B_STRIDE=stride)

        def graph(fault):
            total = (a + b) + x
            every = mx.broadcast_to(bias, (D,))
            return {"x_out": total,
                    "h": mx.fast.layer_norm(total, weight, None if fault else every, 1e-5)}
        yield got, graph


# MLX's CPU graph rounds cosine and sine to T; in f32 it does not, and its result is rounded once.
# Its frequencies are an exponential of its own, some ulps from the kernel's: hence what f32 allows.
@check("fused_rope_qk_append", "slice, transpose, fast.rope in f32, rounded", "base doubled",
       {f32: (2e-5, 1e-4), f16: ROUNDED[f16], bf16: ROUNDED[bf16]}, exact=("v",))
def rope_in_f32(T, launch):
    yield from rope(T, launch, f32)


@check("fused_rope_qk_append", "slice, transpose, fast.rope in T", "base doubled", OFTEN,
       exact=("v",))
def rope_in_T(T, launch):
    yield from rope(T, launch, T)


def rope(T, launch, compute):
    n = Numbers("rope")
    for traditional, paged, R, position, base, scale in (
            (False, False, 64, 0, 10000.0, 1.0), (True, False, 64, 97, 500000.0, 1.0),
            (False, True, 48, 511, 10000.0, 0.5), (True, True, 32, 1000, 10000.0, 1.0)):
        B, L, Hq, Hkv, D = 2, 3, 4, 2, 64
        qkv = n.normal((B, L, (Hq + 2 * Hkv) * D), T)
        kv = (B, L, Hkv, D) if paged else (B, Hkv, L, D)
        got = launch("fused_rope_qk_append", {"qkv": qkv},
                     {"q": ((B, Hq, L, D), T), "k": (kv, T), "v": (kv, T)},
                     rope_dims=R, log2_base=math.log2(base), scale=scale, position=position,
                     TRADITIONAL=traditional, LAYOUT=paged)

        def graph(fault):
            heads = qkv.reshape(B, L, Hq + 2 * Hkv, D).transpose(0, 2, 1, 3)

            def turned(x):
                return mx.fast.rope(x.astype(compute), R, traditional=traditional, scale=scale,
                                    base=base * 2 if fault else base, offset=position).astype(T)

            def placed(x):
                return x.transpose(0, 2, 1, 3) if paged else x
            return {"q": turned(heads[:, :Hq]), "k": placed(turned(heads[:, Hq:Hq + Hkv])),
                    "v": placed(heads[:, Hq + Hkv:])}
        yield got, graph


# Every operation of the graph is rounded to T, and so are the kernel's.
@check("fused_xielu", "eleven elementwise operations in T", "alpha_n by 2 % larger", RARE)
def xielu(T, launch):
    n = Numbers("xielu")
    for count, p, m, beta, eps in ((4097, 0.8, 0.9, 0.5, -1e-6), (1030, 0.7, 0.6, 0.3, -0.01)):
        x = n.normal((count,), T, 3)
        got = launch("fused_xielu", {"x": x}, {"y": ((count,), T)},
                     alpha_p=p, alpha_n=m, beta=beta, eps=eps)

        def graph(fault):
            scalars = p, m * (1.02 if fault else 1), beta, eps
            ap, an, b, e = (mx.array(v).astype(T) for v in scalars)
            below = (mx.expm1(mx.minimum(x, e)) - x) * an
            return {"y": mx.where(x > 0, ap * (x * x), below) + b * x}
        yield got, graph


@check("bitlinear_matmul", "unpack, matmul in f32, scale, rounded", "two quarters exchanged")
def bitlinear(T, launch):
    n = Numbers("bitlinear")
    for batch, columns, quarter, invert in ((2, 260, 9, 0), (1, 512, 16, 1)):
        x = n.normal((batch, columns), T)
        ternary = n.rng.integers(-1, 2, (4, quarter, columns))
        packed = mx.array(sum((ternary[i] + 1) << (2 * i) for i in range(4))).astype(mx.uint8)
        scale = mx.array([1.7]).astype(T)
        got = launch("bitlinear_matmul", {"x": x, "packed": packed, "weight_scale": scale},
                     {"y": ((batch, 4 * quarter), T)}, invert=invert)

        def graph(fault):
            shifts = mx.array([0, 4, 2, 6] if fault else [0, 2, 4, 6], mx.uint8)
            codes = (packed[None] >> shifts[:, None, None]) & 3
            weights = codes.reshape(4 * quarter, columns).astype(f32) - 1
            s = scale.astype(f32)
            y = x.astype(f32) @ weights.T
            return {"y": (y / s if invert else y * s).astype(T)}
        yield got, graph


def philox(counter, key):
    """Philox4x32-10 on arrays of counters; u64 arithmetic."""
    c = [np.asarray(w, np.uint64) for w in counter]
    k0, k1 = (int(w) for w in key)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


# MLX's own categorical draws from another generator; the noise here is Philox in numpy.
@check("gumbel_max_sample", "argmax of logits / temp + Philox noise (numpy's)",
       "the key's two words exchanged", {f32: (2e-6, 5e-6), f16: (2e-6, 5e-6), bf16: (2e-6, 5e-6)},
       exact=("idxs",))
def gumbel(T, launch):
    n = Numbers("gumbel")
    B, V, temp = 4, 3001, 0.75
    logits = n.normal((B, V), T, 2)
    key = n.whole(0, 1 << 32, (2,))
    got = launch("gumbel_max_sample", {"logits": logits, "rng_key": key},
                 {"vals": ((B, 1), f32), "idxs": ((B, 1), mx.uint32)}, temp=temp)

    def graph(fault):
        i, row = np.arange(V), np.arange(B)[:, None]
        words = np.array(key)[::-1] if fault else np.array(key)
        counter = [np.broadcast_to(w, (B, V)) for w in (i // 4, 0, row, 0)]
        word = np.choose(i % 4, philox(counter, words))
        u = ((word >> np.uint64(9)).astype(np.float64) + 0.5) / 2 ** 23
        sums = np.array(logits.astype(f32)).astype(np.float64) / temp - np.log(-np.log(u))
        best = sums.argmax(1)[:, None]
        return {"vals": mx.array(np.take_along_axis(sums, best, 1).astype(np.float32)),
                "idxs": mx.array(best.astype(np.uint32))}
    yield got, graph


skip("rejection_sample",
     "a draw by another algorithm than the graph's sort and mask: only the law is the same, and "
     "test_rejection and test_samplers check that")

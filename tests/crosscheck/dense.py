"""Norms, rope, activation, ternary product, samplers."""

import math

import mlx.core as mx

from check import OFTEN, RARE, ROUNDED, Numbers, against, bf16, check, f16, f32, skip


# The graph rounds where the kernel does: after the sum, the normalised value and the gain.
@check("fused_add_rms_norm", "add, fast.rms_norm", "eps 1000 times as large", RARE,
       exact=("new_residual",))
def add_rms_norm_of_one_type(T, by):
    yield from add_rms_norm(T, T, by)


# With another type of weight MLX's result is f32, so that the normalised value is not rounded.
@check("fused_add_rms_norm", "add, fast.rms_norm with an f32 weight, rounded",
       "eps 1000 times as large", OFTEN, exact=("new_residual",))
def add_rms_norm_of_two_types(T, by):
    yield from add_rms_norm(T, f32, by)


def add_rms_norm(T, TW, by):
    n = Numbers("add_rms_norm")
    for rows, D, bias, eps in ((3, 1030, 0, 1e-6), (2, 2048, 1, 1e-5)):
        inputs = {"x": n.normal((rows, D), T, 0.02), "residual": n.normal((rows, D), T, 0.03),
                  "weight": n.normal((D,), TW, 0.3, 1 - bias)}
        yield against("fused_add_rms_norm", by, inputs,
                      {"normed": ((rows, D), T), "new_residual": ((rows, D), T)},
                      {"eps": eps * 1000}, eps=eps, weight_bias=bias)


# The graph's gain and bias are applied in T; by the CUDA and Metal texts too, by HIP's in f32.
@check("fused_add3_layer_norm", "add, add, fast.layer_norm", "no bias",
       ROUNDED | OFTEN, exact=("x_out",))
@check("fused_add3_layer_norm", "add, add, fast.layer_norm", "no bias", RARE, exact=("x_out",),
       devices=("simt32/cuda", "simt32/metal"))
def add3_layer_norm(T, by):
    n = Numbers("add3_layer_norm")
    for rows, D, stride in ((3, 1030, 1), (2, 1024, 0)):
        inputs = {name: n.normal((rows, D), T) for name in ("a", "b", "x")}
        inputs |= {"weight": n.normal((D,), T, 0.3, 1),
                   "bias": n.normal((D,), T, 0.2) if stride else mx.array([0.25]).astype(T)}
        yield against("fused_add3_layer_norm", by, inputs,
                      {"x_out": ((rows, D), T), "h": ((rows, D), T)},
                      {"bias": mx.zeros_like(inputs["bias"])}, eps=1e-5, B_STRIDE=stride)


# MLX's CPU graph rounds cosine and sine to T; in f32 it does not, and its result is rounded once.
# Its frequencies are an exponential of its own, some ulps from the kernel's: hence what f32 allows.
@check("fused_rope_qk_append", "slice, transpose, fast.rope in f32, rounded", "base doubled",
       {f32: (2e-5, 1e-4), f16: ROUNDED[f16], bf16: ROUNDED[bf16]}, exact=("v",))
def rope_in_f32(T, by):
    yield from rope(T, by, f32)


@check("fused_rope_qk_append", "slice, transpose, fast.rope in T", "base doubled", OFTEN,
       exact=("v",))
def rope_in_T(T, by):
    yield from rope(T, by)


def rope(T, by, compute=None):
    n = Numbers("rope")
    for traditional, paged, R, position, base, scale in (
            (False, False, 64, 0, 10000.0, 1.0), (True, False, 64, 97, 500000.0, 1.0),
            (False, True, 48, 511, 10000.0, 0.5), (True, True, 32, 1000, 10000.0, 1.0)):
        B, L, Hq, Hkv, D = 2, 3, 4, 2, 64
        qkv = n.normal((B, L, (Hq + 2 * Hkv) * D), T)
        kv = (B, L, Hkv, D) if paged else (B, Hkv, L, D)
        yield against("fused_rope_qk_append", by, {"qkv": qkv},
                      {"q": ((B, Hq, L, D), T), "k": (kv, T), "v": (kv, T)},
                      {"log2_base": math.log2(2 * base)}, compute, rope_dims=R,
                      log2_base=math.log2(base), scale=scale, position=position,
                      TRADITIONAL=traditional, LAYOUT=paged)


# Every operation of the graph is rounded to T, and so are the kernel's.
@check("fused_xielu", "eleven elementwise operations in T", "alpha_n by 2 % larger", RARE)
def xielu(T, by):
    n = Numbers("xielu")
    for count, p, m, beta, eps in ((4097, 0.8, 0.9, 0.5, -1e-6), (1030, 0.7, 0.6, 0.3, -0.01)):
        yield against("fused_xielu", by, {"x": n.normal((count,), T, 3)}, {"y": ((count,), T)},
                      {"alpha_n": m * 1.02}, alpha_p=p, alpha_n=m, beta=beta, eps=eps)


@check("bitlinear_matmul", "unpack, matmul in f32, scale, rounded", "two quarters exchanged")
def bitlinear(T, by):
    n = Numbers("bitlinear")
    for batch, columns, quarter, invert in ((2, 260, 9, 0), (1, 512, 16, 1)):
        x = n.normal((batch, columns), T)
        ternary = n.rng.integers(-1, 2, (4, quarter, columns))

        def packed(order):
            return mx.array(sum((ternary[q] + 1) << (2 * i) for i, q in enumerate(order))).astype(
                mx.uint8)
        yield against("bitlinear_matmul", by,
                      {"x": x, "packed": packed((0, 1, 2, 3)),
                       "weight_scale": mx.array([1.7]).astype(T)},
                      {"y": ((batch, 4 * quarter), T)}, {"packed": packed((0, 2, 1, 3))},
                      invert=invert)


# MLX's own categorical draws from another generator; the graph has the kernel's.
@check("gumbel_max_sample", "Philox in u64, argmax of logits / temp + noise",
       "the key's two words exchanged", {f32: (2e-6, 5e-6), f16: (2e-6, 5e-6), bf16: (2e-6, 5e-6)},
       exact=("idxs",))
def gumbel(T, by):
    n = Numbers("gumbel")
    for B, V, S, temp in ((4, 3001, 1, 0.75), (2, 5000, 3, 1.5)):
        logits, key = n.normal((B, V), T, 2), n.whole(0, 1 << 32, (2,))
        yield against("gumbel_max_sample", by, {"logits": logits, "rng_key": key},
                      {"vals": ((B, S), f32), "idxs": ((B, S), mx.uint32)},
                      {"rng_key": key[::-1]}, temp=temp)


skip("rejection_sample",
     "a draw by another algorithm than the graph's sort and mask: only the law is the same, and "
     "test_rejection and test_samplers check that")

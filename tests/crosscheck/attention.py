"""Attention over pages, and over values of four bits."""

import math

import mlx.core as mx

from check import EXACT, OFTEN, Numbers, bf16, check, f16, f32

# results are f32 for every T, of the same inputs
SOFTMAX = {f32: (2e-6, 1e-5), f16: (2e-6, 1e-5), bf16: (2e-6, 1e-5)}
ONLY_F32 = {f32: (2e-6, 1e-5)}
HQ, HKV, D, PAGE = 8, 2, 64, 16
SCALE = 0.125


class Pages:
    """Two sequences over pages in no order: pool, lists, and the K and V that each one sees."""

    def __init__(self, n, T):
        self.pool = 11
        self.q = n.normal((2, HQ, 1, D), T)
        self.k, self.v = (n.normal((self.pool, PAGE, HKV, D), T) for _ in range(2))
        self.rows = mx.array(n.rng.permutation(self.pool)[:7]).astype(mx.int32)
        self.ends, self.first, self.lengths = [0, 4, 7], [5, 0], [52, 33]

    def seen(self, pool, r):
        """[1, HKV, tokens, D]"""
        own = pool[self.rows[self.ends[r]:self.ends[r + 1]]].reshape(-1, HKV, D)
        own = own[self.first[r]:self.first[r] + self.lengths[r]]
        return own.transpose(1, 0, 2)[None]

    def attention(self, fault, compute=f32):
        """[2, HQ, 1, D]; with a fault the second sequence sees one token less."""
        out = []
        for r in range(2):
            q, k, v = (a.astype(compute) for a in (self.q[r:r + 1], self.seen(self.k, r),
                                                   self.seen(self.v, r)))
            end = -1 if fault and r else None
            out.append(mx.fast.scaled_dot_product_attention(q, k[:, :, :end], v[:, :, :end],
                                                            scale=SCALE))
        return mx.concatenate(out).astype(f32)

    def log_sums(self, fault):
        """[2, HQ]: log2 of the sum of the exponentials."""
        out = []
        for r in range(2):
            k = mx.repeat(self.seen(self.k, r).astype(f32), HQ // HKV, axis=1)
            scores = (self.q[r:r + 1].astype(f32) @ k.swapaxes(-1, -2))[..., 0, :] * SCALE
            out.append(mx.logsumexp(scores, axis=-1) * (1 if fault else math.log2(math.e)))
        return mx.concatenate(out)


@check("paged_attention", "gather, fast.scaled_dot_product_attention in f32",
       "the last token unseen", SOFTMAX)
def attention_in_f32(T, launch):
    yield from attention(T, launch, f32)


@check("paged_attention", "gather, fast.scaled_dot_product_attention in T",
       "the last token unseen", OFTEN)
def attention_in_T(T, launch):
    yield from attention(T, launch, T)


def attention(T, launch, compute):
    p = Pages(Numbers("paged"), T)
    i32 = mx.int32
    got = launch("paged_attention",
                 {"q": p.q, "k_pool": p.k, "v_pool": p.v, "rows": p.rows,
                  "row_offsets": mx.array(p.ends, i32), "logical_starts": mx.array(p.first, i32),
                  "visible_lens": mx.array(p.lengths, i32)},
                 {"out": ((2, HQ, 1, D), f32)}, scale=SCALE, splits=32)
    yield got, lambda fault: {"out": p.attention(fault, compute)}


@check("paged_v2_partial",
       "gather, fast.scaled_dot_product_attention in f32; chunks joined by paged_merge",
       "the last token unseen; log-sums in units of e", SOFTMAX)
def partial(T, launch):
    p = Pages(Numbers("paged_v2"), T)
    i32 = mx.int32
    last = [p.first[r] + p.lengths[r] - (p.ends[r + 1] - p.ends[r] - 1) * PAGE for r in range(2)]
    for pages in (1, 2, 8):  # of a chunk
        chunks = [-(-(p.ends[r + 1] - p.ends[r]) // pages) for r in range(2)]
        N = sum(chunks)
        part = launch("paged_v2_partial",
                      {"q": p.q, "k_pool": p.k, "v_pool": p.v, "indices": p.rows,
                       "indptr": mx.array(p.ends, i32), "last_page_len": mx.array(last, i32),
                       "first_page_offset": mx.array(p.first, i32),
                       "request_indices": mx.array([0] * chunks[0] + [1] * chunks[1], i32),
                       "kv_tile_indices": mx.array([*range(chunks[0]), *range(chunks[1])], i32)},
                      {"out_v": ((N, HQ, D), f32), "out_lse": ((N, HQ), f32)},
                      pages_per_chunk=pages, scale=SCALE, heads=4, teams=8, RUNS=1)
        got = launch("paged_merge",
                     {"v_in": part["out_v"], "lse_in": part["out_lse"],
                      "o_indptr": mx.array([0, chunks[0], N], i32)},
                     {"v_out": ((2, HQ, D), f32), "lse_out": ((2, HQ), f32)})
        yield got, lambda fault: {"v_out": p.attention(fault)[:, :, 0],
                                  "lse_out": p.log_sums(fault)}


@check("paged_merge", "softmax of the log-sums, weighted sum, in f32", "powers of e", SOFTMAX)
def merge(T, launch):
    n = Numbers("merge")
    ends, H = [0, 4, 9], 3
    v, lse = n.normal((9, H, D), T), n.normal((9, H), T, 4)
    got = launch("paged_merge", {"v_in": v, "lse_in": lse, "o_indptr": mx.array(ends, mx.int32)},
                 {"v_out": ((2, H, D), f32), "lse_out": ((2, H), f32)})

    def graph(fault):
        out, sums = [], []
        unit = 1 if fault else math.log(2)
        for a, b in zip(ends, ends[1:]):
            l = lse[a:b].astype(f32) * unit
            out.append((mx.softmax(l, axis=0)[..., None] * v[a:b].astype(f32)).sum(0))
            sums.append(mx.logsumexp(l, axis=0) / unit)
        return {"v_out": mx.stack(out), "lse_out": mx.stack(sums)}
    yield got, graph


# -- TurboQuant's values -------------------------------------------------------------------------

def coded(n, kv, tokens, width):
    """Bytes, rescale and codebook."""
    return (n.whole(0, 256, (kv, tokens, width // 2), mx.uint8), n.softplus((kv, tokens), f16),
            mx.sort(n.normal((16,), f32, 0.1)))


def values(bytes_, rescale, codebook, fault):
    """[kv, tokens, width]; a fault takes the nibbles in the wrong order."""
    low, high = bytes_ & 15, bytes_ >> 4
    codes = mx.stack([high, low] if fault else [low, high], axis=-1)
    codes = codes.reshape(*bytes_.shape[:-1], -1)
    return codebook[codes.astype(mx.uint32)] * rescale.astype(f32)[..., None]


def weighted_sum(kernel, launch):
    n = Numbers(kernel)
    for slots, queries, threshold in ((1, 1, 0.0), (4, 3, 0.02)):
        rows, kv, tokens = 4, 2, 50
        packed, rescale, codebook = coded(n, kv, tokens, D)
        weights = mx.softmax(n.normal((rows, queries, tokens)), axis=-1)
        got = launch(kernel, {"weights": weights, "rescale": rescale, "packed": packed,
                              "codebook": codebook}, {"out": ((rows, queries, D), f32)},
                     threshold=threshold, SLOTS=slots)

        def graph(fault):
            v = mx.repeat(values(packed, rescale, codebook, fault), rows // kv, axis=0)
            return {"out": mx.where(weights > threshold, weights, 0) @ v}
        yield got, graph


SWAPPED = "nibbles exchanged"


@check("turbo4_delegated_cold", "codebook lookup, weights @ values", SWAPPED, ONLY_F32)
def cold(_, launch):
    yield from weighted_sum("turbo4_delegated_cold", launch)


@check("sparse_v", "codebook lookup, weights @ values", SWAPPED, ONLY_F32)
def sparse(_, launch):
    yield from weighted_sum("sparse_v", launch)


@check("turbo4_bulk_dequant_rotated", "codebook lookup, times rescale, rounded to f16", SWAPPED,
       {f16: EXACT})
def bulk(_, launch):
    packed, rescale, codebook = coded(Numbers("bulk"), 3, 37, D)
    got = launch("turbo4_bulk_dequant_rotated",
                 {"packed": packed[None], "rescale": rescale[None, ..., None],
                  "codebook": codebook},
                 {"out": ((1, 3, 37, D), f16)})
    yield got, lambda fault: {"out": values(packed, rescale, codebook, fault)[None].astype(f16)}


@check("turbo4_delegated_steel", "softmax, codebook lookup, weights @ values of both parts",
       SWAPPED, {f32: (4e-6, 2e-5)})
def steel(_, launch):
    n = Numbers("steel")
    rows, kv, queries, cold_tokens, hot_tokens = 4, 2, 2, 40, 25
    packed, rescale, codebook = coded(n, kv, cold_tokens, D)
    hot = n.normal((kv, hot_tokens, D), f16)
    scores = n.normal((rows, queries, cold_tokens + hot_tokens))
    got = launch("turbo4_delegated_steel",
                 {"scores": scores, "cold_packed": packed, "cold_rescale": rescale, "hot_v": hot,
                  "codebook": codebook},
                 {"out_cold_pre": ((rows, queries, D), f32), "out_hot": ((rows, queries, D), f32)},
                 threshold=0, cold_offset=0, hot_offset=cold_tokens, SLOTS=4)

    def graph(fault):
        w = mx.softmax(scores, axis=-1)
        v = mx.repeat(values(packed, rescale, codebook, fault), rows // kv, axis=0)
        return {"out_cold_pre": w[..., :cold_tokens] @ v,
                "out_hot": w[..., cold_tokens:] @ mx.repeat(hot.astype(f32), rows // kv, axis=0)}
    yield got, graph

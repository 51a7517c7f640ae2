"""Attention over pages, and over values of four bits."""

import mlx.core as mx

from check import EXACT, Numbers, against, bf16, check, f16, f32

# results are f32 for every T, of the same inputs
SOFTMAX = {f32: (2e-6, 1e-5), f16: (2e-6, 1e-5), bf16: (2e-6, 1e-5)}
ONLY_F32 = {f32: (2e-6, 1e-5)}
HQ, HKV, D, PAGE = 8, 2, 64, 16
SCALE = 0.125


class Pages:
    """Two sequences over pages in no order: pool, lists, and what of them each one sees."""

    def __init__(self, n, T):
        self.pools = {"q": n.normal((2, HQ, 1, D), T)}
        self.pools |= {name: n.normal((11, PAGE, HKV, D), T) for name in ("k_pool", "v_pool")}
        self.rows = whole(n.rng.permutation(11)[:7])
        self.ends, self.first, self.lengths = [0, 4, 7], [5, 0], [52, 33]


def whole(values):
    return mx.array(values).astype(mx.int32)


@check("paged_attention", "gather, fast.scaled_dot_product_attention with a mask, in f32",
       "the last token unseen", SOFTMAX)
def attention(T, by):
    p = Pages(Numbers("paged"), T)
    inputs = p.pools | {"rows": p.rows, "row_offsets": whole(p.ends),
                        "logical_starts": whole(p.first), "visible_lens": whole(p.lengths)}
    fault = {"visible_lens": whole([p.lengths[0], p.lengths[1] - 1])}
    yield against("paged_attention", by, inputs, {"out": ((2, HQ, 1, D), f32)}, fault, scale=SCALE,
                  splits=32)


@check("paged_v2_partial", "gather, scores, logsumexp, weighted sum of a chunk, in f32",
       "the last token unseen", SOFTMAX)
def partial(T, by):
    p = Pages(Numbers("paged_v2"), T)
    last = [p.first[r] + p.lengths[r] - (p.ends[r + 1] - p.ends[r] - 1) * PAGE for r in range(2)]
    for pages in (1, 2, 8):  # of a chunk
        chunks = [-(-(p.ends[r + 1] - p.ends[r]) // pages) for r in range(2)]
        inputs = p.pools | {"indices": p.rows, "indptr": whole(p.ends),
                            "last_page_len": whole(last), "first_page_offset": whole(p.first),
                            "request_indices": whole([0] * chunks[0] + [1] * chunks[1]),
                            "kv_tile_indices": whole([*range(chunks[0]), *range(chunks[1])])}
        yield against("paged_v2_partial", by, inputs,
                      {"out_v": ((sum(chunks), HQ, D), f32), "out_lse": ((sum(chunks), HQ), f32)},
                      {"last_page_len": whole([last[0], last[1] - 1])}, pages_per_chunk=pages,
                      scale=SCALE, heads=4, teams=8, RUNS=1)


# The graph of the one is the graph of the other: chunks of any size, joined, are one attention.
@check("paged_v2_partial", "the same, joined by paged_merge, against paged_attention's graph",
       "the last token unseen", SOFTMAX)
def joined(T, by):
    p = Pages(Numbers("paged_v2"), T)
    last = [p.first[r] + p.lengths[r] - (p.ends[r + 1] - p.ends[r] - 1) * PAGE for r in range(2)]
    for pages in (1, 2, 8):
        chunks = [-(-(p.ends[r + 1] - p.ends[r]) // pages) for r in range(2)]
        N = sum(chunks)
        part = by.launch("paged_v2_partial",
                         p.pools | {"indices": p.rows, "indptr": whole(p.ends),
                                    "last_page_len": whole(last),
                                    "first_page_offset": whole(p.first),
                                    "request_indices": whole([0] * chunks[0] + [1] * chunks[1]),
                                    "kv_tile_indices": whole([*range(chunks[0]),
                                                              *range(chunks[1])])},
                         {"out_v": ((N, HQ, D), f32), "out_lse": ((N, HQ), f32)},
                         pages_per_chunk=pages, scale=SCALE, heads=4, teams=8, RUNS=1)
        got = by.launch("paged_merge", {"v_in": part["out_v"], "lse_in": part["out_lse"],
                                        "o_indptr": whole([0, chunks[0], N])},
                        {"v_out": ((2, HQ, D), f32), "lse_out": ((2, HQ), f32)})

        def graph(fault):
            seen = [p.lengths[0], p.lengths[1] - fault]
            out = by.graph("paged_attention",
                           p.pools | {"rows": p.rows, "row_offsets": whole(p.ends),
                                      "logical_starts": whole(p.first),
                                      "visible_lens": whole(seen)},
                           {"out": ((2, HQ, 1, D), f32)}, scale=SCALE, splits=32)
            return {"v_out": out["out"][:, :, 0]}
        yield {"v_out": got["v_out"]}, graph


@check("paged_merge", "softmax of the log-sums, weighted sum, in f32", "powers of e", SOFTMAX)
def merge(T, by):
    n = Numbers("merge")
    ends, H = [0, 4, 9], 3
    v, lse = n.normal((9, H, D), T), n.normal((9, H), T, 4)
    yield against("paged_merge", by, {"v_in": v, "lse_in": lse, "o_indptr": whole(ends)},
                  {"v_out": ((2, H, D), f32), "lse_out": ((2, H), f32)}, {"lse_in": lse * 1.4427})


# -- TurboQuant's values -------------------------------------------------------------------------

def coded(n, kv, tokens, width):
    """Bytes, rescale and codebook."""
    return (n.whole(0, 256, (kv, tokens, width // 2), mx.uint8), n.softplus((kv, tokens), f16),
            mx.sort(n.normal((16,), f32, 0.1)))


SWAPPED = "nibbles exchanged"


def swapped(packed):
    return packed >> 4 | packed << 4


def weighted_sum(kernel, by):
    n = Numbers(kernel)
    for slots, queries, threshold in ((1, 1, 0.0), (4, 3, 0.02)):
        rows, kv, tokens = 4, 2, 50
        packed, rescale, codebook = coded(n, kv, tokens, D)
        weights = mx.softmax(n.normal((rows, queries, tokens)), axis=-1)
        yield against(kernel, by, {"weights": weights, "rescale": rescale, "packed": packed,
                                   "codebook": codebook}, {"out": ((rows, queries, D), f32)},
                      {"packed": swapped(packed)}, threshold=threshold, SLOTS=slots)


@check("turbo4_delegated_cold", "codebook lookup, weights @ values", SWAPPED, ONLY_F32)
def cold(_, by):
    yield from weighted_sum("turbo4_delegated_cold", by)


@check("sparse_v", "codebook lookup, weights @ values", SWAPPED, ONLY_F32)
def sparse(_, by):
    yield from weighted_sum("sparse_v", by)


@check("turbo4_bulk_dequant_rotated", "codebook lookup, times rescale, rounded to f16", SWAPPED,
       {f16: EXACT})
def bulk(_, by):
    packed, rescale, codebook = coded(Numbers("bulk"), 3, 37, D)
    yield against("turbo4_bulk_dequant_rotated", by,
                  {"packed": packed[None], "rescale": rescale[None, ..., None],
                   "codebook": codebook},
                  {"out": ((1, 3, 37, D), f16)}, {"packed": swapped(packed)[None]})


@check("turbo4_delegated_steel", "softmax, codebook lookup, weights @ values of both parts",
       SWAPPED, {f32: (4e-6, 2e-5)})
def steel(_, by):
    n = Numbers("steel")
    rows, kv, queries, cold_tokens, hot_tokens = 4, 2, 2, 40, 25
    packed, rescale, codebook = coded(n, kv, cold_tokens, D)
    hot = n.normal((kv, hot_tokens, D), f16)
    scores = n.normal((rows, queries, cold_tokens + hot_tokens))
    for threshold in (0, 0.01):
        yield against("turbo4_delegated_steel", by,
                      {"scores": scores, "cold_packed": packed, "cold_rescale": rescale,
                       "hot_v": hot, "codebook": codebook},
                      {"out_cold_pre": ((rows, queries, D), f32),
                       "out_hot": ((rows, queries, D), f32)},
                      {"cold_packed": swapped(packed)}, threshold=threshold, cold_offset=0,
                      hot_offset=cold_tokens, SLOTS=4)

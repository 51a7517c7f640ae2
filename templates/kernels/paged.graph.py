def _attend(q, pool_k, pool_v, pages, scale, seen):
    """q [n, Hq, D] over all tokens of the pages, of which seen [n, tokens] says each one's: what is
    given is [n, Hq, D] and the scores' log-sum [n, Hq]; without a token 0 and -inf.  Nothing is read
    on the host, and every query looks at every page: a fallback, not a fast one."""
    n, heads = q.shape[0], q.shape[1] // pool_k.shape[2]
    k, v = (p[pages].reshape(-1, *p.shape[2:]).astype(mx.float32) for p in (pool_k, pool_v))
    q = q.astype(mx.float32).reshape(n, -1, heads, q.shape[2])
    scores = scale * mx.einsum("nghd,tgd->nght", q, k)
    scores = mx.where(seen[:, None, None], scores, -mx.inf)
    sums = mx.logsumexp(scores, axis=-1)
    weights = mx.where(seen[:, None, None], mx.exp(scores - sums[..., None]), 0)
    # what no query sees may be anything
    v = mx.where(mx.any(seen, axis=0)[:, None, None], v, 0)
    out = mx.einsum("nght,tgd->nghd", weights, v)
    return out.reshape(n, -1, out.shape[-1]), sums.reshape(n, -1)


def paged_attention(q, k_pool, v_pool, rows, row_offsets, logical_starts, visible_lens, scale,
                    total, block_size):
    """In f32: the sequences are the queries of one attention over all blocks, each with a mask of
    its own; one without a token gives 0."""
    token = mx.arange(total * block_size)
    first = (row_offsets[:-1] * block_size + logical_starts)[:, None]
    seen = (token >= first) & (token < first + visible_lens[:, None])
    used = mx.any(seen, axis=0)[:, None, None]  # what nobody sees may be anything
    k, v = (mx.where(used, p[rows].reshape(-1, *p.shape[2:]).astype(mx.float32), 0)
            .transpose(1, 0, 2)[None] for p in (k_pool, v_pool))
    q = q[:, :, 0].astype(mx.float32).transpose(1, 0, 2)[None]
    out = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=seen)
    out = mx.where(mx.any(seen, axis=1)[:, None], out, 0)
    return out[0].transpose(1, 0, 2)[:, :, None]


def paged_v2_partial(q, k_pool, v_pool, indices, indptr, last_page_len, first_page_offset,
                     request_indices, kv_tile_indices, pages_per_chunk, scale, total, page_size):
    token, r = mx.arange(total * page_size), request_indices
    start, pages = indptr[r] * page_size, indptr[r + 1] - indptr[r]
    first = start + first_page_offset[r]
    end = mx.where(pages > 0, start + (pages - 1) * page_size + last_page_len[r], start)
    chunk = start + kv_tile_indices * pages_per_chunk * page_size
    low, high = mx.maximum(first, chunk), mx.minimum(end, chunk + pages_per_chunk * page_size)
    seen = (token >= low[:, None]) & (token < high[:, None])
    out, sums = _attend(q[r, :, 0], k_pool, v_pool, indices, scale, seen)
    return out, sums * 1.4426950408889634


def paged_merge(v_in, lse_in, o_indptr, N):
    """v = sum of 2^lse v / sum of 2^lse over a row's parts; a part whose lse is no number is none."""
    part = mx.arange(N)
    own = (part >= o_indptr[:-1, None]) & (part < o_indptr[1:, None])
    lse = lse_in.astype(mx.float32) * 0.6931471805599453
    there = lse > -mx.inf
    seen = (own[..., None] & there[None]).transpose(0, 2, 1)
    scores = mx.where(seen, lse.T, -mx.inf)
    sums = mx.logsumexp(scores, axis=-1)
    weights = mx.where(seen, mx.exp(scores - sums[..., None]), 0)
    v = mx.where(there[..., None], v_in.astype(mx.float32), 0)
    return mx.einsum("mhn,nhd->mhd", weights, v), sums * 1.4426950408889634

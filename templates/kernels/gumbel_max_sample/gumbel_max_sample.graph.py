def _philox(block, rows, key):
    """Philox4x32-10 at the counters (block, 0, row, 0): four arrays of 32 bits in u64."""
    low = mx.array(0xFFFFFFFF, mx.uint64)
    c = [block, mx.zeros_like(block), rows, mx.zeros_like(block)]
    k0, k1 = (key[i].astype(mx.uint64) for i in range(2))
    for _ in range(10):
        p0, p1 = c[0] * mx.array(0xD2511F53, mx.uint64), c[2] * mx.array(0xCD9E8D57, mx.uint64)
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & low, (p0 >> 32) ^ c[3] ^ k1, p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c


def gumbel_max_sample(logits, rng_key, B, V, S, temp, THREADS):
    """The kernel's own noise, so the same draw; entry i is of split (i / (4 THREADS)) % S."""
    blocks = mx.broadcast_to(mx.arange((V + 3) // 4).astype(mx.uint64), (B, (V + 3) // 4))
    rows = mx.broadcast_to(mx.arange(B).astype(mx.uint64)[:, None], blocks.shape)
    words = mx.stack(_philox(blocks, rows, rng_key), axis=-1).reshape(B, -1)[:, :V]
    u = ((words >> 9).astype(mx.float32) + 0.5) * 2.0 ** -23
    candidates = logits.astype(mx.float32) / temp - mx.log(-mx.log(u))
    split = mx.arange(V) // (4 * THREADS) % S
    own = (split == mx.arange(S)[:, None]) & ~mx.isnan(candidates)[:, None]
    candidates = mx.where(own, candidates[:, None], -mx.inf)
    best, index = candidates.max(axis=-1), mx.argmax(candidates, axis=-1)
    if not temp > 0:
        return mx.full((B, S), mx.nan), mx.zeros((B, S), mx.uint32)
    return best, mx.where(best > -mx.inf, index, 0).astype(mx.uint32)
